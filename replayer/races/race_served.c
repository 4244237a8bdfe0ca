/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * race_served.c - whom the C library's code works for, to race_replay.h
 *
 * Sources:  System V ABI, AMD64 supplement, 3.2.3 (arguments); glibc's
 *           struct _IO_FILE, which is part of its binary interface.
 */
#include <string.h>

#include "formats/symbols.h"
#include "replayer/races/race_internal.h"

/* Where the parts of a stream are, and how long they are at most. */
#define FILE_SIZE 224u		/* with the pointer to its functions */
#define FILE_BUFFER 56u		/* begin and end */
#define FILE_LOCK 136u
#define FILE_LOCK_SIZE 16u
#define FILE_WIDE 160u
#define FILE_WIDE_SIZE 352u

/* ------- calls ------- */

/* The word on top of the stack, 0 if it cannot be seen. */
static uint64_t top_of_stack(struct race_replay *replay)
{
	uint64_t word = 0;

	race_peek(replay, race_reg(replay, race_regs(replay)->sp), &word,
		  sizeof(word));
	return word;
}

/* `ret`, with or without a prefix, with or without a number. */
static bool is_return(struct race_replay *replay, uint64_t pc)
{
	uint8_t code[2] = { 0 };

	if (!race_peek(replay, pc, &code[0], 1))
		return false;
	if (code[0] == 0xf3 && !race_peek(replay, pc + 1, &code[0], 1))
		return false;
	return code[0] == 0xc3 || code[0] == 0xc2;
}

/* Whether the program's last instruction jumped here, and knows better than
 * the stack who has called; not if it was a stub for calls. */
static bool is_tail_call(struct race_replay *replay, uint64_t place)
{
	uint8_t code = 0;

	return place && race_peek(replay, place, &code, 1) &&
	       (code == 0xe9 || code == 0xeb);
}

/*
 * Where a stub leads to that jumps through a pointer, as those do that choose
 * memcpy() and the like in a program that is one file; else `pc`.
 */
static uint64_t behind_stub(struct race_replay *replay, uint64_t pc)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	uint8_t code[11] = { 0 };
	uint64_t target;
	unsigned at = 0;
	int32_t offset;

	if (!race_peek(replay, pc, code, sizeof(code)))
		return pc;
	if (!memcmp(code, endbr64, sizeof(endbr64)))
		at += sizeof(endbr64);
	at += code[at] == 0xf2;		/* bnd */
	if (code[at] != 0xff || code[at + 1] != 0x25)
		return pc;
	memcpy(&offset, code + at + 2, sizeof(offset));
	if (!race_peek(replay, pc + at + 6 + (uint64_t)(int64_t)offset,
		       &target, sizeof(target)))
		return pc;
	return target;
}

static uint64_t stream_of(struct race_replay *replay,
			  const struct race_served_call *call)
{
	const struct race_roles *roles = &replay->roles;
	unsigned stream = call->service.stream;
	uint64_t variable = stream == SERVICE_STDOUT ? roles->stdout_at :
						       roles->stdin_at;
	uint64_t addr = 0;

	if (call->service.kind != SERVICE_STREAM)
		return 0;
	if (stream < SERVED_ARGS)
		return call->args[stream];
	race_peek(replay, variable, &addr, sizeof(addr));
	return addr;
}

/* Calls below which the stack is now have returned, or were left by a jump. */
static void drop_ended(struct race_served *served, uint64_t sp)
{
	while (served->depth && served->calls[served->depth - 1].sp < sp)
		served->depth--;
}

static void add_call(struct race_replay *replay, uint64_t pc, uint64_t place,
		     enum race_home home)
{
	const uint8_t *regs = race_regs(replay)->args;
	struct race_served *served = &race_present(replay)->served;
	struct race_served_call call = {
		.sp = race_reg(replay, race_regs(replay)->sp),
		.place = place,
	};

	if (replay->roles.program)
		pc = behind_stub(replay, pc);
	if (home == HOME_C_LIBRARY)
		call.service = race_roles_service(&replay->roles, pc);
	if (call.service.kind != SERVICE_NONE)
		for (unsigned i = 0; i < SERVED_ARGS; i++)
			call.args[i] = race_reg(replay, regs[i]);
	call.stream = stream_of(replay, &call);
	drop_ended(served, call.sp + 1);	/* also one from the same place */
	if (served->depth == SERVED_CALLS)	/* the first is forgotten */
		memmove(served->calls, served->calls + 1,
			--served->depth * sizeof(call));
	served->calls[served->depth++] = call;
}

