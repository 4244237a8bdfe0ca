/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wire.c - the connection to a debugger: messages, whole and checked
 *
 * A thread reads, so that it is seen while the program runs that somebody wants
 * it to stop: then the caller is told at once.  A debugger waits for each
 * answer; of one that does not, a few messages are kept, and it waits.
 *
 * Source: "Debugging with GDB", appendix E, Remote Serial Protocol.
 *
 * Ownership:  what wire_take() gives is the wire's, until the next one.
 * Errors:     a message that is damaged is asked for again; the end of the
 *             connection is no error.
 * Threads:    all but `interrupt` and `over` is for the thread that has opened it.
 */
#ifndef CPREC_DEBUGGER_WIRE_H
#define CPREC_DEBUGGER_WIRE_H

#include <stdbool.h>
#include <stddef.h>

struct wire;

/* Bytes of a message, also as digits. */
#define WIRE_MESSAGE_MOST (1u << 17)

struct wire_ends {
	int in, out;		/* borrowed */

	/*
	 * Called by the thread that reads: the program is to stop; or nobody is
	 * there any more, for whom it would run.  `is_idle`: all is answered, so
	 * what was meant may have stopped by itself.
	 */
	void (*interrupt)(void *context, bool is_idle);
	void (*over)(void *context);

	/* By wire_take(): what was to stop has stopped, and all is answered. */
	void (*settle)(void *context);
	void *context;
};

/* 0, or an errno. */
int wire_open(struct wire **out, const struct wire_ends *ends);
void wire_close(struct wire *wire);

/*
 * The next message, with a NUL behind it.  False: the connection is over.
 */
bool wire_take(struct wire *wire, const char **message, size_t *size);

/* False: nobody reads. */
bool wire_send(struct wire *wire, const char *message, size_t size);

/* From now on messages are not confirmed. */
void wire_trust(struct wire *wire);

#endif
