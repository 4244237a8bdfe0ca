/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * words_arm.c - executes random instruction words, and says what they did
 *
 * usage: words GROUP SEED COUNT [FIRST]
 *
 * As words_arm64.c, which says what is printed.
 *
 * Register 11 is this program's: no word names it.  Nor does one name 15 where
 * that would lead elsewhere.  Thumb code stands in an IT block of its own.
 */
#define _GNU_SOURCE
#include "words.h"

struct registers {
	uint32_t r[15], flags, fpscr, room;
	uint64_t d[32];
};

static struct {
	struct registers before, after;
	uint32_t stack, code;	/* this program's; where to go */
} state;

_Static_assert(sizeof(struct registers) == 328, "as below");
_Static_assert(offsetof(struct registers, d) == 72, "as below");

/* Loads the registers, goes to `code`, and is left by what stands there. */
void run(void *state, const void *code);
extern const uint32_t leave[], leave_end[];

__asm__(".text\n.syntax unified\n.arch armv7ve\n.fpu neon-vfpv4\n.arm\n"
	".balign 4\n.global run, leave, leave_end\n"
	".type run, %function\n"
	"run:\n"
	"push {r4-r11, lr}\n vpush {d8-d15}\n"
	"str sp, [r0, #656]\n str r1, [r0, #660]\n mov r11, r0\n"
	"ldr r1, [r11, #60]\n msr apsr_nzcvqg, r1\n"
	"ldr r1, [r11, #64]\n vmsr fpscr, r1\n"
	"add r1, r11, #72\n vldm r1!, {d0-d15}\n vldm r1, {d16-d31}\n"
	"ldr r12, [r11, #48]\n ldr sp, [r11, #52]\n ldr lr, [r11, #56]\n"
	"ldm r11, {r0-r10}\n"
	"clrex\n ldr pc, [r11, #660]\n"
	"leave:\n"
	"add r11, r11, #328\n"
	"stm r11, {r0-r10}\n"
	"str r12, [r11, #48]\n str sp, [r11, #52]\n str lr, [r11, #56]\n"
	"mrs r0, apsr\n vmrs r1, fpscr\n"
	"str r0, [r11, #60]\n str r1, [r11, #64]\n"
	"add r0, r11, #72\n vstm r0!, {d0-d15}\n vstm r0, {d16-d31}\n"
	"mov r0, #0\n vmsr fpscr, r0\n"
	"ldr sp, [r11, #328]\n vpop {d8-d15}\n pop {r4-r11, pc}\n"
	"leave_end:\n");

/* ------- registers ------- */

enum code { ARM, NARROW, WIDE };

/* Lowest bits of what may be registers. */
#define FIELD(at) (1u << (at))

struct kind {
	uint32_t mask, value, fields;
};

struct group {
	const char *name;
	enum code code;
	int has_addresses;
	unsigned count;
	struct kind kinds[6];
};

/*
 * Of data in even registers, small offsets in the others.  What is not aligned,
 * Linux mends in part.
 */
static uint32_t draw_place(int i)
{
	uint32_t kind = (uint32_t)draw();

	return i % 2 ? kind >> 16 & 0xf8 :
		       (uintptr_t)DATA_AT + DATA_SIZE / 2 +
			       (kind >> 2 & 0x1ff) * 8;
}

static void draw_registers(const struct group *group)
{
	struct registers *regs = &state.before;

	for (int i = 0; i < 15; i++)
		regs->r[i] = group->has_addresses ?
			draw_place(i) : (uint32_t)draw_number();
	regs->r[13] = (uintptr_t)DATA_AT + DATA_SIZE / 2;
	regs->r[11] = 0;
	regs->flags = draw() & 0xf80f0000;
	/* AHP, DN, FZ, and how it rounds. */
	regs->fpscr = draw() % 2 ? draw() & 0x07c00000 : 0;
	for (int i = 0; i < 32; i++) {
		uint64_t kind = draw();

		regs->d[i] = kind % 4 == 0 ? draw_float(64) :
			     kind % 4 == 1 ? draw_float(32) |
						     draw_float(32) << 32 :
					     draw_number();
	}
}

/* ------- words ------- */

