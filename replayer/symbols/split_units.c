/* SPDX-License-Identifier: GPL-2.0-or-later */
/* split_units.c - see split_units.h */
#include "replayer/symbols/split_units_internal.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/symbols/elf_sections.h"

static const char *const section_names[JOINED_SECTIONS] = {
	[SPLIT_INFO] = ".debug_info",
	[SPLIT_TYPES] = ".debug_types",
	[SPLIT_ABBREV] = ".debug_abbrev",
	[SPLIT_LINE] = ".debug_line",
	[SPLIT_LOC] = ".debug_loc",
	[SPLIT_LOCLISTS] = ".debug_loclists",
	[SPLIT_RNGLISTS] = ".debug_rnglists",
	[SPLIT_STR_OFFSETS] = ".debug_str_offsets",
	[SPLIT_STR] = ".debug_str",
	[JOINED_ADDR] = ".debug_addr",
};

/*
 * So many times as large as in its file may a section become: lists of locations
 * get whole addresses, and units with one table of abbreviations each their own.
 */
#define GROWTH_MOST 8u

/* ------- skeletons ------- */


static const char *text_of(Dwarf_Die *die, unsigned name, unsigned old_name)
{
	Dwarf_Attribute attribute;
	const char *text = NULL;

	if (dwarf_attr(die, name, &attribute) ||
	    dwarf_attr(die, old_name, &attribute))
		text = dwarf_formstring(&attribute);
	return text ? text : "";
}

static int add_skeleton(struct split_units *units, Dwarf_CU *unit,
			unsigned version)
{
	struct skeleton one = { .name = "" };
	uint8_t width;
	int rc;

	if (dwarf_cu_info(unit, NULL, NULL, &one.die, NULL, &one.id, NULL,
			  &width) || width != 4 || one.id == NUMBER_MAP_NONE ||
	    number_map_find(&units->by_id, one.id))
		return 0;
	one.name = text_of(&one.die, DW_AT_dwo_name, DW_AT_GNU_dwo_name);
	one.folder = text_of(&one.die, DW_AT_comp_dir, DW_AT_comp_dir);
	one.offset = dwarf_dieoffset(&one.die) -
		     (version < 5 ? SKELETON_OLD : SKELETON_NEW);
	if (array_room(units->list, units->count, units->room))
		return ERR_NO_MEMORY;
	rc = number_map_set(&units->by_id, one.id, units->count);
	if (!rc)
		units->list[units->count++] = one;
	return rc;
}

static int find_skeletons(struct split_units *units, Dwarf *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Half version;
	uint8_t type;
	int rc = 0;

	while (!rc && !dwarf_get_units(dwarf, unit, &unit, &version, &type,
				       NULL, NULL))
		if (type == DW_UT_skeleton)
			rc = add_skeleton(units, unit, version);
	return rc;
}

/* What there is before anything is added: unpacked. */
static int take_sections(struct split_units *units, Elf *elf)
{
	int error = 0;

	for (int i = 0; i < JOINED_SECTIONS; i++) {
		Elf_Scn *section = elf_section_find(elf, section_names[i]);
		const Elf_Data *data = section ? elf_rawdata(section, NULL) :
						 NULL;

		if (data && data->d_buf)
			output_bytes(&units->sections[i], data->d_buf,
				     data->d_size);
		error |= units->sections[i].error;
	}
	return error ? ERR_NO_MEMORY : 0;
}

/* One without contents, for units that are taken away. */
static void add_blank(struct split_units *units)
{
	struct output *out = &units->sections[SPLIT_ABBREV];
	static const uint8_t behind[] = { 0, 0, 0 };

	units->blank = out->size;
	output_uint(out, 1, 1);
	output_varint(out, DW_TAG_partial_unit);
	output_uint(out, 0, 1);
	output_varint(out, DW_AT_hi_user);
	output_varint(out, DW_FORM_block4);
	output_bytes(out, behind, sizeof(behind));
}

struct split_units *split_units_begin(Dwarf *dwarf)
{
	struct split_units *units = calloc(1, sizeof(*units));
	int rc = units ? find_skeletons(units, dwarf) : ERR_NO_MEMORY;

	if (!rc && units->count)
		rc = take_sections(units, dwarf_getelf(dwarf));
	if (!rc && units->count) {
		add_blank(units);
		return units;
	}
	split_units_end(units);
	return NULL;
}

size_t split_units_count(const struct split_units *units)
{
	return units->count;
}

const struct skeleton *split_units_at(const struct split_units *units,
				      size_t number)
{
	return &units->list[number];
}

