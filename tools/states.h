/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * states.h - what the registers of threads held at a time
 *
 * Ownership:  everything is borrowed.
 */
#ifndef CPREC_TOOLS_STATES_H
#define CPREC_TOOLS_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "replayer/session/session.h"

struct state_question {
	struct recording *recording;
	struct lines *lines;	/* of it */
	struct threads_text threads;	/* or all, if none are given */
	bool json;
};

/*
 * Prints the registers at the time `at`, a text.  If there is no answer, says
 * so on standard error and returns false.
 */
bool state_print(const struct state_question *asked, struct query *query,
		 const char *at);

#endif
