/* SPDX-License-Identifier: GPL-2.0-or-later */
/* x86_exact.c - what x86_sse.c and x86_x87.c have in common */
#include "vm/x86_exact.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "vm/vm_internal.h"

bool exact_is_on;
size_t exact_conditions;

void *engine_function(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (!function)
		abort();
	return function;
}

/*
 * The engine calls this when MXCSR is written, also from outside: whether its
 * functions are replaced at all.
 */
static bool is_replaced;

typedef void update_fn(void *state);
update_fn update_mxcsr_status_x86_64;
void update_mxcsr_status_x86_64(void *state)
{
	is_replaced = true;
	ENGINES(update_fn, update_mxcsr_status_x86_64)(state);
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

/* The first that changes is the flags themselves. */
static bool find_conditions(struct vm *vm)
{
	const uint64_t carry = 3;
	size_t flags = exact_offset(vm, UC_X86_REG_RFLAGS, carry, 0);

	exact_conditions = exact_offset(vm, UC_X86_REG_RFLAGS, carry, flags);
	return exact_conditions > flags && exact_conditions % 8 == 0;
}

bool exact_find(struct vm *vm)
{
	const uint32_t mxcsr = 0x1f80;

	is_replaced = false;
	uc_reg_write(vm->uc, UC_X86_REG_MXCSR, &mxcsr);
	halves_start();
	return is_replaced && vm->mxcsr && vm->sse.raised && vm->x87.raised &&
	       find_conditions(vm) && sse_find(vm) && x87_find(vm);
}

void exact_run(const struct vm *vm)
{
	exact_is_on = vm->exact;
	if (exact_is_on)
		x87_run();
}
