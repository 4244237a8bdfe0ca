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

/* What x87 begins with, and two other ways of rounding. */
#define CONTROL 0x37fu
#define CONTROL_DOWN 0x77fu
#define CONTROL_UP_SINGLE 0x87fu

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

static uint16_t get_control(void)
{
	uint16_t control;

	__asm__ volatile("fnstcw %0" : "=m"(control));
	return control;
}

static void set_control(uint16_t control)
{
	__asm__ volatile("fldcw %0" : : "m"(control));
}

/* In these modes of the host's, which stay. */
static void run(struct vm *vm, unsigned mode, uint16_t control, uint64_t steps)
{
	struct vm_stop stop;
	struct failure why;
	unsigned before = _mm_getcsr(), after;
	uint16_t control_after;
	int rc;

	_mm_setcsr(mode);
	set_control(control);
	rc = vm_run(vm, steps, true, &stop, &why);
	after = _mm_getcsr();
	control_after = get_control();
	_mm_setcsr(before);
	set_control(CONTROL);
	assert_int_equal(rc, 0);
	assert_int_equal(vm_steps(vm), steps);
	assert_int_equal(after & ~RAISED, mode);
	assert_int_equal(control_after, control);
}

/* ------- observers that compute ------- */

/* Its operands are not known when it is compiled. */
static double quotient(void)
{
	static volatile double one = 1, three = 3;

	return one / three;
}

/* The same by x87. */
static long double long_quotient(void)
{
	static volatile long double one = 1, three = 3;

	return one / three;
}

struct computing {
	double expected;
	long double long_expected;
	unsigned count, wrong;
};

static void compute(struct computing *computing)
{
	computing->count++;
	computing->wrong += quotient() != computing->expected ||
			    long_quotient() != computing->long_expected;
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
	"1: mov %rbx, 8(%rdi)\n fld1\n fadd %st(0), %st\n fstp %st(0)\n"
	"dec %ebx\n jne 1b\n"
	"stmxcsr 16(%rdi)\n fnstsw 20(%rdi)\n"
	"rounds_code_end: .popsection\n");
#define STEPS (3 + 6 * ROUNDS + 2)

/* The guest rounds up, and raises nothing. */
static void observe(const struct vm_observer *observer,
		    struct computing *computing)
{
	struct vm *vm = machine(ARCH_X86_64, rounds_code,
				(size_t)(rounds_code_end - rounds_code));
	const uint32_t mode = MASKED | UP;
	struct failure why;
	struct {
		uint32_t mxcsr;
		uint16_t status;
	} found;

	*computing = (struct computing){
		.expected = quotient(), .long_expected = long_quotient(),
	};
	vm_set_reg(vm, X86_RIP, CODE);
	memory_poke(vm_memory(vm), DATA, &mode, sizeof(mode));
	assert_int_equal(vm_observe(vm, observer, &why), 0);
	run(vm, MASKED, CONTROL, STEPS);
	assert_int_equal(memory_read(vm_memory(vm), RESULT, &found,
				     sizeof(found)), 0);
	assert_int_equal(found.mxcsr, mode);
	assert_int_equal(found.status & RAISED, 0);
	assert_true(computing->count);
	assert_int_equal(computing->wrong, 0);
	vm_destroy(vm);
}

static void observed_instructions(void **state)
{
	struct computing computing;
	const struct vm_observer observer = {
		.instruction = on_instruction, .code = VM_EVERYWHERE,
		.context = &computing,
	};

	(void)state;
	observe(&observer, &computing);
}

static void observed_accesses(void **state)
{
	struct computing computing;
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
	run(vm, mode, CONTROL, 4);
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

extern const uint8_t x87_code[], x87_code_end[];
__asm__(".pushsection .rodata\n"
	"x87_code:\n"
	"fld1\n fdivs (%rdi)\n fstpt 16(%rdi)\n"
	"x87_code_end: .popsection\n");
#define EXTENDED 10u		/* bytes */

static void divide_by_x87(uint16_t control)
{
	struct vm *vm = machine(ARCH_X86_64, x87_code,
				(size_t)(x87_code_end - x87_code));
	const long double expected = long_quotient();
	const float three = 3;
	uint8_t found[EXTENDED];

	vm_set_reg(vm, X86_RIP, CODE);
	vm_set_reg(vm, X86_RDI, DATA);
	memory_poke(vm_memory(vm), DATA, &three, sizeof(three));
	run(vm, MASKED, control, 3);
	assert_int_equal(memory_read(vm_memory(vm), RESULT, found,
				     sizeof(found)), 0);
	assert_memory_equal(found, &expected, sizeof(found));
	vm_destroy(vm);
}

static void any_control(void **state)
{
	(void)state;
	divide_by_x87(CONTROL);
	divide_by_x87(CONTROL_DOWN);
	divide_by_x87(CONTROL_UP_SINGLE);
}

int main(void)
{
	struct test_list list = { .count = 0 };

	add_test(&list, "observed instructions", observed_instructions, NULL);
	add_test(&list, "observed accesses", observed_accesses, NULL);
	add_test(&list, "any mode of the host", any_mode, NULL);
	add_test(&list, "any control word of the host", any_control, NULL);
	return run_list("host_float", &list);
}
