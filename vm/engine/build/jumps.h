/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jumps.h - the table of where indirect jumps go, for code that reads it */
#ifndef CPREC_VM_ENGINE_BUILD_JUMPS_H
#define CPREC_VM_ENGINE_BUILD_JUMPS_H

#include "vm/engine/engine_internal.h"

/* Where an address is in it: at (pc ^ pc >> JUMPS_FOLD) % KNOWN_JUMPS. */
#define JUMPS_FOLD 14

/*
 * 32-bit ARM: of the flags by which the engine chooses among translations of an
 * address.  What is jumped to is called by one number: the address, with
 * Thumb's flag as its lowest bit, and above it the other flags.
 */
#define FLAGS_IT_ARM 0xffu
#define FLAGS_THUMB_ARM 0x100u
#define FLAGS_AT_ARM 32

/* The flags of that state. */
uint32_t jumps_flags_arm(void *state);

/* Whether the state is one whose answers it has. */
bool jumps_are_plain(const struct engine *engine);

/* To be jumped to, not called: goes on at the state's program counter. */
void jumps_ask(void);

#endif
