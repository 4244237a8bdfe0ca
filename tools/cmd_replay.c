/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_replay.c - cprec replay: executes a recording again */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "formats/error.h"
#include "replayer/recording.h"
#include "replayer/replayer.h"
#include "tools/commands.h"
#include "tools/messages.h"
#include "tools/options.h"
#include "tools/progress.h"
#include "tools/questions.h"

enum { OPTION_TO = 256 };

static const struct command_help help = {
	.name = "replay",
	.usage = "replay [OPTION...] FILE",
	.about = "Executes a recording again and writes what the program wrote"
		 " to its standard\n"
		 "streams.  Nothing else of what the program did happens"
		 " again.",
	.options = (const struct option_info[]) {
		{ OPTION_TO, "to", "T",
		  "stop at this time; without this: the end" },
		{ 'q', "quiet", NULL, "write no output of the program" },
		{ 0 }
	},
	.notes = "Exits with 0 when the replay reached its end, however the"
		 " program ended.",
};

struct replay {
	bool quiet;
	const char *to;
	int write_error;	/* of the output, an errno */
};

static void write_output(void *context, int stream, const uint8_t *bytes,
			 size_t size)
{
	struct replay *replay = context;

	while (size && !replay->write_error) {
		ssize_t done = write(stream, bytes, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			replay->write_error = errno;
			return;
		}
		bytes += done;
		size -= (size_t)done;
	}
}

/* Goes on by segments, to be able to tell how far it is. */
static int go_to(struct replay *replay, struct replayer *replayer,
		 struct recording *recording, uint64_t to, struct failure *why)
{
	size_t segments = recording_segments(recording);
	struct progress progress;
	int rc = 0;

	progress_start(&progress, "replaying", to);
	/* The program's own output would mix with the line. */
	progress.is_terminal &= replay->quiet;
	for (size_t i = 1; i <= segments && !rc && !replay->write_error; i++) {
		uint64_t t = recording_time(recording, i);

		progress_show(&progress, replayer_time(replayer));
		if (t >= to)
			break;
		rc = replayer_seek(replayer, t, why);
	}
	if (!rc && !replay->write_error)
		rc = replayer_seek(replayer, to, why);
	progress_end(&progress);
	if (!rc && replay->write_error)
		rc = failed(why, ERR_SYSTEM, "cannot write the output: %s",
			    strerror(replay->write_error));
	return rc;
}

static int replay_file(struct replay *replay, const char *path,
		       struct failure *why)
{
	struct recording *recording = NULL;
	struct replayer *replayer = NULL;
	bool is_time;
	uint64_t to;
	int rc = recording_open(&recording, path, why);

	if (rc)
		return rc;
	rc = question_time(&to, &is_time, recording, replay->to, why);
	if (!rc)
		rc = replayer_create(&replayer, recording, why);
	if (rc)
		goto end;
	replayer_in_order(replayer);
	if (!replay->quiet)
		replayer_on_output(replayer, write_output, replay);
	rc = go_to(replay, replayer, recording, to, why);
	if (!rc)
		question_warn_if_cut(recording);
end:
	replayer_destroy(replayer);
	recording_close(recording);
	return rc;
}

int cmd_replay(int argc, char **argv)
{
	struct options options = OPTIONS(help, argc, argv);
	struct replay replay = { .to = "end" };
	struct failure why;
	const char *path;
	int id;

	while ((id = options_next(&options)) >= 0) {
		if (id != OPTION_TO) {
			replay.quiet = true;
			continue;
		}
		replay.to = options.value;
		if (!question_may_be_at(replay.to)) {
			options_bad_value(&options, id, QUESTION_AT_WANTED);
			return EXIT_USAGE;
		}
	}
	if (id == OPTIONS_HELP)
		return finish_output(EXIT_ANSWERED);
	path = id == OPTIONS_END ? options_file(&options) : NULL;
	if (!path)
		return EXIT_USAGE;
	if (replay_file(&replay, path, &why))
		return say_failure(&why);
	return EXIT_ANSWERED;
}
