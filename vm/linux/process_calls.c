/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_calls.c - the process itself: its end, its children, its settings */
#include <errno.h>
#include <linux/capability.h>
#include <linux/ioprio.h>
#include <linux/sysinfo.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "vm/linux/abi/abi.h"
#include "vm/linux/abi/calls.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/host/host.h"
#include "vm/linux/kernel.h"
#include "vm/linux/linux.h"
#include "vm/linux/proc/proc.h"
#include "vm/linux/process.h"

int64_t sys_nothing(struct linux_process *process,
		    const struct linux_call *row, const uint64_t *arg)
{
	(void)process;
	(void)row;
	(void)arg;
	return 0;
}

/* ------- what is not supported ------- */

int64_t sys_missing(struct linux_process *process,
		    const struct linux_call *row, const uint64_t *arg)
{
	uint64_t number = process->thread->number;

	(void)arg;
	notice_once(process, number, NOTICE_LACK,
		    "system call %s (%u) is not supported: the program gets ENOSYS",
		    row->name, (unsigned)number);
	return -ENOSYS;
}

/* ------- what it runs on ------- */

int64_t sys_uname(struct linux_process *process, const struct linux_call *row,
		  const uint64_t *arg)
{
	const char *machine = process->abi->other_machine;
	int64_t result = marshal_call(process, row, arg);
	struct utsname name = { 0 };
	guest_addr to = arg[0] + offsetof(struct utsname, machine);

	if (result || !machine)
		return result;
	strncpy(name.machine, machine, sizeof(name.machine) - 1);
	return copy_out(process, to, name.machine, sizeof(name.machine)) ?
		       -EFAULT : 0;
}

/* Sizes that do not fit into a word are in larger units. */
static void enlarge_unit(struct sysinfo *info, unsigned word)
{
	unsigned long *const sizes[] = {
		&info->totalram, &info->freeram, &info->sharedram,
		&info->bufferram, &info->totalswap, &info->freeswap,
		&info->totalhigh, &info->freehigh,
	};
	unsigned shift = 0;

	if (word == 8 || !((info->totalram | info->totalswap) >> 32))
		return;
	while (info->mem_unit << shift < GUEST_PAGE)
		shift++;
	info->mem_unit <<= shift;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		*sizes[i] >>= shift;
}

int64_t sys_sysinfo(struct linux_process *process,
		    const struct linux_call *row, const uint64_t *arg)
{
	struct sysinfo info = { 0 };
	int64_t result = host_call(process, row->host, host_pointer(&info));

	if (result)
		return result;
	enlarge_unit(&info, process->abi->word);
	return struct_out(process, row->args[0].type, arg[0], &info);
}

/* ------- settings ------- */

/* Requests whose argument is a number, or that have none. */
static bool is_plain_prctl(int option)
{
	switch (option) {
	case PR_SET_PDEATHSIG:
	case PR_GET_DUMPABLE:
	case PR_SET_DUMPABLE:
	case PR_GET_KEEPCAPS:
	case PR_SET_KEEPCAPS:
	case PR_GET_TIMING:
	case PR_SET_TIMING:
	case PR_GET_SECCOMP:
	case PR_CAPBSET_READ:
	case PR_CAPBSET_DROP:
	case PR_GET_SECUREBITS:
	case PR_SET_SECUREBITS:
	case PR_GET_TIMERSLACK:
	case PR_SET_TIMERSLACK:
	case PR_SET_CHILD_SUBREAPER:
	case PR_SET_NO_NEW_PRIVS:
	case PR_GET_NO_NEW_PRIVS:
	case PR_GET_THP_DISABLE:
	case PR_SET_THP_DISABLE:
	case PR_CAP_AMBIENT:
	case PR_SET_PTRACER:
	case PR_MCE_KILL:
	case PR_MCE_KILL_GET:
		return true;
	default:
		return false;
	}
}

/* Of the guest's thread alone: cprec goes on to use the host's clock. */
static int64_t set_clock(struct linux_thread *thread, uint64_t value)
{
	if (value != PR_TSC_ENABLE && value != PR_TSC_SIGSEGV)
		return -EINVAL;
	thread->has_no_clock = value == PR_TSC_SIGSEGV;
	return 0;
}

static int64_t get_clock(struct linux_process *process, guest_addr addr)
{
	int value = process->thread->has_no_clock ? PR_TSC_SIGSEGV :
						    PR_TSC_ENABLE;

	return copy_out(process, addr, &value, sizeof(value));
}

bool linux_allows(struct linux_process *process, struct vm_stop *stop)
{
	if (stop->is_clock && process->thread->has_no_clock) {
		stop->kind = VM_STOP_FAULT;
		stop->fault = FAULT_PRIVILEGE;
		stop->detail = 0;
		return false;
	}
	if (stop->tells_processor)
		vm_set_processor(process->vm, guest_processor(process));
	return true;
}

