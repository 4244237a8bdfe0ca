/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gdb_find.c - see gdb_find.h
 *
 * A distribution's gdb may know no processor but its own; Debian's gdb-multiarch
 * knows all.  gdb names them as recordings do.
 */
#include "tools/gdb_find.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/registers.h"
#include "formats/trace_file.h"
#include "tools/find_program.h"

extern char **environ;

static const char plain[] = "gdb", multiarch[] = "gdb-multiarch";

static bool is_there(const char *name)
{
	char path[PATH_MAX];

	return !find_program(path, name);
}

/* Whether gdb takes it for one that it knows: it exits with 0 then. */
static bool knows(const char *name, const char *arch)
{
	char command[64], program[] = "gdb", none[] = "-nx", ends[] = "-batch",
	     option[] = "-ex";
	char *const words[] = { program, none, ends, option, command, NULL };
	posix_spawn_file_actions_t actions;
	char path[PATH_MAX];
	int status = -1;
	pid_t pid;

	if (find_program(path, name))
		return false;
	snprintf(command, sizeof(command), "set architecture %s", arch);
	if (posix_spawn_file_actions_init(&actions))
		return false;
	if (!posix_spawn_file_actions_addopen(&actions, STDIN_FILENO,
					      "/dev/null", O_RDWR, 0) &&
	    !posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO,
					      STDOUT_FILENO) &&
	    !posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO,
					      STDERR_FILENO) &&
	    !posix_spawnp(&pid, path, &actions, NULL, words, environ))
		waitpid(pid, &status, 0);
	posix_spawn_file_actions_destroy(&actions);
	return status == 0;
}

/* NULL: what is there is no recording; whoever opens it says so. */
static const struct reg_table *table_of(const char *path)
{
	const struct reg_table *table = NULL;
	struct trace_reader *reader;

	/* Whoever comes next opens the recording: here the header will do. */
	if (!trace_reader_open(&reader, path, NULL)) {
		table = reg_table(trace_reader_header(reader)->arch);
		trace_reader_close(reader);
	}
	return table;
}

bool arch_is_own(unsigned arch)
{
	return arch == ARCH_X86_64;
}

/* A gdb for x86-64 is one for i386, too. */
static bool gdb_is_own(unsigned arch)
{
	return arch_is_own(arch) || arch == ARCH_I386;
}

const char *gdb_find(const char *path, char why[GDB_WHY])
{
	const struct reg_table *table = path ? table_of(path) : NULL;
	bool is_own = path && (!table || gdb_is_own(table->arch));

	if (!is_own && is_there(multiarch))
		return multiarch;
	if (is_there(plain) && (is_own || !table || knows(plain, table->name)))
		return plain;
	if (is_own || !table)
		snprintf(why, GDB_WHY, "gdb is not installed");
	else
		snprintf(why, GDB_WHY, "no gdb here knows %s; that of the package "
			 "%s does", table->name, multiarch);
	return NULL;
}
