/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diversion_calls.c - see diversion_calls.h
 *
 * Source: Linux manual pages, section 2.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "replayer/session/diversion_calls_internal.h"
#include "vm/memory/memory.h"
#include "vm/vm.h"

#define PRINTED_MOST (UINT64_C(1) << 20)
#define RANDOM_MOST (UINT64_C(1) << 20)

/* ------- structures ------- */

bool divert_put(struct diverted_call *call, unsigned argument, const void *host)
{
	uint64_t addr = call->args[argument];
	const struct guest_layout *layout = linux_layout_of(
		call->regs->arch, call->row->args[argument].type);
	uint8_t bytes[STRUCT_MOST];

	if (!addr)
		return true;
	if (!layout || layout->size > sizeof(bytes))
		return false;
	layout_out(layout, bytes, host);
	return !memory_write(call->memory, addr, bytes, layout->size);
}

bool divert_take(const struct diverted_call *call, unsigned argument,
		 void *host)
{
	const struct guest_layout *layout = linux_layout_of(
		call->regs->arch, call->row->args[argument].type);
	uint8_t bytes[STRUCT_MOST];

	if (!layout || layout->size > sizeof(bytes) ||
	    memory_read(call->memory, call->args[argument], bytes,
			layout->size))
		return false;
	layout_in(layout, host, bytes);
	return true;
}

int divert_give(struct diverted_call *call, unsigned argument, const void *host)
{
	call->result = divert_put(call, argument, host) ? 0 : -EFAULT;
	return 0;
}

/* ------- output ------- */

static bool is_terminal(uint64_t descriptor)
{
	return (int)descriptor == STDOUT_FILENO ||
	       (int)descriptor == STDERR_FILENO;
}

static bool print(const struct diverted_call *call, uint64_t addr,
		  uint64_t size)
{
	const struct diversion_kernel *kernel = call->kernel;
	uint8_t *bytes = size <= PRINTED_MOST ? malloc(size + 1) : NULL;
	bool done = bytes && !memory_read(call->memory, addr, bytes, size);

	if (done && kernel->printed)
		kernel->printed(kernel->context, (int)call->args[0], bytes,
				size);
	free(bytes);
	return done;
}

static const char no_files[] = "the recording has no files";

static int do_write(struct diverted_call *call, struct failure *why)
{
	if (!is_terminal(call->args[0]))
		return divert_refuse(call, why, no_files);
	call->result = print(call, call->args[1], call->args[2])
			       ? (int64_t)call->args[2]
			       : -EFAULT;
	return 0;
}

static int do_writev(struct diverted_call *call, struct failure *why)
{
	const unsigned word = reg_word(call->regs);
	uint64_t at = call->args[1];

	if (!is_terminal(call->args[0]))
		return divert_refuse(call, why, no_files);
	for (uint64_t i = 0; i < call->args[2] && i < 1024; i++, at += word) {
		uint64_t addr = 0, size = 0;

		if (memory_read(call->memory, at, &addr, word) ||
		    memory_read(call->memory, at += word, &size, word) ||
		    !print(call, addr, size)) {
			call->result = -EFAULT;
			return 0;
		}
		call->result += (int64_t)size;
	}
	return 0;
}

static const struct stat terminal = {
	.st_mode = S_IFCHR | 0620,
	.st_nlink = 1,
	.st_blksize = 1024,
};

static int do_fstat(struct diverted_call *call, struct failure *why)
{
	struct stat status = terminal;

	status.st_rdev = makedev(136, 0);
	return is_terminal(call->args[0]) ? divert_give(call, 1, &status)
					  : divert_refuse(call, why, no_files);
}

/* Also by an empty path, which is of the descriptor. */
static bool is_of_descriptor(const struct diverted_call *call, uint64_t flags)
{
	char first = 1;

	return is_terminal(call->args[0]) && flags & AT_EMPTY_PATH &&
	       (!call->args[1] ||
		(!memory_read(call->memory, call->args[1], &first, 1) &&
		 !first));
}

static int do_fstatat(struct diverted_call *call, struct failure *why)
{
	struct stat status = terminal;

	status.st_rdev = makedev(136, 0);
	return is_of_descriptor(call, call->args[3])
		       ? divert_give(call, 2, &status)
		       : divert_refuse(call, why, no_files);
}

