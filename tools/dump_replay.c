/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dump_replay.c - see dump_replay.h */
#include "tools/dump_replay.h"

#include <stdlib.h>

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "replayer/replayer.h"
#include "tools/print.h"
#include "tools/print_crash.h"

static int start(struct dump_replay *replay, struct failure *why)
{
	if (replay->query)
		return 0;
	return query_create(&replay->query, replay->recording, why);
}

/* ------- faults ------- */

struct watching {
	struct dump_replay *replay;
	struct replayer *replayer;
};

static void on_event(void *context, const struct replay_event *event)
{
	const struct watching *watching = context;
	struct dump_replay *replay = watching->replay;
	struct vm_stop *fault;

	if (event->packet->kind != PACKET_FAULT)
		return;
	if (array_room(replay->faults, replay->count, replay->room)) {
		replay->lacks = true;
		return;
	}
	fault = &replay->faults[replay->count++];
	if (!replayer_last_fault(watching->replayer, fault))
		replay->lacks = true;
}

/* Executes all of the segment. */
static int find_faults(struct dump_replay *replay, size_t segment,
		       struct failure *why)
{
	struct watching watching = { .replay = replay };
	struct replay_observer observer = { .event = on_event,
					    .context = &watching };
	uint64_t end = recording_time(replay->recording, segment + 1);
	int rc = query_replayer(replay->query, &watching.replayer, why);

	replay->count = 0;
	if (!rc)
		rc = replayer_observe(watching.replayer, &observer, why);
	if (rc)
		return rc;
	rc = replayer_seek_in(watching.replayer, segment, end, why);
	replayer_unobserve(watching.replayer, &observer);
	if (!rc && replay->lacks)
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
	replay->has_faults = !rc;
	replay->segment = segment;
	return rc;
}

static void set_words(json_t *line, uint64_t signal,
		      const struct vm_stop *fault)
{
	struct fault_words words = fault_words(signal, fault, 0);

	if (words.code)
		json_set_text(line, "si_code", words.code);
	if (!words.access)
		return;
	json_set_text(line, "access", words.access);
	json_set_address(line, "addr", words.addr);
}

int dump_replay_fault(struct dump_replay *replay, size_t segment,
		      size_t number, const struct packet *packet, json_t *line,
		      struct failure *why)
{
	int rc = start(replay, why);

	if (!rc && (!replay->has_faults || replay->segment != segment))
		rc = find_faults(replay, segment, why);
	/* One without a signal had an instruction go on. */
	if (!rc && packet->number && number < replay->count)
		set_words(line, packet->number, &replay->faults[number]);
	return rc;
}

/* ------- outputs ------- */

int dump_replay_output(struct dump_replay *replay,
		       const struct output_part *output, uint64_t skip,
		       size_t size, json_t *line, struct failure *why)
{
	char *text = malloc(size + 1);
	int rc;

	if (!text)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = start(replay, why);
	if (!rc)
		rc = output_read(replay->query, output, skip, text, size, why);
	if (!rc)
		json_object_set_new(line, "text", json_text_of(text, size));
	free(text);
	return rc;
}

void dump_replay_release(struct dump_replay *replay)
{
	query_destroy(replay->query);
	free(replay->faults);
}
