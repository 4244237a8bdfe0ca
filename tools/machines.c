/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machines.c - see machines.h */
#include "tools/machines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "formats/meta.h"
#include "tools/commands.h"
#include "tools/messages.h"
#include "tools/print.h"
#include "tools/progress.h"
#include "tools/questions.h"

const char *machine_end_text(uint64_t code)
{
	static _Thread_local char text[64];

	if (code >= MACHINE_EXITED) {
		snprintf(text, sizeof(text), "its program exited with status"
			 " %" PRIu64, code - MACHINE_EXITED);
		return text;
	}
	switch (code) {
	case MACHINE_OFF:
		return "it switched itself off";
	case MACHINE_RESET:
		return "it reset itself";
	case MACHINE_STOPPED:
		return "it was stopped";
	case MACHINE_IDLE:
		return "it waits for what can never come";
	case MACHINE_LOCKED:
		return "it locked up";
	case MACHINE_PANICKED:
		return "its kernel panicked";
	default:
		return "not known";
	}
}

/* ------- all of it ------- */

static void write_byte(void *context, uint8_t byte)
{
	(void)context;
	putchar(byte);
}

/* Goes on by segments, to be able to tell how far it is. */
static int go_to(struct machine_replay *replay, struct recording *recording,
		 const struct position *to, struct progress *progress,
		 struct failure *why)
{
	size_t segments = recording_segments(recording);
	int rc = 0;

	for (size_t i = 1; i < segments && !rc; i++) {
		struct position next = { recording_time(recording, i), 0 };

		if (next.time >= to->time)
			break;
		rc = machine_replay_seek(replay, &next, true, why);
		progress_show(progress, next.time);
		fflush(stdout);
	}
	return rc ? rc : machine_replay_seek(replay, to, true, why);
}

static int run_through(struct machine_replay *replay,
		       struct recording *recording, const struct position *to,
		       const char *doing, bool quiet, struct failure *why)
{
	struct progress progress;
	int rc;

	progress_start(&progress, doing, recording_start(recording), to->time);
	progress.is_terminal &= quiet;
	rc = go_to(replay, recording, to, &progress, why);
	progress_end(&progress);
	return rc;
}

int machine_replay(struct recording *recording, const char *to, bool quiet,
		   struct failure *why)
{
	struct machine_replay *replay = NULL;
	struct position at;
	bool is_time;
	int rc = place_position(&at, &is_time, recording, to, why);

	if (!rc)
		rc = machine_replay_create(&replay, recording, why);
	if (rc)
		return rc;
	if (!quiet)
		machine_replay_tell(replay, write_byte, NULL);
	rc = run_through(replay, recording, &at, "replaying", quiet, why);
	machine_replay_destroy(replay);
	if (!rc && (fflush(stdout) || ferror(stdout)))
		rc = failed(why, ERR_SYSTEM, "cannot write the output");
	return rc;
}

int machine_verify(struct recording *recording, bool quiet, struct failure *why)
{
	const struct position end = { recording_end(recording), EVENTS_ALL };
	size_t frames = recording_segments(recording);
	struct machine_replay *replay;
	int rc = machine_replay_create(&replay, recording, why);

	if (rc)
		return rc;
	machine_replay_check(replay);
	rc = run_through(replay, recording, &end, "verifying", true, why);
	machine_replay_destroy(replay);
	if (!rc && !quiet)
		printf("verified %" PRIu64 " instructions, %zu key frame%s\n",
		       recording_end(recording) - recording_start(recording),
		       frames, frames == 1 ? "" : "s");
	return rc;
}
