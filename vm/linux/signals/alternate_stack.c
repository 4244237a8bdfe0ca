/* SPDX-License-Identifier: GPL-2.0-or-later */
/* alternate_stack.c - the stack that handlers may ask for */
#include <errno.h>
#include <signal.h>

#include "vm/linux/abi/abi.h"
#include "vm/linux/abi/calls.h"
#include "vm/linux/abi/structs.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/process.h"
#include "vm/linux/signals/signals.h"

bool on_alternate_stack(struct linux_process *process, guest_addr sp)
{
	const struct guest_stack *stack = &process->thread->signals->stack;

	if (stack->flags & STACK_AUTODISARM)
		return false;
	return sp > stack->base && sp - stack->base <= stack->size;
}

int set_alternate_stack(struct linux_process *process,
			const struct guest_stack *set, guest_addr sp)
{
	struct guest_stack *stack = &process->thread->signals->stack;
	int32_t mode = set->flags & ~STACK_AUTODISARM;

	if (on_alternate_stack(process, sp))
		return -EPERM;
	if (mode != 0 && mode != SS_ONSTACK && mode != SS_DISABLE)
		return -EINVAL;
	if (mode == SS_DISABLE) {
		*stack = (struct guest_stack){ .flags = set->flags };
		return 0;
	}
	if (set->size < 2048)		/* MINSIGSTKSZ */
		return -ENOMEM;
	*stack = *set;
	stack->unused = 0;
	return 0;
}

/* What sigaltstack() says of it. */
static void get_alternate_stack(struct linux_process *process,
				struct guest_stack *out, guest_addr sp)
{
	*out = process->thread->signals->stack;
	if (on_alternate_stack(process, sp))
		out->flags |= SS_ONSTACK;
	else if (!out->size)
		out->flags |= SS_DISABLE;
	else
		out->flags &= ~SS_ONSTACK;
}

int64_t sys_sigaltstack(struct linux_process *process,
			const struct linux_call *row, const uint64_t *arg)
{
	guest_addr sp = guest_sp(process);
	struct guest_stack set, old;
	int rc;

	(void)row;
	get_alternate_stack(process, &old, sp);
	if (arg[0]) {
		if (struct_in(process, S_STACK, &set, arg[0]))
			return -EFAULT;
		rc = set_alternate_stack(process, &set, sp);
		if (rc)
			return rc;
	}
	if (arg[1] && struct_out(process, S_STACK, arg[1], &old))
		return -EFAULT;
	return 0;
}
