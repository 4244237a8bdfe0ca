/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gdb_scripts.c - see gdb_scripts.h
 *
 * gdb gets a script as an open file without a name: a copy of the program, in
 * whatever folder, has the scripts that belong to it, and nothing is left behind.
 */
#include "tools/gdb_scripts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct gdb_script {
	const char *name;
	const unsigned char *bytes;
	size_t size;
} scripts[] = {
#include "tools/gdb_scripts.inc"
};

static const struct gdb_script *find(const char *name)
{
	for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++)
		if (!strcmp(scripts[i].name, name))
			return &scripts[i];
	return NULL;
}

/* Returns a descriptor that stays open in gdb, or -1. */
static int open_script(const struct gdb_script *script)
{
	int fd = memfd_create(script->name, 0);
	size_t done = 0;

	while (fd >= 0 && done < script->size) {
		ssize_t put = pwrite(fd, script->bytes + done,
				     script->size - done, (off_t)done);

		if (put > 0) {
			done += (size_t)put;
		} else if (put == 0 || errno != EINTR) {
			close(fd);
			fd = -1;
		}
	}
	return fd;
}

char *gdb_script_command(const char *name)
{
	const struct gdb_script *script = find(name);
	int fd = script ? open_script(script) : -1;
	char *command;

	if (fd < 0)
		return NULL;
	/* Python closes the file when it has been read. */
	if (asprintf(&command, "python exec(compile(open(%d, encoding='utf-8')"
		     ".read(), '%s', 'exec'))", fd, name) >= 0)
		return command;
	close(fd);
	errno = ENOMEM;
	return NULL;
}
