/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_vm.c - the virtual processor stops exactly, and says why
 *
 * Each program is a few lines of machine code.  How many steps it has, where
 * and why it ends is written down by hand; then it is run to every time there
 * is, which must show the same states as one step after the other does, with
 * counting inlined, not inlined and with a trace.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "formats/error.h"
#include "tests/unit/engine.h"
#include "tests/unit/machine.h"
#include "tests/unit/table.h"
#include "vm/memory/memory.h"
#include "vm/vm.h"

#define CODE 0x10000u
#define CODE_SIZE 0x2000u
#define DATA 0x20000u		/* and one page behind it that is not mapped */
#define DATA_SIZE 0x2000u
#define CONSTANT 0x28000u	/* may only be read */
#define STACK 0x30000u
#define STACK_END 0x31000u

/* PROGRAM(name, text): label name_at is where it stops for good. */
#define PROGRAM(name, text)                                                   \
	extern const uint8_t name[], name##_at[], name##_end[];               \
	__asm__(".pushsection .rodata\n" #name ":\n" text "\n" #name "_end:\n" \
		".popsection\n")

PROGRAM(calls,
	"mov $5, %ecx\n"
	"1: call 2f\n"
	"dec %ecx\n"
	"jnz 1b\n"
	"calls_at: hlt\n"
	"2: push %rax\n"
	"inc %rax\n"
	"pop %rdx\n"
	"ret");

PROGRAM(strings,
	"cld\n"
	"mov $0x20000, %edi\n"
	"mov $7, %eax\n"
	"mov $100, %ecx\n"
	"rep stosb\n"
	"mov $0, %ecx\n"
	"rep stosq\n"
	"nop\n"
	"mov $0x20000, %esi\n"
	"mov $3, %ecx\n"
	"rep movsq\n"
	"mov $1, %ecx\n"
	"rep movsb\n"
	"mov $9, %ecx\n"
	"mov $0x20000, %edi\n"
	"mov $8, %eax\n"
	"repne scasb\n"
	"mov %rcx, %rax\n"
	"strings_at: hlt");

/* A loop over one repeated instruction, which is also a jump's target. */
PROGRAM(repeat,
	"mov $4, %ebx\n"
	"mov $0x20000, %edi\n"
	"1: mov %ebx, %ecx\n"
	"2: rep stosb\n"
	"dec %ebx\n"
	"jnz 1b\n"
	"mov $2, %ecx\n"
	"xor %eax, %eax\n"
	"jmp 2f\n"
	"2: rep stosb\n"
	"repeat_at: hlt");

PROGRAM(kernel,
	"mov $39, %eax\n"
	"syscall\n"
	"mov %rax, %rbx\n"
	"syscall\n"
	"syscall\n"
	"add %rbx, %rax\n"
	"kernel_at: hlt");

PROGRAM(values,
	"mov $1, %eax\n"
	"rdtsc\n"
	"mov %rax, %rbx\n"
	"cpuid\n"
	"cpuid\n"
	"rdtsc\n"
	"values_at: hlt");

PROGRAM(vex,
	"mov $1, %eax\n"
	"addps %xmm0, %xmm1\n"
	"vex_at: vaddps %xmm1, %xmm2, %xmm3\n"
	"hlt");
PROGRAM(vex_first, "vex_first_at: vzeroupper\nhlt");

PROGRAM(trap,
	"nop\n"
	"int3\n"
	"mov $3, %eax\n"
	"int3\n"
	"int3\n"
	"trap_at: ud2");
PROGRAM(other_interrupt, "nop\nother_interrupt_at: int $0x80\nhlt");

PROGRAM(divide,
	"mov $3, %eax\n"
	"xor %edx, %edx\n"
	"xor %ecx, %ecx\n"
	"div %ecx\n"
	"inc %ebx\n"
	"div %ecx\n"
	"div %ecx\n"
	"div %ecx\n"
	"inc %ebx\n"
	"syscall\n"
	"mov $1, %ecx\n"
	"mov $9, %eax\n"
	"div %ecx\n"
	"divide_at: hlt");

