/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording_data.h - what a recording consists of
 *
 * Private to this room, whose files stand on each other like this:
 *
 *	recording		opens and closes
 *	end			where a recording that was cut short ends
 *	threads
 *	mapped
 *	thread_steps  positions
 *	event_times
 *	execs	stream_times	which stream is which thread; who ran when
 *	kept_parts
 *	program_list  packets  snapshots  clock  module_symbols  kept_files
 *	streams			parts of streams, by segment
 *	segments		key frames, indexes
 *	chunks			puts the chunks of the file in order
 *	members			files of other processes
 *	slices  position  page_versions  unpack_pages  stored_pages
 */
#ifndef CPREC_REPLAYER_RECORDING_RECORDING_DATA_H
#define CPREC_REPLAYER_RECORDING_RECORDING_DATA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/meta.h"
#include "formats/module_files.h"
#include "formats/module_sums.h"
#include "formats/moments.h"
#include "formats/trace_file.h"
#include "replayer/recording/members.h"
#include "replayer/recording/page_versions.h"
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
	bool knows_before;	/* `before` is recording_events_before() */
	uint32_t before;
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

/* When the clock on the wall said what, in the order of time. */
struct moments {
	bool is_read;
	struct moment *list;
	size_t count, room;
};

/* The events that positions count, of one segment: see event_times.h. */
struct event_time {
	uint64_t time;
	uint32_t stream;
};

struct event_times {
	size_t segment;
	bool is_asked;		/* for `segment`: when it is again, it is read */
	bool is_read;		/* `list` is of `segment`, */
	bool is_whole;		/* ... and all that it has */
	struct event_time *list;	/* in order */
	size_t count, room;
};

struct recording_program;

struct recording {
	struct trace_reader *reader;
	const struct reg_table *table;
	const atomic_bool *cancelled;	/* NULL: never */
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
	bool has_programs;	/* `programs` are what recording_programs() says */
	struct recording_program *programs;
	size_t program_count;

	bool has_execs; /* `execs` are what recording_execs() says */
	struct exec *execs;
	size_t exec_count;

	bool has_slices;
	size_t slices_segment;	/* that `slices` is of */
	struct slices slices;
	struct event_times event_times;

	struct members members;
	struct stored_pages pages;
	struct snapshot_place *snapshots;	/* sorted by segment */
	size_t snapshot_count, snapshot_room;
	struct page_versions versions;
	uint32_t last_moments;	/* the newest chunk of them; NO_CHUNK: none */
	struct moments moments;
	bool has_modules;	/* `modules` are what recording_modules() says */
	struct module_list modules;
	bool has_sums;		/* the same of recording_module_sum() */
	struct module_sums sums;
};

#endif