void split_units_end(struct split_units *units)
{
	if (!units)
		return;
	for (int i = 0; i < JOINED_SECTIONS; i++)
		output_release(&units->sections[i]);
	number_map_release(&units->by_id);
	number_map_release(&units->types);
	free(units->list);
	free(units);
}

/* ------- units without contents ------- */

static void put_u32(uint8_t *at, uint64_t value)
{
	for (unsigned i = 0; i < 4; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

/* Bytes of such an entry: a code, and a block of all that is behind it. */
#define BLANK_LEAST 5u

static void blank_entry(uint8_t *bytes, size_t size)
{
	memset(bytes, 0, size);
	bytes[0] = 1;
	put_u32(bytes + 1, size - BLANK_LEAST);
}

/* Bytes of a unit as it is in .debug_info, which are not too few. */
static void blank_unit(const struct split_units *units, uint8_t *bytes,
		       size_t size)
{
	bool is_old = (bytes[4] | bytes[5] << 8) < 5;
	size_t header = is_old ? HEADER_OLD : HEADER_NEW;

	if (!is_old)
		bytes[6] = DW_UT_partial;
	put_u32(bytes + (is_old ? 6 : 8), units->blank);
	blank_entry(bytes + header, size - header);
}

/* In .debug_types it has a signature, which no other refers to. */
static void blank_types(const struct split_units *units, uint8_t *bytes,
			size_t size)
{
	put_u32(bytes + 6, units->blank);
	memset(bytes + HEADER_OLD, 0, HEADER_TYPES - HEADER_OLD);
	put_u32(bytes + HEADER_OLD + 8, HEADER_TYPES);
	blank_entry(bytes + HEADER_TYPES, size - HEADER_TYPES);
}

/* The skeleton, once all that it was for is elsewhere. */
static void blank_skeleton(struct split_units *units,
			   const struct skeleton *skeleton)
{
	struct output *out = &units->sections[SPLIT_INFO];
	struct input in = { out->bytes + skeleton->offset,
			    out->bytes + out->size, 0 };
	uint64_t size = input_uint(&in, 4) + 4;

	if (size <= out->size - skeleton->offset &&
	    size >= HEADER_NEW + BLANK_LEAST)
		blank_unit(units, out->bytes + skeleton->offset, size);
}

/* ------- units of a file ------- */

static int table_at(struct split_source *source, uint64_t offset, size_t *out)
{
	const uint8_t *bytes = source->file->sections[SPLIT_ABBREV].bytes;
	size_t size = source->file->sections[SPLIT_ABBREV].size;
	struct split_table one = { .offset = offset };
	int rc;

	/* Of several with one offset, the newest. */
	for (size_t i = source->table_count; i-- > 0;)
		if (source->tables[i].offset == offset) {
			*out = i;
			return 0;
		}
	if (offset >= size)
		return ERR_CORRUPT;
	rc = abbrevs_read(&one.abbrevs, (struct input){ bytes + offset,
							bytes + size, 0 });
	if (!rc)
		rc = array_room(source->tables, source->table_count,
				source->table_room);
	if (rc) {
		abbrevs_release(&one.abbrevs);
		return rc;
	}
	*out = source->table_count++;
	source->tables[*out] = one;
	return 0;
}

static void take_id(void *context, const struct dwarf_attribute *attribute)
{
	uint64_t *id = context;

	if (attribute->name == DW_AT_GNU_dwo_id)
		dwarf_constant(attribute, id);
}

/* In version 4 it is an attribute of the first entry. */
static int find_old_id(struct split_unit *unit)
{
	const struct split_table *table = &unit->source->tables[unit->table];
	struct input in = { unit->bytes + unit->header,
			    unit->bytes + unit->size, 0 };
	const struct abbrev *abbrev;

	abbrev = abbrevs_find(&table->abbrevs, dwarf_take_uleb(&in));
	unit->id = NUMBER_MAP_NONE;
	if (!abbrev)
		return ERR_CORRUPT;
	dwarf_each_attribute(&in, abbrev, &unit->shape, take_id, &unit->id);
	return in.error;
}

/* What its header says; `*has_types`: it is one of types. */
static int take_header(struct split_unit *unit, bool *has_types)
{
	struct input in = { unit->bytes + 4, unit->bytes + unit->size, 0 };
	unsigned type = DW_UT_split_compile;

	unit->shape.version = (unsigned)input_uint(&in, 2);
	if (unit->shape.version >= 5) {
		type = (unsigned)input_uint(&in, 1);
		unit->shape.word = (unsigned)input_uint(&in, 1);
		unit->abbrevs = input_uint(&in, 4);
	} else {
		unit->abbrevs = input_uint(&in, 4);
		unit->shape.word = (unsigned)input_uint(&in, 1);
	}
	*has_types = unit->is_types || type == DW_UT_split_type;
	if (unit->shape.version >= 5 || *has_types)
		unit->id = input_uint(&in, 8);
	if (*has_types)
		input_bytes(&in, 4);
	unit->header = (size_t)(in.at - unit->bytes);
	if (in.error || !input_left(&in) || unit->shape.version < 4 ||
	    unit->shape.version > 5 ||
	    (unit->shape.word != 4 && unit->shape.word != 8) ||
	    (!*has_types && type != DW_UT_split_compile))
		return ERR_CORRUPT;
	return 0;
}

/* Whose unit it is, if it is wanted. */
static struct skeleton *skeleton_of(struct split_units *units, uint64_t id)
{
	const uint64_t *found = id == NUMBER_MAP_NONE ? NULL :
				number_map_find(&units->by_id, id);

	return !found || units->list[*found].is_joined ?
		       NULL : &units->list[*found];
}

static void take_bases(struct split_unit *unit)
{
	unsigned name = unit->shape.version < 5 ? DW_AT_GNU_addr_base :
						  DW_AT_addr_base;

	if (!unit->skeleton)
		return;
	unit->addr_base = split_skeleton_offset(unit->skeleton, name);
	unit->ranges_base = split_skeleton_offset(unit->skeleton,
						  DW_AT_GNU_ranges_base);
}

static int add_pending(struct split_unit *unit)
{
	struct split_source *source = unit->source;
	const struct output *out =
		&source->units->sections[unit->is_types ? SPLIT_TYPES :
							  SPLIT_INFO];
	bool is_old = unit->shape.version < 5;
	struct split_pending one = {
		.is_types = unit->is_types,
		.at = (uint64_t)(unit->bytes - out->bytes) + (is_old ? 6 : 8),
		.table = unit->table,
	};

	if (array_room(source->pending, source->pending_count,
		       source->pending_room))
		return ERR_NO_MEMORY;
	source->pending[source->pending_count++] = one;
	return 0;
}

static int change_unit(struct split_unit *unit)
{
	size_t next;
	int rc;

	take_bases(unit);
	rc = split_head_write(unit, &next);
	if (!rc)
		rc = split_entries_write(unit, next);
	if (!rc)
		rc = add_pending(unit);
	return rc;
}

/* A skeleton is known for the unit, or it has types that no other has. */
static bool is_wanted(struct split_unit *unit, bool has_types)
{
	struct split_units *units = unit->source->units;

	if (!has_types)
		unit->skeleton = skeleton_of(units, unit->id);
	return has_types ? unit->id != NUMBER_MAP_NONE &&
				   !number_map_find(&units->types, unit->id) :
			   unit->skeleton != NULL;
}

static int note_joined(struct split_unit *unit)
{
	struct split_units *units = unit->source->units;

	if (!unit->skeleton)
		return number_map_set(&units->types, unit->id, 0);
	unit->skeleton->is_joined = true;
	unit->source->has_joined = true;
	blank_skeleton(units, unit->skeleton);
	return 0;
}

/* Which unit it is, by its header or first entry. */
static int identify(struct split_unit *unit, bool *has_types)
{
	int rc = take_header(unit, has_types);

	if (!rc)
		rc = table_at(unit->source,
			      unit->parts[SPLIT_ABBREV].offset + unit->abbrevs,
			      &unit->table);
	if (!rc && !*has_types && unit->shape.version < 5)
		rc = find_old_id(unit);
	return rc;
}

static int copy_unit(struct split_unit *unit)
{
	bool has_types;
	int rc = identify(unit, &has_types);

	if (!rc && is_wanted(unit, has_types)) {
		rc = change_unit(unit);
		if (!rc)
			return note_joined(unit);
	}
	if (unit->is_types)
		blank_types(unit->source->units, unit->bytes, unit->size);
	else
		blank_unit(unit->source->units, unit->bytes, unit->size);
	return rc == ERR_NO_MEMORY ? rc : 0;
}

/* The units of a contribution, which was copied to `at`. */
static int copy_units(struct split_source *source,
		      const struct split_part *parts, bool is_types,
		      uint64_t at)
{
	struct output *out = &source->units->sections[is_types ? SPLIT_TYPES :
								 SPLIT_INFO];
	size_t least = BLANK_LEAST + (is_types ? HEADER_TYPES : HEADER_NEW);
	uint64_t next = at;

	while (next < out->size) {
		struct split_unit unit = {
			.source = source, .parts = parts,
			.is_types = is_types, .part_at = at,
			.bytes = out->bytes + next,
		};
		struct input in = { unit.bytes, out->bytes + out->size, 0 };
		uint64_t size = input_uint(&in, 4);
		int rc;

		/* What is no unit would hide all that is behind it. */
		if (in.error || size > input_left(&in) || size + 4 < least) {
			out->size = next;
			return 0;
		}
		unit.size = size + 4;
		rc = copy_unit(&unit);
		free(unit.lists);
		if (rc)
			return rc;
		next += unit.size;
	}
	return 0;
}

/* Looks at the bytes of a file, which stay as they are. */
static bool has_wanted(struct split_source *source,
		       const struct split_part *parts, bool is_types)
{
	enum split_section which = is_types ? SPLIT_TYPES : SPLIT_INFO;
	struct input in = { .at = source->file->sections[which].bytes };
	bool found = false;

	if (!parts[which].size)
		return false;
	in.at += parts[which].offset;
	in.end = in.at + parts[which].size;
	while (!found && !in.error) {
		struct split_unit unit = {
			.source = source, .parts = parts, .is_types = is_types,
			.bytes = (uint8_t *)(uintptr_t)in.at,
		};
		bool has_types;

		input_bytes(&in, input_uint(&in, 4));
		unit.size = (size_t)(in.at - unit.bytes);
		found = !in.error && !identify(&unit, &has_types) &&
			(!has_types || split_file_is_package(source->file)) &&
			is_wanted(&unit, has_types);
	}
	return found;
}

static void look_at_part(void *context,
			 const struct split_part parts[SPLIT_STR])
{
	struct split_source *source = context;

	source->is_wanted = source->is_wanted ||
			    has_wanted(source, parts, false);
}

static void copy_part(struct split_source *source,
		      const struct split_part *parts, bool is_types)
{
	enum split_section which = is_types ? SPLIT_TYPES : SPLIT_INFO;
	struct split_units *units = source->units;
	struct output *out = &units->sections[which];
	uint64_t at = out->size;

	/* Of a package, what the program does not have is not even copied. */
	if (units->error || !parts[which].size ||
	    parts[which].size > source->left[which] ||
	    (split_file_is_package(source->file) &&
	     !has_wanted(source, parts, is_types)))
		return;
	source->left[which] -= parts[which].size;
	output_bytes(out, source->file->sections[which].bytes +
		     parts[which].offset, parts[which].size);
	units->error = out->error;
	if (!units->error)
		units->error = copy_units(source, parts, is_types, at);
}

static void copy_parts(void *context,
		       const struct split_part parts[SPLIT_STR])
{
	copy_part(context, parts, true);
	copy_part(context, parts, false);
}

/* ------- a file ------- */

/* Offsets of texts, behind headers from version 5 on. */
static void move_strings(uint8_t *bytes, size_t size, uint64_t more,
			 bool has_headers)
{
	struct input in = { bytes, bytes + size, 0 };

	while (input_left(&in) >= 4) {
		uint64_t left = has_headers ? input_uint(&in, 4) :
					      input_left(&in);
		struct input part = in;

		if (!input_bytes(&in, left))
			return;
		part.end = in.at;
		if (has_headers)
			input_bytes(&part, 4);
		while (input_left(&part) >= 4) {
			uint8_t *at = bytes + (part.at - bytes);

			put_u32(at, input_uint(&part, 4) + more);
		}
	}
}

static unsigned version_of(const struct split_file *file)
{
	enum split_section which = file->sections[SPLIT_INFO].size ?
					   SPLIT_INFO : SPLIT_TYPES;
	const uint8_t *bytes = file->sections[which].bytes;
	struct input in = { bytes, bytes + file->sections[which].size, 0 };

	input_bytes(&in, 4);
	return (unsigned)input_uint(&in, 2);
}

/* Sections that no unit is in are put there as they are. */
static int place_sections(struct split_source *source)
{
	static const enum split_section whole[] = {
		SPLIT_LINE, SPLIT_LOCLISTS, SPLIT_RNGLISTS, SPLIT_STR_OFFSETS,
		SPLIT_STR,
	};
	const struct split_file *file = source->file;
	struct output *sections = source->units->sections;
	struct output *strings = &sections[SPLIT_STR_OFFSETS];
	int error = 0;

	for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++) {
		struct output *out = &sections[whole[i]];

		/* As offsets of units are multiples of it. */
		while (out->size % 4 && whole[i] == SPLIT_STR_OFFSETS)
			output_uint(out, 0, 1);
		source->placed[whole[i]] = out->size;
		output_bytes(out, file->sections[whole[i]].bytes,
			     file->sections[whole[i]].size);
		error |= out->error;
	}
	if (error)
		return ERR_NO_MEMORY;
	if (file->sections[SPLIT_STR_OFFSETS].size)
		move_strings(strings->bytes +
				     source->placed[SPLIT_STR_OFFSETS],
			     file->sections[SPLIT_STR_OFFSETS].size,
			     source->placed[SPLIT_STR], version_of(file) >= 5);
	return 0;
}

/* Returns where it is. */
static uint64_t write_table(struct split_source *source,
			    const struct split_table *table)
{
	struct output *out = &source->units->sections[SPLIT_ABBREV];
	uint64_t at = out->size;

	for (size_t i = 0; i < table->changed_count; i++)
		output_bytes(out, table->changed[i].declaration.bytes,
			     table->changed[i].declaration.size);
	for (size_t i = 0; i < table->abbrevs.count; i++) {
		const struct abbrev *abbrev = &table->abbrevs.list[i];
		bool is_changed = false;

		for (size_t k = 0; k < table->changed_count; k++)
			is_changed |= table->changed[k].code == abbrev->code;
		if (!is_changed)
			output_bytes(out, abbrev->start,
				     (size_t)(abbrev->end - abbrev->start));
	}
	output_uint(out, 0, 1);
	return at;
}

static int write_tables(struct split_source *source)
{
	struct split_units *units = source->units;
	struct output *out = &units->sections[SPLIT_ABBREV];
	uint64_t most = source->left[SPLIT_ABBREV] + out->size;
	uint64_t *at = calloc(source->table_count + 1, sizeof(*at));

	for (size_t i = 0; at && i < source->table_count && !out->error; i++)
		if (out->size <= most)
			at[i] = write_table(source, &source->tables[i]);
	for (size_t i = 0; at && i < source->pending_count; i++) {
		const struct split_pending *one = &source->pending[i];
		enum split_section which = one->is_types ? SPLIT_TYPES :
							   SPLIT_INFO;

		put_u32(units->sections[which].bytes + one->at,
			at[one->table]);
	}
	free(at);
	if (!at || out->error)
		return ERR_NO_MEMORY;
	return out->size <= most ? 0 : ERR_CORRUPT;
}

static void release(struct split_source *source)
{
	for (size_t i = 0; i < source->table_count; i++) {
		struct split_table *table = &source->tables[i];

		for (size_t k = 0; k < table->changed_count; k++)
			output_release(&table->changed[k].declaration);
		free(table->changed);
		abbrevs_release(&table->abbrevs);
	}
	free(source->tables);
	free(source->pending);
}

/* Offsets have four bytes. */
static bool is_too_large(const struct split_units *units)
{
	for (int i = 0; i < JOINED_SECTIONS; i++)
		if (units->sections[i].size > UINT32_MAX)
			return true;
	return false;
}

bool split_units_add(struct split_units *units, const struct split_file *file)
{
	struct split_source source = { .units = units, .file = file };

	for (int i = 0; i < SPLIT_SECTIONS; i++)
		source.left[i] = file->sections[i].size;
	source.left[SPLIT_LOC] *= GROWTH_MOST;
	source.left[SPLIT_ABBREV] *= GROWTH_MOST;
	split_file_each(file, look_at_part, &source);
	if (source.is_wanted && !units->error)
		units->error = place_sections(&source);
	if (source.is_wanted && !units->error)
		split_file_each(file, copy_parts, &source);
	if (source.is_wanted && !units->error)
		units->error = write_tables(&source);
	if (!units->error && is_too_large(units))
		units->error = ERR_CORRUPT;
	release(&source);
	return source.has_joined;
}

int split_units_make(struct split_units *units, Elf *elf)
{
	struct elf_contents list[JOINED_SECTIONS];
	size_t count = 0;

	if (units->error)
		return -1;
	for (int i = 0; i < JOINED_SECTIONS; i++)
		if (units->sections[i].size)
			list[count++] = (struct elf_contents){
				section_names[i], units->sections[i].bytes,
				units->sections[i].size
			};
	return elf_with_sections(elf, list, count);
}
