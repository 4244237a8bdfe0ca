/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * words_i386.c - executes random instructions of i386, and says what they did
 *
 * usage: words GROUP SEED COUNT [SHOWN]
 *
 * Each instruction of a group is executed once, on random registers: general
 * ones, flags, those of x87 and SSE, rounding modes.  A line has its bytes, a
 * hash of all that it left in registers, and the signal that it got, with the
 * address.  Behind each round a line has the hash of the memory that loads and
 * stores go to, which is then as before.
 *
 * Left out are instructions whose effect is another one on other processors:
 * estimates (RCPPS, RSQRTPS), what tells of the processor or of its time, what
 * newer ones have, and what leads elsewhere.  Flags are left out where they are
 * undefined, as are x87's selectors, opcode and last addresses.  So is what
 * docs/limits.md says is otherwise under cprec: see forget(), and rounds that
 * load all of x87's registers.
 */
#define _GNU_SOURCE
#include "words.h"

/* As FXSAVE stores it. */
struct fxsave {
	uint16_t control, status;
	uint8_t tags, unused;
	uint16_t opcode;
	uint32_t code, code_segment, data, data_segment;
	uint32_t mxcsr, mxcsr_mask;
	uint8_t st[8][16], xmm[8][16], others[224];
};

struct registers {
	uint32_t eax, ecx, edx, ebx, esp, ebp, esi, edi, flags, room[7];
	struct fxsave fx;
};

static struct {
	struct registers before, after;
} state __attribute__((aligned(64), used));

_Static_assert(offsetof(struct registers, fx) == 64, "as below");
_Static_assert(sizeof(struct registers) == 576, "as below");

/* Loads the registers, goes to `code`, and is left by what stands there. */
void run(const void *code);
extern const uint8_t leave[], leave_end[];

__asm__(".text\n.global run, leave, leave_end\n"
	".comm own_stack, 4\n .comm own_code, 4\n .comm own_flags, 4\n"
	".comm own_modes, 4\n"
	"run:\n"
	"pushl %ebp\n pushl %ebx\n pushl %esi\n pushl %edi\n"
	"movl 20(%esp), %eax\n movl %eax, own_code\n movl %esp, own_stack\n"
	"stmxcsr own_modes\n"
	"fxrstor state+64\n"
	"pushl state+32\n popfl\n"
	"movl state+0, %eax\n movl state+4, %ecx\n movl state+8, %edx\n"
	"movl state+12, %ebx\n movl state+16, %esp\n movl state+20, %ebp\n"
	"movl state+24, %esi\n movl state+28, %edi\n"
	"jmp *own_code\n"
	"leave:\n"
	"movl %eax, state+576\n movl %ecx, state+580\n movl %edx, state+584\n"
	"movl %ebx, state+588\n movl %esp, state+592\n movl %ebp, state+596\n"
	"movl %esi, state+600\n movl %edi, state+604\n"
	"movl own_stack, %esp\n pushfl\n popl state+608\n cld\n"
	"fxsave state+640\n fninit\n ldmxcsr own_modes\n"
	"popl %edi\n popl %esi\n popl %ebx\n popl %ebp\n ret\n"
	"leave_end:\n");

/* ------- registers ------- */

#define CARRY 1u
#define PARITY 4u
#define ADJUST 0x10u
#define ZERO 0x40u
#define SIGN 0x80u
#define DIRECTION 0x400u
#define OVERFLOW 0x800u
#define FLAGS (CARRY | PARITY | ADJUST | ZERO | SIGN | OVERFLOW)

/*
 * Most of them lead into the data; the others are offsets, or lead to where
 * nothing is, whoever runs it.
 */
static uint32_t draw_address(void)
{
	uint64_t kind = draw();

	if (kind % 4)
		return (uint32_t)DATA_AT + DATA_SIZE / 2 +
		       (kind >> 3 & 0x3ff) * (kind & 4 ? 16 : 1);
	return kind & 4 ? 0x80000000 | ((uint32_t)draw_number() & 0x3fffffff) :
			  (uint32_t)(kind >> 40 & 0xff);
}

