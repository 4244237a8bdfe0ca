/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_panic.h - whether a machine's kernel has panicked
 *
 * Linux says so on its console, and then loops for ever.  What a program prints
 * may look the same; but after a panic no program runs any more, and the
 * processor never waits.
 *
 * Errors:     none.
 */
#ifndef CPREC_RECORDER_MACHINE_PANIC_H
#define CPREC_RECORDER_MACHINE_PANIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct board;

#define PANIC_LINE 320u
#define PANIC_TEXT 160u

struct machine_panic {
	char line[PANIC_LINE];	/* of the console, as far as it has come */
	size_t size;
	unsigned core;		/* that wrote it */
	char text[PANIC_TEXT];	/* why; "": it has not panicked */
	bool loops;		/* it has done all that it does then */
	uint64_t since;		/* ticks, when it said so */
	uint64_t left_programs;	/* the same: board_left_programs() */
};

/* What was written to the console. */
void machine_panic_see(struct machine_panic *panic, const struct board *board,
		       uint8_t byte);

/* That core waits for an interrupt; it has begun anew. */
void machine_panic_forget(struct machine_panic *panic);

/* Whether it has panicked, and nothing came of it since; nothing ever will. */
bool machine_panic_is_there(const struct machine_panic *panic,
			    const struct board *board);
bool machine_panic_is_final(const struct machine_panic *panic,
			    const struct board *board);

#endif
