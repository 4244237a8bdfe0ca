/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * straight.c - blocks that are counted without a jump
 *
 * A block that was inlined jumps over the call of the block hook, each time it is
 * entered (inline_count.c).  That call returns there while it is inlined, so it is
 * rearranged afterwards, when the engine links blocks with each other and none of
 * them executes:
 *
 *		jmp  1f			(who does not know better enters here)
 *	2:	call [rip + d]
 *		mov  ebx, [rbp - d]; test ebx, ebx; jl exit
 *		jmp  body
 *	1:	mov  dword [rip + current], number
 *		sub  qword [rip + budget], count
 *		js   2b
 *	body:
 *
 * In a run without counting:
 *
 *		jmp  1f
 *	2:	mov  dword [rip + current], number
 *		call [rip + d]; ...
 *		jmp  body
 *	1:	cmp  dword [rip + asked], 0
 *		jne  2b
 *	body:
 *
 * Other blocks, and the table of indirect jumps, lead to 1 then.
 */
#include "vm/engine/build/straight.h"

#include <string.h>

#include "vm/engine/build/branches.h"
#include "vm/engine/build/generate.h"
#include "vm/engine/engine_internal.h"

#define SHORT_JMP 0xeb
#define SHORT_JS 0x78
#define SHORT_JNE 0x75
#define SHORT_SIZE 2u
#define UNUSED 0xcc

#define MARK_SIZE 2u
#define CALL_SIZE 6u
#define QUESTION_SIZE 11u
#define NUMBER_SIZE 10u
#define ASKED_SIZE 7u

/* Instructions that refer to something by its distance. */
#define NUMBER_DISTANCE 2u
#define BUDGET_DISTANCE 3u
#define ASKED_DISTANCE 2u
#define CALL_DISTANCE 2u
#define QUESTION_DISTANCE 7u

/* The beginning of a block, rearranged. */
struct straight {
	uint8_t *start;		/* where it will be */
	size_t size, used;
	uint8_t code[96];
};

static int32_t distance_at(const uint8_t *at)
{
	int32_t distance;

	memcpy(&distance, at, sizeof(distance));
	return distance;
}

/* Whether an instruction begins so, and refers to that. */
static bool is_insn(const uint8_t *at, const char *opcode, size_t opcode_size,
		    size_t size, const void *to)
{
	return !memcmp(at, opcode, opcode_size) &&
	       at + size + distance_at(at + opcode_size) == (const uint8_t *)to;
}

/* Appends an instruction that is at `from`. */
static void move(struct straight *to, const uint8_t *from, size_t size,
		 size_t distance)
{
	uint8_t *at = to->code + to->used;
	int32_t far = distance_at(from + distance) +
		      (int32_t)(from - (to->start + to->used));

	memcpy(at, from, size);
	memcpy(at + distance, &far, sizeof(far));
	to->used += size;
}

/* Appends a jump to so many bytes behind its beginning. */
static void jump(struct straight *to, uint8_t opcode, size_t place)
{
	to->code[to->used] = opcode;
	to->code[to->used + 1] = (uint8_t)(place - (to->used + SHORT_SIZE));
	to->used += SHORT_SIZE;
}

/* The call with its mark, and the question behind it. */
static void move_call(struct straight *to, const uint8_t *ret)
{
	memcpy(to->code + to->used, ret - CALL_SIZE - MARK_SIZE, MARK_SIZE);
	to->used += MARK_SIZE;
	move(to, ret - CALL_SIZE, CALL_SIZE, CALL_DISTANCE);
	move(to, ret, QUESTION_SIZE, QUESTION_DISTANCE);
	jump(to, SHORT_JMP, to->size);
}

/* Bytes of the instruction that lowers the budget; 0: it is another one. */
static size_t budget_size(const struct engine *engine, const uint8_t *at)
{
	const void *budget = &engine->counter->budget;

	return is_insn(at, "\x48\x83\x2d", 3, 8, budget)  ? 8 :
	       is_insn(at, "\x48\x81\x2d", 3, 11, budget) ? 11 :
							    0;
}

