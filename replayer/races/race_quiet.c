/* SPDX-License-Identifier: GPL-2.0-or-later */
/* race_quiet.c - see race_quiet.h */
#include "replayer/races/race_quiet.h"

#include <stddef.h>

/* Behind those that are smaller, the library accesses nothing. */
#define ATTRIBUTES_MOST 64u	/* sizeof(pthread_attr_t) */
#define RWLOCK_MOST 56u		/* sizeof(pthread_rwlock_t) */

static const struct race_quiet_frame *top(const struct race_quiet *quiet)
{
	return quiet->depth ? &quiet->frames[quiet->depth - 1] : NULL;
}

/* Where there is no room, nothing is quiet any more. */
static void push(struct race_quiet *quiet,
		 const struct race_quiet_frame *frame)
{
	if (quiet->depth == QUIET_FRAMES)
		quiet->depth = 0;
	else
		quiet->frames[quiet->depth++] = *frame;
}

void race_quiet_unknown(struct race_quiet *quiet)
{
	*quiet = (struct race_quiet) { 0 };
	push(quiet, &(struct race_quiet_frame) { .kind = QUIET_UNKNOWN });
}

void race_quiet_begin(struct race_quiet *quiet,
		      struct race_descriptor descriptor)
{
	*quiet = (struct race_quiet) { .is_new = true };
	push(quiet, &(struct race_quiet_frame) {
		.kind = QUIET_THREAD, .descriptor = descriptor,
	});
}

/*
 * Whether the topmost function has returned, or was left by a jump.  Where a
 * call leaves nothing on the stack, a return takes nothing off.
 */
static bool has_ended(const struct race_quiet *quiet,
		      const struct race_quiet_place *place)
{
	const struct race_quiet_frame *frame = top(quiet);

	return place->sp > frame->sp ||
	       (place->sp == frame->sp && place->pc == frame->back);
}

/*
 * Whether the program's function has returned to the quiet code that called
 * it, or it was left by a jump; not if it changed to another stack.
 */
static bool is_left(const struct race_quiet *quiet,
		    const struct race_quiet_place *place)
{
	const struct race_quiet_frame *below = &quiet->frames[quiet->depth - 2];

	if (top(quiet)->is_handler || !has_ended(quiet, place))
		return false;
	return below->kind != QUIET_THREAD ||
	       place->sp <= below->descriptor.addr;
}

static bool is_over(const struct race_quiet *quiet,
		    const struct race_quiet_place *place)
{
	switch (top(quiet)->kind) {
	case QUIET_NOT:
		return is_left(quiet, place);
	case QUIET_UNKNOWN:
		return place->is_program;
	case QUIET_THREAD:
		/* A thread that the program makes without the library. */
		return quiet->is_new && place->is_program;
	case QUIET_CALL:
		return has_ended(quiet, place);
	}
	return false;
}

static bool leave(struct race_quiet *quiet,
		  const struct race_quiet_place *place,
		  struct race_quiet_frame *out)
{
	bool has_returned = false;

	while (quiet->depth && is_over(quiet, place)) {
		const struct race_quiet_frame *frame = top(quiet);

		if (frame->kind == QUIET_CALL && frame->back == place->pc) {
			*out = *frame;
			has_returned = true;
		}
		quiet->depth--;
	}
	quiet->is_new = false;
	return has_returned;
}

bool race_quiet_step(struct race_quiet *quiet,
		     const struct race_quiet_place *place,
		     struct race_quiet_frame *out)
{
	/* A handler may have a stack of its own, anywhere. */
	bool is_handler = quiet->has_signal && place->is_program;
	bool has_returned = false;

	quiet->has_signal = false;
	if (!is_handler)
		has_returned = leave(quiet, place, out);
	if (place->is_program && race_quiet_is_on(quiet))
		push(quiet, &(struct race_quiet_frame) {
			.kind = QUIET_NOT, .sp = place->sp,
			.back = place->back, .is_handler = is_handler,
		});
	return has_returned;
}

bool race_quiet_call(struct race_quiet *quiet,
		     const struct race_quiet_frame *call)
{
	bool is_memory = call->role >= ROLE_NEW;

	if (race_quiet_is_memory(quiet) || quiet->depth == QUIET_FRAMES ||
	    (!is_memory && race_quiet_is_on(quiet) && top(quiet)->kind == QUIET_CALL))
		return false;
	push(quiet, call);
	return true;
}

void race_quiet_signal(struct race_quiet *quiet)
{
	quiet->has_signal = race_quiet_is_on(quiet);
}

void race_quiet_return(struct race_quiet *quiet)
{
	for (unsigned i = quiet->depth; i-- > 0;) {
		if (quiet->frames[i].is_handler) {
			quiet->depth = i;
			return;
		}
	}
}

bool race_quiet_is_outermost(const struct race_quiet *quiet)
{
	return quiet->depth == 1 && top(quiet)->kind == QUIET_THREAD;
}

bool race_quiet_is_memory(const struct race_quiet *quiet)
{
	return race_quiet_is_on(quiet) && top(quiet)->kind == QUIET_CALL &&
	       top(quiet)->role >= ROLE_NEW;
}

bool race_quiet_is_share(const struct race_quiet *quiet)
{
	return race_quiet_is_on(quiet) && top(quiet)->kind == QUIET_CALL &&
	       top(quiet)->role == ROLE_SHARE;
}

bool race_quiet_hides(const struct race_quiet *quiet, uint64_t addr)
{
	const struct race_quiet_frame *frame = top(quiet);

	if (!race_quiet_is_on(quiet))
		return false;
	if (frame->kind != QUIET_CALL || race_quiet_is_memory(quiet))
		return true;
	/* The rest of what it writes is of the thread that is to be. */
	return frame->role == ROLE_CREATE &&
	       addr - frame->arg[0] >= sizeof(uint64_t) &&
	       addr - frame->arg[1] >= ATTRIBUTES_MOST;
}

bool race_quiet_orders(const struct race_quiet *quiet, uint64_t addr)
{
	const struct race_quiet_frame *frame = top(quiet);

	if (!race_quiet_is_on(quiet) || frame->kind == QUIET_UNKNOWN)
		return true;
	if (race_role_is_lock(frame->role))
		return addr - frame->arg[0] >= RWLOCK_MOST;
	return addr - frame->descriptor.addr < frame->descriptor.size;
}
