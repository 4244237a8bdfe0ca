/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * copied.c - variables of libraries that the loader has copied
 *
 * A program that is linked with a variable of a library has its own copy, which
 * all use; the library's own keeps what it was in the file.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "copied.h"
#include "mark.h"

__thread int each = 5;
static FILE *volatile streams[3];

int main(int argc, char **argv)
{
	char first = **environ;

	getopt(argc, argv, "x");
	optind = 77;
	errno = 33;
	library_set(argc + 50);
	streams[0] = stdin;
	streams[1] = stdout;
	streams[2] = stderr;
	library_pair.first = first ? each + library_names[0][0] +
				     library_names[1][0] : 0;
	MARK();
	return library_number + optind != argc + 127 || !streams[1] ||
	       !program_invocation_name || !library_pair.second;
}
