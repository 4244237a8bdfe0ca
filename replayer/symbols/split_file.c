/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * split_file.c - see split_file.h
 *
 * Source: DWARF 5, 7.3.5; for version 4, GCC's wiki, "DebugFissionDWP".
 */
#include "replayer/symbols/split_file.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/array.h"

/* Versions of a package's tables. */
enum { VERSION_OLD = 2, VERSION_NEW = 5 };

static const struct {
	const char *name;
	unsigned column[2];	/* in tables, old and new; 0: in none */
} section_names[SPLIT_SECTIONS] = {
	[SPLIT_INFO] = { "debug_info.dwo", { 1, 1 } },
	[SPLIT_TYPES] = { "debug_types.dwo", { 2, 0 } },
	[SPLIT_ABBREV] = { "debug_abbrev.dwo", { 3, 3 } },
	[SPLIT_LINE] = { "debug_line.dwo", { 4, 4 } },
	[SPLIT_LOC] = { "debug_loc.dwo", { 5, 0 } },
	[SPLIT_LOCLISTS] = { "debug_loclists.dwo", { 0, 5 } },
	[SPLIT_RNGLISTS] = { "debug_rnglists.dwo", { 0, 8 } },
	[SPLIT_STR_OFFSETS] = { "debug_str_offsets.dwo", { 6, 6 } },
	[SPLIT_STR] = { "debug_str.dwo", { 0, 0 } },
	[SPLIT_UNITS] = { "debug_cu_index", { 0, 0 } },
	[SPLIT_TYPE_UNITS] = { "debug_tu_index", { 0, 0 } },
};

/* ------- opening ------- */

/* By ".NAME", or ".zNAME", as older compilers call one that is packed. */
static int section_of(const char *name, bool *is_old_packed)
{
	if (*name++ != '.')
		return SPLIT_SECTIONS;
	*is_old_packed = *name == 'z';
	for (int i = 0; i < SPLIT_SECTIONS; i++)
		if (!strcmp(name + *is_old_packed, section_names[i].name))
			return i;
	return SPLIT_SECTIONS;
}

/* Behind those with units that there are. */
static void add_units(struct split_file *file, enum split_section which,
		      const Elf_Data *data)
{
	struct output *out = &file->units[which];
	struct split_piece piece = { which, { out->size, data->d_size } };

	output_bytes(out, data->d_buf, data->d_size);
	if (out->error || array_room(file->pieces, file->piece_count,
				     file->piece_room))
		return;
	file->pieces[file->piece_count++] = piece;
	file->sections[which].bytes = out->bytes;
	file->sections[which].size = out->size;
}

static void take_section(struct split_file *file, Elf_Scn *section,
			 const char *name)
{
	bool is_old_packed = false;
	int which = section_of(name, &is_old_packed);
	const Elf_Data *data;
	GElf_Shdr header;

	if (which == SPLIT_SECTIONS ||
	    (file->sections[which].bytes && which > SPLIT_TYPES))
		return;
	if (is_old_packed)
		elf_compress_gnu(section, 0, 0);
	else if (gelf_getshdr(section, &header) &&
		 header.sh_flags & SHF_COMPRESSED)
		elf_compress(section, 0, 0);
	data = elf_rawdata(section, NULL);
	if (!data || !data->d_buf)
		return;
	if (which <= SPLIT_TYPES) {
		add_units(file, (enum split_section)which, data);
		return;
	}
	file->sections[which].bytes = data->d_buf;
	file->sections[which].size = data->d_size;
}

static bool take_sections(struct split_file *file)
{
	const char *ident = elf_getident(file->elf, NULL);
	Elf_Scn *section = NULL;
	size_t names;

	if (!ident || ident[EI_DATA] != ELFDATA2LSB ||
	    elf_getshdrstrndx(file->elf, &names))
		return false;
	while ((section = elf_nextscn(file->elf, section))) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(section, &header) ?
			elf_strptr(file->elf, names, header.sh_name) : NULL;

		if (name && header.sh_type != SHT_NOBITS)
			take_section(file, section, name);
	}
	return file->sections[SPLIT_INFO].bytes;
}

