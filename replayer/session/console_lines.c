/* SPDX-License-Identifier: GPL-2.0-or-later */
/* console_lines.c - see console_lines.h */
#include "replayer/session/console_lines.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "formats/error.h"
#include "replayer/machine.h"
#include "replayer/recording/recording.h"

struct search {
	struct recording *recording;
	struct machine_replay *replay;
	uint64_t wanted, lines;	/* so many have ended */
	uint64_t block;		/* the wanted one did in the block that began
				   then */
};

static void on_byte(void *context, uint8_t byte)
{
	struct search *search = context;

	if (byte == '\n' && ++search->lines == search->wanted)
		search->block = board_steps_at_block(
			machine_replay_board(search->replay));
}

static int go(struct search *search, uint64_t time, bool in_order,
	      struct failure *why)
{
	const atomic_bool *cancelled = recording_cancelled(search->recording);
	const struct position to = { time, EVENTS_ALL };

	if (cancelled && atomic_load_explicit(cancelled, memory_order_relaxed))
		return failed(why, ERR_CANCELLED, "cancelled");
	return machine_replay_seek(search->replay, &to, in_order, why);
}

/* Goes through whole segments; `*first` and `*before`: when the one began in
 * which the line ends, and how many had ended then. */
static int find_segment(struct search *search, uint64_t *first,
			uint64_t *before, struct failure *why)
{
	size_t segments = recording_segments(search->recording);
	int rc = 0;

	for (size_t i = 0; i < segments && !rc; i++) {
		*first = recording_time(search->recording, i);
		*before = search->lines;
		rc = go(search, recording_time(search->recording, i + 1), true,
			why);
		if (!rc && search->lines >= search->wanted)
			return 0;
	}
	return rc ? rc : failed(why, ERR_NOT_FOUND, "there is no line %" PRIu64
				" of output: this machine wrote %" PRIu64,
				search->wanted, search->lines);
}

/* Inside a block no time is known: instruction by instruction, then. */
static int find_time(struct search *search, uint64_t first, uint64_t before,
		     uint64_t *out, struct failure *why)
{
	uint64_t time = search->block > first ? search->block - 1 : first;
	int rc = go(search, first, false, why);

	search->lines = before;
	while (!rc && search->lines < search->wanted) {
		*out = time;
		rc = go(search, time++, true, why);
	}
	return rc;
}

int console_find_line(struct recording *recording, uint64_t line, uint64_t *out,
		      struct failure *why)
{
	struct search search = { .recording = recording, .wanted = line };
	uint64_t first = 0, before = 0;
	int rc = machine_replay_create(&search.replay, recording, why);

	if (rc)
		return rc;
	machine_replay_tell(search.replay, on_byte, &search);
	rc = find_segment(&search, &first, &before, why);
	if (!rc)
		rc = find_time(&search, first, before, out, why);
	machine_replay_destroy(search.replay);
	return rc;
}
