/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * limits.h - resource limits that the guest's kernel keeps, not the host's
 *
 * The host has one process for cprec and the guest: what limits its memory,
 * files or descriptors would limit the recording.  So these limits are known
 * here alone; a fork copies them along with everything else, and an exec keeps
 * them.  At first they are what the host's are.  All others are the host's.
 *
 * This room has the limits, and heeds those of files and descriptors; it never
 * looks at what is mapped: that is counted in memory/.
 *
 * Units:      memory and files in bytes; descriptors by number.
 * Errors:     negative errnos.
 */
#ifndef CPREC_VM_LINUX_LIMITS_LIMITS_H
#define CPREC_VM_LINUX_LIMITS_LIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "vm/linux/kernel.h"

struct linux_process;
struct msghdr;

#define UNLIMITED UINT64_MAX

/* As struct rlimit has them. */
struct limit {
	uint64_t soft, hard;
};

enum limit_kind {
	LIMIT_MEMORY,		/* RLIMIT_AS */
	LIMIT_DATA,
	LIMIT_STACK,
	LIMIT_FILE,		/* RLIMIT_FSIZE */
	LIMIT_DESCRIPTORS,	/* RLIMIT_NOFILE */
	LIMITS
};

struct limits {
	struct limit kept[LIMITS];
	int highest;		/* descriptor that the guest ever had */
	bool is_narrow;		/* the host has the guest's, for one call */
	struct limit host;	/* meanwhile: what it had */
};

/* ------- limits.c ------- */

/*
 * Takes over the host's limits; that of descriptors is then raised as far as
 * it goes, so that cprec's own find room beyond the guest's.
 */
void limits_init(struct linux_process *process);

/* The one that is in force. */
uint64_t limit_of(const struct linux_process *process, enum limit_kind kind);

/* /proc/self/limits */
void limits_print(struct linux_process *process, uint32_t tid, FILE *out);

/* ------- files.c ------- */

/*
 * How many bytes may be written to a descriptor, UNLIMITED where no limit
 * counts.  `offset`: negative for where it stands, or for its end if
 * `appends`.
 */
uint64_t limits_file_room(struct linux_process *process, int fd,
			  int64_t offset, bool appends);

/* No byte: SIGXFSZ is sent; the call's errno is returned. */
int64_t limits_file_exceeded(void);

/* Whether a file may get this size; if not, it is as above. */
bool limits_allow_size(struct linux_process *process, int fd, uint64_t size);
bool limits_allow_path_size(struct linux_process *process, const char *path,
			    uint64_t size);

/* ------- descriptors.c ------- */

/*
 * Before and after a call that makes `count` descriptors.  Where there is no
 * room for them, the host gets the guest's limit meanwhile, and refuses.
 * `result`, if it is not negative, is a descriptor that the guest now has.
 */
bool limits_make(struct linux_process *process, unsigned count);
void limits_made(struct linux_process *process, bool narrowed, int64_t result);

/* The same where the call is to make a descriptor of this number, or above. */
bool limits_make_at(struct linux_process *process, uint64_t number);

/* Whether there is room for one more. */
bool limits_allow_descriptor(struct linux_process *process);

/* Descriptors came with a message: those for which there is no room go. */
void limits_received(struct linux_process *process, struct msghdr *message);

/* ------- calls ------- */

syscall_handler sys_getrlimit;
syscall_handler sys_setrlimit;
syscall_handler sys_prlimit64;

#endif
