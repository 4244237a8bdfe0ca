/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gdb_version.c - see gdb_version.h */
#include "tools/gdb_version.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/commands.h"
#include "tools/find_program.h"
#include "tools/messages.h"

#define LINE_SIZE 256

extern char **environ;

/* Starts it with its output on `fd`; 0, or what errno would be. */
static int start(const char *name, int fd, pid_t *pid)
{
	char program[] = "gdb", option[] = "--version";
	char *const words[] = { program, option, NULL };
	posix_spawn_file_actions_t actions;
	char path[PATH_MAX];
	int rc = find_program(path, name);

	if (!rc)
		rc = posix_spawn_file_actions_init(&actions);
	if (rc)
		return rc;
	rc = posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
	if (!rc)
		rc = posix_spawnp(pid, path, &actions, NULL, words, environ);
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

/* Its first line; all that follows is read, too. */
static int read_first_line(const char *name, char line[LINE_SIZE])
{
	char rest[LINE_SIZE];
	int ends[2], rc;
	FILE *in;
	pid_t pid;

	*line = '\0';
	if (pipe2(ends, O_CLOEXEC))
		return errno;
	rc = start(name, ends[1], &pid);
	close(ends[1]);
	in = fdopen(ends[0], "r");
	if (!in) {
		close(ends[0]);
	} else if (!rc && fgets(line, LINE_SIZE, in)) {
		while (fgets(rest, sizeof(rest), in))
			;
	}
	if (in)
		fclose(in);
	if (!rc)
		waitpid(pid, NULL, 0);
	return rc;
}

int gdb_check_version(const char *name, unsigned least)
{
	char line[LINE_SIZE];
	int rc = read_first_line(name, line);
	const char *version;

	if (rc) {
		say("cannot start %s: %s", name, strerror(rc));
		return rc == ENOENT ? EXIT_NO_PROGRAM : EXIT_UNUSABLE;
	}
	line[strcspn(line, "\n")] = '\0';
	/* "GNU gdb (Debian 13.1-3) 13.1" */
	version = strrchr(line, ' ');
	if (strncmp(line, "GNU gdb", 7) || !version) {
		say("'%s --version' is not an answer of gdb's", name);
		return EXIT_UNUSABLE;
	}
	if (strtoul(version + 1, NULL, 10) >= least)
		return EXIT_ANSWERED;
	say("gdb %u or newer is needed, but %s is version %s", least, name,
	    version + 1);
	return EXIT_UNUSABLE;
}
