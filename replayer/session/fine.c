/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fine.c - see fine.h */
#include "replayer/session/fine.h"

#include <stdlib.h>

#include "formats/array.h"
#include "formats/error.h"
#include "formats/family_path.h"
#include "vm/memory/memory.h"

/* Lines that are kept unpacked take no more; those of sort, 10 MB a segment. */
#define KEPT_MOST (UINT64_C(64) << 20)

/*
 * What is kept takes at most so much of the side file for each instruction, or
 * a part of what the recording takes, whichever is larger: writes and reads
 * together make half the recording's size, or 0.05 bit.
 */
#define INSTRUCTIONS_PER_BYTE 400u
#define PART_OF_RECORDING 5u

struct fine_lines {
	enum side_kind kind;
	size_t segment;
	uint64_t used;
	struct line_set set;
};

/* ------- what is known ------- */

int fine_side(struct fine_index *fine, struct side_file **out,
	      struct failure *why)
{
	char *path;
	int rc;

	*out = fine->side;
	if (*out)
		return 0;
	path = family_side_file(trace_reader_path(recording_reader(
				       fine->recording)), NULL);
	if (!path)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = side_file_open(out, recording_meta(fine->recording), path, why);
	free(path);
	fine->side = *out;
	return rc;
}

void fine_release(struct fine_index *fine)
{
	for (size_t i = 0; i < fine->count; i++)
		line_set_release(&fine->kept[i].set);
	free(fine->kept);
	side_file_close(fine->side);
	output_release(&fine->bytes);
	*fine = (struct fine_index){ 0 };
}

static struct fine_lines *find(struct fine_index *fine, enum side_kind kind,
			       size_t segment)
{
	for (size_t i = 0; i < fine->count; i++)
		if (fine->kept[i].kind == kind &&
		    fine->kept[i].segment == segment)
			return &fine->kept[i];
	return NULL;
}

static void drop_oldest(struct fine_index *fine)
{
	size_t oldest = 0;

	for (size_t i = 1; i < fine->count; i++)
		if (fine->kept[i].used < fine->kept[oldest].used)
			oldest = i;
	fine->size -= line_set_size(&fine->kept[oldest].set);
	line_set_release(&fine->kept[oldest].set);
	fine->kept[oldest] = fine->kept[--fine->count];
}

static int keep(struct fine_index *fine, const struct fine_lines *lines,
		struct fine_lines **out)
{
	while (fine->count && fine->size > KEPT_MOST)
		drop_oldest(fine);
	if (array_room(fine->kept, fine->count, fine->room))
		return ERR_NO_MEMORY;
	fine->size += line_set_size(&lines->set);
	*out = &fine->kept[fine->count++];
	**out = *lines;
	return 0;
}

/* From the side file; `*out` stays NULL if it is not there. */
static int load(struct fine_index *fine, enum side_kind kind, size_t segment,
		struct fine_lines **out, struct failure *why)
{
	struct fine_lines lines = { .kind = kind, .segment = segment };
	const struct side_record *record;
	struct side_file *side;
	int rc = fine_side(fine, &side, why);

	if (rc)
		return rc;
	record = side_file_find(side, kind, segment, 0);
	output_clear(&fine->bytes);
	if (!record || !side_file_read(side, record, &fine->bytes) ||
	    line_set_decode(&lines.set, fine->bytes.bytes, fine->bytes.size))
		return 0;
	rc = keep(fine, &lines, out);
	if (!rc)
		return 0;
	line_set_release(&lines.set);
	return failed(why, rc, "out of memory");
}

int fine_lines(struct fine_index *fine, enum side_kind kind, size_t segment,
	       const struct line_set **out, struct failure *why)
{
	struct fine_lines *lines = find(fine, kind, segment);
	int rc = 0;

	*out = NULL;
	if (!lines)
		rc = load(fine, kind, segment, &lines, why);
	if (rc || !lines)
		return rc;
	lines->used = ++fine->uses;
	*out = &lines->set;
	return 0;
}

bool fine_is_wanted(struct fine_index *fine, enum side_kind kind, size_t segment)
{
	struct side_file *side;

	return !recording_is_cut(fine->recording, segment) &&
	       !fine_side(fine, &side, NULL) && side_file_may_add(side) &&
	       !side_file_find(side, kind, segment, 0);
}

/* ------- learning it ------- */

static void on_accessed(void *context, const struct vm_access_told *list,
			size_t count)
{
	struct fine_collector *collector = context;

	for (size_t i = 0; i < count; i++)
		lines_note(list[i].writes ? &collector->written :
					    &collector->read,
			   list[i].steps - collector->start, list[i].addr,
			   list[i].size);
}

/* What the kernel wrote; that pages become others is in the packets. */
static void on_event_done(void *context, const struct replay_event *event)
{
	struct fine_collector *collector = context;
	uint64_t time = replayer_time(collector->rep) - collector->start;

	for (size_t i = 0; i < event->count; i++) {
		const struct packet *effect = replay_event_effect(event, i);
		uint64_t size = effect->kind == PACKET_STORED ? GUEST_PAGE :
								effect->size;

		if ((effect->kind != PACKET_WRITE &&
		     effect->kind != PACKET_STORED) || !size)
			continue;
		lines_note(&collector->written, time, effect->addr, size);
		lines_note(&collector->written, time,
			   replayer_home(collector->rep, effect->addr), size);
	}
}

int fine_begin(struct fine_collector *collector, struct fine_index *fine,
	       struct replayer *rep, size_t segment, bool reads,
	       struct failure *why)
{
	struct recording *recording = fine->recording;
	uint64_t start = recording_time(recording, segment);
	unsigned shift =
		lines_shift(recording_time(recording, segment + 1) - start);

	*collector = (struct fine_collector) {
		.fine = fine, .rep = rep, .segment = segment,
		.start = start, .reads = reads,
		.written.shift = shift, .read.shift = shift,
		.observer = {
			.event_done = on_event_done, .context = collector,
			.guest = {
				.accessed = on_accessed, .context = collector,
				.accesses = reads ? VM_ALL : VM_WRITES,
				.data = VM_EVERYWHERE,
			},
		},
	};
	return replayer_observe(rep, &collector->observer, why);
}

/* What may be kept of a segment, of one kind. */
static size_t most_bytes(const struct fine_collector *collector)
{
	struct recording *recording = collector->fine->recording;
	uint64_t length = recording_time(recording, collector->segment + 1) -
			  collector->start;
	uint64_t all = recording_end(recording) - recording_start(recording);
	double part = (double)trace_reader_size(recording_reader(recording)) /
		      PART_OF_RECORDING * (double)length / (double)all;
	uint64_t least = length / INSTRUCTIONS_PER_BYTE;

	return part > (double)least ? (size_t)part : least;
}

static void keep_lines(struct fine_collector *collector, enum side_kind kind,
		       struct lines_builder *builder)
{
	struct fine_index *fine = collector->fine;

	output_clear(&fine->bytes);
	if (!lines_encode(&fine->bytes, builder, most_bytes(collector)) &&
	    fine->bytes.size)
		side_file_add(fine->side, kind, collector->segment, 0,
			      fine->bytes.bytes, fine->bytes.size);
}

void fine_end(struct fine_collector *collector, bool is_whole)
{
	replayer_unobserve(collector->rep, &collector->observer);
	if (is_whole)
		keep_lines(collector, SIDE_WRITES, &collector->written);
	if (is_whole && collector->reads)
		keep_lines(collector, SIDE_READS, &collector->read);
	lines_release(&collector->written);
	lines_release(&collector->read);
}
