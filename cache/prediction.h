/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prediction.h - read packets: what the cache did not predict
 *
 * Both sides show the same observations (address, size) in the same order.
 * The recorder gives the bytes and gets a read stream; the replayer gives the
 * read stream and gets the bytes.  An observation is cut at word borders;
 * each piece is a hit (equal to the same bytes of its cache entry) or a miss.
 *
 * Read stream: repeated { varint hits, varint misses (at least 1), the bytes
 * of the missed pieces }, or, where all missed pieces are words not far from
 * their entries (counters are), { varint hits, 0, varint misses, for each the
 * signed varint of its difference from the entry }.  Hits after the last miss
 * are not written: where the stream ends, all is predicted.
 *
 * Source: US 7,620,938 B2: hit counts between unpredicted reads.
 *
 * Units:      sizes are bytes; hits and misses count pieces.
 * Ownership:  a recording side owns its output until it is taken.
 * Errors:     ERR_TRUNCATED, ERR_CORRUPT, ERR_NO_MEMORY.
 */
#ifndef CPREC_CACHE_PREDICTION_H
#define CPREC_CACHE_PREDICTION_H

#include "cache/cache.h"
#include "formats/bytes.h"

/* The recorder's side. */
struct prediction_writer {
	struct cache *cache;
	struct output stream;	/* finished runs */
	struct output missed;	/* bytes of the run under way */
	struct output moved;	/* the same, coded as differences ... */
	int64_t excess;		/* ... and by how many bytes they are too long
				   to be worth it; see NEAR */
	uint64_t hits;		/* before the run under way */
	uint64_t misses;	/* in the run under way */
	uint64_t total_hits, total_misses;
};

void prediction_writer_init(struct prediction_writer *writer,
			    struct cache *cache);
void prediction_writer_release(struct prediction_writer *writer);

/* Shows `size` bytes at guest address `addr`. */
void prediction_record(struct prediction_writer *writer, uint64_t addr,
		       const void *bytes, size_t size);

/*
 * How many of the pieces of such an observation would hit; changes nothing.
 */
size_t prediction_would_hit(const struct prediction_writer *writer,
			    uint64_t addr, const void *bytes, size_t size);

/* How many bytes wait to be taken, with the run under way. */
static inline size_t prediction_waiting(const struct prediction_writer *writer)
{
	return writer->stream.size + writer->missed.size;
}

/*
 * Writes the run under way, so that writer->stream can be taken (and cleared)
 * by the caller; what follows continues it.
 */
void prediction_cut(struct prediction_writer *writer);

/* The same at the end of a segment: the next hits are counted from 0. */
void prediction_finish(struct prediction_writer *writer);

/* The replayer's side. */
struct prediction_reader {
	struct cache *cache;
	struct input in;
	uint64_t hits;		/* still to come before the next miss */
	uint64_t misses;	/* still to come in this run */
	bool is_near;		/* as differences */
};

/* Starts on the read stream of one segment, which is borrowed. */
void prediction_reader_init(struct prediction_reader *reader,
			    struct cache *cache, const uint8_t *stream,
			    size_t size);

/* Finds out `size` bytes at guest address `addr`. */
int prediction_replay(struct prediction_reader *reader, uint64_t addr,
		      void *bytes, size_t size);

#endif
