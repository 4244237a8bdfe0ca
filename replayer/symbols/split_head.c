/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * split_head.c - the header and the first entry of a unit that was split
 *
 * What the skeleton has is added to it.  All behind it stays where it is, as
 * offsets in the unit do: the bytes of its identifier, which is no longer needed,
 * are room, and what is a constant needs no bytes but in the abbreviations.
 */
#include "replayer/symbols/split_units_internal.h"

#include <dwarf.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"

struct head {
	struct split_unit *unit;
	struct output entry, declaration;
	size_t room;		/* bytes for the entry */
	struct dwarf_attribute name, folder, producer;	/* form 0: none */
	bool is_full;		/* something that it needs has no room */
};

uint64_t split_skeleton_offset(const struct skeleton *skeleton, unsigned name)
{
	Dwarf_Die die = skeleton->die;
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	return dwarf_attr(&die, name, &attribute) &&
	       !dwarf_formudata(&attribute, &value) ? value : 0;
}

/* ------- attributes ------- */

static void declare(struct head *head, uint64_t name, uint64_t form)
{
	output_varint(&head->declaration, name);
	output_varint(&head->declaration, form);
}

static void put_constant(struct head *head, uint64_t name, uint64_t value)
{
	declare(head, name, DW_FORM_implicit_const);
	dwarf_put_sleb(&head->declaration, (int64_t)value);
}

static bool has_room(const struct head *head, size_t size)
{
	return size <= head->room - head->entry.size;
}

static void put_u32(struct head *head, unsigned name, unsigned form,
		    uint64_t value)
{
	if (!has_room(head, 4)) {
		head->is_full = true;
		return;
	}
	declare(head, name, form);
	output_uint(&head->entry, value, 4);
}

static void put_as_is(struct head *head,
		      const struct dwarf_attribute *attribute)
{
	if (!attribute->form || !has_room(head, attribute->size))
		return;
	declare(head, attribute->name, attribute->form);
	output_bytes(&head->entry, attribute->bytes, attribute->size);
}

/* ------- what the skeleton has ------- */

static bool has(const struct skeleton *skeleton, unsigned name)
{
	Dwarf_Die die = skeleton->die;

	return dwarf_hasattr(&die, name);
}

static bool address_of(const struct skeleton *skeleton, unsigned name,
		       uint64_t *out)
{
	Dwarf_Die die = skeleton->die;
	Dwarf_Attribute attribute;

	return dwarf_attr(&die, name, &attribute) &&
	       !dwarf_formaddr(&attribute, out);
}

/* The next index that is free behind `base`, of items of `size` bytes. */
static uint64_t new_index(struct output *out, uint64_t base, unsigned size)
{
	while (out->size < base || (out->size - base) % size)
		output_uint(out, 0, 1);
	return (out->size - base) / size;
}

static void put_address(struct head *head, uint64_t addr)
{
	struct split_unit *unit = head->unit;
	struct output *out = &unit->source->units->sections[JOINED_ADDR];
	uint64_t index = new_index(out, unit->addr_base, unit->shape.word);

	output_uint(out, addr, unit->shape.word);
	put_u32(head, DW_AT_low_pc, DW_FORM_addrx4, index);
}

/* Written anew, as the skeleton's may be one of a table that it has. */
static uint64_t add_ranges(struct split_unit *unit)
{
	struct output *out = &unit->source->units->sections[SPLIT_RNGLISTS];
	unsigned word = unit->shape.word;
	Dwarf_Die die = unit->skeleton->die;
	Dwarf_Addr base, start, end;
	uint64_t at = out->size;
	ptrdiff_t next = 0;

	while ((next = dwarf_ranges(&die, next, &base, &start, &end)) > 0) {
		output_uint(out, DW_RLE_start_end, 1);
		output_uint(out, start, word);
		output_uint(out, end, word);
	}
	output_uint(out, DW_RLE_end_of_list, 1);
	return at;
}

static void put_code(struct head *head)
{
	struct split_unit *unit = head->unit;
	const struct skeleton *skeleton = unit->skeleton;
	uint64_t start, end;
	bool has_start = address_of(skeleton, DW_AT_low_pc, &start);

	if (has(skeleton, DW_AT_ranges)) {
		put_u32(head, DW_AT_ranges, DW_FORM_sec_offset,
			unit->shape.version < 5 ?
				split_skeleton_offset(skeleton, DW_AT_ranges) :
				add_ranges(unit));
		if (has_start && start)
			put_address(head, start);
		return;
	}
	if (!has_start)
		return;
	put_address(head, start);
	if (!address_of(skeleton, DW_AT_high_pc, &end))
		end = start + split_skeleton_offset(skeleton, DW_AT_high_pc);
	put_constant(head, DW_AT_high_pc, end - start);
}

