/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel.h - what the Linux kernel of a machine knows: processes, and its log
 *
 * It is read out of the kernel's own structures, where its BTF says that their
 * members are.
 *
 * Ownership:  the query is borrowed and must outlive it.
 * Errors:     ERR_NOT_FOUND: there is no such kernel, or it has not come so
 *             far; those of query.h; whatever a visit returns.
 */
#ifndef CPREC_REPLAYER_SESSION_KERNEL_H
#define CPREC_REPLAYER_SESSION_KERNEL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replayer/recording/recording.h"
#include "replayer/session/query.h"

struct failure;
struct kernel;
struct names;

int kernel_create(struct kernel **out, struct query *query,
		  struct failure *why);
void kernel_destroy(struct kernel *kernel);

#define KERNEL_NAME 17		/* of a process, with its end */

struct kernel_process {
	uint64_t task;		/* address of its structure */
	uint32_t pid, parent;
	char state;		/* a letter, as ps writes it */
	bool runs;		/* it, or a thread of it, is that of a core, */
	bool has_turn;		/* ... which has its turn */
	bool has_memory;	/* of its own: no thread of the kernel */
	uint64_t memory;	/* has_memory: address of its structure */
	uint64_t table;		/* has_memory: physical, of its first page
				   table */
	char name[KERNEL_NAME];
};

/* All at a position, the oldest first. */
typedef int kernel_process_visit(void *context,
				 const struct kernel_process *process);
int kernel_each_process(struct kernel *kernel, const struct position *at,
			kernel_process_visit *visit, void *context,
			struct failure *why);

/* What a process has mapped. */
struct kernel_mapping {
	uint64_t start, end;
	uint64_t offset;	/* in the file */
	uint64_t file;		/* address of its structure; 0: none */
	bool reads, writes, executes, is_shared;
	const char *name;	/* path of the file; "": none */
};

/* In order; of the process that is present, or which these addresses are of. */
typedef int kernel_mapping_visit(void *context,
				 const struct kernel_mapping *mapping);
int kernel_each_mapping(struct kernel *kernel, const struct position *at,
			const struct address_space *space,
			kernel_mapping_visit *visit, void *context,
			struct failure *why);

/*
 * From now on one process is asked, a number or a name, and no other: breakpoints
 * of the query's replayer are met while it is the present one, and addresses are
 * its, as of where it was met last; before, as at the first of two positions at
 * which it is there.
 * NULL: all are asked again.  The text is borrowed until then.
 */
int kernel_follow(struct kernel *kernel, const char *process,
		  const struct position *first, const struct position *last,
		  struct failure *why);

/* The same of all processes: breakpoints are met in each, addresses are those
 * of the present one. */
int kernel_follow_all(struct kernel *kernel, struct failure *why);

/* Which thread executes where the replay stands: another number than those of
 * others that there are; 0: not known. */
uint64_t kernel_present_thread(struct kernel *kernel);

/* Where it is to be stopped to see what processes map that are followed. */
struct kernel_addresses {
	uint64_t *list;
	size_t count, room;
};
int kernel_follow_stops(struct kernel *kernel, struct names *names, uint64_t t,
			const struct kernel_addresses **out,
			struct failure *why);

/*
 * The replay stands there: whether anything else may be mapped than at the last
 * such place, and whether the one process that is followed has become another
 * program.
 */
bool kernel_has_mapped(struct kernel *kernel, bool *is_new);

/*
 * What a descriptor of a thread is, by the address of its structure, where the
 * replay stands in the kernel; somewhere in `path`.  NULL: it is none.
 */
const char *kernel_descriptor(struct kernel *kernel, uint64_t task,
			      int descriptor, char path[PATH_MAX]);

/* The one with this number or, the newest, with this name. */
int kernel_find_process(struct kernel *kernel, const struct position *at,
			const char *text, struct kernel_process *out,
			struct failure *why);

struct kernel_message {
	uint64_t nanoseconds;	/* as the kernel counts */
	bool has_time;
	uint64_t at;		/* has_time: when it was logged */
	unsigned level;
	const char *text;	/* `length` bytes */
	size_t length;
};

/*
 * What it has logged until then, as far as it keeps that.  By the names of its
 * functions, when; without them, NULL, times are not looked for.
 */
typedef int kernel_message_visit(void *context,
				 const struct kernel_message *message);
int kernel_each_message(struct kernel *kernel, struct names *names,
			const struct position *at, kernel_message_visit *visit,
			void *context, struct failure *why);

#endif
