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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replayer/recording/recording.h"
#include "replayer/session/query.h"

struct failure;
struct kernel;

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

/* The one with this number or, the newest, with this name. */
int kernel_find_process(struct kernel *kernel, const struct position *at,
			const char *text, struct kernel_process *out,
			struct failure *why);

struct kernel_message {
	uint64_t nanoseconds;	/* as the kernel counts */
	unsigned level;
	const char *text;	/* `length` bytes */
	size_t length;
};

/* What it has logged until then, as far as it keeps that. */
typedef int kernel_message_visit(void *context,
				 const struct kernel_message *message);
int kernel_each_message(struct kernel *kernel, const struct position *at,
			kernel_message_visit *visit, void *context,
			struct failure *why);

#endif
