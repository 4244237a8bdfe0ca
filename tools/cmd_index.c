/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_index.c - cprec index: makes the index of a recording before it is asked */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "tools/commands.h"
#include "tools/index_parts.h"
#include "tools/index_workers.h"
#include "tools/messages.h"
#include "tools/options.h"
#include "tools/print.h"

/* Around a place, start points are so far apart, and up to so far away. */
#define NEAR_EVERY UINT64_C(1000000)
#define NEAR_REACH UINT64_C(16000000)

#define EVERY_LEAST UINT64_C(10000)

static int run(struct options *options);

enum { AROUND = 256, EVERY, JSON, MERGE, PART, RANGE };

const struct command command_index = {
	.name = "index",
	.run = run,
	.makes = true,
	.arguments = "[FILE] [-j N]",
	.summary = "find out beforehand who accesses what",
	.usage = "index [OPTION...] [FILE]",
	.about = "Replays a recording once and keeps in FILE.idx which memory"
		 " each part of it\n"
		 "accesses, so that questions replay only what matters.  Without"
		 " it, questions make\n"
		 "what they need, and keep that.",
	.options = (const struct option_info[]) {
		{ 'j', "jobs", "N",
		  "so many processes at once; without this, as many as\n"
		  "there are processors" },
		{ EVERY, "every", "N",
		  "also keep states to start from, every N instructions\n"
		  "(k, m, g: times 1000, ...)" },
		{ AROUND, "around", "T",
		  "only states to start from, near this time: each\n"
		  "million instructions up to 16 million away",
		  .without = "range merge" },
		{ RANGE, "range", "T..U",
		  "the same from one time to another",
		  .without = "around merge" },
		{ PART, "part", "I/N",
		  "only the Ith of N parts, into FILE.idx.IofN: for\n"
		  "several machines", .without = "merge" },
		{ MERGE, "merge", NULL,
		  "join the parts that are there, and remove them",
		  .without = "jobs every" },
		{ 'q', "quiet", NULL, "print nothing if all is well" },
		{ JSON, "json", NULL,
		  "one JSON object: segment_count, indexed,\n"
		  "start_points, size" },
		{ 0 }
	},
	.notes = "FILE.idx may be deleted at any time.  With GNU parallel:\n"
		 "\n"
		 "  parallel cprec index FILE -j1 --part={}/8 ::: 1 2 3 4 5 6 7"
		 " 8\n"
		 "  cprec index FILE --merge",
};

struct indexing {
	struct options *options;
	const char *path;
	uint64_t workers;	/* 0: the usual number */
	uint64_t every;		/* 0: not said */
	const char *around;
	char *range;		/* its first time; the second one is: */
	const char *range_end;
	bool has_part, merges, quiet, json;
	struct index_part part;

	struct recording *recording;
	struct index_wanted wanted;
};

/* ------- options ------- */

static int take_range(struct indexing *indexing, int id)
{
	const struct options *options = indexing->options;
	char *end;

	free(indexing->range);
	indexing->range = strdup(options->value);
	end = indexing->range ? strstr(indexing->range, "..") : NULL;
	if (!end)
		return options_bad_value(options, id,
					 "two times, like 5000..2m");
	*end = '\0';
	indexing->range_end = end + 2;
	if (!place_may_be_time(indexing->range) ||
	    !place_may_be_time(indexing->range_end))
		return options_bad_value(options, id, PLACE_TIME_WANTED);
	return 0;
}

static int take(struct indexing *indexing, int id)
{
	const struct options *options = indexing->options;

	switch (id) {
	case 'j':
		if (number_parse(options->value, &indexing->workers) &&
		    indexing->workers &&
		    indexing->workers <= INDEX_WORKERS_MOST)
			return 0;
		return options_bad_value(options, id, "1 to 256");
	case EVERY:
		if (number_parse_scaled(options->value, 1000,
					&indexing->every) &&
		    indexing->every >= EVERY_LEAST)
			return 0;
		return options_bad_value(options, id, "10k or more");
	case AROUND:
		return options_take_time(options, id, &indexing->around);
	case RANGE:
		return take_range(indexing, id);
	case PART:
		indexing->has_part = true;
		return index_part_parse(options->value, &indexing->part) ?
			       0 : options_bad_value(options, id,
						     "a part like 1/8");
	case MERGE:
		indexing->merges = true;
		return 0;
	case 'q':
		indexing->quiet = true;
		return 0;
	default:
		indexing->json = true;
		return 0;
	}
}

/* ------- what is wanted ------- */

static int find_near(struct indexing *indexing, struct failure *why)
{
	struct index_wanted *wanted = &indexing->wanted;
	bool is_time;
	int rc;

	if (!indexing->around) {
		rc = place_position(&wanted->from, &is_time,
				    indexing->recording, indexing->range, why);
		return rc ? rc :
			    place_position(&wanted->to, &is_time,
					   indexing->recording,
					   indexing->range_end, why);
	}
	rc = place_position(&wanted->from, &is_time, indexing->recording,
			    indexing->around, why);
	wanted->to = wanted->from;
	wanted->to.time += NEAR_REACH;
	wanted->from.time -= wanted->from.time < NEAR_REACH ?
				     wanted->from.time : NEAR_REACH;
	return rc;
}

