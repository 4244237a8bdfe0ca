/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_observers.c - observers are told what is in their range, while they are
 * there
 *
 * A loop whose every step and access is known runs with observers of all
 * ranges, added and removed on the way.
 */
#include <string.h>

#include "formats/error.h"
#include "tests/unit/engine.h"
#include "tests/unit/machine.h"
#include "tests/unit/table.h"
#include "vm/vm.h"

#define CODE 0x10000u
#define DATA 0x20000u
#define ROUNDS 20u
#define STEPS_MOST 4096u

/* Six instructions a round, the last four of which access memory. */
extern const uint8_t round_code[], round_code_end[];
__asm__(".pushsection .rodata\n"
	"round_code:\n"
	"mov $20, %ebx\n mov $0x20000, %edi\n"
	"1: nop\n"
	"mov %rbx, 8(%rdi)\n"		/* writes 8 */
	"movdqu 16(%rdi), %xmm0\n"	/* reads 16 */
	"push %rbx\n"
	"addl $1, 40(%rdi)\n"		/* reads and writes 4 */
	"pop %rcx\n"
	"dec %ebx\n jne 1b\n hlt\n"
	"round_code_end: .popsection\n");

#define HEAD 2u			/* before the first round */
#define ROUND 8u		/* instructions */
#define STEPS (HEAD + ROUNDS * ROUND)

struct told {
	struct vm *vm;
	guest_addr pc[STEPS_MOST];
	unsigned instructions;
	uint64_t last;		/* the newest step that was told */
	unsigned reads, writes;	/* parts of accesses */
	bool checks;		/* that accesses are of the newest instruction */
};

static struct vm *machine(void)
{
	struct failure why;
	struct vm *vm;

	if (vm_create(&vm, ARCH_X86_64, NULL, &why))
		fail_msg("%s", why.text);
	map(vm, CODE, GUEST_PAGE, MAY_READ | MAY_EXEC);
	map(vm, DATA, GUEST_PAGE, MAY_READ | MAY_WRITE);
	assert_int_equal(memory_poke(vm_memory(vm), CODE, round_code,
				     (size_t)(round_code_end - round_code)),
			 0);
	vm_set_reg(vm, X86_RIP, CODE);
	vm_set_reg(vm, X86_RSP, DATA + GUEST_PAGE);
	return vm;
}

static void run(struct vm *vm, uint64_t steps)
{
	struct vm_stop stop;
	struct failure why;

	assert_int_equal(vm_run(vm, steps, true, &stop, &why), 0);
}

static void on_instruction(void *context, uint64_t steps, guest_addr pc)
{
	struct told *told = context;

	assert_true(steps < STEPS_MOST);
	assert_int_equal(vm_reg(told->vm, X86_RIP), pc);
	told->pc[steps] = pc;
	told->last = steps;
	told->instructions++;
}

static void on_access(void *context, enum vm_access access, guest_addr addr,
		      unsigned size, uint64_t value)
{
	struct told *told = context;
	struct vm_moment now;

	(void)value;
	assert_true(addr >= DATA && addr + size <= DATA + GUEST_PAGE);
	told->reads += access == ACCESS_READ;
	told->writes += access == ACCESS_WRITE;
	if (!told->checks)
		return;
	now = vm_moment(told->vm);
	assert_int_equal(now.steps, told->last);
	assert_int_equal(now.pc, told->pc[now.steps]);
}

static struct vm_observer observer_of(struct told *told, struct vm *vm)
{
	*told = (struct told){ .vm = vm };
	return (struct vm_observer) {
		.instruction = on_instruction, .code = VM_EVERYWHERE,
		.access = on_access, .data = VM_EVERYWHERE, .context = told,
	};
}

static void add(struct vm *vm, const struct vm_observer *observer)
{
	struct failure why;

	assert_int_equal(vm_observe(vm, observer, &why), 0);
}

static void assert_accesses(const struct told *told, unsigned rounds)
{
	assert_int_equal(told->writes, rounds * 3);
	assert_int_equal(told->reads, rounds * 4);
}

