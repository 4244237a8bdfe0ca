/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * split_entries.c - what entries of a split unit refer to in other sections
 *
 * Numbers stay as long as they are.  Lists of locations of version 4 have a form
 * of their own in split units, so they are written anew.
 *
 * Source: DWARF 5, 7.7.3; for version 4, GCC's wiki, "DebugFission".
 */
#include "replayer/symbols/split_units_internal.h"

#include <dwarf.h>
#include <stdlib.h>

#include "formats/array.h"
#include "formats/error.h"

static void set_u32(uint8_t *at, uint64_t value)
{
	for (unsigned i = 0; i < 4; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get_u32(const uint8_t *at)
{
	struct input in = { at, at + 4, 0 };

	return input_uint(&in, 4);
}

/* ------- expressions ------- */

/* Bytes that hold one, which may be changed. */
struct holder {
	uint8_t *bytes;
	uint64_t more;		/* what is added to offsets */
};

static void move_offset(void *context, const uint8_t *offset)
{
	const struct holder *holder = context;
	uint8_t *at = holder->bytes + (offset - holder->bytes);

	set_u32(at, get_u32(at) + holder->more);
}

static void move_offsets(const struct split_unit *unit, uint8_t *bytes,
			 size_t size)
{
	struct holder holder = { bytes, unit->part_at };

	dwarf_each_offset((struct input){ bytes, bytes + size, 0 },
			  &unit->shape, move_offset, &holder);
}

/* ------- lists of locations of version 5 ------- */

/* False at the end of a list. */
static bool pass_bounds(struct input *in, const struct dwarf_shape *shape,
			bool *has_expression)
{
	unsigned kind = (unsigned)input_uint(in, 1);

	*has_expression = true;
	switch (kind) {
	case DW_LLE_base_addressx:
		dwarf_take_uleb(in);
		*has_expression = false;
		break;
	case DW_LLE_base_address:
		input_bytes(in, shape->word);
		*has_expression = false;
		break;
	case DW_LLE_GNU_view_pair:
		*has_expression = false;
		/* fall through */
	case DW_LLE_startx_endx:
	case DW_LLE_startx_length:
	case DW_LLE_offset_pair:
		dwarf_take_uleb(in);
		dwarf_take_uleb(in);
		break;
	case DW_LLE_default_location:
		break;
	case DW_LLE_start_end:
		input_bytes(in, 2 * shape->word);
		break;
	case DW_LLE_start_length:
		input_bytes(in, shape->word);
		dwarf_take_uleb(in);
		break;
	default:
		return false;
	}
	return !in->error;
}

static void move_list(const struct split_unit *unit, uint64_t at)
{
	struct output *out = &unit->source->units->sections[SPLIT_LOCLISTS];
	struct input in = { out->bytes + at, out->bytes + out->size, 0 };
	bool has_expression;

	while (pass_bounds(&in, &unit->shape, &has_expression)) {
		uint64_t size = has_expression ? dwarf_take_uleb(&in) : 0;
		size_t expression = (size_t)(in.at - out->bytes);

		if (!input_bytes(&in, size))
			return;
		move_offsets(unit, out->bytes + expression, size);
	}
}

static int compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Each once, however many entries share it. */
static void move_lists(struct split_unit *unit)
{
	const struct output *out =
		&unit->source->units->sections[SPLIT_LOCLISTS];

	if (unit->list_count)
		qsort(unit->lists, unit->list_count, sizeof(*unit->lists),
		      compare);
	for (size_t i = 0; i < unit->list_count; i++)
		if (unit->lists[i] < out->size &&
		    (!i || unit->lists[i] != unit->lists[i - 1]))
			move_list(unit, unit->lists[i]);
}

static void note_list(struct split_unit *unit, uint64_t at)
{
	if (!array_room(unit->lists, unit->list_count, unit->list_room))
		unit->lists[unit->list_count++] = at;
	else
		unit->source->units->error = ERR_NO_MEMORY;
}

/* By its index in the table behind the header. */
static void note_indexed(struct split_unit *unit, uint64_t index)
{
	const struct output *out =
		&unit->source->units->sections[SPLIT_LOCLISTS];
	uint64_t table = split_placed(unit, SPLIT_LOCLISTS) + 12;

	if (table <= out->size && index < (out->size - table) / 4)
		note_list(unit, table + get_u32(out->bytes + table + 4 * index));
}

/* ------- lists of locations of version 4 ------- */

/* The address with an index. */
static uint64_t address_of(const struct split_unit *unit, uint64_t index)
{
	const struct output *out = &unit->source->units->sections[JOINED_ADDR];
	unsigned word = unit->shape.word;
	struct input in = { out->bytes, out->bytes + out->size, 0 };

	if (index > out->size / word)
		return 0;
	input_bytes(&in, unit->addr_base + index * word);
	return input_uint(&in, word);
}

/* Takes the bounds of one; false at the end of the list. */
static bool take_bounds(const struct split_unit *unit, struct input *in,
			uint64_t *base, uint64_t *start, uint64_t *end)
{
	unsigned kind = (unsigned)input_uint(in, 1);

	while (kind == DW_LLE_GNU_base_address_selection_entry) {
		*base = address_of(unit, dwarf_take_uleb(in));
		kind = (unsigned)input_uint(in, 1);
	}
	switch (kind) {
	case DW_LLE_GNU_start_end_entry:
		*start = address_of(unit, dwarf_take_uleb(in));
		*end = address_of(unit, dwarf_take_uleb(in));
		break;
	case DW_LLE_GNU_start_length_entry:
		*start = address_of(unit, dwarf_take_uleb(in));
		*end = *start + input_uint(in, 4);
		break;
	case DW_LLE_offset_pair:
		*start = *base + input_uint(in, 4);
		*end = *base + input_uint(in, 4);
		break;
	default:
		return false;
	}
	return !in->error;
}

/* With addresses themselves: what they would be added to is 0. */
static void write_list(const struct split_unit *unit, struct input in,
		       struct output *out)
{
	unsigned word = unit->shape.word;
	uint64_t base = 0, start, end;

	output_uint(out, UINT64_MAX >> (64 - 8 * word), word);
	output_uint(out, 0, word);
	while (take_bounds(unit, &in, &base, &start, &end)) {
		uint64_t size = input_uint(&in, 2);
		const uint8_t *bytes = input_bytes(&in, size);
		size_t at = out->size + 2 * word + 2;

		if (!bytes)
			break;
		if (start >= end)
			continue;
		output_uint(out, start, word);
		output_uint(out, end, word);
		output_uint(out, size, 2);
		output_bytes(out, bytes, size);
		if (!out->error)
			move_offsets(unit, out->bytes + at, size);
	}
	output_uint(out, 0, word);
	output_uint(out, 0, word);
}

/* Returns where it is. */
static uint64_t add_list(struct split_unit *unit, uint64_t offset)
{
	const struct split_file *file = unit->source->file;
	struct output *out = &unit->source->units->sections[SPLIT_LOC];
	const struct split_part *part = &unit->parts[SPLIT_LOC];
	uint64_t *left = &unit->source->left[SPLIT_LOC];
	const uint8_t *bytes = file->sections[SPLIT_LOC].bytes;
	uint64_t at = out->size, size;

	if (offset >= part->size)
		return at;
	bytes += part->offset;
	write_list(unit, (struct input){ bytes + offset, bytes + part->size,
					 0 }, out);
	size = out->size - at;
	if (size > *left)
		unit->source->units->error = ERR_CORRUPT;
	*left -= size > *left ? *left : size;
	return at;
}

/* ------- attributes ------- */

static void move_section_offset(struct split_unit *unit, uint64_t name,
				uint8_t *at)
{
	uint64_t offset = get_u32(at);

	switch (name) {
	case DW_AT_stmt_list:
		set_u32(at, offset + split_placed(unit, SPLIT_LINE));
		break;
	case DW_AT_ranges:
	case DW_AT_start_scope:
		set_u32(at, offset + (unit->shape.version < 5 ?
					      unit->ranges_base :
					      split_placed(unit,
							   SPLIT_RNGLISTS)));
		break;
	case DW_AT_macros:
	case DW_AT_macro_info:
	case DW_AT_GNU_macros:
	case DW_AT_GNU_locviews:
		break;
	default:
		if (unit->shape.version < 5) {
			set_u32(at, add_list(unit, offset));
			break;
		}
		offset += split_placed(unit, SPLIT_LOCLISTS);
		set_u32(at, offset);
		note_list(unit, offset);
	}
}

static void move_attribute(void *context,
			   const struct dwarf_attribute *attribute)
{
	struct split_unit *unit = context;
	uint8_t *at = unit->bytes + (attribute->bytes - unit->bytes);
	struct input in = { at, at + attribute->size, 0 };
	uint64_t index;

	switch (attribute->form) {
	case DW_FORM_ref_addr:
		set_u32(at, get_u32(at) + unit->part_at);
		break;
	case DW_FORM_strp:
		set_u32(at, get_u32(at) + unit->source->placed[SPLIT_STR]);
		break;
	case DW_FORM_sec_offset:
		move_section_offset(unit, attribute->name, at);
		break;
	case DW_FORM_loclistx:
		if (dwarf_constant(attribute, &index))
			note_indexed(unit, index);
		break;
	case DW_FORM_exprloc:
		dwarf_take_uleb(&in);
		move_offsets(unit, at + (in.at - at), input_left(&in));
		break;
	default:
		break;
	}
}

int split_entries_write(struct split_unit *unit, size_t next)
{
	const struct abbrevs *abbrevs =
		&unit->source->tables[unit->table].abbrevs;
	struct input in = { unit->bytes + next, unit->bytes + unit->size, 0 };

	while (input_left(&in) && !in.error) {
		uint64_t code = dwarf_take_uleb(&in);
		const struct abbrev *abbrev = abbrevs_find(abbrevs, code);

		if (code && !abbrev)
			return ERR_CORRUPT;
		if (code)
			dwarf_each_attribute(&in, abbrev, &unit->shape,
					     move_attribute, unit);
	}
	move_lists(unit);
	free(unit->lists);
	unit->lists = NULL;
	unit->list_count = unit->list_room = 0;
	return in.error;
}