PROGRAM(exchange,
	"mov $0x20000, %esi\n"
	"mov $5, %ebx\n"
	"mov $6, %ecx\n"
	"lock cmpxchg16b (%rsi)\n"	/* equal: 0 */
	"pushfq\n"
	"pop %r8\n"
	"lock cmpxchg16b (%rsi)\n"	/* not equal */
	"pushfq\n"
	"pop %r9\n"
	"lock negq (%rsi)\n"
	"pushfq\n"
	"pop %r10\n"
	"lock negq 100(%rsi)\n"
	"pushfq\n"
	"pop %r11\n"
	"mov (%rsi), %rax\n"
	"exchange_at: hlt");

/* Changes the instruction behind it, in the same block, and later again. */
PROGRAM(rewrite,
	"mov $2, %ebx\n"
	"1: movb $7, 2f + 1(%rip)\n"
	"nop\n"
	"2: mov $1, %eax\n"
	"add %eax, %edx\n"
	"movb $9, 3f + 1(%rip)\n"
	"3: mov $1, %eax\n"
	"add %eax, %edx\n"
	"dec %ebx\n"
	"jnz 1b\n"
	"mov %edx, %eax\n"
	"rewrite_at: hlt");

PROGRAM(non_canonical,
	"mov $1, %eax\n"
	"mov $0x8000000000000000, %rbx\n"
	"non_canonical_at: mov (%rbx), %rax\n"
	"hlt");
PROGRAM(far_away,
	"mov $1, %eax\n"
	"mov $0x007ffffffffff000, %rbx\n"
	"far_away_at: mov (%rbx), %rax\n"
	"hlt");
PROGRAM(read_across,
	"mov $0x21ffc, %ebx\n"
	"mov (%rbx), %ecx\n"
	"inc %eax\n"
	"read_across_at: mov (%rbx), %rdx\n"
	"hlt");
PROGRAM(write_across,
	"mov $0x21ff9, %ebx\n"
	"write_across_at: mov %rbx, (%rbx)\n"
	"hlt");
PROGRAM(wide_across,
	"mov $0x21ff8, %ebx\n"
	"wide_across_at: movups %xmm0, (%rbx)\n"
	"hlt");
PROGRAM(write_constant,
	"mov $0x28010, %ebx\n"
	"mov (%rbx), %eax\n"
	"write_constant_at: addl $1, 3(%rbx)\n"
	"hlt");
PROGRAM(push_nowhere,
	"mov $0x30008, %esp\n"
	"push %rax\n"
	"push_nowhere_at: push %rax\n"
	"hlt");
PROGRAM(string_fault,
	"mov $0x21ffd, %edi\n"
	"mov $10, %ecx\n"
	"string_fault_at: rep stosb\n"
	"hlt");
PROGRAM(jump_nowhere,
	"mov $0x50000, %ebx\n"
	"nop\n"
	"jmp *%rbx\n"
	"jump_nowhere_at: hlt");
PROGRAM(jump_to_data,
	"mov $0x20010, %ebx\n"
	"call *%rbx\n"
	"jump_to_data_at: hlt");
PROGRAM(run_off_the_end,
	"mov $0x11ffe, %ebx\n"
	"movw $0xb848, (%rbx)\n"	/* mov $..., %rax: the rest is missing */
	"jmp *%rbx\n"
	"run_off_the_end_at: hlt");
PROGRAM(long_block, ".rept 700\ninc %eax\n.endr\nlong_block_at: hlt");

struct program {
	const char *name;
	const uint8_t *code, *end, *at;
	unsigned steps;		/* until it stops for good */
	enum vm_fault_kind fault;
	uint64_t rax;		/* then */
	guest_addr pc;		/* then; 0: `at` */
	enum vm_access access;
	guest_addr addr;
	bool mapped;
};

#define CODE_OF(name) name, name##_end, name##_at

