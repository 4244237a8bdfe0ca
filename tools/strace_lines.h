/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * strace_lines.h - system calls and signals as lines, as strace(1) prints them
 *
 * A line is printed when a call begins; if something else has to be printed
 * before it is over, it is unfinished, and another line resumes it.  Where only
 * some are asked for by how they end, it is printed then.
 *
 * Ownership:  strace_lines_release() frees; what stands above the line in
 *             the structure is the caller's.
 * Errors:     those of backtrace.h; ERR_NO_MEMORY.
 */
#ifndef CPREC_TOOLS_STRACE_LINES_H
#define CPREC_TOOLS_STRACE_LINES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replayer/session/session.h"
#include "tools/strace_filter.h"
#include "tools/strace_files.h"
#include "vm/linux/text/text.h"

struct strace_lines {
	struct recording *recording;
	struct replayer *replayer;
	struct lines *symbols;	/* NULL: no backtraces */
	struct kernel *kernel;	/* of a machine, which knows files; or NULL */
	struct strace_filter filter;
	bool one_thread;	/* only that of `tid` */
	uint32_t tid;
	unsigned string_most;
	bool names_files, counts, json;
	unsigned clock;		/* 1: the time of day; 2: with microseconds;
				   3: seconds since 1970 */
	struct failure *why;

	/* --- */
	unsigned arch;
	struct strace_files files;
	uint64_t task;		/* of a machine: the present one */
	char path[PATH_MAX];
	struct strace_call {	/* by stream: what it is in */
		bool is_there;
		struct call_text text;
		uint64_t number;
		struct position began;
		uint32_t tid;
		bool has_program;	/* of a machine: its name */
		char program[KERNEL_NAME];
	} *calls;
	size_t call_count, call_room;
	bool is_open;		/* a line is not finished: of `open` */
	uint32_t open;
	int column;		/* of it */
	struct strace_sum {	/* by what is called */
		const struct linux_call *call;
		uint64_t number, calls, errors;
	} *sums;
	size_t sum_count, sum_room;
};

int strace_lines_start(struct strace_lines *lines);

/* As calls_list.h has them; `context` is the structure. */
int strace_lines_visit(void *context, const struct call_event *event);

/*
 * Ends all lines; of calls that do not come back.  With `counts`, prints the
 * table.
 */
void strace_lines_end(struct strace_lines *lines);
void strace_lines_release(struct strace_lines *lines);

#endif
