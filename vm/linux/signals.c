/* SPDX-License-Identifier: GPL-2.0-or-later */
/* signals.c - dispositions and masks, and what comes from the host */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "vm/linux/handlers.h"
#include "vm/linux/process.h"

/*
 * The host's mask is the guest's, so what is blocked waits in the host's
 * kernel, where signalfd(), sigpending() and sigwait() find it.  What is not
 * blocked reaches host_handler(), which keeps the one signal and blocks all
 * others until linux_deliver() has passed it on.
 *
 * SIGSEGV and SIGBUS belong to memory.c and are never blocked on the host;
 * those that the guest sends to itself are kept in `own`.
 */

/*
 * The kick: a signal that a thread's host thread never blocks, and that
 * brings it out of a call that waits, when it must end.  Where the guest
 * blocks it, it is kept in `own` like those of memory.c.
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

extern const char host_restorer[];
__asm__(
	".text\n"
	".type host_restorer, @function\n"
	"host_restorer:\n"
	"	movq	$15, %rax\n"	/* rt_sigreturn */
	"	syscall\n"
	".size host_restorer, . - host_restorer\n");

#define MASK_OF(number) (UINT64_C(1) << ((number) - 1))
#define MEMORYS_OWN (MASK_OF(SIGSEGV) | MASK_OF(SIGBUS))
#define HOSTS_OWN (MEMORYS_OWN | MASK_OF(KICK))
#define UNBLOCKABLE (MASK_OF(SIGKILL) | MASK_OF(SIGSTOP))

enum default_action { DEFAULT_END, DEFAULT_NOTHING, DEFAULT_STOP };

static enum default_action default_action(int number)
{
	switch (number) {
	case SIGCHLD:
	case SIGCONT:
	case SIGURG:
	case SIGWINCH:
		return DEFAULT_NOTHING;
	case SIGSTOP:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
		return DEFAULT_STOP;
	default:
		return DEFAULT_END;
	}
}

/* Puts a signal back into the host's kernel, to come again. */
static void queue_again(int number, const siginfo_t *info)
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
	return number == SIGSEGV ? 0 : number == SIGBUS ? 1 : 2;
}

static void keep_own(struct linux_thread *thread, const siginfo_t *info)
{
	struct signals *signals = &thread->signals;

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
				     !thread->signals.sent.si_signo))))
		return;		/* it comes late */
	if (!thread || (is_fault && info->si_code > 0 &&
			 info->si_code != SI_KERNEL)) {
		signal(number, SIG_DFL);	/* a mistake of our own */
		return;
	}
	if (thread->must_end) {
		block_on_return(context, ~HOSTS_OWN);
		thread->signals.pending = KICK;
		host_call_interrupt(context);
		return;
	}
	if (is_end) {
		sent = *info;
		info = &sent;
		number = sent.si_signo = SIGKILL;
	}
	if (is_kick) {
		sent = thread->signals.sent;
		thread->signals.sent.si_signo = 0;
		info = &sent;
		number = sent.si_signo;
	}
	if (MASK_OF(number) & HOSTS_OWN &&
	    (thread->signals.pending ||
	     thread->signals.mask & MASK_OF(number))) {
		keep_own(thread, info);
		return;
	}
	block_on_return(context, ~HOSTS_OWN);
	if (thread->signals.pending && !is_end) {
		/* The return from a fault's handler has unblocked us. */
		queue_again(number, info);
		return;
	}
	thread->signals.info = *info;
	thread->signals.pending = number;
	host_call_interrupt(context);
	if (thread->process->thread == thread)
		vm_interrupt(thread->process->vm);
}

static void host_action(int number, const struct kernel_action *set,
			struct kernel_action *old)
{
	syscall(SYS_rt_sigaction, number, set, old, sizeof(uint64_t));
}

/* Makes the host do with a signal what the guest wants done. */
static void install(const struct guest_action *action, int number)
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
	if (action->handler == (uintptr_t)SIG_IGN && number != KICK)
		set.handler = (void *)SIG_IGN;
	if (action->handler == (uintptr_t)SIG_DFL && number != KICK &&
	    default_action(number) != DEFAULT_END)
		set.handler = (void *)SIG_DFL;
	host_action(number, &set, NULL);
}

void signals_adopt(struct linux_thread *thread)
{
	own = thread;
	signals_let(signals_host_mask(thread->signals.mask));
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
	struct signals *signals = &process->thread->signals;

	signals->stack.flags = SS_DISABLE;
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &signals->mask,
		sizeof(signals->mask));
	active = process;
	signals_adopt(process->thread);
	for (int i = 1; i <= SIGNALS; i++) {
		struct kernel_action old = { 0 };

		host_action(i, NULL, &old);
		if (old.handler == (void *)SIG_IGN)
			process->action[i].handler = (uintptr_t)SIG_IGN;
		install(&process->action[i], i);
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
		if (process->action[i].handler == (uintptr_t)SIG_IGN)
			set.handler = (void *)SIG_IGN;
		host_action(i, &set, NULL);
	}
	active = NULL;
	own = NULL;
}