static const struct program programs[] = {
	{ "loops and calls", CODE_OF(calls), 1 + 5 * 7, FAULT_PRIVILEGE, 5 },
	{ "repeated strings", CODE_OF(strings), 18, FAULT_PRIVILEGE, 0 },
	{ "a repeated string in a loop", CODE_OF(repeat), 2 + 4 * 4 + 4,
	  FAULT_PRIVILEGE, 0 },
	{ "system calls", CODE_OF(kernel), 6, FAULT_PRIVILEGE, 1000 + 5 + 2 },
	{ "values", CODE_OF(values), 6, FAULT_PRIVILEGE, 1000 + 5 },
	{ "a VEX instruction", CODE_OF(vex), 2, FAULT_INVALID, 1 },
	{ "a VEX instruction first", CODE_OF(vex_first), 0, FAULT_INVALID, 0 },
	{ "int3 and ud2", CODE_OF(trap), 5, FAULT_INVALID, 3 },
	{ "another interrupt", CODE_OF(other_interrupt), 1, FAULT_INTERRUPT,
	  0 },
	{ "divisions by zero", CODE_OF(divide), 3 + 2 + 1 + 3, FAULT_PRIVILEGE,
	  9 },
	{ "emulated instructions", CODE_OF(exchange), 16, FAULT_PRIVILEGE,
	  UINT64_C(0) - 5 },
	{ "code that changes itself", CODE_OF(rewrite), 1 + 2 * 9 + 1,
	  FAULT_PRIVILEGE, 2 * (7 + 9) },
	{ "an address that is not canonical", CODE_OF(non_canonical), 2,
	  FAULT_PRIVILEGE, 1 },
	{ "an address near where the engine ends", CODE_OF(far_away), 2,
	  FAULT_PRIVILEGE, 1 },
	{ "a read across pages", CODE_OF(read_across), 3, FAULT_MEMORY, 1, 0,
	  ACCESS_READ, DATA + DATA_SIZE, false },
	{ "a write across pages", CODE_OF(write_across), 1, FAULT_MEMORY, 0, 0,
	  ACCESS_WRITE, DATA + DATA_SIZE, false },
	{ "a wide write across pages", CODE_OF(wide_across), 1, FAULT_MEMORY,
	  0, 0, ACCESS_WRITE, DATA + DATA_SIZE, false },
	{ "a write to what may only be read", CODE_OF(write_constant), 2,
	  FAULT_MEMORY, 0, 0, ACCESS_WRITE, CONSTANT + 0x13, true },
	{ "a push below the stack", CODE_OF(push_nowhere), 2, FAULT_MEMORY, 0,
	  0, ACCESS_WRITE, STACK - 8, false },
	{ "a fault inside a repeated string", CODE_OF(string_fault), 2,
	  FAULT_MEMORY, 0, 0, ACCESS_WRITE, DATA + DATA_SIZE, false },
	{ "a jump to nowhere", CODE_OF(jump_nowhere), 3, FAULT_MEMORY, 0,
	  0x50000, ACCESS_FETCH, 0x50000, false },
	{ "a call of data", CODE_OF(jump_to_data), 2, FAULT_MEMORY, 0,
	  DATA + 0x10, ACCESS_FETCH, DATA + 0x10, true },
	{ "code that runs off its page", CODE_OF(run_off_the_end), 3,
	  FAULT_MEMORY, 0, CODE + CODE_SIZE - 2, ACCESS_FETCH,
	  CODE + CODE_SIZE, false },
	{ "a block of 700 instructions", CODE_OF(long_block), 700,
	  FAULT_PRIVILEGE, 700 },
};

enum mode { INLINED, NOT_INLINED, TRACED };

/* A guest, and what is known of it after each number of steps. */
struct machine {
	const struct program *program;
	struct vm *vm;
	struct vm_stop stop;
	struct vm_observer observer;
	guest_addr *trace;	/* by time; 0: not seen */
};

static void on_trace(void *context, uint64_t steps, guest_addr pc)
{
	struct machine *machine = context;

	assert_true(steps < 1000);
	assert_int_equal(vm_reg(machine->vm, X86_RIP), pc);
	machine->trace[steps] = pc;
}

static void start(struct machine *machine, const struct program *program,
		  enum mode mode)
{
	struct failure why;

