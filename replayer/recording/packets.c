/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packets.c - see packets.h */
#include "replayer/recording/packets.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "formats/error.h"
#include "replayer/recording/position.h"
#include "replayer/recording/segments_internal.h"
#include "replayer/recording/streams_internal.h"

/* ------- one stream ------- */

/* The newest doubt that packets of the stream are coded against at first. */
static int first_doubt(struct recording *recording, size_t segment,
		       uint32_t stream, uint64_t *doubt, struct failure *why)
{
	const struct stream_part *part =
		recording_part(recording, segment, stream);
	struct key_frame frame;
	int rc;

	if (part && part->key_frame != NO_CHUNK)
		rc = recording_frame_in(recording, part->key_frame, &frame,
					why);
	else
		rc = recording_key_frame(recording, segment, &frame, why);
	if (rc)
		return rc;
	*doubt = frame.doubt;
	key_frame_release(&frame);
	return 0;
}

int packet_stream_open(struct packet_stream *out, struct recording *recording,
		       size_t segment, uint32_t stream,
		       const struct key_frame *frame, struct failure *why)
{
	size_t size;
	int rc;

	*out = (struct packet_stream) {
		.path = trace_reader_path(recording->reader),
		.segment = segment,
		.stream = stream,
		.is_cut = recording_is_cut(recording, segment),
		.last_page = recording->pages.last,
	};
	rc = recording_stream(recording, segment, stream, CHUNK_EVENTS,
			      &out->bytes, &size, why);
	if (rc)
		return rc;
	out->in = (struct input) { out->bytes, out->bytes + size, 0 };
	if (frame)
		out->state.doubt = frame->doubt;
	else if (size)
		rc = first_doubt(recording, segment, stream,
				 &out->state.doubt, why);
	if (rc)
		packet_stream_close(out);
	return rc;
}

/* Whether the page that a packet names was lost with the end of the file. */
static bool is_lost(const struct packet_stream *packets,
		    const struct packet *packet)
{
	return packets->is_cut && (packet->kind == PACKET_TOUCH ||
				   packet->kind == PACKET_SEEN_PAGE ||
				   packet->kind == PACKET_STORED) &&
	       packet->source == TOUCH_STORED &&
	       packet->page_id > packets->last_page;
}

int packet_stream_next(struct packet_stream *packets, struct packet *out,
		       struct failure *why)
{
	int rc;

	if (!input_left(&packets->in))
		return 0;
	rc = packet_decode(&packets->in, &packets->state, out);
	if (rc)
		return packet_stream_damaged(packets, rc, why);
	return !is_lost(packets, out);
}

int packet_stream_damaged(const struct packet_stream *packets, int code,
			  struct failure *why)
{
	if (code == ERR_NO_MEMORY)
		return failed(why, code, "out of memory");
	if (packets->is_cut)
		return 0;
	return failed(why, code,
		      "'%s': the events of stream %" PRIu32 " in segment %zu "
		      "are damaged before byte %zu",
		      packets->path, packets->stream, packets->segment,
		      (size_t)(packets->in.at - packets->bytes));
}

void packet_stream_close(struct packet_stream *packets)
{
	free(packets->bytes);
	packets->bytes = NULL;
}

/* ------- slices ------- */

static int follow(struct slices *slices, struct packet_stream *packets,
		  bool is_first, struct failure *why)
{
	struct stream_clock clock;
	int rc = slices_begin(slices, &clock, packets->stream, is_first);

	if (rc)
		return failed(why, rc, "out of memory");
	for (;;) {
		struct packet packet;
		int more = packet_stream_next(packets, &packet, why);

		if (more <= 0)
			return more;
		rc = slices_follow(slices, &clock, &packet);
		if (rc)
			return packet_stream_damaged(packets, rc, why);
	}
}

int recording_order_slices(struct recording *recording, size_t segment,
			   struct slices *slices, struct failure *why)
{
	int rc = slices_order(slices, recording_is_cut(recording, segment));

	if (rc == ERR_NO_MEMORY)
		return failed(why, rc, "out of memory");
	if (rc)
		return failed(why, rc,
			      "'%s': the slices of segment %zu are damaged",
			      trace_reader_path(recording->reader), segment);
	return 0;
}

int recording_read_slices(struct recording *recording, size_t segment,
			  struct slices *out, struct failure *why)
{
	size_t count;
	const uint32_t *streams = recording_streams(recording, segment, &count);
	int rc = 0;

