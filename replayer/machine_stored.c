/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_stored.c - states inside a segment of a machine, as bytes: in the side
 * file, or kept in memory
 *
 * Where one is found and kept is the same as of programs (stored_points.c,
 * points.c).  To start there is to start at the key frame, to decode the packets
 * up to there again, and to put in all that has changed.
 *
 * formats/trace-format.md, section 17.
 */
#include "replayer/machine_internal.h"

#include <stdlib.h>
#include <string.h>

#include "formats/side_file.h"

/* A state takes about so many bytes at most. */
#define PAGES_MOST ((size_t)16384)

/* Where a core is in what the segment has of it. */
struct stored_core {
	struct reg_file regs;
	uint64_t taken, next_time;
	bool has_next, is_near;
	uint64_t offset, hits, misses;	/* of its reads */
	const uint8_t *words;		/* of its cache: as they are stored, */
	size_t word_count;
};

/* What a record says; pages and words are in its bytes. */
struct stored_state {
	uint64_t time, slice;
	uint32_t events;
	enum board_stop stop;
	unsigned core, core_count;
	struct stored_core cores[BOARD_CORES_MOST];
	const uint8_t *pages, *contents;
	size_t page_count;
};

#define WORD_SIZE 12u		/* of a word of a cache: which, and what */
#define PAGE_NUMBER_SIZE 8u

/* ------- as bytes ------- */

static void put_words(struct output *out, const struct cache *cache)
{
	size_t count = 0;

	for (size_t i = 0; i < cache->entries; i++)
		count += cache->words[i] != 0;
	output_varint(out, count);
	for (size_t i = 0; i < cache->entries; i++) {
		if (!cache->words[i])
			continue;
		output_uint(out, i, 4);
		output_uint(out, cache->words[i], 8);
	}
}

static void put_core(struct output *out, const struct machine_replay *replay,
		     unsigned core)
{
	const struct machine_stream *stream = &replay->streams[core];
	struct reg_file regs;

	board_core_registers(replay->board, core, &regs);
	output_bytes(out, regs.bytes,
		     recording_reg_table(replay->recording)->bytes);
	output_varint(out, stream->taken);
	output_varint(out, stream->has_next);
	output_varint(out, stream->has_next ? stream->next_time : 0);
	output_varint(out, (uint64_t)(stream->reads.in.at -
				      stream->read_bytes));
	output_varint(out, stream->reads.hits);
	output_varint(out, stream->reads.misses);
	output_varint(out, stream->reads.is_near);
	put_words(out, &stream->cache);
}

static void put_pages(struct output *out, const struct machine_replay *replay)
{
	size_t count;
	const struct board_write *writes = board_writes(replay->board, &count);

	output_varint(out, count);
	for (size_t i = 0; i < count; i++)
		output_uint(out, writes[i].page, PAGE_NUMBER_SIZE);
	for (size_t i = 0; i < count; i++)
		output_bytes(out, board_bytes(replay->board,
					      writes[i].page
						      << GUEST_PAGE_SHIFT,
					      GUEST_PAGE), GUEST_PAGE);
}

int machine_stored_encode(struct machine_replay *replay,
			  struct segment_position *at, struct output *out,
			  struct failure *why)
{
	size_t pages;

	(void)why;
	board_writes(replay->board, &pages);
	if (!replay->has_segment || pages > PAGES_MOST)
		return 0;
	*at = (struct segment_position){
		replay->segment, board_steps(replay->board), replay->events,
	};
	output_varint(out, at->time);
	output_varint(out, at->events);
	output_varint(out, replay->stop);
	output_varint(out, replay->slice);
	output_varint(out, board_core(replay->board));
	output_varint(out, board_cores(replay->board));
	for (unsigned i = 0; i < board_cores(replay->board); i++)
		put_core(out, replay, i);
	put_pages(out, replay);
	return 0;
}

