/* SPDX-License-Identifier: GPL-2.0-or-later */
/* direct.h - see direct.c */
#ifndef CPREC_VM_ENGINE_BUILD_DIRECT_H
#define CPREC_VM_ENGINE_BUILD_DIRECT_H

#include <stdbool.h>

#include "vm/engine/build/generate.h"

/*
 * Generates a load or a store that accesses the arena directly; false if the
 * engine's own is to be.  `op`: by which a whole value would be stored.
 */
bool direct_load(void *context, name value, name addr, unsigned access, int op);
bool direct_store(void *context, name value, name addr, unsigned access,
		  int op);

#endif
