/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_replay.c - cprec replay: executes a recording again */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "replayer/replayer.h"
#include "replayer/session/session.h"
#include "tools/commands.h"
#include "tools/damage.h"
#include "tools/family.h"
#include "tools/machines.h"
#include "tools/messages.h"
#include "tools/options.h"
#include "tools/progress.h"

static int run(struct options *options);

enum { OPTION_TO = 256, OPTION_THREAD };

const struct command command_replay = {
	.name = "replay",
	.run = run,
	.arguments = "[FILE]",
	.summary = "execute a recording again, with its output",
	.usage = "replay [OPTION...] [FILE]",
	.about = "Executes a recording again and writes what the process wrote"
		 " to its standard\n"
		 "streams.  What others wrote that it had started is in their"
		 " recordings, see\n"
		 "'cprec ps'.  Nothing else of what it did happens again.",
	.options = (const struct option_info[]) {
		{ OPTION_TO, "to", "T",
		  "stop at this time, or at T.k behind k of the events\n"
		  "there; without this: the end" },
		{ OPTION_THREAD, "thread", "TID",
		  "execute only this thread, without what is recorded\n"
		  "of the others: writes what it wrote; \"all\": each\n"
		  "one so, one after the other" },
		{ 'q', "quiet", NULL, "write no output of the program" },
		{ 0 }
	},
	.notes = "Exits with 0 when the replay reached its end, however the"
		 " program ended.",
};

struct replay {
	bool quiet;
	const char *to;
	struct threads_text threads;	/* to be executed alone */
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

/* The program's own output would mix with the line. */
static void start_progress(struct progress *progress,
			   const struct replay *replay,
			   const struct recording *recording, uint64_t to)
{
	progress_start(progress, "replaying", recording_start(recording), to);
	progress->is_terminal &= replay->quiet;
}

/* Goes on by segments, to be able to tell how far it is. */
static int go_to(struct replay *replay, struct replayer *replayer,
		 struct recording *recording, const struct position *to,
		 struct failure *why)
{
	size_t segments = recording_segments(recording);
	struct progress progress;
	int rc = 0;

	start_progress(&progress, replay, recording, to->time);
	for (size_t i = 1; i <= segments && !rc && !replay->write_error; i++) {
		progress_show(&progress, replayer_time(replayer));
		if (recording_time(recording, i) >= to->time)
			break;
		rc = replayer_seek_frame(replayer, i, why);
	}
	if (!rc && !replay->write_error)
		rc = replayer_seek(replayer, to, why);
	progress_end(&progress);
	return rc;
}

static void show_progress(void *context, uint64_t t)
{
	progress_show(context, t);
}

static int replay_thread(struct replay *replay, struct replayer *replayer,
			 struct recording *recording, uint32_t stream,
			 const struct position *to, struct failure *why)
{
	struct progress progress;
	const struct alone_run run = {
		.stream = stream, .to = *to,
		.progress = show_progress, .context = &progress,
	};
	uint64_t steps;
	int rc;

	start_progress(&progress, replay, recording, to->time);
	rc = replayer_run_alone(replayer, &run, &steps, why);
	progress_end(&progress);
	return rc;
}

/* One thread, or each of them that has begun, by itself. */
static int go_alone(struct replay *replay, struct replayer *replayer,
		    struct recording *recording, const struct position *to,
		    struct failure *why)
{
	uint32_t stream, count = (uint32_t)recording_threads(recording);
	uint32_t thread;
	int rc = 0;

	if (!replay->threads.all) {
		rc = recording_find_thread(recording, replay->threads.tid,
					   recording_end(recording), &thread,
					   why);
		if (rc)
			return rc;
		stream = recording_stream_of(recording, thread, to->time);
		return replay_thread(replay, replayer, recording, stream, to,
				     why);
	}
	for (stream = 0; stream < count && !rc; stream++)
		if (recording_first(recording, stream) <= to->time)
			rc = replay_thread(replay, replayer, recording, stream,
					   to, why);
	return rc;
}

/* A shell's output, say, is mostly that of programs that it started. */
static void tell_of_others(const struct recording *recording)
{
	size_t count = family_others(recording);

	if (count)
		say_note("only the output of this process was written; %zu"
			 " other%s of the program %s recorded in files that"
			 " 'cprec ps' lists", count, count == 1 ? "" : "s",
			 count == 1 ? "is" : "are");
}

static int replay_file(struct replay *replay, const char *path,
		       struct failure *why)
{
	struct recording *recording = NULL;
	struct replayer *replayer = NULL;
	const struct replay_observer observer = {
		.output = write_output, .context = replay,
	};
	bool is_time;
	struct position to;
	int rc = recording_open(&recording, path, why);

	if (rc)
		return rc;
	if (recording_is_machine(recording)) {
		rc = replay->threads.some ?
			     recording_check_program(recording, why) :
			     machine_replay(recording, replay->to,
					    replay->quiet, why);
		goto end;
	}
	rc = place_position(&to, &is_time, recording, replay->to, why);
	if (!rc)
		rc = replayer_create(&replayer, recording, why);
	if (rc)
		goto end;
	replayer_in_order(replayer, true);
	if (!replay->quiet)
		rc = replayer_observe(replayer, &observer, why);
	if (rc)
		goto end;
	if (replay->threads.some)
		rc = go_alone(replay, replayer, recording, &to, why);
	else
		rc = go_to(replay, replayer, recording, &to, why);
	if (!rc && replay->write_error)
		rc = failed(why, ERR_SYSTEM, "cannot write the output: %s",
			    strerror(replay->write_error));
	if (!rc)
		damage_say(recording);
	if (!rc && !replay->quiet && !replay->threads.some)
		tell_of_others(recording);
end:
	replayer_destroy(replayer);
	recording_close(recording);
	return rc;
}

/* Takes one option; false after a message. */
static bool take_option(struct replay *replay, const struct options *options,
			int id)
{
	switch (id) {
	case OPTION_TO:
		replay->to = options->value;
		if (place_may_be_time(replay->to))
			return true;
		options_bad_value(options, id, PLACE_TIME_WANTED);
		return false;
	case OPTION_THREAD:
		if (number_parse_threads(options->value, &replay->threads))
			return true;
		options_bad_value(options, id, NUMBER_THREADS_WANTED);
		return false;
	default:
		replay->quiet = true;
		return true;
	}
}

static int run(struct options *options)
{
	struct replay replay = { .to = "end" };
	struct failure why;
	const char *path;
	int id;

	while ((id = options_next(options)) >= 0)
		if (!take_option(&replay, options, id))
			return EXIT_USAGE;
	path = options_recording(options, id);
	if (!path)
		return options->status;
	if (replay_file(&replay, path, &why))
		return say_failure(&why);
	return EXIT_ANSWERED;
}
