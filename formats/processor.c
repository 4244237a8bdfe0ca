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
 */
static const struct processor x86_64 = { "westmere", 1 };

const struct processor *processor_of(unsigned arch)
{
	return arch == ARCH_X86_64 ? &x86_64 : NULL;
}

int processor_check(unsigned arch, const struct processor *recorded,
		    const char *path, struct failure *why)
{
	const struct processor *own = processor_of(arch);

	if (own && !strcmp(own->model, recorded->model) &&
	    own->behaviour == recorded->behaviour)
		return 0;
	return failed(why, ERR_VERSION,
		      "'%s' was recorded on processor '%s', behaviour %" PRIu64
		      ", and can be replayed on no other; this cprec has"
		      " '%s', behaviour %" PRIu64,
		      path, recorded->model, recorded->behaviour,
		      own ? own->model : "none", own ? own->behaviour : 0);
}
