/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * files.h - descriptors of the guest, and what is done with them
 *
 * Descriptors are the host's.  This room knows what is special about some:
 * those of standard output and error, and of files that are made for the guest
 * because the host's would show cprec (proc/ says which, and what they hold).
 * It moves bytes between files and the guest's memory.  It never maps files,
 * and never starts or ends anything.
 *
 * A file that is made is an empty file of the host's in memory, for its
 * descriptor and its position.  One of text is filled when it is opened, and
 * again whenever it is read from its start, as Linux does.  What stands for
 * memory is not there at all: reads and writes of such a descriptor are
 * performed in made.c.
 *
 * Errors:     negative errnos; -ENOSYS: it is a matter for the host.
 */
#ifndef CPREC_VM_LINUX_FILES_FILES_H
#define CPREC_VM_LINUX_FILES_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vm/linux/kernel.h"

struct linux_process;
struct proc_file;

/* What is known of a descriptor of the guest's. */
struct descriptor {
	const struct proc_file *file;	/* that it was made for */
	uint32_t tid;		/* of the thread whose file that is, or 0 */
	uint8_t stream;		/* it is, or was copied from, 1 or 2 */
	uint8_t waiting;	/* enum waiting; see read_waits() */
};

struct open_files {
	struct descriptor *descriptors;	/* by number; see descriptors.c */
	size_t count;
};

/* ------- descriptors.c ------- */

int descriptors_init(struct linux_process *process);	/* ERR_NO_MEMORY */
void descriptors_release(struct linux_process *process);

/* What is known of any descriptor; nothing of most. */
const struct descriptor *descriptor_of(const struct linux_process *process,
				       int fd);

/* What was made of /proc is about the program, or the parent, before. */
void descriptors_age(struct linux_process *process);

/* After a fork: cprec keeps its standard error as long as the guest does. */
void descriptors_review_stderr(const struct linux_process *process);

/* Closes the guest's descriptors that an exec closes. */
void close_on_exec(struct linux_process *process);

/*
 * Hides what is marked close-on-exec, before the guest's first call: it would
 * not have come through an execve(), so it is not the program's.
 */
void hide_own_descriptors(struct linux_process *process);

/* Which of the standard streams it is, or 0. */
static inline int stream_of(const struct linux_process *process, int fd)
{
	return descriptor_of(process, fd)->stream;
}

/* ------- calls ------- */

/* transfer.c */
syscall_handler sys_read;
syscall_handler sys_write;
syscall_handler sys_pread64;
syscall_handler sys_pwrite64;
syscall_handler sys_readv;
syscall_handler sys_writev;
syscall_handler sys_preadv;
syscall_handler sys_pwritev;
syscall_handler sys_preadv2;
syscall_handler sys_pwritev2;

/* files.c */
syscall_handler sys_open;
syscall_handler sys_openat;
syscall_handler sys_openat2;
syscall_handler sys_about;
syscall_handler sys_llseek;
syscall_handler sys_readlink;
syscall_handler sys_readlinkat;
syscall_handler sys_getdents;
syscall_handler sys_resize;
syscall_handler sys_truncate;
syscall_handler sys_creat;

/* copying.c */
syscall_handler sys_sendfile;
syscall_handler sys_splice;
syscall_handler sys_tee;
syscall_handler sys_copy_file_range;

/* descriptors.c */
syscall_handler sys_close;
syscall_handler sys_close_range;
syscall_handler sys_make;
syscall_handler sys_pipe;
syscall_handler sys_socketpair;
syscall_handler sys_dup;
syscall_handler sys_dup2;
syscall_handler sys_dup3;

/* fcntl.c */
syscall_handler sys_fcntl;

/* ioctl.c */
syscall_handler sys_ioctl;

/* poll.c */
syscall_handler sys_poll;
syscall_handler sys_ppoll;
syscall_handler sys_select;
syscall_handler sys_pselect6;

/* sockets.c */
syscall_handler sys_sendto;
syscall_handler sys_setsockopt, sys_getsockopt;
syscall_handler sys_sendmsg;
syscall_handler sys_recvmsg;
syscall_handler sys_sendmmsg;
syscall_handler sys_recvmmsg;

#endif
