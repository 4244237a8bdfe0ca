/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * module_sums.c - see module_sums.h
 *
 * Source: System V ABI, "Program Header".
 */
#include "formats/module_sums.h"

#include <assert.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include "formats/array.h"
#include "formats/error.h"
#include "formats/region.h"

/* An item takes some 60 bytes of memory, but 11 of a chunk. */
#define CONTENT_MOST (4u << 20)

#define HEADERS_MOST 4096u
#define READ_AT_ONCE (256u << 10)

/* ------- encoding ------- */

void module_sum_encode(struct output *out, const char *path,
		       const struct module_sum *sum)
{
	size_t length = strlen(path);

	assert(length && length <= REGION_NAME_MAX && sum->size);
	output_text(out, path, length);
	output_varint(out, sum->size);
	output_uint(out, sum->sum, 8);
}

/* ------- decoding ------- */

static int take_item(struct input *in, struct path_sum *out)
{
	size_t size;
	const char *path = input_text(in, REGION_NAME_MAX, &size);

	out->sum.size = input_varint(in);
	out->sum.sum = input_uint(in, 8);
	if (in->error)
		return in->error;
	if (!size || !out->sum.size)
		return ERR_CORRUPT;
	out->path = strndup(path, size);
	return out->path ? 0 : ERR_NO_MEMORY;
}

/* Takes them off again from `count` on. */
static void forget(struct module_sums *sums, size_t count)
{
	while (sums->count > count)
		free(sums->list[--sums->count].path);
}

int module_sums_decode(struct module_sums *sums, const uint8_t *bytes,
		       size_t size)
{
	struct input in = { bytes, bytes + size, 0 };
	size_t before = sums->count;
	int rc = size > CONTENT_MOST ? ERR_CORRUPT : 0;

	while (!rc && input_left(&in)) {
		struct path_sum *item;

		if (array_room(sums->list, sums->count, sums->room)) {
			rc = ERR_NO_MEMORY;
			break;
		}
		item = &sums->list[sums->count++];
		*item = (struct path_sum){ 0 };
		rc = take_item(&in, item);
	}
	if (rc)
		forget(sums, before);
	return rc;
}

void module_sums_release(struct module_sums *sums)
{
	forget(sums, 0);
	free(sums->list);
	*sums = (struct module_sums){ 0 };
}

bool module_sums_find(const struct module_sums *sums, const char *path,
		      struct module_sum *out)
{
	bool is_found = false;

	for (size_t i = 0; i < sums->count; i++) {
		const struct module_sum *sum = &sums->list[i].sum;

		if (strcmp(sums->list[i].path, path) != 0)
			continue;
		if (is_found && (sum->size != out->size ||
				 sum->sum != out->sum))
			return false;
		*out = *sum;
		is_found = true;
	}
	return is_found;
}

/* ------- parts of a file ------- */

static bool read_all(int fd, void *out, size_t size, uint64_t at)
{
	uint8_t *to = out;

	while (size) {
		ssize_t got = pread(fd, to, size, (off_t)at);

		if (got <= 0)
			return false;
		to += got;
		at += (uint64_t)got;
		size -= (size_t)got;
	}
	return true;
}

struct headers {
	uint64_t at, count, entry;
	bool is_wide;
};

static bool find_headers(struct headers *out, int fd)
{
	Elf64_Ehdr wide;
	Elf32_Ehdr narrow;

	if (!read_all(fd, &narrow, sizeof(narrow), 0) ||
	    memcmp(narrow.e_ident, ELFMAG, SELFMAG) != 0 ||
	    narrow.e_ident[EI_DATA] != ELFDATA2LSB)
		return false;
	out->is_wide = narrow.e_ident[EI_CLASS] == ELFCLASS64;
	if (out->is_wide && !read_all(fd, &wide, sizeof(wide), 0))
		return false;
	out->at = out->is_wide ? wide.e_phoff : narrow.e_phoff;
	out->count = out->is_wide ? wide.e_phnum : narrow.e_phnum;
	out->entry = out->is_wide ? wide.e_phentsize : narrow.e_phentsize;
	return out->count <= HEADERS_MOST && out->at < INT64_MAX / 2 &&
	       out->entry == (out->is_wide ? sizeof(Elf64_Phdr) :
					     sizeof(Elf32_Phdr));
}

