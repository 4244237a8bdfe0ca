/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel.h - what a room may ask of the kernel as a whole
 *
 * Performing a call needs nearly all rooms: descriptors, signals, threads.
 * So it is done by the core, which includes them all, and they include this.
 * No room reaches another one above it in any other way.
 *
 * Functions that stand for the kernel return what the kernel would put into
 * the result register: a value, or a negative errno of the host, which is
 * the guest's.
 *
 * Errors:     negative errnos.
 */
#ifndef CPREC_VM_LINUX_KERNEL_H
#define CPREC_VM_LINUX_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "vm/linux/linux.h"
#include "vm/linux/abi/calls.h"

struct linux_process;
struct linux_thread;

/* A call that needs code of its own: its row, and its six arguments. */
typedef int64_t syscall_handler(struct linux_process *process,
				const struct linux_call *row,
				const uint64_t *arg);

/*
 * Results of a call that a signal interrupted; they never reach the guest.
 * Linux has the same numbers inside.
 */
enum {
	RESTART_IF_ASKED = 512,	/* the signal's SA_RESTART decides */
	RESTART_ALWAYS = 513,	/* the call was not even begun */
};

/* A pointer that the host kernel will refuse with EFAULT, if it looks. */
#define BAD_POINTER UINT64_C(16)

/* ------- calls.c ------- */

/* The function that performs a call; NULL: marshal_call(). */
syscall_handler *call_handler(const struct linux_call *call);

/* ------- fixed_calls.c ------- */

struct vm_stop;

/*
 * Whether a fault is such a call, which is made then: its number; `*error` is
 * not 0 if it could not return, which is SIGSEGV.
 */
bool fixed_call(struct linux_process *process, const struct vm_stop *stop,
		uint64_t *number, int *error);

/* ------- marshal.c ------- */

/* Performs a call as its row says, on the host. */
int64_t marshal_call(struct linux_process *process,
		     const struct linux_call *row, const uint64_t *arg);

/* ------- waiting.c ------- */

/*
 * A call of the host's that may wait: other threads run meanwhile.  It must
 * not be given addresses of guest memory, which may change or be closed; see
 * spans_detach().
 */
#define host_wait(process, number, ...)                                       \
	host_wait_array((process), (number), (const uint64_t[6]){ __VA_ARGS__ })
int64_t host_wait_array(struct linux_process *process, long number,
			const uint64_t arg[6]);

/* ------- process.c ------- */

__attribute__((format(printf, 3, 4)))
void notice(struct linux_process *process, enum linux_notice kind,
	    const char *format, ...);

/*
 * The same, but only the first time for this `about`: the number of a call,
 * or one of the following.
 */
enum {
	ABOUT_UNKNOWN_CALL = 1022,
	ABOUT_OTHER_ABI = 1023,	/* a call of another kind of guest */
};

__attribute__((format(printf, 4, 5)))
void notice_once(struct linux_process *process, uint64_t about,
		 enum linux_notice kind, const char *format, ...);

/* The living thread of this number, or NULL. */
struct linux_thread *thread_find(struct linux_process *process, int tid);

/*
 * The process ends by this, in the present thread: what other processes wait
 * for is given free.
 */
void process_ends(struct linux_process *process, enum linux_outcome outcome,
		  int status);

/*
 * What became of the present thread, for the record; `value` is what its
 * result register has.
 */
void process_report(struct linux_process *process,
		    struct linux_result *result, uint64_t number,
		    int64_t value);

/* ------- process_calls.c ------- */

/* The number of the only processor that the guest has. */
unsigned guest_processor(struct linux_process *process);

syscall_handler sys_prctl;
syscall_handler sys_set_rights;
syscall_handler sys_capget;
syscall_handler sys_of_whom;
syscall_handler sys_sched_getaffinity;
syscall_handler sys_getcpu;
syscall_handler sys_nothing;
syscall_handler sys_missing;
syscall_handler sys_uname;
syscall_handler sys_sysinfo;

#endif
