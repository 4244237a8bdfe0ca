/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_breaks.c - breakpoints stop before their instruction, each time, exactly
 *
 * The same loop runs with a breakpoint on each of its instructions in turn: the
 * guest must stop there as often as a trace sees the instruction, at the same
 * steps, whether blocks are inlined or not and whether they had run before.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "tests/unit/engine.h"
#include "tests/unit/machine.h"
#include "tests/unit/table.h"
#include "vm/processor/processor.h"

#define CODE 0x10000u
#define DATA 0x20000u
#define STEPS_MOST 4096u
#define ROUND 40u	/* steps, at most: two have all addresses */

/* Rounds with a loop, a string, special instructions, a call. */
extern const uint8_t loop_code[], loop_code_end[];
__asm__(".pushsection .rodata\n"
	"loop_code:\n"
	"mov $20, %ebx\n mov $0x20000, %edi\n"
	"1: lea 2f(%rip), %rax\n jmp *%rax\n"
	"2: mov $4, %ecx\n 4: inc %edx\n nop\n dec %ecx\n jne 4b\n"
	"mov $3, %ecx\n mov %rdi, %rsi\n rep lodsb\n"
	"nop\n lock negl (%rdi)\n paddq 16(%rdi), %xmm0\n"
	"lock cmpxchg8b 8(%rdi)\n call 3f\n"
	"dec %ebx\n jne 1b\n hlt\n"
	"3: inc %edx\n ret\n"
	"loop_code_end: .popsection\n");

struct walk {
	guest_addr pc[STEPS_MOST];
	unsigned count;
};

static struct vm *machine(void)
{
	struct failure why;
	struct vm *vm;

	if (vm_create(&vm, ARCH_X86_64, true, NULL, &why))
		fail_msg("%s", why.text);
	map(vm, CODE, GUEST_PAGE, MAY_READ | MAY_EXEC);
	map(vm, DATA, 2 * GUEST_PAGE, MAY_READ | MAY_WRITE);
	assert_int_equal(memory_poke(vm_memory(vm), CODE, loop_code,
				     (size_t)(loop_code_end - loop_code)), 0);
	vm_set_reg(vm, X86_RIP, CODE);
	vm_set_reg(vm, X86_RSP, DATA + 2 * GUEST_PAGE);
	return vm;
}

static void run(struct vm *vm, uint64_t budget, struct vm_stop *stop)
{
	struct failure why;

	assert_int_equal(vm_run(vm, budget, true, stop, &why), 0);
}

static void on_trace(void *context, uint64_t steps, guest_addr pc)
{
	struct walk *walk = context;

	assert_true(steps < STEPS_MOST);
	walk->pc[steps] = pc;
	if (steps >= walk->count)
		walk->count = (unsigned)steps + 1;
}

/* Each step's address, HLT's included. */
static void trace(struct walk *walk)
{
	struct vm *vm = machine();
	const struct vm_observer observer = {
		.instruction = on_trace, .code = VM_EVERYWHERE,
		.context = walk,
	};
	struct vm_stop stop;
	struct failure why;

	walk->count = 0;
	assert_int_equal(vm_observe(vm, &observer, &why), 0);
	run(vm, UINT64_C(1) << 40, &stop);
	assert_int_equal(stop.kind, VM_STOP_FAULT);
	assert_int_equal(vm_steps(vm), walk->count - 1);
	vm_destroy(vm);
}

/* From `first` on, the guest stops wherever the walk is at `pc`. */
static void expect_stops(struct vm *vm, const struct walk *walk, guest_addr pc,
			 unsigned first)
{
	struct vm_stop stop;

	for (unsigned i = first; i < walk->count; i++) {
		if (walk->pc[i] != pc)
			continue;
		run(vm, UINT64_C(1) << 40, &stop);
		assert_int_equal(stop.kind, VM_STOP_BREAK);
		assert_int_equal(stop.pc, pc);
		assert_int_equal(vm_reg(vm, X86_RIP), pc);
		assert_int_equal(vm_steps(vm), i);
		/* Again, unless it is to be passed. */
		run(vm, UINT64_C(1) << 40, &stop);
		assert_int_equal(stop.kind, VM_STOP_BREAK);
		assert_int_equal(vm_steps(vm), i);
		vm_break_pass(vm);
	}
	run(vm, UINT64_C(1) << 40, &stop);
	assert_int_equal(stop.kind, VM_STOP_FAULT);
	assert_int_equal(vm_steps(vm), walk->count - 1);
}