/* The text of one folder is there once. */
static uint64_t folder_at(struct split_units *units, const char *folder)
{
	struct output *out = &units->sections[SPLIT_STR];

	if (!units->folder || strcmp(units->folder, folder)) {
		units->folder = folder;
		units->folder_at = out->size;
		output_bytes(out, folder, strlen(folder) + 1);
	}
	return units->folder_at;
}

static uint64_t strings_base(const struct split_unit *unit)
{
	return split_placed(unit, SPLIT_STR_OFFSETS) +
	       (unit->shape.version < 5 ? 0 : 8);
}

static void put_folder(struct head *head)
{
	struct split_unit *unit = head->unit;
	struct split_units *units = unit->source->units;
	struct output *out = &units->sections[SPLIT_STR_OFFSETS];
	struct output text = { 0 };

	if (head->folder.form || !*unit->skeleton->folder) {
		put_as_is(head, &head->folder);
		return;
	}
	output_varint(&text, new_index(out, strings_base(unit), 4));
	if (has_room(head, text.size)) {
		declare(head, DW_AT_comp_dir, DW_FORM_strx);
		output_bytes(&head->entry, text.bytes, text.size);
		output_uint(out, folder_at(units, unit->skeleton->folder), 4);
	}
	output_release(&text);
}

static void put_bases(struct head *head)
{
	const struct split_unit *unit = head->unit;

	put_constant(head, DW_AT_str_offsets_base, strings_base(unit));
	if (unit->shape.version < 5) {
		put_constant(head, DW_AT_GNU_addr_base, unit->addr_base);
		return;
	}
	put_constant(head, DW_AT_addr_base, unit->addr_base);
	if (unit->parts[SPLIT_LOCLISTS].size > 12)
		put_constant(head, DW_AT_loclists_base,
			     split_placed(unit, SPLIT_LOCLISTS) + 12);
	if (unit->parts[SPLIT_RNGLISTS].size > 12)
		put_constant(head, DW_AT_rnglists_base,
			     split_placed(unit, SPLIT_RNGLISTS) + 12);
}

/* ------- what the split unit has ------- */

static void take_attribute(void *context,
			   const struct dwarf_attribute *attribute)
{
	struct head *head = context;
	uint64_t value;

	switch (attribute->name) {
	case DW_AT_name:
		head->name = *attribute;
		break;
	case DW_AT_comp_dir:
		head->folder = *attribute;
		break;
	case DW_AT_producer:
		head->producer = *attribute;
		break;
	case DW_AT_language:
	case DW_AT_identifier_case:
	case DW_AT_use_UTF8:
		if (dwarf_constant(attribute, &value))
			put_constant(head, attribute->name, value);
		break;
	default:
		break;
	}
}

/* What is left of the room is an attribute that nobody looks for. */
static void put_padding(struct head *head)
{
	size_t left = head->room - head->entry.size;
	unsigned width = left <= 256 ? 1 : 2;

	if (!left)
		return;
	if (left - width > UINT16_MAX) {
		head->is_full = true;
		return;
	}
	declare(head, DW_AT_hi_user,
		width == 1 ? DW_FORM_block1 : DW_FORM_block2);
	output_uint(&head->entry, left - width, width);
	for (left -= width; left; left--)
		output_uint(&head->entry, 0, 1);
}

static void put_all(struct head *head)
{
	if (has(head->unit->skeleton, DW_AT_stmt_list))
		put_u32(head, DW_AT_stmt_list, DW_FORM_sec_offset,
			split_skeleton_offset(head->unit->skeleton,
					      DW_AT_stmt_list));
	put_code(head);
	put_as_is(head, &head->name);
	put_folder(head);
	put_as_is(head, &head->producer);
	put_bases(head);
	if (!head->is_full)
		put_padding(head);
}

/* ------- abbreviations ------- */