void race_served_end(struct race_replay *replay)
{
	drop_ended(&race_present(replay)->served,
		   race_reg(replay, race_regs(replay)->sp));
}

void race_served_enter(struct race_replay *replay, uint64_t pc,
		       enum race_home home)
{
	struct race_thread *thread = race_present(replay);
	const struct race_served *served = &thread->served;
	enum race_home caller;
	uint64_t back;

	if (thread->home == HOME_PROGRAM && thread->place &&
	    is_return(replay, thread->place)) {
		race_served_end(replay);
		if (served->depth)
			thread->place = served->calls[served->depth - 1].place;
		return;
	}
	back = top_of_stack(replay);
	caller = back ? race_home_of(&replay->homes, back) : HOME_UNKNOWN;
	if (!race_home_is_program(caller))
		return;
	if (caller == HOME_PROGRAM && !is_tail_call(replay, thread->place))
		thread->place = back - 1;
	add_call(replay, pc, thread->place, home);
}

/* ------- whose memory ------- */

static bool is_within(uint64_t addr, uint64_t start, uint64_t size)
{
	return addr - start < size;
}

/* Whether a stream's lock, not the program, orders who accesses this. */
static bool is_of_stream(struct race_replay *replay, uint64_t stream,
			 uint64_t addr)
{
	uint64_t buffer[2] = { 0 }, lock = 0, wide = 0;

	race_peek(replay, stream + FILE_BUFFER, &buffer[0], sizeof(buffer[0]));
	race_peek(replay, stream + FILE_BUFFER + 8, &buffer[1],
		  sizeof(buffer[1]));
	race_peek(replay, stream + FILE_LOCK, &lock, sizeof(lock));
	race_peek(replay, stream + FILE_WIDE, &wide, sizeof(wide));
	return is_within(addr, stream, FILE_SIZE) ||
	       is_within(addr, buffer[0], buffer[1] - buffer[0]) ||
	       is_within(addr, lock, FILE_LOCK_SIZE) ||
	       is_within(addr, wide, FILE_WIDE_SIZE);
}

/*
 * Whether it is a variable of the library's own.  In a program that is one
 * file, variables are the caller's that arguments lead to.
 */
static bool is_static(const struct race_roles *roles,
		      const struct race_served_call *call, uint64_t addr)
{
	const struct symbol *variable;
	uint64_t start;

	if (!is_within(addr, roles->library.start,
		       roles->library.end - roles->library.start))
		return false;
	if (!roles->program)
		return true;
	start = roles->library.start - roles->program->link_base;
	variable = symbols_at(roles->program, addr - start);
	for (unsigned i = 0; i < SERVED_ARGS && variable; i++)
		if (is_within(call->args[i] - start, variable->addr,
			      variable->size))
			return false;
	return true;
}

/* The call that the library is executing; NULL: who knows. */
static const struct race_served_call *present_call(struct race_replay *replay)
{
	const struct race_thread *thread = race_present(replay);

	if (!thread->served.depth || thread->home != HOME_C_LIBRARY)
		return NULL;
	return &thread->served.calls[thread->served.depth - 1];
}

bool race_served_gives(struct race_replay *replay)
{
	const struct race_served_call *call = present_call(replay);

	return !call || call->service.gives;
}

bool race_serves(struct race_replay *replay, uint64_t addr)
{
	const struct race_served_call *call = present_call(replay);

	if (!call)
		return false;
	switch ((enum race_service_kind)call->service.kind) {
	case SERVICE_NONE:
		return false;
	case SERVICE_ALL:
		return true;
	case SERVICE_STREAM:
		if (!replay->roles.is_glibc ||
		    is_of_stream(replay, call->stream, addr))
			return false;
		break;
	case SERVICE_CALLER:
		break;
	}
	return !is_static(&replay->roles, call, addr) &&
	       !race_words_is_own(&replay->detector.words, addr);
}
