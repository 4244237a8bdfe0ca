/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_sockets.c - options and times of sockets, whose layouts differ; contexts
 * that are swapped with their masks of signals */
#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/guests/guest.h"

static int ends[2];

/* ------- options ------- */

static void time_limits(void)
{
	struct timeval limit = { .tv_usec = 20000 }, got = { 0 };
	socklen_t size = sizeof(got);
	char byte;

	CHECK(!setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit,
			  sizeof(limit)));
	CHECK(recv(ends[0], &byte, 1, 0) < 0 && errno == EAGAIN);
	CHECK(!getsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &got, &size));
	CHECK(size == sizeof(got));
	CHECK(got.tv_sec == 0 && got.tv_usec >= 20000 && got.tv_usec < 40000);
	limit.tv_sec = 3;
	CHECK(!setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &limit,
			  sizeof(limit) + 4));
	size = sizeof(got.tv_sec);
	got.tv_usec = -1;
	CHECK(!getsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &got, &size));
	CHECK(size == sizeof(got.tv_sec) && got.tv_sec == 3 &&
	      got.tv_usec == -1);
	CHECK(setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &limit,
			 sizeof(limit) - 1) < 0 && errno == EINVAL);
	CHECK(setsockopt(-1, SOL_SOCKET, SO_SNDTIMEO, &limit,
			 sizeof(limit)) < 0 && errno == EBADF);
	limit.tv_usec = 1000000;
	CHECK(setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &limit,
			 sizeof(limit)) < 0 && errno == EDOM);
}

/* Only what begins with 'y' comes through. */
static void filters(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 'y', 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 100),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = { .len = 4, .filter = code };
	char byte = 'n';

	CHECK(!setsockopt(ends[0], SOL_SOCKET, SO_ATTACH_FILTER, &program,
			  sizeof(program)));
	CHECK(send(ends[1], &byte, 1, 0) == 1);
	byte = 'y';
	CHECK(send(ends[1], &byte, 1, 0) == 1);
	byte = 0;
	CHECK(recv(ends[0], &byte, 1, 0) == 1 && byte == 'y');
	CHECK(setsockopt(ends[0], SOL_SOCKET, SO_ATTACH_FILTER, &program,
			 sizeof(program) - 1) < 0 && errno == EINVAL);
	program.filter = NULL;
	CHECK(setsockopt(ends[0], SOL_SOCKET, SO_ATTACH_FILTER, &program,
			 sizeof(program)) < 0);
}

/* ------- times of what is received ------- */

static void receive(int fd, int type, void *out, size_t size)
{
	char byte = 0, control[64];
	struct iovec part = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = CMSG_SPACE(size),
	};
	struct cmsghdr *head;

	CHECK(recvmsg(fd, &message, 0) == 1 && byte == 't');
	CHECK(!(message.msg_flags & MSG_CTRUNC));
	head = CMSG_FIRSTHDR(&message);
	CHECK(head && head->cmsg_level == SOL_SOCKET &&
	      head->cmsg_type == type && head->cmsg_len == CMSG_LEN(size));
	if (head)
		memcpy(out, CMSG_DATA(head), size);
}

static void times(void)
{
	struct sockaddr_in here = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_DGRAM, 0), on = 1;
	socklen_t size = sizeof(here);
	struct timeval at = { 0 };
	struct timespec fine = { 0 };
	time_t now = time(NULL);

	CHECK(!bind(fd, (struct sockaddr *)&here, sizeof(here)));
	CHECK(!getsockname(fd, (struct sockaddr *)&here, &size));
	CHECK(!connect(fd, (struct sockaddr *)&here, sizeof(here)));
	CHECK(!setsockopt(fd, SOL_SOCKET, SO_TIMESTAMP, &on, sizeof(on)));
	CHECK(send(fd, "t", 1, 0) == 1);
	receive(fd, SCM_TIMESTAMP, &at, sizeof(at));
	CHECK(at.tv_sec >= now && at.tv_sec <= now + 100);
	CHECK(at.tv_usec >= 0 && at.tv_usec < 1000000);
	CHECK(!setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)));
	CHECK(send(fd, "t", 1, 0) == 1);
	receive(fd, SCM_TIMESTAMPNS, &fine, sizeof(fine));
	CHECK(fine.tv_sec >= now && fine.tv_sec <= now + 100);
	CHECK(fine.tv_nsec >= 0 && fine.tv_nsec < 1000000000);
	close(fd);
}

/* ------- contexts ------- */

static ucontext_t back, forth;
static char stack[1 << 16];
static int visits;

static void visit(void)
{
	sigset_t now;

	for (int i = 0; i < 3; i++) {
		CHECK(!sigprocmask(SIG_BLOCK, NULL, &now));
		CHECK(sigismember(&now, SIGUSR1) == 1);
		CHECK(!sigismember(&now, SIGUSR2));
		visits++;
		CHECK(!swapcontext(&forth, &back));
	}
}

static void contexts(void)
{
	sigset_t now;

	CHECK(!getcontext(&forth));
	forth.uc_stack.ss_sp = stack;
	forth.uc_stack.ss_size = sizeof(stack);
	sigaddset(&forth.uc_sigmask, SIGUSR1);
	makecontext(&forth, visit, 0);
	sigemptyset(&now);
	sigaddset(&now, SIGUSR2);
	CHECK(!sigprocmask(SIG_BLOCK, &now, NULL));
	for (int i = 1; i <= 3; i++) {
		CHECK(!swapcontext(&back, &forth));
		CHECK(visits == i);
		CHECK(!sigprocmask(SIG_BLOCK, NULL, &now));
		CHECK(!sigismember(&now, SIGUSR1));
		CHECK(sigismember(&now, SIGUSR2) == 1);
	}
}

int main(void)
{
	CHECK(!socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
	time_limits();
	filters();
	times();
	contexts();
	return guest_end();
}