/* ------- masks ------- */

uint64_t signals_host_mask(uint64_t mask)
{
	return mask & ~HOSTS_OWN;
}

/* A signal that came just before it was blocked goes back to the host. */
static void send_back(struct linux_process *process)
{
	struct signals *signals = &process->thread->signals;
	int number = signals->pending;

	if (!number || !(signals->mask & MASK_OF(number)))
		return;
	signals->pending = 0;		/* the host blocks all at present */
	queue_again(number, &signals->info);
}

static void set_host_mask(struct linux_process *process)
{
	uint64_t mask = signals_host_mask(process->thread->signals.mask);

	/* Not done if there is a signal; its delivery does it. */
	host_call(process, SYS_rt_sigprocmask, SIG_SETMASK,
		  host_pointer(&mask), 0, sizeof(mask));
}

void signals_set_mask(struct linux_process *process, uint64_t mask)
{
	process->thread->signals.mask = mask & ~UNBLOCKABLE;
	send_back(process);
	set_host_mask(process);
}

void signals_lend_mask(struct linux_process *process, uint64_t mask)
{
	struct signals *signals = &process->thread->signals;

	signals->saved_mask = signals->mask;
	signals->has_saved_mask = true;
	signals->mask = mask & ~UNBLOCKABLE;
}

void signals_return_mask(struct linux_process *process, int64_t result)
{
	struct signals *signals = &process->thread->signals;
	bool interrupted = result == -EINTR || result == -RESTART_IF_ASKED;

	/* A delivery heeds the lent mask, and returns it. */
	if (!signals->has_saved_mask ||
	    (interrupted && linux_has_signal(process)))
		return;
	signals->has_saved_mask = false;
	signals_set_mask(process, signals->saved_mask);
}

/* ------- new processes and programs ------- */

uint64_t signals_hold(void)
{
	uint64_t all = ~HOSTS_OWN, held = 0;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &held, sizeof(held));
	return held;
}

void signals_let(uint64_t held)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &held, NULL, sizeof(held));
}

void signals_forget(struct linux_process *process)
{
	process->thread->signals.pending = 0;
	process->thread->signals.own = 0;
}

void signals_drop_handlers(struct linux_process *process)
{
	for (int i = 1; i <= SIGNALS; i++) {
		struct guest_action *action = &process->action[i];
		uint64_t handler = action->handler;

		*action = (struct guest_action){ 0 };
		if (handler == (uintptr_t)SIG_IGN)
			action->handler = handler;
		install(action, i);
	}
}

bool signals_is_deadly(const struct linux_process *process)
{
	const struct signals *signals = &process->thread->signals;
	int number = signals->pending;

	return number && !(signals->mask & MASK_OF(number)) &&
	       process->action[number].handler == (uintptr_t)SIG_DFL &&
	       default_action(number) == DEFAULT_END;
}

/* ------- delivery ------- */

static int own_number(const struct signals *signals)
{
	uint64_t ready = signals->own & ~signals->mask;

	return ready ? __builtin_ctzll(ready) + 1 : 0;
}

bool linux_has_signal(const struct linux_process *process)
{
	const struct signals *signals = &process->thread->signals;
	int number = signals->pending;

	return (number && !(signals->mask & MASK_OF(number))) ||
	       own_number(signals) || process->lost;
}

void signals_send_own(struct linux_thread *thread, const siginfo_t *info)
{
	if (thread == own) {
		keep_own(thread, info);
		return;
	}
	/* Its host thread may wait for something, and is to notice. */
	thread->signals.sent = *info;
	signals_kick(thread);
}

static void take(struct linux_process *process, siginfo_t *info)
{
	struct signals *signals = &process->thread->signals;
	int number = own_number(signals);

	if (number) {
		*info = signals->own_info[own_slot(number)];
		__atomic_fetch_and(&signals->own, ~MASK_OF(number),
				   __ATOMIC_SEQ_CST);
		return;
	}
	*info = signals->info;
	signals->pending = 0;		/* the host blocks all at present */
}

static void end_by(struct linux_process *process, int number)
{
	process->thread->outcome = LINUX_KILLED;
	process->thread->status = number;
	threads_let_go(process);
}

/* The mask that returning from a handler brings back. */
static uint64_t mask_to_restore(struct signals *signals)
{
	bool saved = signals->has_saved_mask;

	signals->has_saved_mask = false;
	return saved ? signals->saved_mask : signals->mask;
}

static void enter_handler(struct linux_process *process,
			  const siginfo_t *info)
{
	struct signals *signals = &process->thread->signals;
	int number = info->si_signo;
	struct guest_action action = process->action[number];
	uint64_t mask = signals->mask;

	process->thread->changed_registers = true;
	if (frame_push(process, info, &action, mask_to_restore(signals))) {
		if (number != SIGSEGV &&
		    process->action[SIGSEGV].handler > 1) {
			siginfo_t fault = { .si_signo = SIGSEGV,
					    .si_code = SI_KERNEL };

			signals_force(process, &fault);
		} else {
			end_by(process, SIGSEGV);
		}
		return;
	}
	if (action.flags & (uint64_t)SA_RESETHAND) {
		process->action[number].handler = (uintptr_t)SIG_DFL;
		install(&process->action[number], number);
	}
	mask |= action.mask;
	if (!(action.flags & SA_NODEFER))
		mask |= MASK_OF(number);
	signals_set_mask(process, mask);
}

