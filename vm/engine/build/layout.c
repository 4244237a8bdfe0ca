/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout.c - where the engine keeps its processor's registers
 *
 * Some of the state cannot be asked for: the flags that its floating-point
 * units have raised, and which of them flushes to zero.  The engine hands its
 * state to the functions that it calls; it begins with RAX.  What lies where in
 * it, saved contexts tell: each is a copy of it, and what a register's value
 * changes in the copy is where that register is.
 *
 * The two units (struct float_status of QEMU 5.0): one byte each for tininess,
 * rounding, raised flags, precision, flush to zero, flush inputs to zero.
 */
#include <string.h>

#include "formats/error.h"
#include "vm/vm_internal.h"
#include "vm/engine/build/exact.h"

#define MXCSR_START 0x1f80u
#define MXCSR_DAZ 0x40u
#define MXCSR_ROUND 0x6000u
#define MXCSR_FZ 0x8000u

/* From a unit's first byte that tells. */
enum { RAISED_BEHIND_ROUNDING = 1, ZERO_BEHIND_ROUNDING = 4,
       FLUSH_BEHIND_RAISED = 2 };

size_t exact_conditions;

/* ------- the state itself ------- */

/* What the engine has handed to the function below, on this thread. */
static _Thread_local uint8_t *handed;

/* The engine calls this whenever MXCSR is written, also from outside. */
typedef void update_fn(uint8_t *state);
REPLACES(update_fn, update_mxcsr_status_x86_64);
void update_mxcsr_status_x86_64(uint8_t *state)
{
	handed = state;
	engine_update_mxcsr_status_x86_64(state);
}

static uint8_t *find_live(struct vm *vm)
{
	const uint32_t mxcsr = MXCSR_START;
	const uint64_t mark = UINT64_C(0x9e3779b97f4a7c15);
	bool begins_with_rax;

	handed = NULL;
	uc_reg_write(vm->uc, UC_X86_REG_MXCSR, &mxcsr);
	uc_reg_write(vm->uc, UC_X86_REG_RAX, &mark);
	begins_with_rax = handed && !memcmp(handed, &mark, sizeof(mark));
	uc_context_restore(vm->uc, vm->pristine);
	return begins_with_rax ? handed : NULL;
}

/* ------- what lies where ------- */

size_t x86_changed_by(struct vm *vm, uc_x86_reg reg, uint64_t value)
{
	const uint8_t *before = (const uint8_t *)vm->pristine;
	const uint8_t *after = (const uint8_t *)vm->scratch;
	size_t size = uc_context_size(vm->uc), at = 0;
	uc_err err = uc_reg_write(vm->uc, reg, &value);

	if (!err)
		err = uc_context_save(vm->uc, vm->scratch);
	uc_context_restore(vm->uc, vm->pristine);
	if (err)
		return 0;
	while (at < size && before[at] == after[at])
		at++;
	return at < size ? at : 0;
}

size_t exact_offset(struct vm *vm, uc_x86_reg reg, uint64_t value,
		    size_t behind)
{
	const uint8_t *before = (const uint8_t *)vm->pristine;
	const uint8_t *after = (const uint8_t *)vm->scratch;
	size_t size = uc_context_size(vm->uc);
	size_t first = x86_changed_by(vm, UC_X86_REG_RAX, 1);
	size_t at = x86_changed_by(vm, reg, value);

	if (!first || at <= first)
		return 0;
	while (at < size && (at <= first + behind || before[at] == after[at]))
		at++;
	return at < size ? at - first : 0;
}

/* MXCSR itself lies behind what its bits change. */
static size_t find_changed(struct vm *vm, uint32_t bits)
{
	return x86_changed_by(vm, UC_X86_REG_MXCSR, MXCSR_START | bits);
}

/* MXCSR itself, which has just been given FZ. */
static void find_mxcsr(struct vm *vm, size_t start)
{
	const uint8_t *before = (const uint8_t *)vm->pristine;
	const uint8_t *after = (const uint8_t *)vm->scratch;
	const uint32_t old = MXCSR_START, new = MXCSR_START | MXCSR_FZ;
	size_t size = uc_context_size(vm->uc);

	for (size_t at = start; at + 4 <= size && !vm->mxcsr; at += 4)
		if (!memcmp(before + at, &old, 4) &&
		    !memcmp(after + at, &new, 4))
			vm->mxcsr = vm->state + (at - start);
}

static bool find_units(struct vm *vm, size_t start)
{
	size_t rounding = find_changed(vm, MXCSR_ROUND);
	size_t zero_inputs = find_changed(vm, MXCSR_DAZ);
	size_t forgotten = find_changed(vm, MXCSR_FZ);
	size_t raised = rounding + RAISED_BEHIND_ROUNDING;
	size_t flush = raised + FLUSH_BEHIND_RAISED;

	find_mxcsr(vm, start);
	if (!vm->mxcsr || rounding < start || forgotten < start + FLUSH_BEHIND_RAISED ||
	    zero_inputs != rounding + ZERO_BEHIND_ROUNDING ||
	    forgotten == flush)
		return false;
	vm->sse.raised = vm->state + (raised - start);
	vm->sse.flush = vm->state + (flush - start);
	vm->x87.flush = vm->state + (forgotten - start);
	vm->x87.raised = vm->x87.flush - FLUSH_BEHIND_RAISED;
	return true;
}

/* The first that changes is the flags themselves. */
static bool find_conditions(struct vm *vm)
{
	const uint64_t carry = 3;
	size_t flags = exact_offset(vm, UC_X86_REG_RFLAGS, carry, 0);

	exact_conditions = exact_offset(vm, UC_X86_REG_RFLAGS, carry, flags);
	return exact_conditions > flags && exact_conditions % 8 == 0;
}

int x86_find_state(struct vm *vm, struct failure *why)
{
	const char *what = NULL;
	size_t start;

	if (uc_context_alloc(vm->uc, &vm->scratch))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	vm->state = find_live(vm);
	start = x86_changed_by(vm, UC_X86_REG_RAX, 1);
	if (!vm->state || !start)
		what = "its registers";
	else if (!find_units(vm, start))
		what = "its units of floating point";
	else if (!find_conditions(vm))
		what = "what its flags are computed from";
	else if (!sse_find(vm) || !x87_find(vm))
		what = "the registers of x87";
	else if (!jumps_find(vm))
		what = "what jumps depend on";
	if (what)
		return failed(why, ERR_SYSTEM, "the Unicorn Engine that cprec "
			      "was built with is not laid out as it should be: "
			      "%s cannot be found", what);
	halves_start();
	return 0;
}
