/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * words_arm64.c - executes random instruction words, and says what they did
 *
 * usage: words GROUP SEED COUNT [FIRST]
 *
 * Each word of a group is executed once, on random registers: general ones,
 * flags, vectors, rounding modes.  A line has the word, a hash of all that it
 * left in registers, and the signal that it got.  Behind each round a line has
 * the hash of the memory that loads and stores go to, which is then as before.
 * With FIRST, all
 * registers are printed of the word of that number, from 0.
 *
 * Registers 29 and 30 are this program's: no word names them.
 */
#define _GNU_SOURCE
#include "words.h"

struct registers {
	uint64_t x[29], sp, flags, fpsr, fpcr, room;
	uint8_t v[32][16];
};

static struct {
	struct registers before, after;
	uint64_t stack;		/* this program's */
} state;

_Static_assert(sizeof(struct registers) == 784, "as below");
_Static_assert(offsetof(struct registers, sp) == 232, "as below");
_Static_assert(offsetof(struct registers, v) == 272, "as below");

/* Loads the registers, goes to `code`, and is left by what stands there. */
void run(void *state, const void *code);
extern const uint32_t leave[], leave_end[];

#define EACH_PAIR(...)                                                         \
	".irp n, 0,2,4,6,8,10,12,14,16,18,20,22,24,26\n" __VA_ARGS__ ".endr\n"
#define EACH_VECTOR(...)                                                       \
	".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,"  \
	"23,24,25,26,27,28,29,30,31\n" __VA_ARGS__ ".endr\n"
#define OWN(op, at)                                                            \
	#op " x19, x20, [" at "]\n" #op " x21, x22, [" at ", #16]\n"           \
	#op " x23, x24, [" at ", #32]\n" #op " x25, x26, [" at ", #48]\n"      \
	#op " x27, x28, [" at ", #64]\n" #op " x29, x30, [" at ", #80]\n"      \
	#op " d8, d9, [" at ", #96]\n" #op " d10, d11, [" at ", #112]\n"       \
	#op " d12, d13, [" at ", #128]\n" #op " d14, d15, [" at ", #144]\n"

__asm__(".text\n.global run, leave, leave_end\n"
	".altmacro\n"
	".macro pair op, n, m, at\n \\op x\\n, x\\m, [x30, #\\at+8*\\n]\n"
	".endm\n"
	"run:\n"
	"sub sp, sp, #160\n" OWN(stp, "sp")
	"mov x2, sp\n str x2, [x0, #1568]\n"
	"mov x30, x0\n mov x29, x1\n"
	"ldp x2, x3, [x30, #240]\n ldr x4, [x30, #256]\n"
	"msr nzcv, x2\n msr fpsr, x3\n msr fpcr, x4\n"
	EACH_VECTOR("ldr q\\n, [x30, #272+16*\\n]\n")
	"ldr x2, [x30, #232]\n mov sp, x2\n"
	EACH_PAIR("pair ldp, \\n, %(\\n+1), 0\n")
	"ldr x28, [x30, #224]\n"
	"clrex\n br x29\n"
	"leave:\n"
	"add x30, x30, #784\n"
	EACH_PAIR("pair stp, \\n, %(\\n+1), 0\n")
	"str x28, [x30, #224]\n"
	"mov x2, sp\n mrs x3, nzcv\n mrs x4, fpsr\n mrs x5, fpcr\n"
	"str x2, [x30, #232]\n stp x3, x4, [x30, #240]\n"
	"str x5, [x30, #256]\n"
	EACH_VECTOR("str q\\n, [x30, #272+16*\\n]\n")
	"msr fpcr, xzr\n"
	"ldr x2, [x30, #784]\n mov sp, x2\n" OWN(ldp, "sp")
	"add sp, sp, #160\n ret\n"
	"leave_end:\n");

/* ------- registers ------- */

/* Half of them lead into the data; the others are offsets. */
static uint64_t draw_address(void)
{
	uint64_t kind = draw();

	if (kind % 2)
		return (uint64_t)DATA_AT + DATA_SIZE / 2 +
		       (kind >> 2 & 0x3ff) * (kind & 2 ? 16 : 1);
	return kind % 4 ? draw_number() : kind >> 40 & 0xff;
}

static void draw_registers(int has_addresses)
{
	struct registers *regs = &state.before;

	for (int i = 0; i < 29; i++)
		regs->x[i] = has_addresses ? draw_address() : draw_number();
	regs->sp = (uint64_t)DATA_AT + DATA_SIZE / 2;
	regs->flags = draw() & 0xf0000000;
	regs->fpsr = 0;
	/* AHP, DN, FZ, and how it rounds. */
	regs->fpcr = draw() % 2 ? draw() & 0x07c00000 : 0;
	for (int i = 0; i < 32; i++)
		draw_vector(regs->v[i]);
}

