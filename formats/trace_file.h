/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_file.h - the container: a header, chunks, a footer
 *
 * A recording is one append-only file (formats/trace-format.md is normative).
 * The writer takes whole chunks, compresses and writes them on a thread of
 * its own, in the order given.  The reader finds every whole chunk: through
 * the footer, or by walking the file when the recorder was killed or the
 * footer is damaged.
 *
 * Units:      sizes and offsets are bytes; segments and pages count from 0.
 * Ownership:  trace_writer_chunk() copies; the `struct output` variant takes
 *             the bytes over.  trace_chunk() results belong to the caller
 *             (free()).
 * Errors:     ERR_SYSTEM, ERR_TRUNCATED, ERR_CORRUPT, ERR_CHECKSUM,
 *             ERR_VERSION, ERR_NO_MEMORY.  The writer's error is sticky: what
 *             its thread met is returned by the next call.
 * Threads:    one caller per writer.  A reader may be used by several threads
 *             at once: it keeps no position.
 */
#ifndef CPREC_FORMATS_TRACE_FILE_H
#define CPREC_FORMATS_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/bytes.h"

struct failure;

#define TRACE_VERSION 9
#define TRACE_CHUNK_MAX (64u << 20)	/* content of one chunk, uncompressed */

/* Written to disk. */
enum chunk_kind {
	CHUNK_META = 1,		/* program, machine, options: meta.h */
	CHUNK_KEY_FRAME = 2,	/* starts a segment: key_frame.h */
	CHUNK_EVENTS = 3,	/* a thread's packets: packet.h */
	CHUNK_READS = 4,	/* a thread's read packets: cache/prediction.h */
	CHUNK_PAGES = 5,	/* contents of pages, or patches: page_items.h */
	CHUNK_INDEX = 6,	/* pages a segment touched: key_frame.h */
	CHUNK_SYMBOLS = 7,	/* of one module: symbols.h */
	CHUNK_SUMMARY = 8,	/* totals and how the program ended: meta.h */
	CHUNK_FOOTER = 9,	/* table of all chunks */
	CHUNK_MEMBER = 10,	/* another process, whose pages are named: member.h */

	/* Readers may do without these. */
	CHUNK_PROGRAM = 129,	/* what the process became by exec: meta.h */
	CHUNK_SNAPSHOT = 130,	/* all pages at a key frame: key_frame.h */
	CHUNK_SYMBOLS_AT = 131,	/* where another process has them: member.h */
	CHUNK_MOMENTS = 132,	/* what the clock said: moments.h */
	CHUNK_MODULE_FILES = 133,	/* builds, kept files: module_files.h */
	CHUNK_PIECE = 134,	/* bytes of a kept file */
	CHUNK_DEVICES = 135,	/* of a machine, at a key frame */
	CHUNK_DISK = 136,	/* blocks that were written until then, as pages:
				   key_frame.h */
	CHUNK_MODULE_SUMS = 137,	/* what files of modules had: module_sums.h */
};

#define CHUNK_KINDS (CHUNK_MODULE_SUMS + 1)	/* numbers go up to that */

/*
 * Written to disk: what a reader must know to read the file at all.  Only
 * files that use a feature have its bit; a file that has one that is not in
 * FEATURES_KNOWN is refused.
 */
enum trace_feature {
	FEATURE_PARALLEL = 1,	/* threads that run at once: SEQUENCE packets */
	FEATURE_DEVICES = 2,	/* interrupts and devices */
	FEATURE_PHYSICAL = 4,	/* addresses are physical ones */
	FEATURE_RING = 8,	/* a generation of a ring */
	FEATURE_MEMBERS = 16,	/* pages that other processes have stored */
	FEATURE_CORES = 32,	/* machines with several processors */
};

#define FEATURES_KNOWN                                                         \
	(FEATURE_MEMBERS | FEATURES_OF_MACHINES | FEATURE_CORES)

/* What recordings of machines have, and no others. */
#define FEATURES_OF_MACHINES (FEATURE_DEVICES | FEATURE_PHYSICAL)

/* What the header says of the recording. */
struct trace_header {
	uint32_t version;	/* of the format; what is written has the newest */
	uint32_t arch;		/* enum arch */
	uint32_t features;	/* enum trace_feature */
	uint8_t id[16];		/* random; ties files of one recording together */
};

struct chunk_info {
	enum chunk_kind kind;
	uint32_t stream;	/* thread number, 0 for what has no thread;
				   CHUNK_PAGES: how many */
	uint32_t segment;
	uint64_t offset;	/* of the chunk's header in the file */
	uint32_t stored_size;	/* as in the file */
	uint32_t size;		/* of the content */
	uint64_t first;		/* CHUNK_PAGES: id of the first page;
				   CHUNK_KEY_FRAME, CHUNK_PROGRAM: its time;
				   CHUNK_MEMBER: its number; CHUNK_PIECE: that
				   of its file; else 0 */
};

struct trace_writer;

