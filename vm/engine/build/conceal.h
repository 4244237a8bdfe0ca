/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conceal.h - see conceal.c; for what fetches code */
#ifndef CPREC_VM_ENGINE_BUILD_CONCEAL_H
#define CPREC_VM_ENGINE_BUILD_CONCEAL_H

#include <stdbool.h>
#include <stdint.h>

/* An instruction that is concealed, and how far into it an address is. */
struct concealed {
	unsigned size;		/* 0: none is there */
	unsigned at;
};
struct concealed conceal_at(uint64_t addr);

/*
 * Whether an instruction begins there of which more must be fetched, from the
 * next page, before conceal_settle() can tell.
 */
bool conceal_waits(uint64_t addr);
void conceal_settle(void);

#endif
