/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inline_count.c - counting inside translated code
 *
 * The engine's translation of a block begins with a call of the block hook:
 *
 *	mov  rdi, engine	48 bf imm64
 *	mov  esi, pc		be imm32, or 48 be imm64, or lea rsi, [rip + d]
 *	mov  edx, size		ba imm32
 *	mov  rcx, user		48 b9 imm64
 *	call [rip + d]		ff 15 d32		<- returns to `ret`
 *
 * and behind it the engine asks whether it was told to stop:
 *
 *	mov  ebx, [rbp - d]	8b 5d d8
 *	test ebx, ebx		85 db
 *	jl   exit		0f 8c d32
 *
 * Every operand is compared with what the hook was just given, so nothing
 * else can be mistaken for it; where the form differs (another host, another
 * version of the engine) the call simply stays.  What replaces the arguments:
 *
 *	mov  dword [rip + current], number
 *	sub  qword [rip + budget], count
 *	jns  body		(behind the engine's question)
 *	jmp  call		(the call itself stays, without arguments)
 *
 * and straight.c later rearranges that so that nothing is jumped over.
 *
 * The engine's question need not be asked as well: it is told to stop by
 * calls_on_block(), which returns to it, and by exceptions, which leave the
 * translation.  Where it has another form it stays.
 *
 * A block that is one REP instruction is entered again for each iteration
 * but counts once.  It gets
 *
 *	cmp  dword [rip + current], number
 *	je   ret		(goes on with its own instruction)
 *	jmp  call
 *
 * and if it logs its accesses, inline_logging_rep().
 *
 * In a run without counting, all that is left is
 *
 *	cmp  dword [rip + asked], 0
 *	je   body
 *	mov  dword [rip + current], number
 *	jmp  call
 *
 * The two bytes before the call say what was done: in the original they are
 * the highest of HOOK_USER, 0.
 */
#include "vm/engine/build/straight.h"
#include "vm/engine/engine_internal.h"

#include <string.h>
#include <sys/mman.h>

#define MARK_COUNT 0x9090
#define MARK_REP 0x9066
#define MARK_PLAIN 0xc089

enum inlined inline_state(const uint8_t *ret)
{
	uint16_t mark;

	memcpy(&mark, ret - 8, sizeof(mark));
	if (ret[-6] != 0xff || ret[-5] != 0x15)
		return INLINED_NOT;
	if (mark == MARK_COUNT)
		return INLINED_COUNT;
	if (mark == MARK_PLAIN)
		return INLINED_PLAIN;
	return mark == MARK_REP ? INLINED_REP : INLINED_NOT;
}

uint32_t inline_rep_number(const uint8_t *ret)
{
	uint32_t number;

	memcpy(&number, ret - 12, sizeof(number));
	return number;
}

static bool is_imm64(const uint8_t *at, uint8_t opcode, uint64_t value)
{
	return at[0] == 0x48 && at[1] == opcode && !memcmp(at + 2, &value, 8);
}

static bool is_imm32(const uint8_t *at, uint8_t opcode, uint64_t value)
{
	return at[0] == opcode && !(value >> 32) && !memcmp(at + 1, &value, 4);
}

/* lea reg, [rip + d32]; `modrm` names the register. */
static bool is_lea(const uint8_t *at, uint8_t modrm, uint64_t value)
{
	int32_t distance;

	memcpy(&distance, at + 3, sizeof(distance));
	return at[0] == 0x48 && at[1] == 0x8d && at[2] == modrm &&
	       (uint64_t)(uintptr_t)(at + 7) + (uint64_t)(int64_t)distance ==
		       value;
}

/* Where the argument that ends at `end` begins; NULL if it is another one. */
static uint8_t *argument(uint8_t *end, uint8_t opcode32, uint8_t opcode64,
			 uint8_t lea, uint64_t value)
{
	if (is_imm64(end - 10, opcode64, value))
		return end - 10;
	if (is_imm32(end - 5, opcode32, value))
		return end - 5;
	if (is_lea(end - 7, lea, value))
		return end - 7;
	return NULL;
}

uint8_t *inline_arguments(const struct engine *engine, uint8_t *ret,
			  guest_addr pc,			  uint32_t size)
{
	uint8_t *at = ret - 6;

	if (at[0] != 0xff || at[1] != 0x15)
		return NULL;
	if (!is_imm64(at - 10, 0xb9, (uintptr_t)HOOK_USER))
		return NULL;
	at -= 10;
	if (!is_imm32(at - 5, 0xba, size))
		return NULL;
	at = argument(at - 5, 0xbe, 0xbe, 0x35, pc);
	if (!at)
		return NULL;
	return argument(at, 0xbf, 0xbf, 0x3d, (uintptr_t)engine->uc);
}

/* The engine reserves 1 GiB for code in one piece: half of 2 GiB are left. */
void inline_begin(struct engine *engine, const void *code)
{
	uint64_t page = (uintptr_t)code & ~(uint64_t)(GUEST_PAGE - 1);
	struct counter *counter = engine->counter;

	if (engine->code_base || !engine->may_inline)
		return;
	for (uint64_t d = 1 << 20; d < UINT64_C(900) << 20; d += 1 << 20) {
		void *want = (void *)(uintptr_t)(page - d);
		void *at = mmap(want, GUEST_PAGE, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS |
					MAP_FIXED_NOREPLACE,
				-1, 0);

		if (at == MAP_FAILED)
			continue;
		if (at != want) {
			munmap(at, GUEST_PAGE);
			continue;
		}
		*(struct counter *)at = (struct counter){
			.budget = counter->budget, .current = counter->current,
			.part = counter->part, .log = counter->log,
		};
		engine->counter = at;
		/*
		 * A signal may have come before: its word was for the old one.
		 */
		if (counter->asked) {
			engine->counter->asked = 1;
			engine->counter->budget = counter->budget;
		}
		engine->code_base = (uintptr_t)at;
		return;
	}
	engine->may_inline = false;
}

/* Appends an instruction with a 32-bit distance to `target` in the middle. */
static uint8_t *emit(uint8_t *at, const char *opcode, size_t opcode_size,
		     const void *target, const void *imm, size_t imm_size)
{
	int64_t distance;
	int32_t short_distance;

	memcpy(at, opcode, opcode_size);
	at += opcode_size;
	distance = (const uint8_t *)target - (at + 4 + imm_size);
	short_distance = (int32_t)distance;
	memcpy(at, &short_distance, 4);
	memcpy(at + 4, imm, imm_size);
	return at + 4 + imm_size;
}

static uint8_t *emit_jump(uint8_t *at, uint8_t opcode, const uint8_t *target)
{
	at[0] = opcode;
	at[1] = (uint8_t)(target - (at + 2));
	return at + 2;
}

static bool reaches(const struct engine *engine, const uint8_t *code)
{
	int64_t distance = (const uint8_t *)engine->counter - code;

	return -INT64_C(0x7ff00000) < distance && distance < 0x7ff00000;
}

uint8_t *inline_body(uint8_t *ret)
{
	bool asks = ret[0] == 0x8b && ret[1] == 0x5d && ret[3] == 0x85 &&
		    ret[4] == 0xdb && ret[5] == 0x0f && ret[6] == 0x8c;

	return asks ? ret + 11 : ret;
}

static size_t write_count(struct engine *engine, uint8_t *code, uint8_t *start,
			  uint8_t *ret, uint32_t number, uint32_t count)
{
	uint8_t small = (uint8_t)count;
	/* `code` will be copied to `start`: targets move the other way. */
	ptrdiff_t shift = code - start;
	uint8_t *at = code;

	at = emit(at, "\xc7\x05", 2,
		  (uint8_t *)&engine->counter->current + shift, &number, 4);
	if (count < 128)
		at = emit(at, "\x48\x83\x2d", 3,
			  (uint8_t *)&engine->counter->budget + shift, &small,
			  1);
	else
		at = emit(at, "\x48\x81\x2d", 3,
			  (uint8_t *)&engine->counter->budget + shift, &count,
			  4);
	at = emit_jump(at, 0x79, inline_body(ret) + shift);	/* jns */
	at = emit_jump(at, 0xeb, ret - 6 + shift);	/* jmp */
	return (size_t)(at - code);
}

static size_t write_rep(struct engine *engine, uint8_t *code, uint8_t *start,
			uint8_t *ret, uint32_t number)
{
	ptrdiff_t shift = code - start;
	uint8_t *at = code;

	at = emit(at, "\x81\x3d", 2,
		  (uint8_t *)&engine->counter->current + shift, &number, 4);
	at = emit_jump(at, 0x74, ret + shift);		/* je */
	at = emit_jump(at, 0xeb, ret - 6 + shift);	/* jmp */
	return (size_t)(at - code);
}

static size_t write_plain(struct engine *engine, uint8_t *code, uint8_t *start,
			  uint8_t *ret, uint32_t number)
{
	ptrdiff_t shift = code - start;
	uint8_t *at = code;

	at = emit(at, "\x83\x3d", 2, (uint8_t *)&engine->counter->asked + shift,
		  "", 1);
	at = emit_jump(at, 0x74, inline_body(ret) + shift);	/* je */
	at = emit(at, "\xc7\x05", 2,
		  (uint8_t *)&engine->counter->current + shift, &number, 4);
	at = emit_jump(at, 0xeb, ret - 6 + shift);	/* jmp */
	return (size_t)(at - code);
}

/* In front of `ret`: how it was inlined, and of a repeated instruction, which. */
static void put_mark(uint8_t *ret, uint16_t mark, uint32_t number)
{
	if (mark == MARK_REP)
		memcpy(ret - 12, &number, sizeof(number));
	memcpy(ret - 8, &mark, sizeof(mark));
}

void inline_count(struct engine *engine, uint8_t *ret, uint32_t number,
		  const struct engine_block *block)
{
	bool rep = block->starts_rep && !engine->uncounted;
	uint16_t mark = engine->uncounted ? MARK_PLAIN :
			rep ? MARK_REP : MARK_COUNT;
	uint8_t *start, code[40];
	size_t size;

	if (!engine->may_inline)
		return;
	start = inline_arguments(engine, ret, block->pc, block->size);
	if (!start || !reaches(engine, start))
		return;
	engine->has_inlined = true;
	if (block->demands || block->part) {
		if (inline_check(engine, start, ret, inline_body(ret), number,
				 block))
			put_mark(ret, mark, number);
		return;
	}
	if (rep && engine->logged.kinds) {
		if (start + 5 <= ret - 12 &&
		    inline_logging_rep(engine, start, ret, number))
			put_mark(ret, mark, number);
		return;
	}
	if (engine->uncounted)
		size = write_plain(engine, code, start, ret, number);
	else if (rep)
		size = write_rep(engine, code, start, ret, number);
	else
		size = write_count(engine, code, start, ret, number,
				   block->count);
	if (size > (size_t)(ret - 12 - start) && rep)
		return;
	if (size > (size_t)(ret - 8 - start))
		return;
	memcpy(start, code, size);
	put_mark(ret, mark, number);
	if (!rep)
		straight_note(engine, start, ret);
}
