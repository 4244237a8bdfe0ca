/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * structs_32.c - structures of programs of 32 bits
 *
 * i386 aligns numbers of 64 bits to 4 bytes, ARM to 8: so three structures
 * differ, all others are the same.
 *
 * Source: Linux, arch/x86/include/asm/compat.h, include/linux/compat.h and
 * uapi/asm/ there; arch/arm/include/uapi/asm/ and include/uapi/asm-generic/.
 */
#include "vm/linux/abi/structs.h"
#include "vm/linux/abi/structs_32.h"

/* A long, or a pointer: 4 bytes of the guest's at `at`, 8 of the host's. */
#define WIDER(at, host_at) { at, 4, host_at, 8, false }
#define WIDER_SIGNED(at, host_at) { at, 4, host_at, 8, true }
#define BYTES(at, host_at, size) { at, size, host_at, size, false }
#define NARROWER(at, size, host_at, host_size) \
	{ at, size, host_at, host_size, false }

static const struct guest_member a_long[] = { WIDER_SIGNED(0, 0) };
static const struct guest_member two_longs[] = {
	WIDER_SIGNED(0, 0), WIDER_SIGNED(4, 8),
};
static const struct guest_member four_longs[] = {
	WIDER_SIGNED(0, 0), WIDER_SIGNED(4, 8), WIDER_SIGNED(8, 16),
	WIDER_SIGNED(12, 24),
};
static const struct guest_member two_words[] = { WIDER(0, 0), WIDER(4, 8) };
static const struct guest_member vector_members[] = {
	WIDER(0, 0), WIDER_SIGNED(4, 8),	/* a length below 0 is none */
};

/* ------- files ------- */

static const struct guest_member stat_members[] = {
	NARROWER(0, 4, 0, 8),		/* device */
	NARROWER(4, 4, 8, 8),		/* inode */
	NARROWER(8, 2, 24, 4),		/* mode */
	NARROWER(10, 2, 16, 8),		/* links */
	NARROWER(12, 2, 28, 4),		/* user */
	NARROWER(14, 2, 32, 4),		/* group */
	NARROWER(16, 4, 40, 8),		/* device that it is */
	WIDER(20, 48),			/* size */
	WIDER(24, 56),			/* size of blocks */
	WIDER(28, 64),			/* blocks */
	WIDER(32, 72), WIDER(36, 80),	/* three times */
	WIDER(40, 88), WIDER(44, 96),
	WIDER(48, 104), WIDER(52, 112),
};

/* From `at` on, the size and what follows. */
#define STAT64_MEMBERS(at, blocks_at, times_at, inode_at)                      \
	BYTES(0, 0, 8),			/* device */                           \
	NARROWER(12, 4, 8, 8),		/* inode, as far as it goes */         \
	BYTES(16, 24, 4),		/* mode */                             \
	NARROWER(20, 4, 16, 8),		/* links */                            \
	BYTES(24, 28, 4),		/* user */                             \
	BYTES(28, 32, 4),		/* group */                            \
	BYTES(32, 40, 8),		/* device that it is */                \
	BYTES(at, 48, 8),		/* size */                             \
	WIDER((at) + 8, 56),		/* size of blocks */                   \
	BYTES(blocks_at, 64, 8),	/* blocks */                           \
	WIDER(times_at, 72), WIDER((times_at) + 4, 80),	/* three times */      \
	WIDER((times_at) + 8, 88), WIDER((times_at) + 12, 96),                 \
	WIDER((times_at) + 16, 104), WIDER((times_at) + 20, 112),              \
	BYTES(inode_at, 8, 8)		/* inode */

static const struct guest_member i386_stat64[] = {
	STAT64_MEMBERS(44, 56, 64, 88),
};
static const struct guest_member arm_stat64[] = {
	STAT64_MEMBERS(48, 64, 72, 96),
};

static const struct guest_member statfs_members[] = {
	WIDER(0, 0), WIDER(4, 8), WIDER(8, 16), WIDER(12, 24), WIDER(16, 32),
	WIDER(20, 40), WIDER(24, 48), BYTES(28, 56, 8), WIDER(36, 64),
	WIDER(40, 72), WIDER(44, 80),
};

static const struct guest_member statfs64_members[] = {
	WIDER(0, 0), WIDER(4, 8), BYTES(8, 16, 8), BYTES(16, 24, 8),
	BYTES(24, 32, 8), BYTES(32, 40, 8), BYTES(40, 48, 8), BYTES(48, 56, 8),
	WIDER(56, 64), WIDER(60, 72), WIDER(64, 80),
};

static const struct guest_member flock_members[] = {
	BYTES(0, 0, 4), WIDER_SIGNED(4, 8), WIDER_SIGNED(8, 16),
	BYTES(12, 24, 4),
};