	if (mode == NOT_INLINED)
		setenv("CPREC_NO_INLINE", "1", 1);
	assert_int_equal(vm_create(&machine->vm, ARCH_X86_64, true, NULL, &why), 0);
	unsetenv("CPREC_NO_INLINE");
	machine->program = program;
	machine->observer = (struct vm_observer) {
		.instruction = on_trace, .code = VM_EVERYWHERE,
		.context = machine,
	};
	machine->trace = calloc(1000, sizeof(*machine->trace));
	map(machine->vm, CODE, CODE_SIZE, MAY_READ | MAY_WRITE | MAY_EXEC);
	map(machine->vm, DATA, DATA_SIZE, MAY_READ | MAY_WRITE);
	map(machine->vm, CONSTANT, GUEST_PAGE, MAY_READ);
	map(machine->vm, STACK, STACK_END - STACK, MAY_READ | MAY_WRITE);
	assert_int_equal(memory_poke(vm_memory(machine->vm), CODE,
				     program->code,
				     (size_t)(program->end - program->code)),
			 0);
	vm_set_reg(machine->vm, X86_RIP, CODE);
	vm_set_reg(machine->vm, X86_RSP, STACK_END);
	if (mode == TRACED)
		assert_int_equal(vm_observe(machine->vm, &machine->observer,
					    &why), 0);
}

static void end(struct machine *machine)
{
	vm_destroy(machine->vm);
	free(machine->trace);
}

/* Does what a kernel would; false if the program has stopped for good. */
static bool go_on(struct machine *machine)
{
	struct vm *vm = machine->vm;
	const struct vm_stop *stop = &machine->stop;
	uint64_t made_up = 1000 + vm_steps(vm);

	switch (stop->kind) {
	case VM_STOP_SYSCALL:
		assert_int_equal(vm_reg(vm, X86_RCX), stop->pc);
		assert_int_equal(vm_reg(vm, X86_R11), vm_reg(vm, X86_RFLAGS));
		vm_set_reg(vm, X86_RAX, stop->pc == CODE + 7 ? 2 : made_up);
		vm_set_reg(vm, X86_RCX, 0);
		return true;
	case VM_STOP_VALUE:
		assert_int_equal(stop->size, 2);
		vm_set_reg(vm, X86_RAX, made_up);
		vm_skip(vm, stop);
		return true;
	case VM_STOP_FAULT:
		if (stop->fault == FAULT_DIVIDE) {
			vm_set_reg(vm, X86_RIP, stop->pc + 2);
			return true;
		}
		return stop->fault == FAULT_BREAKPOINT;
	default:
		fail_msg("stopped too early: %d", stop->kind);
	}
	return false;
}

/*
 * Runs until `steps` are done in all; false if it stopped for good before.
 * Faults that go on do not count as steps.
 */
static bool run_to(struct machine *machine, uint64_t steps)
{
	struct failure why = { "" };

	for (;;) {
		uint64_t left = steps - vm_steps(machine->vm);
		int rc = vm_run(machine->vm, left, true, &machine->stop, &why);

		if (rc)
			fail_msg("vm_run(): %s", why.text);
		assert_int_equal(machine->stop.pc,
				 vm_reg(machine->vm, X86_RIP));
		assert_true(vm_steps(machine->vm) <= steps);
		if (machine->stop.kind == VM_STOP_BUDGET) {
			assert_int_equal(vm_steps(machine->vm), steps);
			return true;
		}
		if (!go_on(machine))
			return false;
		if (vm_steps(machine->vm) == steps &&
		    machine->stop.kind != VM_STOP_FAULT)
			return true;
	}
}

static void assert_end(const struct machine *machine)
{
	const struct program *program = machine->program;
	const struct vm_stop *stop = &machine->stop;
	guest_addr pc = program->pc;

	if (!pc)
		pc = CODE + (guest_addr)(program->at - program->code);
	assert_int_equal(stop->kind, VM_STOP_FAULT);
	assert_int_equal(stop->fault, program->fault);
	assert_int_equal(stop->pc, pc);
	assert_int_equal(vm_steps(machine->vm), program->steps);
	assert_int_equal(vm_reg(machine->vm, X86_RAX), program->rax);
	if (program->fault == FAULT_INTERRUPT)
		assert_int_equal(stop->number, 0x80);
	if (program->fault != FAULT_MEMORY)
		return;
	assert_int_equal(stop->access, program->access);
	assert_int_equal(stop->addr, program->addr);
	assert_int_equal(stop->mapped, program->mapped);
}

