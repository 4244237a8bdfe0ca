/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requests.h - messages of a debugger, straight to the server
 *
 * Takes the place of debugger/wire.c.  Each message is in an allocation of its
 * own, so that a sanitizer sees its end; each must be answered once, with what
 * the protocol can carry.  What runs for long is interrupted, as a user would
 * do; what does not stop then, ends the program.
 */
#ifndef CPREC_TESTS_FUZZ_REQUESTS_H
#define CPREC_TESTS_FUZZ_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>

struct requests {
	const char *from;	/* as server_options.from */
	bool no_diversion;

	/* The next message, borrowed until the one after it; false: none. */
	bool (*next)(void *context, const char **message, size_t *size);

	/* What was answered. */
	void (*heard)(void *context, const char *reply, size_t size);
	void *context;
};

/* The recording that is served from now on; another one is closed. */
void requests_use(const char *path);
void requests_close(void);

void requests_serve(const struct requests *requests);

#endif
