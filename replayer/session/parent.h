/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parent.h - the recording of the process that has forked this one
 *
 * Ownership:  the recording is the caller's to close.
 * Errors:     ERR_NOT_FOUND: it was not recorded, or is not there any more;
 *             ERR_NO_MEMORY.
 */
#ifndef CPREC_REPLAYER_SESSION_PARENT_H
#define CPREC_REPLAYER_SESSION_PARENT_H

struct failure;
struct recording;

int parent_open(struct recording **out, struct recording *child,
		struct failure *why);

#endif