static void deliver(struct linux_process *process, const siginfo_t *info)
{
	struct signals *signals = &process->thread->signals;
	int number = info->si_signo;
	uint64_t handler = process->action[number].handler;

	if (handler != (uintptr_t)SIG_DFL && handler != (uintptr_t)SIG_IGN) {
		enter_handler(process, info);
		return;
	}
	if (handler == (uintptr_t)SIG_DFL) {
		switch (default_action(number)) {
		case DEFAULT_END:
			end_by(process, number);
			return;
		case DEFAULT_STOP:
			kill(getpid(), SIGSTOP);
			break;
		case DEFAULT_NOTHING:
			break;
		}
	}
	signals_set_mask(process, mask_to_restore(signals));
}

static void fill_result(struct linux_process *process,
			struct linux_result *result, uint64_t number)
{
	*result = (struct linux_result){
		.outcome = process->thread->outcome,
		.status = process->thread->status,
		.number = number,
		.value = (int64_t)vm_reg(process->vm, X86_RAX),
		.all_registers = process->thread->changed_registers,
	};
}

int linux_deliver(struct linux_process *process, struct linux_result *result,
		  struct failure *why)
{
	siginfo_t info = { 0 };

	(void)why;
	process->thread->changed_registers = false;
	if (process->lost) {
		info.si_signo = SIGBUS;
		lost_pages_mend(process);
	} else if (linux_has_signal(process)) {
		take(process, &info);
		deliver(process, &info);
	}
	fill_result(process, result, (uint64_t)info.si_signo);
	return 0;
}

bool signals_restart(const struct linux_process *process)
{
	const struct signals *signals = &process->thread->signals;
	int number = own_number(signals);
	const struct guest_action *action;

	if (!number)
		number = signals->pending;
	action = &process->action[number];
	return !number || action->handler <= 1 ||
	       action->flags & SA_RESTART;
}

void signals_force(struct linux_process *process, siginfo_t *info)
{
	struct signals *signals = &process->thread->signals;
	int number = info->si_signo;

	if (process->action[number].handler <= 1 ||
	    signals->mask & MASK_OF(number)) {
		end_by(process, number);
		return;
	}
	enter_handler(process, info);
}

/* ------- calls ------- */

int64_t sys_rt_sigaction(struct linux_process *process,
			 const struct syscall_row *row, const uint64_t *arg)
{
	int number = (int)arg[0];
	struct guest_action set, old;

	(void)row;
	if (arg[3] != sizeof(uint64_t) || number < 1 || number > SIGNALS)
		return -EINVAL;
	if (arg[1] && copy_in(process, &set, arg[1], sizeof(set)))
		return -EFAULT;
	if (arg[1] && MASK_OF(number) & UNBLOCKABLE)
		return -EINVAL;
	old = process->action[number];
	if (arg[1]) {
		set.mask &= ~UNBLOCKABLE;
		process->action[number] = set;
		install(&set, number);
		if (set.handler == (uintptr_t)SIG_IGN)
			process->thread->signals.own &= ~MASK_OF(number);
	}
	if (arg[2] && copy_out(process, arg[2], &old, sizeof(old)))
		return -EFAULT;
	return 0;
}

int64_t sys_rt_sigprocmask(struct linux_process *process,
			   const struct syscall_row *row, const uint64_t *arg)
{
	uint64_t old = process->thread->signals.mask, mask = old, set;

	(void)row;
	if (arg[3] != sizeof(uint64_t))
		return -EINVAL;
	if (arg[1]) {
		if (copy_in(process, &set, arg[1], sizeof(set)))
			return -EFAULT;
		switch ((int)arg[0]) {
		case SIG_BLOCK:
			mask |= set;
			break;
		case SIG_UNBLOCK:
			mask &= ~set;
			break;
		case SIG_SETMASK:
			mask = set;
			break;
		default:
			return -EINVAL;
		}
		signals_set_mask(process, mask);
	}
	if (arg[2] && copy_out(process, arg[2], &old, sizeof(old)))
		return -EFAULT;
	return 0;
}

int64_t sys_rt_sigpending(struct linux_process *process,
			  const struct syscall_row *row, const uint64_t *arg)
{
	uint64_t set = 0;
	int64_t result;

	(void)row;
	if (arg[1] > sizeof(set))
		return -EINVAL;
	result = host_call(process, SYS_rt_sigpending, host_pointer(&set),
			   sizeof(set));
	if (result < 0)
		return result;
	set |= process->thread->signals.own;
	return copy_out(process, arg[0], &set, arg[1]) ? -EFAULT : 0;
}
