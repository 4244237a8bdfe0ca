/* SPDX-License-Identifier: GPL-2.0-or-later */
/* agent.c - see agent.h */
#include "debugger/agent.h"

#include "debugger/agent_print.h"

#define STACK_MOST 128u
#define STEPS_MOST 65536u

/* What is printed takes longer than other operations: as many as these. */
#define STEPS_OF_PRINTING 1024u

/* Those that have a result; others, as of floating point, have none. */
enum operation {
	OP_ADD = 0x02, OP_SUB, OP_MUL, OP_DIV_SIGNED, OP_DIV_UNSIGNED,
	OP_REM_SIGNED, OP_REM_UNSIGNED, OP_LSH, OP_RSH_SIGNED, OP_RSH_UNSIGNED,
	OP_LOG_NOT = 0x0e, OP_BIT_AND, OP_BIT_OR, OP_BIT_XOR, OP_BIT_NOT,
	OP_EQUAL, OP_LESS_SIGNED, OP_LESS_UNSIGNED, OP_EXT,
	OP_REF8, OP_REF16, OP_REF32, OP_REF64,
	OP_IF_GOTO = 0x20, OP_GOTO, OP_CONST8, OP_CONST16, OP_CONST32,
	OP_CONST64, OP_REG, OP_END, OP_DUP, OP_POP, OP_ZERO_EXT, OP_SWAP,
	OP_PICK = 0x32, OP_ROT, OP_PRINTF,
};

struct machine {
	const struct agent_code *code;
	const struct agent_world *world;
	size_t at;		/* the byte that comes next */
	uint64_t stack[STACK_MOST];
	unsigned depth;
	unsigned steps;
	bool has_failed;
};

static void fail(struct machine *machine)
{
	machine->has_failed = true;
}

static void push(struct machine *machine, uint64_t value)
{
	if (machine->depth == STACK_MOST)
		fail(machine);
	else
		machine->stack[machine->depth++] = value;
}

static uint64_t pop(struct machine *machine)
{
	if (machine->depth)
		return machine->stack[--machine->depth];
	fail(machine);
	return 0;
}

/* A number of the code itself: the highest byte is the first. */
static uint64_t take(struct machine *machine, unsigned size)
{
	uint64_t value = 0;

	if (machine->code->size - machine->at < size) {
		fail(machine);
		return 0;
	}
	while (size--)
		value = value << 8 | machine->code->bytes[machine->at++];
	return value;
}

/* ------- operations ------- */

static uint64_t divide(struct machine *machine, enum operation op, uint64_t a,
		       uint64_t b)
{
	/* The one quotient that no register has wraps around. */
	bool wraps = a == (uint64_t)INT64_MIN && b == UINT64_MAX;

	if (!b) {
		fail(machine);
		return 0;
	}
	switch (op) {
	case OP_DIV_SIGNED:
		return wraps ? a : (uint64_t)((int64_t)a / (int64_t)b);
	case OP_REM_SIGNED:
		return wraps ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
	case OP_DIV_UNSIGNED:
		return a / b;
	default:
		return a % b;
	}
}

static uint64_t shift(enum operation op, uint64_t a, uint64_t b)
{
	uint64_t ones = op == OP_RSH_SIGNED && a >> 63 ? UINT64_MAX : 0;

	if (b > 63)
		return ones;
	if (op == OP_LSH)
		return a << b;
	return a >> b | (b ? ones << (64 - b) : 0);
}

static uint64_t combine(struct machine *machine, enum operation op, uint64_t a,
			uint64_t b)
{
	switch (op) {
	case OP_ADD:
		return a + b;
	case OP_SUB:
		return a - b;
	case OP_MUL:
		return a * b;
	case OP_LSH:
	case OP_RSH_SIGNED:
	case OP_RSH_UNSIGNED:
		return shift(op, a, b);
	case OP_BIT_AND:
		return a & b;
	case OP_BIT_OR:
		return a | b;
	case OP_BIT_XOR:
		return a ^ b;
	case OP_EQUAL:
		return a == b;
	case OP_LESS_SIGNED:
		return (int64_t)a < (int64_t)b;
	case OP_LESS_UNSIGNED:
		return a < b;
	default:
		return divide(machine, op, a, b);
	}
}

/* Extends a number of so many bits. */
static uint64_t extend(uint64_t value, uint64_t bits, bool is_signed)
{
	uint64_t mask;

	if (!bits || bits > 63)
		return value;
	mask = (UINT64_C(1) << bits) - 1;
	return is_signed && value >> (bits - 1) & 1 ? value | ~mask :
						      value & mask;
}

