/* SPDX-License-Identifier: GPL-2.0-or-later */
/* elf_sections.c - see elf_sections.h */
#include "replayer/symbols/elf_sections.h"

#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include "formats/bytes.h"

/* Others have their number elsewhere. */
#define SECTIONS_MOST 0xff00u

/* What is added begins at multiples of this. */
#define ALIGNMENT 8u

/* ".debug_info" is ".zdebug_info" where older compilers have packed it. */
static bool is_called(const char *its, const char *name)
{
	return its && (!strcmp(its, name) ||
		       (its[0] == '.' && its[1] == 'z' &&
			!strcmp(its + 2, name + 1)));
}

Elf_Scn *elf_section_find(Elf *elf, const char *name)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) &&
		    header.sh_type != SHT_NOBITS &&
		    is_called(elf_strptr(elf, names, header.sh_name), name))
			return section;
	}
	return NULL;
}

/* What is made of a file, in the order of its bytes. */
struct remade {
	Elf *elf;
	int fd;
	uint64_t size;		/* written so far */
	GElf_Shdr *headers;
	size_t count, names;	/* the number of that with the names */
	struct output texts;	/* the names */
};

static bool add_bytes(struct remade *made, const void *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t wrote = write(made->fd, (const char *)bytes + done,
				      size - done);

		if (wrote <= 0)
			return false;
		done += (size_t)wrote;
	}
	made->size += size;
	return true;
}

/* False also if the file has none, or a number that is elsewhere. */
static bool take_headers(struct remade *made, size_t more)
{
	Elf_Scn *section = NULL;
	Elf_Data *names;

	if (elf_getshdrnum(made->elf, &made->count) || !made->count ||
	    made->count + more >= SECTIONS_MOST ||
	    elf_getshdrstrndx(made->elf, &made->names) ||
	    made->names >= made->count)
		return false;
	made->headers = calloc(made->count + more, sizeof(*made->headers));
	if (!made->headers)
		return false;
	while ((section = elf_nextscn(made->elf, section)))
		if (!gelf_getshdr(section,
				  &made->headers[elf_ndxscn(section)]))
			return false;
	names = elf_rawdata(elf_getscn(made->elf, made->names), NULL);
	if (!names || !names->d_buf)
		return false;
	output_bytes(&made->texts, names->d_buf, names->d_size);
	return true;
}

/* The header of the section, which is a new one if there is none. */
static GElf_Shdr *header_of(struct remade *made, const char *name)
{
	Elf_Scn *section = elf_section_find(made->elf, name);
	GElf_Shdr *header;

	if (section && elf_ndxscn(section) < made->count)
		return &made->headers[elf_ndxscn(section)];
	header = &made->headers[made->count++];
	*header = (GElf_Shdr){ .sh_type = SHT_PROGBITS };
	return header;
}

static bool add_contents(struct remade *made, GElf_Shdr *header,
			 const void *bytes, size_t size)
{
	static const char zeros[ALIGNMENT];

	if (!add_bytes(made, zeros, -made->size % ALIGNMENT))
		return false;
	header->sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
	header->sh_addralign = 1;
	header->sh_offset = made->size;
	header->sh_size = size;
	return add_bytes(made, bytes, size);
}

static bool add_section(struct remade *made, const struct elf_contents *one)
{
	GElf_Shdr *header = header_of(made, one->name);

	header->sh_name = (GElf_Word)made->texts.size;
	output_bytes(&made->texts, one->name, strlen(one->name) + 1);
	return add_contents(made, header, one->bytes, one->size);
}

/* ------- headers, as the file's class has them ------- */

static bool add_header(struct remade *made, const GElf_Shdr *header)
{
	const Elf32_Shdr small = {
		.sh_name = header->sh_name,
		.sh_type = header->sh_type,
		.sh_flags = (Elf32_Word)header->sh_flags,
		.sh_addr = (Elf32_Addr)header->sh_addr,
		.sh_offset = (Elf32_Off)header->sh_offset,
		.sh_size = (Elf32_Word)header->sh_size,
		.sh_link = header->sh_link,
		.sh_info = header->sh_info,
		.sh_addralign = (Elf32_Word)header->sh_addralign,
		.sh_entsize = (Elf32_Word)header->sh_entsize,
	};

	if (gelf_getclass(made->elf) == ELFCLASS64)
		return add_bytes(made, header, sizeof(*header));
	return made->size < UINT32_MAX &&
	       add_bytes(made, &small, sizeof(small));
}

static bool set_file_header(struct remade *made, uint64_t at)
{
	Elf64_Ehdr large;
	Elf32_Ehdr small;
	bool is_large = gelf_getclass(made->elf) == ELFCLASS64;
	void *header = is_large ? (void *)&large : (void *)&small;
	size_t size = is_large ? sizeof(large) : sizeof(small);

	if (pread(made->fd, header, size, 0) != (ssize_t)size)
		return false;
	if (is_large) {
		large.e_shoff = at;
		large.e_shnum = (Elf64_Half)made->count;
	} else {
		small.e_shoff = (Elf32_Off)at;
		small.e_shnum = (Elf32_Half)made->count;
	}
	return pwrite(made->fd, header, size, 0) == (ssize_t)size;
}

static bool add_headers(struct remade *made)
{
	GElf_Shdr none;
	uint64_t at;

	if (made->texts.error ||
	    !add_contents(made, &made->headers[made->names],
			  made->texts.bytes, made->texts.size) ||
	    !add_contents(made, &none, "", 0))
		return false;
	at = made->size;
	for (size_t i = 0; i < made->count; i++)
		if (!add_header(made, &made->headers[i]))
			return false;
	return set_file_header(made, at);
}

static bool make(struct remade *made, const struct elf_contents *list,
		 size_t count)
{
	size_t size;
	const char *file = elf_rawfile(made->elf, &size);

	if (!file || !take_headers(made, count) ||
	    !add_bytes(made, file, size))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!add_section(made, &list[i]))
			return false;
	return add_headers(made);
}

int elf_with_sections(Elf *elf, const struct elf_contents *list, size_t count)
{
	struct remade made = { .elf = elf };
	bool is_made;

	made.fd = memfd_create("cprec joined", MFD_CLOEXEC);
	if (made.fd < 0)
		return -1;
	is_made = make(&made, list, count);
	free(made.headers);
	output_release(&made.texts);
	if (is_made)
		return made.fd;
	close(made.fd);
	return -1;
}
