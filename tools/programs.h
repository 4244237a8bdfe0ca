/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * programs.h - what `record` and `run` have in common
 */
#ifndef CPREC_TOOLS_PROGRAMS_H
#define CPREC_TOOLS_PROGRAMS_H

#include "vm/linux/linux.h"

struct failure;

#define PROGRAM_EXIT_NOTES \
	"Standard streams and signals pass through.  Exits with the program's" \
	" status, or\n" \
	"dies of its signal.  If it could not be run: 127 there is no such" \
	" program,\n" \
	"126 it is not one that can be run, 125 cprec itself failed, 2 wrong" \
	" usage."

#define OPTION_SYSROOT_TEXT \
	"where the files of an AArch64, 32-bit ARM or i386\n" \
	"program's system are: its libraries, what it opens;\n" \
	"without this, as QEMU_LD_PREFIX says"

/* Standard error is going to be the program's, too: see linux_keep_stderr(). */
void program_share_stderr(void);

/* For `struct linux_observer` and the recorder: prints it as a note. */
void program_notice(void *context, enum linux_notice kind, const char *text);

/* With -q: only of an instruction, for nothing else explains such an end. */
void program_quiet_notice(void *context, enum linux_notice kind,
			  const char *text);

/* Prints why, and returns the exit status for it. */
int program_not_run(int rc, const struct failure *why);

#endif
