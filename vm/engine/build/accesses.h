/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accesses.h - functions of the engine's that access data, in place of its own
 *
 * The engine has all of them once for each architecture, by other names.  What
 * they do is the same for all: accesses.c.
 */
#ifndef CPREC_VM_ENGINE_BUILD_ACCESSES_H
#define CPREC_VM_ENGINE_BUILD_ACCESSES_H

#include "vm/engine/build/direct.h"
#include "vm/engine/build/generate.h"
#include "vm/engine/build/operations.h"
#include "vm/engine/build/replaces.h"
#include "vm/engine/engine_internal.h"

/* An operation is generated, which may say that an instruction begins. */
void accesses_insn(int op, uint64_t pc);

/* One is about to be made: values may not be known behind it. */
void accesses_forget(void *context, int op);

/* It was made. */
static inline void *accesses_made(void *made, int op)
{
	struct engine *engine = engine_entered;

	if (!engine)
		return made;
	engine->logged.made = made;
	if (!engine->logged.first)
		engine->logged.first = made;
	if (op == OP_GO_ON && engine->branches.count < 2)
		engine->branches.on[engine->branches.count++] = made;
	return made;
}

/*
 * In front of an access and behind it.  `op`: in front, by which operation a
 * value is stored, 0: it is a load; behind, the same of a value that was loaded.
 */
void accesses_before(void *context, name addr, unsigned access, name value,
		     int op);
void accesses_behind(void *context, name value, int op);

/* In front of a call of a function. */
void accesses_call(void *context);

/*
 * A function accesses memory: where the value is to be written.  `size`: its
 * logarithm.
 */
uint64_t *accesses_note(guest_addr addr, unsigned size, unsigned kind);

/* ------- what is replaced, by its name ------- */

#define DEFINE_EMIT(name_)                                                     \
	REPLACES(emit_fn, name_);                                              \
	void *name_(void *context, int op)                                     \
	{                                                                      \
		if (engine_entered)                                            \
			accesses_forget(context, op);                          \
		return accesses_made(engine_##name_(context, op), op);         \
	}

#define DEFINE_ASK(name_)                                                      \
	REPLACES(ask_fn, name_);                                               \
	void name_(void *context)                                              \
	{                                                                      \
		if (!engine_entered || !engine_entered->logged.accessing)      \
			engine_##name_(context);                               \
	}

/* `begin` is called first. */
#define DEFINE_LOAD(name_, op, begin)                                          \
	REPLACES(load_fn, name_);                                              \
	void name_(void *context, name value, name addr, uintptr_t index,      \
		   unsigned access)                                            \
	{                                                                      \
		begin;                                                         \
		accesses_before(context, addr, access, value, 0);              \
		if (!direct_load(context, value, addr, access, op))            \
			engine_##name_(context, value, addr, index, access);   \
		accesses_behind(context, value, op);                           \
	}

/* The same. */
#define DEFINE_STORE(name_, op, begin)                                         \
	REPLACES(store_fn, name_);                                             \
	void name_(void *context, name value, name addr, uintptr_t index,      \
		   unsigned access)                                            \
	{                                                                      \
		begin;                                                         \
		accesses_before(context, addr, access, value, op);             \
		if (!direct_store(context, value, addr, access, op))           \
			engine_##name_(context, value, addr, index, access);   \
		accesses_behind(context, value, 0);                            \
	}

#define DEFINE_CALL(name_)                                                     \
	REPLACES(call_fn, name_);                                              \
	void name_(void *context, void *function, void *result, int count,     \
		   void **arguments)                                           \
	{                                                                      \
		accesses_call(context);                                        \
		engine_##name_(context, function, result, count, arguments);   \
	}

#define DEFINE_READ(type, name_, size)                                         \
	typedef type name_##_fn(void *state, uint64_t addr, uintptr_t from);   \
	REPLACES(name_##_fn, name_);                                           \
	type name_(void *state, uint64_t addr, uintptr_t from)                 \
	{                                                                      \
		uint64_t *noted = accesses_note(addr, size, ENGINE_LOG_READS); \
									       \
		return (type)(*noted = engine_##name_(state, addr, from));     \
	}

#define DEFINE_WRITE(type, name_, size)                                        \
	typedef void name_##_fn(void *state, uint64_t addr, type value,        \
				uintptr_t from);                               \
	REPLACES(name_##_fn, name_);                                           \
	void name_(void *state, uint64_t addr, type value, uintptr_t from)     \
	{                                                                      \
		*accesses_note(addr, size, ENGINE_LOG_WRITES) = value;         \
		engine_##name_(state, addr, value, from);                      \
	}

#endif
