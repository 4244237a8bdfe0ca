/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * signals.h - signals of the guest: from the host to its handlers
 *
 * The host's handler keeps what comes (host_signals.c); between instructions
 * of the guest it is delivered (signal_delivery.c), as dispositions and masks
 * say (signals.c).  This room never asks what a signal is about: faults come
 * from ../fault.c, and the frame's layout is the abi's.
 *
 * Units:      masks have bit N - 1 for signal N.
 * Errors:     negative errnos.
 * Threads:    the host's handler runs at any time; what it writes is volatile
 *             or changed while it is blocked.
 */
#ifndef CPREC_VM_LINUX_SIGNALS_SIGNALS_H
#define CPREC_VM_LINUX_SIGNALS_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "formats/region.h"
#include "vm/linux/abi/abi.h"
#include "vm/linux/kernel.h"

struct failure;
struct linux_process;
struct linux_result;
struct linux_thread;

enum { SIGNALS = 64 };		/* the highest signal */

#define MASK_OF(number) (UINT64_C(1) << ((number) - 1))

/* What one thread has of signals; see also its `pending`. */
struct signals {
	uint64_t mask;
	uint64_t saved_mask;	/* to come back after a call that had its own */
	bool has_saved_mask;
	struct guest_stack stack;
	struct guest_trap trap;

	/* Filled in by the host's handler, as `pending` is. */
	siginfo_t info;

	/* SIGSEGV and SIGBUS that the guest has sent to itself; the kick; one
	 * that it ignores. */
	uint64_t own;
	siginfo_t own_info[4];
	siginfo_t sent;		/* one of them, by another thread */
};

/* What the process has: what is done about each signal. */
struct actions {
	struct guest_action of[SIGNALS + 1];
};

/* ------- host_signals.c ------- */

void signals_init(struct linux_process *process);
void signals_release(struct linux_process *process);

/* The host thread that calls this is the guest thread's from now on. */
void signals_adopt(struct linux_thread *thread);

/* The host thread that calls this is no guest thread's any more. */
void signals_abandon(void);

/* Makes a thread's host thread notice that it must end, or has a signal. */
void signals_kick(struct linux_thread *thread);

/* What the host may be told to block for such a guest mask. */
uint64_t signals_host_mask(uint64_t mask);

/*
 * Nothing comes from the host until signals_let() gets what signals_hold()
 * returned.
 */
uint64_t signals_hold(void);

/* The same of what asks the process to end as by SIGKILL. */
uint64_t signals_hold_end(void);
void signals_let(uint64_t held);

/* Puts a signal back into the host's kernel, to come again. */
void signals_queue_again(int number, const siginfo_t *info);

/* ------- signals.c ------- */

/* Sets the guest's mask, and the host's accordingly. */
void signals_set_mask(struct linux_process *process, uint64_t mask);

/*
 * A mask for the length of one call; the host call installs it itself.
 * `result` is what the call had.
 */
void signals_lend_mask(struct linux_process *process, uint64_t mask);
void signals_return_mask(struct linux_process *process, int64_t result);

/* A new thread starts with these of the one that makes it. */
void signals_inherit(struct signals *child, const struct signals *parent);

/* In the child of a fork: what was pending is the parent's. */
void signals_forget(struct linux_process *process);

/* No handlers any more; and no alternate stack: another program starts. */
void signals_drop_handlers(struct linux_process *process);
void signals_drop_all(struct linux_process *process);

/* Whether the pending signal will end the process. */
bool signals_is_deadly(const struct linux_process *process);

/* Those whose handler is SIG_IGN, or a function of the guest's. */
uint64_t signals_ignored(const struct linux_process *process);
uint64_t signals_caught(const struct linux_process *process);

/* ------- signal_delivery.c ------- */

/* Whether there is one that the present thread does not block. */
bool signals_has(const struct linux_process *process);

/* Delivers it; its number, or 0 if there is none. */
int signals_deliver(struct linux_process *process);

/* Whether the signal about to be delivered lets calls be restarted. */
bool signals_restart(const struct linux_process *process);

/*
 * A signal of a fault: cannot be blocked or ignored.  The exception, if it is
 * one, is noted before.
 */
void signals_force(struct linux_process *process, siginfo_t *info);

/* ------- alternate_stack.c ------- */

/* SS_AUTODISARM, which the C library's headers leave out. */
#define STACK_AUTODISARM INT32_MIN

/* Whether a stack pointer is on it, if that can be told. */
bool on_alternate_stack(struct linux_process *process, guest_addr sp);

/* -EPERM if `sp` is on the present one, -EINVAL, -ENOMEM. */
int set_alternate_stack(struct linux_process *process,
			const struct guest_stack *set, guest_addr sp);

/* ------- calls ------- */

syscall_handler sys_rt_sigaction;
syscall_handler sys_rt_sigprocmask, sys_sigprocmask;
syscall_handler sys_rt_sigpending;
syscall_handler sys_rt_sigtimedwait;
syscall_handler sys_sigaltstack;
syscall_handler sys_rt_sigreturn;
syscall_handler sys_kill;
syscall_handler sys_tkill;
syscall_handler sys_tgkill;
syscall_handler sys_rt_sigqueueinfo;
syscall_handler sys_rt_tgsigqueueinfo;
syscall_handler sys_pidfd_send_signal;

#endif