/* A number of 80 bits, sometimes one that none of its kind is. */
static void draw_extended(uint8_t *st)
{
	static const uint16_t exponents[] = {
		0, 0x3fff, 0x7fff, 1, 0x7ffe, 0x3ffe, 0x403e, 0x401e, 0x4000,
	};
	uint64_t kind = draw(), digits = draw_number();
	uint16_t head = kind % 4 ? exponents[kind / 4 % 9] :
				   (uint16_t)(0x3fc0 + (kind >> 8) % 0x80);

	if (kind % 16)
		digits |= UINT64_C(1) << 63;
	if (kind % 3 == 0)
		digits &= UINT64_C(3) << 62;
	head |= kind >> 40 & 0x8000;
	memcpy(st, &digits, 8);
	memcpy(st + 8, &head, 2);
}

static void draw_float_state(struct fxsave *fx)
{
	*fx = (struct fxsave) {
		/* All exceptions masked; how exact, and how it rounds. */
		.control = 0x37f & ~(draw() % 2 ? draw() & 0x300 : 0),
		.status = (uint16_t)(draw() & 0x7f00),
		.tags = (uint8_t)draw(),
		.mxcsr = 0x1f80,
	};
	if (draw() % 2)
		fx->control |= draw() & 0xc00;
	if (draw() % 2)		/* flush to zero, zero for denormals */
		fx->mxcsr |= draw() & 0xe040;
	for (int i = 0; i < 8; i++) {
		draw_extended(fx->st[i]);
		draw_vector(fx->xmm[i]);
	}
}

static void draw_registers(int has_addresses)
{
	struct registers *regs = &state.before;
	uint32_t *list = &regs->eax;

	for (int i = 0; i < 8; i++)
		list[i] = draw() % 2 || has_addresses ? draw_address() :
						    (uint32_t)draw_number();
	if (has_addresses)		/* a few times, of what is repeated */
		regs->ecx = (uint32_t)(draw() % 40);
	regs->esp = (uint32_t)DATA_AT + DATA_SIZE / 2 + (draw() & 0x3fc);
	regs->flags = (uint32_t)draw() & (FLAGS | DIRECTION);
	draw_float_state(&regs->fx);
}

/* ------- instructions ------- */

#define LONGEST 15

struct made {
	uint8_t bytes[LONGEST];
	unsigned size;
	uint32_t undefined;	/* flags */
};

static void add(struct made *made, uint32_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		made->bytes[made->size++] = (uint8_t)(value >> 8 * i);
}

static uint32_t draw_absolute(void)
{
	return (uint32_t)DATA_AT + DATA_SIZE / 2 + (draw() & 0xfff);
}

/* Memory: by a register, two, or none; or a register, if that may be. */
static void add_some_operand(struct made *made, unsigned field, int is_memory)
{
	uint64_t kind = draw();
	unsigned mode = kind & 3, operand = kind >> 3 & 7;

	if (is_memory)
		mode = mode % 3;
	else if (kind & 4)
		mode = 3;

	add(made, mode << 6 | field << 3 | operand, 1);
	if (mode == 3)
		return;
	if (operand == 4) {
		unsigned sib = kind >> 8 & 0xff;

		if (kind >> 16 & 1)		/* no index */
			sib = (sib & ~0x38u) | 0x20;
		add(made, sib, 1);
		if (mode == 0 && (sib & 7) == 5)
			add(made, (uint32_t)(kind >> 32) % 0x400, 4);
	} else if (operand == 5 && mode == 0) {
		add(made, draw_absolute(), 4);
	}
	if (mode == 1)
		add(made, (uint32_t)(kind >> 24), 1);
	else if (mode == 2)
		add(made, kind >> 32 & 0xf ? 0x40 : (uint32_t)draw(), 4);
}

static void add_operand(struct made *made, unsigned field)
{
	add_some_operand(made, field, 0);
}

static unsigned draw_field(void)
{
	return draw() >> 20 & 7;
}

