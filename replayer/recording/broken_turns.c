/* SPDX-License-Identifier: GPL-2.0-or-later */
/* broken_turns.c - see broken_turns.h */
#include "replayer/recording/broken_turns.h"

#include <stdbool.h>
#include <stdlib.h>

#include "formats/error.h"
#include "replayer/recording/packets.h"
#include "replayer/recording/segments.h"
#include "replayer/recording/streams.h"

struct counting {
	bool *has_run;		/* by stream */
	bool is_back;		/* its turn has just begun, not its first one */
	uint64_t count;
};

/* A thread that gave way itself, in a call, goes on with what that returns. */
static int visit(void *context, const struct packet_place *place,
		 const struct packet *packet)
{
	struct counting *counting = context;

	if (!packet_is_event(packet->kind))
		return 0;
	counting->count += counting->is_back && packet->kind != PACKET_RETURN;
	counting->is_back = packet->kind == PACKET_SLICE &&
			    counting->has_run[place->stream];
	counting->has_run[place->stream] = true;
	return 0;
}

int recording_broken_turns(struct recording *recording, uint64_t *out,
			   struct failure *why)
{
	struct counting counting = {
		.has_run = calloc(recording_threads(recording) + 1,
				  sizeof(bool)),
	};
	int rc = 0;

	if (!counting.has_run)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	for (size_t i = 0; i < recording_segments(recording) && !rc; i++)
		rc = recording_each_packet(recording, i, visit, &counting,
					   why);
	*out = counting.count + counting.is_back;
	free(counting.has_run);
	return rc;
}
