/* SPDX-License-Identifier: GPL-2.0-or-later */
/* race_calls.c - see race_calls.h */
#include "replayer/races/race_calls.h"

#include <stddef.h>

/* Numbers of x86-64. */
static const struct {
	uint16_t number;
	struct race_call call;
} calls[] = {
	{ 0,	{ CALL_RECEIVES | CALL_OUT } },		/* read */
	{ 1,	{ CALL_SENDS | CALL_IN } },		/* write */
	{ 2,	{ .texts = 1 } },			/* open */
	{ 3,	{ CALL_SENDS } },			/* close */
	{ 4,	{ .texts = 1 } },			/* stat */
	{ 6,	{ .texts = 1 } },			/* lstat */
	{ 7,	{ CALL_RECEIVES_SOME } },		/* poll */
	{ 13,	{ CALL_SIGNALS, 0 } },			/* rt_sigaction */
	{ 15,	{ CALL_RETURNS } },			/* rt_sigreturn */
	{ 17,	{ CALL_RECEIVES | CALL_OUT } },		/* pread64 */
	{ 18,	{ CALL_SENDS | CALL_IN } },		/* pwrite64 */
	{ 19,	{ CALL_RECEIVES } },			/* readv */
	{ 20,	{ CALL_SENDS | CALL_IN_VECTOR } },	/* writev */
	{ 21,	{ .texts = 1 } },			/* access */
	{ 23,	{ CALL_RECEIVES_SOME } },		/* select */
	{ 37,	{ CALL_TIMES } },			/* alarm */
	{ 38,	{ CALL_TIMES } },			/* setitimer */
	{ 40,	{ CALL_SENDS | CALL_RECEIVES } },	/* sendfile */
	{ 42,	{ CALL_SENDS | CALL_RECEIVES } },	/* connect */
	{ 43,	{ CALL_RECEIVES } },			/* accept */
	{ 44,	{ CALL_SENDS | CALL_IN } },		/* sendto */
	{ 45,	{ CALL_RECEIVES | CALL_OUT } },		/* recvfrom */
	{ 46,	{ CALL_SENDS | CALL_IN_MESSAGE } },	/* sendmsg */
	{ 47,	{ CALL_RECEIVES } },			/* recvmsg */
	{ 48,	{ CALL_SENDS } },			/* shutdown */
	{ 56,	{ CALL_CLONES } },			/* clone */
	{ 59,	{ .texts = 1 } },			/* execve */
	{ 60,	{ CALL_ENDS } },			/* exit */
	{ 61,	{ CALL_RECEIVES_SOME } },		/* wait4 */
	{ 62,	{ CALL_SIGNALS, 1 } },			/* kill */
	{ 65,	{ CALL_SENDS | CALL_RECEIVES } },	/* semop */
	{ 69,	{ CALL_SENDS } },			/* msgsnd */
	{ 70,	{ CALL_RECEIVES } },			/* msgrcv */
	{ 72,	{ CALL_SENDS | CALL_RECEIVES } },	/* fcntl: locks */
	{ 73,	{ CALL_SENDS | CALL_RECEIVES } },	/* flock */
	{ 76,	{ .texts = 1 } },			/* truncate */
	{ 80,	{ .texts = 1 } },			/* chdir */
	{ 82,	{ .texts = 3 } },			/* rename */
	{ 83,	{ .texts = 1 } },			/* mkdir */
	{ 84,	{ .texts = 1 } },			/* rmdir */
	{ 85,	{ .texts = 1 } },			/* creat */
	{ 86,	{ .texts = 3 } },			/* link */
	{ 87,	{ .texts = 1 } },			/* unlink */
	{ 88,	{ .texts = 3 } },			/* symlink */
	{ 89,	{ .texts = 1 } },			/* readlink */
	{ 90,	{ .texts = 1 } },			/* chmod */
	{ 92,	{ .texts = 1 } },			/* chown */
	{ 94,	{ .texts = 1 } },			/* lchown */
	{ 128,	{ CALL_WAITS_SIGNAL } },		/* rt_sigtimedwait */
	{ 129,	{ CALL_SIGNALS, 1 } },			/* rt_sigqueueinfo */
	{ 137,	{ .texts = 1 } },			/* statfs */
	{ 200,	{ CALL_SIGNALS, 1 } },			/* tkill */
	{ 202,	{ CALL_FUTEX } },			/* futex */
	{ 208,	{ CALL_RECEIVES_SOME } },		/* io_getevents */
	{ 209,	{ CALL_SENDS } },			/* io_submit */
	{ 220,	{ CALL_SENDS | CALL_RECEIVES } },	/* semtimedop */
	{ 223,	{ CALL_TIMES } },			/* timer_settime */
	{ 232,	{ CALL_RECEIVES_SOME } },		/* epoll_wait */
	{ 233,	{ CALL_SENDS } },			/* epoll_ctl */
	{ 234,	{ CALL_SIGNALS, 2 } },			/* tgkill */
	{ 242,	{ CALL_SENDS } },			/* mq_timedsend */
	{ 243,	{ CALL_RECEIVES } },			/* mq_timedreceive */
	{ 247,	{ CALL_RECEIVES } },			/* waitid */
	{ 257,	{ .texts = 2 } },			/* openat */
	{ 258,	{ .texts = 2 } },			/* mkdirat */
	{ 260,	{ .texts = 2 } },			/* fchownat */
	{ 262,	{ .texts = 2 } },			/* newfstatat */
	{ 263,	{ .texts = 2 } },			/* unlinkat */
	{ 264,	{ .texts = 10 } },			/* renameat */
	{ 265,	{ .texts = 10 } },			/* linkat */
	{ 266,	{ .texts = 5 } },			/* symlinkat */
	{ 267,	{ .texts = 2 } },			/* readlinkat */
	{ 268,	{ .texts = 2 } },			/* fchmodat */
	{ 269,	{ .texts = 2 } },			/* faccessat */
	{ 270,	{ CALL_RECEIVES_SOME } },		/* pselect6 */
	{ 271,	{ CALL_RECEIVES_SOME } },		/* ppoll */
	{ 275,	{ CALL_SENDS | CALL_RECEIVES } },	/* splice */
	{ 276,	{ CALL_SENDS | CALL_RECEIVES } },	/* tee */
	{ 278,	{ CALL_SENDS } },			/* vmsplice */
	{ 280,	{ .texts = 2 } },			/* utimensat */
	{ 281,	{ CALL_RECEIVES_SOME } },		/* epoll_pwait */
	{ 286,	{ CALL_SENDS } },			/* timerfd_settime */
	{ 288,	{ CALL_RECEIVES } },			/* accept4 */
	{ 295,	{ CALL_RECEIVES } },			/* preadv */
	{ 296,	{ CALL_SENDS | CALL_IN_VECTOR } },	/* pwritev */
	{ 297,	{ CALL_SIGNALS, 2 } },			/* rt_tgsigqueueinfo */
	{ 299,	{ CALL_RECEIVES_SOME } },		/* recvmmsg */
	{ 307,	{ CALL_SENDS } },			/* sendmmsg */
	{ 316,	{ .texts = 10 } },			/* renameat2 */
	{ 327,	{ CALL_RECEIVES } },			/* preadv2 */
	{ 328,	{ CALL_SENDS | CALL_IN_VECTOR } },	/* pwritev2 */
	{ 332,	{ .texts = 2 } },			/* statx */
	{ 424,	{ CALL_SIGNALS, 1 } },			/* pidfd_send_signal */
	{ 435,	{ CALL_CLONES } },			/* clone3 */
	{ 437,	{ .texts = 2 } },			/* openat2 */
	{ 439,	{ .texts = 2 } },			/* faccessat2 */
	{ 441,	{ CALL_RECEIVES_SOME } },		/* epoll_pwait2 */
};

struct race_call race_call_of(uint64_t number)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].number == number)
			return calls[i].call;
	return (struct race_call) { 0 };
}

struct race_futex race_futex_of(uint64_t operation)
{
	switch (operation & 127) {	/* without PRIVATE and CLOCK_REALTIME */
	case 0:		/* WAIT */
	case 9:		/* WAIT_BITSET */
	case 6:		/* LOCK_PI */
	case 8:		/* TRYLOCK_PI */
	case 13:	/* LOCK_PI2 */
		return (struct race_futex) { .acquires = true };
	case 1:		/* WAKE */
	case 10:	/* WAKE_BITSET */
	case 7:		/* UNLOCK_PI */
		return (struct race_futex) { .publishes = true };
	case 3:		/* REQUEUE */
	case 4:		/* CMP_REQUEUE */
	case 5:		/* WAKE_OP */
	case 12:	/* CMP_REQUEUE_PI */
		return (struct race_futex) { .publishes = true,
					     .has_second = true };
	case 11:	/* WAIT_REQUEUE_PI */
		return (struct race_futex) { .acquires = true,
					     .has_second = true };
	}
	return (struct race_futex) { 0 };
}