static int has(const char *list, unsigned op)
{
	return memchr(list, (int)op, strlen(list)) != NULL;
}

/* ------- of integers ------- */

/* Of shifts, by how they count: 1, CL, or a number. */
static void make_shift(struct made *made, unsigned op, int is_16)
{
	unsigned field = draw_field(), count = 1;
	unsigned width = op & 1 ? is_16 ? 16 : 32 : 8;

	add(made, op, 1);
	add_operand(made, field);
	if (op < 0xd0) {
		count = (unsigned)draw() & (draw() % 2 ? 31 : 255);
		add(made, count, 1);
	}
	/* CL is not known here: as if it were largest. */
	if (op >= 0xd2)
		count = 31;
	count &= 31;
	if (count != 1 && count)
		made->undefined |= OVERFLOW;
	if (field >= 4 && count)
		made->undefined |= ADJUST;
	if (field >= 4 && count >= width)
		made->undefined |= CARRY;
}

/* F6, F7: TEST, NOT, NEG, products and quotients */
static void make_unary(struct made *made, unsigned op, int is_16)
{
	unsigned field = draw_field();

	add(made, op, 1);
	add_operand(made, field);
	if (field < 2)
		add(made, (uint32_t)draw_number(), !(op & 1) ? 1 :
						   is_16 ? 2 : 4);
	if (field < 2)
		made->undefined = ADJUST;
	if (field == 4 || field == 5)
		made->undefined = FLAGS & ~(CARRY | OVERFLOW);
	if (field >= 6)
		made->undefined = FLAGS;
}

/* Arithmetic of two operands: six forms of each of eight operations. */
static void make_arithmetic(struct made *made, int is_16)
{
	unsigned field = draw_field(), form = draw() % 6;

	if (field == 1 || field == 4 || field == 6)	/* OR, AND, XOR */
		made->undefined = ADJUST;
	add(made, field << 3 | form, 1);
	if (form < 4)
		add_operand(made, draw_field());
	else
		add(made, (uint32_t)draw_number(), form == 4 ? 1 :
						   is_16 ? 2 : 4);
}

/* What has an operand, behind an opcode of one byte. */
static const char plain[] =
	"\x63\x84\x85\x86\x87\x88\x89\x8a\x8b\x8d\xfe\xff\x8f\x62";
/* What has none: moves, stack, flags, a table. */
static const char bare[] =
	"\x90\x91\x92\x93\x94\x95\x96\x97\x98\x99\x9c\x9e\x9f\xc9\xd7\xf5"
	"\xf8\xf9\xfc\xfd\x60\x61\xce";

static void make_immediate(struct made *made, int is_16)
{
	static const char ops[] =
		"\x80\x81\x82\x83\x69\x6b\xc6\xc7\xa8\xa9\x68\x6a\xc8\xb0\xb8";
	unsigned op = (uint8_t)ops[draw() % (sizeof(ops) - 1)];
	unsigned field = op >= 0xc6 && op <= 0xc7 ? 0 : draw_field();
	unsigned word = is_16 ? 2 : 4;

	if (op == 0xb0 || op == 0xb8)
		op += draw_field();
	if (op == 0xc8 && is_16)
		op = 0xa8;
	add(made, op, 1);
	if (!has("\xa8\xa9\x68\x6a\xc8", op) && op < 0xb0)
		add_operand(made, field);
	else if (op == 0xc6 || op == 0xc7)
		add_operand(made, field);
	if (op <= 0x83 && op >= 0x80 &&
	    (field == 1 || field == 4 || field == 6))
		made->undefined = ADJUST;
	if (op == 0xa8 || op == 0xa9)
		made->undefined = ADJUST;
	if (op == 0x69 || op == 0x6b)
		made->undefined = FLAGS & ~(CARRY | OVERFLOW);
	if (op == 0xc8)
		add(made, (uint32_t)draw() & 0x3ff, 2);
	if (op == 0xc8)
		add(made, (uint32_t)draw() & 1, 1);
	else if (has("\x81\x69\xc7\xa9\x68", op) || (op & 0xf8) == 0xb8)
		add(made, (uint32_t)draw_number(), word);
	else
		add(made, (uint32_t)draw_number(), 1);
}