/* DDI 0406, A5, A6, A7. */
static const struct group groups[] = {
	{ "data", ARM, 0, 1, {
		{ 0x0c000000, 0, FIELD(0) | FIELD(8) | FIELD(12) | FIELD(16) },
	} },
	{ "media", ARM, 0, 1, {
		{ 0x0e000010, 0x06000010,
		  FIELD(0) | FIELD(8) | FIELD(12) | FIELD(16) },
	} },
	{ "float", ARM, 0, 1, { { 0x0f000e00, 0x0e000a00, FIELD(12) } } },
	{ "vector", ARM, 0, 1, { { 0xfe000000, 0xf2000000, 0 } } },
	{ "memory", ARM, 1, 6, {
		{ 0x0e000000, 0x04000000, FIELD(12) | FIELD(16) },
		{ 0x0e000010, 0x06000000, FIELD(0) | FIELD(12) | FIELD(16) },
		{ 0x0e000090, 0x00000090, FIELD(0) | FIELD(12) | FIELD(16) },
		{ 0x0e408800, 0x08000000, FIELD(16) },
		{ 0x0e000e00, 0x0c000a00, FIELD(12) | FIELD(16) },
		{ 0xff100000, 0xf4000000, FIELD(0) | FIELD(16) },
	} },
	{ "thumb", NARROW, 0, 4, {
		{ 0xc000, 0x0000, 0 }, { 0xfc00, 0x4000, 0 },
		{ 0xff00, 0xb200, 0 }, { 0xff00, 0xba00, 0 },
	} },
	{ "thumb-memory", NARROW, 1, 3, {
		{ 0xf000, 0x5000, 0 }, { 0xe000, 0x6000, 0 },
		{ 0xf000, 0xc000, 0 },
	} },
	{ "wide", WIDE, 0, 4, {
		{ 0xfe000000, 0xea000000,
		  FIELD(0) | FIELD(8) | FIELD(12) | FIELD(16) },
		{ 0xf8008000, 0xf0000000, FIELD(8) | FIELD(16) },
		{ 0xff000000, 0xfa000000,
		  FIELD(0) | FIELD(8) | FIELD(12) | FIELD(16) },
		{ 0xff000000, 0xfb000000,
		  FIELD(0) | FIELD(8) | FIELD(12) | FIELD(16) },
	} },
	{ "wide-float", WIDE, 0, 3, {
		{ 0xff000e00, 0xee000a00, FIELD(12) },
		{ 0xff000000, 0xef000000, 0 }, { 0xff000000, 0xff000000, 0 },
	} },
	{ "wide-memory", WIDE, 1, 5, {
		{ 0xfe408800, 0xe8000000, FIELD(16) },
		{ 0xfe400000, 0xe8400000,
		  FIELD(0) | FIELD(8) | FIELD(12) | FIELD(16) },
		{ 0xff000000, 0xf8000000, FIELD(0) | FIELD(12) | FIELD(16) },
		{ 0xfe000e00, 0xec000a00, FIELD(12) | FIELD(16) },
		{ 0xff100000, 0xf9000000, FIELD(0) | FIELD(16) },
	} },
};

/*
 * BX, BXJ, BLX; loads and stores among those that compute; what processors may
 * do as they like, and oracles do.
 */
static int is_left_out(const struct group *group, uint32_t word)
{
	if (group->code == NARROW)	/* or HLT, for which an oracle ends */
		return word >> 8 == 0x47 || word >> 6 == 0x2ea;
	if (group->code == WIDE)	/* TBB, TBH; LDM, STM of one register */
		return (word & 0xfff000e0) == 0xe8d00000 ||
		       ((word & 0xfe400000) == 0xe8000000 &&
			__builtin_popcount(word & 0xffff) < 2);
	if (group->has_addresses || word >> 26 & 3)
		return 0;
	return (word & 0x0fb000c0) == 0x01200000 ||
	       ((word & 0x0e000090) == 0x90 &&
		(word & 0x60 || word & 0x01000000));
}

static uint32_t keep_registers(uint32_t word, uint32_t fields)
{
	for (unsigned at = 0; at < 32; at++) {
		unsigned number = word >> at & 15;

		/* Of two in a row, the first one is here. */
		if (fields & FIELD(at) && (number == 10 || number == 11 ||
					   number >= 14))
			word ^= 8u << at;
	}
	return word;
}

