/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * maps.c - /proc/self/maps, smaps and smaps_rollup
 *
 * Which lines smaps has depends on the kernel: they are those of the host's,
 * with numbers of the guest's; what the guest does not have, as huge pages, is
 * zero.
 *
 * Source: proc(5); Linux, Documentation/filesystems/proc.rst.
 */
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "vm/linux/host/host.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/proc/proc_internal.h"
#include "vm/linux/process.h"

static void print_region(FILE *out, struct linux_process *process,
			 const struct region *region)
{
	uint64_t dev = 0, ino = 0;
	int width;

	if (region->kind == REGION_ANON ||
	    !memory_file_at(process->memory, region->start, &dev, &ino))
		dev = ino = 0;
	width = fprintf(out, "%08llx-%08llx %c%c%c%c %08llx %02x:%02x %llu ",
			(unsigned long long)region->start,
			(unsigned long long)region->end,
			region->prot & MAY_READ ? 'r' : '-',
			region->prot & MAY_WRITE ? 'w' : '-',
			region->prot & MAY_EXEC ? 'x' : '-',
			region->kind == REGION_SHARED ? 's' : 'p',
			(unsigned long long)region->offset, major(dev),
			minor(dev), (unsigned long long)ino);
	if (*region->name)
		fprintf(out, "%*s%s", width < 73 ? 73 - width : 0, "",
			region->name);
	fputc('\n', out);
}

struct printing {
	struct linux_process *process;
	FILE *out;
	int pagemap;
	char lines[4096]; /* of the host's file about one mapping */
};

static void print_map(void *context, const struct region *region)
{
	struct printing *printing = context;

	print_region(printing->out, printing->process, region);
}

/* The page of calls at fixed addresses, which is no mapping. */
static void each_fixed_region(struct linux_process *process,
			      void (*visit)(void *context,
					    const struct region *region),
			      void *context)
{
	const struct region region = {
		.start = process->abi->fixed_calls,
		.end = process->abi->fixed_calls + GUEST_PAGE,
		.prot = MAY_EXEC,
		.kind = REGION_ANON,
		.name = process->abi->fixed_name,
	};

	if (region.start)
		visit(context, &region);
}

void proc_print_maps(struct linux_process *process, uint32_t tid, FILE *out)
{
	struct printing printing = { .process = process, .out = out };

	(void)tid;
	each_whole_region(process, print_map, &printing);
	each_fixed_region(process, print_map, &printing);
}

/* ------- numbers of a mapping ------- */

/* Whoever shares pages with us is one other; see struct usage. */
static uint64_t pss(const struct usage *usage)
{
	return usage->clean_alone + usage->dirty_alone +
	       (usage->clean_common + usage->dirty_common) / 2;
}

/* Pages of a kind, of which so many of all are ours to count. */
static uint64_t pss_of(const struct usage *usage, uint64_t pages)
{
	uint64_t present = usage_present(usage);

	return present ? pages * pss(usage) / present : 0;
}

/* How many pages a line is about, by the name that it starts with. */
static uint64_t count_of(const struct usage *usage, const char *line)
{
	const struct {
		const char *name;
		uint64_t pages;
	} counts[] = {
		{ "Size:", usage->size },
		{ "KernelPageSize:", 1 },
		{ "MMUPageSize:", 1 },
		{ "Rss:", usage_present(usage) },
		{ "Pss:", pss(usage) },
		{ "Pss_Dirty:", usage->dirty_alone + usage->dirty_common / 2 },
		{ "Pss_Anon:", pss_of(usage, usage->anon) },
		{ "Pss_File:", pss_of(usage, usage->file) },
		{ "Pss_Shmem:", pss_of(usage, usage->shared) },
		{ "Shared_Clean:", usage->clean_common },
		{ "Shared_Dirty:", usage->dirty_common },
		{ "Private_Clean:", usage->clean_alone },
		{ "Private_Dirty:", usage->dirty_alone },
		{ "Referenced:", usage_present(usage) },
		{ "Anonymous:", usage->anon },
		{ "Swap:", usage->swapped },
		{ "SwapPss:", usage->swapped },
	};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (!strncmp(line, counts[i].name, strlen(counts[i].name)))
			return counts[i].pages;
	return 0;
}

