/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_verify.c - cprec verify: does the replay equal the recording? */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "replayer/replayer.h"
#include "replayer/session/session.h"
#include "tools/commands.h"
#include "tools/damage.h"
#include "tools/machines.h"
#include "tools/messages.h"
#include "tools/options.h"
#include "tools/progress.h"

static int run(struct options *options);

enum { OPTION_THREAD = 256 };

const struct command command_verify = {
	.name = "verify",
	.run = run,
	.arguments = "[FILE]",
	.summary = "check that the replay equals the recording",
	.usage = "verify [OPTION...] [FILE]",
	.about = "Checks every part of the file, then executes the whole"
		 " recording again and\n"
		 "compares registers and changed memory at every key frame"
		 " with what was recorded.",
	.options = (const struct option_info[]) {
		{ OPTION_THREAD, "thread", "TID",
		  "execute only this thread, without what is recorded\n"
		  "of the others; 'all': each one so" },
		{ 'q', "quiet", NULL, "print nothing if all is well" },
		{ 0 }
	},
	.notes = "Exits with 0 if everything that is there is equal, else with 1"
		 " and a message that\n"
		 "names the first instruction that can be shown to differ;"
		 " also with 1 if the\n"
		 "recording was cut short before its first instruction.",
};

/* Reads what a replay does not need too, names of symbols for one. */
static int check_chunks(struct recording *recording, struct failure *why)
{
	const struct trace_reader *reader = recording_reader(recording);
	uint8_t *bytes;
	int rc = 0;

	for (size_t i = 0; i < trace_reader_count(reader) && !rc; i++) {
		rc = trace_reader_chunk(reader, i, &bytes, why);
		if (!rc)
			free(bytes);
	}
	return rc;
}

/* That nothing differs means nothing if nothing was executed. */
static int check_any(const struct recording *recording, struct failure *why)
{
	char *text;
	int rc;

	if (recording_summary(recording) ||
	    recording_end(recording) > recording_start(recording))
		return 0;
	text = damage_describe(recording);
	rc = failed(why, ERR_TRUNCATED, "there is nothing to verify: %s",
		    text ? text : "out of memory");
	free(text);
	return rc;
}

/* Replays each segment to its end, where the next key frame says what is. */
static int check_all(struct recording *recording, struct replayer *replayer,
		     struct failure *why)
{
	size_t segments = recording_segments(recording);
	struct progress progress;
	int rc = 0;

	replayer_in_order(replayer, true);
	progress_start(&progress, "verifying", recording_start(recording),
		       recording_end(recording));
	for (size_t i = 0; i < segments && !rc; i++) {
		struct differences found;

		progress_show(&progress, recording_time(recording, i));
		rc = replayer_seek_frame(replayer, i + 1, why);
		if (rc || i + 1 == segments)
			break;
		rc = replayer_check(replayer, i + 1, &found, why);
		if (rc == ERR_DIVERGED)
			rc = replayer_explain(replayer, i + 1, &found, why);
	}
	progress_end(&progress);
	return rc;
}

static int verify_thread(struct recording *recording, uint32_t stream,
			 bool quiet, struct failure *why)
{
	const struct alone_run run = {
		.stream = stream,
		.to = { recording_end(recording), EVENTS_ALL },
	};
	struct replayer *replayer = NULL;
	uint64_t steps;
	uint32_t tid;
	int rc;

	/* What the thread did was lost. */
	if (recording_first(recording, stream) > run.to.time)
		return 0;
	rc = recording_tid(recording,
			   recording_thread_of(recording, stream, run.to.time),
			   &tid,
			   why);
	if (!rc)
		rc = replayer_create(&replayer, recording, why);
	if (!rc)
		rc = replayer_run_alone(replayer, &run, &steps, why);
	if (!rc && !quiet)
		printf("verified thread %" PRIu32 " alone: %" PRIu64
		       " instructions\n", tid, steps);
	replayer_destroy(replayer);
	return rc;
}

/* One thread, or all of them, each by itself. */
static int verify_alone(struct recording *recording,
			const struct threads_text *threads, bool quiet,
			struct failure *why)
{
	uint64_t end = recording_end(recording);
	uint32_t stream, thread;
	int rc = 0;

	if (!threads->all) {
		rc = recording_find_thread(recording, threads->tid, end,
					   &thread, why);
		if (rc)
			return rc;
		stream = recording_stream_of(recording, thread, end);
		return verify_thread(recording, stream, quiet, why);
	}
	for (stream = 0; stream < recording_threads(recording) && !rc; stream++)
		rc = verify_thread(recording, stream, quiet, why);
	return rc;
}

static int verify_together(struct recording *recording, bool quiet,
			   struct failure *why)
{
	size_t frames = recording_segments(recording);
	struct replayer *replayer = NULL;
	int rc = replayer_create(&replayer, recording, why);

	if (!rc)
		rc = check_all(recording, replayer, why);
	if (!rc && !quiet)
		printf("verified %" PRIu64 " instructions, %zu key frame%s\n",
		       recording_end(recording) - recording_start(recording),
		       frames, frames == 1 ? "" : "s");
	replayer_destroy(replayer);
	return rc;
}

static int verify_file(const char *path, const struct threads_text *threads,
		       bool quiet, struct failure *why)
{
	struct recording *recording = NULL;
	int rc = recording_open(&recording, path, why);

	if (rc)
		return rc;
	rc = check_any(recording, why);
	if (!rc)
		rc = check_chunks(recording, why);
	if (!rc && threads->some)
		rc = recording_check_program(recording, why);
	if (!rc && recording_is_machine(recording))
		rc = machine_verify(recording, quiet, why);
	else if (!rc && threads->some)
		rc = verify_alone(recording, threads, quiet, why);
	else if (!rc)
		rc = verify_together(recording, quiet, why);
	if (!rc)
		damage_say(recording);
	recording_close(recording);
	return rc;
}

static int run(struct options *options)
{
	struct threads_text threads = { 0 };
	const char *path;
	bool quiet = false;
	struct failure why;
	int id;

	while ((id = options_next(options)) >= 0) {
		if (id == 'q') {
			quiet = true;
		} else if (!number_parse_threads(options->value, &threads)) {
			options_bad_value(options, id, NUMBER_THREADS_WANTED);
			return EXIT_USAGE;
		}
	}
	path = options_recording(options, id);
	if (!path)
		return options->status;
	if (verify_file(path, &threads, quiet, &why))
		return say_failure(&why);
	return finish_output(EXIT_ANSWERED);
}