static int do_statx(struct diverted_call *call, struct failure *why)
{
	const struct statx status = {
		.stx_mask = STATX_TYPE | STATX_MODE | STATX_NLINK,
		.stx_mode = (uint16_t)terminal.st_mode,
		.stx_nlink = 1,
		.stx_blksize = 1024,
		.stx_rdev_major = 136,
	};

	return is_of_descriptor(call, call->args[2])
		       ? divert_give(call, 4, &status)
		       : divert_refuse(call, why, no_files);
}

/* Whether it is a terminal is asked so. */
static int do_ioctl(struct diverted_call *call, struct failure *why)
{
	static const uint8_t settings[44]; /* struct termios2 */
	const unsigned size = (uint32_t)call->args[1] == TCGETS ? 36 : 44;

	if (!is_terminal(call->args[0]) ||
	    ((uint32_t)call->args[1] != TCGETS &&
	     (uint32_t)call->args[1] != _IOR('T', 0x2a, settings)))
		return divert_refuse(call, why, "no devices are there");
	call->result = memory_write(call->memory, call->args[2], settings, size)
			       ? -EFAULT
			       : 0;
	return 0;
}

static int do_lseek(struct diverted_call *call, struct failure *why)
{
	call->result = -ESPIPE;
	return is_terminal(call->args[0]) ? 0
					  : divert_refuse(call, why, no_files);
}

/* ------- other threads ------- */

static int do_nothing(struct diverted_call *call, struct failure *why)
{
	(void)call;
	(void)why;
	return 0;
}

static int do_futex(struct diverted_call *call, struct failure *why)
{
	const int operation = (int)call->args[1] & FUTEX_CMD_MASK;
	uint32_t found;

	if (operation == FUTEX_WAKE || operation == FUTEX_WAKE_BITSET ||
	    operation == FUTEX_REQUEUE || operation == FUTEX_CMP_REQUEUE)
		return 0;
	if (operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET)
		return divert_refuse(call, why, "other threads stand still");
	if (memory_read(call->memory, call->args[0], &found, sizeof(found)))
		call->result = -EFAULT;
	else if (found != (uint32_t)call->args[2])
		call->result = -EAGAIN;
	else if (call->args[3])
		call->result = -ETIMEDOUT;
	else
		return divert_refuse(call, why,
				     "it waits for another thread, and"
				     " those stand still");
	return 0;
}

/* No signal comes, whatever the mask is. */
static int do_sigprocmask(struct diverted_call *call, struct failure *why)
{
	static const uint8_t none[8];
	uint64_t size = call->args[3];

	(void)why;
	if (call->args[2] &&
	    (size > sizeof(none) ||
	     memory_write(call->memory, call->args[2], none, size)))
		call->result = -EFAULT;
	return 0;
}

/* The one processor. */
static int do_getaffinity(struct diverted_call *call, struct failure *why)
{
	static const uint8_t mask[8] = { 1 };

	(void)why;
	call->result =
		call->args[1] < sizeof(mask) ? -EINVAL
		: memory_write(call->memory, call->args[2], mask, sizeof(mask))
			? -EFAULT
			: (int)sizeof(mask);
	return 0;
}

static int do_getcpu(struct diverted_call *call, struct failure *why)
{
	const int zero = 0;

	(void)why;
	call->result = divert_put(call, 0, &zero) && divert_put(call, 1, &zero)
			       ? 0
			       : -EFAULT;
	return 0;
}

/* Splitmix64: each call has other bytes, each time the same ones. */
static int do_getrandom(struct diverted_call *call, struct failure *why)
{
	struct diversion_kernel *kernel = call->kernel;
	const uint64_t size = call->args[1];

	(void)why;
	call->result = -EFAULT;
	for (uint64_t at = 0; at < size && at < RANDOM_MOST; at += 8) {
		uint64_t z = kernel->random += UINT64_C(0x9e3779b97f4a7c15);

		z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
		z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
		z ^= z >> 31;
		if (memory_write(call->memory, call->args[0] + at, &z,
				 size - at < 8 ? size - at : 8))
			return 0;
	}
	call->result = (int64_t)(size < RANDOM_MOST ? size : RANDOM_MOST);
	return 0;
}

