/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frame_code.c - see frame_code.h */
#include "replayer/symbols/frame_code.h"

#include <stdlib.h>

enum { R4 = 4, R7 = 7, R11 = 11, SP = 13, LR = 14, PC = 15, REGISTERS = 16 };

/* ------- what instructions do with frames ------- */

enum frame_op {
	OP_OTHER,		/* nothing */
	OP_PUSH,		/* SP goes down; then registers are stored */
	OP_POP,			/* registers are loaded; then SP goes up */
	OP_ADD,			/* to = from + bytes: of SP, or what points to
				   frames */
	OP_RETURN,		/* to where LR says */
	OP_JUMP,		/* `bytes` from where it is; a condition */
	OP_TABLE,		/* to one of many places: see take_table() */
	OP_LEAVES,		/* another place, or it is not known */
};

struct frame_insn {
	enum frame_op op;
	uint32_t list;		/* of registers, a bit each */
	int32_t bytes;
	unsigned to, from;
	unsigned size;		/* of the instruction */
	unsigned then;		/* so many behind it are conditional */
	bool may_not;		/* it has a condition */
};

static bool points_to_frames(unsigned reg)
{
	return reg == SP || reg == R7 || reg == R11;
}

static struct frame_insn moves(enum frame_op op, uint32_t list, uint32_t bytes)
{
	if (op == OP_PUSH && list >> PC & 1)
		return (struct frame_insn){ .op = OP_LEAVES };
	return (struct frame_insn){ .op = op, .list = list,
				    .bytes = (int32_t)bytes };
}

static struct frame_insn moves_list(enum frame_op op, uint32_t list)
{
	return moves(op, list, 4 * (uint32_t)__builtin_popcount(list));
}

static struct frame_insn adds(unsigned to, unsigned from, int32_t bytes)
{
	return (struct frame_insn){
		.op = points_to_frames(to) ? OP_ADD :
		      to == PC ? OP_LEAVES : OP_OTHER,
		.to = to, .from = from, .bytes = bytes,
	};
}

static struct frame_insn goes_to(unsigned reg)
{
	return (struct frame_insn){ .op = reg == LR ? OP_RETURN : OP_LEAVES };
}

static const struct frame_insn leaves = { .op = OP_LEAVES };
static const struct frame_insn other = { .op = OP_OTHER };

static struct frame_insn jumps(int32_t bytes, bool may_not)
{
	return (struct frame_insn){ .op = OP_JUMP, .bytes = bytes,
				    .may_not = may_not };
}

/* A number with a sign, of so many bits. */
static int32_t extended(uint32_t number, unsigned bits)
{
	return (int32_t)(number << (32 - bits)) >> (32 - bits);
}

static uint32_t rotated(uint32_t value, unsigned by)
{
	return by ? value >> by | value << (32 - by) : value;
}

/* A constant of Thumb code: DDI 0406, A6.3.2. */
static int32_t constant(uint32_t first, uint32_t second)
{
	uint32_t twelve = (first >> 10 & 1) << 11 | (second >> 12 & 7) << 8 |
			  (second & 0xff);
	uint32_t byte = twelve & 0xff;

	if (twelve >> 10)
		return (int32_t)rotated(0x80 | (twelve & 0x7f), twelve >> 7);
	switch (twelve >> 8) {
	case 0:
		return (int32_t)byte;
	case 1:
		return (int32_t)(byte << 16 | byte);
	case 2:
		return (int32_t)(byte << 24 | byte << 8);
	default:
		return (int32_t)(byte * 0x01010101u);
	}
}

static struct frame_insn narrow(uint32_t code)
{
	uint32_t low = code & 0xff;
	struct frame_insn it = other;

