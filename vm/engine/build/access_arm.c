/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * access_arm.c - which instruction accesses a device, of 32-bit ARM
 *
 * Where the TLB does not lead to RAM, translated code calls one of these
 * functions, and says from where.  So a device can let the access fail: the
 * engine finds the instruction by that, and its state before.
 */
#include "vm/engine/build/replaces.h"
#include "vm/engine/engine_internal.h"

/* On this thread; stores of bytes: aligned_arm.c. */
static _Thread_local uintptr_t newest;

void access_note(uintptr_t from)
{
	newest = from;
}

typedef uint64_t load_fn(void *state, uint32_t addr, uint32_t how,
			 uintptr_t from);
typedef void store_fn(void *state, uint32_t addr, uint32_t value, uint32_t how,
		      uintptr_t from);
typedef void store_wide_fn(void *state, uint32_t addr, uint64_t value,
			   uint32_t how, uintptr_t from);

#define LOADS(name)                                                            \
	REPLACES(load_fn, name);                                               \
	uint64_t name(void *state, uint32_t addr, uint32_t how,                \
		      uintptr_t from)                                          \
	{                                                                      \
		newest = from;                                                 \
		return engine_##name(state, addr, how, from);                  \
	}

#define STORES(fn, type, name)                                                 \
	REPLACES(fn, name);                                                    \
	void name(void *state, uint32_t addr, type value, uint32_t how,        \
		  uintptr_t from)                                              \
	{                                                                      \
		newest = from;                                                 \
		engine_##name(state, addr, value, how, from);                  \
	}

LOADS(helper_ret_ldub_mmu_arm)
LOADS(helper_le_lduw_mmu_arm)
LOADS(helper_le_ldul_mmu_arm)
LOADS(helper_le_ldq_mmu_arm)
STORES(store_fn, uint32_t, helper_le_stw_mmu_arm)
STORES(store_fn, uint32_t, helper_le_stl_mmu_arm)
STORES(store_wide_fn, uint64_t, helper_le_stq_mmu_arm)

#define DATA_ABORT 4		/* of the engine's exceptions */

_Noreturn void raise_exception_ra_arm(void *state, uint32_t exception,
				      uint32_t syndrome, uint32_t level,
				      uintptr_t from);

_Noreturn void engine_fail_access(struct engine *engine, uint64_t addr)
{
	engine->arm.exception->short_syndrome = ENGINE_BUS_FAILED;
	engine->arm.exception->address = addr;
	raise_exception_ra_arm(engine->state, DATA_ABORT, 0, 1, newest);
}