struct state {
	struct reg_file regs;
	uint8_t data[DATA_SIZE];
};

static void take_state(struct machine *machine, struct state *out)
{
	vm_registers(machine->vm, &out->regs);
	assert_int_equal(memory_read(vm_memory(machine->vm), DATA, out->data,
				     DATA_SIZE), 0);
}

static void assert_state(const struct machine *machine,
			 const struct state *found,
			 const struct state *expected, uint64_t t)
{
	const struct reg_table *table = vm_reg_table(machine->vm);

	for (unsigned reg = 0; reg < table->count; reg++) {
		const struct reg_info *info = &table->regs[reg];

		if (memcmp(found->regs.bytes + info->offset,
			   expected->regs.bytes + info->offset, info->size))
			fail_msg("at t=%u register %s differs: 0x%x, 0x%x",
				 (unsigned)t, info->name,
				 (unsigned)found->regs.bytes[info->offset],
				 (unsigned)expected->regs.bytes[info->offset]);
	}
	if (memcmp(found->data, expected->data, DATA_SIZE))
		fail_msg("at t=%u memory differs", (unsigned)t);
}

/* The states at all times, one step after the other. */
static struct state *step_through(const struct program *program,
				  guest_addr *pcs)
{
	struct state *states = calloc(program->steps + 1, sizeof(*states));
	struct machine machine;

	assert_non_null(states);
	start(&machine, program, INLINED);
	for (uint64_t t = 0; t <= program->steps; t++) {
		assert_true(run_to(&machine, t));
		take_state(&machine, &states[t]);
		pcs[t] = vm_reg(machine.vm, X86_RIP);
	}
	assert_false(run_to(&machine, program->steps + 1));
	assert_end(&machine);
	end(&machine);
	return states;
}

/* Runs at once to every time, then to the end. */
static void run_everywhere(const struct program *program, enum mode mode)
{
	guest_addr pcs[1000];
	struct state *states = step_through(program, pcs);
	uint64_t each = program->steps > 60 ? 13 : 1;

	for (uint64_t t = 0; t <= program->steps; t += each) {
		struct machine machine;
		struct state state;

		start(&machine, program, mode);
		assert_true(run_to(&machine, t));
		take_state(&machine, &state);
		assert_state(&machine, &state, &states[t], t);
		assert_false(run_to(&machine, program->steps + 10));
		assert_end(&machine);
		take_state(&machine, &state);
		/* A string that faults has done a part of its work. */
		if (program->code != string_fault)
			assert_state(&machine, &state, &states[program->steps],
				     program->steps);
		for (unsigned i = 0; mode == TRACED && i < program->steps; i++)
			if (machine.trace[i] != pcs[i] &&
			    program->code != divide)
				fail_msg("at t=%u the trace has 0x%x, not 0x%x",
					 i, (unsigned)machine.trace[i],
					 (unsigned)pcs[i]);
		end(&machine);
	}
	free(states);
}

static void program_inlined(void **state)
{
	run_everywhere(*state, INLINED);
}

static void program_not_inlined(void **state)
{
	run_everywhere(*state, NOT_INLINED);
}

static void program_traced(void **state)
{
	run_everywhere(*state, TRACED);
}

/* ------- what the programs leave ------- */

static void strings_leave(void **state)
{
	struct machine machine;
	struct state at_end;
	uint8_t expected[DATA_SIZE] = { 0 };

	(void)state;
	memset(expected, 7, 100 + 25);
	start(&machine, &programs[1], INLINED);
	assert_false(run_to(&machine, 100));
	take_state(&machine, &at_end);
	assert_memory_equal(at_end.data, expected, DATA_SIZE);
	assert_int_equal(vm_reg(machine.vm, X86_RDI), DATA + 9);
	end(&machine);
}

static void flags_of_emulated(void **state)
{
	struct machine machine;

	(void)state;
	start(&machine, &programs[10], INLINED);
	assert_false(run_to(&machine, 100));
	/* CF, PF, AF, ZF, SF, OF; fixed bits */
	assert_int_equal(vm_reg(machine.vm, X86_R8) & 0x8d5, 0x40);
	assert_int_equal(vm_reg(machine.vm, X86_R9) & 0x8d5, 0);
	assert_int_equal(vm_reg(machine.vm, X86_R10) & 0x8d5, 0x91);
	assert_int_equal(vm_reg(machine.vm, X86_R11) & 0x8d5, 0x44);
	assert_int_equal(vm_reg(machine.vm, X86_RDX), 6);
	end(&machine);
}

