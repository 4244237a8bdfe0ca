/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - a command, its options, and the help text they make
 *
 * A command describes itself in one `struct command`; the list of commands,
 * parsing, help and completion all work from it.
 *
 * Ownership:  options_release() frees what a command line was found to mean;
 *             everything else is borrowed.
 * Errors:     a wrong option is told on standard error here; the command
 *             only returns the status.
 */
#ifndef CPREC_TOOLS_OPTIONS_H
#define CPREC_TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct option_info {
	int id;			/* what options_next() returns; below 256 it
				   is the short option too */
	const char *name;	/* without the two dashes */
	const char *argument;	/* "FILE"; NULL if it takes none */
	const char *summary;	/* further lines after '\n'; NULL: see
				   `instead` */

	/*
	 * Options with which alone it means something, and options with which
	 * it means nothing: their names, with a blank between; "-" is that
	 * word, as the last one.  NULL: none.
	 */
	const char *with, *without;

	/* There is no such option (any more): what to type in its place. */
	const char *instead;
};

/* What a command has behind its options. */
enum command_kind {
	COMMAND_ASKS,		/* a recording, or nothing: the newest here */
	COMMAND_RUNS_PROGRAM,	/* a program and its arguments: options end at
				   the first other argument */
	COMMAND_TAKES_WORDS,	/* a command line, likewise */
	COMMAND_TAKES_FILES,	/* files by their names, never the newest */
};

struct options;

struct command {
	const char *name;
	int (*run)(struct options *options);	/* returns the exit status */
	enum command_kind kind;
	bool makes;		/* files, with --json too: `serve` does not */

	/* For the list of all commands, unless these are NULL. */
	const char *arguments, *summary;

	/* For its help. */
	const char *usage;	/* after "usage: cprec "; may have lines */
	const char *about;	/* a paragraph */
	const struct option_info *options;	/* ended by a NULL name */
	const char *notes;	/* after the options; or NULL */
};

enum {
	OPTIONS_END = -1,	/* arguments follow */
	OPTIONS_WRONG = -2,	/* a message was printed */
	OPTIONS_HELP = -3,	/* the help was printed */
};

struct options {
	const struct command *command;
	int argc;
	char **argv;		/* its own name first */
	const char *value;	/* of the option just returned */
	int first;		/* index of the first argument, at the end */
	uint64_t given;		/* options, by their places in the table */
	const char *taken;	/* an argument that was taken off; or NULL */
	bool has_file;		/* the first argument is FILE, whatever it is
				   called */
	int status;		/* when there is nothing to do for a command */
	char *found;		/* a recording that was not named */
	const char *pid;	/* of the process that is meant; NULL: FILE's */
};

void options_release(struct options *options);

/*
 * All that a command has, with those that others have, too, but --help; NULL
 * behind the last.
 */
const struct option_info *options_at(const struct command *command,
				     size_t index);

/* The option that a word like "--at=5", "--at" or "-q" is; or NULL. */
const struct option_info *options_find(const struct command *command,
				       const char *word);

/* The next option's id, or one of the above. */
int options_next(struct options *options);

/*
 * Ends a command line; `id` is what options_next() returned last, or
 * OPTIONS_WRONG.  The recording that is asked about: the argument, or the
 * newest in this folder; with --pid, that of another of its family.  NULL if there is nothing to ask; then `status` is
 * set, and what had to be said was said.
 */
const char *options_recording(struct options *options, int id);

/* The same for a program and its arguments. */
char **options_program(struct options *options, int id);

/*
 * The same for names of files; fails if there are fewer than `least` or more
 * than `most`.
 */
char **options_files(struct options *options, int id, size_t least, size_t most,
		     size_t *count);

/* Whether the last argument is this one; then it is taken off. */
bool options_take_last(struct options *options, const char *text);

/*
 * Takes off the words behind FILE, which is the first argument if there is such
 * a file or it is called so.
 */
char **options_take_words(struct options *options, size_t *count);

/* Whether the first argument, which may be left out, is a recording. */
bool options_has_recording(const struct options *options);

/* Of an option of the command's table: whether it was given; its name. */
bool options_has(const struct options *options, int id);
const char *options_name(const struct options *options, int id);

/*
 * The value of the option just returned is no good: prints a message with
 * `wanted`, like "a number".  Returns OPTIONS_WRONG.
 */
int options_bad_value(const struct options *options, int id,
		      const char *wanted);

/*
 * The value of the option just returned is a time, in whatever recording:
 * `*out` is that text.  0, or OPTIONS_WRONG.
 */
int options_take_time(const struct options *options, int id, const char **out);

/* Prints "cprec: REASON; see 'cprec NAME --help'".  Returns OPTIONS_WRONG. */
int options_wrong(const struct options *options, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
