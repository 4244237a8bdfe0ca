/* SPDX-License-Identifier: GPL-2.0-or-later */
/* scopes.c - see scopes.h */
#include "replayer/symbols/scopes.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdlib.h>

#include "formats/array.h"
#include "formats/error.h"

int die_sibling(Dwarf_Die *die, Dwarf_Die *out)
{
	const char *before = die->addr;
	int rc = dwarf_siblingof(die, out);

	return rc ? rc : (const char *)out->addr <= before;
}

/* ------- the functions of a unit ------- */

/* A part of a function that is in one piece. */
struct part {
	uint64_t start, end;
	Dwarf_Die function;
};

struct scope_table {
	struct part *list;	/* by where they start */
	size_t count, room;
};

static bool may_hold_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_union_type || tag == DW_TAG_subprogram ||
	       tag == DW_TAG_lexical_block;
}

static int add_parts(struct scope_table *table, Dwarf_Die *function)
{
	struct part part = { .function = *function };
	Dwarf_Addr base;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(function, at, &base, &part.start,
				  &part.end)) > 0) {
		if (part.start >= part.end)
			continue;
		if (array_room(table->list, table->count, table->room))
			return ERR_NO_MEMORY;
		table->list[table->count++] = part;
	}
	return 0;
}

static int add_below(struct scope_table *table, Dwarf_Die *parent,
		     unsigned depth)
{
	Dwarf_Die die;
	int rc = 0;

	if (depth > SCOPES_MOST || dwarf_child(parent, &die))
		return 0;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_subprogram)
			rc = add_parts(table, &die);
		if (!rc && may_hold_functions(tag))
			rc = add_below(table, &die, depth + 1);
	} while (!rc && !die_sibling(&die, &die));
	return rc;
}

static int compare_parts(const void *left, const void *right)
{
	const struct part *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->end > b->end) - (a->end < b->end);
}

static struct scope_table *make_table(struct scope_tables *tables,
				      Dwarf_Die *unit)
{
	struct scope_table table = { 0 };

	if (add_below(&table, unit, 0) ||
	    array_room(tables->list, tables->count, tables->room) ||
	    number_map_set(&tables->by_unit, (uintptr_t)unit->addr,
			   tables->count)) {
		free(table.list);
		return NULL;
	}
	if (table.count)
		qsort(table.list, table.count, sizeof(*table.list),
		      compare_parts);
	tables->list[tables->count] = table;
	return &tables->list[tables->count++];
}

static struct scope_table *find_table(struct scope_tables *tables,
				      Dwarf_Die *unit)
{
	const uint64_t *number = number_map_find(&tables->by_unit,
						 (uintptr_t)unit->addr);

	return number ? &tables->list[*number] : make_table(tables, unit);
}

void scope_tables_release(struct scope_tables *tables)
{
	for (size_t i = 0; i < tables->count; i++)
		free(tables->list[i].list);
	free(tables->list);
	number_map_release(&tables->by_unit);
	*tables = (struct scope_tables) { 0 };
}

/* ------- looking code up ------- */

static const struct part *find_part(const struct scope_table *table,
				    uint64_t addr)
{
	size_t first = 0, behind = table->count;

	while (first < behind) {
		size_t middle = first + (behind - first) / 2;

		if (table->list[middle].start <= addr)
			first = middle + 1;
		else
			behind = middle;
	}
	return first && addr < table->list[first - 1].end ?
		       &table->list[first - 1] : NULL;
}

/* The block with the code right below one; false if there is none. */
static bool find_block(Dwarf_Die *parent, uint64_t addr, Dwarf_Die *out)
{
	if (dwarf_child(parent, out))
		return false;
	do {
		int tag = dwarf_tag(out);

		if ((tag == DW_TAG_lexical_block ||
		     tag == DW_TAG_inlined_subroutine) &&
		    dwarf_haspc(out, addr) > 0)
			return true;
	} while (!die_sibling(out, out));
	return false;
}

size_t scopes_find(struct scope_tables *tables, Dwarf_Die *unit, uint64_t addr,
		   Dwarf_Die out[SCOPES_MOST])
{
	const struct scope_table *table = find_table(tables, unit);
	const struct part *part = table ? find_part(table, addr) : NULL;
	size_t count = 1;

	if (!part)
		return 0;
	out[0] = part->function;
	while (count < SCOPES_MOST &&
	       find_block(&out[count - 1], addr, &out[count]))
		count++;
	return count;
}

int scopes_each_function(struct scope_tables *tables, Dwarf_Die *unit,
			 int (*visit)(void *context, Dwarf_Die *function),
			 void *context)
{
	const struct scope_table *found = find_table(tables, unit);
	/* Tables may move when a visit asks for another one. */
	const struct scope_table table = found ? *found :
						 (struct scope_table) { 0 };
	int rc = 0;

	for (size_t i = 0; i < table.count && !rc; i++) {
		Dwarf_Die function = table.list[i].function;

		rc = visit(context, &function);
	}
	return rc;
}
