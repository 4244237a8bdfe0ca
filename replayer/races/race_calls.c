/* SPDX-License-Identifier: GPL-2.0-or-later */
/* race_calls.c - see race_calls.h */
#include "replayer/races/race_calls.h"

#include <stddef.h>
#include <string.h>

#include "vm/linux/abi/calls.h"

/* Where a call has the buffer that it sends or receives, and its length. */
enum { BUFFER = 1, LENGTH = 2 };

/* What it does to that buffer. */
static unsigned buffer_of(const struct linux_call *call)
{
	const struct call_arg *arg = &call->args[BUFFER];

	switch (arg->kind) {
	case ARG_BYTES_IN:
		return arg->other == LENGTH ? RACE_IN : 0;
	case ARG_BYTES_OUT:
		return arg->other == LENGTH ? RACE_OUT : 0;
	case ARG_VECTOR_IN:
		return RACE_IN_VECTOR;
	case ARG_MESSAGE_IN:
		return RACE_IN_MESSAGE;
	default:
		return 0;
	}
}

_Static_assert((int)RACE_ARGS == (int)CALL_ARGS, "the same arguments");

struct race_call race_call_of(unsigned arch, uint64_t number,
			      const uint64_t args[RACE_ARGS],
			      const struct linux_reader *reader)
{
	const struct linux_call *call;
	struct race_call out = { 0 };

	memcpy(out.args, args, sizeof(out.args));
	call = linux_call_made(arch, number, out.args, reader);
	if (!call)
		return out;
	out.order = linux_call_order(call);
	out.stack_is_in_memory = call == &linux_calls[CALL_clone3];
	if (call->refusal)
		return out;	/* the kernel looks at nothing */
	out.buffer = buffer_of(call);
	for (unsigned i = 0; i < linux_call_arguments(call); i++) {
		if (call->args[i].kind == ARG_PATH ||
		    call->args[i].kind == ARG_PATH_FOLLOWED)
			out.texts |= 1u << i;
		if (call->args[i].kind == ARG_SIGNAL)
			out.signal = i;
	}
	return out;
}

struct race_clone race_clone_of(unsigned arch)
{
	struct linux_clone clone = linux_clone_of(arch);

	return (struct race_clone) { clone.pointer, clone.pointer_at };
}

struct race_futex race_futex_of(uint64_t operation)
{
	switch (operation & 127) {	/* without PRIVATE and CLOCK_REALTIME */
	case 0:		/* WAIT */
	case 9:		/* WAIT_BITSET */
	case 6:		/* LOCK_PI */
	case 8:		/* TRYLOCK_PI */
	case 13:	/* LOCK_PI2 */
		return (struct race_futex) { .acquires = true };
	case 1:		/* WAKE */
	case 10:	/* WAKE_BITSET */
	case 7:		/* UNLOCK_PI */
		return (struct race_futex) { .publishes = true };
	case 3:		/* REQUEUE */
	case 4:		/* CMP_REQUEUE */
	case 5:		/* WAKE_OP */
	case 12:	/* CMP_REQUEUE_PI */
		return (struct race_futex) { .publishes = true,
					     .has_second = true };
	case 11:	/* WAIT_REQUEUE_PI */
		return (struct race_futex) { .acquires = true,
					     .has_second = true };
	}
	return (struct race_futex) { 0 };
}
