/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dwarf_eval.c - see dwarf_eval.h */
#include "replayer/symbols/dwarf_eval.h"

#include <dwarf.h>

/* Both are far above what compilers write. */
#define STACK_MOST 64u
#define STEPS_MOST 10000u

struct evaluation {
	const struct dwarf_machine *machine;
	const Dwarf_Op *ops;
	size_t count;
	size_t at;		/* the next operation */
	uint64_t stack[STACK_MOST];
	size_t depth;
	bool is_value;		/* the top is what is asked for */
	bool is_bad;
};

bool guest_read_number(const struct guest_reader *reader, uint64_t addr,
		       unsigned size, uint64_t *out)
{
	uint8_t bytes[8];

	*out = 0;
	if (size > sizeof(bytes) ||
	    !reader->read(reader->context, addr, bytes, size))
		return false;
	for (unsigned i = size; i-- > 0;)
		*out = *out << 8 | bytes[i];
	return true;
}

bool guest_read_word(const struct guest_reader *reader, uint64_t addr,
		     uint64_t *out)
{
	return guest_read_number(reader, addr, reader->word ? reader->word : 8,
				 out);
}

static void push(struct evaluation *eval, uint64_t value)
{
	if (eval->depth < STACK_MOST)
		eval->stack[eval->depth++] = value;
	else
		eval->is_bad = true;
}

static uint64_t pop(struct evaluation *eval)
{
	if (eval->depth)
		return eval->stack[--eval->depth];
	eval->is_bad = true;
	return 0;
}

/* The entry that has `depth` others above it. */
static uint64_t peek(struct evaluation *eval, uint64_t depth)
{
	if (depth < eval->depth)
		return eval->stack[eval->depth - 1 - (size_t)depth];
	eval->is_bad = true;
	return 0;
}

static uint64_t value_of(struct evaluation *eval, uint64_t reg)
{
	const struct dwarf_registers *registers = eval->machine->registers;

	if (reg < DWARF_REGISTERS_MOST && registers->known[reg])
		return registers->value[reg];
	eval->is_bad = true;
	return 0;
}

/* An address. */
static void load_word(struct evaluation *eval)
{
	uint64_t value = 0, addr = pop(eval);

	if (!eval->is_bad &&
	    !guest_read_word(eval->machine->memory, addr, &value))
		eval->is_bad = true;
	push(eval, value);
}

static void load(struct evaluation *eval, unsigned size)
{
	uint64_t value = 0, addr = pop(eval);

	if (!eval->is_bad &&
	    !guest_read_number(eval->machine->memory, addr, size, &value))
		eval->is_bad = true;
	push(eval, value);
}

/* Goes to the operation that is `distance` bytes behind the present one. */
static void jump(struct evaluation *eval, const Dwarf_Op *op)
{
	/* A jump has three bytes. */
	Dwarf_Word target = op->offset + 3 + (Dwarf_Word)(int16_t)op->number;

	for (size_t i = 0; i < eval->count; i++)
		if (eval->ops[i].offset == target) {
			eval->at = i;
			return;
		}
	eval->at = eval->count;
	eval->is_bad |= target <= eval->ops[eval->count - 1].offset;
}

static uint64_t divide(struct evaluation *eval, uint64_t left, uint64_t right)
{
	if (right == UINT64_MAX)
		return 0 - left;	/* the one quotient that overflows too */
	if (right)
		return (uint64_t)((int64_t)left / (int64_t)right);
	eval->is_bad = true;
	return 0;
}

static uint64_t shift_signed(uint64_t left, uint64_t right)
{
	uint64_t sign = left >> 63 ? UINT64_MAX : 0;

	if (right >= 64)
		return sign;
	return right ? left >> right | sign << (64 - right) : left;
}

/* Of two operands; false if it is no such operation. */
static bool combine(struct evaluation *eval, uint8_t atom)
{
	uint64_t right = peek(eval, 0), left = peek(eval, 1), value;

	switch (atom) {
	case DW_OP_and:		value = left & right; break;
	case DW_OP_or:		value = left | right; break;
	case DW_OP_xor:		value = left ^ right; break;
	case DW_OP_plus:	value = left + right; break;
	case DW_OP_minus:	value = left - right; break;
	case DW_OP_mul:		value = left * right; break;
	case DW_OP_shl:		value = right < 64 ? left << right : 0; break;
	case DW_OP_shr:		value = right < 64 ? left >> right : 0; break;
	case DW_OP_shra:	value = shift_signed(left, right); break;
	case DW_OP_div:		value = divide(eval, left, right); break;
	case DW_OP_mod:
		eval->is_bad |= !right;
		value = right ? left % right : 0;
		break;
	case DW_OP_eq:		value = left == right; break;
	case DW_OP_ne:		value = left != right; break;
	case DW_OP_ge:		value = (int64_t)left >= (int64_t)right; break;
	case DW_OP_gt:		value = (int64_t)left > (int64_t)right; break;
	case DW_OP_le:		value = (int64_t)left <= (int64_t)right; break;
	case DW_OP_lt:		value = (int64_t)left < (int64_t)right; break;
	default:
		return false;
	}
	pop(eval);
	pop(eval);
	push(eval, value);
	return true;
}

