/* SPDX-License-Identifier: GPL-2.0-or-later */
/* symbol_tables.c - see symbol_tables.h */
#include "replayer/symbols/symbol_tables.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "formats/array.h"

/* A symbol of the file, or what libdwfl found for a range; number 0 is none. */
struct known {
	const char *name;
	GElf_Sym symbol;
	GElf_Addr start;
};

#define ASK UINT32_MAX		/* libdwfl knows */

/* Up to where the next one begins. */
struct range {
	GElf_Addr start;
	uint32_t known;		/* its number, or ASK */

	/* Of symbols that others know, too, and begin there or before: where
	 * the last one ends, and where the last one without a size is. */
	GElf_Addr reach, label;
	bool has_label;
};

struct symbol_table {
	Dwfl_Module *module;
	struct known *known;
	size_t known_count, known_room;
	struct range *ranges;	/* by address; NULL: there was no memory */
	size_t range_count, range_room;
};

/* ------- the symbols ------- */

static bool add_known(struct symbol_table *table, const struct known *known)
{
	if (array_room(table->known, table->known_count, table->known_room))
		return false;
	table->known[table->known_count++] = *known;
	return true;
}

/* Whether an address can be in it. */
static bool covers_code(const struct known *known)
{
	unsigned type = GELF_ST_TYPE(known->symbol.st_info);

	return known->name && *known->name &&
	       known->symbol.st_shndx != SHN_UNDEF && type != STT_SECTION &&
	       type != STT_FILE && type != STT_TLS;
}

static bool take_symbols(struct symbol_table *table)
{
	int count = dwfl_module_getsymtab(table->module);

	if (!add_known(table, &(struct known){ 0 }))
		return false;
	for (int i = 1; i < count; i++) {
		struct known known;

		known.name = dwfl_module_getsym_info(
			table->module, i, &known.symbol, &known.start, NULL,
			NULL, NULL);
		if (covers_code(&known) && !add_known(table, &known))
			return false;
	}
	return true;
}

static GElf_Addr end_of(const struct known *known)
{
	return known->start + known->symbol.st_size;
}

/* ------- where ranges begin ------- */

static bool add_range(struct symbol_table *table, GElf_Addr start)
{
	if (array_room(table->ranges, table->range_count, table->range_room))
		return false;
	table->ranges[table->range_count++] = (struct range){
		.start = start, .known = ASK,
	};
	return true;
}

static bool add_borders_of_sections(struct symbol_table *table)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(table->module, &bias);
	Elf_Scn *section = NULL;

	while (elf && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;

		if (!gelf_getshdr(section, &header) ||
		    !(header.sh_flags & SHF_ALLOC))
			continue;
		if (!add_range(table, header.sh_addr + bias) ||
		    !add_range(table, header.sh_addr + bias + header.sh_size))
			return false;
	}
	return true;
}

static bool add_borders(struct symbol_table *table)
{
	if (!add_range(table, 0))
		return false;
	for (size_t i = 1; i < table->known_count; i++) {
		const struct known *known = &table->known[i];
		bool has_size = known->symbol.st_size != 0;

		/* A label at the end of a section is only where it is. */
		if (!add_range(table, known->start) ||
		    !add_range(table, end_of(known) + !has_size))
			return false;
	}
	return add_borders_of_sections(table);
}

static int by_start(const void *one, const void *other)
{
	GElf_Addr a = ((const struct range *)one)->start;
	GElf_Addr b = ((const struct range *)other)->start;

	return (a > b) - (a < b);
}

static void sort_ranges(struct symbol_table *table)
{
	size_t kept = 0;

	qsort(table->ranges, table->range_count, sizeof(*table->ranges),
	      by_start);
	for (size_t i = 0; i < table->range_count; i++)
		if (!kept ||
		    table->ranges[kept - 1].start != table->ranges[i].start)
			table->ranges[kept++] = table->ranges[i];
	table->range_count = kept;
}

/* ------- what they are in ------- */

static unsigned strength(const struct known *known)
{
	switch (GELF_ST_BIND(known->symbol.st_info)) {
	case STB_GLOBAL:
		return 3;
	case STB_WEAK:
		return 2;
	case STB_LOCAL:
		return 1;
	default:
		return 0;
	}
}

static bool is_local(const struct known *known)
{
	return GELF_ST_BIND(known->symbol.st_info) == STB_LOCAL;
}

/* Whether `one`, which is as good as `other` or comes first, is better. */
static bool is_better(const struct known *one, const struct known *other)
{
	if (is_local(one) != is_local(other))
		return !is_local(one);
	if (one->start != other->start)
		return one->start > other->start;
	if (strength(one) != strength(other))
		return strength(one) > strength(other);
	return one->symbol.st_size < other->symbol.st_size;
}