static bool make_counting(const struct engine *engine, struct straight *to,
			  const uint8_t *ret)
{
	const uint8_t *from = to->start, *budget = from + NUMBER_SIZE;
	size_t size = budget_size(engine, budget);
	size_t entry = to->size - NUMBER_SIZE - size - SHORT_SIZE;

	if (!is_insn(from, "\xc7\x05", 2, NUMBER_SIZE,
		     &engine->counter->current) ||
	    !size ||
	    to->size < 3 * SHORT_SIZE + MARK_SIZE + CALL_SIZE + QUESTION_SIZE +
			       NUMBER_SIZE + size)
		return false;
	jump(to, SHORT_JMP, entry);
	move_call(to, ret);
	to->used = entry;
	move(to, from, NUMBER_SIZE, NUMBER_DISTANCE);
	move(to, budget, size, BUDGET_DISTANCE);
	jump(to, SHORT_JS, SHORT_SIZE);
	return true;
}

static bool make_asking(const struct engine *engine, struct straight *to,
			const uint8_t *ret)
{
	const uint8_t *from = to->start;
	const uint8_t *number = from + ASKED_SIZE + SHORT_SIZE;
	size_t entry = to->size - ASKED_SIZE - SHORT_SIZE;

	if (!is_insn(from, "\x83\x3d", 2, ASKED_SIZE,
		     (const void *)&engine->counter->asked) ||
	    !is_insn(number, "\xc7\x05", 2, NUMBER_SIZE,
		     &engine->counter->current) ||
	    to->size < 3 * SHORT_SIZE + MARK_SIZE + CALL_SIZE + QUESTION_SIZE +
			       NUMBER_SIZE + ASKED_SIZE)
		return false;
	jump(to, SHORT_JMP, entry);
	move(to, number, NUMBER_SIZE, NUMBER_DISTANCE);
	move_call(to, ret);
	to->used = entry;
	move(to, from, ASKED_SIZE, ASKED_DISTANCE);
	jump(to, SHORT_JNE, SHORT_SIZE);
	return true;
}

/* What is there may be something else by now. */
static bool rearrange(const struct engine *engine, uint8_t *start, uint8_t *ret)
{
	uint8_t *body = inline_body(ret);
	struct straight to = { .start = start, .size = (size_t)(body - start) };
	enum inlined state = inline_state(ret);

	if (body != ret + QUESTION_SIZE || to.size > sizeof(to.code))
		return false;
	memset(to.code, UNUSED, sizeof(to.code));
	if (!(state == INLINED_COUNT && make_counting(engine, &to, ret)) &&
	    !(state == INLINED_PLAIN && make_asking(engine, &to, ret)))
		return false;
	memcpy(start, to.code, to.size);
	return true;
}

void straight_note(struct engine *engine, uint8_t *start, uint8_t *ret)
{
	unsigned *count = &engine->branches.waiting_count;

	if (!engine->branches.are_direct || *count == ENGINE_WAITING)
		return;
	engine->branches.waiting[*count].start = start;
	engine->branches.waiting[(*count)++].ret = ret;
}

void straight_settle(struct engine *engine)
{
	const struct generator *by = engine->kind->generator;

	while (engine->branches.waiting_count) {
		unsigned i = --engine->branches.waiting_count;
		uint8_t *start = engine->branches.waiting[i].start;
		uint8_t *ret = engine->branches.waiting[i].ret;
		void *block = by->find_block(engine->branches.context,
					     (uintptr_t)start);

		if (!block || branches_start(engine, block) != start ||
		    !rearrange(engine, start, ret))
			continue;
		engine->branches.straight++;
		branches_lead(engine, block, start);
	}
}

uint64_t engine_straight(const struct engine *engine)
{
	return engine->branches.straight;
}

const uint8_t *straight_entry(const uint8_t *start)
{
	return *start == SHORT_JMP ? start + SHORT_SIZE + (int8_t)start[1] :
				     start;
}
