/* SPDX-License-Identifier: GPL-2.0-or-later */
/* usage.c - how much memory the guest has and uses */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vm/linux/memory/memory.h"
#include "vm/linux/process.h"

/* Entries of the host's pagemap that are looked at together. */
#define AT_ONCE 4096

static bool continues(const struct region *a, const struct region *b)
{
	return a->end == b->start && a->prot == b->prot && a->kind == b->kind &&
	       !strcmp(a->name, b->name) &&
	       (a->kind == REGION_ANON ||
		a->offset + (a->end - a->start) == b->offset);
}

void each_whole_region(struct linux_process *process,
		       void (*visit)(void *context,
				     const struct region *region),
		       void *context)
{
	struct region whole = { 0 };
	size_t count;
	const struct region *regions = memory_regions(process->memory, &count);

	for (size_t i = 0; i < count; i++) {
		struct region region = regions[i];

		region.prot = eof_tail_prot(process, &region);
		if (whole.end && continues(&whole, &region)) {
			whole.end = region.end;
			continue;
		}
		if (whole.end)
			visit(context, &whole);
		whole = region;
	}
	if (whole.end)
		visit(context, &whole);
}

/* ------- counting ------- */

static void add_kind(struct usage *usage, const struct region *region,
		     uint64_t pages)
{
	bool is_shared = region->kind == REGION_SHARED;

	usage->size += pages;
	if (!strcmp(region->name, "[stack]"))
		usage->stack += pages;
	else if (region->prot & MAY_WRITE && !is_shared)
		usage->data += pages;
	else if (region->prot & MAY_EXEC && !(region->prot & MAY_WRITE))
		usage->exec += pages;
}

/* No file's: Linux calls these so; see shm_overview(7) for the last. */
static bool is_shared_memory(const struct region *region)
{
	static const char *const names[] = {
		SHARED_NAME,
		"/SYSV",
		"/memfd:",
		"/dev/shm/",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (region->kind == REGION_SHARED &&
		    !strncmp(region->name, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Each table of the page table that the page needs, and none before did. */
static void add_tables(struct usage *usage, uint64_t page)
{
	for (unsigned level = 0; level < USAGE_LEVELS; level++) {
		uint64_t table = 1 + (page >> 9 * (level + 1));

		usage->tables += table != usage->table[level];
		usage->table[level] = table;
	}
}

static void add_present(struct usage *usage, const struct region *region,
			uint64_t entry)
{
	bool is_memory = is_shared_memory(region);
	bool is_anon = !(entry & PAGEMAP_FILE) && !is_memory;
	bool is_alone = entry & PAGEMAP_EXCLUSIVE;

	if (is_anon)
		usage->anon++;
	else if (is_memory)
		usage->shared++;
	else
		usage->file++;
	/* What is no file's was written. */
	if (is_anon || is_memory)
		*(is_alone ? &usage->dirty_alone : &usage->dirty_common) += 1;
	else
		*(is_alone ? &usage->clean_alone : &usage->clean_common) += 1;
}

void usage_add(struct linux_process *process, int pagemap,
	       const struct region *region, struct usage *usage)
{
	uint64_t end = region->end >> GUEST_PAGE_SHIFT;
	uint64_t page = region->start >> GUEST_PAGE_SHIFT;
	uint64_t *entries = malloc(AT_ONCE * sizeof(*entries));

	add_kind(usage, region, end - page);
	while (entries && (page = memory_next_touched(process->memory, page,
						      end)) < end) {
		size_t count = end - page < AT_ONCE ? end - page : AT_ONCE;

		pagemap_entries(process, pagemap, page, entries, count);
		for (size_t i = 0; i < count; i++) {
			usage->swapped += !!(entries[i] & PAGEMAP_SWAPPED);
			if (!(entries[i] & PAGEMAP_PRESENT))
				continue;
			add_present(usage, region, entries[i]);
			add_tables(usage, page + i);
		}
		page += count;
	}
	free(entries);
}

/* ------- all of it ------- */

struct adding {
	struct linux_process *process;
	int pagemap;
	struct usage *usage;
};

static void add_region(void *context, const struct region *region)
{
	struct adding *adding = context;

	usage_add(adding->process, adding->pagemap, region, adding->usage);
}

void usage_of(struct linux_process *process, struct usage *usage)
{
	struct adding adding = { process, pagemap_open(), usage };

	memset(usage, 0, sizeof(*usage));
	each_whole_region(process, add_region, &adding);
	if (adding.pagemap >= 0)
		close(adding.pagemap);
}

uint64_t usage_present(const struct usage *usage)
{
	return usage->anon + usage->file + usage->shared;
}

uint64_t usage_code(const struct linux_process *process)
{
	const struct layout *layout = &process->space->layout;

	return (page_up(layout->code_end) - page_down(layout->code_start)) >>
	       GUEST_PAGE_SHIFT;
}