static bool read_header(Elf64_Phdr *out, const struct headers *headers, int fd,
			uint64_t number)
{
	uint64_t at = headers->at + number * headers->entry;
	Elf32_Phdr narrow;

	if (headers->is_wide)
		return read_all(fd, out, sizeof(*out), at);
	if (!read_all(fd, &narrow, sizeof(narrow), at))
		return false;
	*out = (Elf64_Phdr) {
		.p_type = narrow.p_type, .p_flags = narrow.p_flags,
		.p_offset = narrow.p_offset, .p_filesz = narrow.p_filesz,
	};
	return true;
}

/* PT_GNU_RELRO: the dynamic linker relocates it before it becomes read-only. */
static bool is_fixed(const Elf64_Phdr *header)
{
	return header->p_type == PT_GNU_RELRO ||
	       (header->p_type == PT_LOAD && !(header->p_flags & PF_W));
}

/* Whole pages, up to the file's end; joined with the parts that they touch. */
static bool add_part(struct fixed_parts *parts, const Elf64_Phdr *header,
		     uint64_t file_size)
{
	uint64_t start = header->p_offset & -(uint64_t)GUEST_PAGE, end;
	size_t i = 0, joined;

	if (header->p_offset >= file_size || !header->p_filesz)
		return true;
	end = header->p_filesz < file_size - header->p_offset ?
		      header->p_offset + header->p_filesz : file_size;
	end = (end + GUEST_PAGE - 1) & -(uint64_t)GUEST_PAGE;
	if (end > file_size)
		end = file_size;
	while (i < parts->count && parts->list[i].end < start)
		i++;
	for (joined = i; joined < parts->count &&
			 parts->list[joined].start <= end; joined++) {
		if (parts->list[joined].start < start)
			start = parts->list[joined].start;
		if (parts->list[joined].end > end)
			end = parts->list[joined].end;
	}
	if (joined == i && parts->count == FIXED_PARTS_MOST)
		return false;
	memmove(&parts->list[i + 1], &parts->list[joined],
		(parts->count - joined) * sizeof(parts->list[0]));
	parts->count += 1 - (joined - i);
	parts->list[i].start = start;
	parts->list[i].end = end;
	return true;
}

int fixed_parts_find(struct fixed_parts *out, int fd)
{
	struct headers headers;
	struct stat status;

	*out = (struct fixed_parts){ 0 };
	if (fstat(fd, &status))
		return ERR_SYSTEM;
	if (!S_ISREG(status.st_mode) || !find_headers(&headers, fd))
		return ERR_CORRUPT;
	for (uint64_t i = 0; i < headers.count; i++) {
		Elf64_Phdr header;

		if (!read_header(&header, &headers, fd, i) ||
		    (is_fixed(&header) &&
		     !add_part(out, &header, (uint64_t)status.st_size)))
			return ERR_CORRUPT;
	}
	return 0;
}

uint64_t fixed_parts_at(const struct fixed_parts *parts, uint64_t offset)
{
	for (size_t i = 0; i < parts->count; i++)
		if (parts->list[i].start <= offset &&
		    offset < parts->list[i].end)
			return parts->list[i].end - offset;
	return 0;
}

static int sum_part(XXH64_state_t *state, uint8_t *bytes, uint64_t start,
		    uint64_t end, int fd)
{
	while (start < end) {
		size_t size = end - start < READ_AT_ONCE ?
				      (size_t)(end - start) : READ_AT_ONCE;

		if (!read_all(fd, bytes, size, start))
			return ERR_TRUNCATED;
		XXH64_update(state, bytes, size);
		start += size;
	}
	return 0;
}

int fixed_parts_sum(struct module_sum *out, const struct fixed_parts *parts,
		    int fd)
{
	XXH64_state_t *state = XXH64_createState();
	uint8_t *bytes = malloc(READ_AT_ONCE);
	int rc = state && bytes ? 0 : ERR_NO_MEMORY;

	*out = (struct module_sum){ 0 };
	for (size_t i = 0; i < parts->count; i++)
		out->size += parts->list[i].end - parts->list[i].start;
	if (!rc && (!out->size || out->size > FIXED_BYTES_MOST))
		rc = ERR_CORRUPT;
	if (!rc)
		XXH64_reset(state, 0);
	for (size_t i = 0; i < parts->count && !rc; i++)
		rc = sum_part(state, bytes, parts->list[i].start,
			      parts->list[i].end, fd);
	if (!rc)
		out->sum = XXH64_digest(state);
	XXH64_freeState(state);
	free(bytes);
	return rc;
}
