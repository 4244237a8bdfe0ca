/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * structs.h - structures of system calls, for the guest and for the host
 *
 * The guest's kernel works with the host's structures; what the guest gives
 * and gets has the layout of its own kind.  A layout whose members are not
 * listed is the same for both, and costs nothing.
 *
 * Units:      sizes and places are bytes.
 */
#ifndef CPREC_VM_LINUX_ABI_STRUCTS_H
#define CPREC_VM_LINUX_ABI_STRUCTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Structures by name; a kind of guest has the layout of each. */
enum guest_struct {
	S_NONE,
	S_INT, S_LONG, S_TWO_INTS, S_STAT, S_STATFS, S_STATX, S_TIMESPEC,
	S_TWO_TIMESPECS, S_TIMEVAL, S_TWO_TIMEVALS, S_TIMEZONE, S_UTIMBUF,
	S_TIMEX, S_TMS, S_ITIMERVAL, S_ITIMERSPEC, S_RUSAGE, S_RLIMIT,
	S_SYSINFO, S_UTSNAME, S_SIGSET, S_SIGINFO, S_SIGEVENT, S_SIGACTION,
	S_STACK, S_POLLFD, S_EPOLL_EVENT, S_CAP_HEADER, S_CAP_DATA, S_MQ_ATTR,
	S_FLOCK, S_FILE_RANGE, S_CACHESTAT, S_SEMBUF, S_OPEN_HOW, S_IOVEC,
	S_MSGHDR, S_MMSGHDR, S_SHMID_DS, S_SHMINFO, S_SHM_INFO, S_SEMID_DS,
	S_SEMINFO, S_MSQID_DS, S_MSGINFO, S_CLONE_ARGS, S_ROBUST_LIST,
	S_SET_AND_SIZE,		/* the last argument of pselect6(2) */
	S_OFFSET,		/* in a file */
	S_RLIMIT64,		/* of prlimit64(2) */
	/* Only for guests of 32 bits, which have two of these. */
	S_STAT64, S_STATFS64, S_FLOCK64, S_TIMESPEC64, S_TWO_TIMESPECS64,
	S_ITIMERSPEC64, S_TIMEX64,
	STRUCT_COUNT
};

enum { STRUCT_MOST = 512 };	/* bytes of the largest */

/*
 * A number in a structure, at most 8 bytes wide; or bytes, which are as many
 * for both.
 */
struct guest_member {
	uint16_t guest_at, guest_size;
	uint16_t host_at, host_size;
	bool is_signed;
};

struct guest_layout {
	uint16_t size;		/* for the guest; 0: it has no such structure */
	uint16_t host_size;
	uint16_t count;		/* of members; 0: both have the same bytes */
	const struct guest_member *members;
};

/* Converts one structure; what no member describes becomes 0. */
void layout_in(const struct guest_layout *layout, void *host,
	       const void *guest);
void layout_out(const struct guest_layout *layout, void *guest,
		const void *host);

#endif
