/* SPDX-License-Identifier: GPL-2.0-or-later */
/* straight.h - blocks that are counted without a jump */
#ifndef CPREC_VM_ENGINE_BUILD_STRAIGHT_H
#define CPREC_VM_ENGINE_BUILD_STRAIGHT_H

#include <stdint.h>

struct engine;

/* A block that begins at `start` was inlined, whose call returns to `ret`. */
void straight_note(struct engine *engine, uint8_t *start, uint8_t *ret);

/* Rearranges those that were noted.  Only while no translated code executes. */
void straight_settle(struct engine *engine);

/* Where other code enters the block that begins there: behind its call, if it was
 * rearranged. */
const uint8_t *straight_entry(const uint8_t *start);

#endif
