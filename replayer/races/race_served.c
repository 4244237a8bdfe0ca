/* SPDX-License-Identifier: GPL-2.0-or-later */
/* race_served.c - whom the C library's code works for, to race_replay.h */
#include <string.h>

#include "formats/symbols.h"
#include "replayer/races/race_internal.h"

/* ------- calls ------- */

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
	race_read_word(replay, variable, &addr);
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
	struct race_served *served = &race_present(replay)->served;
	struct race_served_call call = {
		.sp = race_reg(replay, race_regs(replay)->sp),
		.place = place,
	};

	if (replay->roles.program)
		pc = race_behind_stub(replay, pc);
	if (home == HOME_C_LIBRARY)
		call.service = race_roles_service(&replay->roles, pc);
	if (call.service.kind != SERVICE_NONE)
		for (unsigned i = 0; i < SERVED_ARGS; i++)
			call.args[i] = race_argument(replay, i);
	call.stream = stream_of(replay, &call);
	drop_ended(served, call.sp + 1);	/* also one from the same place */
	if (served->depth == SERVED_CALLS)	/* the first is forgotten */
		memmove(served->calls, served->calls + 1,
			--served->depth * sizeof(call));
	served->calls[served->depth++] = call;
}

/* A return takes off the stack what its call has left there, if anything. */
void race_served_end(struct race_replay *replay)
{
	drop_ended(&race_present(replay)->served,
		   race_reg(replay, race_regs(replay)->sp) +
			   race_has_link(replay));
}

void race_served_enter(struct race_replay *replay, uint64_t pc,
		       enum race_home home)
{
	struct race_thread *thread = race_present(replay);
	const struct race_served *served = &thread->served;
	enum race_home caller;
	uint64_t back;

	if (thread->home == HOME_PROGRAM && thread->place &&
	    race_returns(replay, thread->place)) {
		race_served_end(replay);
		if (served->depth)
			thread->place = served->calls[served->depth - 1].place;
		return;
	}
	back = race_return_address(replay);
	caller = back ? race_home_of(&replay->homes, back) : HOME_UNKNOWN;
	if (!race_home_is_program(caller))
		return;
	/* A jump knows better who has called; not if a stub has made it. */
	if (caller == HOME_PROGRAM &&
	    !(thread->place && race_jumps(replay, thread->place)))
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
	const struct race_layout *layout = race_layout(replay);
	const uint64_t at = stream + layout->file_buffer;
	uint64_t start = 0, end = 0, lock = 0, wide = 0;

	race_read_word(replay, at, &start);
	race_read_word(replay, at + race_word_size(replay), &end);
	race_read_word(replay, stream + layout->file_lock, &lock);
	race_read_word(replay, stream + layout->file_wide, &wide);
	return is_within(addr, stream, layout->file_size) ||
	       is_within(addr, start, end - start) ||
	       is_within(addr, lock, layout->file_lock_size) ||
	       is_within(addr, wide, layout->file_wide_size);
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