/* The name that its thread has on the host. */
#define TRACE_THREAD_NAME "cprec writer"

/*
 * Creates `path`, which must not exist (the caller has moved an old one
 * aside).  `level` is the compressor's, 1 to 19.
 */
int trace_writer_open(struct trace_writer **out, const char *path,
		      const struct trace_header *header, int level,
		      struct failure *why);

/*
 * The same with a file that is open for writing, and empty; `path` is its name.
 * The writer takes the descriptor over; if it fails, the file stays.
 */
int trace_writer_start(struct trace_writer **out, int fd, const char *path,
		       const struct trace_header *header, int level,
		       struct failure *why);

/*
 * Gives the writer's descriptor another number: `move` takes it and returns
 * the new one, or a negative error.  Only before the first chunk.
 */
int trace_writer_move(struct trace_writer *writer, int (*move)(int fd),
		      struct failure *why);

/*
 * Queues one chunk.  Takes the bytes of `content` over and leaves it empty.
 * Blocks while more than a fixed amount is waiting to be written.
 */
int trace_writer_chunk(struct trace_writer *writer, enum chunk_kind kind,
		       uint32_t stream, uint32_t segment, uint64_t first,
		       struct output *content, struct failure *why);

/* Waits until all is written that was queued. */
int trace_writer_wait(struct trace_writer *writer, struct failure *why);

/*
 * The same, with a note, which the writer takes over, and frees: `written` is
 * told of it, by the writer's thread, once the chunk is in the file.
 */
int trace_writer_noted(struct trace_writer *writer, enum chunk_kind kind,
		       uint32_t stream, uint32_t segment, uint64_t first,
		       struct output *content, void *note, struct failure *why);

/* Only before the first chunk. */
void trace_writer_watch(struct trace_writer *writer,
			void (*written)(void *context,
					const struct chunk_info *info,
					const void *note),
			void *context);

/* The same.  Another level is for the first so many bytes of content. */
void trace_writer_pack_first(struct trace_writer *writer, int level,
			     uint64_t bytes);

/*
 * Writes all that waits and ends the thread, as fork(2) requires; goes on
 * with a new one.  Between the two, only these, trace_writer_is_sound() and
 * trace_writer_close() may be called: the child of a fork closes the writer, which writes nothing.
 */
void trace_writer_pause(struct trace_writer *writer);
int trace_writer_resume(struct trace_writer *writer, struct failure *why);

/* While it is paused: whether all that was queued is in the file. */
bool trace_writer_is_sound(const struct trace_writer *writer);

/* Bytes in the file so far, by kind of chunk; for statistics. */
uint64_t trace_writer_bytes(struct trace_writer *writer, enum chunk_kind kind);

/* Waits until all is written, writes the footer and closes the file. */
int trace_writer_finish(struct trace_writer *writer, struct failure *why);

/* Ends a writer without a footer (finish does not free).  NULL is allowed. */
void trace_writer_close(struct trace_writer *writer);

struct trace_reader;

int trace_reader_open(struct trace_reader **out, const char *path,
		      struct failure *why);
void trace_reader_close(struct trace_reader *reader);

const char *trace_reader_path(const struct trace_reader *reader);
const struct trace_header *trace_reader_header(const struct trace_reader *r);
uint64_t trace_reader_size(const struct trace_reader *reader);

/* Whether all that was written is there; if not, the file ends early. */
bool trace_reader_is_complete(const struct trace_reader *reader);

/* Whether somebody was still writing the file when it was opened. */
bool trace_reader_is_growing(const struct trace_reader *reader);

/*
 * What is damaged though all chunks were found: a sentence that names the
 * file, or NULL.
 */
const char *trace_reader_note(const struct trace_reader *reader);

/* All whole chunks but the footer, in file order. */
size_t trace_reader_count(const struct trace_reader *reader);
const struct chunk_info *trace_reader_info(const struct trace_reader *reader,
					   size_t index);

/*
 * Reads, checks and unpacks one chunk.  `*out` has `info->size` bytes and is
 * the caller's to free().  The failure names the file, the offset and what
 * is wrong.
 */
int trace_reader_chunk(const struct trace_reader *reader, size_t index,
		       uint8_t **out, struct failure *why);

/* What unpacking needs, kept from chunk to chunk.  Zeroed, it is empty. */
struct unpacker {
	uint8_t *stored;
	size_t room;
	void *context;		/* the decompressor's */
};

/*
 * The same into memory of the caller, of `info->size` bytes.  Each thread
 * needs an unpacker of its own.
 */
int trace_reader_unpack(const struct trace_reader *reader, size_t index,
			struct unpacker *unpacker, uint8_t *to,
			struct failure *why);
void unpacker_release(struct unpacker *unpacker);

/*
 * Describes a structure that would not decode: "'FILE': key frame at byte
 * OFFSET is damaged (field)".  Returns `code`.
 */
int trace_reader_damaged(const struct trace_reader *reader, size_t index,
			 int code, const char *field, struct failure *why);

#endif