/* Read, not mapped: another process may shorten it. */
bool split_file_open(struct split_file *out, const char *path)
{
	struct stat status;

	*out = (struct split_file){ .fd = -1 };
	out->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (out->fd < 0)
		return false;
	elf_version(EV_CURRENT);
	if (!fstat(out->fd, &status) && S_ISREG(status.st_mode))
		out->elf = elf_begin(out->fd, ELF_C_READ, NULL);
	if (out->elf && take_sections(out))
		return true;
	split_file_close(out);
	return false;
}

void split_file_close(struct split_file *file)
{
	if (!file->elf && file->fd <= 0)
		return;
	elf_end(file->elf);
	close(file->fd);
	free(file->pieces);
	output_release(&file->units[SPLIT_INFO]);
	output_release(&file->units[SPLIT_TYPES]);
	*file = (struct split_file){ .fd = -1 };
}

/* ------- tables of packages ------- */

/* More than there are kinds of sections. */
#define COLUMNS_MOST 64u

/* Each is of 4-byte numbers but for the signatures. */
struct table {
	bool is_new;
	uint64_t columns, units, slots;
	const uint8_t *rows;	/* of slots, from 1; 0: none */
	const uint8_t *sections;	/* of columns */
	const uint8_t *offsets, *sizes;	/* of rows */
};

static bool table_read(struct table *out, const uint8_t *bytes, size_t size)
{
	struct input in = { bytes, bytes + size, 0 };
	uint64_t version = input_uint(&in, 4);

	out->is_new = (version & 0xffff) == VERSION_NEW;
	out->columns = input_uint(&in, 4);
	out->units = input_uint(&in, 4);
	out->slots = input_uint(&in, 4);
	if ((!out->is_new && version != VERSION_OLD) ||
	    out->columns > COLUMNS_MOST)
		return false;
	input_bytes(&in, 8 * out->slots);
	out->rows = input_bytes(&in, 4 * out->slots);
	out->sections = input_bytes(&in, 4 * out->columns);
	out->offsets = input_bytes(&in, 4 * out->columns * out->units);
	out->sizes = input_bytes(&in, 4 * out->columns * out->units);
	return !in.error;
}

static uint64_t number_at(const uint8_t *list, uint64_t i)
{
	struct input in = { list + 4 * i, list + 4 * i + 4, 0 };

	return input_uint(&in, 4);
}

static void take_column(const struct split_file *file,
			const struct table *table, uint64_t row,
			uint64_t column, struct split_part *parts)
{
	uint64_t id = number_at(table->sections, column);
	uint64_t at = row * table->columns + column;
	struct split_part part = { number_at(table->offsets, at),
				   number_at(table->sizes, at) };

	for (int i = 0; i < SPLIT_STR; i++)
		if (id && section_names[i].column[table->is_new] == id &&
		    part.offset <= file->sections[i].size &&
		    part.size <= file->sections[i].size - part.offset)
			parts[i] = part;
}

static void each_row(const struct split_file *file, enum split_section which,
		     void (*visit)(void *context,
				   const struct split_part parts[SPLIT_STR]),
		     void *context)
{
	struct table table;

	if (!table_read(&table, file->sections[which].bytes,
			file->sections[which].size))
		return;
	for (uint64_t i = 0; i < table.slots; i++) {
		struct split_part parts[SPLIT_STR] = { { 0 } };
		uint64_t row = number_at(table.rows, i);

		if (!row || row > table.units)
			continue;
		for (uint64_t k = 0; k < table.columns; k++)
			take_column(file, &table, row - 1, k, parts);
		visit(context, parts);
	}
}

void split_file_each(const struct split_file *file,
		     void (*visit)(void *context,
				   const struct split_part parts[SPLIT_STR]),
		     void *context)
{
	struct split_part all[SPLIT_STR] = { { 0 } };

	if (split_file_is_package(file)) {
		each_row(file, SPLIT_UNITS, visit, context);
		if (file->sections[SPLIT_TYPE_UNITS].bytes)
			each_row(file, SPLIT_TYPE_UNITS, visit, context);
		return;
	}
	for (int i = SPLIT_TYPES + 1; i < SPLIT_STR; i++)
		all[i].size = file->sections[i].size;
	for (size_t i = 0; i < file->piece_count; i++) {
		const struct split_piece *piece = &file->pieces[i];

		all[piece->which] = piece->part;
		visit(context, all);
		all[piece->which].size = 0;
	}
}
