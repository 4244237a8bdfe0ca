/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_record.c - cprec record: runs a program and writes its recording */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/cache.h"
#include "formats/error.h"
#include "recorder/recorder.h"
#include "replayer/session/session.h"
#include "replayer/symbols/symbols.h"
#include "tools/commands.h"
#include "tools/debug_notes.h"
#include "tools/keep_old.h"
#include "tools/messages.h"
#include "tools/options.h"
#include "tools/programs.h"
#include "tools/record_crash.h"
#include "tools/record_exit.h"
#include "tools/record_machine.h"
#include "vm/linux/load/load.h"

static int run(struct options *options);

/* Of the recording, without -o. */
static const char standard_name[] = "trace.cpr";

enum {
	OPTION_ASLR = 256,
	OPTION_CACHE_SIZE,
	OPTION_DEBUG_DIR,
	OPTION_LEVEL,
	OPTION_NO_CHILDREN,
	OPTION_SCHEDULE,
	OPTION_SEGMENT,
	OPTION_SLICE,
	OPTION_SYSROOT,
	OPTION_WITH_DEBUG,
};

const struct command command_record = {
	.name = "record",
	.run = run,
	.arguments = "PROGRAM [ARGUMENT...]",
	.summary = "run a program and record it",
	.usage = "record [OPTION...] [--] PROGRAM [ARGUMENT...]\n"
		 "       cprec record --machine=virt --kernel=IMAGE"
		 " [OPTION...]",
	.about = "Runs a program and writes a recording of every instruction"
		 " it executes.  Or\n"
		 "does so with a whole machine, and the kernel that it runs.",
	.options = (const struct option_info[]) {
		{ 'o', "output", "FILE",
		  "the recording; without this: trace.cpr\n"
		  "(an old FILE is kept as FILE.old; of a symbolic\n"
		  "link, the file that it leads to is meant; other\n"
		  "processes are recorded into FILE.d)" },
		{ 'q', "quiet", NULL,
		  "no notes about the program; errors only, and\n"
		  "the instruction that killed it, if one did" },
		{ OPTION_ASLR, "aslr", NULL,
		  "let addresses differ from run to run",
		  .without = "machine" },
		{ OPTION_SYSROOT, "sysroot", "DIR", OPTION_SYSROOT_TEXT,
		  .without = "machine" },
		{ OPTION_CACHE_SIZE, "cache-size", "N",
		  "entries of the prediction cache: 16k, 32k\n"
		  "(without this) or 64k" },
		{ OPTION_SEGMENT, "segment", "N",
		  "shortest way between key frames, in instructions\n"
		  "(k, m, g: thousands, millions, billions)" },
		{ OPTION_NO_CHILDREN, "no-children", NULL,
		  "leave processes that the program starts unrecorded",
		  .without = "machine" },
		{ OPTION_SLICE, "slice", "N",
		  "longest turn of a thread, in instructions (k, m,\n"
		  "g); without this: 1m", .without = "machine" },
		{ OPTION_SCHEDULE, "schedule", "HOW",
		  "random or random:SEED: turns of random lengths in\n"
		  "random order; the same SEED gives the same turns",
		  .without = "machine" },
		{ OPTION_LEVEL, "level", "N",
		  "of compression: 1 (fast) to 19 (small)" },
		{ OPTION_WITH_DEBUG, "with-debug", NULL,
		  "keep the debugging information of the program and\n"
		  "its libraries in the recording",
		  .without = "machine" },
		{ OPTION_DEBUG_DIR, "debug-dir", "DIR",
		  "where debugging information is looked for, too" },
		MACHINE_ROWS,
		{ 0 }
	},
	.notes = PROGRAM_EXIT_NOTES,
	.kind = COMMAND_RUNS_PROGRAM,
};

static bool take_number(const struct options *options, uint64_t unit,
			uint64_t least, uint64_t most, uint64_t *out)
{
	return number_parse_scaled(options->value, unit, out) &&
	       *out >= least && *out <= most;
}

/* "random" or "random:5" */
static bool take_schedule(const char *text, struct linux_schedule *out)
{
	static const char word[] = "random";
	size_t size = strlen(word);

	if (strncmp(text, word, size) != 0)
		return false;
	out->random = true;
	if (text[size] == ':')
		return number_parse(text + size + 1, &out->seed);
	return !text[size] && getrandom(&out->seed, sizeof(out->seed), 0) ==
				      sizeof(out->seed);
}

/* Takes one option.  Returns 0 or OPTIONS_WRONG. */
static int join_debug(int fd, const char *name, const char *module)
{
	const struct debug_place place = { .file = name, .module = module };

	return split_join(fd, &place);
}

static int take_option(const struct options *options, int id,
		       struct recorder_options *out)
{
	uint64_t number;

