/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_plan.c - blocks that overlap are translated once, and remain exact
 *
 * A loop is entered through code in front of its head, so it is part of two
 * blocks.  What it holds must not make the engine translate either again and
 * again.  Operands whose alignment shows only on the way are met everywhere
 * around a page's end.
 */
#include <string.h>

#include "formats/error.h"
#include "tests/unit/engine.h"
#include "tests/unit/machine.h"
#include "tests/unit/table.h"
#include "vm/processor/processor.h"

#define CODE 0x10000u		/* two pages */
#define DATA 0x20000u
#define ROUNDS 1000u
#define TRANSLATIONS_FEW 40u

static void on_trace(void *context, uint64_t steps, guest_addr pc)
{
	(void)context;
	(void)steps;
	(void)pc;
}

static const struct vm_observer observer = {
	.instruction = on_trace, .code = VM_EVERYWHERE,
};

static struct vm *machine(guest_addr at, const uint8_t *code,
			  const uint8_t *end, bool traced)
{
	struct failure why;
	struct vm *vm;

	if (vm_create(&vm, ARCH_X86_64, true, NULL, &why))
		fail_msg("%s", why.text);
	map(vm, CODE, 2 * GUEST_PAGE, MAY_READ | MAY_EXEC);
	map(vm, DATA, GUEST_PAGE, MAY_READ | MAY_WRITE);
	assert_int_equal(memory_poke(vm_memory(vm), at, code,
				     (size_t)(end - code)), 0);
	vm_set_reg(vm, X86_RIP, at);
	vm_set_reg(vm, X86_RDI, DATA);
	vm_set_reg(vm, X86_R8, ROUNDS);
	if (traced)
		assert_int_equal(vm_observe(vm, &observer, &why), 0);
	return vm;
}

/* Runs to the end, which is HLT; time-stamp counters are skipped. */
static void run(struct vm *vm, struct vm_stop *stop)
{
	struct failure why;

	do {
		assert_int_equal(vm_run(vm, UINT64_C(1) << 40, true, stop,
					&why), 0);
		if (stop->kind == VM_STOP_VALUE)
			vm_skip(vm, stop);
	} while (stop->kind == VM_STOP_VALUE);
}

/* ------- loops ------- */

