/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * generate.h - functions by which the engine generates its intermediate code
 *
 * Their first argument is the engine's own context for it.
 */
#ifndef CPREC_VM_ENGINE_BUILD_GENERATE_H
#define CPREC_VM_ENGINE_BUILD_GENERATE_H

#include <stdint.h>

/* What the engine calls a value by. */
typedef uintptr_t name;

/* A load into a value, or a store of one; `access` has its size. */
typedef void load_fn(void *context, name value, name addr, uintptr_t index,
		     unsigned access);
typedef load_fn store_fn;

/* halves.c: a store is generated. */
void halves_note_store(void);

#endif
