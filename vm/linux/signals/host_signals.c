/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host_signals.c - what comes from the host, until it is delivered */
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "vm/linux/abi/abi.h"
#include "vm/linux/host/host.h"
#include "vm/linux/process.h"
#include "vm/linux/signals/signals_internal.h"

/*
 * The host's mask is the guest's, so what is blocked waits in the host's
 * kernel, where signalfd(), sigpending() and sigwait() find it.  What is not
 * blocked reaches host_handler(), which keeps the one signal and blocks all
 * others until linux_deliver() has passed it on.
 *
 * SIGSEGV and SIGBUS belong to touch.c and are never blocked on the host; it
 * passes on what was sent.  What the guest blocks of them is kept in `own`, as
 * is what it sends to itself.
 *
 * A debugger is told of signals that are ignored, too.  Of those, `own` has what
 * a thread sends to itself, and a SIGPIPE reaches host_handler(): it belongs to
 * a call that is over.  Others would interrupt calls, and stay with the host.
 */

/*
 * The kick: a signal that a thread's host thread never blocks, and that
 * brings it out of a call that waits, when it must end.  Where the guest
 * blocks it, it is kept in `own` like those of touch.c.
 */
#define KICK SIGNALS

static struct linux_process *active;

/* What a kick says that is to end the process; every fork knows the address. */
static const char ending;

/* The guest thread that this thread of the host performs. */
static __thread struct linux_thread *own;

/* The kernel's own struct sigaction: the C library keeps two signals. */
struct kernel_action {
	void *handler;
	uint64_t flags;
	void *restorer;
	uint64_t mask;
};

#define RESTORER UINT64_C(0x04000000)	/* SA_RESTORER */

#define MEMORYS_OWN (MASK_OF(SIGSEGV) | MASK_OF(SIGBUS))
#define HOSTS_OWN (MEMORYS_OWN | MASK_OF(KICK))

void signals_queue_again(int number, const siginfo_t *info)
{
	syscall(SYS_rt_tgsigqueueinfo, getpid(), (int)syscall(SYS_gettid),
		number, info);
}

static void block_on_return(ucontext_t *context, uint64_t mask)
{
	/* The kernel's mask has 8 bytes; behind it is something else. */
	memcpy(&context->uc_sigmask, &mask, sizeof(mask));
}

static unsigned own_slot(int number)
{
	return number == SIGSEGV ? 0 : number == SIGBUS ? 1 :
	       number == KICK ? 2 : 3;
}

static void keep_own(struct linux_thread *thread, const siginfo_t *info)
{
	struct signals *signals = thread->signals;

	signals->own_info[own_slot(info->si_signo)] = *info;
	__atomic_fetch_or(&signals->own, MASK_OF(info->si_signo),
			  __ATOMIC_SEQ_CST);
}

static void host_handler(int number, siginfo_t *info, void *context)
{
	struct linux_thread *thread = own;
	siginfo_t sent;
	bool is_kick = number == KICK &&
		       info->si_value.sival_ptr == &active;
	bool is_end = number == KICK &&
		      info->si_value.sival_ptr == &ending;
	bool is_fault = number == SIGILL || number == SIGFPE ||
			number == SIGTRAP;

	if ((is_end && !thread) ||
	    (is_kick && (!thread || (!thread->must_end &&
				     !thread->signals->sent.si_signo))))
		return;		/* it comes late */
	if (!thread || (is_fault && info->si_code > 0 &&
			 info->si_code != SI_KERNEL)) {
		signal(number, SIG_DFL);	/* a mistake of our own */
		return;
	}
	if (thread->must_end) {
		block_on_return(context, ~HOSTS_OWN);
		thread->pending = KICK;
		host_call_interrupt(context);
		return;
	}
	if (is_end) {
		sent = *info;
		info = &sent;
		number = sent.si_signo = SIGKILL;
	}
	if (is_kick) {
		sent = thread->signals->sent;
		thread->signals->sent.si_signo = 0;
		info = &sent;
		number = sent.si_signo;
	}
	if (MASK_OF(number) & HOSTS_OWN &&
	    (thread->pending ||
	     thread->signals->mask & MASK_OF(number))) {
		keep_own(thread, info);
		return;
	}
	block_on_return(context, ~HOSTS_OWN);
	if (thread->pending && !is_end) {
		/* The return from a fault's handler has unblocked us. */
		signals_queue_again(number, info);
		return;
	}
	thread->signals->info = *info;
	thread->pending = number;
	host_call_interrupt(context);
	if (thread->process->thread == thread)
		vm_interrupt(thread->process->vm);
}

/* A SIGSEGV or SIGBUS that another process has sent. */
static void on_sent(int number, siginfo_t *info, void *context)
{
	struct linux_thread *thread = own;
	bool is_blocked = thread && thread->signals->mask & MASK_OF(number);

	if (!thread)
		return;		/* the guest is about to end */
	if (!is_blocked && thread->process->actions->of[number].handler ==
				   (uintptr_t)SIG_IGN)
		return;
	/* As other signals' handlers are: alone.  The return ends that. */
	signals_hold();
	host_handler(number, info, context);
}

