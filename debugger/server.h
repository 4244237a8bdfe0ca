/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server.h - a recording as a target of gdb and other debuggers
 *
 * This room speaks the Remote Serial Protocol of gdb.  It asks by cprec.h alone,
 * and never prints.
 *
 * Open server.c, which has the table of requests, then resume.c.
 *
 * Source: "Debugging with GDB", appendix E.
 *
 * Ownership:  all is borrowed, for the length of the call.
 * Errors:     those of cprec.h.  A client that sends nonsense gets an answer
 *             that says so, one that goes away ends it: neither is an error.
 * Threads:    the recording is used by one thread, the caller's.
 */
#ifndef CPREC_DEBUGGER_SERVER_H
#define CPREC_DEBUGGER_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "library/cprec.h"

struct server_options {
	struct cprec_recording *recording;
	int in, out;		/* of the connection, or: */

	/* Called when it is about to serve: waits for a connection, and says
	   which it is; false: there is none, and somebody was told why. */
	bool (*connect)(void *context, int *in, int *out);
	void *context;

	const char *from;	/* a position, or "main"; NULL: where a signal
				   ended the program, or at "main" */
	bool no_diversion;	/* nothing may be changed, nor called */

	/* Told what the program prints, and how it ends; NULL: the debugger
	   is. */
	void (*printed)(void *context, const char *bytes, size_t size);
	void *printed_context;

	/* Told why one of the program's files cannot be had, each time that
	   it is asked for; NULL: nobody is. */
	void (*note)(const char *text);
};

/* Serves one connection to its end; without one, `why` is as it was. */
int server_run(const struct server_options *options, struct cprec_failure *why);

#endif
