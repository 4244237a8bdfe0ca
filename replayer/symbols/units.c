/* SPDX-License-Identifier: GPL-2.0-or-later */
/* units.c - see units.h */
#include "replayer/symbols/units.h"

#include <stdbool.h>
#include <stdlib.h>

#include "formats/array.h"

/* A piece of a unit's code. */
struct piece {
	uint64_t start, end;
	uint64_t reach;		/* where the last of these and those before ends */
	size_t unit;		/* its number */
};

struct unit_table {
	Dwarf *dwarf;
	Dwarf_Die *units;
	size_t unit_count, unit_room;
	struct piece *pieces;	/* by where they start */
	size_t piece_count, piece_room;
};

/* ------- what units say ------- */

static bool add_pieces(struct unit_table *table, size_t number)
{
	struct piece piece = { .unit = number };
	Dwarf_Die unit = table->units[number];
	Dwarf_Addr base;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(&unit, at, &base, &piece.start,
				  &piece.end)) > 0) {
		if (piece.start >= piece.end)
			continue;
		if (array_room(table->pieces, table->piece_count,
			       table->piece_room))
			return false;
		table->pieces[table->piece_count++] = piece;
	}
	return true;
}

static bool take_units(struct unit_table *table)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	while (!dwarf_get_units(table->dwarf, unit, &unit, NULL, NULL, &die,
				NULL)) {
		if (array_room(table->units, table->unit_count,
			       table->unit_room))
			return false;
		table->units[table->unit_count++] = die;
		if (!add_pieces(table, table->unit_count - 1))
			return false;
	}
	return true;
}

/* Of those that start at one place, the first unit's comes last. */
static int compare(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->unit < b->unit) - (a->unit > b->unit);
}

static void sort_pieces(struct unit_table *table)
{
	uint64_t reach = 0;

	if (table->piece_count)
		qsort(table->pieces, table->piece_count,
		      sizeof(*table->pieces), compare);
	for (size_t i = 0; i < table->piece_count; i++) {
		if (table->pieces[i].end > reach)
			reach = table->pieces[i].end;
		table->pieces[i].reach = reach;
	}
}

/* ------- looking up ------- */

static struct unit_table *find_table(struct unit_tables *tables, Dwarf *dwarf)
{
	struct unit_table *table;

	for (size_t i = 0; i < tables->count; i++)
		if (tables->list[i]->dwarf == dwarf)
			return tables->list[i];
	if (array_room(tables->list, tables->count, tables->room))
		return NULL;
	table = calloc(1, sizeof(*table));
	if (!table)
		return NULL;
	table->dwarf = dwarf;
	tables->list[tables->count++] = table;
	if (!take_units(table))
		table->piece_count = 0;
	sort_pieces(table);
	return table;
}

/* How many pieces start at or before an address. */
static size_t count_before(const struct unit_table *table, uint64_t addr)
{
	size_t low = 0, high = table->piece_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->pieces[middle].start <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

Dwarf_Die *unit_at(struct unit_tables *tables, Dwarf *dwarf, uint64_t addr)
{
	const struct unit_table *table = find_table(tables, dwarf);
	size_t i = table ? count_before(table, addr) : 0;

	for (; i > 0 && table->pieces[i - 1].reach > addr; i--)
		if (table->pieces[i - 1].end > addr)
			return &table->units[table->pieces[i - 1].unit];
	return NULL;
}

Dwarf_Die *unit_find(struct unit_tables *tables, Dwfl_Module *module,
		     uint64_t addr, uint64_t *bias)
{
	Dwarf_Addr more = 0;
	Dwarf *dwarf = dwfl_module_getdwarf(module, &more);

	*bias = more;
	return dwarf ? unit_at(tables, dwarf, addr - more) : NULL;
}

void unit_tables_release(struct unit_tables *tables)
{
	for (size_t i = 0; i < tables->count; i++) {
		free(tables->list[i]->units);
		free(tables->list[i]->pieces);
		free(tables->list[i]);
	}
	free(tables->list);
	*tables = (struct unit_tables){ 0 };
}
