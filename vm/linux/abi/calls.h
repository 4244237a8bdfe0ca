/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls.h - system calls of a Linux guest, described
 *
 * What they are called, what their arguments and results are, and how they
 * order threads: for the kernel that performs them (marshal.c), and for
 * whoever shows a recording or asks what a call read and wrote.  It needs no
 * guest.  `arch` is the guest's, of formats/registers.h; numbers come from a
 * file and may be anything.
 *
 * Ownership:  all is constant.
 * Errors:     none; what is not known is NULL.
 */
#ifndef CPREC_VM_LINUX_ABI_CALLS_H
#define CPREC_VM_LINUX_ABI_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vm/linux/abi/structs.h"
#include "vm/linux/abi/values.h"

enum {
	CALL_ARGS = 6,		/* arguments of a call */
	CALL_RESULT = 6,	/* what it gives, described like them */
	NO_NUMBER = 0xffff,	/* the host has no such call */
};

/* What an argument is; `other`, `type` and `values` are of struct call_arg. */
enum arg_kind {
	ARG_NONE,		/* there is none */

	/* Values: passed on as they are. */
	ARG_INT,
	ARG_SIZE,		/* in bytes */
	ARG_OFFSET,		/* in a file, signed */
	ARG_ADDRESS,		/* nothing is read or written there */
	ARG_MODE,		/* of a file; octal */
	ARG_PID,		/* process, group or thread */
	ARG_UID,
	ARG_GID,
	ARG_SIGNAL,
	ARG_VALUE,		/* one of `values` */
	ARG_FLAGS,		/* bits of `values` */
	ARG_BITS,		/* ... that have no names here */

	/* Descriptors: one of cprec's own is refused. */
	ARG_FD,
	ARG_DIR,		/* or AT_FDCWD: where the next path starts */
	ARG_ANY_FD,		/* or none: the call's function looks */

	/* Memory. */
	ARG_PATH,		/* string; NULL passes */
	ARG_PATH_FOLLOWED,	/* ... that may lead to the program itself;
				 * flags that forbid it in `other`, if any */
	ARG_IN,			/* a `type` that the kernel reads */
	ARG_OUT,		/* a `type` that it fills in on success */
	ARG_OUT_EINTR,		/* ... and when a signal interrupts */
	ARG_INOUT,
	ARG_INOUT_EINTR,
	ARG_BYTES_IN,		/* length in argument `other` */
	ARG_BYTES_OUT,		/* room in `other`, filled to the result */
	ARG_BYTES_INOUT,	/* ... changed anywhere, on success */
	ARG_ARRAY_IN,		/* of `type`s, count in `other` */
	ARG_ARRAY_OUT,		/* filled to the result */
	ARG_ARRAY_INOUT,
	ARG_COUNTED_OUT,	/* room and size in the ARG_LENGTH at `other` */
	ARG_LENGTH,		/* socklen_t, in and out */
	ARG_MASK,		/* of signals, for the length of the call */

	/* Memory that only a call's function understands. */
	ARG_VECTOR_IN,		/* struct iovec, count in `other`: sent */
	ARG_VECTOR_OUT,		/* ... filled to the result */
	ARG_MESSAGE_IN,		/* struct msghdr: sent */
	ARG_MESSAGE_OUT,	/* ... received */
	ARG_MESSAGES_IN,	/* struct mmsghdr, count in `other` */
	ARG_MESSAGES_OUT,
	ARG_STRINGS,		/* pointers to strings, NULL-ended */
	ARG_WORD,		/* a futex: an int, compared or changed */
	ARG_POINTER,		/* depends on other arguments, then mostly a
				   `type`; or no pointer */
	ARG_KINDS
};

struct call_arg {
	uint8_t kind;		/* enum arg_kind */
	uint8_t other;		/* number of an argument */
	uint8_t type;		/* enum guest_struct */
	uint8_t values;		/* enum call_values */
};

/* How a call orders threads. */
enum call_order {
	ORDER_SENDS = 1,	/* others may learn that it took place */
	ORDER_RECEIVES = 2,	/* it may learn of others, if it succeeds */
	ORDER_RECEIVES_SOME = 4,	/* ... if its result is above 0 */
	ORDER_TIMES = 8,	/* a signal may come of it */
	ORDER_SIGNALS = 16,	/* its ARG_SIGNAL is sent or gets a handler */
	ORDER_WAITS_SIGNAL = 32,	/* its result is a signal */
	ORDER_CLONES = 64,	/* its result is a thread or a process */
	ORDER_ENDS = 128,	/* the thread ends, and tells others so */
	ORDER_FUTEX = 256,	/* its ARG_WORDs: as its operation says */
	ORDER_RETURNS = 512,	/* from a signal handler */
};

struct linux_call {
	const char *name;
	uint16_t host;		/* number of the host's call; NO_NUMBER */
	int16_t refusal;	/* errno of a call that is always refused */
	bool waits;		/* may take long: other threads run meanwhile */
	uint16_t like;		/* the call whose structures alone differ */
	struct call_arg args[CALL_ARGS + 1];
};

/* Which row of the table each call is: CALL_read, ... */
enum linux_call_index {
#define CALL(name, ...) CALL_##name,
#define WAIT(name, ...) CALL_##name,
#define CODE(name, ...) CALL_##name,
#define WAIT_CODE(name, ...) CALL_##name,
#define REFUSED(name, ...) CALL_##name,
#define LIKE(name, ...) CALL_##name,
#include "vm/linux/abi/calls.inc"
#include "vm/linux/abi/calls_32.inc"
#undef LIKE
#undef CALL
#undef WAIT
#undef CODE
#undef WAIT_CODE
#undef REFUSED
	CALL_COUNT
};

extern const struct linux_call linux_calls[CALL_COUNT];

/* The call that a number stands for; NULL. */
const struct linux_call *linux_call_of(unsigned arch, uint64_t number);

/*
 * What it does, as the number of a row: mostly its own, of a call that is like
 * another that one's.
 */
static inline unsigned linux_call_kind(const struct linux_call *call)
{
	return call->like;
}

/* How guests of an architecture have a structure; NULL if they have not. */
const struct guest_layout *linux_layout_of(unsigned arch,
					   enum guest_struct type);

/* Memory of a guest; false unless all bytes are known. */
struct linux_reader {
	bool (*read)(void *context, uint64_t addr, void *bytes, size_t size);
	void *context;
};

/*
 * The call that is made, with its arguments, of what the registers have:
 * kernels of 32 bits have two registers for a number, or count pages, or one
 * call for several others, whose arguments are in memory.  Where these are not
 * to be had, it is that one call.  NULL: nobody knows it.
 */
const struct linux_call *linux_call_made(unsigned arch, uint64_t number,
					 uint64_t args[CALL_ARGS],
					 const struct linux_reader *reader);

/*
 * Which argument of clone(2) says what the thread's pointer is to be.  With an
 * offset, it leads to a description that has the pointer there; with 0, it is
 * the pointer itself.
 */
struct linux_clone {
	uint8_t pointer, pointer_at;
};

struct linux_clone linux_clone_of(unsigned arch);

/* How it orders threads: enum call_order, together. */
unsigned linux_call_order(const struct linux_call *call);

/* How many arguments it has. */
unsigned linux_call_arguments(const struct linux_call *call);

/* Whether the kernel reads, or writes, memory that the argument leads to. */
bool arg_is_read(enum arg_kind kind);
bool arg_is_written(enum arg_kind kind);

/* Whether marshal_call() knows what to do about it. */
bool arg_is_marshalled(enum arg_kind kind);

#endif