/* Behind 0F: conditions, bits, shifts of two, exchanges, extensions. */
static void make_two_bytes(struct made *made, int is_16)
{
	static const char ops[] =
		"\xa3\xab\xb3\xbb\xa4\xa5\xac\xad\xaf\xb0\xb1\xb6\xb7\xb8\xba"
		"\xbc\xbd\xbe\xbf\xc0\xc1\xc3\xc7\xc8\x1f\xb9\x0b\x40\x90";
	unsigned op = (uint8_t)ops[draw() % (sizeof(ops) - 1)];
	unsigned field = draw_field(), count;

	if (op == 0x40 || op == 0x90)
		op += draw() % 16;
	if (op == 0xc8)
		op += draw_field();
	if (op == 0xc7)
		field = 1;
	/* More than 16 of 16 bits has no meaning. */
	if (is_16 && (op == 0xa5 || op == 0xad))
		op--;
	add(made, 0x0f, 1);
	add(made, op, 1);
	if (op < 0xc8 && op != 0x0b)
		add_operand(made, field);
	if (has("\xa3\xab\xb3\xbb\xba", op))
		made->undefined = FLAGS & ~(CARRY | ZERO);
	if (op == 0xba)
		add(made, (uint32_t)draw(), 1);
	if (op == 0xaf)
		made->undefined = FLAGS & ~(CARRY | OVERFLOW);
	if (op == 0xbc || op == 0xbd)
		made->undefined = FLAGS & ~ZERO;
	if (has("\xa4\xac\xa5\xad", op))
		made->undefined = ADJUST | OVERFLOW;
	if (op == 0xa4 || op == 0xac) {
		count = draw() & 15;
		add(made, count, 1);
		if (!count)
			made->undefined = 0;
	}
}

/* Operands of another size, or another segment, or LOCK. */
static int add_prefixes(struct made *made)
{
	static const char segments[] = "\x26\x36\x3e";
	uint64_t kind = draw();
	int is_16 = kind % 4 == 0;

	if (kind >> 8 & 1 && (kind >> 16) % 8 == 0)
		add(made, (uint8_t)segments[(kind >> 32) % 3], 1);
	if (is_16)
		add(made, 0x66, 1);
	if ((kind >> 40) % 16 == 0)
		add(made, 0xf0, 1);
	return is_16;
}

static void make_plain(struct made *made)
{
	unsigned op = (uint8_t)plain[draw() % (sizeof(plain) - 1)];
	unsigned field = draw_field();

	/* Calls and jumps; of others, the processor has more than one meaning. */
	if (op == 0xff && field >= 2 && field != 6)
		field = 0;
	if (op == 0x8f)
		field = 0;
	if (op == 0x84 || op == 0x85)
		made->undefined = ADJUST;
	add(made, op, 1);
	/*
	 * BOUND has memory; else it is another instruction.  ARPL of memory
	 * writes under cprec also what stays as it is.
	 */
	if (op == 0x63)
		add(made, 0xc0 | field << 3 | draw_field(), 1);
	else
		add_some_operand(made, field, op == 0x62);
}

static void make_integer(struct made *made)
{
	int is_16 = add_prefixes(made);

	switch (draw() % 8) {
	case 0:
	case 1:
		make_arithmetic(made, is_16);
		break;
	case 2:
		make_shift(made, (unsigned)"\xc0\xc1\xd0\xd1\xd2\xd3"
			   [draw() % 6] & 0xff, is_16);
		break;
	case 3:
		make_unary(made, draw() % 2 ? 0xf6 : 0xf7, is_16);
		break;
	case 4:
		make_plain(made);
		break;
	case 5:
		make_immediate(made, is_16);
		break;
	case 6:
		make_two_bytes(made, is_16);
		break;
	default:
		add(made, draw() % 4 ? 0x40 + draw() % 32 :
			  (uint8_t)bare[draw() % (sizeof(bare) - 1)], 1);
	}
}