/* ------- all of them ------- */

static int do_end(struct diverted_call *call, struct failure *why)
{
	(void)why;
	call->end = DIVERSION_CALL_ENDS;
	return 0;
}

static const struct {
	uint16_t kind;		/* enum linux_call_index */
	divert_function *perform;
} rows[] = {
	{ CALL_write, do_write },
	{ CALL_writev, do_writev },
	{ CALL_fstat, do_fstat },
	{ CALL_newfstatat, do_fstatat },
	{ CALL_statx, do_statx },
	{ CALL_ioctl, do_ioctl },
	{ CALL_lseek, do_lseek },
	{ CALL_mmap, divert_mmap },
	{ CALL_munmap, divert_munmap },
	{ CALL_mprotect, divert_mprotect },
	{ CALL_mremap, divert_mremap },
	{ CALL_madvise, divert_madvise },
	{ CALL_brk, divert_brk },
	{ CALL_futex, do_futex },
	{ CALL_sched_yield, do_nothing },
	{ CALL_rt_sigprocmask, do_sigprocmask },
	{ CALL_sched_getaffinity, do_getaffinity },
	{ CALL_getcpu, do_getcpu },
	{ CALL_getrandom, do_getrandom },
	{ CALL_getpid, divert_getpid },
	{ CALL_gettid, divert_gettid },
	{ CALL_kill, divert_kill },
	{ CALL_tkill, divert_tkill },
	{ CALL_tgkill, divert_tgkill },
	{ CALL_getuid, divert_getid },
	{ CALL_geteuid, divert_getid },
	{ CALL_getgid, divert_getid },
	{ CALL_getegid, divert_getid },
	{ CALL_getcwd, divert_getcwd },
	{ CALL_getppid, divert_recall },
	{ CALL_getpgid, divert_recall },
	{ CALL_getpgrp, divert_recall },
	{ CALL_getsid, divert_recall },
	{ CALL_uname, divert_recall },
	{ CALL_getrlimit, divert_recall },
	{ CALL_prlimit64, divert_recall },
	{ CALL_clock_gettime, divert_clock_gettime },
	{ CALL_clock_getres, divert_clock_getres },
	{ CALL_gettimeofday, divert_gettimeofday },
	{ CALL_time, divert_time },
	{ CALL_nanosleep, divert_nanosleep },
	{ CALL_clock_nanosleep, divert_clock_nanosleep },
	{ CALL_exit, do_end },
	{ CALL_exit_group, do_end },
};

static int perform(struct diverted_call *call, struct failure *why)
{
	const unsigned kind = linux_call_kind(call->row);

	/* The recorder's kernel does not have it either. */
	if (call->row->refusal) {
		call->result = -call->row->refusal;
		return 0;
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].kind == kind)
			return rows[i].perform(call, why);
	return divert_refuse(call, why, "a recording has no kernel");
}

static bool read_memory(void *context, uint64_t addr, void *bytes, size_t size)
{
	return !memory_read(context, addr, bytes, size);
}

int diversion_call(struct diversion_kernel *kernel, enum diversion_call *out,
		   uint32_t *signal, struct failure *why)
{
	const struct reg_table *regs = vm_reg_table(kernel->vm);
	struct diverted_call call = {
		.kernel = kernel,
		.memory = vm_memory(kernel->vm),
		.regs = regs,
	};
	const struct linux_reader reader = { read_memory, call.memory };
	uint64_t number = (uint32_t)vm_reg(kernel->vm, regs->call_number);
	int rc;

	for (unsigned i = 0; i < KERNEL_ARGS; i++)
		call.args[i] = vm_reg(kernel->vm, regs->call_args[i]);
	call.row = linux_call_made(regs->arch, number, call.args, &reader);
	if (!call.row)
		return failed(why, ERR_INPUT, "system call %llu cannot be"
			      " answered: nobody knows it",
			      (unsigned long long)number);
	rc = perform(&call, why);
	if (rc)
		return rc;
	vm_set_reg(kernel->vm, regs->result, (uint64_t)call.result);
	*out = call.end;
	*signal = call.signal;
	return 0;
}