int64_t sys_prctl(struct linux_process *process, const struct linux_call *row,
		  const uint64_t *arg)
{
	int option = (int)arg[0];
	char text[16] = "";	/* a name, or a number */
	size_t size = option == PR_GET_NAME ? sizeof(text) : sizeof(int);
	long number = row->host;
	int64_t result;

	if (is_plain_prctl(option))
		return host_call_array(process, number, arg);
	switch (option) {
	case PR_SET_TSC:
		return set_clock(process->thread, (uint32_t)arg[1]);
	case PR_GET_TSC:
		return get_clock(process, arg[1]);
	case PR_SET_NAME:
		if (memory_read_string(process->memory, arg[1], text,
				       sizeof(text)) &&
		    copy_in(process, text, arg[1], sizeof(text)))
			return -EFAULT;
		return host_call(process, number, arg[0], host_pointer(text));
	case PR_GET_NAME:
	case PR_GET_PDEATHSIG:
	case PR_GET_CHILD_SUBREAPER:
		result = host_call(process, number, arg[0],
				   host_pointer(text));
		if (result >= 0 && copy_out(process, arg[1], text, size))
			return -EFAULT;
		return result;
	default:
		return -EINVAL;
	}
}

/*
 * Of the host's process, too: what is opened for cprec counts as the guest's.
 */
int64_t sys_set_rights(struct linux_process *process,
		       const struct linux_call *row, const uint64_t *arg)
{
	const struct linux_observer *observer = process->observer;

	if (observer && observer->before_rights)
		observer->before_rights(observer->context);
	return marshal_call(process, row, arg);
}

/* Version 1 knows 32 capabilities, the others know twice as many. */
int64_t sys_capget(struct linux_process *process, const struct linux_call *row,
		   const uint64_t *arg)
{
	struct __user_cap_header_struct header;
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };
	size_t count = _LINUX_CAPABILITY_U32S_3;
	int64_t result;

	if (struct_in(process, S_CAP_HEADER, &header, arg[0]))
		return -EFAULT;
	if (header.version == _LINUX_CAPABILITY_VERSION_1)
		count = _LINUX_CAPABILITY_U32S_1;
	result = host_call(process, row->host, host_pointer(&header),
			   arg[1] ? host_pointer(data) : 0);
	if (struct_out(process, S_CAP_HEADER, arg[0], &header) ||
	    (!result && arg[1] &&
	     copy_out(process, arg[1], data, count * sizeof(*data))))
		return -EFAULT;
	return result;
}

/*
 * Of a thread, a group or a user, as the first argument says; of a thread of
 * cprec's own nothing.
 */
int64_t sys_of_whom(struct linux_process *process,
		    const struct linux_call *row, const uint64_t *arg)
{
	bool is_priority = row->host == SYS_getpriority ||
			   row->host == SYS_setpriority;
	int thread = is_priority ? PRIO_PROCESS : IOPRIO_WHO_PROCESS;

	if ((int)arg[0] == thread &&
	    proc_hides_thread(process, (uint32_t)arg[1]))
		return -ESRCH;
	return marshal_call(process, row, arg);
}

/* ------- processors ------- */

/*
 * The guest has one processor: the lowest that the host lets cprec use.
 * Programs that would start a thread for each then start none.
 */
static int64_t one_processor(struct linux_process *process, uint64_t pid,
			     uint8_t *set, size_t room, unsigned *processor)
{
	int64_t size = host_call(process, SYS_sched_getaffinity, pid, room,
				 host_pointer(set));
	bool found = false;

	for (int64_t i = 0; i < size * 8; i++) {
		uint8_t bit = (uint8_t)(1u << i % 8);

		if (!(set[i / 8] & bit))
			continue;
		if (found)
			set[i / 8] &= (uint8_t)~bit;
		else
			*processor = (unsigned)i;
		found = true;
	}
	return size;
}

unsigned guest_processor(struct linux_process *process)
{
	unsigned processor = 0;

	one_processor(process, 0, (uint8_t *)process->thread->bounce[2], BOUNCE,
		      &processor);
	return processor;
}

int64_t sys_sched_getaffinity(struct linux_process *process,
			      const struct linux_call *row,
			      const uint64_t *arg)
{
	uint8_t *set = (uint8_t *)process->thread->bounce[2];
	size_t room = arg[1] > BOUNCE ? BOUNCE : (size_t)arg[1];
	unsigned processor;
	int64_t size = one_processor(process, arg[0], set, room, &processor);

	(void)row;
	if (size > 0 && copy_out(process, arg[2], set, (size_t)size))
		return -EFAULT;
	return size;
}

int64_t sys_getcpu(struct linux_process *process,
		   const struct linux_call *row, const uint64_t *arg)
{
	unsigned processor = guest_processor(process), node = 0;

	(void)row;
	if ((arg[0] &&
	     copy_out(process, arg[0], &processor, sizeof(processor))) ||
	    (arg[1] && copy_out(process, arg[1], &node, sizeof(node))))
		return -EFAULT;
	return 0;
}