static void make_decimal(struct made *made)
{
	static const char ops[] = "\x27\x2f\x37\x3f\xd4\xd5";
	unsigned op = (uint8_t)ops[draw() % 6];

	add(made, op, 1);
	made->undefined = op == 0x27 || op == 0x2f ? OVERFLOW :
			  op >= 0xd4 ? OVERFLOW | ADJUST | CARRY :
				       FLAGS & ~(CARRY | ADJUST);
	if (op >= 0xd4)
		add(made, draw() % 2 ? 10 : (uint32_t)draw(), 1);
}

static void make_string(struct made *made)
{
	static const char ops[] = "\xa4\xa5\xa6\xa7\xaa\xab\xac\xad\xae\xaf";
	static const char prefixes[] = "\xf2\xf3";

	if (draw() % 4 == 0)
		add(made, 0x66, 1);
	if (draw() % 3)
		add(made, (uint8_t)prefixes[draw() % 2], 1);
	add(made, (uint8_t)ops[draw() % (sizeof(ops) - 1)], 1);
}

/* ------- of floating point ------- */

static void make_x87(struct made *made)
{
	unsigned op = 0xd8 + draw() % 8, field;
	unsigned first;

	add(made, op, 1);
	do {
		made->size = 1;
		field = draw_field();
		add_operand(made, field);
		first = made->bytes[1];
		/* Not what stores or loads where the last one was, nor what no
		 * manual has. */
	} while ((first < 0xc0 && (op == 0xd9 || op == 0xdd) &&
		  (field == 4 || field == 6)) ||
		 (first >= 0xc0 && op == 0xd9 && field == 3));
}

/* Behind 0F; what newer processors have, and what is not exact, is not there. */
static int is_sse(unsigned op, unsigned prefix)
{
	if (op >= 0x10 && op <= 0x17)
		return 1;
	if (op >= 0x28 && op <= 0x2f)
		return op != 0x2b || prefix == 0 || prefix == 0x66;
	if (op >= 0x50 && op <= 0x7f)
		return op != 0x52 && op != 0x53 && op != 0x77 && op != 0x78 &&
		       op != 0x79;
	return op == 0xc2 || (op >= 0xc4 && op <= 0xc6) || op >= 0xd0;
}

static int is_sse_38(unsigned op)
{
	return op <= 0x0b || op == 0x10 || op == 0x14 || op == 0x15 ||
	       op == 0x17 || (op >= 0x1c && op <= 0x1e) ||
	       (op >= 0x20 && op <= 0x25) || (op >= 0x28 && op <= 0x2b) ||
	       (op >= 0x30 && op <= 0x41 && op != 0x36) || op >= 0xdb;
}

static int is_sse_3a(unsigned op)
{
	return (op >= 0x08 && op <= 0x0f) || (op >= 0x14 && op <= 0x17) ||
	       (op >= 0x20 && op <= 0x22) || (op >= 0x40 && op <= 0x42) ||
	       op == 0x44 || (op >= 0x60 && op <= 0x63) || op == 0xdf;
}

static void make_sse_map(struct made *made, unsigned map)
{
	unsigned op;

	do
		op = draw() & 0xff;
	while (map == 0x38 ? !is_sse_38(op) || op > 0xdf : !is_sse_3a(op));
	add(made, map, 1);
	add(made, op, 1);
	add_operand(made, draw_field());
	if (map == 0x3a)
		add(made, (uint32_t)draw(), 1);
}

