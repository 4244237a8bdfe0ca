/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outputs.c - see outputs.h */
#include "replayer/session/outputs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/session/query_internal.h"

/* Those of one segment. */
struct outputs {
	struct output_part *list;
	size_t count, room;
	uint64_t start;		/* of the segment, and the events at this time */
	uint32_t before;	/* that stand before it */
};

static int add_output(void *context, const struct packet_place *place,
		      const struct packet *packet)
{
	struct outputs *outputs = context;

	if (packet->kind != PACKET_OUTPUT)
		return 0;
	if (array_room(outputs->list, outputs->count, outputs->room))
		return ERR_NO_MEMORY;
	outputs->list[outputs->count++] = (struct output_part){
		.at = { place->time, place->events },
		.stream = place->stream,
		.descriptor = (unsigned)packet->number,
		.addr = packet->addr,
		.size = packet->size,
	};
	if (place->time == outputs->start)
		outputs->list[outputs->count - 1].at.events += outputs->before;
	return 0;
}

int outputs_each_in(struct recording *recording, size_t segment,
		    output_visit *visit, void *context, struct failure *why)
{
	struct outputs outputs = {
		.start = recording_time(recording, segment),
	};
	int rc = recording_events_before(recording, segment, &outputs.before,
					 why);

	if (!rc)
		rc = recording_each_packet(recording, segment, add_output,
					   &outputs, why);
	if (rc == ERR_NO_MEMORY)
		failed(why, rc, "out of memory");
	for (size_t i = 0; !rc && i < outputs.count; i++)
		rc = visit(context, &outputs.list[i]);
	free(outputs.list);
	return rc;
}

int outputs_each(struct query *query, output_visit *visit, void *context,
		 struct failure *why)
{
	struct recording *recording = query->recording;
	size_t segments = recording_segments(recording);
	int rc = 0;

	for (size_t i = 0; i < segments && !rc; i++)
		rc = outputs_each_in(recording, i, visit, context, why);
	return rc;
}

/* ------- bytes ------- */

int output_read(struct query *query, const struct output_part *output,
		uint64_t skip, char *text, size_t size, struct failure *why)
{
	uint8_t *known = malloc(size + 1);
	struct query_answer answer;
	int rc;

	if (!known)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = query_memory(query, output->addr + skip, &output->at,
			  (uint8_t *)text, known, size, &answer, why);
	for (size_t i = 0; i < size && !rc; i++)
		if (!known[i])
			text[i] = '?';
	free(known);
	return rc;
}

/* ------- lines ------- */

#define PART (UINT64_C(64) << 10)	/* bytes that are looked at at a time */
#define IS_FOUND 1

struct line_search {
	struct query *query;
	struct failure *why;
	uint64_t wanted, lines;	/* so many have ended */
	struct position at;
	char text[PART];
};

static uint64_t count_ends(const char *text, size_t size)
{
	uint64_t count = 0;

	for (size_t i = 0; i < size; i++)
		count += text[i] == '\n';
	return count;
}

static int count_lines(void *context, const struct output_part *output)
{
	struct line_search *search = context;

	for (uint64_t at = 0; at < output->size; at += PART) {
		uint64_t left = output->size - at;
		size_t size = left < PART ? left : PART;
		int rc = output_read(search->query, output, at, search->text,
				     size, search->why);

		if (rc)
			return rc;
		search->lines += count_ends(search->text, size);
	}
	search->at = output->at;
	return search->lines >= search->wanted ? IS_FOUND : 0;
}

int outputs_find_line(struct query *query, uint64_t line,
		      struct position *out, struct failure *why)
{
	struct line_search *search = calloc(1, sizeof(*search));
	int rc;

	if (!search)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	search->query = query;
	search->why = why;
	search->wanted = line;
	rc = outputs_each(query, count_lines, search, why);
	if (!rc)
		rc = failed(why, ERR_NOT_FOUND, "there is no line %" PRIu64
			    " of output: this process wrote %" PRIu64, line,
			    search->lines);
	*out = search->at;
	free(search);
	return rc == IS_FOUND ? 0 : rc;
}
