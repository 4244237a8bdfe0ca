/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_names.c - see kernel_names.h
 *
 * Source: Linux, scripts/kallsyms.c and kernel/kallsyms.c.  A name is a list of
 * numbers of tokens, of which there are 256; so the table of tokens is looked
 * for, where those of the digits are one behind the other, and then what is
 * around it:
 *
 *	... base, number of symbols, names, markers, tokens, their places ...
 *
 * A marker says where each 256th name is.  Offsets of addresses from the base
 * are before it, or since Linux 6.4, with the base, behind it all.
 */
#include "replayer/symbols/kernel_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/recording/recording.h"

#define IMAGE_MOST (UINT64_C(128) << 20)
#define IMAGE_ALIGN (UINT64_C(2) << 20)
#define IMAGE_TRIES 32u
#define HEADER_SIZE 64u		/* Linux, arm64/booting.rst */
#define HEADER_MAGIC 56u
#define HEADER_LENGTH 16u

#define TOKENS 256u
#define MARKED 256u		/* names from marker to marker */
#define MARKERS_LEAST 16u	/* any kernel has more symbols */
#define SYMBOLS_MOST (1u << 22)
#define NAME_MOST 1024u

#define KERNEL_FILE "/boot/vmlinux"

struct image {
	uint8_t *bytes;
	size_t size;
};

struct tables {
	const struct image *image;
	size_t tokens;		/* all are places in it */
	size_t token_at[TOKENS];
	size_t token_end, places_end;
	size_t markers, marker_count;
	size_t names;
	uint32_t count;		/* of symbols */
	size_t offsets;
	size_t base_at;
	uint64_t base;
};

/* ------- bytes ------- */

static uint64_t number_at(const struct image *image, size_t at, unsigned size)
{
	uint64_t value = 0;

	if (at > image->size || size > image->size - at)
		return 0;
	for (unsigned i = size; i-- > 0;)
		value = value << 8 | image->bytes[at + i];
	return value;
}

static uint32_t word_at(const struct image *image, size_t at)
{
	return (uint32_t)number_at(image, at, 4);
}

static size_t align(size_t at)
{
	return (at + 7) & ~(size_t)7;
}

/* ------- the tables ------- */

static bool find_digits(const struct image *image, size_t *from)
{
	static const char digits[] = "0\0001\0002\0003\0004\0005\0006\0007\0008"
				     "\0009";
	const uint8_t *found;

	if (*from >= image->size)
		return false;
	found = memmem(image->bytes + *from, image->size - *from, digits,
		       sizeof(digits));
	if (found)
		*from = (size_t)(found - image->bytes);
	return found;
}

/* Whether the tokens begin there, and their places are behind them. */
static bool take_tokens(struct tables *tables, size_t at)
{
	const struct image *image = tables->image;

	tables->tokens = at;
	for (unsigned i = 0; i < TOKENS; i++) {
		const uint8_t *end = memchr(image->bytes + at, 0,
					    image->size - at);

		if (!end || at >= image->size)
			return false;
		tables->token_at[i] = at;
		at = (size_t)(end - image->bytes) + 1;
	}
	tables->token_end = at;
	at = align(at);
	for (unsigned i = 0; i < TOKENS; i++)
		if (number_at(image, at + 2 * i, 2) !=
		    tables->token_at[i] - tables->tokens)
			return false;
	tables->places_end = at + sizeof(uint16_t) * TOKENS;
	return true;
}

/* From the token of the first digit, whose number it is. */
static bool find_tokens(struct tables *tables, size_t zero)
{
	const uint8_t *bytes = tables->image->bytes;
	size_t at = zero;

	for (unsigned i = 0; i < '0'; i++) {
		if (at < 2)
			return false;
		at--;			/* the end of the one before */
		while (at && bytes[at - 1])
			at--;
	}
	return take_tokens(tables, at);
}

/* Backwards from where they end: they fall, down to 0. */
static bool take_markers(struct tables *tables, size_t end)
{
	const struct image *image = tables->image;
	size_t at = end;

	if (!word_at(image, at - 4))
		at -= 4;		/* what fills it up */
	end = at;
	while (at >= 8 && word_at(image, at - 8) < word_at(image, at - 4) &&
	       end - at < sizeof(uint32_t) * SYMBOLS_MOST / MARKED)
		at -= 4;
	if (at < 8)
		return false;
	tables->markers = at - 4;
	tables->marker_count = (end - tables->markers) / 4;
	return tables->marker_count >= MARKERS_LEAST &&
	       !word_at(image, tables->markers);
}

