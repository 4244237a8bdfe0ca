/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inline_align.c - checking alignment, and where it came from, inside
 * translated code
 *
 * Where a block begins there is room for counting (inline_count.c), not for
 * more.  A block with demands (align.c) jumps from there to code of ours
 * within reach, which counts, checks, and jumps back; or to the call of
 * calls_on_block() if the budget is used up or a demand is not met.  So does a
 * block of a part of the code: before it counts, while the block before is
 * still the present one, it calls if that was of another part.
 */
#include "vm/engine/engine_internal.h"

#include <string.h>
#include <sys/mman.h>

#define CHECKS_ROOM (32u << 20)
#define CHECK_MOST 256u		/* bytes, for DEMANDS_OF_BLOCK demands */
#define STEP (1u << 20)
#define STEPS 256u

/* Near the counter, which is near translated code. */
static bool find_room(struct engine *engine)
{
	uint64_t below = (uintptr_t)engine->counter - CHECKS_ROOM;

	if (engine->checks.start)
		return true;
	for (unsigned i = 0; i < STEPS && !engine->checks.refused; i++) {
		void *want = (void *)(uintptr_t)(below - (uint64_t)i * STEP);
		void *at = mmap(want, CHECKS_ROOM,
				PROT_READ | PROT_WRITE | PROT_EXEC,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
					MAP_FIXED_NOREPLACE,
				-1, 0);

		if (at == want) {
			engine->checks.start = at;
			return true;
		}
		if (at != MAP_FAILED)
			munmap(at, CHECKS_ROOM);
	}
	engine->checks.refused = true;
	return false;
}

static uint8_t *emit(uint8_t *at, const char *bytes, size_t size)
{
	memcpy(at, bytes, size);
	return at + size;
}

static uint8_t *emit_value(uint8_t *at, const void *value, size_t size)
{
	memcpy(at, value, size);
	return at + size;
}

/* A distance of 32 bits, behind which `behind` more bytes follow. */
static uint8_t *emit_distance(uint8_t *at, const void *target, size_t behind)
{
	int32_t distance =
		(int32_t)((const uint8_t *)target - (at + 4 + behind));

	return emit_value(at, &distance, sizeof(distance));
}

/* lea/jump away if (register + index << shift + offset) % 16; rdx: state */
static uint8_t *emit_demand(uint8_t *at, const struct demand *demand,
			    const uint8_t *away)
{
	uint8_t place;

	at = emit(at, "\xb8", 1);			/* mov eax, offset */
	at = emit(at, (const char[]){ (char)demand->offset, 0, 0, 0 }, 4);
	if (demand->base != DEMAND_NONE) {
		place = (uint8_t)(8 * demand->base);
		at = emit(at, "\x03\x82", 2);		/* add eax, [rdx + d] */
		at = emit(at, (const char[]){ (char)place, 0, 0, 0 }, 4);
	}
	if (demand->index != DEMAND_NONE) {
		place = (uint8_t)(8 * demand->index);
		at = emit(at, "\x8b\x8a", 2);		/* mov ecx, [rdx + d] */
		at = emit(at, (const char[]){ (char)place, 0, 0, 0 }, 4);
		at = emit(at, "\xc1\xe1", 2);		/* shl ecx, shift */
		at = emit_value(at, &demand->shift, 1);
		at = emit(at, "\x01\xc8", 2);		/* add eax, ecx */
	}
	at = emit(at, "\xa8\x0f\x0f\x85", 4);		/* test al, 15; jnz */
	return emit_distance(at, away, 0);
}

static uint8_t *emit_state(struct engine *engine, uint8_t *at)
{
	at = emit(at, "\x48\xba", 2);			/* mov rdx, state */
	return emit_value(at, &engine->state, sizeof(engine->state));
}

static uint8_t *emit_number(struct engine *engine, uint8_t *at, uint32_t number)
{
	at = emit(at, "\xc7\x05", 2); /* mov dword [current], number */
	at = emit_distance(at, &engine->counter->current, sizeof(number));
	return emit_value(at, &number, sizeof(number));
}

static uint8_t *emit_count(struct engine *engine, uint8_t *at, uint32_t number,
			   uint32_t count, const uint8_t *away)
{
	at = emit_number(engine, at, number);
	at = emit(at, "\x48\x81\x2d", 3); /* sub [budget], count */
	at = emit_distance(at, &engine->counter->budget, sizeof(count));
	at = emit_value(at, &count, sizeof(count));
	at = emit(at, "\x0f\x88", 2);			/* js */
	return emit_distance(at, away, 0);
}

/* Unless the code before was of the same part; `*at` is where to begin. */
static uint8_t *emit_part(struct engine *engine, uint8_t **at, uint32_t number,
			  uint8_t part, const uint8_t *call)
{
	const uint8_t *away = *at;
	uint8_t *next = emit(*at, "\xc7\x05", 2); /* mov [crossing], number */

	next = emit_distance(next, &engine->counter->crossing, sizeof(number));
	next = emit_value(next, &number, sizeof(number));
	next = emit(next, "\xe9", 1);			/* jmp */
	next = emit_distance(next, call, 0);
	*at = next;
	next = emit(next, "\x83\x3d", 2);		/* cmp [part], part */
	next = emit_distance(next, &engine->counter->part, sizeof(part));
	next = emit_value(next, &part, sizeof(part));
	next = emit(next, "\x0f\x85", 2);		/* jne */
	return emit_distance(next, away, 0);
}

