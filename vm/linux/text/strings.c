/* SPDX-License-Identifier: GPL-2.0-or-later */
/* strings.c - strings and buffers, quoted */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "vm/linux/text/text_internal.h"

#define PATH_MOST 4096u		/* PATH_MAX */
#define NAME_MOST 15u		/* TASK_COMM_LEN, without the NUL */
#define BUFFERS_MOST 1024u	/* UIO_MAXIOV */
#define PAGE 4096u

/* ------- quoting ------- */

static bool put_named(FILE *out, uint8_t byte)
{
	static const char names[] = "\tt\nn\vv\ff\rr\"\"\\\\";

	for (size_t i = 0; names[i]; i += 2) {
		if (byte == (uint8_t)names[i]) {
			fprintf(out, "\\%c", names[i + 1]);
			return true;
		}
	}
	return false;
}

/* An octal digit behind it would belong to it, unless it has three. */
static void put_byte(FILE *out, uint8_t byte, uint8_t next)
{
	if (put_named(out, byte))
		return;
	if (byte >= ' ' && byte < 0x7f)
		fputc(byte, out);
	else
		fprintf(out, next >= '0' && next <= '7' ? "\\%03o" : "\\%o",
			byte);
}

void put_quoted(FILE *out, const uint8_t *bytes, size_t size)
{
	fputc('"', out);
	for (size_t i = 0; i < size; i++)
		put_byte(out, bytes[i], i + 1 < size ? bytes[i + 1] : 0);
	fputc('"', out);
}

static void put_hex(FILE *out, const uint8_t *bytes, size_t size)
{
	fputc('"', out);
	for (size_t i = 0; i < size; i++)
		fprintf(out, "\\x%02x", bytes[i]);
	fputc('"', out);
}

/* ------- buffers ------- */

typedef void put_bytes(FILE *out, const uint8_t *bytes, size_t size);

static void show_with(struct showing *showing, guest_addr addr, uint64_t size,
		      put_bytes *put)
{
	unsigned most = showing->call->string_most;
	size_t shown = size < most ? (size_t)size : most;
	uint8_t *bytes = addr ? malloc(shown + 1) : NULL;

	if (!bytes || (shown && !read_guest(showing, addr, bytes, shown))) {
		show_address(showing, addr);
	} else {
		put(showing->out, bytes, shown);
		if (shown < size)
			fputs("...", showing->out);
	}
	free(bytes);
}

void show_bytes(struct showing *showing, guest_addr addr, uint64_t size)
{
	show_with(showing, addr, size, put_quoted);
}

void show_hex_bytes(struct showing *showing, guest_addr addr, uint64_t size)
{
	show_with(showing, addr, size, put_hex);
}

void show_vector(struct showing *showing, guest_addr addr, uint64_t count,
		 uint64_t filled)
{
	struct iovec part;

	if (!addr || count > BUFFERS_MOST ||
	    (count && !read_struct(showing, S_IOVEC, addr, &part))) {
		show_address(showing, addr);
		return;
	}
	fputc('[', showing->out);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t size;

		if (!read_struct(showing, S_IOVEC,
				 addr + i * size_of(showing, S_IOVEC), &part))
			break;
		size = part.iov_len < filled ? part.iov_len : filled;
		filled -= size;
		fprintf(showing->out, "%s{iov_base=", i ? ", " : "");
		show_bytes(showing, (guest_addr)(uintptr_t)part.iov_base, size);
		fprintf(showing->out, ", iov_len=%zu}", part.iov_len);
	}
	fputc(']', showing->out);
}

/* ------- strings that end with a NUL ------- */

/* Reads up to the NUL; `*size` is at most `most`.  False if it is not known. */
static bool read_string(struct showing *showing, guest_addr addr, char *out,
			size_t most, size_t *size)
{
	*size = 0;
	while (*size < most) {
		size_t left = PAGE - (addr + *size) % PAGE;
		size_t part = left < 64 ? left : 64;
		const char *end;

		if (part > most - *size)
			part = most - *size;
		if (!read_guest(showing, addr + *size, out + *size, part))
			return false;
		end = memchr(out + *size, '\0', part);
		*size += end ? (size_t)(end - out) - *size : part;
		if (end)
			break;
	}
	return true;
}

static void show_string(struct showing *showing, guest_addr addr, size_t most)
{
	char *bytes = addr ? malloc(most + 1) : NULL;
	size_t size = 0;

	if (!bytes || !read_string(showing, addr, bytes, most + 1, &size)) {
		show_address(showing, addr);
	} else {
		bool is_cut = size > most;

		put_quoted(showing->out, (uint8_t *)bytes,
			   is_cut ? most : size);
		if (is_cut)
			fputs("...", showing->out);
	}
	free(bytes);
}

void show_path(struct showing *showing, guest_addr addr)
{
	show_string(showing, addr, PATH_MOST);
}

void show_thread_name(struct showing *showing, guest_addr addr)
{
	show_string(showing, addr, NAME_MOST);
}

static bool next_string(struct showing *showing, guest_addr at, uint64_t *out)
{
	return read_word(showing, at, out) && *out;
}

void show_strings(struct showing *showing, guest_addr addr)
{
	unsigned most = showing->call->string_most, word = word_of(showing);
	uint64_t string;
	unsigned i;

	if (!read_word(showing, addr, &string)) {
		show_address(showing, addr);
		return;
	}
	fputc('[', showing->out);
	for (i = 0; i < most && next_string(showing, addr + i * word, &string);
	     i++) {
		if (i)
			fputs(", ", showing->out);
		show_string(showing, string, most);
	}
	if (i == most && next_string(showing, addr + i * word, &string))
		fputs(", ...", showing->out);
	fputc(']', showing->out);
}