/*
 * In front of the tokens; or of the order of the names, of three bytes for
 * each, that is between them since Linux 6.2.
 */
static bool find_markers(struct tables *tables)
{
	const size_t end = tables->tokens & ~(size_t)7;

	if (end > 16 && take_markers(tables, end))
		return true;
	for (size_t at = end; at > 16 && end - at < 3 * SYMBOLS_MOST; at -= 8) {
		size_t most = (end - at) / 3, least = most < 3 ? 0 : most - 3;

		if (take_markers(tables, at) &&
		    tables->marker_count >= (least + MARKED - 1) / MARKED &&
		    tables->marker_count <= (most + MARKED - 1) / MARKED)
			return true;
	}
	return false;
}

/* The length of a name, in tokens; where they begin. */
static unsigned name_length(const struct image *image, size_t *at)
{
	unsigned length = (unsigned)number_at(image, (*at)++, 1);

	if (length & 0x80)
		length = (length & 0x7f) |
			 (unsigned)number_at(image, (*at)++, 1) << 7;
	return length;
}

/* Whether the names begin there. */
static bool is_names(const struct tables *tables, size_t names)
{
	const struct image *image = tables->image;
	uint32_t count = word_at(image, names - 8);
	size_t at = names;

	if (!count || count > SYMBOLS_MOST || word_at(image, names - 4) ||
	    (count + MARKED - 1) / MARKED != tables->marker_count)
		return false;
	for (unsigned i = 0; i < MARKED && i < count; i++) {
		unsigned length = name_length(image, &at);

		if (!length)
			return false;
		at += length;
	}
	return tables->marker_count < 2 ||
	       at - names == word_at(image, tables->markers + 4);
}

static bool find_names(struct tables *tables)
{
	const struct image *image = tables->image;
	uint64_t most = word_at(image, tables->markers +
				       4 * (tables->marker_count - 1));
	size_t at = tables->markers & ~(size_t)7, least;

	if (most + 16 > at)
		return false;
	at -= most;
	least = at > MARKED * NAME_MOST ? at - MARKED * NAME_MOST : 8;
	for (at &= ~(size_t)7; at > least; at -= 8)
		if (is_names(tables, at)) {
			tables->names = at;
			tables->count = word_at(image, at - 8);
			return true;
		}
	return false;
}

static bool is_base(uint64_t base)
{
	return base >> 48 == 0xffff && !(base & 0xfff);
}

static bool find_addresses(struct tables *tables)
{
	const struct image *image = tables->image;
	size_t size = align((size_t)tables->count * 4);

	tables->base_at = tables->names - 16;
	tables->base = number_at(image, tables->base_at, 8);
	tables->offsets = tables->names - 16 - size;
	if (tables->names > size + 16 && is_base(tables->base))
		return true;
	tables->offsets = align(tables->places_end);
	tables->base_at = tables->offsets + size;
	tables->base = number_at(image, tables->base_at, 8);
	return is_base(tables->base);
}

static bool find_tables(struct tables *tables)
{
	for (size_t at = 0; find_digits(tables->image, &at); at++)
		if (find_tokens(tables, at) && find_markers(tables) &&
		    find_names(tables) && find_addresses(tables))
			return true;
	return false;
}

/* ------- symbols ------- */

/* Spells a name, whose first letter is its type; where the next one begins. */
static size_t spell(const struct tables *tables, size_t at,
		    char text[NAME_MOST])
{
	const struct image *image = tables->image;
	unsigned length = name_length(image, &at);
	size_t used = 0;

	for (unsigned i = 0; i < length; i++, at++) {
		const uint8_t *token = image->bytes + tables->token_at
			[number_at(image, at, 1)];

		while (*token && used + 1 < NAME_MOST)
			text[used++] = (char)*token++;
	}
	text[used] = '\0';
	return at;
}

static enum symbol_type type_of(char letter)
{
	return strchr("tTwW", letter) ? SYMBOL_FUNCTION :
	       strchr("dDbBrR", letter) ? SYMBOL_OBJECT : SYMBOL_OTHER;
}

static int by_address(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return strcmp(a->name, b->name);
}

/*
 * Where packages have the kernel's own file, by the name that it has for
 * itself; to be freed.
 */
