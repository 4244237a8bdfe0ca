/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_stacks.h - the calls that threads are in
 *
 * A call begins before the first instruction of a function, whatever led there;
 * what leads there by a stub, as those of shared libraries, is one call.  It
 * ends where the function returns to, with the stack as it was.  A function
 * that jumps to another one has called it: both return at once.  Calls nest by
 * thread; of a machine, by the threads of its kernel if that is known; of Go, by
 * goroutine, and a function that begins again on a larger stack is called once.
 *
 * A call that does not return is noticed by what its thread does later: another
 * call, or a return, further up its stack; or that of a function that leads to
 * where the stack was cut, as setjmp() does.
 *
 * Units:      steps are those of the call's own thread.
 * Ownership:  a call lasts until its end was told; all end with
 *             call_stacks_release().  Functions are borrowed.
 * Errors:     those of replayer.h.
 */
#ifndef CPREC_REPLAYER_SESSION_CALL_STACKS_H
#define CPREC_REPLAYER_SESSION_CALL_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/number_map.h"
#include "formats/region.h"
#include "formats/registers.h"
#include "replayer/recording/recording.h"
#include "replayer/session/call_functions.h"
#include "vm/vm.h"

struct failure;
struct kernel;
struct marks;

enum call_end {
	CALL_RUNS,		/* it is not over at the time that it ends at */
	CALL_RETURNED,
	CALL_LEFT,		/* by a jump of longjmp() or an exception */
	CALL_THREAD_ENDED,
	CALL_PROCESS_ENDED,
	CALL_REPLACED,		/* another program was executed */
};

struct call {
	struct call_function *function;
	struct position at;
	uint32_t stream, tid;
	guest_addr pc;		/* of the function's first instruction */
	guest_addr sp;		/* there; of a goroutine, as if its stack ended
				   at 2^63; it points to: */
	guest_addr back;	/* where the call returns to */
	unsigned frame;		/* of a Cortex-M's exception: bytes that the
				   return takes off the stack */
	guest_addr from;	/* of a jump: the instruction that jumped; 0 */
	unsigned depth;		/* in how many of the others it is */
	bool is_inner;		/* a call of the same function is around it */
	bool has_moved;		/* another thread has returned from it */

	enum call_end end;
	struct position ended;	/* unless it was left */
	bool has_steps;
	uint64_t steps;

	void *kept;		/* whatever `begins` wants to keep, */
	size_t number;		/* or this */
};

/* Which calls are wanted, and who is told of them. */
struct call_user {
	bool some_thread;
	uint32_t tid;
	uint64_t depth_most;	/* calls in so many others are left out */
	uint64_t limit;		/* no more than the first so many */

	/*
	 * A call begins, or is over.  While one that begins, or has returned, is
	 * told, the query's replayer stands there.  A result other than 0 ends
	 * all, and is returned.
	 */
	int (*begins)(void *context, struct call *call, struct failure *why);
	int (*ends)(void *context, struct call *call, struct failure *why);

	/* Another program begins at time `t`, and all calls have ended.  May be
	 * NULL. */
	int (*replaced)(void *context, uint64_t t, struct failure *why);
	void *context;
};

/* What a thread is in, the outermost first. */
struct call_stack {
	struct call **list;
	size_t count, room;
	uint64_t table;		/* of a machine's thread: that of its program's
				   memory, when that was last executed */
};

struct call_stacks {
	const struct call_user *user;
	struct recording *recording;
	const struct reg_table *table;
	struct kernel *kernel;	/* of a machine, whose threads it tells apart;
				   NULL: a thread is a stream */
	struct number_map modules;	/* whose functions were called */
	bool is_go;			/* one is: goroutines are threads */
	struct number_map threads;	/* the kernel's, or goroutines: their
					   stacks */
	struct call_stack *stacks;	/* by stream, or that */
	size_t count, room;
	uint64_t begun;
	size_t open;			/* calls that are not over */

	/* A resolver has told where its function is. */
	int (*resolved)(void *context, struct marks *marks,
			struct call_function *resolver, guest_addr entry,
			guest_addr addr);
	void *context;
	struct failure *why;
};

/* All that is wanted was told: a result that ends a run. */
#define CALLS_ENOUGH 1

/* Sets what is not given. */
int call_stacks_init(struct call_stacks *stacks, struct recording *recording);

/* The thread whose turn it is stands at the first instruction of a function. */
int call_stacks_enter(struct call_stacks *stacks, struct marks *marks,
		      struct call_function *function,
		      const struct vm_stop *stop, const struct position *at);

/* What the function returns to at whose first instruction it stands. */
int call_stacks_back(const struct call_stacks *stacks, struct marks *marks,
		     guest_addr *out);

/* It stands where calls may return to. */
int call_stacks_return(struct call_stacks *stacks, struct marks *marks,
		       const struct vm_stop *stop, const struct position *at);

/* Another program begins at time `t`. */
int call_stacks_replace(struct call_stacks *stacks, uint64_t t);

/* The rest is not over at a position, where nobody looks further. */
int call_stacks_end(struct call_stacks *stacks, const struct position *to);

/* Nobody wants to know what becomes of the rest. */
void call_stacks_forget(struct call_stacks *stacks);
void call_stacks_release(struct call_stacks *stacks);

#endif
