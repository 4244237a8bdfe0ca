/* SPDX-License-Identifier: GPL-2.0-or-later */
/* branches.h - conditional jumps to the next block */
#ifndef CPREC_VM_ENGINE_BUILD_BRANCHES_H
#define CPREC_VM_ENGINE_BUILD_BRANCHES_H

#include <stdint.h>

struct engine;

/* A block is about to become code of the host. */
void branches_begin(struct engine *engine, void *context, void *block);

/* It has; looks for one. */
void branches_find(struct engine *engine, void *block);

/* Where its translation begins. */
const uint8_t *branches_start(const struct engine *engine, void *block);

/* The block that begins there was rearranged: jumps that are linked with it lead
 * to its new entry from now on. */
void branches_lead(struct engine *engine, void *block, const uint8_t *start);

#endif
