/* SPDX-License-Identifier: GPL-2.0-or-later */
/* last_words.c - see last_words.h */
#include "replayer/session/last_words.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "replayer/session/outputs.h"

/* Some write each word by itself, or each byte. */
#define PIECES_MOST LAST_WORDS_MOST

/* What was written long before has nothing to do with the end. */
#define SEGMENTS_MOST 2u

struct pieces {
	const struct position *until;
	struct output_part list[PIECES_MOST];	/* the last ones, in a ring */
	uint64_t count;
};

static int visit(void *context, const struct output_part *piece)
{
	struct pieces *pieces = context;

	if (piece->descriptor == STDERR_FILENO &&
	    position_compare(&piece->at, pieces->until) <= 0)
		pieces->list[pieces->count++ % PIECES_MOST] = *piece;
	return 0;
}

static int find_pieces(struct pieces *pieces, struct recording *recording,
		       struct failure *why)
{
	size_t last = recording_segment_at(recording, pieces->until->time);
	size_t first = last < SEGMENTS_MOST ? 0 : last - SEGMENTS_MOST + 1;
	int rc = 0;

	for (size_t i = first; i <= last && !rc; i++)
		rc = outputs_each_in(recording, i, visit, pieces, why);
	return rc;
}

/* The first one of those that there is room for; and whether others were
 * before it. */
static uint64_t first_piece(const struct pieces *pieces, bool *is_cut)
{
	uint64_t first = pieces->count, size = 0;

	while (first && pieces->count - first < PIECES_MOST &&
	       size < LAST_WORDS_MOST)
		size += pieces->list[--first % PIECES_MOST].size;
	*is_cut = first || size > LAST_WORDS_MOST;
	return first;
}

/* Makes room for `size` bytes at the end, by dropping the first ones. */
static char *room_for(struct last_words *words, size_t size)
{
	size_t dropped = words->size + size > sizeof(words->text) ?
			 words->size + size - sizeof(words->text) : 0;

	memmove(words->text, words->text + dropped, words->size - dropped);
	words->size += size - dropped;
	return words->text + words->size - size;
}

/* Of a long piece, its end. */
static int add_piece(struct last_words *words, struct query *query,
		     const struct output_part *piece, struct failure *why)
{
	char text[LAST_WORDS_MOST];
	size_t size = piece->size < sizeof(text) ? (size_t)piece->size :
						   sizeof(text);
	int rc = output_read(query, piece, piece->size - size, text, size, why);

	if (rc)
		return rc;
	memcpy(room_for(words, size), text, size);
	return 0;
}

/* Instructions between two pieces of a message: tracebacks look for lines of
 * source, or for functions. */
#define GAP_MOST (UINT64_C(2) << 20)

/* The first piece of the last message. */
static const struct output_part *find_message(const struct pieces *pieces,
					      uint64_t first)
{
	const struct output_part *begin =
		&pieces->list[(pieces->count - 1) % PIECES_MOST];

	for (uint64_t i = pieces->count - 1; i-- > first;) {
		const struct output_part *piece =
			&pieces->list[i % PIECES_MOST];

		if (piece->stream != begin->stream ||
		    begin->at.time - piece->at.time > GAP_MOST)
			break;
		begin = piece;
	}
	return begin;
}

/* Begins with a whole line, if there is one. */
static void drop_rest(struct last_words *words)
{
	const char *end = memchr(words->text, '\n', words->size);
	size_t rest = end ? (size_t)(end + 1 - words->text) : 0;

	if (rest == words->size)
		return;
	words->size -= rest;
	memmove(words->text, words->text + rest, words->size);
}

int last_words_find(struct last_words *out, struct recording *recording,
		    struct query *query, const struct position *until,
		    struct failure *why)
{
	struct pieces pieces = { .until = until };
	int rc = find_pieces(&pieces, recording, why);
	bool is_cut;
	uint64_t first = first_piece(&pieces, &is_cut);

	*out = (struct last_words){ 0 };
	if (!rc && pieces.count) {
		const struct output_part *begin = find_message(&pieces, first);

		out->at = begin->at;
		out->stream = begin->stream;
	}
	for (uint64_t i = first; i < pieces.count && !rc; i++)
		rc = add_piece(out, query, &pieces.list[i % PIECES_MOST], why);
	if (is_cut)
		drop_rest(out);
	return rc;
}
