/* SPDX-License-Identifier: GPL-2.0-or-later */
/* row_tables.c - see row_tables.h */
#include "replayer/symbols/row_tables.h"

#include <stdlib.h>
#include <string.h>

#include "formats/array.h"

struct entry {
	uint64_t addr;
	const char *file;
	unsigned line;		/* 0: what was there ends here */
	bool is_statement;
};

struct row_table {
	struct entry *list;
	size_t count, room;
};

/* ------- making one ------- */

struct making {
	struct row_table *table;
	struct entry last;	/* the row before */
	bool any;		/* there is one, in this sequence */
	bool differs;		/* rows of its line have discriminators */
	uint64_t statement_at;	/* a statement begins there, if: */
	bool has_statement;
};

static bool add(struct making *making, const struct entry *entry)
{
	struct row_table *table = making->table;

	if (array_room(table->list, table->count, table->room))
		return false;
	table->list[table->count++] = *entry;
	return true;
}

/* Rows without code of the file that ends there are no places. */
static void drop_empty(struct making *making, uint64_t addr)
{
	struct row_table *table = making->table;

	while (table->count && table->list[table->count - 1].addr == addr &&
	       table->list[table->count - 1].line)
		table->count--;
}

static bool is_other_file(const struct making *making,
			  const struct entry *entry)
{
	return !making->any || !making->last.file ||
	       strcmp(making->last.file, entry->file) != 0;
}

static bool add_row(struct making *making, const struct entry *entry,
		    bool differs)
{
	bool is_other = is_other_file(making, entry);
	bool is_hidden = is_other && !entry->is_statement && making->any &&
			 making->has_statement &&
			 making->statement_at == entry->addr;
	bool same_line = making->any && making->last.line == entry->line;

	making->differs = (same_line && making->differs) || differs;
	if (entry->is_statement) {
		making->has_statement = true;
		making->statement_at = entry->addr;
	}
	if (is_hidden || !entry->line)
		return true;
	if (is_other)
		drop_empty(making, entry->addr);
	if ((is_other || !same_line || !making->differs) &&
	    !add(making, entry))
		return false;
	making->last = *entry;
	making->any = true;
	return true;
}

static bool end_sequence(struct making *making, uint64_t addr)
{
	const struct entry end = { .addr = addr };

	drop_empty(making, addr);
	making->any = making->differs = making->has_statement = false;
	return add(making, &end);
}

static bool take_row(struct making *making, Dwarf_Line *row)
{
	struct entry entry = { 0 };
	unsigned discriminator = 0;
	bool ends = false;
	Dwarf_Addr addr;
	int line = 0;

	if (!row || dwarf_lineaddr(row, &addr))
		return true;
	dwarf_lineendsequence(row, &ends);
	if (ends)
		return end_sequence(making, addr);
	dwarf_lineno(row, &line);
	dwarf_linebeginstatement(row, &entry.is_statement);
	dwarf_linediscriminator(row, &discriminator);
	entry.addr = addr;
	entry.line = line > 0 ? (unsigned)line : 0;
	entry.file = dwarf_linesrc(row, NULL, NULL);
	return !entry.file || add_row(making, &entry, discriminator != 0);
}

static bool make(struct row_table *table, Dwarf_Die *unit)
{
	struct making making = { .table = table };
	Dwarf_Lines *rows;
	size_t count;

	if (dwarf_getsrclines(unit, &rows, &count))
		return true;
	for (size_t i = 0; i < count; i++)
		if (!take_row(&making, dwarf_onesrcline(rows, i)))
			return false;
	return true;
}

static struct row_table *make_table(struct row_tables *tables,
				    Dwarf_Die *unit)
{
	struct row_table table = { 0 };

	if (!make(&table, unit) ||
	    array_room(tables->list, tables->count, tables->room) ||
	    number_map_set(&tables->by_unit, (uintptr_t)unit->addr,
			   tables->count)) {
		free(table.list);
		return NULL;
	}
	tables->list[tables->count] = table;
	return &tables->list[tables->count++];
}

static struct row_table *find_table(struct row_tables *tables, Dwarf_Die *unit)
{
	const uint64_t *number = number_map_find(&tables->by_unit,
						 (uintptr_t)unit->addr);

	return number ? &tables->list[*number] : make_table(tables, unit);
}

void row_tables_release(struct row_tables *tables)
{
	for (size_t i = 0; i < tables->count; i++)
		free(tables->list[i].list);
	free(tables->list);
	number_map_release(&tables->by_unit);
	*tables = (struct row_tables) { 0 };
}

/* ------- looking something up ------- */

/* The last entry at or before an address; false if there is none. */
static bool find_entry(const struct row_table *table, uint64_t addr,
		       size_t *out)
{
	size_t first = 0, behind = table->count;

	while (first < behind) {
		size_t middle = first + (behind - first) / 2;

		if (table->list[middle].addr <= addr)
			first = middle + 1;
		else
			behind = middle;
	}
	*out = first - 1;
	return first > 0;
}

/* Of several at its address, one with which a statement begins. */
static size_t prefer_statement(const struct row_table *table, size_t found)
{
	const struct entry *list = table->list;
	size_t at = found;

	while (!list[at].is_statement && at && list[at - 1].line &&
	       list[at - 1].addr == list[at].addr)
		at--;
	return list[at].is_statement ? at : found;
}

static bool is_same_line(const struct entry *one, const struct entry *other)
{
	return one->line == other->line && one->file && other->file &&
	       !strcmp(one->file, other->file);
}

/* Where the first of the rows of its line begins, without a gap. */
static uint64_t find_first(const struct row_table *table, size_t found)
{
	uint64_t first = table->list[found].addr;
	size_t at;

	while (find_entry(table, first - 1, &at)) {
		at = prefer_statement(table, at);
		if (!is_same_line(&table->list[at], &table->list[found]))
			break;
		first = table->list[at].addr;
	}
	return first;
}

bool row_tables_find(struct row_tables *tables, Dwarf_Die *unit, uint64_t addr,
		     struct code_row *out)
{
	const struct row_table *table = find_table(tables, unit);
	const struct entry *entry;
	size_t found, next;

	if (!table || !find_entry(table, addr, &found))
		return false;
	next = found + 1;
	found = prefer_statement(table, found);
	entry = &table->list[found];
	if (!entry->line || next == table->count)
		return false;
	*out = (struct code_row) {
		.start = entry->addr, .end = table->list[next].addr,
		.first = find_first(table, found), .file = entry->file,
		.line = entry->line, .is_statement = entry->is_statement,
	};
	return true;
}
