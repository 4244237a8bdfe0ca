/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * values.h - what the values and flags of arguments are called
 *
 * Arguments of this kind are ints: of a register only the lower half counts.
 *
 * Ownership:  all is constant.
 */
#ifndef CPREC_VM_LINUX_ABI_VALUES_H
#define CPREC_VM_LINUX_ABI_VALUES_H

#include <stddef.h>
#include <stdint.h>

enum call_values {
	VALUES_NONE, VALUES_OPEN, VALUES_ACCESS, VALUES_AT, VALUES_SEEK,
	VALUES_PROT, VALUES_MAP, VALUES_MREMAP, VALUES_MSYNC, VALUES_MADVISE,
	VALUES_MLOCKALL, VALUES_CLONE, VALUES_SIG_HOW, VALUES_DOMAIN,
	VALUES_SOCKET, VALUES_MSG, VALUES_SHUT, VALUES_SOL, VALUES_WAIT,
	VALUES_ID, VALUES_SHM_CTL, VALUES_SEM_CTL, VALUES_MSG_CTL,
	VALUES_IPC_GET, VALUES_SHM_GET, VALUES_SHM_AT,
	VALUES_FCNTL, VALUES_IOCTL, VALUES_LOCK, VALUES_RLIMIT, VALUES_RUSAGE,
	VALUES_PRIORITY, VALUES_SCHED, VALUES_PRCTL, VALUES_DUMPABLE,
	VALUES_CAPABILITY, VALUES_CAP_AMBIENT, VALUES_TSC,
	VALUES_ARCH_PRCTL,
	VALUES_XATTR, VALUES_FUTEX, VALUES_FADVISE, VALUES_CLOCK,
	VALUES_ITIMER, VALUES_TIMER, VALUES_EPOLL_CTL, VALUES_EPOLL,
	VALUES_INOTIFY, VALUES_SPLICE, VALUES_SYNC_RANGE, VALUES_TIMERFD,
	VALUES_EVENTFD, VALUES_SIGNALFD, VALUES_FALLOCATE, VALUES_RENAME,
	VALUES_RANDOM, VALUES_MEMFD, VALUES_RWF, VALUES_STATX,
	VALUES_CLOSE_RANGE, VALUES_INOTIFY_INIT, VALUES_STATX_ATTR,
	VALUES_FD_FLAGS, VALUES_LOCK_TYPE, VALUES_ACCESS_AT, VALUES_POLL,
	VALUES_EPOLL_EVENTS, VALUES_SA, VALUES_SS, VALUES_ST,
	VALUES_FILE_SYSTEM, VALUES_SO, VALUES_SO_TCP, VALUES_SO_IPV6,
	VALUES_SO_IP, VALUES_IP_PROTOCOL, VALUES_NETLINK, VALUES_MEMBARRIER,
	VALUES_SI, VALUES_SI_SEGV, VALUES_SI_BUS, VALUES_SI_ILL, VALUES_SI_FPE,
	VALUES_SI_TRAP, VALUES_SI_CLD,
	VALUES_KINDS
};

struct value_name {
	const char *name;	/* "O_CREAT" */
	uint32_t value;
};

/*
 * A flag is set if all of its bits are, and bits of one that stands before
 * are not looked at again.  The bits of `field` hold one value, 0 included.
 */
struct value_table {
	const struct value_name *names;
	size_t count;
	uint32_t field;
};

/* The names for a kind of guest; NULL if there are none. */
const struct value_table *linux_values(unsigned arch, enum call_values kind);

/*
 * Writes "O_RDWR|O_CREAT|0x8000000", as strace(1) does; what has no name is a
 * number.  Returns the length; what does not fit into `room` bytes is left out.
 */
size_t linux_values_text(char *out, size_t room, unsigned arch,
			 enum call_values kind, uint64_t value);

#endif
