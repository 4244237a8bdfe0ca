/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * commands.h - the commands of cprec, and how they exit
 *
 * A command gets its arguments as main() does, its own name first, and
 * returns the exit status.
 */
#ifndef CPREC_TOOLS_COMMANDS_H
#define CPREC_TOOLS_COMMANDS_H

#define EXIT_ANSWERED	0
#define EXIT_FAILED	1	/* one line on standard error says why */
#define EXIT_USAGE	2

/* `record` and `run`: the program's own status, or, as env(1) has it: */
#define EXIT_CPREC	125	/* cprec itself failed */
#define EXIT_UNUSABLE	126	/* the program cannot be run */
#define EXIT_NO_PROGRAM	127	/* there is no such program */

int cmd_dump(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_query(int argc, char **argv);
int cmd_races(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_verify(int argc, char **argv);

#endif