	if ((code & 0xfe00) == 0xb400)
		return moves_list(OP_PUSH, low | (code >> 8 & 1) << LR);
	if ((code & 0xfe00) == 0xbc00)
		return moves_list(OP_POP, low | (code >> 8 & 1) << PC);
	if ((code & 0xff00) == 0xb000)
		return adds(SP, SP, (int32_t)(code & 0x7f) *
			    (code & 0x80 ? -4 : 4));
	if ((code & 0xf800) == 0xa800)
		return adds(code >> 8 & 7, SP, (int32_t)low * 4);
	if ((code & 0xf700) == 0x3700)		/* adds, subs: of r7 */
		return adds(R7, R7, (int32_t)low * (code & 0x800 ? -1 : 1));
	if ((code & 0xff00) == 0x4600)
		return (code & 0x87) == 0x87 ? goes_to(code >> 3 & 15) :
			adds((code & 7) | (code >> 4 & 8), code >> 3 & 15, 0);
	if ((code & 0xff80) == 0x4700)
		return goes_to(code >> 3 & 15);
	if ((code & 0xff00) == 0xbf00 && code & 15)
		it.then = 4 - (unsigned)__builtin_ctz(code & 15);
	if ((code & 0xf000) == 0xd000 && (code & 0xe00) != 0xe00)
		return jumps(4 + extended(low, 8) * 2, true);
	if ((code & 0xf800) == 0xe000)
		return jumps(4 + extended(code & 0x7ff, 11) * 2, false);
	if ((code & 0xf500) == 0xb100)
		return jumps(4 + (int32_t)((code >> 9 & 1) << 6 |
					   (code >> 3 & 31) << 1), true);
	if ((code & 0xff87) == 0x4485 || (code & 0xff00) == 0xde00 ||
	    (code & 0xff00) == 0xbe00)
		return leaves;
	return it;
}

/* Of one register, or of two, whose offset is in words. */
static struct frame_insn wide_store(uint32_t first, uint32_t second)
{
	uint32_t one = 1u << (second >> 12);
	uint32_t two = one | 1u << (second >> 8 & 15);

	if (first == 0xf84d && (second & 0xf00) == 0xd00)
		return moves(OP_PUSH, one, second & 0xff);
	if (first == 0xf85d && (second & 0xf00) == 0xb00)
		return moves(OP_POP, one, second & 0xff);
	if (first == 0xe96d)
		return moves(OP_PUSH, two, 4 * (second & 0xff));
	if (first == 0xe8fd)
		return moves(OP_POP, two, 4 * (second & 0xff));
	if (first == 0xe8df && (second & 0xffe0) == 0xf000)
		return (struct frame_insn){ .op = OP_TABLE,
			.bytes = 1 + (int32_t)(second >> 4 & 1) };
	/* Loads of the program counter. */
	if (((first & 0xff70) == 0xf850 && second >> 12 == PC) ||
	    ((first & 0xfe50) == 0xe810 && second >> PC))
		return leaves;
	return other;
}

/* b, with a condition or without; bl and blx come back. */
static struct frame_insn wide_branch(uint32_t first, uint32_t second)
{
	uint32_t sign = first >> 10 & 1;
	uint32_t one = second >> 13 & 1, two = second >> 11 & 1;
	uint32_t far = (second & 0x7ff) << 1;

	if (second & 0x4000)
		return other;
	if (second & 0x1000)
		return jumps(4 + extended(sign << 24 | !(one ^ sign) << 23 |
					  !(two ^ sign) << 22 |
					  (first & 0x3ff) << 12 | far, 25),
			     false);
	if ((first & 0x380) == 0x380)
		return other;		/* barriers and the like */
	return jumps(4 + extended(sign << 20 | two << 19 | one << 18 |
				  (first & 0x3f) << 12 | far, 21), true);
}

static struct frame_insn wide(uint32_t first, uint32_t second)
{
	unsigned to = second >> 8 & 15, from = first & 15;
	int32_t twelve = (int32_t)((first >> 10 & 1) << 11 |
				   (second >> 12 & 7) << 8 | (second & 0xff));