static bool is_same(const struct output *a, const struct output *b)
{
	return a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

/* Where the declaration of this code is, or may be put; NULL: not here. */
static struct output *place_in(struct split_table *table, uint64_t code,
			       const struct output *declaration)
{
	for (size_t i = 0; i < table->changed_count; i++)
		if (table->changed[i].code == code)
			return is_same(&table->changed[i].declaration,
				       declaration) ?
				       &table->changed[i].declaration : NULL;
	if (array_room(table->changed, table->changed_count,
		       table->changed_room))
		return NULL;
	table->changed[table->changed_count].code = code;
	table->changed[table->changed_count].declaration = (struct output){ 0 };
	return &table->changed[table->changed_count++].declaration;
}

/* The declaration is taken over. */
static int change_meaning(struct split_unit *unit, uint64_t code,
			  struct output *declaration)
{
	struct split_source *source = unit->source;
	struct split_table *table = &source->tables[unit->table];
	struct output *place = place_in(table, code, declaration);

	if (!place) {
		/* Another unit gives it another one: it has its own table. */
		const struct split_table again = { .offset = table->offset };
		const uint8_t *bytes =
			source->file->sections[SPLIT_ABBREV].bytes;
		size_t size = source->file->sections[SPLIT_ABBREV].size;

		if (array_room(source->tables, source->table_count,
			       source->table_room))
			return ERR_NO_MEMORY;
		unit->table = source->table_count++;
		table = &source->tables[unit->table];
		*table = again;
		if (abbrevs_read(&table->abbrevs,
				 (struct input){ bytes + table->offset,
						 bytes + size, 0 }))
			return ERR_CORRUPT;
		place = place_in(table, code, declaration);
	}
	if (!place)
		return ERR_NO_MEMORY;
	output_release(place);
	*place = *declaration;
	*declaration = (struct output){ 0 };
	return 0;
}

/* ------- the unit ------- */

static void begin_declaration(struct output *out, const struct abbrev *abbrev)
{
	output_varint(out, abbrev->code);
	output_varint(out, abbrev->tag);
	output_uint(out, abbrev->has_children, 1);
}

/* Its header is as long as it was, and so is the entry, as bytes. */
static int write_types(struct split_unit *unit, const struct abbrev *abbrev)
{
	struct head head = { .unit = unit };
	int rc;

	begin_declaration(&head.declaration, abbrev);
	output_bytes(&head.declaration, abbrev->attributes,
		     (size_t)(abbrev->end - abbrev->attributes) - 2);
	put_constant(&head, DW_AT_str_offsets_base, strings_base(unit));
	declare(&head, 0, 0);
	rc = head.declaration.error;
	if (!rc)
		rc = change_meaning(unit, abbrev->code, &head.declaration);
	output_release(&head.declaration);
	if (!rc && unit->shape.version >= 5)
		unit->bytes[6] = DW_UT_type;
	return rc;
}

static int write_unit(struct split_unit *unit, const struct abbrev *abbrev,
		      struct head *head, size_t header)
{
	int rc;

	put_all(head);
	declare(head, 0, 0);
	rc = head->is_full ? ERR_CORRUPT : head->declaration.error;
	if (!rc)
		rc = head->entry.error;
	if (!rc)
		rc = change_meaning(unit, abbrev->code, &head->declaration);
	if (rc)
		return rc;
	if (unit->shape.version >= 5)
		unit->bytes[6] = DW_UT_compile;
	memcpy(unit->bytes + header, head->entry.bytes, head->entry.size);
	return 0;
}

int split_head_write(struct split_unit *unit, size_t *next)
{
	const struct split_table *table = &unit->source->tables[unit->table];
	struct input in = { unit->bytes + unit->header,
			    unit->bytes + unit->size, 0 };
	const struct abbrev *abbrev;
	struct head head = { .unit = unit };
	size_t header = unit->shape.version < 5 ? HEADER_OLD : HEADER_NEW;
	int rc;

	abbrev = abbrevs_find(&table->abbrevs, dwarf_take_uleb(&in));
	if (in.error || !abbrev)
		return ERR_CORRUPT;
	begin_declaration(&head.declaration, abbrev);
	output_varint(&head.entry, abbrev->code);
	dwarf_each_attribute(&in, abbrev, &unit->shape, take_attribute, &head);
	*next = (size_t)(in.at - unit->bytes);
	head.room = *next - header;
	if (in.error || head.entry.size > head.room)
		rc = ERR_CORRUPT;
	else if (unit->skeleton)
		rc = write_unit(unit, abbrev, &head, header);
	else
		rc = write_types(unit, abbrev);
	if (!rc && !unit->skeleton)
		*next = unit->header;
	output_release(&head.entry);
	output_release(&head.declaration);
	return rc;
}