	switch (id) {
	case 'o':
		out->path = options->value;
		if (!*out->path || !strcmp(out->path, "-"))
			return options_bad_value(options, id, "a file name (a"
						 " recording cannot be written"
						 " to a pipe)");
		break;
	case 'q':
		out->notice = program_quiet_notice;
		out->died = NULL;
		break;
	case OPTION_ASLR:
		out->program.aslr = true;
		break;
	case OPTION_SYSROOT:
		out->program.sysroot = options->value;
		break;
	case OPTION_NO_CHILDREN:
		out->no_children = true;
		break;
	case OPTION_CACHE_SIZE:
		if (!take_number(options, 1024, 1, UINT_MAX, &number) ||
		    !cache_is_size(number))
			return options_bad_value(options, id,
						 "16k, 32k or 64k");
		out->cache_entries = (unsigned)number;
		break;
	case OPTION_SEGMENT:
		if (!take_number(options, 1000, 1, UINT64_MAX,
				 &out->segment_steps))
			return options_bad_value(options, id,
						 "a number above 0");
		break;
	case OPTION_SLICE:
		if (!take_number(options, 1000, 1, UINT64_MAX,
				 &out->schedule.slice_steps))
			return options_bad_value(options, id,
						 "a number above 0");
		break;
	case OPTION_SCHEDULE:
		if (!take_schedule(options->value, &out->schedule))
			return options_bad_value(options, id,
						 "'random' or 'random:SEED'");
		break;
	case OPTION_LEVEL:
		if (!take_number(options, 1, 1, 19, &number))
			return options_bad_value(options, id,
						 "a number from 1 to 19");
		out->level = (int)number;
		break;
	case OPTION_WITH_DEBUG:
		out->debug_files = debug_search_files;
		out->join_debug = join_debug;
		break;
	case OPTION_DEBUG_DIR:
		debug_folders_take(options->value);
		break;
	}
	return 0;
}

/* Some are of machines. */
static int take_any_option(const struct options *options, int id,
			   struct recorder_options *out,
			   struct machine_options *machine, bool *is_machine)
{
	if (id < OPTION_MACHINE)
		return take_option(options, id, out);
	*is_machine |= id == OPTION_MACHINE;
	return machine_take_option(options, id, machine);
}

/* The program may go elsewhere while it is recorded. */
static const char *absolute(const char *path, char *text, size_t room)
{
	char here[PATH_MAX];

	if (path[0] == '/' || !getcwd(here, sizeof(here)))
		return path;
	snprintf(text, room, "%s/%s", strcmp(here, "/") ? here : "", path);
	return text;
}

/* The seed is kept with the recording, so that it can be used again. */
static const char *describe_maker(const struct recorder_options *recorder,
				  char *text, size_t room)
{
	int size = snprintf(text, room, "cprec %s", CPREC_RELEASE);

	if (recorder->schedule.random)
		snprintf(text + size, room - (size_t)size,
			 ", schedule random:%" PRIu64, recorder->schedule.seed);
	return text;
}

struct job {
	struct recorder_options options;	/* first: see ended() */
	const char *typed;	/* the recording, as the user wrote it */
	bool is_named;		/* by the user */
	struct record_crash crash;
	struct keep_old keep;
	char target[PATH_MAX];	/* if the recording's name is a link */
	pid_t process;
};

static _Noreturn void end(struct job *job, int rc,
			  const struct linux_result *result,
			  const struct failure *why)
{
	/* The program's children come here too. */
	if (getpid() == job->process)
		keep_old_end(&job->keep);
	if (rc)
		exit(program_not_run(rc, why));
	record_crash_say(&job->crash, getpid() == job->process);
	/* --quiet, which leaves out `died`, leaves out this note, too. */
	if (job->options.died && getpid() == job->process &&
	    result->outcome != LINUX_KILLED && result->status)
		record_exit_say(job->options.path, job->typed, result->status);
	linux_exit_like(result);
}

/* An instruction that the processor lacks is what it dies of. */
static bool is_explained;

static void tell(void *context, enum linux_notice kind, const char *text)
{
	is_explained |= kind == NOTICE_INSTRUCTION;
	program_notice(context, kind, text);
}

static void died(const struct recorder_options *options,
		 const struct recorder_death *death)
{
	struct job *job = (struct job *)(uintptr_t)options;

	if (!is_explained || death->signal != SIGILL)
		record_crash_note(&job->crash, death, options->path,
				  job->typed);
}

/*
 * In another thread of cprec than that which began.  The attribute is part of
 * the type, which _Noreturn is not for clang.
 */
static void ended(const struct recorder_options *options, int rc,
		  const struct linux_result *result,
		  const struct failure *why) __attribute__((noreturn));

static void ended(const struct recorder_options *options, int rc,
		  const struct linux_result *result,
		  const struct failure *why)
{
	end((struct job *)(uintptr_t)options, rc, result, why);
}

/* ------- the recording's name ------- */

/* A folder that cannot be written to is often the one where the user happens
 * to be: said before anything is moved. */
