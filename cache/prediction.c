/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prediction.c - see prediction.h */
#include "cache/prediction.h"

#include <string.h>

#include "formats/error.h"

#define WORD 8

/*
 * A run is written as differences if a difference takes at most this many
 * bytes on average: then most words are counters.  Differences of words that
 * have nothing to do with their entries compress worse than the words do
 * themselves (tried).  An entry of zero was most likely never used: its
 * difference counts as a whole word.
 */
#define NEAR 3
#define GIVE_UP 64		/* bytes above that, in one run: a choice that
				   saves looking at the rest */

/*
 * An observation, cut at word borders, as parts that need one look at the
 * cache each: bytes within one word, or whole words whose entries are
 * neighbours (the array's end cuts once more).
 */
struct part {
	uint8_t *entries;	/* the cache's bytes for it */
	size_t pieces;		/* words; 1 if `size` is less than a word */
	size_t size;		/* bytes */
};

/* The first part of `size` bytes at `addr`. */
static struct part first_part(struct cache *cache, uint64_t addr, size_t size)
{
	uint64_t *entry = cache_entry(cache, addr);
	size_t neighbours = cache->entries - (size_t)(entry - cache->words);
	size_t inside = addr % WORD;
	struct part part = { .entries = (uint8_t *)entry + inside };

	if (inside || size < WORD) {
		part.pieces = 1;
		part.size = size < WORD - inside ? size : WORD - inside;
		return part;
	}
	part.pieces = size / WORD < neighbours ? size / WORD : neighbours;
	part.size = part.pieces * WORD;
	return part;
}

