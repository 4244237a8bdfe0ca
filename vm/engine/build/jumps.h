/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jumps.h - the table of where indirect jumps go, for code that reads it */
#ifndef CPREC_VM_ENGINE_BUILD_JUMPS_H
#define CPREC_VM_ENGINE_BUILD_JUMPS_H

#include "vm/engine/engine_internal.h"

/* Where an address is in it: at (pc ^ pc >> JUMPS_FOLD) % KNOWN_JUMPS. */
#define JUMPS_FOLD 14

/* Whether the state is one whose answers it has. */
bool jumps_are_plain(const struct engine *engine);

/* To be jumped to, not called: goes on at the state's program counter. */
void jumps_ask(void);

#endif