static char *path_of(const struct image *image)
{
	static const char banner[] = "Linux version ";
	const size_t size = sizeof(banner) - 1;
	const uint8_t *found = memmem(image->bytes, image->size, banner, size),
		      *end;
	char *text;

	if (!found)
		return strdup(KERNEL_FILE);
	found += size;
	end = memchr(found, ' ', image->size -
		     (size_t)(found - image->bytes));
	if (!end || end - found > NAME_MOST || memchr(found, '/',
						      (size_t)(end - found)))
		return strdup(KERNEL_FILE);
	return asprintf(&text, KERNEL_FILE "-%.*s", (int)(end - found),
			(const char *)found) < 0 ? NULL : text;
}

/* Behind all code of a kind; what comes then may have no names. */
static bool is_end(const char *name)
{
	return !strcmp(name, "_etext") || !strcmp(name, "_einittext");
}

/* Each goes up to the next one. */
static void set_sizes(struct symbols *out)
{
	uint64_t next = out->link_end;

	for (size_t i = out->count; i-- > 0;) {
		struct symbol *symbol = &out->list[i];

		if (i + 1 < out->count && out->list[i + 1].addr > symbol->addr)
			next = out->list[i + 1].addr;
		symbol->size = next > symbol->addr ? next - symbol->addr : 0;
		if (is_end(symbol->name))
			symbol->size = 1;
	}
}

static size_t spell_all(const struct tables *tables, struct symbols *out,
			uint64_t base)
{
	char name[NAME_MOST];
	size_t at = tables->names, used = 0;

	for (uint32_t i = 0; i < tables->count; i++) {
		at = spell(tables, at, name);
		if (!name[0])
			continue;
		if (out) {
			memcpy(out->strings + used, name + 1,
			       strlen(name));
			out->list[out->count++] = (struct symbol){
				.addr = base + word_at(tables->image,
						tables->offsets + 4 * i),
				.type = type_of(name[0]),
				.name = out->strings + used,
			};
		}
		used += strlen(name);
	}
	return used;
}

static int make_symbols(struct symbols *out, const struct tables *tables,
			const struct kernel_image *kernel,
			struct failure *why)
{
	*out = (struct symbols){
		.path = path_of(tables->image),
		.list = calloc(tables->count + 1, sizeof(*out->list)),
		.strings = malloc(spell_all(tables, NULL, 0) + 1),
	};
	if (!out->path || !out->list || !out->strings) {
		symbols_release(out);
		return failed(why, ERR_NO_MEMORY, "out of memory");
	}
	spell_all(tables, out, tables->base - kernel->base + kernel->linked);
	qsort(out->list, out->count, sizeof(*out->list), by_address);
	out->link_base = kernel->linked;
	out->link_end = kernel->linked + tables->image->size;
	set_sizes(out);
	return 0;
}

/* ------- the image ------- */

struct page_range {
	uint64_t start, size;
};

/* As of the key frame of a segment. */
static int read_pages(struct image *out, struct recording *recording,
		      size_t segment, const struct page_range *range,
		      struct failure *why)
{
	const uint64_t from = range->start, size = range->size;
	size_t count = 0;
	struct page_want *wants = calloc(size >> GUEST_PAGE_SHIFT,
					 sizeof(*wants));
	int rc = 0;

	*out = (struct image){ calloc(1, size), size };
	if (!wants || !out->bytes)
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
	for (uint64_t i = 0; i < size >> GUEST_PAGE_SHIFT && !rc; i++) {
		struct page_want *want = &wants[count];

		rc = recording_snapshot(recording, segment,
					(from >> GUEST_PAGE_SHIFT) + i,
					&want->id, why);
		want->to = out->bytes + (i << GUEST_PAGE_SHIFT);
		count += want->id != 0;
	}
	if (!rc)
		rc = recording_read_pages(recording, wants, count, why);
	free(wants);
	if (rc)
		free(out->bytes);
	return rc;
}

/*
 * How long a kernel's image is that begins in a page; 0: none does.  Only at
 * the start: the kernel has other uses for that page.
 */
static uint64_t image_size(struct recording *recording, uint64_t at)
{
	const struct page_range range = { at, GUEST_PAGE };
	struct image page;
	uint64_t size = 0;

	if (read_pages(&page, recording, 0, &range, NULL))
		return 0;
	if (!memcmp(page.bytes + HEADER_MAGIC, "ARM\x64", 4))
		size = number_at(&page, HEADER_LENGTH, 8);
	free(page.bytes);
	size = (size + GUEST_PAGE - 1) & ~(uint64_t)(GUEST_PAGE - 1);
	return size <= IMAGE_MOST ? size : 0;
}

