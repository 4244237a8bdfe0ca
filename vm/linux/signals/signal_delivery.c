/* SPDX-License-Identifier: GPL-2.0-or-later */
/* signal_delivery.c - what a signal does to the guest when it is delivered */
#include <signal.h>
#include <unistd.h>

#include "vm/linux/abi/abi.h"
#include "vm/linux/abi/calls.h"
#include "vm/linux/kernel.h"
#include "vm/linux/linux.h"
#include "vm/linux/process.h"
#include "vm/linux/signals/signals_internal.h"

bool signals_has(const struct linux_process *process)
{
	const struct signals *signals = process->thread->signals;
	int number = process->thread->pending;

	return (number && !(signals->mask & MASK_OF(number))) ||
	       signals_own_number(signals);
}

static void end_by(struct linux_process *process, int number)
{
	process_ends(process, LINUX_KILLED, number);
}

/* The mask that returning from a handler brings back. */
static uint64_t mask_to_restore(struct signals *signals)
{
	bool saved = signals->has_saved_mask;

	signals->has_saved_mask = false;
	return saved ? signals->saved_mask : signals->mask;
}

/* Makes the frame; -EFAULT. */
static int push_frame(struct linux_process *process, const siginfo_t *info,
		      const struct guest_action *action, uint64_t mask)
{
	struct signals *signals = process->thread->signals;
	bool is_on = on_alternate_stack(process, guest_sp(process));
	const struct signal_entry entry = {
		.info = info,
		.action = action,
		.mask = mask,
		.trap = &signals->trap,
		.stack = &signals->stack,
		.is_on_stack = is_on,
		.enters_stack = action->flags & SA_ONSTACK && !is_on &&
				signals->stack.size &&
				!(signals->stack.flags & SS_DISABLE),
	};
	int rc = process->abi->frame_push(process, &entry);

	if (!rc && signals->stack.flags & STACK_AUTODISARM)
		signals->stack = (struct guest_stack){ .flags = SS_DISABLE };
	return rc;
}

static void enter_handler(struct linux_process *process,
			  const siginfo_t *info)
{
	struct signals *signals = process->thread->signals;
	int number = info->si_signo;
	struct guest_action action = process->actions->of[number];
	uint64_t mask = signals->mask;

	process->thread->changed_registers = true;
	if (push_frame(process, info, &action, mask_to_restore(signals))) {
		if (number != SIGSEGV &&
		    process->actions->of[SIGSEGV].handler > 1) {
			siginfo_t fault = { .si_signo = SIGSEGV,
					    .si_code = SI_KERNEL };

			signals_force(process, &fault);
		} else {
			end_by(process, SIGSEGV);
		}
		return;
	}
	if (action.flags & (uint64_t)SA_RESETHAND) {
		process->actions->of[number].handler = (uintptr_t)SIG_DFL;
		signals_install(&process->actions->of[number], number);
	}
	mask |= action.mask;
	if (!(action.flags & SA_NODEFER))
		mask |= MASK_OF(number);
	signals_set_mask(process, mask);
}

static void deliver(struct linux_process *process, const siginfo_t *info)
{
	struct signals *signals = process->thread->signals;
	int number = info->si_signo;
	uint64_t handler = process->actions->of[number].handler;

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

int signals_deliver(struct linux_process *process)
{
	siginfo_t info;

	if (!signals_has(process))
		return 0;
	signals_take(process, &info);
	deliver(process, &info);
	return info.si_signo;
}

bool signals_restart(const struct linux_process *process)
{
	const struct signals *signals = process->thread->signals;
	int number = signals_own_number(signals);
	const struct guest_action *action;

	if (!number)
		number = process->thread->pending;
	action = &process->actions->of[number];
	return !number || action->handler <= 1 ||
	       action->flags & SA_RESTART;
}

void signals_force(struct linux_process *process, siginfo_t *info)
{
	struct signals *signals = process->thread->signals;
	int number = info->si_signo;

	if (process->actions->of[number].handler <= 1 ||
	    signals->mask & MASK_OF(number)) {
		end_by(process, number);
		return;
	}
	enter_handler(process, info);
}

int64_t sys_rt_sigreturn(struct linux_process *process,
			 const struct linux_call *row, const uint64_t *arg)
{
	struct signal_return back = { 0 };

	(void)row;
	(void)arg;
	process->thread->changed_registers = true;
	if (process->abi->frame_pop(process, &back)) {
		siginfo_t info = { .si_signo = SIGSEGV, .si_code = SI_KERNEL };

		signals_force(process, &info);
	} else {
		if (!back.keeps_stack)
			set_alternate_stack(process, &back.stack, back.sp);
		signals_set_mask(process, back.mask);
	}
	return (int64_t)guest_result(process);
}
