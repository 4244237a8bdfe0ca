/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_kept.c - what one process of a family has translated, others take over
 *
 * The code is many functions, each of which adds a number of its own to RAX and
 * jumps to the next.  A machine runs it in processes that are forked one after
 * the other, and at the same time; how many blocks each has translated itself
 * tells what it found.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/error.h"
#include "tests/unit/engine.h"
#include "tests/unit/machine.h"
#include "tests/unit/table.h"
#include "vm/processor/processor.h"

#define CODE 0x10000u
#define FUNCTIONS 1000u		/* more than go into one piece of the store */
#define SIZE 16u
#define TOGETHER 6u

/* add $number, %rax; jmp to the next; or hlt */
static void put(struct vm *vm, unsigned function, uint32_t number)
{
	guest_addr at = CODE + function * SIZE;
	uint8_t code[SIZE] = { 0x48, 0x05, 0, 0, 0, 0, 0xeb, SIZE - 8 };

	memcpy(code + 2, &number, sizeof(number));
	if (function == FUNCTIONS - 1)
		code[6] = 0xf4;
	assert_int_equal(memory_poke(vm_memory(vm), at, code, SIZE), 0);
}

static struct vm *machine(void)
{
	struct failure why;
	struct vm *vm;

	if (vm_create(&vm, ARCH_X86_64, true, NULL, &why))
		fail_msg("%s", why.text);
	map(vm, CODE, FUNCTIONS * SIZE / GUEST_PAGE * GUEST_PAGE + GUEST_PAGE,
	    MAY_READ | MAY_WRITE | MAY_EXEC);
	for (unsigned i = 0; i < FUNCTIONS; i++)
		put(vm, i, i);
	return vm;
}

/* From one of the functions on: the sum. */
static uint64_t run_from(struct vm *vm, unsigned function, struct vm_stop *stop)
{
	struct failure why;

	vm_set_reg(vm, X86_RIP, CODE + function * SIZE);
	vm_set_reg(vm, X86_RAX, 0);
	if (vm_run(vm, UINT64_C(1) << 40, true, stop, &why))
		return UINT64_MAX;
	return vm_reg(vm, X86_RAX);
}

static uint64_t sum_from(unsigned function)
{
	return (uint64_t)FUNCTIONS * (FUNCTIONS - 1) / 2 -
	       (uint64_t)function * (function - 1) / 2;
}

/* Whether all is right, with at most so many blocks translated for it. */
static bool is_right(struct vm *vm, unsigned function, uint64_t most)
{
	uint64_t before = vm->planned;
	struct vm_stop stop;
	uint64_t sum = run_from(vm, function, &stop);

	return sum == sum_from(function) && vm->planned - before <= most;
}

/* ------- what children do ------- */

static bool first(struct vm *vm)
{
	return is_right(vm, 1, FUNCTIONS + 2);
}

static bool the_same(struct vm *vm)
{
	return is_right(vm, 1, 2);
}

static bool starts_elsewhere(struct vm *vm)
{
	return is_right(vm, FUNCTIONS / 2, 2) && is_right(vm, 1, 2);
}

static bool is_flushed(struct vm *vm)
{
	if (!the_same(vm))
		return false;
	vm_forget_code(vm);
	return the_same(vm);
}

/* A page is dropped, and translated anew. */
static bool is_rewritten(struct vm *vm)
{
	struct vm_stop stop;

	if (!the_same(vm))
		return false;
	put(vm, 5, 5 + 1000);
	if (run_from(vm, 1, &stop) != sum_from(1) + 1000)
		return false;
	put(vm, 5, 5);
	return is_right(vm, 1, GUEST_PAGE / SIZE + 2);
}

static bool has_other_code(struct vm *vm)
{
	struct vm_stop stop;

	put(vm, 7, 70000);
	return run_from(vm, 1, &stop) == sum_from(1) + 70000 - 7;
}

static bool has_a_breakpoint(struct vm *vm)
{
	struct vm_stop stop;
	struct failure why;

	return !vm_break_set(vm, CODE + 9 * SIZE, &why) &&
	       run_from(vm, 1, &stop) == 8 * 9 / 2 &&
	       stop.kind == VM_STOP_BREAK;
}