	if (first == 0xe92d)
		return moves_list(OP_PUSH, second);
	if (first == 0xe8bd)
		return moves_list(OP_POP, second);
	if (first == 0xed2d && (second & 0xe00) == 0xa00)
		return moves(OP_PUSH, 0, 4 * (second & 0xff));
	if (first == 0xecbd && (second & 0xe00) == 0xa00)
		return moves(OP_POP, 0, 4 * (second & 0xff));
	if ((first & 0xf800) == 0xf000 && second >> 15)
		return wide_branch(first, second);
	if (to == PC && (first & 0xf800) == 0xf000)
		return other;		/* compares */
	switch (first & 0xfbe0) {
	case 0xf100:
		return adds(to, from, constant(first, second));
	case 0xf1a0:
		return adds(to, from, -constant(first, second));
	case 0xf200:
		return adds(to, from, twelve);
	case 0xf2a0:
		return adds(to, from, -twelve);
	}
	if (first == 0xea4f && !(second & 0x70f0))
		return adds(to, second & 15, 0);
	return wide_store(first, second);
}

/* str, ldr, strd, ldrd; of ARM code. */
static struct frame_insn arm_store(uint32_t word)
{
	uint32_t one = 1u << (word >> 12 & 15);
	uint32_t offset = (word >> 4 & 0xf0) | (word & 15);

	if (word >> 16 == 0xe52d)
		return moves(OP_PUSH, one, word & 0xfff);
	if (word >> 16 == 0xe49d)
		return moves(OP_POP, one, word & 0xfff);
	if ((word & 0xffff00f0) == 0xe16d00f0)
		return moves(OP_PUSH, one | one << 1, offset);
	if ((word & 0xffff00f0) == 0xe0cd00d0)
		return moves(OP_POP, one | one << 1, offset);
	if ((word & 0x0c50f000) == 0x0410f000 ||
	    (word & 0x0e108000) == 0x08108000)
		return leaves;		/* loads of the program counter */
	return other;
}

static struct frame_insn always(uint32_t word)
{
	unsigned to = word >> 12 & 15, from = word >> 16 & 15;
	int32_t number = (int32_t)rotated(word & 0xff, word >> 7 & 30);

	if (word >> 16 == 0xe92d)
		return moves_list(OP_PUSH, word & 0xffff);
	if (word >> 16 == 0xe8bd)
		return moves_list(OP_POP, word & 0xffff);
	if ((word & 0xffff0e00) == 0xed2d0a00)
		return moves(OP_PUSH, 0, 4 * (word & 0xff));
	if ((word & 0xffff0e00) == 0xecbd0a00)
		return moves(OP_POP, 0, 4 * (word & 0xff));
	if ((word & 0x0fe00000) == 0x02800000)
		return adds(to, from, number);
	if ((word & 0x0fe00000) == 0x02400000)
		return adds(to, from, -number);
	if ((word & 0x0fff0ff0) == 0x01a00000)
		return to == PC ? goes_to(word & 15) : adds(to, word & 15, 0);
	if ((word & 0x0ffffff0) == 0x012fff10)
		return goes_to(word & 15);
	if ((word & 0x0f000000) == 0x0a000000)
		return jumps(8 + extended(word & 0xffffff, 24) * 4, false);
	if ((word & 0x0ffffff0) != 0x012fff30 &&
	    (word & 0x0c000000) == 0 && to == PC &&
	    (word & 0x01800000) != 0x01000000)
		return leaves;
	return arm_store(word);
}

/* It may do nothing. */
static struct frame_insn sometimes(struct frame_insn insn)
{
	insn.may_not |= insn.op != OP_OTHER;
	return insn;
}

static bool read_code(const struct frame_code *code, uint64_t addr,
		      uint32_t *out, size_t size)
{
	*out = 0;
	return code->memory->read(code->memory->context, addr, out, size);
}

/* The instruction at an address; false if nothing is there. */
static bool read_insn(const struct frame_code *code, uint64_t addr,
		      struct frame_insn *out)
{
	uint32_t first, second;

	if (!code->is_thumb) {
		if (!read_code(code, addr, &first, 4))
			return false;
		*out = first >> 28 == 15 ? other : always(first | 0xe0000000);
		if (first >> 28 < 14)
			*out = sometimes(*out);
		out->size = 4;
		return true;
	}
	if (!read_code(code, addr, &first, 2))
		return false;
	if (first >> 11 < 0x1d) {
		*out = narrow(first);
		out->size = 2;
		return true;
	}
	if (!read_code(code, addr + 2, &second, 2))
		return false;
	*out = wide(first, second);
	out->size = 4;
	return true;
}

