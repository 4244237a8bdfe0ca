/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_branches.c - conditional jumps lead to what is there now, and all that is
 * executed is counted
 *
 * A loop at CODE goes to two functions in turn, by a conditional jump that is
 * taken or not; what they add up tells which they were.  They are changed and
 * taken away after all were linked with each other.
 */
#include <stdlib.h>

#include "formats/error.h"
#include "tests/unit/engine.h"
#include "tests/unit/machine.h"
#include "tests/unit/table.h"
#include "vm/processor/processor.h"

#define CODE 0x10000u
#define TAKEN (CODE + 0x100)
#define TURNS 1000u
#define INSNS (TURNS * 6)
#define LAST 50u	/* of them, that are executed one by one */

/* In EAX, 1 is added for each turn that goes on, 0x10000 for the others. */
static const uint8_t loop[] = {
	0xf6, 0xc3, 0x01,			/* 1: test $1, %bl */
	0x0f, 0x84, 0xf7, 0x00, 0x00, 0x00,	/* jz TAKEN */
	0x05, 0x01, 0x00, 0x00, 0x00,		/* add $1, %eax */
	0xeb, 0x00,				/* jmp 2f */
	0xff, 0xcb,				/* 2: dec %ebx */
	0x75, 0xec,				/* jnz 1b */
	0xf4,					/* hlt */
};

/* add $amount << 16, %eax; jmp 2b */
static void put_taken(struct vm *vm, uint8_t amount)
{
	const uint8_t code[] = {
		0x05, 0, 0, amount, 0, 0xe9, 0x06, 0xff, 0xff, 0xff,
	};

	assert_int_equal(memory_poke(vm_memory(vm), TAKEN, code, sizeof(code)),
			 0);
}

static struct vm *machine(void)
{
	struct failure why;
	struct vm *vm;

	if (vm_create(&vm, ARCH_X86_64, true, NULL, &why))
		fail_msg("%s", why.text);
	map(vm, CODE, GUEST_PAGE, MAY_READ | MAY_WRITE | MAY_EXEC);
	assert_int_equal(memory_poke(vm_memory(vm), CODE, loop, sizeof(loop)),
			 0);
	put_taken(vm, 1);
	return vm;
}

static void run(struct vm *vm, uint64_t budget, struct vm_stop *stop)
{
	struct failure why;

	assert_int_equal(vm_run(vm, budget, true, stop, &why), 0);
}

static void begin(struct vm *vm)
{
	vm_set_reg(vm, X86_RIP, CODE);
	vm_set_reg(vm, X86_RBX, TURNS);
	vm_set_reg(vm, X86_RAX, 0);
}

static void expect(struct vm *vm, uint32_t not_taken, uint32_t taken)
{
	const uint64_t before = vm_steps(vm);
	struct vm_stop stop;

	begin(vm);
	run(vm, UINT64_C(1) << 40, &stop);
	assert_int_equal(stop.fault, FAULT_PRIVILEGE);
	assert_int_equal(vm_reg(vm, X86_RAX),
			 TURNS / 2 * not_taken + (TURNS / 2 * taken << 16));
	assert_int_equal(vm_steps(vm) - before, INSNS);
}

static void goes_both_ways(struct vm *vm)
{
	expect(vm, 1, 1);
}

static void taken_is_rewritten(struct vm *vm)
{
	put_taken(vm, 3);
	expect(vm, 1, 3);
	put_taken(vm, 2);
	expect(vm, 1, 2);
}

static void other_is_rewritten(struct vm *vm)
{
	assert_int_equal(memory_poke(vm_memory(vm), CODE + 10,
				     &(uint8_t){ 7 }, 1), 0);
	expect(vm, 7, 1);
}

/* It is met at the first turn that is taken. */
static void taken_is_gone(struct vm *vm)
{
	const uint8_t hlt = 0xf4;
	struct vm_stop stop;

	assert_int_equal(memory_poke(vm_memory(vm), TAKEN, &hlt, 1), 0);
	begin(vm);
	run(vm, UINT64_C(1) << 40, &stop);
	assert_int_equal(stop.fault, FAULT_PRIVILEGE);
	assert_int_equal(stop.pc, TAKEN);
	put_taken(vm, 1);
	expect(vm, 1, 1);
}

/* Each instruction of the last turns can be stopped at. */
static void stops_anywhere(struct vm *vm)
{
	const uint64_t start = vm_steps(vm);
	struct vm_stop stop;

	begin(vm);
	run(vm, INSNS - LAST, &stop);
	for (uint64_t left = LAST; left; left--) {
		assert_int_equal(stop.kind, VM_STOP_BUDGET);
		assert_int_equal(vm_steps(vm) - start, INSNS - left);
		run(vm, 1, &stop);
	}
	assert_int_equal(stop.kind, VM_STOP_BUDGET);
	run(vm, UINT64_C(1) << 40, &stop);
	assert_int_equal(stop.fault, FAULT_PRIVILEGE);
	assert_int_equal(vm_reg(vm, X86_RAX), TURNS / 2 + (TURNS / 2 << 16));
}

struct row {
	const char *name;
	void (*change)(struct vm *vm);
};

static const struct row rows[] = {
	{ "both ways", goes_both_ways },
	{ "what is taken is rewritten", taken_is_rewritten },
	{ "the other one is rewritten", other_is_rewritten },
	{ "what is taken is gone", taken_is_gone },
	{ "stops anywhere", stops_anywhere },
};

/* With the engine's own jumps, too. */
static void leads_there(void **state)
{
	const struct row *row = *state;

	for (unsigned i = 0; i < 2; i++) {
		struct vm *vm;

		if (i)
			setenv("CPREC_NO_BRANCHES", "1", 1);
		vm = machine();
		unsetenv("CPREC_NO_BRANCHES");
		expect(vm, 1, 1);
		assert_int_equal(engine_branches(vm->engine) > 0, !i);
		assert_int_equal(engine_straight(vm->engine) > 0, !i);
		row->change(vm);
		vm_destroy(vm);
	}
}

int main(void)
{
	static struct test_list list;

	add_rows(&list, rows, leads_there);
	return run_list("branches", &list);
}
