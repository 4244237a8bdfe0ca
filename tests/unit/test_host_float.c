/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_host_float.c - neither what the host has set for floating point is the
 * guest's, nor what the guest has set the host's
 */
#include <string.h>
#include <xmmintrin.h>

#include "tests/unit/engine.h"
#include "tests/unit/machine.h"
#include "tests/unit/table.h"
#include "vm/vm.h"

#define CODE 0x10000u
#define DATA 0x20000u
#define RESULT (DATA + 16)

#define MASKED 0x1f80u
#define UP 0x4000u		/* rounding */
#define DOWN 0x2000u
#define FLUSHES 0x8040u		/* results and operands */
#define RAISED 0x3fu

static struct vm *machine(enum arch arch, const void *code, size_t size)
{
	struct failure why;
	struct vm *vm;

	if (vm_create(&vm, arch, true, NULL, &why))
		fail_msg("%s", why.text);
	map(vm, CODE, GUEST_PAGE, MAY_READ | MAY_EXEC);
	map(vm, DATA, GUEST_PAGE, MAY_READ | MAY_WRITE);
	assert_int_equal(memory_poke(vm_memory(vm), CODE, code, size), 0);
	return vm;
}

/* In this mode of the host's, which stays. */
static void run(struct vm *vm, unsigned mode, uint64_t steps)
{
	struct vm_stop stop;
	struct failure why;
	unsigned before = _mm_getcsr(), after;
	int rc;

	_mm_setcsr(mode);
	rc = vm_run(vm, steps, true, &stop, &why);
	after = _mm_getcsr();
	_mm_setcsr(before);
	assert_int_equal(rc, 0);
	assert_int_equal(vm_steps(vm), steps);
	assert_int_equal(after & ~RAISED, mode);
}

/* ------- observers that compute ------- */

/* Its operands are not known when it is compiled. */
static double quotient(void)
{
	static volatile double one = 1, three = 3;

	return one / three;
}

struct computing {
	double expected;
	unsigned count, wrong;
};

static void compute(struct computing *computing)
{
	computing->count++;
	computing->wrong += quotient() != computing->expected;
}

static void on_instruction(void *context, uint64_t steps, guest_addr pc)
{
	(void)steps;
	(void)pc;
	compute(context);
}

static void on_accessed(void *context, const struct vm_access_told *list,
			size_t count)
{
	(void)list;
	(void)count;
	compute(context);
}

#define ROUNDS 2000u
extern const uint8_t rounds_code[], rounds_code_end[];
__asm__(".pushsection .rodata\n"
	"rounds_code:\n"
	"mov $2000, %ebx\n mov $0x20000, %edi\n ldmxcsr (%rdi)\n"
	"1: mov %rbx, 8(%rdi)\n dec %ebx\n jne 1b\n"
	"stmxcsr 16(%rdi)\n"
	"rounds_code_end: .popsection\n");
#define STEPS (3 + 3 * ROUNDS + 1)

/* The guest rounds up, and raises nothing. */
static void observe(const struct vm_observer *observer,
		    const struct computing *computing)
{
	struct vm *vm = machine(ARCH_X86_64, rounds_code,
				(size_t)(rounds_code_end - rounds_code));
	const uint32_t mode = MASKED | UP;
	struct failure why;
	uint32_t found;

	vm_set_reg(vm, X86_RIP, CODE);
	memory_poke(vm_memory(vm), DATA, &mode, sizeof(mode));
	assert_int_equal(vm_observe(vm, observer, &why), 0);
	run(vm, MASKED, STEPS);
	assert_int_equal(memory_read(vm_memory(vm), RESULT, &found,
				     sizeof(found)), 0);
	assert_int_equal(found, mode);
	assert_true(computing->count);
	assert_int_equal(computing->wrong, 0);
	vm_destroy(vm);
}

static void observed_instructions(void **state)
{
	struct computing computing = { .expected = quotient() };
	const struct vm_observer observer = {
		.instruction = on_instruction, .code = VM_EVERYWHERE,
		.context = &computing,
	};

	(void)state;
	observe(&observer, &computing);
}

static void observed_accesses(void **state)
{
	struct computing computing = { .expected = quotient() };
	const struct vm_observer observer = {
		.accessed = on_accessed, .accesses = VM_WRITES,
		.data = VM_EVERYWHERE, .context = &computing,
	};

	(void)state;
	observe(&observer, &computing);
}

/* ------- whatever the host has set ------- */

/* ldr d1, [x0]; ldr d2, [x0, 8]; fdiv d0, d1, d2; str d0, [x0, 16] */
static const uint32_t divides[] = {
	0xfd400001, 0xfd400402, 0x1e621820, 0xfd000800,
};

static void divide(unsigned mode)
{
	struct vm *vm = machine(ARCH_AARCH64, divides, sizeof(divides));
	const double operands[2] = { 1, 3 };
	double found;

	vm_set_reg(vm, ARM64_PC, CODE);
	vm_set_reg(vm, ARM64_X0, DATA);
	vm_set_reg(vm, ARM64_FPSR, 0x10);	/* inexact, before */
	memory_poke(vm_memory(vm), DATA, operands, sizeof(operands));
	run(vm, mode, 4);
	assert_int_equal(memory_read(vm_memory(vm), RESULT, &found,
				     sizeof(found)), 0);
	assert_true(found == quotient());
	vm_destroy(vm);
}

static void any_mode(void **state)
{
	(void)state;
	divide(MASKED);
	divide(MASKED | UP);
	divide(MASKED | DOWN | FLUSHES);
}

int main(void)
{
	struct test_list list = { .count = 0 };

	add_test(&list, "observed instructions", observed_instructions, NULL);
	add_test(&list, "observed accesses", observed_accesses, NULL);
	add_test(&list, "any mode of the host", any_mode, NULL);
	return run_list("host_float", &list);
}
