/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arguments.h - how much of a call's registers and stack arguments have taken */
#ifndef CPREC_REPLAYER_EXPRESSIONS_ARGUMENTS_H
#define CPREC_REPLAYER_EXPRESSIONS_ARGUMENTS_H

#include <stdint.h>

/* Zero before the first. */
struct arguments {
	unsigned numbers, vectors;	/* registers; of 32-bit ARM, `vectors`
					   has a bit for each single one */
	uint64_t stack;			/* bytes */
};

#endif