static void print_flags(FILE *out, const struct region *region, bool is_fixed)
{
	bool is_shared = region->kind == REGION_SHARED;

	fprintf(out, "VmFlags:%s%s%s%s%s%s%s%s\n",
		region->prot & MAY_READ ? " rd" : "",
		region->prot & MAY_WRITE ? " wr" : "",
		region->prot & MAY_EXEC ? " ex" : "", is_shared ? " sh" : "",
		is_fixed ? "" : " mr mw me", is_shared ? " ms" : "",
		strcmp(region->name, "[stack]") ? "" : " gd",
		region->prot & MAY_WRITE && !is_shared ? " ac" : "");
}

/* A line of the host's with another number, in the same place. */
static void print_count(FILE *out, const char *line, uint64_t pages)
{
	int name = (int)(strchr(line, ':') - line) + 1;
	int width = (int)strcspn(line, "\n") - name;

	if (!strncmp(line + name + width - 3, " kB", 3))
		fprintf(out, "%.*s%*llu kB\n", name, line, width - 3,
			(unsigned long long)pages * (GUEST_PAGE / 1024));
	else
		fprintf(out, "%.*s%*d\n", name, line, width, 0);
}

static void print_lines(const struct printing *printing,
			const struct region *region, const struct usage *usage)
{
	guest_addr fixed = printing->process->abi->fixed_calls;

	for (const char *line = printing->lines; *line;
	     line = strchr(line, '\n') + 1)
		if (!strncmp(line, "VmFlags:", 8))
			print_flags(printing->out, region,
				    region->start == fixed);
		else
			print_count(printing->out, line, count_of(usage, line));
}

/* ------- the files ------- */

/* Whole lines like "Rss:  4 kB"; the next mapping begins with its address. */
static void read_lines(FILE *in, char *lines, size_t room)
{
	while (fgets(lines, (int)room, in)) {
		size_t length = strlen(lines);

		if (*lines < 'A' || *lines > 'Z' || !strchr(lines, ':') ||
		    lines[length - 1] != '\n') {
			*lines = '\0';
			break;
		}
		lines += length;
		room -= length;
	}
}

static void begin(struct printing *printing, const char *name)
{
	FILE *in = host_proc_file(0, name);
	char *lines = printing->lines;

	printing->pagemap = pagemap_open();
	if (!in)
		return;
	/* The first line is that of a mapping. */
	if (fgets(lines, sizeof(printing->lines), in)) {
		*lines = '\0';
		read_lines(in, lines, sizeof(printing->lines));
	}
	fclose(in);
}

static void end(const struct printing *printing)
{
	if (printing->pagemap >= 0)
		close(printing->pagemap);
}

static void print_smap(void *context, const struct region *region)
{
	struct printing *printing = context;
	struct usage usage = { 0 };

	usage_add(printing->process, printing->pagemap, region, &usage);
	print_region(printing->out, printing->process, region);
	print_lines(printing, region, &usage);
}

void proc_print_smaps(struct linux_process *process, uint32_t tid, FILE *out)
{
	struct printing printing = { .process = process, .out = out };

	(void)tid;
	begin(&printing, "smaps");
	each_whole_region(process, print_smap, &printing);
	each_fixed_region(process, print_smap, &printing);
	end(&printing);
}

void proc_print_rollup(struct linux_process *process, uint32_t tid, FILE *out)
{
	struct printing printing = { .process = process, .out = out };
	struct usage usage;
	size_t count;
	const struct region *regions = memory_regions(process->memory, &count);
	struct region whole = { .name = "[rollup]" };

	(void)tid;
	if (count) {
		whole.start = regions[0].start;
		whole.end = regions[count - 1].end;
	}
	usage_of(process, &usage);
	begin(&printing, "smaps_rollup");
	print_region(out, process, &whole);
	print_lines(&printing, &whole, &usage);
	end(&printing);
}
