/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host.h - how cprec and its guest share one process of the host
 *
 * Performs calls of the host's kernel for the guest; keeps descriptors and
 * messages of cprec's own apart from the guest's; shows the guest to other
 * processes, and finds those that are recorded too.  The only room with
 * assembly of the host.  It never asks another room, and changes nothing of
 * what the guest sees.
 *
 * Units:      file descriptors and signal numbers are the host's, which are
 *             the guest's.
 * Errors:     negative errnos, where nothing else is said.
 * Threads:    any may call; see linux.h for hiding descriptors.
 */
#ifndef CPREC_VM_LINUX_HOST_HOST_H
#define CPREC_VM_LINUX_HOST_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct linux_abi;
struct linux_options;
struct linux_process;
struct linux_thread;

struct host {
	int exe;		/* hidden descriptor of the program; -1 */
};

/* ------- host_call.c ------- */

/*
 * A system call of the host that a signal for the guest interrupts for
 * certain, however shortly before the call it comes.
 */
#define host_call(process, number, ...)                                       \
	host_call_array((process), (number), (const uint64_t[6]){ __VA_ARGS__ })
int64_t host_call_array(struct linux_process *process, long number,
			const uint64_t arg[6]);

/* The same for any thread, which need not be the present one. */
int64_t host_call_for(struct linux_thread *thread, long number,
		      const uint64_t arg[6]);

/*
 * For the host's signal handler: moves an interrupted host_call() to where it
 * notices the signal.
 */
void host_call_interrupt(void *ucontext);

/* Where the host's signal handlers return to: rt_sigreturn(2). */
extern const char host_restorer[];

/* Lets the host's processor rest for a moment: a loop waits for something. */
void host_pause(void);

/* ------- hidden.c ------- */

bool is_hidden(int fd);

/*
 * Hides a copy of a descriptor, away from the numbers that those moved by
 * linux_hide_descriptor() get.  Returns its number, or a negative error.
 */
int hide_copy(int fd);

/* Hides a descriptor where it is, if that is still possible. */
void hide_here(int fd);

/* The lowest hidden descriptor at or above `fd`; -1 if there is none. */
int next_hidden(unsigned fd);

/* Calls `visit` for each open descriptor that is not hidden. */
void each_descriptor(void (*visit)(void *context, int fd), void *context);

/* Where a descriptor leads, as /proc/self/fd says; "" if it does not say. */
void descriptor_path(int fd, char *path, size_t room);

/* "/proc/self/fd/7", by which a file can be opened anew. */
enum { LINK_ROOM = 64 };
void descriptor_link(int fd, char link[LINK_ROOM]);

/* ------- own_stderr.c ------- */

/* Makes the copy, if linux_keep_stderr() has been called. */
void own_stderr_hide(void);

/* After a fork, or when the guest lost a stream: whether it has 2 still. */
void own_stderr_review(bool guest_has_stderr);

/* ------- relatives.c: other processes, and what they execute ------- */

/* Whether a process executes cprec, too: its guest is recorded as ours is. */
bool is_relative(uint32_t pid);

/* The process executes this program from now on, as others will find. */
void relatives_keep_exe(struct linux_process *process, int program);

/* A path to the program of a relative; false if that cannot be had. */
bool relatives_exe(const struct linux_process *process, uint32_t pid,
		   char link[LINK_ROOM]);

/* The host's file about a thread of ours, or the process (0), in /proc. */
FILE *host_proc_file(uint32_t tid, const char *name);
int host_proc_open(uint32_t tid, const char *name);	/* O_PATH */

/* ------- title.c ------- */

/*
 * The process becomes this program, whose file was named `typed`: ps(1),
 * pgrep(1) and the like find its name, arguments and environment where the
 * host has a process's.  What the program writes over its arguments later is
 * not seen.  Where the kernel refuses (it was built without
 * CONFIG_CHECKPOINT_RESTORE), cprec's own arguments stay there.
 *
 * The first time before any thread is started; later by any one.
 */
void title_show(const char *typed, char *const *argv, char *const *envp);

/*
 * A process that is none of the guest's is shown as cprec's; allocates nothing.
 */
void title_show_own(void);

/* ------- sysroot.c ------- */

/* The folder that is meant, wherever the program goes, to be freed; NULL if
 * there is none. */
char *sysroot_find(const struct linux_options *options);

/*
 * An absolute path becomes that of the file of this name under the sysroot, if
 * there is one, and programs of this kind have one; `path` has PATH_MAX bytes.
 */
void sysroot_redirect(const struct linux_process *process,
		      const struct linux_abi *abi, char *path);

/* The same of a link itself, for a program of the process's kind; whether it
 * is there. */
bool sysroot_redirect_link(const struct linux_process *process, char *path);

#endif
