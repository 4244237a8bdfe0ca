/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inbox.h - requests that have come in, as JSON objects, one a line
 *
 * A thread reads, so that it is seen while a question is under way that nobody
 * wants its answer any more: {"command": "cancel", "id": 7} came, or SIGINT,
 * or nobody can read the answer.  Then a flag is set; all else is the reader's
 * of the inbox to do.  Behind SIGINT, or without a reader of the answers,
 * nothing more is read; the end of the input is no such thing: what came before
 * it is answered.
 *
 * Only so much is kept of what has not been taken; a client that sends more
 * waits.
 *
 * Ownership:  inbox_close() frees; what was taken is the caller's.
 * Errors:     ERR_SYSTEM, ERR_NO_MEMORY.  A line that is no request is no
 *             error, but is taken as one.
 * Threads:    all but the flag is for the thread that has opened it.
 */
#ifndef CPREC_TOOLS_INBOX_H
#define CPREC_TOOLS_INBOX_H

#include <stdatomic.h>
#include <stdbool.h>

#include <jansson.h>

struct failure;
struct inbox;

#define INBOX_LINE_MOST 65536u	/* bytes; as a line of `query -` */

struct inbox_item {
	json_t *request;	/* an object; NULL: it was none, because: */
	char wrong[200];
	bool is_cancelled;	/* before it was taken */
};

/*
 * Reads requests from `in`; `out` is where answers go.  SIGINT is blocked from
 * now on.
 */
int inbox_open(struct inbox **out, int in, int answers, struct failure *why);

/*
 * Waits for the next one, which is under way from now on.  False: there is no
 * more.
 */
bool inbox_take(struct inbox *inbox, struct inbox_item *item);
void inbox_item_release(struct inbox_item *item);

/* Whether nobody wants the answer of what is under way. */
const atomic_bool *inbox_cancelled(const struct inbox *inbox);

/* How it ended: the input could not be read, or nobody reads answers. */
int inbox_error(struct inbox *inbox, struct failure *why);

/* NULL is allowed. */
void inbox_close(struct inbox *inbox);

#endif