static void partial_string(void **state)
{
	struct machine machine;

	(void)state;
	for (unsigned i = 0; i < COUNT(programs); i++) {
		if (programs[i].code != string_fault)
			continue;
		start(&machine, &programs[i], INLINED);
		assert_false(run_to(&machine, 100));
		assert_int_equal(vm_reg(machine.vm, X86_RDI),
				 DATA + DATA_SIZE);
		assert_int_equal(vm_reg(machine.vm, X86_RCX), 7);
		/* What was missing comes: it goes on, as one step. */
		map(machine.vm, DATA + DATA_SIZE, GUEST_PAGE,
		    MAY_READ | MAY_WRITE);
		assert_false(run_to(&machine, 100));
		assert_int_equal(machine.stop.fault, FAULT_PRIVILEGE);
		assert_int_equal(vm_steps(machine.vm), 3);
		end(&machine);
	}
}

/* Not exact: at most a block before, never after. */
static void stops_about_there(void **state)
{
	for (uint64_t budget = 0; budget <= 36; budget++) {
		struct machine machine;
		struct failure why;

		(void)state;
		start(&machine, &programs[0], INLINED);
		assert_int_equal(vm_run(machine.vm, budget, false,
					&machine.stop, &why), 0);
		assert_true(vm_steps(machine.vm) <= budget);
		assert_true(vm_steps(machine.vm) + 4 >= budget);
		end(&machine);
	}
}

static void steps_can_be_set(void **state)
{
	struct machine machine;

	(void)state;
	start(&machine, &programs[0], INLINED);
	vm_set_steps(machine.vm, UINT64_C(1) << 40);
	assert_true(run_to(&machine, (UINT64_C(1) << 40) + 17));
	assert_int_equal(vm_steps(machine.vm), (UINT64_C(1) << 40) + 17);
	end(&machine);
}

/* ------- code that the host changes ------- */

static void host_changes_code(void **state)
{
	static const uint8_t before[] = { 0xb8, 1, 0, 0, 0, 0xf4 };
	static const uint8_t after[] = { 0xb8, 2, 0, 0, 0, 0xf4 };
	struct machine machine;

	(void)state;
	start(&machine, &programs[0], INLINED);
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(memory_poke(vm_memory(machine.vm), CODE,
					     i % 2 ? after : before, 6), 0);
		vm_set_reg(machine.vm, X86_RIP, CODE);
		assert_false(run_to(&machine, 100));
		assert_int_equal(vm_reg(machine.vm, X86_RAX), i % 2 ? 2 : 1);
	}
	assert_int_equal(vm_steps(machine.vm), 6);
	end(&machine);
}

static void mapping_changes_code(void **state)
{
	static const uint8_t code[] = { 0xb8, 2, 0, 0, 0, 0xf4 };
	struct machine machine;

	(void)state;
	start(&machine, &programs[0], INLINED);
	assert_false(run_to(&machine, 100));
	map(machine.vm, CODE, CODE_SIZE, MAY_READ | MAY_WRITE | MAY_EXEC);
	assert_int_equal(memory_poke(vm_memory(machine.vm), CODE, code, 6), 0);
	vm_set_reg(machine.vm, X86_RIP, CODE);
	assert_false(run_to(&machine, 100));
	assert_int_equal(vm_reg(machine.vm, X86_RAX), 2);
	assert_int_equal(memory_protect(vm_memory(machine.vm), CODE, GUEST_PAGE,
					MAY_READ), 0);
	vm_set_reg(machine.vm, X86_RIP, CODE);
	assert_false(run_to(&machine, 100));
	assert_int_equal(machine.stop.fault, FAULT_MEMORY);
	assert_int_equal(machine.stop.access, ACCESS_FETCH);
	assert_true(machine.stop.mapped);
	end(&machine);
}

/* ------- interrupts ------- */