static void each_address(unsigned first)
{
	static struct walk walk;
	struct failure why;

	trace(&walk);
	for (unsigned i = 0; i < walk.count; i++) {
		struct vm *vm = machine();
		struct vm_stop stop;

		if (first)
			run(vm, first, &stop);
		assert_int_equal(vm_break_set(vm, walk.pc[i], &why), 0);
		expect_stops(vm, &walk, walk.pc[i], first);
		vm_destroy(vm);
		if (i > 2 * ROUND)
			break;
	}
}

static void before_it_runs(void **state)
{
	(void)state;
	each_address(0);
}

static void behind_hot_code(void **state)
{
	(void)state;
	each_address(101);
}

static void not_inlined(void **state)
{
	(void)state;
	setenv("CPREC_NO_INLINE", "1", 1);
	each_address(0);
	each_address(101);
	unsetenv("CPREC_NO_INLINE");
}

/* All at once: it stops at every step; then at none. */
static void everywhere_and_nowhere(void **state)
{
	static struct walk walk;
	struct vm *vm = machine();
	struct vm_stop stop;
	struct failure why;
	const unsigned half = 120;

	(void)state;
	trace(&walk);
	for (unsigned i = 0; i < walk.count; i++)
		assert_int_equal(vm_break_set(vm, walk.pc[i], &why), 0);
	for (unsigned i = 1; i < half; i++) {
		vm_break_pass(vm);
		run(vm, UINT64_C(1) << 40, &stop);
		assert_int_equal(stop.kind, VM_STOP_BREAK);
		assert_int_equal(vm_steps(vm), i);
		assert_int_equal(stop.pc, walk.pc[i]);
	}
	for (unsigned i = 0; i < walk.count; i++)
		vm_break_clear(vm, walk.pc[i]);
	run(vm, UINT64_C(1) << 40, &stop);
	assert_int_equal(stop.kind, VM_STOP_FAULT);
	assert_int_equal(vm_steps(vm), walk.count - 1);
	vm_destroy(vm);
}

/* One that is set and cleared anywhere leaves nothing behind. */
static void set_and_clear(void)
{
	static struct walk walk;
	struct vm *vm = machine();
	struct vm_stop stop;
	struct failure why;

	trace(&walk);
	for (unsigned first = ROUND; first < 2 * ROUND; first++) {
		for (unsigned i = first; i < first + ROUND; i++) {
			vm_set_reg(vm, X86_RIP, CODE);
			vm_set_steps(vm, 0);
			run(vm, first, &stop);
			assert_int_equal(vm_break_set(vm, walk.pc[i], &why), 0);
			run(vm, UINT64_C(1) << 40, &stop);
			assert_int_equal(stop.kind, VM_STOP_BREAK);
			vm_break_clear(vm, walk.pc[i]);
			run(vm, UINT64_C(1) << 40, &stop);
			assert_int_equal(stop.kind, VM_STOP_FAULT);
			assert_int_equal(vm_steps(vm), walk.count - 1);
		}
	}
	vm_destroy(vm);
}

static void only_for_a_while(void **state)
{
	(void)state;
	set_and_clear();
	setenv("CPREC_NO_INLINE", "1", 1);
	set_and_clear();
	unsetenv("CPREC_NO_INLINE");
}

/* A budget that ends there comes first. */
static void budgets_come_first(void **state)
{
	static struct walk walk;
	struct failure why;

	(void)state;
	trace(&walk);
	for (unsigned i = 1; i < 40; i++) {
		struct vm *vm = machine();
		struct vm_stop stop;

		assert_int_equal(vm_break_set(vm, walk.pc[i], &why), 0);
		run(vm, i, &stop);
		while (stop.kind == VM_STOP_BREAK && vm_steps(vm) < i) {
			vm_break_pass(vm);
			run(vm, i - vm_steps(vm), &stop);
		}
		assert_int_equal(stop.kind, VM_STOP_BUDGET);
		assert_int_equal(vm_steps(vm), i);
		assert_int_equal(vm_reg(vm, X86_RIP), walk.pc[i]);
		vm_destroy(vm);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(before_it_runs),
		cmocka_unit_test(behind_hot_code),
		cmocka_unit_test(not_inlined),
		cmocka_unit_test(everywhere_and_nowhere),
		cmocka_unit_test(only_for_a_while),
		cmocka_unit_test(budgets_come_first),
	};

	return cmocka_run_group_tests_name("breaks", tests, NULL, NULL);
}