/* All, with HLT, which is tried. */
static void walk(struct told *told)
{
	struct vm *vm = machine();
	struct vm_observer observer = observer_of(told, vm);

	told->checks = true;
	add(vm, &observer);
	run(vm, UINT64_C(1) << 40);
	assert_int_equal(vm_steps(vm), STEPS);
	vm_destroy(vm);
}

static void everything(void **state)
{
	static struct told told;

	(void)state;
	walk(&told);
	assert_int_equal(told.instructions, STEPS + 1);
	assert_accesses(&told, ROUNDS);
}

/* Only those in the range, at the same steps; for each range. */
static void ranges_of_code(void **state)
{
	static struct told all, told;

	(void)state;
	walk(&all);
	for (unsigned first = 0; first < HEAD + ROUND; first++)
		for (unsigned last = first; last < HEAD + ROUND; last++) {
			struct vm *vm = machine();
			struct vm_observer observer = observer_of(&told, vm);
			unsigned expected = 0;

			observer.access = NULL;
			observer.code = (struct vm_range){ all.pc[first],
							   all.pc[last] };
			add(vm, &observer);
			run(vm, UINT64_C(1) << 40);
			for (unsigned i = 0; i <= STEPS; i++) {
				bool is_in = all.pc[i] >= all.pc[first] &&
					     all.pc[i] <= all.pc[last];

				expected += is_in;
				assert_int_equal(told.pc[i],
						 is_in ? all.pc[i] : 0);
			}
			assert_int_equal(told.instructions, expected);
			assert_int_equal(vm_steps(vm), STEPS);
			vm_destroy(vm);
		}
}

static void ranges_of_data(void **state)
{
	static struct told told;
	struct vm *vm = machine();
	struct vm_observer observer = observer_of(&told, vm);

	(void)state;
	observer.instruction = NULL;
	observer.data = (struct vm_range){ DATA + 43, DATA + 60 };
	add(vm, &observer);
	run(vm, UINT64_C(1) << 40);
	assert_int_equal(told.writes, ROUNDS);
	assert_int_equal(told.reads, ROUNDS);
	vm_destroy(vm);
}

/* There from one step to another; all else runs as ever. */
static void for_a_while(void **state)
{
	static struct told told;

	(void)state;
	for (unsigned from = 0; from < 5 * ROUND; from += 3) {
		struct vm *vm = machine();
		struct vm_observer observer = observer_of(&told, vm);

		run(vm, HEAD + from);
		add(vm, &observer);
		run(vm, 6 * ROUND);
		vm_unobserve(vm, &observer);
		assert_int_equal(told.instructions, 6 * ROUND);
		assert_accesses(&told, 6);
		run(vm, UINT64_C(1) << 40);
		assert_int_equal(told.instructions, 6 * ROUND);
		assert_accesses(&told, 6);
		assert_int_equal(vm_steps(vm), STEPS);
		/* And there once more. */
		vm_set_reg(vm, X86_RIP, CODE);
		add(vm, &observer);
		run(vm, HEAD + ROUND);
		assert_accesses(&told, 7);
		vm_destroy(vm);
	}
}

/* Each as if it were alone. */
static void two_at_once(void **state)
{
	static struct told all, one, other;
	struct vm *vm = machine();
	struct vm_observer first = observer_of(&one, vm);
	struct vm_observer second = observer_of(&other, vm);

	(void)state;
	walk(&all);
	first.code = (struct vm_range){ all.pc[3], all.pc[3] };
	first.access = NULL;
	second.code = (struct vm_range){ all.pc[6], all.pc[7] };
	second.data = (struct vm_range){ DATA + 8, DATA + 8 };
	add(vm, &first);
	add(vm, &second);
	run(vm, UINT64_C(1) << 40);
	assert_int_equal(one.instructions, ROUNDS);
	assert_int_equal(other.instructions, 2 * ROUNDS);
	assert_int_equal(other.writes, ROUNDS);
	assert_int_equal(other.reads, 0);
	vm_destroy(vm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything),
		cmocka_unit_test(ranges_of_code),
		cmocka_unit_test(ranges_of_data),
		cmocka_unit_test(for_a_while),
		cmocka_unit_test(two_at_once),
	};

	return cmocka_run_group_tests_name("observers", tests, NULL, NULL);
}
