/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gdb_start.h - becomes gdb, on a recording
 *
 * gdb is connected with what `cprec gdbserver` does, which this program does,
 * too.
 */
#ifndef CPREC_TOOLS_GDB_START_H
#define CPREC_TOOLS_GDB_START_H

#include <stdbool.h>
#include <stddef.h>

struct options;

/* All is borrowed. */
struct gdb_start {
	const char *gdb;		/* the program */
	const char *interpreter;	/* as `gdb -i`; NULL: gdb's own */
	const char *path;		/* of the recording; NULL: not yet */
	const char *from;		/* as `gdbserver --from`; NULL */

	/*
	 * A command of a script's, that is given the command line of a server
	 * and connects when it wants to; NULL: at once.
	 */
	const char *connect;
	const char *const *scripts;	/* of ours, by name, NULL-ended; NULL */
	const char *then;		/* a command, when it is connected; NULL */
	const char *commands;		/* a file of gdb's commands; NULL */
	char **more;			/* gdb's own options */
	size_t more_count;
};

/* Rows that tables of options share. */
#define OPTION_GDB 512
#define GDB_BEGIN_OPTIONS                                                     \
	{ 'g', "goto", "T", "begin at this time, or at 'main'" },             \
	{ 'e', "end", NULL, "begin at the end", NULL, "goto", NULL }
#define OPTION_EXECUTE 513
#define OPTION_FOLDERS 514
#define GDB_FIRST_OPTIONS                                                     \
	{ 'x', "command", "F", "commands that are executed first" },          \
	{ OPTION_EXECUTE, "ex", "COMMAND",                                    \
	  "a command that is executed first; may be repeated" },            \
	{ OPTION_FOLDERS, "debug-dir", "DIR",                                 \
	  "where debugging information is looked for, too" }
#define GDB_PROGRAM_OPTION { OPTION_GDB, "gdb", "PROGRAM", "this gdb" }

/* "-ex" of a command line is "--ex": gdb has it so. */
void gdb_allow_one_dash(struct options *options);

/*
 * Takes gdb's own options off, as options_take_words() does: what is no option
 * before them is FILE, also if it is not there.
 */
char **gdb_take_words(struct options *options, size_t *count);

/* Takes one of these options, or 'x': a file of commands.  False: it is another
 * one. */
bool gdb_take_option(struct gdb_start *start, int id, const char *value);

/* Returns only if gdb does not start: a status to exit with; it is told why. */
int gdb_start(const struct gdb_start *start);

#endif
