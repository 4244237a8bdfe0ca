/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording_internal.h - what a recording consists of, for its own files
 *
 * chunks.c puts the chunks in order; recording.c reads them; threads.c knows
 * who ran when and thread_steps.c how far, programs.c what they executed,
 * execs.c what became of them then.
 */
#ifndef CPREC_REPLAYER_RECORDING_RECORDING_INTERNAL_H
#define CPREC_REPLAYER_RECORDING_RECORDING_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replayer/recording/page_versions.h"
#include "replayer/recording/recording.h"
#include "replayer/recording/slices.h"
#include "replayer/recording/stored_pages.h"

#define NO_CHUNK UINT32_MAX

/* The chunks of one kind of a stream in a segment, by recording->next_part. */
struct parts {
	uint32_t first, last;
};

/* One stream in one segment. */
struct stream_part {
	uint32_t stream;
	uint32_t key_frame;	/* chunk; NO_CHUNK if it has none here */
	uint32_t newest;	/* its newest key frame, of here or before */
	struct parts events, reads;
};

struct segment {
	uint64_t time;		/* of its first key frame */
	uint32_t index;		/* chunk */
	struct stream_part *parts;	/* the first one starts the segment */
	uint32_t *streams;	/* the same, only the streams */
	size_t part_count, part_room;
};

/* Where a stream has something: which part of which segment. */
struct part_place {
	uint32_t segment, part;
};

struct thread {
	struct part_place *places;	/* sorted by segment */
	size_t place_count, place_room;
	bool has_tid;
	uint32_t tid;
};

/* All pages as of the first key frame of a segment are in a chunk. */
struct snapshot_place {
	uint32_t segment, chunk;
};

/* A program is executed in a stream, whose next instruction is its first. */
struct exec {
	uint64_t time;
	uint32_t stream;
};

struct recording {
	struct trace_reader *reader;
	const struct reg_table *table;
	struct meta meta;
	bool has_summary;
	struct summary summary;
	uint64_t end;

	struct segment *segments;
	size_t segment_count, segment_room;
	struct thread *threads;		/* by stream */
	size_t thread_count, thread_room;
	uint32_t *next_part;	/* per chunk */

	uint32_t *program_chunks;
	size_t program_chunk_count, program_chunk_room;
	bool has_programs;	/* `programs` are what recording.h says */
	struct recording_program *programs;
	size_t program_count;

	bool has_execs; /* `execs` are what recording_execs() says */
	struct exec *execs;
	size_t exec_count;

	bool has_slices;
	size_t slices_segment;	/* that `slices` is of */
	struct slices slices;

	struct stored_pages pages;
	struct snapshot_place *snapshots;	/* sorted by segment */
	size_t snapshot_count, snapshot_room;
	struct page_versions versions;
};

/* Puts the chunks before `limit` in order. */
int recording_order(struct recording *recording, size_t limit,
		    struct failure *why);

/* Undoes it. */
void recording_forget(struct recording *recording);

/* The stream in a segment, or NULL if it has nothing there. */
const struct stream_part *recording_part(const struct recording *recording,
					 size_t segment, uint32_t stream);

/* Frees what recording_programs() gave. */
void recording_forget_programs(struct recording *recording);

/* The part at a place. */
const struct stream_part *recording_part_at(const struct recording *recording,
					    const struct part_place *place);

/* The slices of a segment, the last one up to the segment's end; kept. */
int recording_slices(struct recording *recording, size_t segment,
		     const struct slices **out, struct failure *why);

/* Steps in a stream before time `t`, whichever thread it performs. */
int recording_stream_steps(struct recording *recording, uint32_t stream,
			   uint64_t t, uint64_t *steps, struct failure *why);

/* The execs of a process that had several threads, by time. */
const struct exec *recording_execs(struct recording *recording, size_t *count);

/*
 * Whether an exec ends the thread, and when: another one's, or its own, from
 * which on it is thread 0.
 */
bool recording_exec_ends(struct recording *recording, uint32_t thread,
			 uint64_t *time);

/* Decodes the key frame in a chunk. */
int recording_frame_in(struct recording *recording, uint32_t chunk,
		       struct key_frame *out, struct failure *why);

/* Describes what is wrong with a chunk. */
int recording_damaged(const struct recording *recording, uint32_t chunk,
		      int code, const char *field, struct failure *why);

#endif