static int take_core(struct stored_core *out, const struct reg_table *regs,
		     struct input *in)
{
	const uint8_t *bytes = input_bytes(in, regs->bytes);

	if (bytes)
		memcpy(out->regs.bytes, bytes, regs->bytes);
	out->taken = input_varint(in);
	out->has_next = input_count(in, 1);
	out->next_time = input_varint(in);
	out->offset = input_varint(in);
	out->hits = input_varint(in);
	out->misses = input_varint(in);
	out->is_near = input_count(in, 1);
	out->word_count = input_count(in, SIZE_MAX / WORD_SIZE);
	out->words = input_bytes(in, out->word_count * WORD_SIZE);
	return in->error;
}

static int take_state(struct stored_state *out,
		      const struct machine_replay *replay, struct input *in)
{
	out->time = input_varint(in);
	out->events = (uint32_t)input_count(in, EVENTS_ALL);
	out->stop = (enum board_stop)input_count(in, BOARD_AT_BREAK);
	out->slice = input_varint(in);
	out->core_count = board_cores(replay->board);
	out->core = (unsigned)input_count(in, out->core_count - 1);
	if (input_varint(in) != out->core_count && !in->error)
		return ERR_CORRUPT;
	for (unsigned i = 0; i < out->core_count && !in->error; i++)
		take_core(&out->cores[i],
			  recording_reg_table(replay->recording), in);
	out->page_count = input_count(in, PAGES_MOST);
	out->pages = input_bytes(in, out->page_count * PAGE_NUMBER_SIZE);
	out->contents = input_bytes(in, out->page_count * GUEST_PAGE);
	return in->error || !input_left(in) ? in->error : ERR_CORRUPT;
}

/* ------- starting there ------- */

/* Words that the record has are the only ones that are not 0. */
static int fill_cache(struct cache *cache, const struct stored_core *core)
{
	struct input in = { core->words,
			    core->words + core->word_count * WORD_SIZE, 0 };

	memset(cache->words, 0, cache->entries * sizeof(*cache->words));
	for (size_t i = 0; i < core->word_count; i++) {
		uint64_t entry = input_uint(&in, 4);
		uint64_t word = input_uint(&in, 8);

		if (entry >= cache->entries)
			return ERR_CORRUPT;
		cache->words[entry] = word;
	}
	return in.error;
}

/* The stream stands at the key frame. */
static int follow(struct machine_stream *stream, const struct stored_core *core,
		  struct failure *why)
{
	int rc = 1;

	while (rc > 0 && stream->taken < core->taken) {
		rc = packet_stream_next(&stream->packets, &stream->next, why);
		stream->taken += rc > 0;
	}
	if (rc < 0)
		return rc;
	stream->has_next = core->has_next;
	stream->next_time = core->next_time;
	if (stream->taken != core->taken ||
	    (core->has_next && !packet_is_event(stream->next.kind)) ||
	    core->offset > (uint64_t)(stream->reads.in.end -
				      stream->read_bytes))
		return ERR_CORRUPT;
	stream->reads.in.at = stream->read_bytes + core->offset;
	stream->reads.hits = core->hits;
	stream->reads.misses = core->misses;
	stream->reads.is_near = core->is_near;
	return fill_cache(&stream->cache, core);
}

static int fill_pages(struct machine_replay *replay,
		      const struct stored_state *state)
{
	struct input in = { state->pages, state->pages +
			    state->page_count * PAGE_NUMBER_SIZE, 0 };

	for (size_t i = 0; i < state->page_count; i++) {
		uint64_t page = input_uint(&in, PAGE_NUMBER_SIZE);

		if (page >= GUEST_PAGES ||
		    !board_bytes(replay->board, page << GUEST_PAGE_SHIFT,
				 GUEST_PAGE))
			return ERR_CORRUPT;
		board_store(replay->board, page << GUEST_PAGE_SHIFT,
			    state->contents + i * GUEST_PAGE, GUEST_PAGE);
	}
	return in.error;
}