static size_t range_at(const struct symbol_table *table, GElf_Addr addr)
{
	size_t low = 0, high = table->range_count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (table->ranges[middle].start <= addr)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Fills in what is known of labels. */
static void note_labels(struct symbol_table *table)
{
	for (size_t i = 1; i < table->known_count; i++) {
		const struct known *known = &table->known[i];
		struct range *range =
			&table->ranges[range_at(table, known->start)];

		if (is_local(known))
			continue;
		if (end_of(known) > range->reach)
			range->reach = end_of(known);
		if (!known->symbol.st_size) {
			range->label = known->start;
			range->has_label = true;
		}
	}
	for (size_t i = 1; i < table->range_count; i++) {
		const struct range *before = &table->ranges[i - 1];
		struct range *range = &table->ranges[i];

		if (before->reach > range->reach)
			range->reach = before->reach;
		if (!range->has_label) {
			range->label = before->label;
			range->has_label = before->has_label;
		}
	}
}

/*
 * Where libdwfl may prefer a symbol without a size, that others know, to one
 * that only its own file knows.
 */
static bool may_be_label(const struct range *range)
{
	return range->has_label && range->label >= range->reach;
}

/*
 * Gives a symbol the ranges in which there is no better one.  Returns how many
 * ranges it is in.
 */
static size_t cover(struct symbol_table *table, uint32_t number)
{
	const struct known *known = &table->known[number];
	size_t first = range_at(table, known->start), i = first;

	for (; i < table->range_count &&
	       table->ranges[i].start < end_of(known); i++) {
		struct range *range = &table->ranges[i];

		if (is_local(known) && may_be_label(range))
			continue;
		if (range->known == ASK ||
		    is_better(known, &table->known[range->known]))
			range->known = number;
	}
	return i - first;
}

/* More symbols than this are in each other only in a file made up to be slow. */
#define DEEPEST 64u

static bool fill(struct symbol_table *table)
{
	size_t covered = 0;

	if (!take_symbols(table) || !add_borders(table))
		return false;
	sort_ranges(table);
	note_labels(table);
	for (size_t i = 1; i < table->known_count; i++) {
		covered += cover(table, (uint32_t)i);
		if (covered / DEEPEST > table->range_count)
			return false;
	}
	return true;
}

/* ------- looking up ------- */

static struct symbol_table *find_table(struct symbol_tables *tables,
				       Dwfl_Module *module)
{
	struct symbol_table *table;

	for (size_t i = 0; i < tables->count; i++)
		if (tables->list[i]->module == module)
			return tables->list[i];
	if (array_room(tables->list, tables->count, tables->room))
		return NULL;
	table = calloc(1, sizeof(*table));
	if (!table)
		return NULL;
	table->module = module;
	tables->list[tables->count++] = table;
	if (!fill(table)) {
		free(table->ranges);
		table->ranges = NULL;
	}
	return table;
}

/* What libdwfl knows of a range becomes known. */
static void ask(struct symbol_table *table, struct range *range,
		GElf_Addr addr)
{
	struct known known;
	GElf_Off offset = 0;

	known.name = dwfl_module_addrinfo(table->module, addr, &offset,
					  &known.symbol, NULL, NULL, NULL);
	known.start = addr - offset;
	if (!known.name)
		range->known = 0;
	else if (add_known(table, &known))
		range->known = (uint32_t)(table->known_count - 1);
}

const char *symbol_tables_find(struct symbol_tables *tables,
			       Dwfl_Module *module, GElf_Addr addr,
			       GElf_Off *offset, GElf_Sym *symbol)
{
	struct symbol_table *table = find_table(tables, module);
	const struct known *known;
	struct range *range;

	if (!table || !table->ranges)
		return dwfl_module_addrinfo(module, addr, offset, symbol, NULL,
					    NULL, NULL);
	range = &table->ranges[range_at(table, addr)];
	if (range->known == ASK)
		ask(table, range, addr);
	if (range->known == ASK)
		return dwfl_module_addrinfo(module, addr, offset, symbol, NULL,
					    NULL, NULL);
	known = &table->known[range->known];
	*offset = addr - known->start;
	*symbol = known->symbol;
	return known->name;
}

void symbol_tables_release(struct symbol_tables *tables)
{
	for (size_t i = 0; i < tables->count; i++) {
		free(tables->list[i]->known);
		free(tables->list[i]->ranges);
		free(tables->list[i]);
	}
	free(tables->list);
	*tables = (struct symbol_tables){ 0 };
}
