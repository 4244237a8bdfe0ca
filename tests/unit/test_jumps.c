/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_jumps.c - indirect jumps find what is there now, and find it quickly
 *
 * A caller at CODE calls FUNCTION through RDI, RBX times.  The function's
 * result tells which one it was; it is put there, changed and taken away in
 * every way there is, each time after it was called often.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "tests/unit/between.h"
#include "tests/unit/engine.h"
#include "tests/unit/machine.h"
#include "tests/unit/table.h"
#include "vm/processor/processor.h"

#define CODE 0x10000u
#define FUNCTION 0x20000u
#define CALLS 1000u

static const uint8_t caller[] = {
	0xff, 0xd7,				/* 1: call *%rdi */
	0xff, 0xcb,				/* dec %ebx */
	0x75, 0xfa,				/* jnz 1b */
	0xf4,					/* hlt */
};

/* mov $result, %eax; ret */
static void put(struct vm *vm, guest_addr addr, uint8_t result)
{
	const uint8_t code[] = { 0xb8, result, 0, 0, 0, 0xc3 };

	assert_int_equal(memory_poke(vm_memory(vm), addr, code, sizeof(code)),
			 0);
}

static struct vm *machine(void)
{
	struct failure why;
	struct vm *vm;

	if (vm_create(&vm, ARCH_X86_64, true, NULL, &why))
		fail_msg("%s", why.text);
	map(vm, CODE, GUEST_PAGE, MAY_READ | MAY_EXEC);
	map(vm, CODE + GUEST_PAGE, GUEST_PAGE, MAY_READ | MAY_WRITE);
	map(vm, FUNCTION, GUEST_PAGE, MAY_READ | MAY_WRITE | MAY_EXEC);
	assert_int_equal(memory_poke(vm_memory(vm), CODE, caller,
				     sizeof(caller)), 0);
	put(vm, FUNCTION, 1);
	return vm;
}

static void run(struct vm *vm, unsigned calls, struct vm_stop *stop)
{
	struct failure why;

	vm_set_reg(vm, X86_RIP, CODE);
	vm_set_reg(vm, X86_RSP, CODE + 2 * GUEST_PAGE);
	vm_set_reg(vm, X86_RDI, FUNCTION);
	vm_set_reg(vm, X86_RBX, calls);
	vm_set_reg(vm, X86_RAX, 0);
	assert_int_equal(vm_run(vm, UINT64_C(1) << 40, true, stop, &why), 0);
}

static void expect(struct vm *vm, uint8_t result)
{
	struct vm_stop stop;

	run(vm, CALLS, &stop);
	assert_int_equal(stop.fault, FAULT_PRIVILEGE);
	assert_int_equal(vm_reg(vm, X86_RAX), result);
}

static void expect_none(struct vm *vm)
{
	struct vm_stop stop;

	run(vm, CALLS, &stop);
	assert_int_equal(stop.kind, VM_STOP_FAULT);
	assert_int_equal(stop.fault, FAULT_MEMORY);
	assert_int_equal(stop.access, ACCESS_FETCH);
	assert_int_equal(stop.pc, FUNCTION);
}

static void rewritten(struct vm *vm)
{
	put(vm, FUNCTION, 2);
	expect(vm, 2);
}

/* movb $3, FUNCTION+1(%rip); hlt: the guest itself */
static void rewritten_by_guest(struct vm *vm)
{
	const uint8_t code[] = { 0xc6, 0x05, 0xf9, 0xff, 0xfe, 0xff, 3, 0xf4 };
	guest_addr at = FUNCTION + 0x10000 + 1;
	struct vm_stop stop;
	struct failure why;

	map(vm, FUNCTION + 0x10000, GUEST_PAGE, MAY_READ | MAY_EXEC);
	assert_int_equal(memory_poke(vm_memory(vm), at, code, sizeof(code)), 0);
	vm_set_reg(vm, X86_RIP, at);
	assert_int_equal(vm_run(vm, 100, true, &stop, &why), 0);
	assert_int_equal(stop.fault, FAULT_PRIVILEGE);
	expect(vm, 3);
}

static void unmapped(struct vm *vm)
{
	memory_unmap(vm_memory(vm), FUNCTION, GUEST_PAGE);
	expect_none(vm);
}

static void mapped_anew(struct vm *vm)
{
	map(vm, FUNCTION, GUEST_PAGE, MAY_READ | MAY_EXEC);
	put(vm, FUNCTION, 4);
	expect(vm, 4);
}

static void moved_there(struct vm *vm)
{
	map(vm, FUNCTION + 0x10000, GUEST_PAGE, MAY_READ | MAY_EXEC);
	put(vm, FUNCTION + 0x10000, 5);
	assert_int_equal(memory_move(vm_memory(vm), FUNCTION + 0x10000,
				     FUNCTION, GUEST_PAGE), 0);
	expect(vm, 5);
}

static void forbidden(struct vm *vm)
{
	assert_int_equal(memory_protect(vm_memory(vm), FUNCTION, GUEST_PAGE,
					MAY_READ), 0);
	expect_none(vm);
	assert_int_equal(memory_protect(vm_memory(vm), FUNCTION, GUEST_PAGE,
					MAY_READ | MAY_EXEC), 0);
	expect(vm, 1);
}

