/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_trace.h - the recording of a machine, while it is written
 *
 * A stream for each core, as of a program's threads.  Events come with the
 * steps that the machine has done, and are the present core's; their effects
 * follow them.
 *
 * Ownership:  machine_trace_close() frees; a zeroed structure is empty.
 * Errors:     ERR_SYSTEM, ERR_NO_MEMORY; what fails between two flushes is told
 *             by the next one.
 */
#ifndef CPREC_RECORDER_MACHINE_TRACE_H
#define CPREC_RECORDER_MACHINE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "cache/prediction.h"
#include "formats/packet.h"
#include "recorder/listing.h"
#include "recorder/machine.h"
#include "recorder/page_store.h"
#include "vm/board/board.h"

/* Steps are the core's own. */
struct machine_stream {
	struct cache cache;
	struct prediction_writer reads;
	struct output events;
	struct packet_state state;
	uint64_t steps;		/* when it last lost its turn */
	uint64_t start;		/* at the start of the segment */
	uint64_t event_steps;	/* at the event before */
	uint64_t skipped;	/* in the segment: what others had done */
	bool has_run;		/* in the segment */
};

struct machine_trace {
	const struct machine_options *options;
	struct trace_writer *writer;
	struct page_store pages;
	struct machine_stream streams[BOARD_CORES_MOST];
	unsigned stream_count, stream;	/* the present one; */
	unsigned flushed_in;	/* that of the last flush */
	uint64_t turn_start;	/* steps when its turn began */
	uint64_t slice;		/* number of the turn, in the segment */
	uint64_t dma_steps;	/* at the last DMA */

	bool started;		/* there is a segment */
	uint32_t segment;
	uint64_t start;		/* steps at its key frame */
	uint64_t flushed;	/* bytes of it that are in the file */
	struct timespec flush;	/* when that was */
	struct page_touch *touches;
	size_t touch_room;
	uint64_t listed;	/* pages in key frames since all were listed */
};

int machine_trace_open(struct machine_trace *trace,
		       const struct machine_options *options, unsigned cores,
		       struct failure *why);
void machine_trace_close(struct machine_trace *trace);

/* A device was read. */
void machine_trace_read(struct machine_trace *trace, uint64_t addr,
			uint64_t value, unsigned size);

/* `packet->steps` is filled in here. */
void machine_trace_event(struct machine_trace *trace, struct packet *packet,
			 uint64_t steps);

/* It is another core's turn. */
void machine_trace_turn(struct machine_trace *trace, unsigned core,
			uint64_t steps);

/* Its effect: a register has this value. */
void machine_trace_register(struct machine_trace *trace, unsigned reg,
			    uint64_t value);

/* Memory has these bytes; this page; was written to the console. */
void machine_trace_write(struct machine_trace *trace, uint64_t addr,
			 const uint8_t *bytes, uint64_t size);
int machine_trace_stored(struct machine_trace *trace, uint64_t addr,
			 const uint8_t *bytes, struct failure *why);
void machine_trace_output(struct machine_trace *trace, uint64_t addr,
			  uint64_t size);

/* Whether what waits is to be written now. */
bool machine_trace_is_due(const struct machine_trace *trace);
int machine_trace_flush(struct machine_trace *trace, const struct board *board,
			struct failure *why);

/*
 * A key frame, which ends the segment, if there is one, and starts another.
 * None stands where memory is changed: a time is one before all its events.
 */
bool machine_trace_ends_segment(const struct machine_trace *trace,
				uint64_t steps);
uint64_t machine_trace_segment_end(const struct machine_trace *trace);
int machine_trace_segment(struct machine_trace *trace, struct board *board,
			  const struct region *regions, size_t count,
			  struct failure *why);

/*
 * Behind a key frame: stored pages that blocks of a disk are, and with which
 * ids; the state of devices.
 */
int machine_trace_keep(struct machine_trace *trace, uint64_t block,
		       const uint8_t *bytes, uint64_t *id, struct failure *why);
int machine_trace_disk(struct machine_trace *trace, unsigned disk,
		       const struct page_ref *list, size_t count,
		       struct failure *why);
int machine_trace_devices(struct machine_trace *trace, struct output *state,
			  struct failure *why);

/* Behind the last key frame. */
int machine_trace_finish(struct machine_trace *trace,
			 const struct board *board, unsigned end,
			 struct failure *why);

#endif
