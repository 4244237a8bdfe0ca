/* SPDX-License-Identifier: GPL-2.0-or-later */
/* index_build.c - see index_build.h */
#include "replayer/session/index_build.h"

#include <stdlib.h>

#include "formats/error.h"
#include "formats/family_path.h"
#include "replayer/replayer.h"
#include "replayer/session/fine.h"

struct index_builder {
	struct fine_index fine;		/* its side file is the one to fill */
	struct replayer *replayer;
};

static int open_side(struct side_file **out, struct recording *recording,
		     const char *part, struct failure *why)
{
	const struct trace_reader *reader = recording_reader(recording);
	char *path = family_side_file(trace_reader_path(reader), part);
	int rc;

	if (!path)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = side_file_open(out, recording_meta(recording), path, why);
	free(path);
	return rc;
}

int index_builder_create(struct index_builder **out,
			 struct recording *recording, const char *part,
			 struct failure *why)
{
	/* Of a machine, the index is of that. */
	const struct address_space physical = { .is_physical = true };
	struct index_builder *builder = calloc(1, sizeof(*builder));
	int rc;

	if (!builder)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	builder->fine.recording = recording;
	rc = open_side(&builder->fine.side, recording, part, why);
	if (!rc)
		rc = replayer_create(&builder->replayer, recording, why);
	if (rc) {
		index_builder_destroy(builder);
		return rc;
	}
	replayer_use_side_file(builder->replayer, builder->fine.side);
	replayer_use_space(builder->replayer, &physical);
	*out = builder;
	return 0;
}

void index_builder_destroy(struct index_builder *builder)
{
	if (!builder)
		return;
	replayer_destroy(builder->replayer);
	fine_release(&builder->fine);
	free(builder);
}

const char *index_builder_note(struct index_builder *builder)
{
	return side_file_note(builder->fine.side);
}

/* ------- a segment ------- */

/* The first time at or behind `t` that is a multiple of the distance. */
static uint64_t next_point(const struct index_wanted *wanted, uint64_t t)
{
	uint64_t rest = t % wanted->every;

	return rest ? t - rest + wanted->every : t;
}

static int store_point(struct index_builder *builder, struct failure *why)
{
	bool kept;

	/* Not everywhere one is possible: then the one before serves. */
	return replayer_store_point(builder->replayer, &kept, why);
}

/* Runs through a segment, with stops at start points. */
static int run(struct index_builder *builder, size_t segment,
	       const struct index_wanted *wanted, struct failure *why)
{
	struct recording *recording = builder->fine.recording;
	uint64_t start = recording_time(recording, segment);
	uint64_t end = recording_time(recording, segment + 1);
	uint64_t first = wanted->from.time > start ? wanted->from.time :
						     start + 1;
	uint64_t last = wanted->to.time < end ? wanted->to.time : end - 1;
	int rc = 0;

	if (wanted->every)
		for (uint64_t t = next_point(wanted, first); t <= last && !rc;
		     t += wanted->every) {
			rc = replayer_seek_in(builder->replayer, segment, t,
					      why);
			if (!rc)
				rc = store_point(builder, why);
		}
	if (!rc && wanted->lines)
		rc = replayer_seek_in(builder->replayer, segment, end, why);
	return rc;
}

static bool has_points_in(const struct index_wanted *wanted, uint64_t start,
			  uint64_t end)
{
	return wanted->every && wanted->from.time < end &&
	       wanted->to.time > start;
}

/*
 * Finds out whether a segment is to be indexed.  Not one that was cut short: it
 * may still grow.
 */
static int lacks_lines(struct index_builder *builder, size_t segment, bool *out,
		       struct failure *why)
{
	bool is_complete;
	int rc = fine_is_complete(&builder->fine, segment, &is_complete, why);

	*out = !rc && !is_complete &&
	       !recording_is_cut(builder->fine.recording, segment);
	return rc;
}

/* Says why a segment could not be written to the side file. */
static int not_kept(struct index_builder *builder, size_t segment, int code,
		    struct failure *why)
{
	const char *note = side_file_note(builder->fine.side);

