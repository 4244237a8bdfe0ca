/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines.c - see lines.h */
#include "index/lines.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"

#define PAGES_MOST (UINT64_C(1) << 24)	/* 64 GiB of memory */

/* Beside the number of epochs: words are told, too. */
#define HAS_WORDS 128u

unsigned lines_shift(uint64_t length)
{
	unsigned shift = 0;

	while (length >> shift >= EPOCHS_MOST)
		shift++;
	return shift;
}

/* ------- collecting ------- */

static struct lines_page *add_page(struct lines_builder *builder,
				   uint64_t page)
{
	struct lines_page *new;

	if (array_room(builder->pages, builder->count, builder->room) ||
	    number_map_set(&builder->places, page, builder->count)) {
		builder->error = ERR_NO_MEMORY;
		return NULL;
	}
	builder->newest = builder->count++;
	new = &builder->pages[builder->newest];
	*new = (struct lines_page){ .page = page };
	return new;
}

static struct lines_page *find_page(struct lines_builder *builder,
				    uint64_t page)
{
	const uint64_t *place;

	if (builder->count && builder->pages[builder->newest].page == page)
		return &builder->pages[builder->newest];
	place = number_map_find(&builder->places, page);
	if (!place)
		return add_page(builder, page);
	builder->newest = *place;
	return &builder->pages[*place];
}

void lines_add(struct lines_builder *builder, uint64_t line, uint64_t epoch,
	       unsigned words)
{
	struct lines_page *page = find_page(builder, line / LINES_PER_PAGE);

	if (!page)
		return;
	page->epochs[line % LINES_PER_PAGE] |= UINT64_C(1) << epoch;
	page->words[line % LINES_PER_PAGE] |= (uint8_t)words;
}

void lines_release(struct lines_builder *builder)
{
	number_map_release(&builder->places);
	free(builder->pages);
	*builder = (struct lines_builder){ 0 };
}

/* ------- as bytes ------- */

static int by_page(const void *a, const void *b)
{
	const struct lines_page *one = a, *other = b;

	return (one->page > other->page) - (one->page < other->page);
}

/* How many bytes hold the epochs of a segment. */
static unsigned width_of(unsigned epochs)
{
	return (epochs + 7) / 8;
}

/* The lines of a page that were accessed, a bit each. */
static uint64_t present_in(const struct lines_page *page)
{
	uint64_t present = 0;

	for (unsigned k = 0; k < LINES_PER_PAGE; k++)
		if (page->epochs[k])
			present |= UINT64_C(1) << k;
	return present;
}

/* Pages, and which of their lines; `has_all`: all of them. */
static void put_pages(struct output *out, const struct lines_builder *builder,
		      bool has_all)
{
	uint64_t before = 0;

	output_varint(out, builder->count);
	for (size_t i = 0; i < builder->count; i++) {
		output_varint(out, builder->pages[i].page - before);
		before = builder->pages[i].page;
	}
	for (size_t i = 0; i < builder->count; i++)
		output_uint(out, has_all ? UINT64_MAX :
					   present_in(&builder->pages[i]), 8);
}

/*
 * Column by column: neighbours are much alike, which makes what is packed then
 * a third as large.
 */
static void put(struct output *out, const struct lines_builder *builder,
		unsigned epochs)
{
	uint64_t before = 0;

	output_varint(out, builder->shift);
	output_varint(out, epochs | HAS_WORDS);
	put_pages(out, builder, false);
	for (size_t i = 0; i < builder->count; i++) {
		for (unsigned k = 0; k < LINES_PER_PAGE; k++) {
			uint64_t mask = builder->pages[i].epochs[k];

			if (!mask)
				continue;
			output_uint(out, mask ^ before, width_of(epochs));
			before = mask;
		}
	}
	for (size_t i = 0; i < builder->count; i++)
		for (unsigned k = 0; k < LINES_PER_PAGE; k++)
			if (builder->pages[i].epochs[k])
				output_uint(out, builder->pages[i].words[k], 1);
}

/* Each two epochs become one. */
static void join_epochs(struct lines_builder *builder)
{
	builder->shift++;
	for (size_t i = 0; i < builder->count; i++) {
		for (unsigned k = 0; k < LINES_PER_PAGE; k++) {
			uint64_t mask = builder->pages[i].epochs[k], joined = 0;

			for (unsigned e = 0; e < EPOCHS_MOST; e += 2)
				if (mask >> e & 3)
					joined |= UINT64_C(1) << e / 2;
			builder->pages[i].epochs[k] = joined;
		}
	}
}

static size_t lines_of(const struct lines_builder *builder)
{
	size_t lines = 0;

	for (size_t i = 0; i < builder->count; i++)
		for (unsigned k = 0; k < LINES_PER_PAGE; k++)
			lines += builder->pages[i].epochs[k] != 0;
	return lines;
}

/* A page takes a byte; its lines take eight, unless the page before has the same. */
static size_t size_of_pages(const struct lines_builder *builder)
{
	size_t size = 0;
	uint64_t before = UINT64_MAX;

	for (size_t i = 0; i < builder->count; i++) {
		uint64_t present = present_in(&builder->pages[i]);

		size += present == before ? 1 : 9;
		before = present;
	}
	return size;
}

/* Neither epochs nor words: each line may be accessed in the whole segment. */
static void put_coarse(struct output *out, const struct lines_builder *builder,
		       unsigned epochs, size_t most)
{
	unsigned shift = builder->shift;

	for (; epochs > 1; epochs /= 2)
		shift++;
	output_varint(out, shift);
	output_varint(out, 0);
	put_pages(out, builder, size_of_pages(builder) > most);
}

