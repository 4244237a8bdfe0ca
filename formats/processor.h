/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * processor.h - which virtual processor recorded, and how it behaves
 *
 * A replay computes again what the recorder computed.  That is exact only on a
 * processor of the same model that behaves in the same way, so the meta data of
 * a recording names both.  The version of the format means bytes only: it says
 * nothing of processors.
 *
 * `behaviour` numbers the ways in which the processor of one model has behaved.
 * It must be raised by every change after which a recording that was made
 * before would replay differently:
 *
 *	- another instruction stops the guest, or one does so no more: system
 *	  calls, faults, values that are captured (SYSCALL, FAULT, VALUE)
 *	- an instruction gives another result, flag or exception, also one that
 *	  was wrong before: floating point, CPUID, selectors, undefined flags
 *	- steps are counted in another way
 *	- key frames would find other values in registers
 *
 * It need not be raised where the guest could not tell: for speed, for what the
 * guest's kernel does (that is recorded), or when an instruction is executed
 * that was refused with an error of cprec, not a fault of the guest.
 *
 * tests/golden/recorded has recordings of each behaviour that can be replayed;
 * whoever raises the number adds one.
 *
 * Ownership:  nothing is allocated.
 * Errors:     ERR_VERSION.
 */
#ifndef CPREC_FORMATS_PROCESSOR_H
#define CPREC_FORMATS_PROCESSOR_H

#include <stdint.h>

struct failure;

#define PROCESSOR_MODEL_MAX 64u		/* bytes of a model's name */

/* Since when it behaves in a way that it did not before. */
enum { BEHAVIOUR_STEPS = 2, BEHAVIOUR_REFUSES = 3 };

/* The same of machines with AArch64. */
enum { BEHAVIOUR_CHECKS = 2 };

struct processor {
	const char *model;	/* what CPUID and the like call it */
	uint64_t behaviour;	/* at least 1 */
};

/*
 * The processor that this build has for an architecture of registers.h, to
 * record on; it can replay on all earlier behaviours, too.  NULL if there is
 * none.
 */
const struct processor *processor_of(unsigned arch);

/* The one of that model, if this build has it: a machine's can be chosen. */
const struct processor *processor_find(unsigned arch, const char *model);

/* Whether this build can replay what another one recorded in `path`. */
int processor_check(unsigned arch, const struct processor *recorded,
		    const char *path, struct failure *why);

#endif