/* Another machine has something else at the same address. */
static void another_machine(struct vm *vm)
{
	struct vm *other = machine();

	put(other, FUNCTION, 6);
	for (unsigned i = 0; i < 3; i++) {
		expect(other, 6);
		expect(vm, 1);
	}
	vm_destroy(other);
	other = machine();
	expect(other, 1);
	vm_destroy(other);
}

struct row {
	const char *name;
	void (*change)(struct vm *vm);
};

static const struct row rows[] = {
	{ "rewritten by the host", rewritten },
	{ "rewritten by the guest", rewritten_by_guest },
	{ "unmapped", unmapped },
	{ "mapped anew", mapped_anew },
	{ "moved there", moved_there },
	{ "forbidden and allowed", forbidden },
	{ "another machine", another_machine },
};

/* Also where translated code does not look by itself. */
static void finds_what_is_there(void **state)
{
	const struct row *row = *state;

	for (unsigned i = 0; i < 2; i++) {
		struct vm *vm;

		if (i)
			setenv("CPREC_NO_SITES", "1", 1);
		vm = machine();
		unsetenv("CPREC_NO_SITES");
		expect(vm, 1);
		row->change(vm);
		vm_destroy(vm);
	}
}

/* All but the first calls and returns are answered without the engine. */
static void is_quick(void **state)
{
	struct vm *vm = machine();
	uint64_t before = engine_jumps_missed(vm->engine);

	(void)state;
	expect(vm, 1);
	if (engine_jumps_missed(vm->engine) - before > 20)
		fail_msg("%u of %u", (unsigned)(engine_jumps_missed(vm->engine) - before),
			 2 * CALLS);
	before = engine_jumps_missed(vm->engine);
	expect(vm, 1);
	assert_true(engine_jumps_missed(vm->engine) - before <= 20);
	vm_destroy(vm);
}

/* Of two functions that are called in turn and have one place in the table. */
static void is_quick_in_one_place(void **state)
{
	static const uint8_t both[] = {
		0xff, 0xd7,			/* 1: call *%rdi */
		0xff, 0xd6,			/* call *%rsi */
		0xff, 0xcb,			/* dec %ebx */
		0x75, 0xf8,			/* jnz 1b */
		0xf4,				/* hlt */
	};
	/* The place is (pc ^ pc >> 14) % KNOWN_JUMPS. */
	const guest_addr other = 2 * FUNCTION +
				 (FUNCTION >> 14 ^ 2 * FUNCTION >> 14);
	struct vm *vm = machine();
	uint64_t before = engine_jumps_missed(vm->engine);
	struct vm_stop stop;

	(void)state;
	map(vm, 2 * FUNCTION, GUEST_PAGE, MAY_READ | MAY_WRITE | MAY_EXEC);
	put(vm, other, 2);
	assert_int_equal(memory_poke(vm_memory(vm), CODE, both, sizeof(both)),
			 0);
	vm_set_reg(vm, X86_RSI, other);
	run(vm, CALLS, &stop);
	assert_int_equal(vm_reg(vm, X86_RAX), 2);
	assert_true(engine_jumps_missed(vm->engine) - before <= 20);
	vm_destroy(vm);
}

/* Memory without code comes, changes and goes: what is known of code stays. */
static void data_changes(struct vm *vm)
{
	struct memory *memory = vm_memory(vm);

	map(vm, 2 * FUNCTION, GUEST_PAGE, MAY_READ | MAY_WRITE);
	expect(vm, 1);
	assert_int_equal(memory_protect(memory, 2 * FUNCTION, GUEST_PAGE,
					MAY_READ), 0);
	expect(vm, 1);
	memory_unmap(memory, 2 * FUNCTION, GUEST_PAGE);
	expect(vm, 1);
}

static void data_does_not_matter(void **state)
{
	struct vm *vm = machine();
	uint64_t before;

	(void)state;
	data_changes(vm);
	before = engine_jumps_missed(vm->engine);
	data_changes(vm);
	assert_int_equal(engine_jumps_missed(vm->engine), before);
	map(vm, 2 * FUNCTION, GUEST_PAGE, MAY_READ | MAY_EXEC);
	expect(vm, 1);
	assert_true(engine_jumps_missed(vm->engine) > before);
	vm_destroy(vm);
}

/* Targets counted in eight rounds, each of which counts another eighth. */
static uint32_t counted(struct vm *vm)
{
	uint32_t sum = 0;

	for (int round = 0; round < 8; round++) {
		uint32_t count;

		vm_count_targets(vm);
		assert_int_equal(vm_targets(vm), 0);
		expect(vm, 1);
		count = vm_targets(vm);
		assert_int_equal(count % 8, 0);
		/* Each is counted once, however often it is gone to. */
		expect(vm, 1);
		assert_int_equal(vm_targets(vm), count);
		sum += count;
	}
	return sum / 8;
}

static void targets_are_counted(void **state)
{
	struct vm *vm = machine();
	uint32_t count;

	(void)state;
	count = counted(vm);
	assert_between(count, 2, 10);	/* a function, and behind its call */
	assert_int_equal(counted(vm), count);
	vm_destroy(vm);
}

int main(void)
{
	static struct test_list list;

	add_rows(&list, rows, finds_what_is_there);
	add_test(&list, "is quick", is_quick, NULL);
	add_test(&list, "quick in one place", is_quick_in_one_place, NULL);
	add_test(&list, "data does not matter", data_does_not_matter, NULL);
	add_test(&list, "targets are counted", targets_are_counted, NULL);
	return run_list("jumps", &list);
}
