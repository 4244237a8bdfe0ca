/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target.h - a processor as debuggers know it: its registers, in their order
 *
 * Source: gdb's target descriptions, "Debugging with GDB", appendix G; the
 * layout is that of gdb's features i386/64bit-core.xml, i386/32bit-core.xml,
 * aarch64-core.xml and others.  "ELF Handling For Thread-Local Storage"; ELF for the Arm 64-bit
 * Architecture.
 */
#ifndef CPREC_DEBUGGER_TARGET_H
#define CPREC_DEBUGGER_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Behind the last of a list of system calls. */
#define CALL_NONE UINT64_MAX

struct target_register {
	const char *name;	/* debuggers' */
	const char *ours;	/* cprec.h's; NULL: not recorded */
	unsigned bits;
	const char *type;	/* NULL: a plain number */
	const char *feature;	/* begins a group; NULL: in the one before */
	const char *types;	/* XML of types, of the group */
	bool is_ones;		/* if it is not recorded; else 0 */
};

struct target {
	const char *arch;	/* cprec.h's */
	const char *name;	/* debuggers' */
	const char *osabi;
	uint16_t machine;		/* in files of programs */
	uint32_t flags;			/* the same */
	unsigned word;			/* bytes of an address */
	const struct moves *moves;	/* how instructions copy */
	const struct target_register *registers;
	size_t count;
	const char *pc, *sp, *fp;	/* debuggers' names */

	/* A thread's own variables. */
	const char *tls;		/* leads to them */
	uint32_t tls_number, tls_offset, tls_code;	/* relocations */
	uint32_t vector;		/* where it leads to the vector */
	uint32_t tls_head;		/* bytes before the program's variables;
					   0: those are below */

	bool is_machine;		/* no Linux is below it */
	bool watches_before;		/* an access stops it before, and the
					   debugger lets it happen by a step */
	const char *details;		/* where a handler finds of a signal */
	const char *call;		/* the number of a system call */
	const uint64_t *forks;		/* calls that may make a process */
	const uint64_t *vforks;		/* some of them; others have a flag */
};

/* NULL: not known. */
const struct target *target_find(const char *arch);

#endif
