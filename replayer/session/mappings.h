/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mappings.h - what is mapped where a replayer stands
 *
 * Mappings as the program's kernel would list them: those next to each other
 * that are alike are one.
 *
 * Ownership:  a visited mapping is borrowed until the visit ends.
 */
#ifndef CPREC_REPLAYER_SESSION_MAPPINGS_H
#define CPREC_REPLAYER_SESSION_MAPPINGS_H

#include "formats/region.h"

struct replayer;

/* Visits them by address.  A result other than 0 ends it and is returned. */
int mappings_each(struct replayer *replayer,
		  int (*visit)(void *context, const struct region *mapping),
		  void *context);

#endif
