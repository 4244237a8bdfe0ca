/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine.h - an engine that executes all of a machine's code
 *
 * An engine (engine.h) that walks the guest's page tables by itself, if it has
 * some.  RAM is in a few pieces, everything else is devices.  Whoever opened it
 * enters exceptions, and answers for what is not RAM, and for registers of the
 * system that the engine would answer wrongly.  It never knows which machine it
 * is.
 *
 * Blocks are counted as in engine.h: of its calls, `translate`, `meet` and
 * `enter` are used.  It returns from engine_run() also behind a WFI.
 *
 * Units:      addresses of code are virtual, those of RAM and devices physical.
 * Ownership:  RAM is the caller's and stays until engine_close().
 * Errors:     those of engine.h.
 */
#ifndef CPREC_VM_ENGINE_MACHINE_H
#define CPREC_VM_ENGINE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "vm/engine/engine.h"

/* A register of the system, by its encoding. */
#define ENGINE_SYSTEM(op0, op1, crn, crm, op2)                                 \
	((op0) << 14 | (op1) << 11 | (crn) << 7 | (crm) << 3 | (op2))

struct engine_ram {
	uint64_t base, size;	/* multiples of GUEST_PAGE */
	uint8_t *host;
};

#define ENGINE_RAMS_MOST 4u

/* Numbers of the engine's exceptions. */
enum engine_exception_kind {
	EXCEPTION_UNDEFINED = 1,
	EXCEPTION_SVC = 2,	/* the program counter is behind it */
	EXCEPTION_FETCH = 3,	/* an instruction cannot be fetched */
	EXCEPTION_DATA = 4,
	EXCEPTION_BRK = 7,
	EXCEPTION_RETURN = 8,	/* of ARMv7-M: PC is what was branched to */
	EXCEPTION_HVC = 11,	/* behind it */
	EXCEPTION_SMC = 13,
	EXCEPTION_NO_COPROCESSOR = 17,
	EXCEPTION_NOT_THUMB = 18,
};

struct engine_exception {
	unsigned kind;
	uint32_t syndrome;	/* as ESR_EL1 has it */
	uint32_t status;	/* of ARMv7-M: as a short DFSR has it */
	uint64_t address;	/* of FETCH and DATA */
};

struct engine_machine_calls {
	struct engine_calls basic;

	/* May write registers: the guest goes on where PC says. */
	void (*exception)(void *context,
			  const struct engine_exception *exception);

	/* Physical addresses that are not RAM.  PC is only known to be in the
	 * block under way; nothing may be stopped. */
	uint64_t (*read)(void *context, uint64_t addr, unsigned size);
	void (*write)(void *context, uint64_t addr, unsigned size,
		      uint64_t value);

	/* Of AArch64: an instruction reads or writes a register of the system,
	 * by its encoding; false: the engine is to do it. */
	bool (*read_system)(void *context, unsigned name, uint64_t *value);
	bool (*write_system)(void *context, unsigned name, uint64_t value);
};

/*
 * `model` is a name of formats/processor.h; pieces of RAM are sorted by
 * address.
 */
int engine_open_machine(struct engine **out, enum arch arch, const char *model,
			const struct engine_ram *rams, unsigned ram_count,
			const struct engine_machine_calls *calls, void *context,
			struct failure *why);

/* ------- of ARMv7-M only ------- */

/*
 * Its registers that code depends on and that the engine's own names do not
 * always reach.  Who has changed some says so by engine_cortex_m_changed().
 */
struct engine_cortex_m {
	uint32_t *other_sp;	/* of MSP and PSP, the one not in use */
	uint32_t *basepri, *primask, *faultmask;
	uint32_t *control;	/* SPSEL, nPRIV */
	uint32_t *float_control;	/* FPCA */
	uint32_t *exception;
};
const struct engine_cortex_m *engine_cortex_m(const struct engine *engine);
void engine_cortex_m_changed(struct engine *engine);

/* Accesses must be aligned in what is translated from now on. */
void engine_align_all(struct engine *engine, bool all);

/*
 * Of `read` and `write` alone: the access fails, as an exception DATA whose
 * status is ENGINE_BUS_FAILED.  Does not return.
 */
#define ENGINE_BUS_FAILED 8u
_Noreturn void engine_fail_access(struct engine *engine, uint64_t addr);

/*
 * Drops what was translated of a page of RAM, wherever it is mapped.  Not while
 * it runs.
 */
void engine_drop_ram(struct engine *engine, uint64_t addr);

/* A register of the system; writing 0 is success. */
uint64_t engine_read_system(struct engine *engine, unsigned name);
int engine_write_system(struct engine *engine, unsigned name, uint64_t value);

#endif