#define AROUND 7u	/* instructions of a round but for the loop's */
#define LOOP(name, body)                                                       \
	extern const uint8_t name[], name##_end[];                             \
	__asm__(".pushsection .rodata\n" #name ":\n"                           \
		"1: mov $2, %ecx\n mov %rdi, %rsi\n test %rdi, %rdi\n"         \
		"je 3f\n nop\n"                                                \
		"2: " body "\n"                                                \
		"dec %ecx\n jne 2b\n"                                          \
		"3: dec %r8d\n jne 1b\n hlt\n"                                 \
		#name "_end:\n .popsection\n")

LOOP(computed, "xor %edx, %edx\n paddq (%rdi, %rdx), %xmm0");
LOOP(loaded, "mov %rdi, 64(%rdi)\n mov 64(%rdi), %rax\n paddq (%rax), %xmm0\n"
	     "mov 64(%rdi), %rdx\n paddq 16(%rdx), %xmm1");
LOOP(many, "paddq 16(%rdi), %xmm0\n paddq 17(%rbp), %xmm0\n"
	   "paddq (%rdi, %rbx), %xmm0\n paddq (%rdi, %rbx, 2), %xmm0\n"
	   "paddq (%rdi, %rbx, 4), %xmm0\n paddq 64(%rbx, %rdi), %xmm0\n"
	   "paddq (%rsi), %xmm0\n paddq (%rsi, %rbx, 8), %xmm0");
LOOP(short_address, "inc %edx\n paddq (%edi), %xmm0");
LOOP(shows_sse, "inc %edx\n stmxcsr 64(%rdi)");
LOOP(shows_x87, "inc %edx\n fnstsw %ax");
LOOP(value, "inc %edx\n rdtsc");
LOOP(emulated, "inc %edx\n lock negl 64(%rdi)");
LOOP(exchange, "mov %ecx, %r9d\n lock cmpxchg16b 64(%rdi)\n mov %r9d, %ecx");
LOOP(string, "mov %ecx, %r9d\n mov $8, %ecx\n rep lodsb\n mov %r9d, %ecx\n"
	     "mov %rdi, %rsi");

struct loop {
	const char *name;
	const uint8_t *code, *end;
	unsigned body;		/* instructions */
};

#define CODE_OF(name) name, name##_end

static const struct loop loops[] = {
	{ "an operand that is computed", CODE_OF(computed), 2 },
	{ "operands that are loaded", CODE_OF(loaded), 5 },
	{ "many operands", CODE_OF(many), 8 },
	{ "an operand of 32 bits", CODE_OF(short_address), 2 },
	{ "flags of SSE", CODE_OF(shows_sse), 2 },
	{ "flags of x87", CODE_OF(shows_x87), 2 },
	{ "time-stamp counters", CODE_OF(value), 2 },
	{ "what is emulated", CODE_OF(emulated), 2 },
	{ "wide exchanges", CODE_OF(exchange), 3 },
	{ "a repeated string", CODE_OF(string), 5 },
};

static void is_translated_once(void **state)
{
	const struct loop *loop = *state;
	struct vm *vm = machine(CODE, loop->code, loop->end, false);
	struct vm_stop stop;

	vm_set_reg(vm, X86_RBP, DATA - 1);
	run(vm, &stop);
	assert_int_equal(stop.fault, FAULT_PRIVILEGE);
	assert_int_equal(stop.pc, CODE + (loop->end - loop->code) - 1);
	assert_int_equal(vm_steps(vm),
			 ROUNDS * (AROUND + 2 * (loop->body + 2)));
	if (vm->planned > TRANSLATIONS_FEW)
		fail_msg("%u translations", (unsigned)vm->planned);
	assert_true(vm->planned > 3);
	vm_destroy(vm);
}

/* ------- where it is not aligned ------- */

/* Adds up what a list of addresses leads to; the fourth is not aligned. */
#define TO_THE_FAULT (1u + 3 * 5 + 1)
extern const uint8_t list[], list_at[], list_end[];
__asm__(".pushsection .rodata\n"
	"list: nop\n"
	"1: mov (%rdi), %rdx\n"
	"list_at: paddq 32(%rdx), %xmm0\n"
	"fnstsw %ax\n"
	"add $8, %rdi\n"
	"jmp 1b\n"
	"list_end: .popsection\n");

/* No block can be linked with one that goes over a page's end. */
static void are_alone_at_the_end(const struct vm *vm)
{
	for (uint32_t i = 1; i < vm->block_count; i++) {
		const struct engine_block *block = &vm->blocks[i].inlined;

		if (block->pc / GUEST_PAGE !=
		    (block->pc + block->size - 1) / GUEST_PAGE)
			assert_int_equal(block->count, 1);
	}
}

static void stops_exactly(guest_addr at, bool traced)
{
	static const uint64_t addresses[] = {
		DATA, DATA + 16, DATA + 32, DATA + 33,
	};
	struct vm *vm = machine(at, list, list_end, traced);
	struct vm_stop stop;

	assert_int_equal(memory_poke(vm_memory(vm), DATA, addresses,
				     sizeof(addresses)), 0);
	run(vm, &stop);
	assert_int_equal(stop.kind, VM_STOP_FAULT);
	assert_int_equal(stop.fault, FAULT_PRIVILEGE);
	assert_int_equal(stop.pc, at + (guest_addr)(list_at - list));
	assert_int_equal(vm_steps(vm), TO_THE_FAULT);
	are_alone_at_the_end(vm);
	vm_destroy(vm);
}

static void stops_around_a_page_end(void **state)
{
	const bool *traced = *state;
	guest_addr size = (guest_addr)(list_end - list);

	for (guest_addr before = 0; before <= size; before++)
		stops_exactly(CODE + GUEST_PAGE - before, *traced);
}

/* ------- flags ------- */

/* 1.0 / 3.0 is not exact, each time again. */
extern const uint8_t quotient[], quotient_end[];
__asm__(".pushsection .rodata\n"
	"quotient: mov $-1, %ebx\n"
	"mov $3, %ecx\n"
	"1: movl $0x1f80, (%rdi)\n"
	"ldmxcsr (%rdi)\n"
	"mov $1, %eax\n"
	"cvtsi2sd %eax, %xmm0\n"
	"mov $3, %eax\n"
	"cvtsi2sd %eax, %xmm1\n"
	"divsd %xmm1, %xmm0\n"
	"stmxcsr (%rdi)\n"
	"and (%rdi), %ebx\n"
	"fninit\n"
	"fld1\n"
	"movl $3, (%rdi)\n"
	"fidivl (%rdi)\n"
	"fnstsw %ax\n"
	"and %eax, %ebx\n"
	"dec %ecx\n"
	"jne 1b\n"
	"hlt\n"
	"quotient_end: .popsection\n");

static void flags_are_shown(void **state)
{
	const bool *traced = *state;
	guest_addr size = (guest_addr)(quotient_end - quotient);

	for (guest_addr before = 0; before <= size; before++) {
		struct vm *vm = machine(CODE + GUEST_PAGE - before, quotient,
					quotient_end, *traced);
		struct vm_stop stop;

		run(vm, &stop);
		assert_int_equal(vm_reg(vm, X86_RBX) & 0x3f, 0x20);
		vm_destroy(vm);
	}
}

int main(void)
{
	static const bool yes = true, no = false;
	static struct test_list list_of_tests;

	add_rows(&list_of_tests, loops, is_translated_once);
	add_test(&list_of_tests, "stops around a page's end",
		 stops_around_a_page_end, &no);
	add_test(&list_of_tests, "stops around a page's end, traced",
		 stops_around_a_page_end, &yes);
	add_test(&list_of_tests, "flags are shown", flags_are_shown, &no);
	add_test(&list_of_tests, "flags are shown, traced", flags_are_shown,
		 &yes);
	return run_list("plan", &list_of_tests);
}
