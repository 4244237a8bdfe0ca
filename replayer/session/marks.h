/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * marks.h - a replay that tells of each time that it comes to marked code
 *
 * Marks belong to modules: they are wherever a module is mapped, from the time
 * on at which it is, and whoever wants them is asked for those of each module
 * when it is first seen.  Besides, any address can be watched.
 *
 * While somebody is told, the query's replayer stands before the instruction:
 * what is asked for that position costs no replay.
 *
 * Ownership:  marks_run() ends with nothing left.
 * Errors:     those of replayer.h.
 */
#ifndef CPREC_REPLAYER_SESSION_MARKS_H
#define CPREC_REPLAYER_SESSION_MARKS_H

#include <stddef.h>
#include <stdint.h>

#include "replayer/recording/recording.h"
#include "replayer/session/query.h"
#include "replayer/symbols/symbols.h"
#include "vm/vm.h"

struct marks;

/* A result other than 0 ends the run and is returned. */
struct marks_user {
	/*
	 * The module with this number (of names_mapped()) is there at time
	 * `t`: adds its marks.  Asked once for each module.
	 */
	int (*module)(void *context, struct marks *marks, uint64_t t,
		      size_t number);

	/* The mark with this number is next. */
	int (*met)(void *context, struct marks *marks, size_t number,
		   const struct vm_stop *stop, const struct position *at);

	/* An address that is watched is next; told before marks.  May be NULL
	 * if there is none. */
	int (*watched)(void *context, struct marks *marks,
		       const struct vm_stop *stop, const struct position *at);

	/* Another program begins at time `t`.  May be NULL. */
	int (*replaced)(void *context, uint64_t t);

	void *context;
};

struct marks_question {
	struct query *query;
	struct lines *lines;
	struct position from, to;
	const struct marks_user *user;
};

int marks_run(const struct marks_question *question, struct failure *why);

/* ------- for those who are told ------- */

/*
 * Marks the code at `addr`, where it is now, with a number.  Also in `met`;
 * then the module is one that is mapped there.
 */
int marks_add(struct marks *marks, uint64_t addr, size_t number);

/* The same, but marks_forget() leaves it. */
int marks_add_lasting(struct marks *marks, uint64_t addr, size_t number);

/* From now on the address is watched. */
int marks_watch(struct marks *marks, uint64_t addr);

/* The same until marks_unwatch() is called as often: code that is executed over
 * and over is told each time. */
int marks_watch_for(struct marks *marks, uint64_t addr);
void marks_unwatch(struct marks *marks, uint64_t addr);

/* Only lasting marks are told from now on. */
int marks_forget(struct marks *marks);

struct replayer *marks_replayer(const struct marks *marks);

/* Why a function failed; for those who are told. */
struct failure *marks_why(const struct marks *marks);

#endif
