/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_strace.c - cprec strace: system calls and signals, as strace(1) does */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "replayer/replayer.h"
#include "replayer/session/session.h"
#include "replayer/symbols/symbols.h"
#include "tools/commands.h"
#include "tools/damage.h"
#include "tools/debug_notes.h"
#include "tools/messages.h"
#include "tools/opened.h"
#include "tools/options.h"
#include "tools/print.h"
#include "tools/strace_lines.h"

#define STRING_SHOWN 32u	/* as strace(1) has it */
#define STRING_MOST 65536u

static int run(struct options *options);

enum { OPTION_FROM = 256, OPTION_TO, OPTION_THREAD, OPTION_PROCESS,
       OPTION_DEBUG_DIR, OPTION_JSON };

const struct command command_strace = {
	.name = "strace",
	.run = run,
	.arguments = "[FILE] [-e EXPR]",
	.summary = "system calls and signals, as strace shows",
	.usage = "strace [OPTION...] [FILE]",
	.about = "Prints the system calls of a process with their arguments and"
		 " results, and its\n"
		 "signals, in the form of strace(1), each behind its time.  All"
		 " threads are there;\n"
		 "other processes are asked for by --pid; of a machine, all"
		 " processes are there,\n"
		 "unless --process is given.",
	.options = (const struct option_info[]) {
		{ 'e', "trace", "EXPR",
		  "only these: names of calls with commas between,\n"
		  "trace=openat,close; sets, trace=%file (%desc,\n"
		  "%network, %process, %memory, %signal, %ipc, %creds,\n"
		  "%clock, %stat, %%stat, %lstat, %fstat, %statfs,\n"
		  "%fstatfs, %%statfs, %pure); trace=/REGEX; trace=!futex:\n"
		  "all others; signal=SIGINT or signal=none of signals;\n"
		  "status=failed (successful, unfinished): only calls\n"
		  "that ended so; may be given several times" },
		{ 'z', "successful-only", NULL,
		  "only calls that did not fail: -e status=successful" },
		{ 'Z', "failed-only", NULL,
		  "only calls that failed: -e status=failed" },
		{ 't', "absolute-timestamps", NULL,
		  "the time of the day when each call began, as far as\n"
		  "the recording tells it; -tt: with microseconds; -ttt:\n"
		  "seconds since 1970" },
		{ OPTION_FROM, "from", "T",
		  "from this time on, as 'cprec query --help' says" },
		{ OPTION_TO, "to", "T", "up to this time" },
		{ OPTION_THREAD, "thread", "TID", "only this thread, or 'all'" },
		{ OPTION_PROCESS, "process", "P",
		  "of a machine: only this process of its kernel, a\n"
		  "number or a name" },
		{ 'c', "summary-only", NULL,
		  "only how many calls there were, and failed, by name",
		  .without = "stack-trace" },
		{ 'k', "stack-trace", NULL,
		  "who called whom, below each call" },
		{ 's', "string-limit", "N",
		  "characters of a string that are shown; without\n"
		  "this: 32" },
		{ 'y', "decode-fds", NULL,
		  "files behind descriptors, as far as the process\n"
		  "opened them; of a machine, as its kernel has them" },
		{ 'f', "follow-forks", NULL,
		  "nothing: for those who are used to it" },
		{ OPTION_DEBUG_DIR, "debug-dir", "DIR",
		  "where debugging information is looked for, too",
		  .with = "stack-trace" },
		{ OPTION_JSON, "json", NULL,
		  "one JSON object for each call or signal" },
		{ 0 }
	},
	.notes = "The time of a call is behind it: registers and memory have"
		 " its results there.\n"
		 "One instruction before, it has not begun.",
};

struct asked {
	const char *from, *to;
	struct threads_text threads;
	const char *process;	/* of a machine; NULL: all */
	bool backtraces;
	struct strace_lines lines;
};

/* Nobody reads on. */
static bool is_enough(void *context, uint64_t t)
{
	(void)context;
	(void)t;
	return print_is_over();
}

/* Which thread is the only one, if it is one. */
static int find_thread(struct asked *asked, struct recording *recording,
		       struct failure *why)
{
	uint32_t thread;

	asked->lines.one_thread = asked->threads.some && !asked->threads.all;
	asked->lines.tid = asked->threads.tid;
	return asked->lines.one_thread && !recording_is_machine(recording) ?
		       recording_find_thread(recording, asked->threads.tid,
					     recording_end(recording), &thread,
					     why) : 0;
}

static int find_times(const struct asked *asked, struct recording *recording,
		      struct position *from, struct position *to,
		      struct failure *why)
{
	bool is_time;
	int rc = place_position(from, &is_time, recording, asked->from, why);

