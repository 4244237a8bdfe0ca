/* SPDX-License-Identifier: GPL-2.0-or-later */
/* disguise.h - see disguise.c; for what fetches code */
#ifndef CPREC_VM_ENGINE_BUILD_DISGUISE_H
#define CPREC_VM_ENGINE_BUILD_DISGUISE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether other bytes than the guest's are to be seen there: these. */
bool disguise_is_at(uint64_t addr, void *out, unsigned size);

/*
 * Whether an instruction begins there of which more must be fetched, from the
 * next page, before disguise_settle() can tell.
 */
bool disguise_waits(uint64_t addr);
void disguise_settle(void);

#endif