/* Stops in the middle, where a block is translated for a part of it. */
static bool is_exact(struct vm *vm)
{
	struct vm_stop stop;
	struct failure why;

	vm_set_reg(vm, X86_RIP, CODE + SIZE);
	vm_set_reg(vm, X86_RAX, 0);
	return !vm_run(vm, 2 * 9 + 1, true, &stop, &why) &&
	       vm_reg(vm, X86_RAX) == 10 * 11 / 2 &&
	       vm_reg(vm, X86_RIP) == CODE + 10 * SIZE + 6 &&
	       !vm_run(vm, UINT64_C(1) << 40, true, &stop, &why) &&
	       vm_reg(vm, X86_RAX) == sum_from(1);
}

/* ------- children ------- */

static pid_t begin(struct vm *vm, bool (*does)(struct vm *))
{
	pid_t pid;

	vm_keep_translations(vm);
	pid = fork();
	if (!pid)
		_exit(!does(vm));
	assert_true(pid > 0);
	return pid;
}

static void expect(pid_t pid, const char *what)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status)
		fail_msg("%s: %x", what, (unsigned)status);
}

static bool its_child(struct vm *vm)
{
	int status;
	pid_t pid = begin(vm, the_same);

	return waitpid(pid, &status, 0) == pid && !status;
}

struct row {
	const char *name;
	bool (*does)(struct vm *vm);
};

static const struct row rows[] = {
	{ "the same code", the_same },
	{ "begins elsewhere", starts_elsewhere },
	{ "all is dropped", is_flushed },
	{ "a page is rewritten", is_rewritten },
	{ "other code is there", has_other_code },
	{ "a breakpoint is there", has_a_breakpoint },
	{ "a part of a block", is_exact },
	{ "a child of a child", its_child },
};

static void takes_over(void **state)
{
	const struct row *row = *state;
	struct vm *vm = machine();

	/* Nothing is kept for one child. */
	expect(begin(vm, first), "the first");
	expect(begin(vm, first), "the second");
	for (unsigned i = 0; i < 2; i++)
		expect(begin(vm, row->does), row->name);
	/* The parent itself has translated nothing yet. */
	assert_true(the_same(vm));
	vm_destroy(vm);
}

/* Without a store, each translates for itself. */
static void can_be_turned_off(void **state)
{
	struct vm *vm;
	int status;

	(void)state;
	setenv("CPREC_NO_KEPT", "1", 1);
	vm = machine();
	unsetenv("CPREC_NO_KEPT");
	expect(begin(vm, first), "the first");
	expect(begin(vm, first), "the second");
	expect(begin(vm, first), "the third");
	assert_true(wait(&status) < 0);
	assert_false(the_same(vm));
	vm_destroy(vm);
}

/* One child is not worth it, and its own first child is not, either. */
static bool is_first_again(struct vm *vm)
{
	int status;
	pid_t pid = begin(vm, first);

	return waitpid(pid, &status, 0) == pid && !status && !the_same(vm);
}

static void not_for_one(void **state)
{
	struct vm *vm = machine();

	(void)state;
	expect(begin(vm, is_first_again), "the first");
	assert_false(the_same(vm));
	vm_destroy(vm);
}

/* Each begins elsewhere, and has what others have not made yet. */
static void together(void **state)
{
	struct vm *vm = machine();
	pid_t pids[TOGETHER];

	(void)state;
	expect(begin(vm, first), "the first");
	vm_keep_translations(vm);
	for (unsigned i = 0; i < TOGETHER; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (!pids[i])
			_exit(!is_right(vm, FUNCTIONS / TOGETHER * (5 - i) + 1,
					FUNCTIONS + 2) || !first(vm));
	}
	for (unsigned i = 0; i < TOGETHER; i++)
		expect(pids[i], "one of them");
	expect(begin(vm, the_same), "the last");
	vm_destroy(vm);
}

int main(void)
{
	static struct test_list list;

	add_rows(&list, rows, takes_over);
	add_test(&list, "can be turned off", can_be_turned_off, NULL);
	add_test(&list, "not for one child", not_for_one, NULL);
	add_test(&list, "at the same time", together, NULL);
	return run_list("kept", &list);
}
