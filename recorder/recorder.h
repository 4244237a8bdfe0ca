/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recorder.h - runs a program and writes its recording
 *
 * This folder watches a virtual machine and its kernel, and writes what a
 * replay cannot compute.  It never reads a recording and never replays one.
 *
 * Errors:     ERR_INPUT, ERR_SYSTEM (the trace cannot be written, the engine
 *             refused), ERR_NO_MEMORY.  How the program ended is a result.
 * Threads:    one recorder per process.  The program's threads are threads of
 *             cprec, which take turns.
 */
#ifndef CPREC_RECORDER_RECORDER_H
#define CPREC_RECORDER_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "vm/linux/linux.h"

struct failure;
struct vm;
struct vm_stop;

/* A signal is about to end the program, whose state is still there. */
struct recorder_death {
	const char *path;	/* of the trace */
	uint64_t signal;
	struct vm *vm;
	const struct vm_stop *stop;	/* why an instruction of its own cannot
					   retire; NULL: that is not why */
};

struct recorder_options {
	struct linux_options program;
	const char *path;		/* of the trace; must not exist */
	const char *made_by;		/* "cprec 0.1" */
	unsigned cache_entries;		/* cache_is_size() */
	uint64_t segment_steps;		/* shortest segment; 0: the default */
	int level;			/* of compression; 0: the default */
	bool no_children;		/* leave new processes unrecorded */
	struct linux_schedule schedule;	/* of threads */

	/*
	 * Keeps files of modules with what debuggers need; NULL: none.  Asked
	 * for the names of those that go with the module in a file, which are
	 * the recorder's to free, or NULL: what module_files.h calls its debug
	 * and extra file.
	 */
	void (*debug_files)(const char *module, char **debug, char **extra);

	/*
	 * Of the file `name` with debugging information of a module, which is
	 * open as `fd`: returns one that also has what it has in others, or
	 * `fd`, which is closed if it is not returned.  NULL: all are as they
	 * are.
	 */
	int (*join_debug)(int fd, const char *name, const char *module);

	/* Told what linux_observer.notice says, with a NULL context; may be
	 * NULL. */
	void (*notice)(void *context, enum linux_notice kind,
		       const char *text);

	/* Told of a recorded process that a signal ends: it may look, but not
	 * touch (memory_code()).  May be NULL. */
	void (*died)(const struct recorder_options *options,
		     const struct recorder_death *death);

	/* The recording is done, or failed, in another thread of cprec than
	 * that which called recorder_run(), which stays there. */
	void (*ended)(const struct recorder_options *options, int rc,
		      const struct linux_result *result,
		      const struct failure *why) __attribute__((noreturn));
};

/*
 * A process that the program makes is recorded too, into a file of its own:
 * "trace.cpr.d/PID.cpr" if the first is "trace.cpr" (formats/family_path.h).
 * recorder_run() then returns in each of them, with that process's result;
 * `path` must be absolute, because processes change their directory.
 *
 * Records the program from its first instruction to its end.  On success
 * `*result` says how it ended.
 */
int recorder_run(const struct recorder_options *options,
		 struct linux_result *result, struct failure *why);

#endif
