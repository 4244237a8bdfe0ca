/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86_mxcsr.c - flush-to-zero of SSE, which the engine forgets
 *
 * When MXCSR gets its bit FZ, the engine (2.1.1) tells the wrong one of its two
 * floating-point units, x87's.  The flag of the right one can only be reached
 * in a saved context.  Where it lies there is found out from what DAZ and the
 * rounding mode change, which the engine does right: they are its neighbours.
 * If they are not, everything stays as the engine does it.
 *
 * Source: Intel 64 SDM volume 1, 10.2.3 (MXCSR).
 */
#include <string.h>

#include "formats/error.h"
#include "vm/vm_internal.h"

#define MXCSR_START 0x1f80u
#define MXCSR_DAZ 0x40u
#define MXCSR_ROUND 0x6000u
#define MXCSR_FZ 0x8000u

static uc_err write_mxcsr(struct vm *vm, uint32_t value)
{
	return uc_reg_write(vm->uc, UC_X86_REG_MXCSR, &value);
}

/*
 * The first byte of the context that these bits of MXCSR change, 0 if none;
 * MXCSR itself lies behind.
 */
static size_t find_changed(struct vm *vm, uint32_t bits)
{
	const uint8_t *before = (const uint8_t *)vm->pristine;
	const uint8_t *after = (const uint8_t *)vm->scratch;
	size_t size = uc_context_size(vm->uc);
	size_t at = 0;

	if (write_mxcsr(vm, MXCSR_START | bits) ||
	    uc_context_save(vm->uc, vm->scratch))
		return 0;
	while (at < size && before[at] == after[at])
		at++;
	return at < size ? at : 0;
}

int x86_find_flags(struct vm *vm, struct failure *why)
{
	size_t rounding, zero_inputs, forgotten;

	if (uc_context_alloc(vm->uc, &vm->scratch))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rounding = find_changed(vm, MXCSR_ROUND);
	zero_inputs = find_changed(vm, MXCSR_DAZ);
	forgotten = find_changed(vm, MXCSR_FZ);
	if (rounding && zero_inputs == rounding + 4 &&
	    forgotten != zero_inputs - 1) {
		vm->sse_flush = zero_inputs - 1;
		vm->x87_flush = forgotten;
	}
	uc_context_restore(vm->uc, vm->pristine);
	return 0;
}

void x86_set_mxcsr(struct vm *vm, uint32_t value)
{
	uint8_t *bytes = (uint8_t *)vm->scratch;
	uint32_t before = 0;

	uc_reg_read(vm->uc, UC_X86_REG_MXCSR, &before);
	write_mxcsr(vm, value);
	if (!vm->sse_flush || !((before | value) & MXCSR_FZ))
		return;
	if (uc_context_save(vm->uc, vm->scratch))
		return;
	bytes[vm->sse_flush] = value & MXCSR_FZ ? 1 : 0;
	bytes[vm->x87_flush] = 0;
	uc_context_restore(vm->uc, vm->scratch);
	vm->generation = 0;	/* a context may bring its TLB along */
}