static void make_sse(struct made *made)
{
	static const uint8_t prefixes[] = { 0, 0x66, 0xf2, 0xf3 };
	unsigned prefix = prefixes[draw() % 4], op = draw() % 8;

	/* The two maps have meanings with 66, and some without. */
	if (op < 2 && prefix > 0x66)
		prefix = 0x66;
	if (prefix)
		add(made, prefix, 1);
	add(made, 0x0f, 1);
	if (op < 2) {
		make_sse_map(made, op ? 0x3a : 0x38);
		return;
	}
	do
		op = draw() & 0xff;
	while (!is_sse(op, prefix));
	add(made, op, 1);
	add_operand(made, draw_field());
	if (has("\x70\x71\x72\x73\xc2\xc4\xc5\xc6", op))
		add(made, (uint32_t)draw(), 1);
}

/* ------- groups ------- */

static const struct group {
	const char *name;
	void (*make)(struct made *made);
	int has_addresses;
	int is_vector;
} groups[] = {
	{ "integer", make_integer, 0, 0 },
	{ "decimal", make_decimal, 0, 0 },
	{ "string", make_string, 1, 0 },
	{ "x87", make_x87, 1, 0 },
	{ "sse", make_sse, 1, 1 },
}, *group = groups;

/* ------- signals ------- */

static volatile struct {
	int number, code;
	uint32_t addr;
} got;

static void on_signal(int number, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	got.number = number;
	got.code = info->si_code;
	got.addr = (uint32_t)info->si_addr;
	at->uc_mcontext.gregs[REG_EIP] = (greg_t)CODE_AT;
}

/* ------- all of it ------- */

#define GROUPS (sizeof(groups) / sizeof(*groups))
#define SPACE 32		/* of an instruction */

static struct made round[ROUND];

/* Behind each is a jump to the end, and what is a signal else. */
static void make_round(void)
{
	memset(FIRST_WORD, 0xcc, ROUND * SPACE);
	for (int i = 0; i < ROUND; i++) {
		uint8_t *at = FIRST_WORD + SPACE * i;
		uint32_t distance;

		round[i] = (struct made) { .size = 0 };
		group->make(&round[i]);
		memcpy(at, round[i].bytes, round[i].size);
		at += round[i].size;
		*at++ = 0xe9;
		distance = (uint32_t)(CODE_AT - at - 4);
		memcpy(at, &distance, 4);
	}
}

static void show(const char *title, const struct registers *regs)
{
	printf("%s: eax %08x ecx %08x edx %08x ebx %08x\n"
	       "esp %08x ebp %08x esi %08x edi %08x flags %08x\n"
	       "control %04x status %04x tags %02x mxcsr %08x\n", title,
	       regs->eax, regs->ecx, regs->edx, regs->ebx, regs->esp,
	       regs->ebp, regs->esi, regs->edi, regs->flags, regs->fx.control,
	       regs->fx.status, regs->fx.tags, regs->fx.mxcsr);
	for (int i = 0; i < 16; i++) {
		const uint8_t *bytes = i < 8 ? regs->fx.st[i] :
					       regs->fx.xmm[i - 8];

		printf("%s%d ", i < 8 ? "st" : "xmm", i % 8);
		for (int j = 15; j >= 0; j--)
			printf("%02x", bytes[j]);
		printf(i % 2 ? "\n" : " ");
	}
}

/* Of the status word: C1. */
#define STATUS_C1 0x200u
#define STATUS_CONDITIONS 0x4700u
/* Of the control word: bits without meaning. */
#define CONTROL_RESERVED 0xe0c0u

static unsigned opcode_of(const struct made *made)
{
	unsigned at = 0;

	while (has("\x26\x36\x3e\x66\xf0\xf2\xf3", made->bytes[at]))
		at++;
	return made->bytes[at] == 0x0f ? 0xf00 | made->bytes[at + 1] :
					 made->bytes[at];
}

/* Behind 0F 38 and 0F 3A; CVTPI2PS: whether x87 becomes MMX. */
static int enters_otherwise(const struct made *made)
{
	unsigned opcode = opcode_of(made);

	return opcode == 0xf38 || opcode == 0xf3a || opcode == 0xf2a;
}

/* FDECSTP, FINCSTP */
static int moves_top(const struct made *made)
{
	return made->bytes[0] == 0xd9 && (made->bytes[1] & 0xfe) == 0xf6;
}

