/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check.h - for test programs that end at the first failure, with status 1 */
#ifndef CPREC_TESTS_RUN_CHECK_H
#define CPREC_TESTS_RUN_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#include "formats/error.h"

static struct failure why;

static inline void check(int rc)
{
	if (!rc)
		return;
	fprintf(stderr, "%s (%d)\n", rc == ERR_NO_MEMORY ? "out of memory" :
							   why.text, rc);
	exit(1);
}

#endif