static const struct guest_member i386_flock64[] = {
	BYTES(0, 0, 4), BYTES(4, 8, 8), BYTES(12, 16, 8), BYTES(20, 24, 4),
};
static const struct guest_member arm_flock64[] = {
	BYTES(0, 0, 4), BYTES(8, 8, 8), BYTES(16, 16, 8), BYTES(24, 24, 4),
};

static const struct guest_member arm_epoll[] = {
	BYTES(0, 0, 4), BYTES(8, 4, 8),
};

static const struct guest_member message_members[] = {
	WIDER(0, 0), BYTES(4, 8, 4), WIDER(8, 16), WIDER(12, 24),
	WIDER(16, 32), WIDER(20, 40), BYTES(24, 48, 4),
	BYTES(28, 56, 4),	/* struct mmsghdr alone */
};

/* ------- time ------- */

static const struct guest_member timex_members[] = {
	BYTES(0, 0, 4), WIDER_SIGNED(4, 8), WIDER_SIGNED(8, 16),
	WIDER_SIGNED(12, 24), WIDER_SIGNED(16, 32), BYTES(20, 40, 4),
	WIDER_SIGNED(24, 48), WIDER_SIGNED(28, 56), WIDER_SIGNED(32, 64),
	WIDER_SIGNED(36, 72), WIDER_SIGNED(40, 80), WIDER_SIGNED(44, 88),
	WIDER_SIGNED(48, 96), WIDER_SIGNED(52, 104), BYTES(56, 112, 4),
	WIDER_SIGNED(60, 120), WIDER_SIGNED(64, 128), WIDER_SIGNED(68, 136),
	WIDER_SIGNED(72, 144), WIDER_SIGNED(76, 152), BYTES(80, 160, 4),
};

/* Of the upper half of nanoseconds, Linux ignores what it finds. */
static const struct guest_member timespec64_members[] = {
	BYTES(0, 0, 8), WIDER(8, 8),
};
static const struct guest_member two_timespecs64_members[] = {
	BYTES(0, 0, 8), WIDER(8, 8), BYTES(16, 16, 8), WIDER(24, 24),
};

/* ------- processes ------- */

static const struct guest_member rusage_members[] = {
	WIDER(0, 0), WIDER(4, 8), WIDER(8, 16), WIDER(12, 24), WIDER(16, 32),
	WIDER(20, 40), WIDER(24, 48), WIDER(28, 56), WIDER(32, 64),
	WIDER(36, 72), WIDER(40, 80), WIDER(44, 88), WIDER(48, 96),
	WIDER(52, 104), WIDER(56, 112), WIDER(60, 120), WIDER(64, 128),
	WIDER(68, 136),
};

static const struct guest_member sysinfo_members[] = {
	WIDER(0, 0), WIDER(4, 8), WIDER(8, 16), WIDER(12, 24), WIDER(16, 32),
	WIDER(20, 40), WIDER(24, 48), WIDER(28, 56), WIDER(32, 64),
	WIDER(36, 72), BYTES(40, 80, 2), WIDER(44, 88), WIDER(48, 96),
	BYTES(52, 104, 4),
};

static const struct guest_member robust_members[] = {
	WIDER(0, 0), WIDER_SIGNED(4, 8), WIDER(8, 16),
};

/* ------- signals ------- */

/*
 * The parts of the union that are most in use: a process, a user and a value; of
 * a fault the address; of a child its state and times.
 */
static const struct guest_member siginfo_members[] = {
	BYTES(0, 0, 12), BYTES(12, 16, 4), BYTES(16, 20, 4), WIDER(20, 24),
	WIDER(24, 32), WIDER(28, 40),
};

static const struct guest_member sigevent_members[] = {
	WIDER(0, 0), BYTES(4, 8, 8), WIDER(12, 16),
};

static const struct guest_member sigaction_members[] = {
	WIDER(0, 0), WIDER(4, 8), WIDER(8, 16), BYTES(12, 24, 8),
};

static const struct guest_member stack_members[] = {
	WIDER(0, 0), BYTES(4, 8, 4), WIDER(8, 16),
};

/* ------- System V and queues ------- */

#define PERMISSIONS BYTES(0, 0, 20), NARROWER(20, 2, 20, 4), BYTES(24, 24, 2)

static const struct guest_member shmid_members[] = {
	PERMISSIONS, WIDER(36, 48), BYTES(40, 56, 8), BYTES(48, 64, 8),
	BYTES(56, 72, 8), BYTES(64, 80, 4), BYTES(68, 84, 4), WIDER(72, 88),
};

static const struct guest_member shminfo_members[] = {
	WIDER(0, 0), WIDER(4, 8), WIDER(8, 16), WIDER(12, 24), WIDER(16, 32),
};

static const struct guest_member shm_info_members[] = {
	BYTES(0, 0, 4), WIDER(4, 8), WIDER(8, 16), WIDER(12, 24),
	WIDER(16, 32), WIDER(20, 40),
};

static const struct guest_member semid_members[] = {
	PERMISSIONS, BYTES(36, 48, 8), BYTES(44, 64, 8), WIDER(52, 80),
};