static uint64_t load_word(const uint8_t *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

/* How many words from the start are equal. */
static size_t count_equal(const uint8_t *a, const uint8_t *b, size_t words)
{
	size_t n = 0;

	while (n < words && load_word(a + n * WORD) == load_word(b + n * WORD))
		n++;
	return n;
}

/* How many words from the start differ. */
static size_t count_different(const uint8_t *a, const uint8_t *b, size_t words)
{
	size_t n = 0;

	while (n < words && load_word(a + n * WORD) != load_word(b + n * WORD))
		n++;
	return n;
}

/* ------- the recorder's side ------- */

void prediction_writer_init(struct prediction_writer *writer,
			    struct cache *cache)
{
	*writer = (struct prediction_writer){ .cache = cache };
}

void prediction_writer_release(struct prediction_writer *writer)
{
	output_release(&writer->stream);
	output_release(&writer->missed);
	output_release(&writer->moved);
}

void prediction_cut(struct prediction_writer *writer)
{
	bool is_near = writer->excess <= 0;
	const struct output *run = is_near ? &writer->moved : &writer->missed;

	if (!writer->misses)
		return;
	output_varint(&writer->stream, writer->hits);
	if (is_near)
		output_varint(&writer->stream, 0);
	output_varint(&writer->stream, writer->misses);
	output_bytes(&writer->stream, run->bytes, run->size);
	if (run->error)
		writer->stream.error = run->error;
	output_clear(&writer->missed);
	output_clear(&writer->moved);
	writer->hits = 0;
	writer->misses = 0;
	writer->excess = 0;
}

void prediction_finish(struct prediction_writer *writer)
{
	prediction_cut(writer);
	writer->hits = 0;
}

static void add_hits(struct prediction_writer *writer, size_t pieces)
{
	if (!pieces)
		return;
	prediction_cut(writer);		/* a hit ends a run of misses */
	writer->hits += pieces;
	writer->total_hits += pieces;
}

/* Adds to the run's differences, as long as that can be worth it. */
static void add_moved(struct prediction_writer *writer, const uint8_t *entries,
		      const uint8_t *bytes, size_t size)
{
	if (size % WORD)
		writer->excess = INT64_MAX;
	for (size_t i = 0; i < size && writer->excess < GIVE_UP; i += WORD) {
		uint64_t entry = load_word(entries + i);
		size_t before = writer->moved.size;

		output_signed(&writer->moved,
			      (int64_t)(load_word(bytes + i) - entry));
		writer->excess += entry ? (int64_t)(writer->moved.size - before) :
					  WORD;
		writer->excess -= NEAR;
	}
}

static void add_misses(struct prediction_writer *writer, size_t pieces,
		       uint8_t *entries, const uint8_t *bytes, size_t size)
{
	if (!pieces)
		return;
	add_moved(writer, entries, bytes, size);
	output_bytes(&writer->missed, bytes, size);
	memcpy(entries, bytes, size);
	writer->misses += pieces;
	writer->total_misses += pieces;
}

static void record_words(struct prediction_writer *writer,
			 const struct part *part, const uint8_t *bytes)
{
	size_t done = 0;

	while (done < part->pieces) {
		uint8_t *entries = part->entries + done * WORD;
		const uint8_t *at = bytes + done * WORD;
		size_t left = part->pieces - done;
		size_t hits = count_equal(entries, at, left);
		size_t misses = count_different(entries + hits * WORD,
						at + hits * WORD, left - hits);

		add_hits(writer, hits);
		add_misses(writer, misses, entries + hits * WORD,
			   at + hits * WORD, misses * WORD);
		done += hits + misses;
	}
}

void prediction_record(struct prediction_writer *writer, uint64_t addr,
		       const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	while (size) {
		struct part part = first_part(writer->cache, addr, size);

		if (!memcmp(part.entries, at, part.size))
			add_hits(writer, part.pieces);
		else if (part.size < WORD)
			add_misses(writer, 1, part.entries, at, part.size);
		else
			record_words(writer, &part, at);
		addr += part.size;
		at += part.size;
		size -= part.size;
	}
}

/* The equal words of a part, wherever they stand. */
static size_t count_hits(const struct part *part, const uint8_t *bytes)
{
	size_t hits = 0;

	if (part->size < WORD)
		return !memcmp(part->entries, bytes, part->size);
	for (size_t i = 0; i < part->pieces; i++)
		hits += load_word(part->entries + i * WORD) ==
			load_word(bytes + i * WORD);
	return hits;
}

size_t prediction_would_hit(const struct prediction_writer *writer,
			    uint64_t addr, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	size_t hits = 0;

	while (size) {
		struct part part = first_part(writer->cache, addr, size);

		hits += count_hits(&part, at);
		addr += part.size;
		at += part.size;
		size -= part.size;
	}
	return hits;
}

/* ------- the replayer's side ------- */

void prediction_reader_init(struct prediction_reader *reader,
			    struct cache *cache, const uint8_t *stream,
			    size_t size)
{
	*reader = (struct prediction_reader){
		.cache = cache,
		.in = { stream, size ? stream + size : stream, 0 },
	};
}

/* Loads the next run.  Where the stream ends, all is predicted. */
static int next_run(struct prediction_reader *reader)
{
	struct input *in = &reader->in;

	if (in->error)
		return in->error;
	if (!input_left(in)) {
		reader->hits = UINT64_MAX;
		return 0;
	}
	reader->hits = input_varint(in);
	reader->misses = input_varint(in);
	reader->is_near = !in->error && !reader->misses;
	if (reader->is_near)
		reader->misses = input_varint(in);
	if (!in->error && reader->misses == 0)
		in->error = ERR_CORRUPT;
	/* A miss has at least a byte. */
	if (!in->error && reader->misses > input_left(in))
		in->error = ERR_TRUNCATED;
	if (in->error)
		reader->hits = reader->misses = 0;
	return in->error;
}

/* Takes `count` words that are written as differences. */
static int take_moved(struct input *in, uint8_t *entries, uint8_t *bytes,
		      size_t count, size_t size)
{
	if (!in->error && size != WORD)
		in->error = ERR_CORRUPT;
	for (size_t i = 0; i < count && !in->error; i++) {
		uint64_t word = load_word(entries + i * WORD) +
				(uint64_t)input_signed(in);

		memcpy(entries + i * WORD, &word, WORD);
		memcpy(bytes + i * WORD, &word, WORD);
	}
	return in->error;
}

static int take_missed(struct input *in, uint8_t *entries, uint8_t *bytes,
		       size_t count, size_t size)
{
	const uint8_t *missed = input_bytes(in, count * size);

	if (!missed)
		return in->error;
	memcpy(entries, missed, count * size);
	memcpy(bytes, missed, count * size);
	return 0;
}

/*
 * Takes up to `pieces` pieces, of `size` bytes each, that are all predicted
 * or all missed.  Returns how many, or a negative error.
 */
static long take_pieces(struct prediction_reader *reader, uint8_t *entries,
			uint8_t *bytes, size_t pieces, size_t size)
{
	size_t count;
	int rc = 0;

	if (!reader->hits && !reader->misses)
		rc = next_run(reader);
	if (rc)
		return rc;
	if (reader->hits) {
		count = reader->hits < pieces ? (size_t)reader->hits : pieces;
		memcpy(bytes, entries, count * size);
		reader->hits -= count;
		return (long)count;
	}
	count = reader->misses < pieces ? (size_t)reader->misses : pieces;
	rc = (reader->is_near ? take_moved : take_missed)(
		&reader->in, entries, bytes, count, size);
	if (rc)
		return rc;
	reader->misses -= count;
	return (long)count;
}

int prediction_replay(struct prediction_reader *reader, uint64_t addr,
		      void *bytes, size_t size)
{
	uint8_t *at = bytes;

	while (size) {
		struct part part = first_part(reader->cache, addr, size);
		size_t piece = part.size / part.pieces;
		long count = take_pieces(reader, part.entries, at, part.pieces,
					 piece);

		if (count < 0)
			return (int)count;
		addr += (size_t)count * piece;
		at += (size_t)count * piece;
		size -= (size_t)count * piece;
	}
	return 0;
}
