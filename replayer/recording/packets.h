/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * packets.h - the packets of a recording, in the order in which they happened
 *
 * A packet_stream gives those of one thread in one segment;
 * recording_each_packet() gives those of all threads, slice by slice.  In the
 * last segment of a recording that was cut short both end where the packets
 * cannot be followed any more; that is no error.
 *
 * Units:      times are retired instructions of all threads.
 * Ownership:  packets borrow from their stream: packet_stream_close() ends it.
 * Errors:     those of recording.h and packet.h.
 */
#ifndef CPREC_REPLAYER_RECORDING_PACKETS_H
#define CPREC_REPLAYER_RECORDING_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/key_frame.h"
#include "formats/packet.h"
#include "replayer/recording/slices.h"

struct failure;
struct recording;

struct packet_stream {
	const char *path;	/* of the recording, for messages */
	size_t segment;
	uint32_t stream;
	uint8_t *bytes;
	struct input in;
	struct packet_state state;
	bool is_cut;		/* what cannot be followed is its end */
	uint64_t last_page;	/* is_cut: id of the last page that is there */
};

/*
 * A thread that has nothing in the segment has an empty stream.  `frame` is
 * the key frame that says the newest doubt; NULL if it is not at hand.
 */
int packet_stream_open(struct packet_stream *out, struct recording *recording,
		       size_t segment, uint32_t stream,
		       const struct key_frame *frame, struct failure *why);

/* Takes the next packet.  1, 0 at the end, or an error. */
int packet_stream_next(struct packet_stream *packets, struct packet *out,
		       struct failure *why);
void packet_stream_close(struct packet_stream *packets);

/* Says that a packet makes no sense, unless the recording was cut short. */
int packet_stream_damaged(const struct packet_stream *packets, int code,
			  struct failure *why);

/* Where a packet stands. */
struct packet_place {
	uint32_t stream;
	uint64_t slice;		/* number in the segment */
	uint64_t time;		/* of its event; of a TOUCH: of the event before,
				   or of the start of the segment */
	uint32_t events;	/* that positions count, at `time` in this
				   segment, its own included */
	bool is_told;		/* packet_is_told() */
};

/* A result other than 0 ends the visits and is returned. */
typedef int packet_visit(void *context, const struct packet_place *place,
			 const struct packet *packet);

int recording_each_packet(struct recording *recording, size_t segment,
			  packet_visit *visit, void *context,
			  struct failure *why);

/* slices_order() of slices that were followed through all of a segment. */
int recording_order_slices(struct recording *recording, size_t segment,
			   struct slices *slices, struct failure *why);

/* The turns of the threads in a segment; the caller's to release. */
int recording_read_slices(struct recording *recording, size_t segment,
			  struct slices *out, struct failure *why);

#endif