	*out = (struct slices) { 0 };
	for (size_t i = 0; i < count && !rc; i++) {
		struct packet_stream packets;

		rc = packet_stream_open(&packets, recording, segment,
					streams[i], NULL, why);
		if (rc)
			break;
		rc = follow(out, &packets, i == 0, why);
		packet_stream_close(&packets);
	}
	if (!rc)
		rc = recording_order_slices(recording, segment, out, why);
	if (rc)
		slices_release(out);
	return rc;
}

/* ------- all streams ------- */

/* One stream among the others. */
struct walked {
	struct packet_stream packets;
	struct packet packet;	/* comes next, if `has_packet` */
	bool has_packet;
	uint64_t time;		/* since the start of the segment */
};

struct walk {
	struct walked *list;	/* as recording_streams() */
	size_t count;
	uint32_t *position;	/* of a stream in the list */
	packet_visit *visit;
	void *context;
	uint64_t start;
	uint64_t time;		/* since the start, of the newest event */
	uint32_t events;	/* at that time, as positions count them */
};

static int take(struct walked *walked, struct failure *why)
{
	int more = packet_stream_next(&walked->packets, &walked->packet, why);

	walked->has_packet = more > 0;
	return more < 0 ? more : 0;
}

/* The times of all events never fall. */
static void count_event(struct walk *walk, uint64_t time,
			enum packet_kind kind)
{
	if (time != walk->time)
		walk->events = 0;
	walk->time = time;
	walk->events += position_counts(kind);
}

/* The packets of one slice, which ends where the stream has the next one. */
static int walk_slice(struct walk *walk, struct walked *walked,
		      const struct slice *slice, struct failure *why)
{
	struct packet_place place = {
		.stream = slice->stream, .slice = slice->number,
	};
	enum packet_kind event = PACKET_SYSCALL;
	bool is_begun = slice->number == 0;
	int rc = 0;

	while (walked->has_packet && !rc) {
		const struct packet *packet = &walked->packet;

		if (packet->kind == PACKET_SLICE && is_begun)
			break;
		is_begun = true;
		if (packet->kind == PACKET_SLICE)
			walked->time += packet->skipped;
		if (packet_is_event(packet->kind)) {
			walked->time += packet->steps;
			event = packet->kind;
			count_event(walk, walked->time, event);
		}
		place.is_told = packet_is_told(event, packet->kind);
		place.time = walk->start + walked->time;
		place.events = walk->events;
		rc = walk->visit(walk->context, &place, packet);
		if (!rc)
			rc = take(walked, why);
	}
	return rc;
}

static int open_all(struct walk *walk, struct recording *recording,
		    size_t segment, struct failure *why)
{
	size_t count;
	const uint32_t *streams = recording_streams(recording, segment, &count);
	int rc = 0;

	walk->list = calloc(count, sizeof(*walk->list));
	walk->position = calloc(recording_threads(recording),
				sizeof(*walk->position));
	if (!walk->list || !walk->position)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	for (size_t i = 0; i < count && !rc; i++) {
		rc = packet_stream_open(&walk->list[i].packets, recording,
					segment, streams[i], NULL, why);
		if (rc)
			break;
		walk->count++;
		walk->position[streams[i]] = (uint32_t)i;
		rc = take(&walk->list[i], why);
	}
	return rc;
}

static int walk_slices(struct walk *walk, const struct slices *slices,
		       struct failure *why)
{
	int rc = 0;

	for (size_t i = 0; i < slices->count && !rc; i++) {
		uint32_t at = walk->position[slices->list[i].stream];

		rc = walk_slice(walk, &walk->list[at], &slices->list[i], why);
	}
	return rc;
}

int recording_each_packet(struct recording *recording, size_t segment,
			  packet_visit *visit, void *context,
			  struct failure *why)
{
	struct walk walk = {
		.visit = visit, .context = context,
		.start = recording_time(recording, segment),
	};
	struct slices slices;
	int rc = recording_read_slices(recording, segment, &slices, why);

	if (rc)
		return rc;
	rc = open_all(&walk, recording, segment, why);
	if (!rc)
		rc = walk_slices(&walk, &slices, why);
	for (size_t i = 0; i < walk.count; i++)
		packet_stream_close(&walk.list[i].packets);
	free(walk.list);
	free(walk.position);
	slices_release(&slices);
	return rc;
}
