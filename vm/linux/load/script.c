/* SPDX-License-Identifier: GPL-2.0-or-later */
/* script.c - first lines of `#!`, as Linux's binfmt_script.c reads them */
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "vm/linux/load/load_internal.h"

/* Takes the line apart.  False if the file does not begin with one. */
static bool parse(struct script *line, size_t size)
{
	char *end, *at;

	line->text[size] = '\0';
	if (size < 2 || line->text[0] != '#' || line->text[1] != '!')
		return false;
	end = line->text + strcspn(line->text, "\n");
	while (end > line->text + 2 && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*end = '\0';
	at = line->text + 2;
	at += strspn(at, " \t");
	line->interpreter = at;
	at += strcspn(at, " \t");
	line->argument = NULL;
	if (*at) {
		*at++ = '\0';
		at += strspn(at, " \t");
		line->argument = at;
	}
	return true;
}

int script_read(struct script *out, int fd)
{
	ssize_t size = pread(fd, out->text, SCRIPT_LINE, 0);

	if (size < 0)
		return -errno;
	return parse(out, (size_t)size);
}

bool script_may_be_text(int fd)
{
	char text[SCRIPT_LINE];
	ssize_t size = pread(fd, text, sizeof(text), 0);

	return size >= 0 && !memchr(text, '\0', (size_t)size) &&
	       (size < SELFMAG || memcmp(text, ELFMAG, SELFMAG) != 0);
}