/* ------- what was made of a frame ------- */

/* Where things are, below what SP was when the function began. */
struct made {
	int32_t below[REGISTERS];	/* SP, and what points to frames */
	int32_t saved[REGISTERS];	/* the registers of the caller */
	uint32_t points, saves;		/* which are known: bits */
};

static void push(struct made *made, const struct frame_insn *insn)
{
	int32_t at = made->below[SP] + insn->bytes;

	made->below[SP] = at;
	for (unsigned reg = 0; reg < REGISTERS; reg++) {
		if (!(insn->list >> reg & 1))
			continue;
		if (!(made->saves >> reg & 1))
			made->saved[reg] = at;
		made->saves |= 1u << reg;
		at -= 4;
	}
}

/* What is taken off again is in its register. */
static void pop(struct made *made, const struct frame_insn *insn)
{
	made->below[SP] -= insn->bytes;
	made->saves &= ~insn->list;
}

static void add(struct made *made, const struct frame_insn *insn)
{
	uint32_t known = made->points >> insn->from & 1;

	made->points &= ~(1u << insn->to);
	made->points |= known << insn->to;
	made->below[insn->to] = made->below[insn->from] - insn->bytes;
}

/* ------- all ways from the beginning ------- */

/* Bytes of a function that are looked at, and ways that wait. */
#define SPAN_MOST 0x10000u
#define WAYS_MOST 128u

struct way {
	uint64_t at;
	struct made made;
	unsigned then;		/* instructions with a condition */
};

struct search {
	const struct frame_code *code;
	uint64_t end;
	struct way ways[WAYS_MOST];	/* to be gone yet */
	unsigned count;
	uint8_t seen[SPAN_MOST / 2 / 8];
};

/* Whether it is of the function, and was not seen: then it is. */
static bool see(struct search *search, uint64_t addr)
{
	uint64_t place = (addr - search->code->start) / 2;
	uint8_t bit = (uint8_t)(1u << place % 8);

	if (addr < search->code->start || addr >= search->end ||
	    search->seen[place / 8] & bit)
		return false;
	search->seen[place / 8] |= bit;
	return true;
}

static void remember(struct search *search, uint64_t at,
		     const struct made *made)
{
	if (search->count < WAYS_MOST)
		search->ways[search->count++] = (struct way){ at, *made, 0 };
}

/* The code behind a table begins where its nearest entry leads. */
static void take_table(struct search *search, const struct way *way,
		       unsigned each)
{
	uint64_t base = way->at + 4, nearest = search->end;
	uint32_t entry;

	for (uint64_t at = base; at < nearest; at += each) {
		if (!read_code(search->code, at, &entry, each))
			return;
		if (base + 2 * entry < nearest)
			nearest = base + 2 * entry;
		remember(search, base + 2 * entry, &way->made);
	}
}

/* False: the way goes no further. */
static bool go(struct search *search, struct way *way)
{
	struct frame_insn insn;

	if (!see(search, way->at) || !read_insn(search->code, way->at, &insn))
		return false;
	if (way->then) {
		way->then--;
		insn = sometimes(insn);
	} else {
		way->then = insn.then;
	}
	switch (insn.op) {
	case OP_OTHER:
		break;
	case OP_PUSH:
		push(&way->made, &insn);
		break;
	case OP_POP:
		if (insn.list >> PC & 1) {
			way->at += insn.size;
			return insn.may_not;
		}
		pop(&way->made, &insn);
		break;
	case OP_ADD:
		add(&way->made, &insn);
		break;
	case OP_JUMP:
		remember(search, way->at + (uint64_t)(int64_t)insn.bytes,
			 &way->made);
		way->at += insn.size;
		return insn.may_not;
	case OP_TABLE:
		take_table(search, way, (unsigned)insn.bytes);
		return false;
	case OP_RETURN:
	case OP_LEAVES:
		way->at += insn.size;
		return insn.may_not;
	}
	way->at += insn.size;
	return true;
}

static bool find_way(const struct frame_code *code, uint64_t pc,
		     struct made *out)
{
	const struct made none = { .points = 1u << SP };
	struct search *search = calloc(1, sizeof(*search));
	bool found = false;