/* Without counting, the block's number is stored when it is needed. */
static uint8_t *emit_asked(struct engine *engine, uint8_t *at,
			   const uint8_t *away)
{
	at = emit(at, "\x83\x3d", 2);			/* cmp [asked], 0 */
	at = emit_distance(at, (const void *)&engine->counter->asked, 1);
	at = emit(at, "\x00\x0f\x85", 3);		/* jne */
	return emit_distance(at, away, 0);
}

static bool is_near(const uint8_t *a, const uint8_t *b)
{
	return -INT64_C(0x7ff00000) < a - b && a - b < 0x7ff00000;
}

/* Where the next check goes, for a block that a call returned to; NULL: there
 * is no room near enough. */
static uint8_t *begin_check(struct engine *engine, const uint8_t *ret)
{
	if (!find_room(engine) || !is_near(engine->checks.start, ret) ||
	    engine->checks.used + CHECK_MOST > CHECKS_ROOM)
		return NULL;
	return engine->checks.start + engine->checks.used;
}

/* It ends there; the block begins with a jump to it. */
static void end_check(struct engine *engine, const uint8_t *end,
		      uint8_t *start, const uint8_t *check)
{
	engine->checks.used = (size_t)(end - engine->checks.start);
	*start++ = 0xe9;
	emit_distance(start, check, 0);
}

bool inline_check(struct engine *engine, uint8_t *start, const uint8_t *ret,
		  const uint8_t *body, uint32_t number,
		  const struct engine_block *block)
{
	const uint8_t *call = ret - 6, *away = call;
	uint8_t *check = begin_check(engine, ret), *at = check;

	if (!check)
		return false;
	if (engine->uncounted) {
		away = at;
		at = emit_number(engine, at, number);
		at = emit(at, "\xe9", 1);
		at = emit_distance(at, call, 0);
		check = at;
		at = emit_asked(engine, at, away);
	} else {
		if (block->part)
			at = emit_part(engine, &check, number, block->part,
				       call);
		at = emit_count(engine, at, number, block->count, away);
	}
	if (block->demands)
		at = emit_state(engine, at);
	for (unsigned i = 0; i < block->demands; i++)
		at = emit_demand(at, &engine->demands[block->first_demand + i],
				 away);
	at = emit(at, "\xe9", 1);
	at = emit_distance(at, body, 0);
	end_check(engine, at, start, check);
	return true;
}

bool inline_logging_rep(struct engine *engine, uint8_t *start,
			const uint8_t *ret, uint32_t number)
{
	const uint8_t *call = ret - 6;
	const uint32_t full = LOG_FULL_BITS;
	uint8_t *check = begin_check(engine, ret), *at = check;

	if (!check)
		return false;
	at = emit(at, "\x81\x3d", 2);		/* cmp [current], number */
	at = emit_distance(at, &engine->counter->current, sizeof(number));
	at = emit_value(at, &number, sizeof(number));
	at = emit(at, "\x0f\x85", 2);			/* jne */
	at = emit_distance(at, call, 0);
	at = emit(at, "\x48\x8b\x05", 3);		/* mov rax, [next] */
	at = emit_distance(at, &engine->counter->log.next, 0);
	at = emit(at, "\x48\x89\x05", 3);		/* mov [mark], rax */
	at = emit_distance(at, &engine->counter->log.mark, 0);
	at = emit(at, "\xa9", 1);			/* test eax, full */
	at = emit_value(at, &full, sizeof(full));
	at = emit(at, "\x0f\x84", 2);			/* je */
	at = emit_distance(at, ret, 0);
	at = emit(at, "\xe9", 1);			/* jmp */
	at = emit_distance(at, call, 0);
	end_check(engine, at, start, check);
	return true;
}

/* The call of the hook with its arguments, which the jump has overwritten. */
static uint8_t *emit_call(struct engine *engine, uint8_t *at, guest_addr pc,
			  uint32_t size, const uint8_t *call)
{
	const void *user = HOOK_USER;

	at = emit(at, "\x48\xbf", 2);			/* mov rdi, engine */
	at = emit_value(at, &engine->uc, sizeof(engine->uc));
	at = emit(at, "\x48\xbe", 2);			/* mov rsi, pc */
	at = emit_value(at, &pc, sizeof(pc));
	at = emit(at, "\xba", 1);			/* mov edx, size */
	at = emit_value(at, &size, sizeof(size));
	at = emit(at, "\x48\xb9", 2);			/* mov rcx, user */
	at = emit_value(at, &user, sizeof(user));
	at = emit(at, "\xe9", 1);
	return emit_distance(at, call, 0);
}

void engine_leave_out(struct engine *engine, const struct engine_call *call,
		      const struct demand *operand)
{
	uint8_t *start, *at, *away, *check, *ret = call->ret;

	if (call->stays || !engine->may_inline || !engine->code_base ||
	    !find_room(engine) ||
	    !is_near(engine->checks.start, ret) ||
	    engine->checks.used + CHECK_MOST > CHECKS_ROOM)
		return;
	start = inline_arguments(engine, ret, call->pc, call->size);
	if (!start)
		return;
	away = engine->checks.start + engine->checks.used;
	check = emit_call(engine, away, call->pc, call->size, ret - 6);
	at = check;
	if (operand)
		at = emit_demand(emit_state(engine, at), operand, away);
	at = emit(at, "\xe9", 1);
	at = emit_distance(at, inline_body(ret), 0);
	engine->checks.used = (size_t)(at - engine->checks.start);
	*start++ = 0xe9;
	emit_distance(start, check, 0);
}

void inline_release(struct engine *engine)
{
	if (engine->checks.start)
		munmap(engine->checks.start, CHECKS_ROOM);
}