static void refer(struct machine *machine, unsigned size)
{
	uint64_t addr = pop(machine), value = 0;

	if (machine->has_failed ||
	    !machine->world->memory(machine->world->context, addr, &value,
				    size))
		fail(machine);
	push(machine, value);
}

static void push_register(struct machine *machine)
{
	uint64_t number = take(machine, 2), value = 0;

	if (machine->has_failed ||
	    !machine->world->reg(machine->world->context, number, &value))
		fail(machine);
	push(machine, value);
}

static void go_to(struct machine *machine, bool goes)
{
	uint64_t to = take(machine, 2);

	if (goes && to >= machine->code->size)
		fail(machine);
	else if (goes)
		machine->at = to;
}

/* One that is below the top; 0 is the top. */
static void pick(struct machine *machine, uint64_t below)
{
	if (below < machine->depth)
		push(machine, machine->stack[machine->depth - 1 - below]);
	else
		fail(machine);
}

/* a b c: c a b */
static void rotate(struct machine *machine)
{
	uint64_t c = pop(machine), b = pop(machine), a = pop(machine);

	push(machine, c);
	push(machine, a);
	push(machine, b);
}

static void print(struct machine *machine)
{
	uint64_t args[UINT8_MAX];
	struct agent_format format = { .args = args };

	format.arg_count = take(machine, 1);
	format.size = take(machine, 2);
	if (machine->has_failed ||
	    format.size > machine->code->size - machine->at) {
		fail(machine);
		return;
	}
	format.text = (const char *)machine->code->bytes + machine->at;
	machine->at += format.size;
	machine->steps += STEPS_OF_PRINTING;
	/* Which function, and its first argument: ours has none. */
	pop(machine);
	pop(machine);
	for (unsigned i = 0; i < format.arg_count; i++)
		args[i] = pop(machine);
	if (machine->has_failed || !agent_print(&format, machine->world))
		fail(machine);
}

static void swap(struct machine *machine)
{
	uint64_t b = pop(machine), a = pop(machine);

	push(machine, b);
	push(machine, a);
}

static void execute_other(struct machine *machine, enum operation op)
{
	uint64_t value;

	switch (op) {
	case OP_IF_GOTO:
		go_to(machine, pop(machine));
		break;
	case OP_GOTO:
		go_to(machine, true);
		break;
	case OP_CONST8:
	case OP_CONST16:
	case OP_CONST32:
	case OP_CONST64:
		push(machine, take(machine, 1u << (op - OP_CONST8)));
		break;
	case OP_REG:
		push_register(machine);
		break;
	case OP_DUP:
		pick(machine, 0);
		break;
	case OP_POP:
		pop(machine);
		break;
	case OP_EXT:
	case OP_ZERO_EXT:
		value = pop(machine);
		push(machine, extend(value, take(machine, 1), op == OP_EXT));
		break;
	case OP_SWAP:
		swap(machine);
		break;
	case OP_PICK:
		pick(machine, take(machine, 1));
		break;
	case OP_ROT:
		rotate(machine);
		break;
	case OP_PRINTF:
		print(machine);
		break;
	default:
		fail(machine);
	}
}

static bool combines(enum operation op)
{
	return (OP_ADD <= op && op <= OP_RSH_UNSIGNED) ||
	       (OP_BIT_AND <= op && op <= OP_BIT_XOR) ||
	       (OP_EQUAL <= op && op <= OP_LESS_UNSIGNED);
}

static void execute(struct machine *machine, enum operation op)
{
	if (combines(op)) {
		uint64_t b = pop(machine), a = pop(machine);

		push(machine, combine(machine, op, a, b));
	} else if (OP_REF8 <= op && op <= OP_REF64) {
		refer(machine, 1u << (op - OP_REF8));
	} else if (op == OP_LOG_NOT) {
		push(machine, !pop(machine));
	} else if (op == OP_BIT_NOT) {
		push(machine, ~pop(machine));
	} else {
		execute_other(machine, op);
	}
}

bool agent_evaluate(const struct agent_code *code,
		    const struct agent_world *world, uint64_t *out)
{
	struct machine machine;

	/* The stack is not cleared: conditions are asked millions of times. */
	machine.code = code;
	machine.world = world;
	machine.at = machine.depth = machine.steps = 0;
	machine.has_failed = false;
	*out = 0;
	for (; machine.steps < STEPS_MOST; machine.steps++) {
		enum operation op = take(&machine, 1);

		if (!machine.has_failed && op == OP_END) {
			/* One that prints has no value. */
			*out = machine.depth ?
				       machine.stack[machine.depth - 1] : 0;
			return true;
		}
		if (!machine.has_failed)
			execute(&machine, op);
		if (machine.has_failed)
			return false;
	}
	return false;
}
