/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_rows.c - rows of instructions of SSE to SSE4.1, at random: results are
 * operands of what follows, in part and as a whole, with stores and other
 * registers in between
 *
 * One line of output per some rows: a hash of all registers, of the memory and
 * of the flags of exceptions behind each.  With a number as argument: so many
 * times as many rows.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LINES 8
#define ROWS 12
#define LENGTH 48
#define ROOM 4096

enum kind {
	PLAIN,			/* of a register or memory */
	CONSTANT,		/* the same, and a byte */
	SHIFT,			/* of a register by a byte; `mapped`: which */
	STORE,			/* to memory */
	TO_GENERAL, FROM_GENERAL,	/* a general register: RAX to RDX */
};

struct insn {
	uint8_t prefix, mapped, opcode, kind;
};

#define OF_38 0x38
#define OF_3A 0x3a

static const struct insn insns[] = {
	/* moves */
	{ 0x66, 0, 0x6f, PLAIN }, { 0xf3, 0, 0x6f, PLAIN },
	{ 0x66, 0, 0x7f, STORE }, { 0xf3, 0, 0x7f, STORE },
	{ 0xf3, 0, 0x7e, PLAIN }, { 0x66, 0, 0xd6, STORE },
	{ 0xf2, 0, 0x10, PLAIN }, { 0xf3, 0, 0x10, PLAIN },
	{ 0xf2, 0, 0x11, STORE }, { 0xf3, 0, 0x11, STORE },
	{ 0, 0, 0x28, PLAIN }, { 0, 0, 0x29, STORE }, { 0, 0, 0x12, PLAIN },
	{ 0, 0, 0x16, PLAIN }, { 0, 0, 0x13, STORE }, { 0, 0, 0x17, STORE },
	{ 0x66, 0, 0x6e, FROM_GENERAL }, { 0x66, 0, 0x7e, TO_GENERAL },
	{ 0x66, 0, 0xd7, TO_GENERAL }, { 0x66, 0, 0x50, TO_GENERAL },
	/* integers */
	{ 0x66, 0, 0xfc, PLAIN }, { 0x66, 0, 0xfe, PLAIN },
	{ 0x66, 0, 0xd4, PLAIN }, { 0x66, 0, 0xf9, PLAIN },
	{ 0x66, 0, 0xd5, PLAIN }, { 0x66, 0, 0xe5, PLAIN },
	{ 0x66, 0, 0xe4, PLAIN }, { 0x66, 0, 0xf4, PLAIN },
	{ 0x66, 0, 0xf5, PLAIN }, { 0x66, 0, 0xf6, PLAIN },
	{ 0x66, 0, 0xe0, PLAIN }, { 0x66, 0, 0xdb, PLAIN },
	{ 0x66, 0, 0xdf, PLAIN }, { 0x66, 0, 0xeb, PLAIN },
	{ 0x66, 0, 0xef, PLAIN }, { 0x66, 0, 0x74, PLAIN },
	{ 0x66, 0, 0x66, PLAIN }, { 0x66, 0, 0xda, PLAIN },
	{ 0x66, 0, 0x60, PLAIN }, { 0x66, 0, 0x69, PLAIN },
	{ 0x66, 0, 0x6c, PLAIN }, { 0x66, 0, 0x6d, PLAIN },
	{ 0x66, 0, 0x63, PLAIN }, { 0x66, 0, 0x6b, PLAIN },
	{ 0x66, 0, 0xd2, PLAIN }, { 0x66, 0, 0x70, CONSTANT },
	{ 0xf2, 0, 0x70, CONSTANT }, { 0xf3, 0, 0x70, CONSTANT },
	{ 0, 0, 0xc6, CONSTANT }, { 0x66, 0, 0xc6, CONSTANT },
	{ 0x66, OF_38, 0x00, PLAIN }, { 0x66, OF_38, 0x04, PLAIN },
	{ 0x66, OF_38, 0x1c, PLAIN }, { 0x66, OF_38, 0x29, PLAIN },
	{ 0x66, OF_38, 0x31, PLAIN }, { 0x66, OF_38, 0x25, PLAIN },
	{ 0x66, OF_38, 0x20, PLAIN }, { 0x66, OF_38, 0x40, PLAIN },
	{ 0x66, OF_38, 0x01, PLAIN }, { 0x66, OF_38, 0x17, PLAIN },
	{ 0x66, OF_3A, 0x0e, CONSTANT }, { 0x66, OF_3A, 0x0d, CONSTANT },
	{ 0x66, OF_3A, 0x0f, CONSTANT },
	{ 0x66, 2, 0x71, SHIFT }, { 0x66, 4, 0x71, SHIFT },
	{ 0x66, 6, 0x72, SHIFT }, { 0x66, 2, 0x73, SHIFT },
	{ 0x66, 3, 0x73, SHIFT }, { 0x66, 7, 0x73, SHIFT },
	/* floating point */
	{ 0xf2, 0, 0x58, PLAIN }, { 0xf2, 0, 0x59, PLAIN },
	{ 0xf2, 0, 0x5c, PLAIN }, { 0xf2, 0, 0x5e, PLAIN },
	{ 0xf2, 0, 0x51, PLAIN }, { 0xf2, 0, 0x5d, PLAIN },
	{ 0xf2, 0, 0x5f, PLAIN }, { 0xf2, 0, 0x5a, PLAIN },
	{ 0xf3, 0, 0x5a, PLAIN }, { 0xf3, 0, 0x58, PLAIN },
	{ 0xf3, 0, 0x59, PLAIN }, { 0xf3, 0, 0x5c, PLAIN },
	{ 0xf3, 0, 0x5e, PLAIN }, { 0xf3, 0, 0x5d, PLAIN },
	{ 0x66, 0, 0x58, PLAIN }, { 0x66, 0, 0x59, PLAIN },
	{ 0, 0, 0x5c, PLAIN }, { 0, 0, 0x5e, PLAIN }, { 0, 0, 0x58, PLAIN },
	{ 0x66, 0, 0x2e, PLAIN }, { 0, 0, 0x2f, PLAIN },
	{ 0xf2, 0, 0xc2, CONSTANT }, { 0xf3, 0, 0xc2, CONSTANT },
	{ 0xf2, 0, 0x2a, FROM_GENERAL }, { 0xf3, 0, 0x2a, FROM_GENERAL },
	{ 0xf2, 0, 0x2c, TO_GENERAL }, { 0xf3, 0, 0x2d, TO_GENERAL },
};