static uint32_t draw_one(const struct group *group)
{
	const struct kind *kind = &group->kinds[draw() % group->count];
	uint32_t word = (uint32_t)draw();

	if (group->code == NARROW)
		word &= 0xffff;
	word = (word & ~kind->mask) | kind->value;
	if (group->code == ARM && !(kind->mask >> 28))
		word = draw() % 4 || word >> 28 == 15 ?
			       (word & 0x0fffffff) | 0xe0000000 : word;
	/* ADD, CMP, MOV of high registers. */
	if (group->code == NARROW && word >> 10 == 0x11 &&
	    ((word & 0x87) == 0x83 || (word & 0x87) == 0x87))
		word ^= 0x80;
	if (group->code == NARROW && word >> 10 == 0x11 &&
	    (word >> 3 & 15) == 11)
		word ^= 0x40;
	/* Not shifted far. */
	if (group->code == ARM && (word & 0x0e000010) == 0x06000000)
		word &= ~0xe00u;
	word = keep_registers(word, kind->fields);
	/* A place and an offset: see draw_registers(). */
	if (group->has_addresses && kind->fields & FIELD(16))
		word &= ~FIELD(16);
	if (group->has_addresses && kind->fields & FIELD(0))
		word |= FIELD(0);
	/* LDRD, STRD: by multiples of 8. */
	if (group->code == ARM && (word & 0x0e5000d0) == 0x004000d0)
		word &= ~7u;
	/* Of vectors that must be aligned to 32 bytes, the oracle asks for 16. */
	if ((word & 0xf2900030) == 0xf0000030)
		word ^= 0x10;
	/* Of four words to one lane, qemu 11 does not ask for 16. */
	if ((word & 0xf2900f30) == 0xf0800b20)
		word ^= 0x20;
	return word;
}

static uint32_t draw_word(const struct group *group)
{
	uint32_t word;

	do
		word = draw_one(group);
	while (is_left_out(group, word));
	return word;
}

#define BRANCH(at) \
	(0xea000000 | (((uint32_t)(CODE_AT - (at)) - 8) / 4 & 0x00ffffff))

/* In Thumb code: IT, the word, and from there to ARM code. */
static const void *write_word(const struct group *group, uint32_t word,
			      uint8_t *at)
{
	const uint16_t nop = 0xbf00;
	const uint32_t arm[] = { word, BRANCH(at + 4) };
	const uint16_t thumb[] = {
		(uint16_t)(0xbf08 | (word * 0x9e3779b1u >> 29) << 4 | 0x80),
		(uint16_t)(group->code == WIDE ? word >> 16 : word),
		group->code == WIDE ? (uint16_t)word : nop,
		nop, 0x4778, nop,	/* bx pc */
	};
	const uint32_t branch = BRANCH(at + 12);

	if (group->code == ARM)
		return memcpy(at, arm, sizeof(arm));
	memcpy(at, thumb, sizeof(thumb));
	memcpy(at + 12, &branch, sizeof(branch));
	return at + 1;
}

static volatile int got;

static void on_signal(int number, siginfo_t *info, void *context)
{
	mcontext_t *at = &((ucontext_t *)context)->uc_mcontext;

	/* qemu-user's codes of others are not always Linux's. */
	got = number * 16 + (number == SIGBUS ? info->si_code & 15 : 0);
	at->arm_pc = (uintptr_t)CODE_AT;
	at->arm_cpsr &= ~0x0600fe20u;
}

static void show(const char *title, const struct registers *regs)
{
	printf("%s: flags %x fpscr %x\n", title, regs->flags, regs->fpscr);
	for (int i = 0; i < 15; i++)
		printf("r%d %08x%s", i, regs->r[i], i % 8 == 7 ? "\n" : " ");
	printf("\n");
	for (int i = 0; i < 32; i++)
		printf("d%d %016llx%s", i, (unsigned long long)regs->d[i],
		       i % 4 == 3 ? "\n" : " ");
}

/* ------- all of it ------- */

#define APART 16		/* bytes from one to the next */

static const struct group *group;
static uint32_t words[ROUND];
static const void *places[ROUND];

static void make_round(void)
{
	for (int i = 0; i < ROUND; i++) {
		words[i] = draw_word(group);
		places[i] = write_word(group, words[i],
				       FIRST_WORD + APART * i);
	}
	__builtin___clear_cache((char *)FIRST_WORD,
				(char *)FIRST_WORD + APART * ROUND);
}

static void execute(int i)
{
	draw_registers(group);
	got = 0;
	memset(&state.after, 0, sizeof(state.after));
	if (must_show)
		show("before", &state.before);
	run(&state, places[i]);
	if (must_show)
		show("after", &state.after);
	printf("%08x %016llx %d\n", words[i], (unsigned long long)
	       hash(&state.after, sizeof(state.after)), got);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		if (argc > 3 && !strcmp(groups[i].name, argv[1]))
			group = &groups[i];
	if (!group)
		return 2;
	seed = strtoul(argv[2], NULL, 0);
	catch_signals(on_signal);
	run_rounds(atol(argv[3]), argc > 4 ? atol(argv[4]) : 0,
		   (const uint8_t *)leave,
		   (size_t)((const uint8_t *)leave_end -
			    (const uint8_t *)leave), make_round, execute);
	return 0;
}
