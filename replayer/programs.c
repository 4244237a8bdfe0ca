/* SPDX-License-Identifier: GPL-2.0-or-later */
/* programs.c - what a process was, one program after the other: recording.h */
#include "replayer/recording_internal.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "formats/packet.h"
#include "replayer/packets.h"

#define STACK_NAME "[stack]"

const struct origin *recording_origin(const struct recording *recording)
{
	return recording->has_origin ? &recording->origin : NULL;
}

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
	program->is_known = true;
	program->image = (struct program_image){
		.argv = meta->argv, .argc = meta->argc,
		.path = meta->path, .directory = meta->directory,
	};
	return 0;
}

/* ------- programs that are listed ------- */

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
	program->is_known = true;
	return 0;
}

static int add_all_listed(struct recording *recording, struct failure *why)
{
	int rc = 0;

	for (size_t i = 0; i < recording->program_chunk_count && !rc; i++)
		rc = add_listed(recording, recording->program_chunks[i], why);
	return rc;
}

/* ------- programs of older recordings ------- */

/*
 * An exec shows as an event that maps a new stack and then the program's file.
 */
struct search {
	struct recording *recording;
	struct failure *why;
	bool has_stack;		/* among the effects of the present event */
};

static bool is_stack(const struct packet *packet)
{
	return packet->kind == PACKET_MAP &&
	       packet->name_size == strlen(STACK_NAME) &&
	       !memcmp(packet->name, STACK_NAME, packet->name_size);
}

static bool is_file(const struct packet *packet)
{
	return packet->kind == PACKET_MAP && packet->region == REGION_FILE;
}

static int add_found(struct search *search, const struct packet_place *place,
		     const struct packet *map)
{
	struct recording_program *program =
		add_program(search->recording, place->time, search->why);

	if (!program)
		return ERR_NO_MEMORY;
	program->stream = place->stream;
	program->image.path = strndup(map->name, map->name_size);
	if (!program->image.path)
		return failed(search->why, ERR_NO_MEMORY, "out of memory");
	return 0;
}

static int look_at(void *context, const struct packet_place *place,
		   const struct packet *packet)
{
	struct search *search = context;

	if (place->is_told)
		return 0;	/* what another thread did */
	if (packet_is_event(packet->kind)) {
		search->has_stack = false;
	} else if (is_stack(packet)) {
		search->has_stack = true;
	} else if (search->has_stack && is_file(packet)) {
		search->has_stack = false;
		return add_found(search, place, packet);
	}
	return 0;
}

static int find_all(struct recording *recording, struct failure *why)
{
	struct search search = { .recording = recording, .why = why };
	int rc = 0;

	for (size_t i = 0; i < recording->segment_count && !rc; i++)
		rc = recording_each_packet(recording, i, look_at, &search,
					   why);
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
			rc = recording->has_origin ?
				     add_all_listed(recording, why) :
				     find_all(recording, why);
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
