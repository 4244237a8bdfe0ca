/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_internal.h - a machine's kernel, for the files that read it
 *
 * kernel.c finds it, and has its processes; kernel_log.c has what it logged,
 * kernel_maps.c what processes have mapped, kernel_files.c what it keeps of
 * files, kernel_paths.c what
 * those are called, kernel_calls.c what programs ask it for.
 */
#ifndef CPREC_REPLAYER_SESSION_KERNEL_INTERNAL_H
#define CPREC_REPLAYER_SESSION_KERNEL_INTERNAL_H

#include <limits.h>

#include "replayer/session/calls_list.h"
#include "replayer/session/kernel.h"
#include "replayer/session/query_internal.h"
#include "replayer/symbols/symbols.h"

enum kernel_member {
	TASK_TASKS, TASK_PID, TASK_NAME, TASK_MEMORY, TASK_PARENT, TASK_STATE,
	TASK_EXIT_STATE, TASK_STACK, TASK_LEADER, MEMORY_TABLE, KERNEL_MEMBERS
};

/* Which process is meant: a number or a name; NULL: all are. */
struct kernel_wanted {
	const char *name;
	bool by_pid;
	uint64_t pid;
};

#define KERNEL_PATH_PLACES 18u
#define KERNEL_CALL_PLACES 4u

struct kernel {
	struct query *query;
	struct replayer *replayer;	/* while it is asked */
	struct kernel_image image;
	struct btf btf;
	uint32_t members[KERNEL_MEMBERS];
	uint64_t first;		/* the first task */
	uint32_t paths[KERNEL_PATH_PLACES];	/* of kernel_paths.c */
	bool has_paths;
	uint32_t calls[KERNEL_CALL_PLACES];	/* of kernel_calls.c */
	uint32_t frame;		/* bytes of a program's registers, at the end of
				   the kernel's stack; 0: not known yet */

	/* kernel_follow.c: */
	struct kernel_wanted followed;
	struct machine_view seen;	/* when it was last looked for */
	bool was_present;	/* then; it was this thread: */
	uint64_t task;
	uint64_t mapped_table;	/* when its mappings were last looked at */
	struct kernel_addresses returns;
	uint64_t pages;		/* where the structure of the page at physical
				   address 0 would be; 0: not known yet */
};

/* From one to the other, the replay stands there and sees the kernel. */
int kernel_go(struct kernel *kernel, const struct position *at,
	      struct failure *why);
void kernel_leave(struct kernel *kernel);

/* The same, where the replay stands already. */
int kernel_stay(struct kernel *kernel, struct failure *why);

/*
 * Where members are: `out` has room for all.  Returns how many were found
 * before the first one that the kernel does not have.
 */
struct kernel_place {
	const char *structure, *member;
};
size_t kernel_places(const struct kernel *kernel,
		     const struct kernel_place *places, size_t count,
		     uint32_t *out);

/*
 * Whether a pointer in one of the kernel's trees is to a node of the tree, and
 * not to what is kept there.  Source: Linux, include/linux/xarray.h.
 */
static inline bool kernel_is_node(uint64_t pointer)
{
	return (pointer & 3) == 2 && pointer > 4096;
}

/* At most 256 bytes; false: nothing is there.  A number is 0 then. */
bool kernel_read(struct kernel *kernel, uint64_t addr, void *out, size_t size);
uint64_t kernel_number(struct kernel *kernel, uint64_t addr, size_t size);
uint64_t kernel_pointer(struct kernel *kernel, uint64_t addr);

/* All of these are asked while the replay stays: */

/* A process or thread, by the address of its structure; whether it runs is not
 * said. */
void kernel_describe(struct kernel *kernel, uint64_t task,
		     struct kernel_process *out);

/* Where its stack ends; what the program has left in registers is before. */
uint64_t kernel_stack_end(struct kernel *kernel, uint64_t task);

/* The memory of the process that is present, or has this page table; 0: none. */
uint64_t kernel_memory(struct kernel *kernel,
		       const struct address_space *space);

int kernel_each_here(struct kernel *kernel, kernel_process_visit *visit,
		     void *context, struct failure *why);
int kernel_each_in(struct kernel *kernel, uint64_t memory,
		   kernel_mapping_visit *visit, void *context);

/* Text is borrowed. */
void kernel_want(struct kernel_wanted *wanted, const char *text);

/* Whether all are followed, and not one. */
bool kernel_follows_all(const struct kernel *kernel);

/* Whether a thread is of such a process. */
bool kernel_is_wanted(struct kernel *kernel,
		      const struct kernel_wanted *wanted, uint64_t task);

/* Whether a program executes, and the same since one was seen. */
bool kernel_is_same_stay(const struct machine_view *a,
			 const struct machine_view *b);

/* Where the kernel goes on when a system call is over; free() the list. */
int kernel_find_returns(struct kernel *kernel, struct names *names, uint64_t t,
			struct kernel_addresses *out, struct failure *why);

/* The call that a thread is in, or that has just been over, and its result. */
void kernel_call_made(struct kernel *kernel, uint64_t task,
		      struct call_event *out);

/*
 * The path of a file, by the address of its structure: somewhere in `path`; "" if
 * there is none.
 */
const char *kernel_path(struct kernel *kernel, uint64_t file,
			char path[PATH_MAX]);

/*
 * The bytes of a file, as far as the kernel has them in memory, by the address of
 * its structure; in a file without a name, -1 if there are none.  `*lacks`: how
 * many pages are missing; those are zeros, and not in `has`, to be freed, which
 * has one byte a page.
 */
int kernel_file_bytes(struct kernel *kernel, uint64_t file, uint64_t *size,
		      uint8_t **has, size_t *lacks);

#endif