/*
 * Packed, an epoch of a line takes half a bit or less: a quarter where memory is
 * busy, more where it is written in order.  Its words take as much as eight.
 */
int lines_encode(struct output *out, struct lines_builder *builder, size_t most)
{
	unsigned epochs = EPOCHS_MOST;
	size_t lines = lines_of(builder);

	if (builder->error)
		return builder->error;
	if (builder->count)
		qsort(builder->pages, builder->count, sizeof(*builder->pages),
		      by_page);
	for (; epochs > 8 && lines * (epochs + 8) / 16 > most; epochs /= 2)
		join_epochs(builder);
	if (lines / 2 <= most)
		put(out, builder, epochs);
	else
		put_coarse(out, builder, epochs, most);
	return out->error;
}

static int take_pages(struct line_set *out, struct input *in)
{
	uint64_t page = 0;

	for (size_t i = 0; i < out->page_count; i++) {
		uint64_t step = input_varint(in);

		if (i && !step)
			return ERR_CORRUPT;
		page += step;
		out->pages[i].page = page;
	}
	for (size_t i = 0; i < out->page_count; i++) {
		out->pages[i].present = input_uint(in, 8);
		out->pages[i].first = out->epoch_count;
		out->epoch_count +=
			(unsigned)__builtin_popcountll(out->pages[i].present);
	}
	return in->error;
}

static int take_epochs(struct line_set *out, struct input *in, unsigned width)
{
	uint64_t before = 0;

	if (input_left(in) / width < out->epoch_count)
		return ERR_TRUNCATED;
	out->epochs = malloc(out->epoch_count * sizeof(*out->epochs) + 1);
	if (!out->epochs)
		return ERR_NO_MEMORY;
	for (size_t i = 0; i < out->epoch_count; i++)
		out->epochs[i] = before ^= input_uint(in, width);
	return in->error;
}

static int take_words(struct line_set *out, struct input *in)
{
	const uint8_t *words = input_bytes(in, out->epoch_count);

	if (in->error)
		return in->error;
	out->words = malloc(out->epoch_count + 1);
	if (!out->words)
		return ERR_NO_MEMORY;
	memcpy(out->words, words, out->epoch_count);
	return 0;
}

int line_set_decode(struct line_set *out, const uint8_t *bytes, size_t size)
{
	struct input in = { bytes, bytes + size, 0 };
	unsigned epochs;
	bool has_words;
	int rc;

	*out = (struct line_set){ 0 };
	out->shift = (unsigned)input_count(&in, 63);
	epochs = (unsigned)input_count(&in, EPOCHS_MOST | HAS_WORDS);
	has_words = epochs & HAS_WORDS;
	epochs &= ~HAS_WORDS;
	out->page_count = input_count(&in, PAGES_MOST);
	if (!in.error && ((!epochs && has_words) || epochs > EPOCHS_MOST ||
			  input_left(&in) / 9 < out->page_count))
		in.error = ERR_CORRUPT;
	if (in.error)
		return in.error;
	out->pages = malloc(out->page_count * sizeof(*out->pages) + 1);
	if (!out->pages)
		return ERR_NO_MEMORY;
	rc = take_pages(out, &in);
	if (!rc && epochs)
		rc = take_epochs(out, &in, width_of(epochs));
	if (!rc && has_words)
		rc = take_words(out, &in);
	if (rc)
		line_set_release(out);
	return rc;
}

void line_set_release(struct line_set *set)
{
	free(set->pages);
	free(set->epochs);
	free(set->words);
	*set = (struct line_set){ 0 };
}

size_t line_set_size(const struct line_set *set)
{
	size_t lines = set->epochs ? set->epoch_count : 0;

	return set->page_count * sizeof(*set->pages) +
	       lines * (sizeof(*set->epochs) + 1);
}

/* ------- looking up ------- */

static size_t first_page(const struct line_set *set, uint64_t page)
{
	size_t first = 0, last = set->page_count;

	while (first < last) {
		size_t middle = first + (last - first) / 2;

		if (set->pages[middle].page < page)
			first = middle + 1;
		else
			last = middle;
	}
	return first;
}

/* Whether some bytes of a range may be among those of a line. */
static bool has_some(const struct line_set *set, size_t place, uint64_t line,
		     guest_addr first, guest_addr last)
{
	return !set->words ||
	       set->words[place] & words_of_range(line, first, last);
}

/* Of the lines of a page, those with bytes of the range. */
static uint64_t epochs_in(const struct line_set *set,
			  const struct line_page *page, guest_addr first,
			  guest_addr last)
{
	uint64_t line = page->page * LINES_PER_PAGE, found = 0;
	size_t place = page->first;

	for (unsigned k = 0; k < LINES_PER_PAGE; k++, line++) {
		if (!(page->present >> k & 1))
			continue;
		if (line >= first >> LINE_SHIFT && line <= last >> LINE_SHIFT &&
		    has_some(set, place, line, first, last))
			found |= set->epochs ? set->epochs[place] : 1;
		place++;
	}
	return found;
}

uint64_t line_set_epochs(const struct line_set *set, guest_addr first,
			 guest_addr last)
{
	uint64_t page = first >> GUEST_PAGE_SHIFT;
	uint64_t found = 0;

	for (size_t i = first_page(set, page);
	     i < set->page_count &&
	     set->pages[i].page <= last >> GUEST_PAGE_SHIFT; i++)
		found |= epochs_in(set, &set->pages[i], first, last);
	return found;
}