static int put_in(struct machine_replay *replay,
		  const struct stored_state *state, struct failure *why)
{
	int rc = fill_pages(replay, state);

	for (unsigned i = 0; i < state->core_count && !rc; i++)
		rc = follow(&replay->streams[i], &state->cores[i], why);
	if (rc)
		return rc;
	board_switch(replay->board, state->core);
	for (unsigned i = 0; i < state->core_count; i++)
		if (i != state->core)
			board_set_core_registers(replay->board, i,
						 &state->cores[i].regs);
	board_set_registers(replay->board, &state->cores[state->core].regs);
	board_set_steps(replay->board, state->time);
	replay->slice = state->slice;
	replay->stop = state->stop;
	replay->events = state->events;
	return 0;
}

/* The nearest one: of the side file, or in memory; or neither. */
struct found {
	const struct side_record *record;
	struct checkpoint *point;
	uint64_t place;		/* as stored_point_place() */
};

/* That is nearer than all of machine_points.c. */
static bool find(struct found *out, const struct machine_replay *replay,
		 const struct segment_position *to)
{
	struct replayer *rep = replay->rep;
	uint64_t here;

	*out = (struct found){ 0 };
	if (!rep)
		return false;
	out->record = points_find_stored(rep, to);
	if (!out->record)
		out->point = points_find(rep, to);
	if (out->record)
		out->place = out->record->place;
	else if (out->point)
		out->place = stored_point_place(rep, &out->point->at);
	else
		return false;
	return !machine_points_time(replay, to, &here) ||
	       here - recording_time(replay->recording, to->segment) <
		       out->place >> STORED_EVENTS_BITS;
}

bool machine_stored_is_nearer(const struct machine_replay *replay,
			      const struct segment_position *to)
{
	struct found found;

	return replay->rep && !replay->rep->observer_count &&
	       to->segment == replay->segment && find(&found, replay, to) &&
	       board_steps(replay->board) -
			       recording_time(replay->recording, to->segment) <
		       found.place >> STORED_EVENTS_BITS;
}

/* Whether a state is that of the place where it was found. */
static bool is_of(const struct found *found, const struct stored_state *state,
		  const struct machine_replay *replay, size_t segment)
{
	const struct segment_position at = { segment, state->time,
					     state->events };

	return state->time >= recording_time(replay->recording, segment) &&
	       state->time <= recording_time(replay->recording, segment + 1) &&
	       stored_point_place(replay->rep, &at) == found->place;
}

/* `bytes` has those of a record. */
static bool read_found(struct input *out, const struct found *found,
		       const struct machine_replay *replay,
		       struct output *bytes)
{
	struct points *points = &replay->rep->points;

	if (found->point) {
		found->point->used = ++points->uses;
		*out = (struct input) {
			found->point->encoded,
			found->point->encoded + found->point->encoded_size, 0,
		};
		return true;
	}
	if (!side_file_read(points->side, found->record, bytes))
		return false;
	*out = (struct input){ bytes->bytes, bytes->bytes + bytes->size, 0 };
	return true;
}

bool machine_stored_start(struct machine_replay *replay,
			  const struct segment_position *to, int *rc,
			  struct failure *why)
{
	struct stored_state *state = NULL;
	struct output bytes = { 0 };
	struct found found;
	struct input in;
	bool is_good = false;

	if (find(&found, replay, to) && read_found(&in, &found, replay, &bytes))
		state = calloc(1, sizeof(*state));
	if (state)
		is_good = !take_state(state, replay, &in) &&
			  is_of(&found, state, replay, to->segment);
	if (is_good)
		*rc = machine_start_at(replay, to->segment, why);
	/* One that is damaged is as if it were not there. */
	if (is_good && !*rc)
		is_good = !put_in(replay, state, why);
	free(state);
	output_release(&bytes);
	return is_good;
}