PROGRAM(spin, "1: jmp 1b\nspin_at: hlt");
PROGRAM(spin_repeat, "1: mov $100, %ecx\nmov $0x20000, %edi\nrep stosb\n"
		     "jmp 1b\nspin_repeat_at: hlt");

static const struct program spins[] = {
	{ "a loop of one block", CODE_OF(spin), 0, FAULT_PRIVILEGE, 0 },
	{ "a loop with a repeated string", CODE_OF(spin_repeat), 0,
	  FAULT_PRIVILEGE, 0 },
};

static struct vm *alarmed;

static void on_alarm(int number)
{
	(void)number;
	vm_interrupt(alarmed);
}

static void alarm_in(unsigned microseconds)
{
	const struct itimerval timer = { .it_value.tv_usec = microseconds };

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &timer, NULL);
}

/* The guest never ends: only the signal stops it. */
static void spin_until_alarm(const struct program *program, enum mode mode)
{
	struct machine machine;
	struct failure why;
	uint64_t before;

	start(&machine, program, mode);
	if (program == &spins[1])
		map(machine.vm, CODE, CODE_SIZE, MAY_READ | MAY_EXEC);
	memory_poke(vm_memory(machine.vm), CODE, program->code,
		    (size_t)(program->end - program->code));
	alarmed = machine.vm;
	for (unsigned i = 0; i < 20; i++) {
		before = vm_steps(machine.vm);
		alarm_in(500 + 100 * i);
		assert_int_equal(vm_run(machine.vm, UINT64_C(1) << 60, i % 2,
					&machine.stop, &why), 0);
		assert_int_equal(machine.stop.kind, VM_STOP_ASKED);
		assert_true(vm_steps(machine.vm) - before <
			    UINT64_C(1) << 40);
		if (program->code == spin)
			assert_int_equal(machine.stop.pc, CODE);
	}
	/* What was asked for is done: the next run is not stopped. */
	before = vm_steps(machine.vm);
	assert_true(run_to(&machine, before + 100));
	end(&machine);
}

static void spin_inlined(void **state)
{
	spin_until_alarm(*state, INLINED);
}

static void spin_not_inlined(void **state)
{
	spin_until_alarm(*state, NOT_INLINED);
}

/* A signal that came while nothing ran stops the next run at once. */
static void asked_before(void **state)
{
	struct machine machine;
	struct failure why;

	start(&machine, *state, INLINED);
	vm_interrupt(machine.vm);
	vm_interrupt(machine.vm);
	assert_int_equal(vm_run(machine.vm, 1000, true, &machine.stop, &why),
			 0);
	assert_int_equal(machine.stop.kind, VM_STOP_ASKED);
	assert_int_equal(vm_steps(machine.vm), 0);
	assert_true(run_to(&machine, 1000));
	end(&machine);
}

/* Nobody counts: it runs until the signal all the same. */
static void spin_uncounted(void **state)
{
	struct machine machine;
	struct failure why;

	start(&machine, *state, INLINED);
	vm_run_uncounted(machine.vm);
	alarmed = machine.vm;
	for (unsigned i = 0; i < 5; i++) {
		alarm_in(1000);
		assert_int_equal(vm_run(machine.vm, 1000, false, &machine.stop,
					&why), 0);
		assert_int_equal(machine.stop.kind, VM_STOP_ASKED);
	}
	end(&machine);
}

/* ------- registers ------- */

/* A loop of PAUSE: stopped where the limit is, again and again. */
static void pauses_are_limited(void **state)
{
	static const uint8_t code[] = { 0xf3, 0x90, 0xff, 0xc9, 0x75, 0xfa,
					0xf4 };
	struct machine machine;
	struct failure why;

	(void)state;
	start(&machine, &programs[0], INLINED);
	assert_int_equal(memory_poke(vm_memory(machine.vm), CODE, code,
				     sizeof(code)), 0);
	vm_set_reg(machine.vm, X86_RCX, 1000);
	assert_true(run_to(&machine, 300));
	assert_false(vm_has_paused(machine.vm));
	vm_limit_pauses(machine.vm, 50);
	for (unsigned i = 1; i <= 10; i++) {
		assert_int_equal(vm_run(machine.vm, 1000, true, &machine.stop,
					&why), 0);
		assert_int_equal(machine.stop.kind, VM_STOP_ASKED);
		assert_true(vm_has_paused(machine.vm));
		assert_int_equal(vm_steps(machine.vm), 300 + 150 * i - 2);
	}
	assert_true(run_to(&machine, 1800 + 3 * 10));
	assert_false(vm_has_paused(machine.vm));
	vm_limit_pauses(machine.vm, 0);
	assert_false(run_to(&machine, 3001));
	assert_int_equal(vm_steps(machine.vm), 3000);
	end(&machine);
}

