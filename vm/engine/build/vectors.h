/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vectors.h - instructions on vectors that are generated without a call */
#ifndef CPREC_VM_ENGINE_BUILD_VECTORS_H
#define CPREC_VM_ENGINE_BUILD_VECTORS_H

#include "vm/engine/build/generate.h"

/* The engine generates an operation on two values: perhaps a constant. */
void vectors_note(int op, uintptr_t value, uintptr_t number);

/* In place of a call of a function of x86-64; false: call it. */
bool vectors_generate(void *context, const void *function, void *result,
		      void **arguments);

#endif