/* Operations that only move or change entries. */
static bool rearrange(struct evaluation *eval, const Dwarf_Op *op)
{
	uint64_t top, second, third;

	switch (op->atom) {
	case DW_OP_dup:
		push(eval, peek(eval, 0));
		return true;
	case DW_OP_over:
		push(eval, peek(eval, 1));
		return true;
	case DW_OP_pick:
		push(eval, peek(eval, op->number));
		return true;
	case DW_OP_drop:
		pop(eval);
		return true;
	case DW_OP_swap:
		top = pop(eval);
		second = pop(eval);
		push(eval, top);
		push(eval, second);
		return true;
	case DW_OP_rot:
		top = pop(eval);
		second = pop(eval);
		third = pop(eval);
		push(eval, top);
		push(eval, third);
		push(eval, second);
		return true;
	case DW_OP_abs:
		top = pop(eval);
		push(eval, top >> 63 ? 0 - top : top);
		return true;
	case DW_OP_neg:
		push(eval, 0 - pop(eval));
		return true;
	case DW_OP_not:
		push(eval, ~pop(eval));
		return true;
	case DW_OP_plus_uconst:
		push(eval, pop(eval) + op->number);
		return true;
	default:
		return false;
	}
}

/* Operations that push a constant, or something of the machine. */
static bool take(struct evaluation *eval, const Dwarf_Op *op)
{
	uint8_t atom = op->atom;

	if (DW_OP_lit0 <= atom && atom <= DW_OP_lit31) {
		push(eval, atom - DW_OP_lit0);
		return true;
	}
	if (DW_OP_breg0 <= atom && atom <= DW_OP_breg31) {
		push(eval, value_of(eval, atom - DW_OP_breg0) + op->number);
		return true;
	}
	switch (atom) {
	case DW_OP_addr:
		push(eval, op->number + eval->machine->bias);
		return true;
	case DW_OP_const1u: case DW_OP_const1s:
	case DW_OP_const2u: case DW_OP_const2s:
	case DW_OP_const4u: case DW_OP_const4s:
	case DW_OP_const8u: case DW_OP_const8s:
	case DW_OP_constu: case DW_OP_consts:
		push(eval, op->number);
		return true;
	case DW_OP_bregx:
		push(eval, value_of(eval, op->number) + op->number2);
		return true;
	case DW_OP_call_frame_cfa:
		eval->is_bad |= !eval->machine->has_cfa;
		push(eval, eval->machine->cfa);
		return true;
	default:
		return false;
	}
}

static void execute(struct evaluation *eval, const Dwarf_Op *op)
{
	uint8_t atom = op->atom;

	if (take(eval, op) || rearrange(eval, op))
		return;
	if (DW_OP_reg0 <= atom && atom <= DW_OP_reg31) {
		push(eval, value_of(eval, atom - DW_OP_reg0));
		eval->is_value = true;
		return;
	}
	switch (atom) {
	case DW_OP_regx:
		push(eval, value_of(eval, op->number));
		eval->is_value = true;
		break;
	case DW_OP_stack_value:
		eval->is_value = true;
		break;
	case DW_OP_deref:
		load_word(eval);
		break;
	case DW_OP_deref_size:
		load(eval, (unsigned)op->number);
		break;
	case DW_OP_skip:
		jump(eval, op);
		break;
	case DW_OP_bra:
		if (pop(eval))
			jump(eval, op);
		break;
	case DW_OP_nop:
		break;
	default:
		if (!combine(eval, atom))
			eval->is_bad = true;
	}
}

bool dwarf_eval(const struct dwarf_machine *machine, const Dwarf_Op *ops,
		size_t count, struct dwarf_result *out)
{
	struct evaluation eval = { .machine = machine, .ops = ops,
				   .count = count };

	for (unsigned steps = 0; eval.at < count && !eval.is_bad; steps++) {
		const Dwarf_Op *op = &ops[eval.at++];

		if (steps == STEPS_MOST)
			return false;
		execute(&eval, op);
	}
	out->value = pop(&eval);
	out->is_address = !eval.is_value;
	return !eval.is_bad;
}
