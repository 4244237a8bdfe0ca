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
#include "tests/unit/between.h"
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

	if (vm_create(&vm, ARCH_X86_64, true, NULL, &why))
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

static void on_accessed(void *context, const struct vm_access_told *list,
			size_t count)
{
	struct told *told = context;

	assert_true(count);
	for (size_t i = 0; i < count; i++) {
		const struct vm_access_told *access = &list[i];

		assert_true(access->addr >= DATA &&
			    access->addr + access->size <= DATA + GUEST_PAGE);
		told->reads += !access->writes;
		told->writes += access->writes;
		if (!told->checks)
			continue;
		assert_int_equal(access->steps, told->last);
		assert_int_equal(access->pc, told->pc[access->steps]);
	}
}

static struct vm_observer observer_of(struct told *told, struct vm *vm)
{
	*told = (struct told){ .vm = vm };
	return (struct vm_observer) {
		.instruction = on_instruction, .code = VM_EVERYWHERE,
		.accessed = on_accessed, .accesses = VM_READS | VM_WRITES,
		.data = VM_EVERYWHERE, .context = told,
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

			observer.accesses = 0;
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

/* Ranges that are far apart; then more of them than the engine looks at. */
static void parts_of_data(void **state)
{
	static const struct vm_range parts[] = {
		{ DATA + GUEST_PAGE - 4, DATA + GUEST_PAGE - 1 },
		{ DATA + 8, DATA + 8 },
		{ DATA + 0x300, DATA + 0x307 },
		{ DATA + 0x900, DATA + 0x907 },
		{ DATA + 0x600, DATA + 0x607 },
		{ DATA + 0xc00, DATA + 0xc07 },
	};
	static struct told told;
	struct vm *vm = machine();
	struct vm_observer observer = observer_of(&told, vm);

	(void)state;
	observer.instruction = NULL;
	observer.parts = parts;
	observer.part_count = 2;
	add(vm, &observer);
	run(vm, HEAD + 3 * ROUND);
	/* The store, and both of the stack. */
	assert_int_equal(told.writes, 2 * 3);
	assert_int_equal(told.reads, 3);
	vm_unobserve(vm, &observer);
	observer.part_count = 6;
	add(vm, &observer);
	run(vm, 3 * ROUND);
	assert_int_equal(told.writes, 2 * 6);
	assert_int_equal(told.reads, 6);
	vm_unobserve(vm, &observer);
	/* One range again. */
	observer.parts = NULL;
	observer.part_count = 0;
	observer.data = parts[1];
	add(vm, &observer);
	run(vm, 3 * ROUND);
	assert_int_equal(told.writes, 2 * 6 + 3);
	assert_int_equal(told.reads, 6);
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
	first.accesses = 0;
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

/* ------- parts of the code ------- */

/* Some of the code is special, by its addresses. */
struct parts {
	struct told told;
	guest_addr first, last;	/* special: */
	unsigned special;	/* what is said of it; all else is of part 1 */
	bool grows;		/* to all that the guest comes to */
	unsigned again;		/* what was told of for that reason */
	uint64_t accessed;	/* the step of the newest access */
	guest_addr from[STEPS_MOST];
};

static unsigned part_of(void *context, guest_addr pc)
{
	const struct parts *parts = context;

	return pc >= parts->first && pc <= parts->last ? parts->special : 1;
}

/* All that was accessed before is known, and nothing else. */
static void on_part(void *context, uint64_t steps, guest_addr pc)
{
	struct parts *parts = context;
	struct told *told = &parts->told;

	assert_true(steps < STEPS_MOST);
	assert_true(!told->instructions || parts->accessed < steps);
	if (parts->grows && pc > parts->last) {
		parts->again++;
		vm_replan(told->vm, pc, 1);
		parts->last = pc;
		return;
	}
	assert_int_equal(told->pc[steps], 0);
	told->pc[steps] = pc;
	parts->from[steps] = vm_came_from(told->vm);
	told->last = steps;
	told->instructions++;
}

static void on_part_accessed(void *context, const struct vm_access_told *list,
			     size_t count)
{
	struct parts *parts = context;

	for (size_t i = 0; i < count; i++) {
		assert_true(list[i].steps >= parts->told.last);
		parts->accessed = list[i].steps;
	}
	parts->told.reads += (unsigned)count;
}

/* The whole loop, `at_once` steps a run. */
static void run_parts(struct parts *parts, uint64_t at_once)
{
	struct vm *vm = machine();
	const struct vm_observer observer = {
		.instruction = on_part, .part = part_of,
		.accessed = on_part_accessed, .accesses = VM_READS | VM_WRITES,
		.data = VM_EVERYWHERE, .context = parts,
	};

	parts->told.vm = vm;
	add(vm, &observer);
	while (vm_steps(vm) < STEPS)
		run(vm, at_once);
	assert_int_equal(vm_steps(vm), STEPS);
	assert_int_equal(parts->told.reads, ROUNDS * 7);
	vm_destroy(vm);
}

static bool is_special(const struct parts *parts, guest_addr pc)
{
	return pc >= parts->first && pc <= parts->last;
}

/* What is told of step `i`, if each run is of so many. */
static bool is_expected(const struct parts *parts, const struct told *all,
			unsigned i, uint64_t at_once)
{
	bool is_in = is_special(parts, all->pc[i]);

	if (is_in && parts->special & VM_PART_TOLD)
		return true;
	return i % at_once == 0 || is_in != is_special(parts, all->pc[i - 1]);
}

static void check_parts(const struct told *all, struct parts *parts,
			uint64_t at_once)
{
	run_parts(parts, at_once);
	for (unsigned i = 0; i < STEPS; i++) {
		if (!is_expected(parts, all, i, at_once)) {
			assert_int_equal(parts->told.pc[i], 0);
			continue;
		}
		assert_int_equal(parts->told.pc[i], all->pc[i]);
		if (i && i % at_once)
			assert_int_equal(parts->from[i], all->pc[i - 1]);
	}
}

/* Each range of instructions, a part of its own or told by itself. */
static void parts_of_code(void **state)
{
	static const uint64_t runs[] = { UINT64_C(1) << 40, 5 };
	static struct told all;
	static struct parts parts;

	(void)state;
	walk(&all);
	for (unsigned i = 0; i < 4 * (HEAD + ROUND) * (HEAD + ROUND); i++) {
		unsigned first = i / 4 % (HEAD + ROUND);

		parts = (struct parts) {
			.first = all.pc[first],
			.last = all.pc[i / 4 / (HEAD + ROUND)],
			.special = i & 1 ? 2 | VM_PART_TOLD : 2,
		};
		if (parts.first <= parts.last)
			check_parts(&all, &parts, runs[i / 2 % 2]);
	}
}

/* What is not told is of no part: coming from there is not told either. */
static void no_part(void **state)
{
	static struct told all;
	static struct parts parts;

	(void)state;
	walk(&all);
	parts = (struct parts) { .first = all.pc[4], .last = all.pc[6] };
	run_parts(&parts, UINT64_C(1) << 40);
	assert_int_equal(parts.told.instructions, 1);
}

/* From the first instruction on, each is found to be special. */
static void parts_that_grow(void **state)
{
	static struct told all;
	static struct parts parts;

	(void)state;
	walk(&all);
	parts = (struct parts) {
		.first = CODE, .last = CODE - 1, .special = 2 | VM_PART_TOLD,
		.grows = true,
	};
	run_parts(&parts, UINT64_C(1) << 40);
	for (unsigned i = 0; i <= STEPS; i++)
		assert_int_equal(parts.told.pc[i], all.pc[i]);
	assert_int_equal(parts.again, HEAD + ROUND + 1);
}

/* ------- what single instructions access ------- */

/* With RDI at data, RSI 256 bytes behind, and RCX 3. */
#define CODE_OF(name, text)                                                    \
	extern const uint8_t name[], name##_end[];                             \
	__asm__(".pushsection .rodata\n" #name ":\n" text                      \
		"\nhlt\n" #name "_end: .popsection\n")

CODE_OF(load_code, "movzwl 2(%rdi), %eax");
CODE_OF(store_code, "movl $0x11223344, 4(%rdi)");
CODE_OF(add_code, "addb $1, (%rdi)");
CODE_OF(call_code, "call 1f\n 1: nop");
CODE_OF(vector_code, "movups (%rdi), %xmm1\n movups %xmm1, (%rsi)");
CODE_OF(string_code, "rep movsb");
CODE_OF(exchange_code, "lock xadd %rcx, (%rdi)");
CODE_OF(compare_code, "mov $9, %eax\n lock cmpxchg %ecx, (%rdi)");
CODE_OF(wide_code, "cmpxchg16b (%rdi)");
CODE_OF(masked_code, "movups (%rdi), %xmm0\n pcmpeqd %xmm1, %xmm1\n"
	"psrldq $14, %xmm1\n lea 8(%rdi), %rdi\n maskmovdqu %xmm1, %xmm0");
CODE_OF(long_code, "fldt (%rdi)\n fstpt (%rsi)");
CODE_OF(control_code, "stmxcsr (%rdi)\n ldmxcsr (%rdi)");
CODE_OF(fault_code, "mov %rcx, (%rdi)\n pushq 8(%rdi)\n mov %rcx, -1(%rdi)");
CODE_OF(string_fault_code, "lea 4094(%rdi), %rdi\n rep stosb");
CODE_OF(divide_code, "mov %rcx, 8(%rdi)\n divl (%rdi)");

/* At RDI. */
#define BYTES 0x8877665544332211u
#define MORE 0xffeeddccbbaa9988u

struct access {
	bool writes;
	unsigned step;		/* instructions before */
	int32_t at;		/* from RDI */
	unsigned size;
	uint64_t value;
};
#define READ(...) { false, __VA_ARGS__ }
#define WRITE(...) { true, __VA_ARGS__ }
#define SOURCE 256
#define STACK 2048

static const struct alone {
	const char *name;
	const uint8_t *code, *end;
	struct access accesses[8];
} alone[] = {
#define ALONE(name, ...) { #name, name##_code, name##_code_end, { __VA_ARGS__ } }
	ALONE(load, READ(0, 2, 2, 0x4433)),
	ALONE(store, WRITE(0, 4, 4, 0x11223344)),
	ALONE(add, READ(0, 0, 1, 0x11), WRITE(0, 0, 1, 0x12)),
	ALONE(call, WRITE(0, STACK - 8, 8, CODE + 5)),
	ALONE(vector, READ(0, 0, 8, BYTES), READ(0, 8, 8, MORE),
	      WRITE(1, SOURCE, 8, BYTES), WRITE(1, SOURCE + 8, 8, MORE)),
	ALONE(string, READ(0, SOURCE, 1, 0), WRITE(0, 0, 1, 0),
	      READ(0, SOURCE + 1, 1, 0), WRITE(0, 1, 1, 0),
	      READ(0, SOURCE + 2, 1, 0), WRITE(0, 2, 1, 0)),
	ALONE(exchange, READ(0, 0, 8, BYTES), WRITE(0, 0, 8, BYTES + 3)),
	ALONE(compare, READ(1, 0, 4, 0x44332211),
	      WRITE(1, 0, 4, 0x44332211)),
	ALONE(wide, READ(0, 0, 8, BYTES), READ(0, 8, 8, MORE),
	      WRITE(0, 0, 8, BYTES), WRITE(0, 8, 8, MORE)),
	ALONE(masked, READ(0, 0, 8, BYTES), READ(0, 8, 8, MORE),
	      WRITE(4, 8, 1, 0x11), WRITE(4, 9, 1, 0x22)),
	ALONE(long, READ(0, 0, 8, BYTES), READ(0, 8, 2, 0x9988),
	      WRITE(1, SOURCE, 8, BYTES), WRITE(1, SOURCE + 8, 2, 0x9988)),
	ALONE(control, WRITE(0, 0, 4, 0x1f80), READ(1, 0, 4, 0x1f80)),
	/* What does not retire is not told; of what repeats, what was done. */
	ALONE(fault, WRITE(0, 0, 8, 3), READ(1, 8, 8, MORE),
	      WRITE(1, STACK - 8, 8, MORE)),
	ALONE(string_fault, WRITE(1, 4094, 1, 0), WRITE(1, 4095, 1, 0)),
	ALONE(divide, WRITE(0, 8, 8, 3)),
};

struct list {
	struct vm_access_told told[16];
	size_t count;
};

static void write_down(void *context, const struct vm_access_told *list,
		       size_t count)
{
	struct list *all = context;

	for (size_t i = 0; i < count && all->count < 16; i++)
		all->told[all->count++] = list[i];
}

static void prepare(struct vm *vm, const struct alone *row)
{
	const uint64_t bytes[] = { BYTES, MORE };

	memory_poke(vm_memory(vm), CODE, row->code,
		    (size_t)(row->end - row->code));
	memory_poke(vm_memory(vm), DATA, bytes, sizeof(bytes));
	if (row->code == divide_code)
		memory_poke(vm_memory(vm), DATA, "\0\0\0\0", 4);
	vm_set_reg(vm, X86_RDI, DATA);
	vm_set_reg(vm, X86_RSI, DATA + SOURCE);
	vm_set_reg(vm, X86_RSP, DATA + STACK);
	vm_set_reg(vm, X86_RCX, 3);
}

static void one_instruction(void **state)
{
	const struct alone *row = *state;
	struct list list = { .count = 0 };
	const struct vm_observer observer = {
		.accessed = write_down, .accesses = VM_ALL | VM_VALUES,
		.data = VM_EVERYWHERE, .context = &list,
	};
	struct vm *vm = machine();
	struct failure why;
	struct vm_stop stop;
	size_t i;

	prepare(vm, row);
	add(vm, &observer);
	assert_int_equal(vm_run(vm, STEPS_MOST, true, &stop, &why), 0);
	for (i = 0; i < 8 && row->accesses[i].size; i++) {
		const struct access *expected = &row->accesses[i];
		const struct vm_access_told *told = &list.told[i];

		assert_between(list.count, i + 1, 16);
		assert_int_equal(told->writes, expected->writes);
		assert_int_equal(told->steps, expected->step);
		assert_int_equal(told->addr, DATA + (unsigned)expected->at);
		assert_int_equal(told->size, expected->size);
		assert_int_equal(told->value, expected->value);
	}
	assert_int_equal(list.count, i);
	vm_destroy(vm);
}

/* Far more than the log has room for between two instructions that end. */
#define REPEATED 1000u
#define ITERATIONS 4000u
CODE_OF(rounds_code, "1: mov $4000, %ecx\n mov %rsi, %rdi\n rep stosb\n"
		     "dec %ebx\n jnz 1b");

struct rounds {
	uint64_t count, wrong;
};

static void count_in_order(void *context, const struct vm_access_told *list,
			   size_t count)
{
	struct rounds *rounds = context;

	for (size_t i = 0; i < count; i++, rounds->count++)
		rounds->wrong +=
			list[i].addr != DATA + rounds->count % ITERATIONS ||
			list[i].steps != rounds->count / ITERATIONS * 5 + 2;
}

static void many_iterations(void **state)
{
	struct rounds rounds = { .count = 0 };
	const struct vm_observer observer = {
		.accessed = count_in_order, .accesses = VM_WRITES,
		.data = VM_EVERYWHERE, .context = &rounds,
	};
	struct vm *vm = machine();
	struct failure why;
	struct vm_stop stop;

	(void)state;
	memory_poke(vm_memory(vm), CODE, rounds_code,
		    (size_t)(rounds_code_end - rounds_code));
	vm_set_reg(vm, X86_RSI, DATA);
	vm_set_reg(vm, X86_RBX, REPEATED);
	add(vm, &observer);
	assert_int_equal(vm_run(vm, REPEATED * 5, true, &stop, &why), 0);
	assert_int_equal(rounds.count, REPEATED * ITERATIONS);
	assert_int_equal(rounds.wrong, 0);
	vm_destroy(vm);
}

/* Only writes are logged: those before a read that faults took place. */
static void faulting_read(void **state)
{
	struct list list = { .count = 0 };
	const struct vm_observer observer = {
		.accessed = write_down, .accesses = VM_WRITES,
		.data = VM_EVERYWHERE, .context = &list,
	};
	struct vm *vm = machine();
	struct failure why;
	struct vm_stop stop;

	(void)state;
	memory_poke(vm_memory(vm), CODE, string_code,
		    (size_t)(string_code_end - string_code));
	vm_set_reg(vm, X86_RDI, DATA);
	vm_set_reg(vm, X86_RSI, DATA + 4094);
	vm_set_reg(vm, X86_RCX, 5);
	add(vm, &observer);
	assert_int_equal(vm_run(vm, STEPS_MOST, true, &stop, &why), 0);
	assert_int_equal(stop.kind, VM_STOP_FAULT);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.told[1].addr, DATA + 1);
	vm_destroy(vm);
}

int main(void)
{
	struct test_list list = { .count = 0 };

	add_test(&list, "everything", everything, NULL);
	add_test(&list, "ranges of code", ranges_of_code, NULL);
	add_test(&list, "ranges of data", ranges_of_data, NULL);
	add_test(&list, "parts of data", parts_of_data, NULL);
	add_test(&list, "for a while", for_a_while, NULL);
	add_test(&list, "two at once", two_at_once, NULL);
	add_test(&list, "parts of code", parts_of_code, NULL);
	add_test(&list, "no part", no_part, NULL);
	add_test(&list, "parts that grow", parts_that_grow, NULL);
	add_test(&list, "many iterations", many_iterations, NULL);
	add_test(&list, "a read that faults", faulting_read, NULL);
	add_rows(&list, alone, one_instruction);
	return run_list("observers", &list);
}
