/* SPDX-License-Identifier: GPL-2.0-or-later */
/* processor.c - see processor.h */
#include "formats/processor.h"

#include <inttypes.h>
#include <string.h>

#include "formats/error.h"
#include "formats/registers.h"

/*
 * Westmere is x86-64-v2 without AVX.
 *
 * 1: the first that was released.
 * 2: RDTSCP is captured, which was no instruction before; a program that sets the
 *    trap flag is stepped, which was cleared before by POPF, and was a general
 *    protection fault when a signal's return set it.
 * 3: what is no instruction for its prefixes or operand is refused, some of
 *    which was executed before; TEST and CMPPS are executed that were refused.
 */
static const struct processor x86_64 = { "westmere", BEHAVIOUR_REFUSES };

/* Cortex-A72 is ARMv8.0 with AES, SHA and CRC. */
static const struct processor aarch64 = { "cortex-a72", 1 };

/*
 * Of machines.  The first one if nothing is said.
 *
 * 1: the first that was released.
 * 2: a program that reads what the processor is gets an exception, where it
 *    did not go on before; so does a jump to an address that is not aligned.
 */
static const struct processor machines[] = {
	{ "cortex-a53", BEHAVIOUR_CHECKS }, { "cortex-a72", BEHAVIOUR_CHECKS },
};

static const struct processor cortex_m[] = {
	{ "cortex-m3", 1 }, { "cortex-m4", 1 }, { "cortex-m7", 1 },
};

/* The same one; what it shares with x86-64 behaves alike since the beginning. */
static const struct processor i386 = { "westmere", BEHAVIOUR_REFUSES };

/* Cortex-A15 is ARMv7-A with division, VFPv4 and Advanced SIMD. */
static const struct processor arm = { "cortex-a15", 1 };

const struct processor *processor_of(unsigned arch)
{
	switch (arch) {
	case ARCH_X86_64:
		return &x86_64;
	case ARCH_AARCH64:
		return &aarch64;
	case ARCH_I386:
		return &i386;
	case ARCH_ARM:
		return &arm;
	case ARCH_AARCH64_MACHINE:
		return &machines[0];
	case ARCH_CORTEX_M:
		return &cortex_m[0];
	default:
		return NULL;
	}
}

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const struct processor *find(const struct processor *list, size_t count,
				    const char *model)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i].model, model))
			return &list[i];
	return NULL;
}

const struct processor *processor_find(unsigned arch, const char *model)
{
	const struct processor *own = processor_of(arch);

	if (arch == ARCH_AARCH64_MACHINE)
		own = find(machines, COUNT(machines), model);
	else if (arch == ARCH_CORTEX_M)
		own = find(cortex_m, COUNT(cortex_m), model);
	return own && !strcmp(own->model, model) ? own : NULL;
}

int processor_check(unsigned arch, const struct processor *recorded,
		    const char *path, struct failure *why)
{
	const struct processor *own = processor_find(arch, recorded->model);

	if (own && recorded->behaviour <= own->behaviour)
		return 0;
	own = processor_of(arch);
	return failed(why, ERR_VERSION,
		      "'%s' was recorded on processor '%s', behaviour %" PRIu64
		      ", and can be replayed on no other; this cprec has"
		      " '%s', behaviour %" PRIu64,
		      path, recorded->model, recorded->behaviour,
		      own ? own->model : "none", own ? own->behaviour : 0);
}
