/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * siginfo.c - what the kernel knows of a signal that is about to be delivered
 *
 * A recording has no word about it; but a handler is told, in its frame, which
 * is there when the signal has been delivered.  Of one that ends the program,
 * the fault is known.
 */
#include "debugger/server_internal.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "debugger/target.h"

/* A siginfo_t of the program, which may be one of 32 bits. */
struct details {
	int32_t signal, error, code;
	uint8_t others[sizeof(siginfo_t) - 12];
};

/* Behind the next event; `server->cursor` is the one to ask. */
static bool read_frame(struct server *server, struct details *out)
{
	uint64_t addr;

	return !cprec_cursor_thread(server->cursor, server->stop.tid, NULL) &&
	       !state_register(server, server->target->details, &addr, NULL) &&
	       state_read(server, addr, out, sizeof(*out)) &&
	       out->signal == (int32_t)server->stop.signal;
}

static int look_at_frame(struct server *server, struct details *out,
			 bool *is_there, struct cprec_failure *why)
{
	struct cprec_position at = cprec_cursor_position(server->cursor);
	struct elsewhere from;
	int rc;

	*is_there = false;
	if (at.events == CPREC_EVENTS_ALL)
		return 0;
	at.events++;
	rc = state_visit(server, at, &from, why);
	/* There is no such position where it ends with the signal. */
	if (rc)
		return rc == CPREC_NOT_FOUND || rc == CPREC_INPUT ? 0 : rc;
	*is_there = read_frame(server, out);
	state_return(server, &from);
	return 0;
}

static bool explain_crash(const struct server *server, struct details *out)
{
	const unsigned word = server->target->word;
	const struct cprec_crash *crash = &server->crash;

	if (!server->has_crash || !crash->is_fault || !crash->has_addr ||
	    crash->signal != SIGSEGV ||
	    cprec_position_compare(crash->at,
				   cprec_cursor_position(server->cursor)))
		return false;
	*out = (struct details) {
		.signal = SIGSEGV,
		.code = crash->is_mapped ? SEGV_ACCERR : SEGV_MAPERR,
	};
	/* Next to them, where a word may be. */
	memcpy(out->others + 12 % word, &crash->addr, word);
	return true;
}

int make_siginfo(struct server *server, struct text *out,
		 struct cprec_failure *why)
{
	/* Not one of another thread, nor of a function that was called. */
	bool is_recorded = server->stop.why == STOPPED_SIGNAL &&
			   state_general(server) == server->stop.tid &&
			   !diversion_runs(server);
	bool is_there = false;
	struct details info;
	int rc = 0;

	if (is_recorded)
		rc = look_at_frame(server, &info, &is_there, why);
	if (!rc && !is_there && is_recorded)
		is_there = explain_crash(server, &info);
	if (rc)
		return rc;
	if (!is_there) {
		snprintf(why->text, sizeof(why->text),
			 "nothing is known of a signal here");
		return CPREC_NOT_FOUND;
	}
	text_add_bytes(out, &info, sizeof(info));
	return 0;
}