/* Shifts and rotations, which change flags before they are refused memory. */
static int shifts(const struct made *made)
{
	unsigned opcode = opcode_of(made);

	return (opcode & 0xfc) == 0xd0 || (opcode & 0xfe) == 0xc0;
}

/*
 * Of an operand that the instruction computes from more than ModR/M only the
 * page is compared, of two operands none.
 */
static uint32_t known_address(const struct made *made, uint32_t addr)
{
	switch (opcode_of(made)) {
	case 0xa4: case 0xa5: case 0xa6: case 0xa7: case 0xff7:
		return 0;
	case 0xc8: case 0xc9: case 0xd7:
	case 0xfa3: case 0xfab: case 0xfb3: case 0xfbb:
		return addr & ~0xfffu;
	default:
		return addr;
	}
}

/* What is not to be compared becomes 0. */
static void forget(const struct made *made, struct registers *regs)
{
	regs->fx.status &= (uint16_t)~STATUS_C1;
	regs->fx.control &= (uint16_t)~CONTROL_RESERVED;
	if (moves_top(made))
		regs->fx.status &= (uint16_t)~STATUS_CONDITIONS;
	if (got.number)
		regs->fx.status = 0;
	if (got.number && shifts(made))
		regs->flags &= ~FLAGS;
	if (group->is_vector) {
		/* FXSAVE begins with the first register. */
		if (got.number || enters_otherwise(made)) {
			memset(regs->fx.st, 0, sizeof(regs->fx.st));
			regs->fx.status = regs->fx.tags = 0;
		}
		for (int i = 0; i < 8; i++)
			memset(regs->fx.st[i] + 8, 0, 2);
	}
	regs->flags &= (FLAGS | DIRECTION) & ~made->undefined;
	regs->fx.opcode = 0;
	regs->fx.code = regs->fx.code_segment = 0;
	regs->fx.data = regs->fx.data_segment = 0;
	regs->fx.mxcsr_mask = 0;
	memset(regs->fx.others, 0, sizeof(regs->fx.others));
}

/*
 * MASKMOVQ and MASKMOVDQU: the first and last byte are written, as memory of
 * which nothing is written is not accessed under cprec.
 */
static void select_ends(unsigned mask)
{
	for (int i = 0; i < 8; i++) {
		state.before.fx.st[i][0] |= 0x80;
		state.before.fx.st[i][7] |= 0x80;
	}
	state.before.fx.xmm[mask][0] |= 0x80;
	state.before.fx.xmm[mask][15] |= 0x80;
}

static void execute(int number)
{
	const struct made *made = &round[number];

	draw_registers(group->has_addresses);
	/* A move of an empty register raises nothing under cprec. */
	if (opcode_of(made) == 0xda || opcode_of(made) == 0xdb)
		state.before.fx.tags = 0xff;
	if (opcode_of(made) == 0xff7)
		select_ends(made->bytes[made->size - 1] & 7);
	got.number = got.code = 0;
	got.addr = 0;
	memset(&state.after, 0, sizeof(state.after));
	if (must_show)
		show("before", &state.before);
	run(FIRST_WORD + SPACE * number);
	forget(made, &state.after);
	if (must_show)
		show("after", &state.after);
	for (unsigned i = 0; i < made->size; i++)
		printf("%02x", made->bytes[i]);
	printf(" %016llx %d %d %x\n",
	       (unsigned long long)hash(&state.after, sizeof(state.after)),
	       got.number, got.code, known_address(made, got.addr));
}

int main(int argc, char **argv)
{
	long count = argc > 3 ? atol(argv[3]) : 0;

	while (group < groups + GROUPS && argc > 1 &&
	       strcmp(group->name, argv[1]))
		group++;
	if (!count || group == groups + GROUPS)
		return 2;
	seed = strtoul(argv[2], NULL, 0);
	catch_signals(on_signal);
	run_rounds(count, argc > 4 ? atol(argv[4]) : 0, leave,
		   (size_t)(leave_end - leave), make_round, execute);
	return 0;
}
