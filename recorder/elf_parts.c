/* SPDX-License-Identifier: GPL-2.0-or-later */
/* elf_parts.c - see elf_parts.h */
#include "recorder/elf_parts.h"

#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"

/* ------- the build id ------- */

static void find_in_notes(Elf_Data *notes, struct build_id *out)
{
	GElf_Nhdr note;
	size_t at = 0, name, content;

	while (!out->size && notes &&
	       (at = gelf_getnote(notes, at, &note, &name, &content))) {
		const uint8_t *bytes = notes->d_buf;

		if (note.n_type != NT_GNU_BUILD_ID ||
		    note.n_namesz != sizeof(ELF_NOTE_GNU) ||
		    memcmp(bytes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) ||
		    note.n_descsz > BUILD_ID_MOST)
			continue;
		out->size = note.n_descsz;
		memcpy(out->bytes, bytes + content, out->size);
	}
}

static void find_build_id(Elf *elf, struct build_id *out)
{
	size_t count = 0;

	if (elf_getphdrnum(elf, &count))
		return;
	for (size_t i = 0; i < count && !out->size; i++) {
		GElf_Phdr phdr;

		if (!gelf_getphdr(elf, (int)i, &phdr) ||
		    phdr.p_type != PT_NOTE)
			continue;
		find_in_notes(elf_getdata_rawchunk(
				      elf, (int64_t)phdr.p_offset,
				      phdr.p_filesz,
				      phdr.p_align == 8 ? ELF_T_NHDR8 :
							  ELF_T_NHDR),
			      out);
	}
}

/* ------- what is only loaded ------- */

/* Unwind tables, and the name by which a debugger finds the dynamic linker. */
static bool is_needed(const char *name)
{
	static const char unwind_tables[] = ".eh_frame";

	return name && (!strncmp(name, unwind_tables,
				 sizeof(unwind_tables) - 1) ||
			!strcmp(name, ".interp"));
}

static bool is_loaded_only(const GElf_Shdr *header, const char *name)
{
	if (!(header->sh_flags & SHF_ALLOC))
		return false;
	switch (header->sh_type) {
	case SHT_PROGBITS:
		return !is_needed(name);
	case SHT_REL:
	case SHT_RELA:
		return true;
	default:
		return false;
	}
}

static int find_loaded(Elf *elf, struct elf_parts *out)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return 0;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header))
			continue;
		out->has_sections = true;
		if (!is_loaded_only(&header, elf_strptr(elf, names,
							header.sh_name)))
			continue;
		if (array_room(out->loaded, out->count, out->room))
			return ERR_NO_MEMORY;
		out->loaded[out->count++] =
			(struct file_part){ header.sh_offset, header.sh_size };
	}
	return 0;
}

int elf_parts(struct elf_parts *out, int fd)
{
	Elf *elf;
	int rc = ERR_CORRUPT;

	memset(out, 0, sizeof(*out));
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF) {
		find_build_id(elf, &out->build_id);
		rc = find_loaded(elf, out);
	}
	if (elf)
		elf_end(elf);
	if (rc)
		elf_parts_release(out);
	return rc;
}

void elf_parts_release(struct elf_parts *parts)
{
	free(parts->loaded);
	*parts = (struct elf_parts){ 0 };
}

void elf_parts_blank(const struct elf_parts *parts, uint8_t *bytes,
		     uint64_t offset, size_t size)
{
	for (size_t i = 0; i < parts->count; i++) {
		const struct file_part *part = &parts->loaded[i];
		uint64_t start = part->offset > offset ? part->offset - offset :
							 0;
		uint64_t end = part->offset + part->size;

		end = end > offset ? end - offset : 0;
		if (end > size)
			end = size;
		if (start < end)
			memset(bytes + start, 0, end - start);
	}
}
