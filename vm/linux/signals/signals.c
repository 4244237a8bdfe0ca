/* SPDX-License-Identifier: GPL-2.0-or-later */
/* signals.c - dispositions and masks */
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

#include "vm/linux/abi/abi.h"
#include "vm/linux/abi/calls.h"
#include "vm/linux/abi/structs.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/host/host.h"
#include "vm/linux/kernel.h"
#include "vm/linux/linux.h"
#include "vm/linux/process.h"
#include "vm/linux/signals/signals_internal.h"

enum default_action signals_default(int number)
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

/* ------- masks ------- */

/* A signal that came just before it was blocked goes back to the host. */
static void send_back(struct linux_process *process)
{
	struct signals *signals = process->thread->signals;
	int number = process->thread->pending;

	if (!number || !(signals->mask & MASK_OF(number)))
		return;
	process->thread->pending = 0;	/* the host blocks all at present */
	signals_queue_again(number, &signals->info);
}

static void set_host_mask(struct linux_process *process)
{
	uint64_t mask = signals_host_mask(process->thread->signals->mask);

	/* Not done if there is a signal; its delivery does it. */
	host_call(process, SYS_rt_sigprocmask, SIG_SETMASK,
		  host_pointer(&mask), 0, sizeof(mask));
}

void signals_set_mask(struct linux_process *process, uint64_t mask)
{
	process->thread->signals->mask = mask & ~UNBLOCKABLE;
	send_back(process);
	set_host_mask(process);
}

void signals_lend_mask(struct linux_process *process, uint64_t mask)
{
	struct signals *signals = process->thread->signals;

	signals->saved_mask = signals->mask;
	signals->has_saved_mask = true;
	signals->mask = mask & ~UNBLOCKABLE;
}

void signals_return_mask(struct linux_process *process, int64_t result)
{
	struct signals *signals = process->thread->signals;
	bool interrupted = result == -EINTR || result == -RESTART_IF_ASKED;

	/* A delivery heeds the lent mask, and returns it. */
	if (!signals->has_saved_mask ||
	    (interrupted && linux_has_signal(process)))
		return;
	signals->has_saved_mask = false;
	signals_set_mask(process, signals->saved_mask);
}

/* ------- new processes and programs ------- */

void signals_inherit(struct signals *child, const struct signals *parent)
{
	child->mask = parent->mask;
	child->trap = parent->trap;
	child->stack.flags = SS_DISABLE;
}

void signals_forget(struct linux_process *process)
{
	process->thread->pending = 0;
	process->thread->signals->own = 0;
}

void signals_drop_handlers(struct linux_process *process)
{
	for (int i = 1; i <= SIGNALS; i++) {
		struct guest_action *action = &process->actions->of[i];
		uint64_t handler = action->handler;

		*action = (struct guest_action){ 0 };
		if (handler == (uintptr_t)SIG_IGN)
			action->handler = handler;
		signals_install(action, i);
	}
}

void signals_drop_all(struct linux_process *process)
{
	signals_drop_handlers(process);
	process->thread->signals->stack =
		(struct guest_stack){ .flags = SS_DISABLE };
}

bool signals_is_deadly(const struct linux_process *process)
{
	const struct signals *signals = process->thread->signals;
	int number = process->thread->pending;

	return number && !(signals->mask & MASK_OF(number)) &&
	       process->actions->of[number].handler == (uintptr_t)SIG_DFL &&
	       signals_default(number) == DEFAULT_END;
}

/* ------- what others want to know ------- */

static uint64_t set_of(const struct linux_process *process, bool ignored)
{
	uint64_t set = 0;

	for (int i = 1; i <= SIGNALS; i++) {
		uint64_t handler = process->actions->of[i].handler;

		if (ignored ? handler == 1 : handler > 1)
			set |= MASK_OF(i);
	}
	return set;
}

uint64_t signals_ignored(const struct linux_process *process)
{
	return set_of(process, true);
}

uint64_t signals_caught(const struct linux_process *process)
{
	return set_of(process, false);
}

/* ------- calls ------- */

int64_t sys_rt_sigaction(struct linux_process *process,
			 const struct linux_call *row, const uint64_t *arg)
{
	int number = (int)arg[0];
	struct guest_action set, old;

	(void)row;
	if (arg[3] != sizeof(uint64_t) || number < 1 || number > SIGNALS)
		return -EINVAL;
	if (arg[1] && struct_in(process, S_SIGACTION, &set, arg[1]))
		return -EFAULT;
	if (arg[1] && MASK_OF(number) & UNBLOCKABLE)
		return -EINVAL;
	old = process->actions->of[number];
	if (arg[1]) {
		set.mask &= ~UNBLOCKABLE;
		process->actions->of[number] = set;
		signals_install(&set, number);
		if (set.handler == (uintptr_t)SIG_IGN)
			process->thread->signals->own &= ~MASK_OF(number);
	}
	if (arg[2] && struct_out(process, S_SIGACTION, arg[2], &old))
		return -EFAULT;
	return 0;
}

/* Signals that are not among the `known` ones stay as they are. */
static int64_t change_mask(struct linux_process *process, uint64_t how,
			   uint64_t set, uint64_t known)
{
	uint64_t mask = process->thread->signals->mask;

	switch ((int)how) {
	case SIG_BLOCK:
		mask |= set;
		break;
	case SIG_UNBLOCK:
		mask &= ~set;
		break;
	case SIG_SETMASK:
		mask = (mask & ~known) | set;
		break;
	default:
		return -EINVAL;
	}
	signals_set_mask(process, mask);
	return 0;
}

int64_t sys_rt_sigprocmask(struct linux_process *process,
			   const struct linux_call *row, const uint64_t *arg)
{
	uint64_t old = process->thread->signals->mask, set;
	int64_t result = 0;

	(void)row;
	if (arg[3] != sizeof(uint64_t))
		return -EINVAL;
	if (arg[1] && struct_in(process, S_SIGSET, &set, arg[1]))
		return -EFAULT;
	if (arg[1])
		result = change_mask(process, arg[0], set, UINT64_MAX);
	if (!result && arg[2] && struct_out(process, S_SIGSET, arg[2], &old))
		return -EFAULT;
	return result;
}

/* The oldest one, of 32 signals. */
int64_t sys_sigprocmask(struct linux_process *process,
			const struct linux_call *row, const uint64_t *arg)
{
	uint32_t old = (uint32_t)process->thread->signals->mask, set;
	int64_t result = 0;

	(void)row;
	if (arg[1] && copy_in(process, &set, arg[1], sizeof(set)))
		return -EFAULT;
	if (arg[1])
		result = change_mask(process, arg[0], set, UINT32_MAX);
	if (!result && arg[2] && copy_out(process, arg[2], &old, sizeof(old)))
		return -EFAULT;
	return result;
}

int64_t sys_rt_sigpending(struct linux_process *process,
			  const struct linux_call *row, const uint64_t *arg)
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
	set |= process->thread->signals->own;
	return copy_out(process, arg[0], &set, arg[1]) ? -EFAULT : 0;
}
