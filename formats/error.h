/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * error.h - how every part of cprec says that something went wrong
 *
 * A function that can fail returns 0 or a negative `enum error`.  One that
 * touches a file or a guest also takes `struct failure *why` as its last
 * parameter and describes the failure there, once, where it is first seen.
 * Only tools/ prints.  A mistake of the caller is an assert, never a code.
 */
#ifndef CPREC_FORMATS_ERROR_H
#define CPREC_FORMATS_ERROR_H

enum error {
	ERR_TRUNCATED = -1,	/* the bytes end before the structure does */
	ERR_CORRUPT   = -2,	/* a value that the specification forbids */
	ERR_CHECKSUM  = -3,	/* a chunk whose bytes are not those written */
	ERR_VERSION   = -4,	/* a sound file that this build cannot read */
	ERR_DIVERGED  = -5,	/* the replay left the recorded execution */
	ERR_SYSTEM    = -6,	/* the operating system or the engine refused */
	ERR_NO_MEMORY = -7,
	ERR_NOT_FOUND = -8,	/* what was asked for is not there */
	ERR_INPUT     = -9,	/* the program or the request is unusable */
	ERR_CANCELLED = -10,	/* somebody wants no answer any more */
};

/* A sentence for a person.  Untouched by a call that succeeds. */
struct failure {
	char text[400];
};

/* Writes the sentence into `why`, which may be NULL.  Returns `code`. */
int failed(struct failure *why, enum error code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Ends this process with a line on standard error: where going on would
 * compute something else than was recorded, and there is no way to return.
 */
_Noreturn void give_up(const char *why);

/* That line goes to this descriptor from now on. */
void give_up_to(int fd);

#endif
