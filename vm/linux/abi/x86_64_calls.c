/* SPDX-License-Identifier: GPL-2.0-or-later */
/* x86_64_calls.c - calls that x86-64 alone has */
#include <errno.h>

#include "formats/registers.h"
#include "vm/linux/abi/abi.h"
#include "vm/linux/abi/calls.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/process.h"

enum {
	SET_GS = 0x1001,
	SET_FS = 0x1002,
	GET_FS = 0x1003,
	GET_GS = 0x1004,
};

int64_t sys_arch_prctl(struct linux_process *process,
		       const struct linux_call *row, const uint64_t *arg)
{
	unsigned reg = arg[0] == SET_FS || arg[0] == GET_FS ? X86_FS_BASE :
							      X86_GS_BASE;
	uint64_t value;

	(void)row;
	if (process->abi != &abi_x86_64)
		return -EINVAL;
	switch (arg[0]) {
	case SET_FS:
	case SET_GS:
		if (arg[1] >= abi_x86_64.user_end)
			return -EPERM;
		vm_set_reg(process->vm, reg, arg[1]);
		process->thread->changed_registers = true;
		return 0;
	case GET_FS:
	case GET_GS:
		value = vm_reg(process->vm, reg);
		return copy_out(process, arg[1], &value, sizeof(value)) ?
			       -EFAULT :
			       0;
	default:
		return -EINVAL;
	}
}
