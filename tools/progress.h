/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progress.h - one line that says how far long work has come
 *
 * Shown on standard error if that is a terminal, else never; only when the
 * work takes longer than a moment.
 */
#ifndef CPREC_TOOLS_PROGRESS_H
#define CPREC_TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *doing;	/* "verifying" */
	uint64_t from, to;	/* of the same unit as `at` below */
	bool is_terminal;
	bool is_shown;
	uint64_t next_time;	/* not to be shown again before; milliseconds */
};

void progress_start(struct progress *progress, const char *doing,
		    uint64_t from, uint64_t to);
void progress_show(struct progress *progress, uint64_t at);

/* The same for `void *` callbacks that know the total. */
void progress_update(void *progress, uint64_t done, uint64_t total);

/* Wipes the line; to be called before anything else is printed. */
void progress_end(struct progress *progress);

#endif