	if (!search)
		return false;
	search->code = code;
	search->end = code->start + SPAN_MOST;
	if (code->end && code->end < search->end)
		search->end = code->end;
	remember(search, code->start, &none);
	while (search->count && !found) {
		struct way way = search->ways[--search->count];

		do {
			found = way.at == pc;
			*out = way.made;
		} while (!found && go(search, &way));
	}
	free(search);
	return found;
}

static bool bring_back(const struct frame_code *code, const struct made *made,
		       uint32_t top, struct unwind_state *state)
{
	struct unwind_state next = *state;
	struct dwarf_registers *registers = &next.registers;
	uint64_t value;

	for (unsigned reg = R4; reg <= LR; reg++) {
		if (!(made->saves >> reg & 1) || reg == SP)
			continue;
		if (!guest_read_number(code->memory,
				       (uint32_t)(top - (uint32_t)
						  made->saved[reg]), 4, &value))
			return false;
		registers->value[reg] = value;
		registers->known[reg] = true;
	}
	registers->value[SP] = top;
	registers->known[SP] = true;
	next.pc = registers->value[LR];
	registers->known[LR] = false;
	*state = next;
	return true;
}

bool frame_code_unwind(const struct frame_code *code, bool has_link,
		       struct unwind_state *state)
{
	static const unsigned pointers[] = { SP, R7, R11 };
	const struct dwarf_registers *registers = &state->registers;
	struct made made;

	if (!code->start || state->count < REGISTERS ||
	    !find_way(code, state->pc, &made) ||
	    !(made.saves >> LR & 1 || (has_link && registers->known[LR])))
		return false;
	for (size_t i = 0; i < sizeof(pointers) / sizeof(*pointers); i++) {
		unsigned reg = pointers[i];

		if (made.points >> reg & 1 && registers->known[reg])
			return bring_back(code, &made, (uint32_t)
					  (registers->value[reg] + (uint64_t)
					   (int64_t)made.below[reg]), state);
	}
	return false;
}

/* ------- a straight line to the end ------- */

/* Instructions that are looked at. */
#define STRAIGHT_MOST 64u

static bool load(const struct frame_code *code, const struct frame_insn *insn,
		 struct dwarf_registers *registers)
{
	uint64_t at = registers->value[SP];

	for (unsigned reg = 0; reg < REGISTERS; reg++) {
		if (!(insn->list >> reg & 1))
			continue;
		if (!guest_read_number(code->memory, at, 4,
				       &registers->value[reg]))
			return false;
		registers->known[reg] = true;
		at += 4;
	}
	registers->value[SP] = (uint32_t)(registers->value[SP] +
					  (uint64_t)insn->bytes);
	return true;
}

/* False: it is not followed any further. */
static bool unmake(const struct frame_code *code,
		   const struct frame_insn *insn,
		   struct dwarf_registers *registers)
{
	switch (insn->op) {
	case OP_OTHER:
		return !insn->then;
	case OP_POP:
		return load(code, insn, registers);
	case OP_ADD:
		registers->value[insn->to] = (uint32_t)
			(registers->value[insn->from] +
			 (uint64_t)(int64_t)insn->bytes);
		return registers->known[insn->from];
	default:
		return false;
	}
}

bool frame_code_ends(const struct frame_code *code,
		     struct unwind_state *state)
{
	struct unwind_state next = *state;
	struct dwarf_registers *registers = &next.registers;
	uint64_t at = state->pc;
	unsigned from = LR;

	if (state->count < REGISTERS)
		return false;
	for (unsigned i = 0; i < STRAIGHT_MOST; i++) {
		struct frame_insn insn;

		if (!read_insn(code, at, &insn) || insn.may_not)
			return false;
		if (insn.op == OP_POP && insn.list >> PC & 1)
			from = PC;
		if (insn.op != OP_RETURN && !unmake(code, &insn, registers))
			return false;
		if (insn.op == OP_RETURN || from == PC) {
			next.pc = registers->value[from];
			registers->known[LR] = false;
			*state = next;
			return true;
		}
		at += insn.size;
	}
	return false;
}