static const struct guest_member msqid_members[] = {
	PERMISSIONS, BYTES(36, 48, 8), BYTES(44, 56, 8), BYTES(52, 64, 8),
	WIDER(60, 72), WIDER(64, 80), WIDER(68, 88), BYTES(72, 96, 4),
	BYTES(76, 100, 4),
};

/* ------- all of them ------- */

#define SAME(name, bytes) [S_##name] = { .size = bytes, .host_size = bytes }
#define OTHER(name, bytes, host_bytes, list)                                   \
	[S_##name] = { .size = bytes, .host_size = host_bytes,                 \
		       .count = sizeof(list) / sizeof(list[0]), .members = list }
/* Without the last one. */
#define SHORTER(name, bytes, host_bytes, list)                                 \
	[S_##name] = { .size = bytes, .host_size = host_bytes,                 \
		       .count = sizeof(list) / sizeof(list[0]) - 1,            \
		       .members = list }

/* What all of them have. */
#define ALL_OF_32                                                              \
	SAME(INT, 4), OTHER(LONG, 4, 8, a_long), SAME(TWO_INTS, 8),            \
	SAME(OFFSET, 8),                                                       \
	OTHER(STAT, 64, 144, stat_members),                                    \
	OTHER(STATFS, 64, 120, statfs_members),                                \
	OTHER(STATFS64, 84, 120, statfs64_members),                            \
	SAME(STATX, 256),                                                      \
	OTHER(TIMESPEC, 8, 16, two_longs),                                     \
	OTHER(TWO_TIMESPECS, 16, 32, four_longs),                              \
	OTHER(TIMESPEC64, 16, 16, timespec64_members),                         \
	OTHER(TWO_TIMESPECS64, 32, 32, two_timespecs64_members),               \
	OTHER(TIMEVAL, 8, 16, two_longs),                                      \
	OTHER(TWO_TIMEVALS, 16, 32, four_longs),                               \
	SAME(TIMEZONE, 8), OTHER(UTIMBUF, 8, 16, two_longs),                   \
	OTHER(TIMEX, 128, 208, timex_members), SAME(TIMEX64, 208),             \
	OTHER(TMS, 16, 32, four_longs), OTHER(ITIMERVAL, 16, 32, four_longs),  \
	OTHER(ITIMERSPEC, 16, 32, four_longs),                                 \
	OTHER(ITIMERSPEC64, 32, 32, two_timespecs64_members),                  \
	OTHER(RUSAGE, 72, 144, rusage_members),                                \
	OTHER(RLIMIT, 8, 16, two_longs), SAME(RLIMIT64, 16),                   \
	OTHER(SYSINFO, 64, 112, sysinfo_members), SAME(UTSNAME, 390),          \
	SAME(SIGSET, 8), OTHER(SIGINFO, 128, 128, siginfo_members),            \
	OTHER(SIGEVENT, 64, 64, sigevent_members),                             \
	OTHER(SIGACTION, 20, 32, sigaction_members),                           \
	OTHER(STACK, 12, 24, stack_members), SAME(POLLFD, 8),                  \
	SAME(CAP_HEADER, 8), SAME(CAP_DATA, 24),                               \
	OTHER(MQ_ATTR, 32, 64, four_longs),                                    \
	OTHER(FLOCK, 16, 32, flock_members),                                   \
	SAME(FILE_RANGE, 16), SAME(CACHESTAT, 40), SAME(SEMBUF, 6),            \
	SAME(OPEN_HOW, 24), OTHER(IOVEC, 8, 16, vector_members),               \
	SHORTER(MSGHDR, 28, 56, message_members),                              \
	OTHER(MMSGHDR, 32, 64, message_members),                               \
	OTHER(SHMID_DS, 84, 112, shmid_members),                               \
	OTHER(SHMINFO, 36, 72, shminfo_members),                               \
	OTHER(SHM_INFO, 24, 48, shm_info_members),                             \
	OTHER(SEMID_DS, 64, 104, semid_members), SAME(SEMINFO, 40),            \
	OTHER(MSQID_DS, 88, 120, msqid_members), SAME(MSGINFO, 32),            \
	SAME(CLONE_ARGS, 88), OTHER(ROBUST_LIST, 12, 24, robust_members),      \
	OTHER(SET_AND_SIZE, 8, 16, two_words)

const struct guest_layout i386_layouts[STRUCT_COUNT] = {
	ALL_OF_32,
	OTHER(STAT64, 96, 144, i386_stat64),
	OTHER(FLOCK64, 24, 32, i386_flock64),
	SAME(EPOLL_EVENT, 12),
};

const struct guest_layout arm_layouts[STRUCT_COUNT] = {
	ALL_OF_32,
	OTHER(STAT64, 104, 144, arm_stat64),
	OTHER(FLOCK64, 32, 32, arm_flock64),
	OTHER(EPOLL_EVENT, 16, 12, arm_epoll),
};
