/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * branches.c - conditional jumps that lead to the next block at once
 *
 * Where a block ends with a conditional jump, the engine generates
 *
 *		jcc 1f; jmp FIRST; ...; 1: jmp SECOND; ...
 *
 * and links blocks by changing where the two jumps lead.  The conditional one
 * is changed along with the second here: each loop has a jump less.
 *
 * Where it is, the last bytes in front of the first jump say, and the operations
 * of which they were made.  The engine notes of each jump how far from the
 * beginning of the translation its displacement is; the upper half of that number
 * becomes the same of the conditional jump.
 *
 * Source: Intel 64 SDM volume 2, Jcc, JMP, NOP.
 */
#include "vm/engine/build/branches.h"

#include <string.h>

#include "vm/engine/build/generate.h"
#include "vm/engine/build/operations.h"
#include "vm/engine/build/replaces.h"
#include "vm/engine/build/straight.h"
#include "vm/engine/engine_internal.h"

#define JMP 0xe9
#define ESCAPE 0x0f
#define JCC 0x80		/* the second byte, but for the condition */
#define CONDITIONS 0x0f
#define JCC_SIZE 6
#define NOP 0x90
#define NOP_PREFIX 0x66
#define NOP_MOST 3		/* so that a displacement is aligned */

#define UPPER 32

/* Of a block: where it was translated to, where its jumps are, and the jumps that
 * lead to it (TranslationBlock). */
struct block_jumps {
	uint8_t *translation;
	uint64_t others[7];
	uint64_t displacements[2];
	uintptr_t incoming;	/* a block and, lowest, which of its jumps */
	uintptr_t next[2];	/* of each jump: the next one to the same */
};
#define WHICH 1u

static struct block_jumps *jumps_of(bool is_narrow, void *block)
{
	return (struct block_jumps *)((uint8_t *)block +
				      (is_narrow ? 24 : 32));
}

static int32_t displacement(const uint8_t *at)
{
	int32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static void lead(uint8_t *at, const uint8_t *to)
{
	int32_t value = (int32_t)(to - (at + sizeof(value)));

	memcpy(at, &value, sizeof(value));
}

/* Whether so many bytes are one NOP, or none. */
static bool is_nop(const uint8_t *at, size_t size)
{
	for (size_t i = 0; i + 1 < size; i++)
		if (at[i] != NOP_PREFIX)
			return false;
	return !size || at[size - 1] == NOP;
}

/* The place of its displacement; NULL: it is not one, or leads elsewhere. */
static uint8_t *find_jcc(uint8_t *end, const uint8_t *second)
{
	uint8_t *at = end - sizeof(int32_t);
	const uint8_t *to = end + displacement(at);

	if (at[-2] != ESCAPE || (at[-1] & ~CONDITIONS) != JCC || to > second ||
	    second - to > NOP_MOST || !is_nop(to, (size_t)(second - to)))
		return NULL;
	return at;
}

/* Whether a conditional jump was made right in front of the first way on. */
static bool is_conditional(const struct engine *engine)
{
	const struct made_op *const *on = engine->branches.on;
	const struct made_op *in_front;

	if (engine->branches.count != 2 || on[0]->operands[0] ||
	    on[1]->operands[0] != 1)
		return false;
	in_front = made_op_in_front(on[0]);
	return (uint8_t)in_front->head == OP_JUMP_IF_32 ||
	       (uint8_t)in_front->head == OP_JUMP_IF_64;
}

void branches_begin(struct engine *engine, void *context, void *block)
{
	struct block_jumps *jumps = jumps_of(engine->kind->is_narrow, block);

	engine->branches.context = context;
	jumps->displacements[0] = jumps->displacements[1] = 0;
}

/* A jump that nothing leads to is left out by the engine. */
void branches_find(struct engine *engine, void *block)
{
	struct block_jumps *jumps = jumps_of(engine->kind->is_narrow, block);
	uint8_t *first, *second, *jcc = NULL;

	if (!engine->branches.are_direct || !jumps->displacements[0] ||
	    !jumps->displacements[1] || !is_conditional(engine))
		return;
	first = jumps->translation + jumps->displacements[0] - 1;
	second = jumps->translation + jumps->displacements[1] - 1;
	if (*first != JMP || *second != JMP)
		return;
	for (size_t gap = 0; gap <= NOP_MOST && !jcc; gap++)
		if (is_nop(first - gap, gap) &&
		    first - gap >= jumps->translation + JCC_SIZE)
			jcc = find_jcc(first - gap, second);
	if (!jcc)
		return;
	engine->branches.found++;
	jumps->displacements[1] |= (uint64_t)(jcc - jumps->translation)
				   << UPPER;
}

uint64_t engine_branches(const struct engine *engine)
{
	return engine->branches.found;
}

/* ------- what the engine calls ------- */

/* One of a block's jumps shall lead there. */
typedef void link_fn(void *block, int which, uintptr_t to);

static void link_block(const struct block_jumps *jumps, unsigned which,
		       const uint8_t *to)
{
	uint64_t place = jumps->displacements[which];
	uint8_t *jump = jumps->translation + (uint32_t)place;

	lead(jump, to);
	if (place >> UPPER)
		lead(jumps->translation + (place >> UPPER), to);
}

/* Behind itself, a jump leads where it is not linked with a block. */
static void link_with(const struct block_jumps *jumps, unsigned which,
		      const uint8_t *to)
{
	const uint8_t *jump =
		jumps->translation + (uint32_t)jumps->displacements[which];

	if (to != jump + sizeof(int32_t)) {
		if (engine_entered)
			straight_settle(engine_entered);
		to = straight_entry(to);
	}
	link_block(jumps, which, to);
}

const uint8_t *branches_start(const struct engine *engine, void *block)
{
	return jumps_of(engine->kind->is_narrow, block)->translation;
}

void branches_lead(struct engine *engine, void *block, const uint8_t *start)
{
	const bool is_narrow = engine->kind->is_narrow;
	const uint8_t *entry = straight_entry(start);
	uintptr_t from = jumps_of(is_narrow, block)->incoming;
	guest_addr pc = 0;

	while (from) {
		unsigned which = from & WHICH;
		struct block_jumps *jumps =
			jumps_of(is_narrow, (void *)(from - which));

		link_block(jumps, which, entry);
		from = jumps->next[which];
	}
	memcpy(&pc, block, is_narrow ? sizeof(uint32_t) : sizeof(pc));
	jumps_move(&engine->jumps, pc, start, entry);
}

#define LINKS(name, is_narrow)                                                 \
	REPLACES(link_fn, name);                                               \
	void name(void *block, int which, uintptr_t to)                        \
	{                                                                      \
		link_with(jumps_of(is_narrow, block), (unsigned)which,         \
			  (const uint8_t *)to);                                \
	}

LINKS(tb_set_jmp_target_x86_64, false)
LINKS(tb_set_jmp_target_aarch64, false)
LINKS(tb_set_jmp_target_arm, true)