static int find_wanted(struct indexing *indexing, struct failure *why)
{
	struct index_wanted *wanted = &indexing->wanted;

	wanted->every = indexing->every;
	wanted->lines = !indexing->around && !indexing->range;
	wanted->to.time = recording_end(indexing->recording);
	if (wanted->lines)
		return 0;
	if (!wanted->every)
		wanted->every = NEAR_EVERY;
	return find_near(indexing, why);
}

/* The segments of this part, of as equal length as may be. */
static void find_segments(const struct indexing *indexing, size_t *first,
			  size_t *end)
{
	size_t count = recording_segments(indexing->recording);
	const struct index_part *part = &indexing->part;

	*first = 0;
	*end = count;
	if (!indexing->has_part)
		return;
	*first = count * (part->number - 1) / part->count;
	*end = count * part->number / part->count;
}

/* ------- doing it ------- */

static int make(struct indexing *indexing, const char *part,
		struct failure *why)
{
	struct index_job job = {
		.path = indexing->path, .part = part,
		.workers = indexing->workers ? (unsigned)indexing->workers :
					       index_workers_usual(),
	};
	int rc = find_wanted(indexing, why);

	if (rc)
		return rc;
	job.wanted = indexing->wanted;
	find_segments(indexing, &job.first, &job.end);
	if (job.workers > job.end - job.first)
		job.workers = (unsigned)(job.end - job.first);
	return job.workers ? index_workers_run(&job, why) : 0;
}

/* `*is_all`: no part is missing. */
static int merge(struct indexing *indexing, struct index_builder *builder,
		 bool *is_all, struct failure *why)
{
	size_t merged, missing;
	int rc = index_parts_merge(indexing->path, builder, &merged, &missing,
				   why);

	*is_all = !missing;
	if (!rc && missing)
		say_note("%zu part%s of the index %s not there", missing,
			 missing == 1 ? "" : "s",
			 missing == 1 ? "is" : "are");
	return rc;
}

static void tell(const struct indexing *indexing,
		 const struct index_extent *extent)
{
	struct recording *recording = indexing->recording;
	size_t segments = recording_segments(recording);
	uint64_t length = recording_end(recording) - recording_start(recording);
	double bits = length ? 8 * (double)extent->size / (double)length : 0;

	if (indexing->json)
		print_json(json_pack("{sI sI sI sI}",
				     "segment_count", (json_int_t)segments,
				     "indexed", (json_int_t)extent->segments,
				     "start_points",
				     (json_int_t)extent->points,
				     "size", (json_int_t)extent->size));
	else if (!indexing->quiet)
		printf("indexed %zu of %zu segments, %zu states to start from:"
		       " %" PRIu64 " bytes, %.4f bits per instruction\n",
		       extent->segments, segments, extent->points,
		       extent->size, bits);
}

/* Tells what there is, then whether all is that should be. */
static int tell_all(const struct indexing *indexing,
		    struct index_builder *builder, bool is_all,
		    struct failure *why)
{
	struct index_extent extent;
	size_t first, end;
	int rc = index_builder_extent(builder, &extent, why);
	const char *note = index_builder_note(builder);

	if (rc)
		return rc;
	if (note)
		say_note("%s", note);
	tell(indexing, &extent);
	if (!is_all)
		return 0;
	find_segments(indexing, &first, &end);
	return index_builder_check(builder, first, end, why);
}

static int answer(struct indexing *indexing, struct failure *why)
{
	struct index_builder *builder = NULL;
	char name[INDEX_PART_ROOM];
	const char *part = indexing->has_part ?
				   index_part_name(name, &indexing->part) :
				   NULL;
	bool is_all = !indexing->around && !indexing->range;
	int rc = 0;

	if (!indexing->merges)
		rc = make(indexing, part, why);
	if (!rc)
		rc = index_builder_create(&builder, indexing->recording, part,
					  why);
	if (!rc && indexing->merges)
		rc = merge(indexing, builder, &is_all, why);
	if (!rc)
		rc = tell_all(indexing, builder, is_all, why);
	index_builder_destroy(builder);
	return rc;
}

static int run(struct options *options)
{
	struct indexing indexing = { .options = options };
	struct failure why;
	int id = 0, rc = 0;

	while (!rc && (id = options_next(options)) >= 0)
		rc = take(&indexing, id);
	indexing.path = options_recording(options, rc ? rc : id);
	if (!indexing.path) {
		free(indexing.range);
		return options->status;
	}
	rc = recording_open(&indexing.recording, indexing.path, &why);
	if (!rc)
		rc = answer(&indexing, &why);
	recording_close(indexing.recording);
	free(indexing.range);
	return finish_output(rc ? say_failure(&why) : EXIT_ANSWERED);
}