struct state {
	uint64_t vectors[16][2];
	uint64_t memory[8][2];
	uint64_t general[4];
	uint32_t mxcsr, mode;
};

static struct state state __attribute__((aligned(16)));
static uint8_t *code, *at;
static uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static unsigned below(unsigned most)
{
	return (unsigned)(next() >> 32) % most;
}

static void put(const char *bytes, size_t size)
{
	memcpy(at, bytes, size);
	at += size;
}

static void put_byte(unsigned byte)
{
	*at++ = (uint8_t)byte;
}

/* RDI has the state: a ModR/M byte with a distance of 32 bits from it. */
static void put_operand(unsigned reg, size_t offset)
{
	uint32_t distance = (uint32_t)offset;

	put_byte(0x87 | (reg & 7) << 3);
	put((const char *)&distance, sizeof(distance));
}

/* One of PSLLW to PSRAD is not in all groups: only those of the table. */
static void put_insn(const struct insn *insn)
{
	/* Few registers meet each other often. */
	const unsigned count = below(2) ? 4 : 16;
	unsigned reg = below(count), rm = below(count);
	bool in_memory = insn->kind == STORE || below(4) == 0;
	bool wide = below(2);

	if (insn->kind == SHIFT) {
		reg = insn->mapped;
		in_memory = false;
	}
	if (insn->kind == FROM_GENERAL || insn->kind == TO_GENERAL) {
		in_memory = false;
		if (insn->kind == TO_GENERAL && insn->opcode != 0x7e)
			reg = below(4);
		else
			rm = below(4);
	} else {
		wide = false;
	}
	if (insn->prefix)
		put_byte(insn->prefix);
	put_byte(0x40u | (unsigned)wide << 3 | (reg >> 3 & 1) << 2 |
		 (in_memory ? 0 : rm >> 3 & 1));
	put_byte(0x0f);
	if (insn->kind != SHIFT && insn->mapped)
		put_byte(insn->mapped);
	put_byte(insn->opcode);
	if (in_memory)
		put_operand(reg, offsetof(struct state, memory) +
					 below(8) * (size_t)16);
	else
		put_byte(0xc0 | (reg & 7) << 3 | (rm & 7));
	if (insn->kind == CONSTANT && insn->opcode == 0xc2)
		put_byte(below(8));
	else if (insn->kind == CONSTANT || insn->kind == SHIFT)
		put_byte(below(3) ? below(40) : below(256));
}

