/* SPDX-License-Identifier: GPL-2.0-or-later */
/* signal_delivery.c - what a signal does to the guest when it is delivered */
#include <signal.h>
#include <unistd.h>

#include "vm/linux/memory/mapped_files.h"
#include "vm/linux/signals/signals.h"

bool linux_has_signal(const struct linux_process *process)
{
	const struct signals *signals = &process->thread->signals;
	int number = signals->pending;

	return (number && !(signals->mask & MASK_OF(number))) ||
	       signals_own_number(signals) || process->lost;
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
		signals_install(&process->action[number], number);
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
		switch (signals_default(number)) {
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
		signals_take(process, &info);
		deliver(process, &info);
	}
	fill_result(process, result, (uint64_t)info.si_signo);
	return 0;
}

bool signals_restart(const struct linux_process *process)
{
	const struct signals *signals = &process->thread->signals;
	int number = signals_own_number(signals);
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