	if (!rc)
		rc = place_position(to, &is_time, recording, asked->to, why);
	if (!rc && position_compare(from, to) > 0)
		rc = failed(why, ERR_INPUT, "'%s' is after '%s'", asked->from,
			    asked->to);
	return rc;
}

/* Of a program, or of those on a machine's kernel. */
static int visit_list(struct asked *asked, struct opened *opened,
		      const struct calls_list *list,
		      const struct position *from, const struct position *to,
		      struct failure *why)
{
	struct kernel_calls calls = {
		.list = list, .query = opened->query,
		.names = lines_names(opened->lines), .process = asked->process,
	};
	struct strace_lines *lines = &asked->lines;
	int rc;

	if (!recording_is_machine(opened->recording))
		return calls_list_visit(list, from, to, why);
	rc = opened_kernel(opened, why);
	calls.kernel = lines->kernel = opened->kernel;
	return rc ? rc : kernel_calls_visit(&calls, from, to, why);
}

static int visit(struct asked *asked, struct opened *opened,
		 struct failure *why)
{
	struct recording *recording = opened->recording;
	struct strace_lines *lines = &asked->lines;
	const struct calls_list list = {
		.replayer = lines->replayer,
		.recording = recording,
		.visit = strace_lines_visit,
		.is_enough = is_enough,
		.context = lines,
	};
	struct position from, to;
	int rc = find_times(asked, recording, &from, &to, why);

	if (!rc)
		rc = find_thread(asked, recording, why);
	if (!rc)
		rc = strace_lines_start(lines);
	if (!rc)
		rc = visit_list(asked, opened, &list, &from, &to, why);
	if (!rc)
		strace_lines_end(lines);
	return rc;
}

static int answer(struct asked *asked, const char *path, struct failure *why)
{
	struct opened *opened;
	struct strace_lines *lines = &asked->lines;
	int rc = opened_begin_any(&opened, path, why);

	if (rc)
		return rc;
	if (asked->process && !recording_is_machine(opened->recording))
		rc = failed(why, ERR_INPUT, "--process is for machines only");
	lines->recording = opened->recording;
	lines->why = why;
	if (!rc)
		rc = opened_ask(opened, why);
	if (asked->backtraces)
		lines->symbols = opened->lines;
	if (!rc)
		rc = query_replayer(opened->query, &lines->replayer, why);
	if (!rc)
		rc = visit(asked, opened, why);
	if (!rc)
		damage_say(opened->recording);
	strace_lines_release(lines);
	opened_end(opened);
	return rc;
}

/* ------- the command ------- */

static int take_filter(const struct options *options,
		       struct strace_filter *filter)
{
	struct failure why;

	return filter_take(filter, options->value, &why) ?
		       options_wrong(options, "%s", why.text) : 0;
}

static int take_size(const struct options *options, int id, unsigned *out)
{
	uint64_t size;

	if (!number_parse(options->value, &size) || size > STRING_MOST)
		return options_bad_value(options, id, "0 to 65536 characters");
	*out = (unsigned)size;
	return 0;
}

static int take_option(const struct options *options, int id,
		       struct asked *asked)
{
	switch (id) {
	case 'e':
		return take_filter(options, &asked->lines.filter);
	case 'z':
		filter_take_status(&asked->lines.filter, FILTER_SUCCESSFUL);
		break;
	case 'Z':
		filter_take_status(&asked->lines.filter, FILTER_FAILED);
		break;
	case 't':
		asked->lines.clock++;
		break;
	case 's':
		return take_size(options, id, &asked->lines.string_most);
	case OPTION_FROM:
		return options_take_time(options, id, &asked->from);
	case OPTION_TO:
		return options_take_time(options, id, &asked->to);
	case OPTION_THREAD:
		if (!number_parse_threads(options->value, &asked->threads))
			return options_bad_value(options, id,
						 NUMBER_THREADS_WANTED);
		break;
	case OPTION_DEBUG_DIR:
		debug_folders_take(options->value);
		break;
	case OPTION_PROCESS:
		asked->process = options->value;
		break;
	case 'c':
		asked->lines.counts = true;
		break;
	case 'k':
		asked->backtraces = true;
		break;
	case 'y':
		asked->lines.names_files = true;
		break;
	case OPTION_JSON:
		asked->lines.json = true;
		break;
	}
	return 0;
}

static int run(struct options *options)
{
	struct asked asked = {
		.from = "start", .to = "end",
		.lines.string_most = STRING_SHOWN,
	};
	struct failure why;
	const char *path;
	int id;

	while ((id = options_next(options)) >= 0)
		if (take_option(options, id, &asked))
			return EXIT_USAGE;
	path = options_recording(options, id);
	if (!path)
		return options->status;
	if (answer(&asked, path, &why)) {
		fflush(stdout);
		return say_failure(&why);
	}
	return finish_output(EXIT_ANSWERED);
}