	if (code == ERR_NO_MEMORY)
		return failed(why, code, "out of memory");
	if (!side_file_may_add(builder->fine.side) && note)
		return failed(why, ERR_SYSTEM, "%s", note);
	return failed(why, code, "segment %zu cannot be indexed: there is too"
		      " much to say of it", segment);
}

int index_build(struct index_builder *builder, size_t segment,
		const struct index_wanted *wanted, struct failure *why)
{
	struct recording *recording = builder->fine.recording;
	uint64_t start = recording_time(recording, segment);
	uint64_t end = recording_time(recording, segment + 1);
	struct index_wanted here = *wanted;
	struct fine_collector collector;
	int rc = 0, kept = 0;

	if (wanted->lines)
		rc = lacks_lines(builder, segment, &here.lines, why);
	if (rc || (!here.lines && !has_points_in(wanted, start, end)))
		return rc;
	rc = replayer_seek_in(builder->replayer, segment, start, why);
	if (!rc && here.lines)
		rc = fine_begin(&collector, &builder->fine, builder->replayer,
				segment, true, why);
	if (rc)
		return rc;
	rc = run(builder, segment, &here, why);
	if (here.lines)
		kept = fine_end(&collector, !rc);
	if (!rc && !kept && !side_file_may_add(builder->fine.side))
		kept = ERR_SYSTEM;
	return !rc && kept ? not_kept(builder, segment, kept, why) : rc;
}

/* ------- all of it ------- */

int index_builder_extent(struct index_builder *builder,
			 struct index_extent *out, struct failure *why)
{
	size_t segments = recording_segments(builder->fine.recording), count;
	const struct side_record *list;
	int rc = 0;

	*out = (struct index_extent){ 0 };
	for (size_t i = 0; i < segments && !rc; i++) {
		bool is_complete;

		rc = fine_is_complete(&builder->fine, i, &is_complete, why);
		out->segments += is_complete;
	}
	list = side_file_records(builder->fine.side, &count);
	for (size_t i = 0; i < count; i++)
		out->points += list[i].kind == SIDE_POINT;
	out->size = side_file_size(builder->fine.side);
	return rc;
}

static int is_missing(struct index_builder *builder, size_t segment,
		      struct failure *why)
{
	const struct recording *recording = builder->fine.recording;
	const char *reason = "nothing that can be read is there of it";

	if (recording_is_cut(recording, segment))
		reason = trace_reader_is_growing(recording_reader(recording)) ?
				 "it is still being recorded" :
				 "the recording was cut short in it";
	return failed(why, ERR_NOT_FOUND, "segment %zu of %zu is not indexed:"
		      " %s", segment, recording_segments(recording), reason);
}

int index_builder_check(struct index_builder *builder, size_t first, size_t end,
			struct failure *why)
{
	bool is_complete = true;
	int rc = 0;

	for (; first < end && !rc && is_complete; first++)
		rc = fine_is_complete(&builder->fine, first, &is_complete, why);
	return rc || is_complete ? rc : is_missing(builder, first - 1, why);
}

static int copy(struct index_builder *builder, struct side_file *from,
		const struct side_record *record, struct failure *why)
{
	struct side_file *to = builder->fine.side;
	struct output *bytes = &builder->fine.bytes;
	const char *note;

	output_clear(bytes);
	if (side_file_find(to, record->kind, record->segment, record->place) ||
	    !side_file_read(from, record, bytes) ||
	    side_file_add(to, record->kind, record->segment, record->place,
			  bytes->bytes, bytes->size))
		return 0;
	note = side_file_note(to);
	return failed(why, ERR_SYSTEM, "%s", note ? note : "cannot be kept");
}

int index_merge(struct index_builder *builder, const char *part,
		struct failure *why)
{
	const struct side_record *list;
	struct side_file *from;
	size_t count, left;
	int rc = open_side(&from, builder->fine.recording, part, why);

	if (rc)
		return rc;
	list = side_file_records(from, &count);
	for (size_t i = 0; i < count && !rc; i += left == count) {
		left = count;
		rc = copy(builder, from, &list[i], why);
		/* One that is damaged is not there any more. */
		list = side_file_records(from, &count);
	}
	if (!rc && side_file_note(from))
		rc = failed(why, ERR_CHECKSUM, "not all of part '%s' of the"
			    " index can be read: make it once more", part);
	side_file_close(from);
	return rc;
}
