/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fine.c - see fine.h */
#include "replayer/session/fine.h"

#include <stdlib.h>

#include "formats/array.h"
#include "formats/error.h"
#include "formats/family_path.h"
#include "formats/registers.h"
#include "vm/memory/memory.h"

/* Lines that are kept unpacked take no more; those of sort, 10 MB a segment. */
#define KEPT_MOST (UINT64_C(64) << 20)

/*
 * Lines of a segment are told in less detail where they would take more of the
 * side file than so much for each instruction, or a part of what the recording
 * takes, whichever is larger: writes and reads together make half the
 * recording's size, or 0.05 bit.  Short segments have some bytes anyhow.
 */
#define INSTRUCTIONS_PER_BYTE 400u
#define PART_OF_RECORDING 5u
#define BYTES_ANYHOW 512u

/* What one record says, unpacked. */
struct fine_part {
	enum side_kind kind;
	size_t segment;
	uint64_t used;
	struct line_set lines;		/* if it is of lines, ... */
	struct table_changes tables;	/* ... or this */
};

static size_t size_of(const struct fine_part *part)
{
	return line_set_size(&part->lines) + table_changes_size(&part->tables);
}

static void release(struct fine_part *part)
{
	line_set_release(&part->lines);
	table_changes_release(&part->tables);
}

static int decode(struct fine_part *part, const struct output *bytes)
{
	return part->kind == SIDE_TABLES ?
		       table_changes_decode(&part->tables, bytes->bytes,
					    bytes->size) :
		       line_set_decode(&part->lines, bytes->bytes,
				       bytes->size);
}

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
		release(&fine->kept[i]);
	free(fine->kept);
	side_file_close(fine->side);
	output_release(&fine->bytes);
	*fine = (struct fine_index){ 0 };
}

static struct fine_part *find(struct fine_index *fine, enum side_kind kind,
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
	fine->size -= size_of(&fine->kept[oldest]);
	release(&fine->kept[oldest]);
	fine->kept[oldest] = fine->kept[--fine->count];
}

static int keep(struct fine_index *fine, const struct fine_part *part,
		struct fine_part **out)
{
	while (fine->count && fine->size > KEPT_MOST)
		drop_oldest(fine);
	if (array_room(fine->kept, fine->count, fine->room))
		return ERR_NO_MEMORY;
	fine->size += size_of(part);
	*out = &fine->kept[fine->count++];
	**out = *part;
	return 0;
}

/* From the side file; `*out` stays NULL if it is not there. */
static int load(struct fine_index *fine, enum side_kind kind, size_t segment,
		struct fine_part **out, struct failure *why)
{
	struct fine_part part = { .kind = kind, .segment = segment };
	const struct side_record *record;
	struct side_file *side;
	int rc = fine_side(fine, &side, why);

	if (rc)
		return rc;
	record = side_file_find(side, kind, segment, 0);
	output_clear(&fine->bytes);
	if (!record || !side_file_read(side, record, &fine->bytes) ||
	    decode(&part, &fine->bytes))
		return 0;
	rc = keep(fine, &part, out);
	if (!rc)
		return 0;
	release(&part);
	return failed(why, rc, "out of memory");
}

static int find_part(struct fine_index *fine, enum side_kind kind,
		     size_t segment, struct fine_part **out,
		     struct failure *why)
{
	int rc = 0;

	*out = find(fine, kind, segment);
	if (!*out)
		rc = load(fine, kind, segment, out, why);
	if (!rc && *out)
		(*out)->used = ++fine->uses;
	return rc;
}

int fine_lines(struct fine_index *fine, enum side_kind kind, size_t segment,
	       const struct line_set **out, struct failure *why)
{
	struct fine_part *part;
	int rc = find_part(fine, kind, segment, &part, why);

	*out = !rc && part ? &part->lines : NULL;
	return rc;
}

int fine_tables(struct fine_index *fine, size_t segment,
		const struct table_changes **out, struct failure *why)
{
	struct fine_part *part;
	int rc = find_part(fine, SIDE_TABLES, segment, &part, why);

	*out = !rc && part ? &part->tables : NULL;
	return rc;
}

static bool has_tables(const struct fine_index *fine)
{
	return recording_reg_table(fine->recording)->arch ==
	       ARCH_AARCH64_MACHINE;
}

int fine_is_complete(struct fine_index *fine, size_t segment, bool *out,
		     struct failure *why)
{
	static const enum side_kind kinds[] = { SIDE_WRITES, SIDE_READS,
						SIDE_TABLES };
	size_t count = has_tables(fine) ? 3 : 2;
	int rc = 0;

