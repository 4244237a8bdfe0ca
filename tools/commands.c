/* SPDX-License-Identifier: GPL-2.0-or-later */
/* commands.c - see commands.h */
#include "tools/commands.h"

#include <stddef.h>
#include <string.h>

#include "tools/options.h"

const struct command *const commands[] = {
	&command_record,
	&command_debug,
	&command_gdb,
	&command_query,
	&command_last,
	&command_writes,
	&command_reads,
	&command_accesses,
	&command_backtrace,
	&command_registers,
	&command_source,
	&command_disassemble,
	&command_maps,
	&command_calls,
	&command_log,
	&command_when,
	&command_heap,
	&command_info,
	&command_index,
	&command_replay,
	&command_verify,
	&command_races,
	&command_strace,
	&command_dump,
	&command_symbols,
	&command_gdbserver,
	&command_dap,
	&command_serve,
	&command_ps,
	&command_dmesg,
	&command_ls,
	&command_mv,
	&command_rm,
	&command_pack,
	&command_unpack,
	&command_run,
	&command_complete,
	NULL
};

const struct command *command_find(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}
