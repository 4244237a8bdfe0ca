/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_verify.c - cprec verify: does the replay equal the recording? */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "replayer/replayer.h"
#include "replayer/session/session.h"
#include "tools/commands.h"
#include "tools/damage.h"
#include "tools/machines.h"
#include "tools/messages.h"
#include "tools/options.h"
#include "tools/print.h"
#include "tools/processes.h"
#include "tools/progress.h"

static int run(struct options *options);

enum { OPTION_THREAD = 256, OPTION_ALL };

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
		{ OPTION_ALL, "all", NULL,
		  "all processes that were recorded together, each in\n"
		  "a line of its own", .without = "pid" },
		{ 'q', "quiet", NULL, "print nothing if all is well" },
		{ 0 }
	},
	.notes = "Exits with 0 if everything that is there is equal, else with 1"
		 " and a message that\n"
		 "names the first instruction that can be shown to differ;"
		 " also with 1 if the\n"
		 "recording was cut short before its first instruction.",
};

/* What is verified, and how it is told. */
struct verifying {
	struct threads_text threads;
	bool quiet, all;
	const struct process *process;	/* `all`: whose recording it is */
};

/* Whose line it is, where there are several. */
static void name_process(const struct verifying *verifying, char *text,
			 size_t room)
{
	const struct process *process = verifying->process;

	*text = '\0';
	if (process && process->turn > 1)
		snprintf(text, room, "%" PRIu32 "-%" PRIu32 " %s: ",
			 process->pid, process->turn,
			 process->name ? process->name : "?");
	else if (process)
		snprintf(text, room, "%" PRIu32 " %s: ", process->pid,
			 process->name ? process->name : "?");
}

__attribute__((format(printf, 2, 3)))
static void tell(const struct verifying *verifying, const char *format, ...)
{
	char name[80];
	va_list args;

	if (verifying->quiet)
		return;
	name_process(verifying, name, sizeof(name));
	print_escaped(stdout, name, strlen(name));
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
}

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

static int verify_thread(const struct verifying *verifying,
			 struct recording *recording, uint32_t stream,
			 struct failure *why)
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
	if (!rc)
		tell(verifying, "verified thread %" PRIu32 " alone: %" PRIu64
		     " instructions\n", tid, steps);
	replayer_destroy(replayer);
	return rc;
}

/* One thread, or all of them, each by itself. */
static int verify_alone(const struct verifying *verifying,
			struct recording *recording, struct failure *why)
{
	const struct threads_text *threads = &verifying->threads;
	uint64_t end = recording_end(recording);
	uint32_t stream, thread;
	int rc = 0;

	if (!threads->all) {
		rc = recording_find_thread(recording, threads->tid, end,
					   &thread, why);
		if (rc)
			return rc;
		stream = recording_stream_of(recording, thread, end);
		return verify_thread(verifying, recording, stream, why);
	}
	for (stream = 0; stream < recording_threads(recording) && !rc; stream++)
		rc = verify_thread(verifying, recording, stream, why);
	return rc;
}

static int verify_together(const struct verifying *verifying,
			   struct recording *recording, struct failure *why)
{
	size_t frames = recording_segments(recording);
	struct replayer *replayer = NULL;
	int rc = replayer_create(&replayer, recording, why);

	if (!rc)
		rc = check_all(recording, replayer, why);
	if (!rc)
		tell(verifying, "verified %" PRIu64
		     " instructions, %zu key frame%s\n",
		     recording_end(recording) - recording_start(recording),
		     frames, frames == 1 ? "" : "s");
	replayer_destroy(replayer);
	return rc;
}

static int verify_file(const struct verifying *verifying, const char *path,
		       struct failure *why)
{
	struct recording *recording = NULL;
	int rc = recording_open(&recording, path, why);

	if (rc)
		return rc;
	rc = check_any(recording, why);
	if (!rc)
		rc = check_chunks(recording, why);
	if (!rc && verifying->threads.some)
		rc = recording_check_program(recording, why);
	if (!rc && recording_is_machine(recording))
		rc = machine_verify(recording, verifying->quiet, why);
	else if (!rc && verifying->threads.some)
		rc = verify_alone(verifying, recording, why);
	else if (!rc)
		rc = verify_together(verifying, recording, why);
	if (!rc)
		damage_say(recording);
	recording_close(recording);
	return rc;
}

/* What is wrong with one process does not keep the others from being verified. */
static int verify_family(struct verifying *verifying,
			 const struct processes *processes)
{
	int status = EXIT_ANSWERED;

	for (size_t i = 0; i < processes->count; i++) {
		struct failure why;
		char name[80];

		verifying->process = &processes->list[i];
		if (!verify_file(verifying, processes->list[i].file->path,
				 &why))
			continue;
		name_process(verifying, name, sizeof(name));
		say("%s%s", name, why.text);
		status = EXIT_FAILED;
	}
	return status;
}

static int verify_all(struct verifying *verifying, const char *path)
{
	struct processes processes;
	struct family_files files;
	struct failure why;
	int status;

	if (family_files_find(&files, path, &why))
		return say_failure(&why);
	if (processes_load(&processes, &files, false, &why)) {
		status = say_failure(&why);
	} else {
		status = verify_family(verifying, &processes);
		processes_release(&processes);
	}
	family_files_release(&files);
	return status;
}

static int run(struct options *options)
{
	struct verifying verifying = { 0 };
	const char *path;
	struct failure why;
	int id;

	while ((id = options_next(options)) >= 0) {
		if (id == 'q') {
			verifying.quiet = true;
		} else if (id == OPTION_ALL) {
			verifying.all = true;
		} else if (!number_parse_threads(options->value,
						 &verifying.threads)) {
			options_bad_value(options, id, NUMBER_THREADS_WANTED);
			return EXIT_USAGE;
		}
	}
	path = options_recording(options, id);
	if (!path)
		return options->status;
	if (verifying.all)
		return finish_output(verify_all(&verifying, path));
	if (verify_file(&verifying, path, &why))
		return say_failure(&why);
	return finish_output(EXIT_ANSWERED);
}
