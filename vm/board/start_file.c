/* SPDX-License-Identifier: GPL-2.0-or-later */
/* start_file.c - see start_file.h */
#include "vm/board/start_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/bytes.h"
#include "formats/error.h"

/* A kernel's header. */
#define HEADER_SIZE 64u
#define OFFSET_AT 8u
#define MAGIC_AT 56u
#define MAGIC "ARM\x64"
#define IS_BIG_ENDIAN 1u

static int cannot_read(const char *path, const char *what, const char *reason,
		       struct failure *why)
{
	return failed(why, ERR_INPUT, "cannot read %s '%s': %s", what, path,
		      reason);
}

static int read_all(struct start_file *out, int fd, const char *what,
		    struct failure *why)
{
	size_t done = 0;

	while (done < out->size) {
		ssize_t count = read(fd, out->bytes + done, out->size - done);

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return cannot_read(out->path, what,
					   count ? strerror(errno) :
						   "it became shorter", why);
		done += (size_t)count;
	}
	return 0;
}

static int read_file(struct start_file *out, int fd, const char *what,
		     uint64_t most, struct failure *why)
{
	struct stat status;

	if (fstat(fd, &status))
		return cannot_read(out->path, what, strerror(errno), why);
	if (!S_ISREG(status.st_mode))
		return cannot_read(out->path, what, "it is not a file", why);
	if ((uint64_t)status.st_size > most)
		return failed(why, ERR_INPUT, "%s '%s' has %llu MiB, which do"
			      " not fit into the %llu MiB of the machine's"
			      " memory", what, out->path,
			      (unsigned long long)status.st_size >> 20,
			      (unsigned long long)most >> 20);
	out->size = (size_t)status.st_size;
	out->bytes = malloc(out->size + 1);
	if (!out->bytes)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	return read_all(out, fd, what, why);
}

int start_file_read(struct start_file *out, const char *path, const char *what,
	       uint64_t most, struct failure *why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc;

	*out = (struct start_file){ .path = path };
	if (fd < 0)
		return cannot_read(path, what, strerror(errno), why);
	rc = read_file(out, fd, what, most, why);
	close(fd);
	if (rc)
		start_file_release(out);
	return rc;
}

/* What people try; NULL: something else. */
static const char *other_kind(const struct start_file *file)
{
	static const struct {
		size_t at;
		const char *magic, *name;
	} kinds[] = {
		{ 0, "\x1f\x8b", "it is packed by gzip: unpack it first" },
		{ 0, "\x7f" "ELF", "it is an ELF file: objcopy -O binary makes"
		  " one of it" },
		{ 0x202, "HdrS", "it is one of x86" },
		{ 0x24, "\x18\x28\x6f\x01", "it is one of 32-bit ARM" },
		{ MAGIC_AT, "RSC\x05", "it is one of RISC-V" },
		{ 4, "zimg", "it unpacks itself, which needs EFI: unpack it"
		  " first" },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (file->size > kinds[i].at + 4 &&
		    !memcmp(file->bytes + kinds[i].at, kinds[i].magic,
			    strlen(kinds[i].magic)))
			return kinds[i].name;
	return "it has no such header";
}

/*
 * Kernels are programs for EFI, too, and those have a table that says what they
 * have in the file: whether all of that is there.
 */
#define EFI_AT 0x3cu		/* where that header is */
#define EFI_MAGIC "PE\0"
#define EFI_SECTIONS 6u		/* their number; and how large what is before
				   their table is, behind the header */
#define EFI_OPTIONAL 20u
#define EFI_HEADER 24u
#define EFI_SECTION 40u		/* bytes of one: its size in the file, and where
				   that is */
#define EFI_SIZE 16u

static uint64_t number_at(const struct start_file *file, uint64_t at,
			  unsigned size)
{
	struct input in = { file->bytes + at, file->bytes + file->size, 0 };

	return at < file->size ? input_uint(&in, size) : 0;
}

static bool is_whole(const struct start_file *file)
{
	uint64_t head = number_at(file, EFI_AT, 4);
	uint64_t at = head + EFI_HEADER +
		      number_at(file, head + EFI_OPTIONAL, 2);
	uint64_t count = number_at(file, head + EFI_SECTIONS, 2);

	if (memcmp(file->bytes, "MZ", 2) || head > file->size ||
	    file->size - head < EFI_HEADER ||
	    memcmp(file->bytes + head, EFI_MAGIC, sizeof(EFI_MAGIC)))
		return true;
	for (uint64_t i = 0; i < count; i++, at += EFI_SECTION)
		if (at + EFI_SECTION > file->size ||
		    number_at(file, at + EFI_SIZE, 4) +
			    number_at(file, at + EFI_SIZE + 4, 4) > file->size)
			return false;
	return true;
}

static bool is_kernel(const struct start_file *file)
{
	return file->size >= HEADER_SIZE &&
	       !memcmp(file->bytes + MAGIC_AT, MAGIC, strlen(MAGIC));
}

int start_file_kernel(struct start_file *out, const char *path, uint64_t most,
		      struct failure *why)
{
	struct input in;
	uint64_t flags;
	int rc = start_file_read(out, path, "the kernel", most, why);

	if (rc)
		return rc;
	if (!is_kernel(out)) {
		rc = failed(why, ERR_INPUT, "'%s' is not a kernel of arm64"
			    " ('Image'): %s", path, other_kind(out));
		start_file_release(out);
		return rc;
	}
	if (!is_whole(out)) {
		start_file_release(out);
		return failed(why, ERR_INPUT, "the kernel '%s' was cut off",
			      path);
	}
	in = (struct input){ out->bytes + OFFSET_AT, out->bytes + HEADER_SIZE,
			     0 };
	out->offset = input_uint(&in, 8);
	out->room = input_uint(&in, 8);
	flags = input_uint(&in, 8);
	if (out->room < out->size)
		out->room = out->size;
	if (!(flags & IS_BIG_ENDIAN) && out->offset < most &&
	    out->room <= most - out->offset)
		return 0;
	rc = flags & IS_BIG_ENDIAN ?
		     failed(why, ERR_INPUT, "'%s' is a kernel of the other byte"
			    " order", path) :
		     failed(why, ERR_INPUT, "the kernel '%s' needs more than"
			    " the %llu MiB of the machine's memory", path,
			    (unsigned long long)most >> 20);
	start_file_release(out);
	return rc;
}

void start_file_release(struct start_file *file)
{
	free(file->bytes);
	*file = (struct start_file){ 0 };
}
