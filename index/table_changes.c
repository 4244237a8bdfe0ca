/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table_changes.c - see table_changes.h */
#include "index/table_changes.h"

#include <stdlib.h>

#include "formats/array.h"
#include "formats/error.h"

/* More are those of a guest that has a table for each instruction. */
#define TABLES_MOST (UINT64_C(1) << 20)
#define CHANGES_MOST (UINT64_C(1) << 24)
#define CORES_MOST 256u

static bool is_same(const struct page_tables *a, const struct page_tables *b)
{
	return a->low == b->low && a->high == b->high &&
	       a->control == b->control && a->system == b->system &&
	       a->vectors == b->vectors;
}

/* ------- collecting ------- */

/* The newest first: a kernel goes to and fro between two. */
static uint32_t find_tables(struct table_changes *changes,
			    const struct page_tables *tables)
{
	for (size_t i = changes->table_count; i-- > 0;)
		if (is_same(&changes->tables[i], tables))
			return (uint32_t)i;
	if (array_room(changes->tables, changes->table_count,
		       changes->table_room)) {
		changes->error = ERR_NO_MEMORY;
		return 0;
	}
	changes->tables[changes->table_count] = *tables;
	return (uint32_t)changes->table_count++;
}

void table_changes_add(struct table_changes *changes,
		       const struct table_change *change,
		       const struct page_tables *tables)
{
	const struct page_tables essence = page_tables_essence(tables);
	const struct table_change *last =
		changes->count ? &changes->list[changes->count - 1] : NULL;
	struct table_change new = *change;

	new.tables = find_tables(changes, &essence);
	if (last && last->core == new.core && last->tables == new.tables)
		return;
	if (array_room(changes->list, changes->count, changes->room))
		changes->error = ERR_NO_MEMORY;
	else
		changes->list[changes->count++] = new;
}

void table_changes_release(struct table_changes *changes)
{
	free(changes->tables);
	free(changes->list);
	*changes = (struct table_changes){ 0 };
}

/* ------- as bytes ------- */

int table_changes_encode(struct output *out,
			 const struct table_changes *changes)
{
	uint64_t before = 0;

	if (changes->error)
		return changes->error;
	if (changes->table_count > TABLES_MOST || changes->count > CHANGES_MOST)
		return ERR_INPUT;
	output_varint(out, changes->table_count);
	for (size_t i = 0; i < changes->table_count; i++) {
		output_varint(out, changes->tables[i].low);
		output_varint(out, changes->tables[i].high);
		output_varint(out, changes->tables[i].control);
		output_varint(out, changes->tables[i].system);
		output_varint(out, changes->tables[i].vectors);
	}
	output_varint(out, changes->count);
	for (size_t i = 0; i < changes->count; i++) {
		const struct table_change *change = &changes->list[i];

		output_varint(out, change->time - before);
		output_varint(out, change->events);
		output_varint(out, change->core);
		output_varint(out, change->tables);
		before = change->time;
	}
	return out->error;
}

static int take_tables(struct table_changes *out, struct input *in)
{
	out->table_count = input_count(in, TABLES_MOST);
	if (!in->error && input_left(in) / 5 < out->table_count)
		in->error = ERR_TRUNCATED;
	if (in->error)
		return in->error;
	out->tables = calloc(out->table_count + 1, sizeof(*out->tables));
	if (!out->tables)
		return ERR_NO_MEMORY;
	for (size_t i = 0; i < out->table_count; i++) {
		out->tables[i].low = input_varint(in);
		out->tables[i].high = input_varint(in);
		out->tables[i].control = input_varint(in);
		out->tables[i].system = input_varint(in);
		out->tables[i].vectors = input_varint(in);
	}
	return in->error;
}

static int take_changes(struct table_changes *out, struct input *in)
{
	uint64_t time = 0;

	out->count = input_count(in, CHANGES_MOST);
	if (!in->error && input_left(in) / 4 < out->count)
		in->error = ERR_TRUNCATED;
	if (!in->error && out->count && !out->table_count)
		in->error = ERR_CORRUPT;
	if (in->error)
		return in->error;
	out->list = calloc(out->count + 1, sizeof(*out->list));
	if (!out->list)
		return ERR_NO_MEMORY;
	for (size_t i = 0; i < out->count; i++) {
		struct table_change *change = &out->list[i];
		uint64_t passed = input_varint(in);

		if (passed > UINT64_MAX - time)
			return ERR_CORRUPT;
		change->time = time += passed;
		change->events = (uint32_t)input_count(in, UINT32_MAX);
		change->core = (uint32_t)input_count(in, CORES_MOST - 1);
		change->tables = (uint32_t)input_count(in,
						       out->table_count - 1);
	}
	return in->error;
}

int table_changes_decode(struct table_changes *out, const uint8_t *bytes,
			 size_t size)
{
	struct input in = { bytes, bytes + size, 0 };
	int rc;

	*out = (struct table_changes){ 0 };
	rc = take_tables(out, &in);
	if (!rc)
		rc = take_changes(out, &in);
	if (!rc && input_left(&in))
		rc = ERR_CORRUPT;
	if (rc)
		table_changes_release(out);
	return rc;
}

size_t table_changes_size(const struct table_changes *changes)
{
	return changes->table_count * sizeof(*changes->tables) +
	       changes->count * sizeof(*changes->list);
}

/* ------- looking up ------- */

/* How many changes were at a time or before it. */
static size_t count_before(const struct table_changes *changes, uint64_t time,
			   uint32_t events)
{
	size_t first = 0, last = changes->count;

	while (first < last) {
		size_t middle = first + (last - first) / 2;
		const struct table_change *change = &changes->list[middle];

		if (change->time < time ||
		    (change->time == time && change->events <= events))
			first = middle + 1;
		else
			last = middle;
	}
	return first;
}

const struct page_tables *table_changes_at(const struct table_changes *changes,
					   uint64_t time, uint32_t events,
					   const uint32_t *core)
{
	for (size_t i = count_before(changes, time, events); i-- > 0;)
		if (!core || changes->list[i].core == *core)
			return &changes->tables[changes->list[i].tables];
	return NULL;
}
