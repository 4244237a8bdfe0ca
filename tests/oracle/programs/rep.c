/* SPDX-License-Identifier: GPL-2.0-or-later */
/* oracle_rep.c - REP string instructions: a step each, however many rounds */
#include "tests/oracle/programs/oracle.h"

static uint8_t source[9000], target[9000];
static uint64_t sums[32];

void on_signal(int number)
{
	(void)number;
}

/* The registers that string instructions use, before and after. */
struct string_state {
	uint64_t from, to, count, value;
};

#define STRING(instruction, state) \
	__asm__ volatile(instruction \
			 : "+S"((state)->from), "+D"((state)->to), \
			   "+c"((state)->count), "+a"((state)->value) \
			 : : "cc", "memory")

KEEP void note(unsigned slot, const struct string_state *state)
{
	sums[slot % 32] = sums[slot % 32] * 31 + state->from + 3 * state->to +
			  5 * state->count + 7 * state->value;
}

KEEP struct string_state begin(uint64_t from, uint64_t to, uint64_t count,
			       uint64_t value)
{
	return (struct string_state){
		(uint64_t)source + from, (uint64_t)target + to, count, value
	};
}

#define TRY(slot, instruction, from, to, count, value) do { \
	struct string_state state_ = begin(from, to, count, value); \
	STRING(instruction, &state_); \
	note(slot, &state_); \
} while (0)

KEEP void copies(void)
{
	TRY(0, "rep movsb", 0, 0, 37, 0);
	TRY(0, "rep movsw", 1, 2, 19, 0);
	TRY(0, "rep movsl", 64, 65, 11, 0);
	TRY(0, "rep movsq", 128, 120, 40, 0);
	/* Across a page, and a page that nobody has touched yet. */
	TRY(1, "rep movsb", 4090, 4094, 20, 0);
	TRY(1, "rep movsq", 4000, 8100, 30, 0);
	TRY(2, "rep movsb", 3, 3, 0, 0);		/* nothing */
	TRY(2, "rep movsb", 3, 3, 1, 0);
	TRY(3, "std\n\trep movsb\n\tcld", 300, 500, 50, 0);
	TRY(3, "std\n\trep movsq\n\tcld", 800, 1200, 12, 0);
	TRY(3, "std\n\trep movsw\n\tcld", 8, 8, 0, 0);
	/* Overlapping by one: fills. */
	{
		struct string_state state = {
			(uint64_t)target, (uint64_t)target + 1, 60, 0
		};

		STRING("rep movsb", &state);
		note(4, &state);
	}
	/* One round at a time, without REP. */
	TRY(5, "movsb\n\tmovsw\n\tmovsl\n\tmovsq", 20, 40, 9, 0);
}

KEEP void fills(void)
{
	TRY(6, "rep stosb", 0, 600, 33, 0x5a);
	TRY(6, "rep stosw", 0, 701, 17, 0x1234);
	TRY(6, "rep stosl", 0, 803, 21, 0x89abcdef);
	TRY(6, "rep stosq", 0, 4080, 5, 0x0123456789abcdef);
	TRY(7, "rep stosq", 0, 0, 0, 77);
	TRY(7, "std\n\trep stosl\n\tcld", 0, 900, 14, 0x13579bdf);
	TRY(8, "rep lodsb", 77, 0, 13, 0);
	TRY(8, "rep lodsq", 80, 0, 3, 0);
	TRY(8, "lodsw\n\tlodsl", 80, 0, 3, 0);
}

KEEP void searches(void)
{
	target[5000] = 0;
	TRY(9, "repne scasb", 0, 4960, 100, 0);		/* found */
	TRY(9, "repne scasb", 0, 4970, 10, 0);		/* not found */
	TRY(10, "repe scasb", 0, 600, 50, 0x5a);
	TRY(10, "repe scasb", 0, 600, 20, 0x5a);
	TRY(11, "repne scasw", 0, 700, 40, 0xffff);
	TRY(11, "repne scasl", 0, 800, 40, 0x89abcdef);
	TRY(11, "repne scasq", 0, 800, 8, 0);
	TRY(12, "repne scasb", 0, 600, 0, 0);		/* nothing */
	TRY(12, "std\n\trepne scasb\n\tcld", 0, 5040, 100, 0);
}