/* ------- words ------- */

struct group {
	const char *name;
	uint32_t mask, value;
	uint32_t fields;	/* lowest bits of what may be registers */
	int has_addresses;
};

#define FIELD(at) (1u << (at))

/* Arm Architecture Reference Manual, C4.1. */
static const struct group groups[] = {
	{ "immediate", 0x1c000000, 0x10000000, FIELD(0) | FIELD(5), 0 },
	{ "register", 0x0e000000, 0x0a000000,
	  FIELD(0) | FIELD(5) | FIELD(10) | FIELD(16), 0 },
	{ "float", 0x0e000000, 0x0e000000, FIELD(0) | FIELD(5) | FIELD(16), 0 },
	{ "memory", 0x0a000000, 0x08000000,
	  FIELD(0) | FIELD(5) | FIELD(10) | FIELD(16), 1 },
};

/* What a processor may do with other words, it may choose (C6.2). */
static const uint32_t third = 31u << 10, status = 31u << 16;

/* A pair is loaded into two registers. */
static uint32_t with_two(uint32_t word)
{
	uint32_t first = (word & 31) << 10;

	if ((word & 0x3a400000) != 0x28400000 || (word & third) != first)
		return word;
	return first == third ? word & ~third : word | third;
}

/* Fields that should be ones are ones. */
static uint32_t with_ones(uint32_t word)
{
	int loads = word >> 22 & 1, has_two = word >> 21 & 1;
	int is_ordered = word >> 23 & 1;

	if ((word & 0xff608000) == 0x9b400000)		/* SMULH, UMULH */
		return word | third;
	if ((word & 0x3f000000) != 0x08000000)		/* LDXR, STLR, ... */
		return word;
	if (!has_two)
		word |= third;
	if (loads || (is_ordered && !has_two))
		word |= status;
	return word;
}

static uint32_t draw_word(const struct group *group)
{
	uint32_t word = (uint32_t)draw();

	word = with_ones((word & ~group->mask) | group->value);
	for (unsigned at = 0; at < 32; at++)
		if (group->fields & FIELD(at) &&
		    ((word >> at & 31) == 29 || (word >> at & 31) == 30))
			word ^= 16u << at;
	return with_two(word);
}

/* ------- signals ------- */

static volatile int got;

static void on_signal(int number, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	/* qemu-user's codes of others are not always Linux's. */
	got = number * 16 + (number == SIGBUS ? info->si_code & 15 : 0);
	at->uc_mcontext.pc = (uint64_t)CODE_AT;
}

/* ------- all of it ------- */

static void show(const char *title, const struct registers *regs)
{
	printf("%s: sp %lx flags %lx fpsr %lx fpcr %lx\n", title, regs->sp,
	       regs->flags, regs->fpsr, regs->fpcr);
	for (int i = 0; i < 29; i++)
		printf("x%d %016lx%s", i, regs->x[i], i % 4 == 3 ? "\n" : " ");
	printf("\n");
	for (int i = 0; i < 32; i++) {
		uint64_t half[2];

		memcpy(half, regs->v[i], 16);
		printf("v%d %016lx%016lx%s", i, half[1], half[0],
		       i % 2 ? "\n" : " ");
	}
}

static const struct group *group = groups;
static uint32_t words[ROUND];

static void make_round(void)
{
	uint32_t *at = (uint32_t *)FIRST_WORD;

	for (int i = 0; i < ROUND; i++) {
		uint8_t *branch = FIRST_WORD + 8 * i + 4;

		words[i] = draw_word(group);
		*at++ = words[i];
		*at++ = 0x14000000 | ((uint32_t)((CODE_AT - branch) / 4) &
				      0x03ffffff);
	}
	__builtin___clear_cache((char *)FIRST_WORD, (char *)at);
}

static void execute(int i)
{
	draw_registers(group->has_addresses);
	got = 0;
	memset(&state.after, 0, sizeof(state.after));
	if (must_show)
		show("before", &state.before);
	run(&state, FIRST_WORD + 8 * i);
	if (must_show)
		show("after", &state.after);
	printf("%08x %016lx %d\n", words[i], hash(&state.after,
	       sizeof(state.after)), got);
}

int main(int argc, char **argv)
{
	long count = argc > 3 ? atol(argv[3]) : 0;

	while (group < groups + 4 && argc > 1 && strcmp(group->name, argv[1]))
		group++;
	if (!count || group == groups + 4)
		return 2;
	seed = strtoul(argv[2], NULL, 0);
	catch_signals(on_signal);
	run_rounds(count, argc > 4 ? atol(argv[4]) : 0,
		   (const uint8_t *)leave,
		   (size_t)((const uint8_t *)leave_end -
			    (const uint8_t *)leave), make_round, execute);
	return 0;
}