static int check_folder(const struct job *job, struct failure *why)
{
	char folder[PATH_MAX * 2];

	snprintf(folder, sizeof(folder), "%s", job->options.path);
	if (!faccessat(AT_FDCWD, dirname(folder), W_OK | X_OK, AT_EACCESS))
		return 0;
	return failed(why, ERR_SYSTEM, "cannot create '%s': %s%s",
		      job->options.path, strerror(errno),
		      job->is_named ? "" :
				      "; -o FILE puts the recording elsewhere");
}

/* What a link leads to is replaced, as any other program would do it. */
static int follow_link(struct job *job, struct failure *why)
{
	const char *path = job->options.path;
	struct stat status;

	if (lstat(path, &status) || !S_ISLNK(status.st_mode))
		return 0;
	if (!realpath(path, job->target))
		return failed(why, ERR_SYSTEM,
			      "cannot follow the symbolic link '%s': %s", path,
			      strerror(errno));
	job->options.path = job->target;
	return 0;
}

static bool is_same_file(const char *path, const char *other)
{
	struct stat a, b;

	return !stat(path, &a) && !stat(other, &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

/* Neither FILE nor what keep_old.h moves may be the program. */
static bool is_in_the_way(const char *path, const struct program *program)
{
	static const char *const ends[] = { "", ".old", ".old~" };
	char name[PATH_MAX * 2 + 8];

	if (access(path, F_OK))
		return false;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", path, ends[i]);
		if (is_same_file(name, program->typed) ||
		    is_same_file(name, program->path))
			return true;
	}
	return false;
}

/* If there is no such program, the recorder says so. */
static int spare_program(const struct job *job, struct failure *why)
{
	struct program program;
	int rc = 0;

	if (program_find(&program, &job->options.program, NULL))
		return 0;
	if (is_in_the_way(job->options.path, &program))
		rc = failed(why, ERR_SYSTEM,
			    "cannot write a recording to '%s': that would"
			    " replace or move the program that is recorded",
			    job->options.path);
	program_release(&program);
	return rc;
}

/* What is there already is kept until the recording is. */
static int make_room(struct job *job, struct failure *why)
{
	int rc = check_folder(job, why);

	return rc ? rc : keep_old_begin(&job->keep, job->options.path, why);
}

static int record(struct job *job)
{
	struct linux_result result;
	struct failure why;
	int rc = follow_link(job, &why);

	if (!rc)
		rc = spare_program(job, &why);
	if (!rc)
		rc = make_room(job, &why);

	/* ERR_INPUT would speak of the program. */
	if (rc)
		return program_not_run(ERR_SYSTEM, &why);
	record_crash_prepare(&job->crash);
	job->process = getpid();
	rc = recorder_run(&job->options, &result, &why);
	end(job, rc, &result, &why);
}

/* Room for the recording of a machine, and then its recording. */
static int record_machine(struct job *job, struct machine_options *machine)
{
	struct failure why;
	int status, rc = follow_link(job, &why);

	if (!rc)
		rc = make_room(job, &why);
	if (rc)
		return program_not_run(ERR_SYSTEM, &why);
	machine->path = job->options.path;
	machine->made_by = job->options.made_by;
	machine->cache_entries = job->options.cache_entries;
	machine->segment_steps = job->options.segment_steps;
	machine->level = job->options.level;
	status = machine_run(machine, !job->options.died);
	keep_old_end(&job->keep);
	return status;
}

/* Whether the command line of a machine is all right. */
static bool is_machine_complete(struct options *options, int id,
				const struct machine_options *machine)
{
	size_t count;

	return options_files(options, id, 0, 0, &count) &&
	       machine_check(options, machine);
}

static int run(struct options *options)
{
	struct machine_options machine = { .argv = options->argv };
	struct job job = {
		.options = {
			.program.envp = environ,
			.path = standard_name,
			.cache_entries = CACHE_ENTRIES_DEFAULT,
			.notice = tell,
			.died = died,
			.ended = ended,
		},
	};
	struct recorder_options *recorder = &job.options;
	char path[PATH_MAX * 2], made_by[100];
	char **arguments = NULL;
	bool is_machine = false;
	int id;

	machine_options_init(&machine);
	while ((id = options_next(options)) >= 0)
		if (take_any_option(options, id, recorder, &machine,
				    &is_machine))
			return EXIT_USAGE;
	if (!is_machine)
		arguments = options_program(options, id);
	if (is_machine ? !is_machine_complete(options, id, &machine) :
			 !arguments)
		return options->status;
	job.typed = recorder->path;
	job.is_named = recorder->path != standard_name;
	recorder->path = absolute(recorder->path, path, sizeof(path));
	debug_search_stay();
	recorder->made_by = describe_maker(recorder, made_by, sizeof(made_by));
	if (is_machine)
		return record_machine(&job, &machine);
	recorder->program.argv = arguments;
	recorder->program.program = recorder->program.argv[0];
	return record(&job);
}