static int find_ram(struct recording *recording, struct region *out,
		    struct failure *why)
{
	struct key_frame frame;
	int rc = recording_key_frame(recording, 0, &frame, why);

	if (rc)
		return rc;
	*out = (struct region){ 0 };
	for (size_t i = 0; i < frame.region_count; i++)
		if (frame.regions[i].kind != REGION_DEVICE)
			*out = frame.regions[i];
	key_frame_release(&frame);
	out->name = NULL;
	return 0;
}

static int find_image(struct recording *recording, struct page_range *out,
		      struct failure *why)
{
	struct region ram;
	int rc = find_ram(recording, &ram, why);

	for (unsigned i = 0; i < IMAGE_TRIES && !rc && !out->size; i++) {
		out->start = ram.start + i * IMAGE_ALIGN;
		if (out->start < ram.end)
			out->size = image_size(recording, out->start);
	}
	if (rc || !out->size)
		return rc ? rc : failed(why, ERR_NOT_FOUND, "the machine has no"
					" kernel of Linux");
	if (out->size > ram.end - out->start)
		out->size = ram.end - out->start;
	return 0;
}

/* ------- where it is, and was to be ------- */

/* The first symbol is not far behind the start. */
static uint64_t start_of(uint64_t symbol)
{
	return symbol & ~(uint64_t)(IMAGE_ALIGN - 1);
}

/*
 * Where the kernel was linked for, if it has moved itself.  At the start, the
 * address of its first symbol was that; or else what the kernel's table of
 * relocations says of this word.
 */
#define RELATIVE 0x403u		/* R_AARCH64_RELATIVE: place, type, value */

static uint64_t linked_for(const struct image *first,
			   const struct tables *tables)
{
	static const uint8_t type[8] = { RELATIVE & 0xff, RELATIVE >> 8 };
	uint64_t value = number_at(first, tables->base_at, 8);
	const uint8_t *found = first->bytes;

	if (is_base(value))
		return start_of(value);
	while ((found = memmem(found, first->size -
			       (size_t)(found - first->bytes), type,
			       sizeof(type)))) {
		size_t at = (size_t)(found - first->bytes);

		value = number_at(first, at + 8, 8);
		if (at >= 8 && is_base(value) && number_at(first, at - 8, 8) ==
				start_of(value) + tables->base_at)
			return start_of(value);
		found++;
	}
	return start_of(tables->base);
}

static int find_linked(struct kernel_image *kernel,
		       struct recording *recording,
		       const struct tables *tables, struct failure *why)
{
	const struct page_range range = { kernel->physical, kernel->size };
	struct image first;
	int rc = read_pages(&first, recording, 0, &range, why);

	if (rc)
		return rc;
	kernel->linked = linked_for(&first, tables);
	free(first.bytes);
	return 0;
}

static int read_image(struct kernel_image *out, struct recording *recording,
		      struct failure *why)
{
	struct image image = { 0 };
	struct page_range range = { 0 };
	int rc = find_image(recording, &range, why);

	if (!rc)
		rc = read_pages(&image, recording,
				recording_segments(recording) - 1, &range, why);
	*out = (struct kernel_image){
		.bytes = image.bytes, .size = image.size,
		.physical = range.start,
	};
	return rc;
}

int kernel_image_read(struct kernel_image *out, struct recording *recording,
		      struct failure *why)
{
	struct image image;
	struct tables tables = { .image = &image };
	int rc = read_image(out, recording, why);

	if (rc)
		return rc;
	image = (struct image){ out->bytes, out->size };
	if (find_tables(&tables))
		out->base = start_of(tables.base);
	return 0;
}

int kernel_names_read(struct symbols *out, struct kernel_image *kernel,
		      struct recording *recording, struct failure *why)
{
	struct image image;
	struct tables tables = { .image = &image };
	int rc = read_image(kernel, recording, why);

	if (rc)
		return rc;
	image = (struct image){ kernel->bytes, kernel->size };
	if (!find_tables(&tables))
		rc = failed(why, ERR_NOT_FOUND, "the machine's kernel has"
			    " no symbols in its memory");
	kernel->base = start_of(tables.base);
	if (!rc)
		rc = find_linked(kernel, recording, &tables, why);
	if (!rc)
		rc = make_symbols(out, &tables, kernel, why);
	if (rc)
		free(kernel->bytes);
	return rc;
}
