/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * commands.h - the commands of cprec, and how they exit
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

struct command;

/* All of them, in the order of help; ends with NULL. */
extern const struct command *const commands[];

/* The command of this name, or NULL. */
const struct command *command_find(const char *name);

extern const struct command command_accesses, command_last, command_reads,
	command_writes;
extern const struct command command_backtrace, command_calls, command_complete,
	command_dap, command_debug, command_disassemble, command_dmesg,
	command_dump,
	command_gdb, command_gdbserver, command_heap, command_index,
	command_info, command_log, command_maps, command_query, command_races,
	command_record, command_registers, command_replay, command_run,
	command_serve, command_source, command_strace, command_symbols,
	command_verify, command_when;

/* Of families. */
extern const struct command command_ls, command_mv, command_pack,
	command_ps, command_rm, command_unpack;

#endif