KEEP void comparisons(void)
{
	for (unsigned i = 0; i < 64; i++)
		target[6000 + i] = source[i];
	target[6040] ^= 1;
	TRY(13, "repe cmpsb", 0, 6000, 64, 0);		/* differs at 40 */
	TRY(13, "repe cmpsb", 0, 6000, 40, 0);
	TRY(13, "repe cmpsw", 0, 6000, 30, 0);
	TRY(13, "repe cmpsl", 0, 6000, 16, 0);
	TRY(13, "repe cmpsq", 0, 6000, 8, 0);
	TRY(14, "repne cmpsb", 0, 6003, 30, 0);
	TRY(14, "repe cmpsb", 0, 6000, 0, 0);
	TRY(14, "std\n\trepe cmpsb\n\tcld", 63, 6063, 64, 0);
	TRY(15, "repe cmpsb\n\tsetz %%al\n\tsetc %%ah", 0, 6000, 64, 0);
}

/*
 * A REP instruction that is jumped to from elsewhere, that ends a block and
 * begins one, that follows itself, and that is its own loop's body.
 */
KEEP void jumps(void)
{
	TRY(16, "jmp 2f\n1:\n\tinc %%rax\n2:\n\trep movsb\n\t"
	    "mov $3, %%ecx\n\tcmp $4, %%rax\n\tjb 1b", 0, 7000, 9, 0);
	TRY(17, "rep stosb\n\tmov $5, %%ecx\n\trep stosb\n\t"
	    "mov $1, %%ecx\n\trep stosb\n\trep stosb", 0, 7100, 7, 0x41);
	TRY(18, "1:\n\trep movsb\n\tmov $2, %%ecx\n\tadd $1, %%rax\n\t"
	    "cmp $6, %%rax\n\tjne 1b", 0, 7200, 2, 0);
	/* To the REP itself: its count is zero from the second time on. */
	TRY(19, "1:\n\trep stosb\n\tdec %%rax\n\tjnz 1b", 0, 7300, 5, 6);
	TRY(20, "1:\n\trep movsb\n\trep movsb\n\tdec %%rax\n\tjnz 1b",
	    0, 7400, 5, 4);
	/* 32-bit addresses and counts. */
	TRY(21, "addr32 rep movsb\n\taddr32 rep stosl", 0, 7500, 12, 8);
	TRY(22, "mov $0x100000003, %%rcx\n\taddr32 rep movsb", 0, 7600, 0, 0);
}

/* A segment override and the prefix that means nothing here. */
KEEP void prefixes(void)
{
	TRY(23, "rep movsb %%ds:(%%rsi), %%es:(%%rdi)", 0, 7700, 4, 0);
	TRY(23, "repne movsb", 0, 7710, 4, 0);
	TRY(23, "repne stosb", 0, 7720, 4, 1);
	/* "rep ret" and "pause" only look like REP. */
	TRY(24, "call 1f\n\tjmp 2f\n1:\trep ret\n2:\tpause", 0, 0, 3, 0);
	TRY(24, "rep nop\n\trep nop", 0, 0, 0, 0);
}

int guest(void)
{
	for (unsigned i = 0; i < sizeof(source); i++)
		source[i] = (uint8_t)(i * 7 + (i >> 8));
	for (unsigned i = 0; i < 6; i++) {
		copies();
		fills();
		searches();
		comparisons();
		jumps();
		prefixes();
		/* Enough that a REP ends in the middle of anything. */
		TRY(25, "rep movsb", i, 2000, 100 + i, 0);
	}
	return (int)(sums[0] & 63);
}
