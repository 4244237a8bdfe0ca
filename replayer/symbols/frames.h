/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frames.h - who called whom, at a place of a recording
 *
 * From the registers of a thread and memory, frame by frame: by the unwind
 * tables of the modules; from memory, where their files are not on this machine.
 * Where there are none, by what code keeps of frames, or by looking for what may
 * be a return address: such frames, and all behind them, are not sure.
 *
 * Functions that were inlined are frames of their own, and so are those whose
 * last call is a jump, where it can be told which they were.
 *
 * Ownership:  everything is borrowed; a frame is valid while it is visited,
 *             names of files as long as `lines`.
 * Errors:     none; what is not known ends the walk.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_FRAMES_H
#define CPREC_REPLAYER_SYMBOLS_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/registers.h"
#include "replayer/symbols/dwarf_eval.h"
#include "replayer/symbols/lines.h"

struct frame {
	uint64_t pc;		/* of a caller: where it goes on */
	uint64_t sp;
	uint64_t code;		/* in the instruction that it executes */
	const struct dwarf_registers *registers;	/* as they are in it */
	unsigned inlined;	/* frames before it that stand at its pc */
	bool is_sure;
	bool is_signal;		/* what the kernel made for a handler; the next
				   one is what the signal interrupted */
	bool is_inlined;	/* into the next one */
	bool is_tail_call;	/* it jumped to the one before: its registers
				   are those of its caller */
	const char *module;	/* path; NULL if nothing is known to be there */
	struct source_line line;
};

struct frame_walk {
	struct lines *lines;
	uint64_t t;		/* of what is mapped */
	const struct reg_table *table;
	struct guest_reader memory;

	/*
	 * NULL: the first frame is the thread's innermost.  Else it is one of
	 * which so many registers are known, numbered as in debugging
	 * information; `at_call`: it goes on at its pc when a call is over;
	 * `is_tail_call`: it jumped, as in struct frame.
	 */
	const bool *known;
	bool at_call;
	bool is_tail_call;

	/* A result other than 0 ends the walk. */
	int (*visit)(void *context, const struct frame *frame);
	void *context;
};

/* How a walk ended. */
enum frames_end {
	FRAMES_OUTERMOST,	/* nobody called the last one */
	FRAMES_LOST,		/* who called it is not known */
	FRAMES_LOOP,		/* its caller's frame is not behind it: it makes
				   no sense */
	FRAMES_ENOUGH,		/* a visit said so */
};

enum frames_end frames_walk(const struct frame_walk *walk,
			    const struct reg_file *registers);

/* In words; NULL if there is nothing to say. */
const char *frames_end_text(enum frames_end end);

#endif