static void registers_survive(void **state)
{
	const struct reg_table *table = reg_table(ARCH_X86_64);
	struct machine machine;
	struct reg_file set, got;

	(void)state;
	start(&machine, &programs[0], INLINED);
	vm_registers(machine.vm, &set);
	for (unsigned reg = X86_RAX; reg <= X86_R15; reg++)
		reg_set(table, &set, reg, UINT64_C(0x0123456789abcd00) + reg);
	reg_set(table, &set, X86_FS_BASE, 0x7fff00001000);
	reg_set(table, &set, X86_GS_BASE, 0x7fff00002000);
	reg_set(table, &set, X86_RFLAGS, 0x202 | 0x8d5);
	reg_set(table, &set, X86_FPCW, 0x27f);
	reg_set(table, &set, X86_FPSW, 0x3000);
	reg_set(table, &set, X86_FPTAG, 0x0fff);
	reg_set(table, &set, X86_MXCSR, 0x7f80);
	reg_set(table, &set, X86_FIP, 0x7fff00003000);
	reg_set(table, &set, X86_FDP, 0x7fff00004000);
	for (unsigned reg = X86_XMM0; reg <= X86_XMM15; reg++)
		memset(set.bytes + table->regs[reg].offset, (int)reg, 16);
	for (unsigned i = 0; i < 8; i++)	/* 1.5: a value that is valid */
		memcpy(set.bytes + table->regs[X86_ST0 + i].offset,
		       "\0\0\0\0\0\0\0\xc0\xff\x3f", 10);
	vm_set_registers(machine.vm, &set);
	vm_registers(machine.vm, &got);
	for (unsigned reg = 0; reg < table->count; reg++)
		if (memcmp(set.bytes + table->regs[reg].offset,
			   got.bytes + table->regs[reg].offset,
			   table->regs[reg].size))
			fail_msg("register %s", table->regs[reg].name);
	end(&machine);
}

int main(void)
{
	static struct test_list list;
	static char names[2 * COUNT(programs)][80];

	add_rows(&list, programs, program_inlined);
	for (size_t i = 0; i < COUNT(programs); i++) {
		snprintf(names[2 * i], 80, "%s, not inlined", programs[i].name);
		snprintf(names[2 * i + 1], 80, "%s, traced", programs[i].name);
		add_test(&list, names[2 * i], program_not_inlined,
			 &programs[i]);
		add_test(&list, names[2 * i + 1], program_traced, &programs[i]);
	}
	add_test(&list, "what strings leave", strings_leave, NULL);
	add_test(&list, "flags of emulated instructions", flags_of_emulated,
		 NULL);
	add_test(&list, "a string goes on after a fault", partial_string,
		 NULL);
	add_test(&list, "stops that need not be exact", stops_about_there,
		 NULL);
	add_test(&list, "steps can be set", steps_can_be_set, NULL);
	add_test(&list, "the host changes code", host_changes_code, NULL);
	add_test(&list, "mappings change code", mapping_changes_code, NULL);
	add_rows(&list, spins, spin_inlined);
	add_test(&list, "a loop of one block, not inlined", spin_not_inlined,
		 &spins[0]);
	add_test(&list, "a loop with a string, not inlined", spin_not_inlined,
		 &spins[1]);
	add_test(&list, "a loop that nobody counts", spin_uncounted, &spins[0]);
	add_test(&list, "asked before it runs", asked_before, &spins[0]);
	add_test(&list, "pauses are limited", pauses_are_limited, NULL);
	add_test(&list, "registers survive", registers_survive, NULL);
	return run_list("vm", &list);
}
