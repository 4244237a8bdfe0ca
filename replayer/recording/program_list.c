/* SPDX-License-Identifier: GPL-2.0-or-later */
/* program_list.c - see program_list.h */
#include "replayer/recording/program_list.h"

#include <stdlib.h>

#include "formats/error.h"
#include "replayer/recording/chunks.h"
#include "replayer/recording/recording_data.h"
#include "replayer/recording/segments.h"

/* Adds a program without an image. */
static struct recording_program *add_program(struct recording *recording,
					     uint64_t time, struct failure *why)
{
	struct recording_program *more =
		reallocarray(recording->programs, recording->program_count + 1,
			     sizeof(*more));

	if (!more) {
		failed(why, ERR_NO_MEMORY, "out of memory");
		return NULL;
	}
	recording->programs = more;
	more += recording->program_count++;
	*more = (struct recording_program){ .time = time };
	return more;
}

/* What the meta data says; its texts are shared with it. */
static int add_first(struct recording *recording, struct failure *why)
{
	const struct meta *meta = &recording->meta;
	struct recording_program *program = add_program(
		recording, recording_time(recording, 0), why);

	if (!program)
		return ERR_NO_MEMORY;
	program->image = (struct program_image){
		.argv = meta->argv, .argc = meta->argc,
		.path = meta->path, .directory = meta->directory,
	};
	return 0;
}

static int add_listed(struct recording *recording, uint32_t chunk,
		      struct failure *why)
{
	const struct chunk_info *info =
		trace_reader_info(recording->reader, chunk);
	struct recording_program *program;
	uint8_t *bytes;
	int rc;

	if (info->first > recording->end)
		return 0;	/* how it became that is lost */
	program = add_program(recording, info->first, why);
	if (!program)
		return ERR_NO_MEMORY;
	program->stream = info->stream;
	rc = trace_reader_chunk(recording->reader, chunk, &bytes, why);
	if (rc)
		return rc;
	rc = program_image_decode(&program->image, bytes, info->size);
	free(bytes);
	if (rc)
		return recording_damaged(recording, chunk, rc, "contents", why);
	return 0;
}

static int add_all_listed(struct recording *recording, struct failure *why)
{
	int rc = 0;

	for (size_t i = 0; i < recording->program_chunk_count && !rc; i++)
		rc = add_listed(recording, recording->program_chunks[i], why);
	return rc;
}

/* ------- all of them ------- */

int recording_programs(struct recording *recording,
		       const struct recording_program **list, size_t *count,
		       struct failure *why)
{
	int rc = 0;

	if (!recording->has_programs) {
		rc = add_first(recording, why);
		if (!rc)
			rc = add_all_listed(recording, why);
		recording->has_programs = !rc;
	}
	if (rc) {
		recording_forget_programs(recording);
		return rc;
	}
	*list = recording->programs;
	*count = recording->program_count;
	return 0;
}

void recording_forget_programs(struct recording *recording)
{
	/* The texts of the first one are those of the meta data. */
	for (size_t i = 1; i < recording->program_count; i++)
		program_image_release(&recording->programs[i].image);
	free(recording->programs);
	recording->programs = NULL;
	recording->program_count = 0;
	recording->has_programs = false;
	free(recording->execs);
	recording->execs = NULL;
	recording->exec_count = 0;
	recording->has_execs = false;
}

bool recording_find_parent(struct recording *recording, uint64_t t,
			   struct origin *out)
{
	const struct recording_program *list;
	size_t count;

	*out = recording_meta(recording)->origin;
	return out->parent && !recording_programs(recording, &list, &count, NULL) &&
	       (count < 2 || t < list[1].time);
}