	*out = true;
	for (size_t i = 0; i < count && *out && !rc; i++) {
		struct fine_part *part;

		rc = find_part(fine, kinds[i], segment, &part, why);
		*out = part;
	}
	return rc;
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
static void note_writes(struct fine_collector *collector,
			const struct replay_event *event)
{
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

static void note_tables(struct fine_collector *collector,
			const struct table_change *change,
			const struct reg_file *regs)
{
	const struct page_tables tables = page_tables_of(regs);

	table_changes_add(&collector->tables, change, &tables);
}

/* Behind an event. */
static void look_at_tables(struct fine_collector *collector)
{
	struct position now = replayer_now(collector->rep);
	uint32_t before = 0, core = replayer_stream(collector->rep);
	struct reg_file regs;
	int rc = replayer_thread_registers(collector->rep, core, &regs, NULL);

	if (!rc && now.time == collector->start)
		rc = recording_events_before(collector->fine->recording,
					     collector->segment, &before,
					     NULL);
	if (rc)
		collector->tables.error = rc;
	else
		note_tables(collector, &(struct table_change){
			.time = now.time - collector->start,
			.events = now.events - before, .core = core }, &regs);
}

static void on_tables(void *context, uint64_t time,
		      const struct page_tables *tables)
{
	struct fine_collector *collector = context;

	table_changes_add(&collector->tables,
			  &(struct table_change){
				  .time = time - collector->start,
				  .core = replayer_stream(collector->rep) },
			  tables);
}

/* Another core has its turn, or the machine was reset. */
static bool may_change_tables(const struct replay_event *event)
{
	return event->packet->kind == PACKET_SLICE ||
	       (event->packet->kind == PACKET_DMA && event->count &&
		replay_event_effect(event, 0)->kind == PACKET_REG);
}

static void on_event_done(void *context, const struct replay_event *event)
{
	struct fine_collector *collector = context;

	note_writes(collector, event);
	if (collector->has_tables && may_change_tables(event))
		look_at_tables(collector);
}

/* Those of all cores, at the segment's beginning. */
static int begin_tables(struct fine_collector *collector, struct failure *why)
{
	struct recording *recording = collector->fine->recording;
	size_t segment = collector->segment, count;
	uint32_t first = recording_streams(recording, segment, &count)[0];
	struct key_frame frame;
	int rc = 0;

	for (uint32_t i = 0; i < recording_threads(recording) && !rc; i++) {
		if (i == first)
			continue;
		rc = recording_thread_frame(recording, segment, i, &frame, why);
		if (rc)
			break;
		note_tables(collector, &(struct table_change){ .core = i },
			    &frame.regs);
		key_frame_release(&frame);
	}
	if (!rc)
		rc = recording_key_frame(recording, segment, &frame, why);
	if (rc)
		return rc;
	note_tables(collector, &(struct table_change){ .core = first },
		    &frame.regs);
	key_frame_release(&frame);
	return 0;
}

int fine_begin(struct fine_collector *collector, struct fine_index *fine,
	       struct replayer *rep, size_t segment, bool reads,
	       struct failure *why)
{
	struct recording *recording = fine->recording;
	uint64_t start = recording_time(recording, segment);
	unsigned shift =
		lines_shift(recording_time(recording, segment + 1) - start);
	int rc = 0;

	*collector = (struct fine_collector) {
		.fine = fine, .rep = rep, .segment = segment,
		.start = start, .reads = reads,
		.epochs = { start, shift },
		.has_tables = has_tables(fine),
		.written.shift = shift, .read.shift = shift,
		.observer = {
			.event_done = on_event_done, .tables = on_tables,
			.context = collector,
			.guest = {
				.accessed = on_accessed, .context = collector,
				.accesses = reads ? VM_ALL : VM_WRITES,
				.data = VM_EVERYWHERE,
				.epochs = &collector->epochs,
			},
		},
	};
	if (collector->has_tables)
		rc = begin_tables(collector, why);
	if (!rc)
		rc = replayer_observe(rep, &collector->observer, why);
	if (rc)
		table_changes_release(&collector->tables);
	return rc;
}

/* Returns how many bytes a segment's lines of one kind may take. */
static size_t most_bytes(const struct fine_collector *collector)
{
	struct recording *recording = collector->fine->recording;
	uint64_t length = recording_time(recording, collector->segment + 1) -
			  collector->start;
	uint64_t all = recording_end(recording) - recording_start(recording);
	double part = (double)trace_reader_size(recording_reader(recording)) /
		      PART_OF_RECORDING * (double)length / (double)all;
	uint64_t least = length / INSTRUCTIONS_PER_BYTE;

	if (least < BYTES_ANYHOW)
		least = BYTES_ANYHOW;
	return part > (double)least ? (size_t)part : least;
}

/* Adds what was encoded in `bytes` to the side file, as a record. */
static int add_record(struct fine_collector *collector, enum side_kind kind)
{
	struct fine_index *fine = collector->fine;

	return side_file_add(fine->side, kind, collector->segment, 0,
			     fine->bytes.bytes, fine->bytes.size) ?
		       0 : ERR_SYSTEM;
}

static int keep_lines(struct fine_collector *collector, enum side_kind kind,
		      struct lines_builder *builder)
{
	struct output *bytes = &collector->fine->bytes;
	int rc;

	output_clear(bytes);
	rc = lines_encode(bytes, builder, most_bytes(collector));
	return rc ? rc : add_record(collector, kind);
}

static int keep_tables(struct fine_collector *collector)
{
	struct output *bytes = &collector->fine->bytes;
	int rc;

	output_clear(bytes);
	rc = table_changes_encode(bytes, &collector->tables);
	return rc ? rc : add_record(collector, SIDE_TABLES);
}

static int keep_all(struct fine_collector *collector)
{
	int rc = keep_lines(collector, SIDE_WRITES, &collector->written);

	if (!rc && collector->reads)
		rc = keep_lines(collector, SIDE_READS, &collector->read);
	if (!rc && collector->has_tables)
		rc = keep_tables(collector);
	return rc;
}

int fine_end(struct fine_collector *collector, bool is_whole)
{
	int rc;

	replayer_unobserve(collector->rep, &collector->observer);
	rc = is_whole ? keep_all(collector) : 0;
	table_changes_release(&collector->tables);
	lines_release(&collector->written);
	lines_release(&collector->read);
	return rc;
}
