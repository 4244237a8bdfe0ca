/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - options of a command, and the help text they make
 *
 * A command describes itself in one `struct command_help`; parsing and
 * `cprec COMMAND --help` both work from it.
 *
 * Ownership:  everything is borrowed.
 * Errors:     a wrong option is told on standard error here; the command
 *             only returns its status for wrong usage.
 */
#ifndef CPREC_TOOLS_OPTIONS_H
#define CPREC_TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct option_info {
	int id;			/* what options_next() returns; below 256 it
				   is the short option too */
	const char *name;	/* without the two dashes */
	const char *argument;	/* "FILE"; NULL if it takes none */
	const char *summary;	/* further lines after '\n' */
};

struct command_help {
	const char *name;
	const char *usage;	/* after "usage: cprec "; may have lines */
	const char *about;	/* a paragraph */
	const struct option_info *options;	/* ended by a NULL name */
	const char *notes;	/* after the options; or NULL */
	bool runs_program;	/* options end at the first other argument */
};

enum {
	OPTIONS_END = -1,	/* `first` is the first argument */
	OPTIONS_WRONG = -2,	/* a message was printed */
	OPTIONS_HELP = -3,	/* the help was printed */
};

struct options {
	const struct command_help *help;
	int argc;
	char **argv;
	const char *value;	/* of the option just returned */
	int first;		/* index of the first argument, at the end */
};

#define OPTIONS(help, argc, argv) { &(help), argc, argv, NULL, 0 }

/* The next option's id, or one of the above. */
int options_next(struct options *options);

/* The number of arguments after the options. */
int options_left(const struct options *options);

/* The one argument of most commands; NULL after a message if it is not so. */
const char *options_file(const struct options *options);

/*
 * The value of the option just returned is no good: prints a message with
 * `wanted`, like "a number".  Returns OPTIONS_WRONG.
 */
int options_bad_value(const struct options *options, int id,
		      const char *wanted);

/* Prints "cprec: REASON; see 'cprec NAME --help'".  Returns OPTIONS_WRONG. */
int options_wrong(const struct options *options, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
