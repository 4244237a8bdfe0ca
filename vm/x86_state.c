/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86_state.c - where the engine keeps its processor's registers
 *
 * Some of the state cannot be asked for: the flags that its floating-point
 * units have raised, and which of them flushes to zero.  A saved context is a
 * copy of all of it, so what changes a context tells what lies where; the
 * original is found by what is written into the general registers, which
 * come first.  If anything is not as expected, the pointers stay NULL and
 * everything is as the engine does it.
 *
 * The two units (struct float_status of QEMU 5.0): one byte each for tininess,
 * rounding, raised flags, precision, flush to zero, flush inputs to zero.
 */
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "formats/error.h"
#include "vm/vm_internal.h"

#define MXCSR_START 0x1f80u
#define MXCSR_DAZ 0x40u
#define MXCSR_ROUND 0x6000u
#define MXCSR_FZ 0x8000u

/* From a unit's first byte that tells. */
enum { RAISED_BEHIND_ROUNDING = 1, ZERO_BEHIND_ROUNDING = 4,
       FLUSH_BEHIND_RAISED = 2 };

#define POINTERS_LOOKED_AT 128
#define STATE_WITHIN 65536

struct marks {
	uint64_t values[16];
};

/* Reads our own memory, or less of it where there is none. */
static size_t look(const void *from, void *bytes, size_t size)
{
	struct iovec to = { bytes, size }, at = { (void *)(uintptr_t)from, size };
	ssize_t count = process_vm_readv(getpid(), &to, 1, &at, 1, 0);

	return count < 0 ? 0 : (size_t)count;
}

static void write_marks(struct vm *vm, struct marks *marks)
{
	/* In the order of the encoding, which is the engine's. */
	static const int order[16] = {
		UC_X86_REG_RAX, UC_X86_REG_RCX, UC_X86_REG_RDX, UC_X86_REG_RBX,
		UC_X86_REG_RSP, UC_X86_REG_RBP, UC_X86_REG_RSI, UC_X86_REG_RDI,
		UC_X86_REG_R8,	UC_X86_REG_R9,	UC_X86_REG_R10, UC_X86_REG_R11,
		UC_X86_REG_R12, UC_X86_REG_R13, UC_X86_REG_R14, UC_X86_REG_R15,
	};

	for (unsigned i = 0; i < 16; i++) {
		marks->values[i] = UINT64_C(0x9e3779b97f4a7c15) * (i + 1);
		uc_reg_write(vm->uc, order[i], &marks->values[i]);
	}
}

/* Looks for the original, which the engine's own structure points near. */
static uint8_t *find_live(struct vm *vm, const struct marks *marks)
{
	static uint8_t bytes[STATE_WITHIN];
	uintptr_t pointers[POINTERS_LOOKED_AT];
	size_t count = look(vm->uc, pointers, sizeof(pointers)) / 8;

	for (size_t i = 0; i < count; i++) {
		size_t size;
		const uint8_t *found;

		if (!pointers[i] || pointers[i] % 16)
			continue;
		size = look((const void *)pointers[i], bytes, sizeof(bytes));
		found = memmem(bytes, size, marks, sizeof(*marks));
		if (found)
			return (uint8_t *)pointers[i] + (found - bytes);
	}
	return NULL;
}

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

/* MXCSR itself lies behind what its bits change. */
static size_t find_changed(struct vm *vm, uint32_t bits)
{
	return x86_changed_by(vm, UC_X86_REG_MXCSR, MXCSR_START | bits);
}

/* Where the context has the registers; its size if nowhere. */
static size_t find_copy(struct vm *vm, const struct marks *marks)
{
	const uint8_t *bytes = (const uint8_t *)vm->scratch, *found;
	size_t size = uc_context_size(vm->uc);

	if (uc_context_save(vm->uc, vm->scratch))
		return size;
	found = memmem(bytes, size, marks, sizeof(*marks));
	return found ? (size_t)(found - bytes) : size;
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

static void find_units(struct vm *vm, size_t start)
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
		return;
	vm->sse.raised = vm->state + (raised - start);
	vm->sse.flush = vm->state + (flush - start);
	vm->x87.flush = vm->state + (forgotten - start);
	vm->x87.raised = vm->x87.flush - FLUSH_BEHIND_RAISED;
}

int x86_find_state(struct vm *vm, struct failure *why)
{
	struct marks marks;
	size_t start;

	if (uc_context_alloc(vm->uc, &vm->scratch))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	write_marks(vm, &marks);
	vm->state = find_live(vm, &marks);
	start = find_copy(vm, &marks);
	uc_context_restore(vm->uc, vm->pristine);
	if (vm->state && start < uc_context_size(vm->uc))
		find_units(vm, start);
	return 0;
}