static void host_action(int number, const struct kernel_action *set,
			struct kernel_action *old)
{
	syscall(SYS_rt_sigaction, number, set, old, sizeof(uint64_t));
}

void signals_install(const struct guest_action *action, int number)
{
	uint64_t passed = SA_NOCLDSTOP | SA_NOCLDWAIT;
	struct kernel_action set = {
		.handler = (void *)host_handler,
		.flags = SA_SIGINFO | SA_RESTART | RESTORER |
			 (action->flags & passed),
		.restorer = (void *)(uintptr_t)host_restorer,
		.mask = ~HOSTS_OWN,
	};

	if (MASK_OF(number) & (MEMORYS_OWN | UNBLOCKABLE))
		return;
	if (action->handler == (uintptr_t)SIG_IGN && number != KICK &&
	    number != SIGPIPE)
		set.handler = (void *)SIG_IGN;
	if (action->handler == (uintptr_t)SIG_DFL && number != KICK &&
	    signals_default(number) != DEFAULT_END)
		set.handler = (void *)SIG_DFL;
	host_action(number, &set, NULL);
}

/* ------- who gets them ------- */

void signals_adopt(struct linux_thread *thread)
{
	own = thread;
	signals_let(signals_host_mask(thread->signals->mask));
}

void signals_abandon(void)
{
	own = NULL;
}

void signals_kick(struct linux_thread *thread)
{
	siginfo_t info = { .si_signo = KICK, .si_code = SI_QUEUE };

	info.si_value.sival_ptr = &active;
	syscall(SYS_rt_tgsigqueueinfo, getpid(), thread->tid, KICK, &info);
}

void signals_end_process(int pid)
{
	siginfo_t info = { .si_signo = KICK, .si_code = SI_QUEUE };

	info.si_value.sival_ptr = (void *)(uintptr_t)&ending;
	syscall(SYS_rt_sigqueueinfo, pid, KICK, &info);
}

bool signals_can_end(uint64_t caught)
{
	return caught >> (KICK - 1) & 1;
}

void signals_init(struct linux_process *process)
{
	struct signals *signals = process->thread->signals;

	signals->stack.flags = SS_DISABLE;
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &signals->mask,
		sizeof(signals->mask));
	active = process;
	memory_on_sent(process->memory, on_sent);
	signals_adopt(process->thread);
	for (int i = 1; i <= SIGNALS; i++) {
		struct kernel_action old = { 0 };

		host_action(i, NULL, &old);
		if (old.handler == (void *)SIG_IGN)
			process->actions->of[i].handler = (uintptr_t)SIG_IGN;
		signals_install(&process->actions->of[i], i);
	}
}

void signals_release(struct linux_process *process)
{
	if (active != process)
		return;
	/* A program that has ended gets no signals: they stay blocked. */
	signals_hold();
	for (int i = 1; i <= SIGNALS; i++) {
		struct kernel_action set = { 0 };

		if (MASK_OF(i) & (MEMORYS_OWN | UNBLOCKABLE))
			continue;
		if (process->actions->of[i].handler == (uintptr_t)SIG_IGN)
			set.handler = (void *)SIG_IGN;
		host_action(i, &set, NULL);
	}
	memory_on_sent(process->memory, NULL);
	active = NULL;
	own = NULL;
}

/* ------- when ------- */

uint64_t signals_host_mask(uint64_t mask)
{
	return mask & ~HOSTS_OWN;
}

/* Blocks these too; returns what was blocked before. */
static uint64_t block(uint64_t set)
{
	uint64_t before = 0;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, &before, sizeof(before));
	return before;
}

uint64_t signals_hold(void)
{
	return block(~HOSTS_OWN);
}

uint64_t signals_hold_end(void)
{
	return block(MASK_OF(KICK));
}

void signals_let(uint64_t held)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &held, NULL, sizeof(held));
}

/* ------- what has come ------- */

int signals_own_number(const struct signals *signals)
{
	uint64_t ready = signals->own & ~signals->mask;

	return ready ? __builtin_ctzll(ready) + 1 : 0;
}

void signals_send_own(struct linux_thread *thread, const siginfo_t *info)
{
	if (thread == own) {
		keep_own(thread, info);
		return;
	}
	/* Its host thread may wait for something, and is to notice. */
	thread->signals->sent = *info;
	signals_kick(thread);
}

int signals_take_own(struct signals *signals, uint64_t set, siginfo_t *info)
{
	uint64_t ready = signals->own & set;
	int number = ready ? __builtin_ctzll(ready) + 1 : 0;

	if (!number)
		return 0;
	*info = signals->own_info[own_slot(number)];
	__atomic_fetch_and(&signals->own, ~MASK_OF(number), __ATOMIC_SEQ_CST);
	return number;
}

void signals_take(struct linux_process *process, siginfo_t *info)
{
	struct signals *signals = process->thread->signals;

	if (signals_take_own(signals, ~signals->mask, info))
		return;
	*info = signals->info;
	process->thread->pending = 0;	/* the host blocks all at present */
}