static void put_vectors(unsigned opcode)
{
	for (unsigned i = 0; i < 16; i++) {
		put_byte(0x40 | (i >> 3) << 2);
		put_byte(0x0f);
		put_byte(opcode);
		put_operand(i, offsetof(struct state, vectors) +
				       i * (size_t)16);
	}
}

static void put_general(unsigned opcode)
{
	for (unsigned i = 0; i < 3; i++) {
		put_byte(0x48);
		put_byte(opcode);
		put_operand(i, offsetof(struct state, general) + i * (size_t)8);
	}
}

/* RBX belongs to the caller: it is not among the three that are loaded. */
static void make_row(void)
{
	at = code;
	put("\x53", 1);					/* push rbx */
	put("\x0f\xae", 2);				/* ldmxcsr */
	put_operand(2, offsetof(struct state, mode));
	put_general(0x8b);
	put("\x31\xdb", 2);				/* xor ebx, ebx */
	put_vectors(0x10);
	for (unsigned i = 0; i < LENGTH; i++)
		put_insn(&insns[below(sizeof(insns) / sizeof(insns[0]))]);
	put_vectors(0x11);
	put_general(0x89);
	put("\x0f\xae", 2);				/* stmxcsr */
	put_operand(3, offsetof(struct state, mxcsr));
	put("\x5b\xc3", 2);				/* pop rbx; ret */
}

/* Numbers that occur, and anything. */
static uint64_t word(void)
{
	static const double usual[] = { 0, 1, -1.5, 1e10, -3e-200, 0.1, 1e308 };
	static const float narrow[] = { 1, -2.5f, 1e-40f, 3e38f, 0.1f, 7 };
	uint64_t bits = next();
	uint32_t half;

	switch (below(4)) {
	case 0:
		memcpy(&bits, &usual[below(7)], sizeof(bits));
		break;
	case 1:
		memcpy(&half, &narrow[below(6)], sizeof(half));
		bits = (bits & ~UINT64_C(0xffffffff)) | half;
	}
	return bits;
}

static void prepare(void)
{
	static const uint32_t modes[] = { 0x1f80, 0x1f80, 0x5f80, 0x9fc0 };
	uint64_t *words = (uint64_t *)&state;

	for (size_t i = 0; i < offsetof(struct state, mxcsr) / 8; i++)
		words[i] = word();
	state.mode = modes[below(4)];
}

static uint64_t add(uint64_t hash)
{
	const uint8_t *bytes = (const uint8_t *)&state;

	for (size_t i = 0; i < sizeof(state); i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

int main(int argc, char **argv)
{
	unsigned rows = argc > 1 ? ROWS * (unsigned)atoi(argv[1]) : ROWS;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	void (*run)(struct state *);

	code = mmap(NULL, ROOM, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return 1;
	memcpy(&run, &code, sizeof(run));
	for (unsigned line = 0; line < LINES; line++) {
		for (unsigned i = 0; i < rows; i++) {
			make_row();
			prepare();
			run(&state);
			hash = add(hash);
		}
		printf("%u %016llx\n", line, (unsigned long long)hash);
	}
	return 0;
}
