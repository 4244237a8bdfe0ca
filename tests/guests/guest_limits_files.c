/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_limits_files.c - RLIMIT_FSIZE and RLIMIT_NOFILE: what is written in
 * part or not at all, with a signal, and descriptors that there are not
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>

#include "tests/guests/guest_limits.h"

#define FILE_MOST 100000

static char bytes[300000];

/* ------- sizes of files ------- */

static volatile int signals;
static siginfo_t signal_info;

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	signal_info = *info;
	signals++;
}

/* Whether the call has failed as beyond a limit, with a signal. */
static int exceeded(long result)
{
	int error = errno, count = signals;

	signals = 0;
	return result == -1 && error == EFBIG && count == 1 &&
	       signal_info.si_signo == SIGXFSZ &&
	       signal_info.si_code == SI_USER &&
	       signal_info.si_pid == getpid();
}

/* A pointer to nothing, which the compiler does not see. */
static char *volatile nowhere = (char *)8;

static int new_file(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0);
	return fd;
}

static void test_writes(void)
{
	struct iovec parts[2] = { { bytes, 60000 }, { bytes, 60000 } };
	int fd = new_file("f"), other, ends[2];

	CHECK(write(fd, bytes, 60000) == 60000);
	CHECK(write(fd, bytes, 60000) == 40000 && !signals);
	CHECK(exceeded(write(fd, bytes, 60000)));
	CHECK(write(fd, bytes, 0) == 0 && !signals);
	CHECK(lseek(fd, 0, SEEK_END) == FILE_MOST);
	CHECK(pwrite(fd, bytes, 10, FILE_MOST - 5) == 5);
	CHECK(exceeded(pwrite(fd, bytes, 10, FILE_MOST)));
	CHECK(exceeded(pwrite(fd, nowhere, 10, FILE_MOST)));
	CHECK(pwrite(fd, bytes, 10, -5) == -1 && errno == EINVAL);
	CHECK(pwritev(fd, parts, 2, 0) == FILE_MOST);
	CHECK(exceeded(pwritev(fd, parts, 2, FILE_MOST + 5000)));
	CHECK(lseek(fd, 0, SEEK_SET) == 0);
	CHECK(writev(fd, parts, 2) == FILE_MOST);
	CHECK(exceeded(writev(fd, parts, 2)));
	CHECK(exceeded(pwritev2(fd, parts, 2, 0, RWF_APPEND)));
	other = open("f", O_WRONLY | O_APPEND);
	CHECK(exceeded(pwrite(other, bytes, 10, 0)));
	close(other);
	other = open("f", O_RDONLY);
	CHECK(pwrite(other, bytes, 10, FILE_MOST) == -1 && errno == EBADF);
	CHECK(ftruncate(other, 2 * FILE_MOST) == -1 && errno == EINVAL);
	close(other);
	close(fd);
	/* What is no regular file has no limit. */
	fd = open("/dev/null", O_WRONLY);
	CHECK(write(fd, bytes, sizeof(bytes)) == sizeof(bytes));
	close(fd);
	CHECK(!pipe(ends) && write(ends[1], bytes, 10) == 10);
	set_limit(RLIMIT_FSIZE, 0);
	CHECK(write(ends[1], bytes, 10) == 10);
	fd = open("/proc/self/comm", O_WRONLY);
	CHECK(write(fd, "guest_limits", 12) == 12 && !signals);
	close(fd);
	close(ends[0]);
	close(ends[1]);
}

static void test_sizes(void)
{
	int fd = new_file("f");

	CHECK(exceeded(ftruncate(fd, FILE_MOST + 1)));
	CHECK(!ftruncate(fd, FILE_MOST));
	CHECK(exceeded(truncate("f", 2 * FILE_MOST)));
	CHECK(exceeded(fallocate(fd, 0, 1, FILE_MOST)));
	CHECK(!fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, FILE_MOST + 1));
	CHECK(truncate("none", 2 * FILE_MOST) == -1 && errno == ENOENT);
	/* One that is longer already may become shorter. */
	set_limit(RLIMIT_FSIZE, 10);
	CHECK(!truncate("f", 50000) && exceeded(truncate("f", 50001)));
	CHECK(!ftruncate(fd, 20) && !signals);
	close(fd);
}

static void test_copies(int from)
{
	int fd = new_file("f"), ends[2];
	off_t in = 0, out = 0;

	CHECK(sendfile(fd, from, &in, 200000) == FILE_MOST);
	CHECK(signals == 1);	/* of the second piece */
	signals = 0;
	CHECK(in == FILE_MOST && exceeded(sendfile(fd, from, &in, 200000)));
	in = sizeof(bytes);
	CHECK(sendfile(fd, from, &in, 200000) == 0 && !signals);
	CHECK(!ftruncate(fd, 0) && !lseek(fd, 0, SEEK_SET));
	in = 0;
	CHECK(sendfile(fd, from, &in, FILE_MOST) == FILE_MOST && !signals);
	in = 0;
	CHECK(copy_file_range(from, &in, fd, &out, 200000, 0) == FILE_MOST);
	CHECK(!signals && in == FILE_MOST && out == FILE_MOST);
	CHECK(exceeded(copy_file_range(from, &in, fd, &out, 200000, 0)));
	CHECK(!pipe(ends) && write(ends[1], bytes, 60000) == 60000);
	out = FILE_MOST - 10000;
	CHECK(splice(ends[0], NULL, fd, &out, 60000, 0) == 10000);
	CHECK(signals == 1);
	signals = 0;
	CHECK(exceeded(splice(ends[0], NULL, fd, &out, 60000, 0)));
	close(ends[0]);
	close(ends[1]);
	close(fd);
}

static void test_files(void)
{
	int from = new_file("from");

	CHECK(write(from, bytes, sizeof(bytes)) == sizeof(bytes));
	install(SIGXFSZ, on_signal, 0);
	set_limit(RLIMIT_FSIZE, FILE_MOST);
	test_writes();
	set_limit(RLIMIT_FSIZE, FILE_MOST);
	test_sizes();
	set_limit(RLIMIT_FSIZE, FILE_MOST);
	test_copies(from);
	close(from);
}

static void test_ignored(void)
{
	int fd = new_file("f");
	pid_t pid;

	signal(SIGXFSZ, SIG_IGN);
	set_limit(RLIMIT_FSIZE, FILE_MOST);
	CHECK(write(fd, bytes, 150000) == FILE_MOST);
	CHECK(write(fd, bytes, 10) == -1 && errno == EFBIG);
	/* Limits stay where they are in a child. */
	pid = fork();
	if (!pid)
		_exit(write(fd, bytes, 10) == -1 && errno == EFBIG ? 3 : 4);
	CHECK(end_of(pid) == 3);
	close(fd);
}

static void test_killed(void)
{
	int fd = new_file("f");

	set_limit(RLIMIT_CORE, 0);
	set_limit(RLIMIT_FSIZE, FILE_MOST);
	CHECK(write(fd, bytes, 60000) == 60000);
	CHECK(write(fd, bytes, 60000) == 40000);
	CHECK(write(fd, bytes, 60000) < -1);	/* it never returns */
}

/* ------- descriptors ------- */

#define MOST 10

static int fill(void)
{
	int fd, last = -1;

	while ((fd = open("/dev/null", O_RDONLY)) >= 0)
		last = fd;
	CHECK(errno == EMFILE && last == MOST - 1);
	return last;
}

static int refused(long result)
{
	return result == -1 && errno == EMFILE;
}

static void test_new_ones(void)
{
	char many[2000 * sizeof(struct pollfd)];
	int pair[2] = { -1, -1 };
	pid_t pid;

	fill();
	CHECK(refused(open("created", O_CREAT | O_WRONLY, 0600)));
	CHECK(access("created", F_OK) == -1 && errno == ENOENT);
	CHECK(refused(creat("created", 0600)));
	CHECK(open("none", O_RDONLY) == -1 && errno == EMFILE);
	CHECK(open(nowhere, O_RDONLY) == -1 && errno == EFAULT);
	CHECK(refused(open("/proc/self/maps", O_RDONLY)));
	CHECK(refused(dup(0)) && refused(fcntl(0, F_DUPFD, 3)));
	CHECK(dup(77) == -1 && errno == EBADF);
	CHECK(fcntl(0, F_DUPFD, MOST) == -1 && errno == EINVAL);
	CHECK(dup2(0, MOST) == -1 && errno == EBADF);
	CHECK(dup3(0, 4096, 0) == -1 && errno == EBADF);
	CHECK(dup2(0, MOST - 1) == MOST - 1);
	CHECK(refused(pipe(pair)) && refused(syscall(SYS_eventfd2, 0, 0)));
	CHECK(refused(socket(AF_UNIX, SOCK_STREAM, 0)));
	CHECK(refused(socketpair(AF_UNIX, SOCK_STREAM, 0, pair)));
	CHECK(refused(syscall(SYS_epoll_create1, 0)));
	CHECK(refused(syscall(SYS_timerfd_create, CLOCK_MONOTONIC, 0)));
	CHECK(refused(syscall(SYS_inotify_init1, 0)));
	CHECK(refused(syscall(SYS_memfd_create, "m", 0)));
	CHECK(refused(syscall(SYS_pidfd_open, getpid(), 0)));
	CHECK(poll((void *)many, 2000, 0) == -1 && errno == EINVAL);
	/* Room for one is not enough for two. */
	close(5);
	CHECK(refused(pipe(pair)) && dup(0) == 5);
	close(5);
	close(7);
	CHECK(!pipe(pair) && pair[0] == 5 && pair[1] == 7);
	pid = fork();
	if (!pid)
		_exit(refused(open("/dev/null", O_RDONLY)) ? 3 : 4);
	CHECK(end_of(pid) == 3);
	set_limit(RLIMIT_NOFILE, MOST + 1);
	CHECK(dup(0) == MOST && refused(dup(0)));
	close(MOST);
}

/* A connection that there is no room for is there later. */
static void test_accept(void)
{
	struct sockaddr_un address = { AF_UNIX, "socket" };
	int server = socket(AF_UNIX, SOCK_STREAM, 0), client, last;

	client = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK(!bind(server, (void *)&address, sizeof(address)));
	CHECK(!listen(server, 5));
	CHECK(!connect(client, (void *)&address, sizeof(address)));
	last = fill();
	CHECK(refused(accept(server, NULL, NULL)));
	close(last);
	CHECK(accept(server, NULL, NULL) == last);
	close(last);
	unlink("socket");
	close(server);
	close(client);
	closefrom(3);
}

union rights {
	struct cmsghdr head;
	char room[CMSG_SPACE(3 * sizeof(int))];
};

static ssize_t transfer(int fd, union rights *rights, struct msghdr *message)
{
	static char byte;
	static struct iovec part = { &byte, 1 };

	*message = (struct msghdr){
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = rights,
		.msg_controllen = sizeof(*rights),
	};
	return fd;
}

/* Of three descriptors in a message, `room` arrive. */
static void pass_descriptors(int room)
{
	union rights rights = {
		.head = { CMSG_LEN(3 * sizeof(int)), SOL_SOCKET, SCM_RIGHTS },
	};
	struct msghdr message;
	int pair[2], fds[3] = { 0, 1, 2 };

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	memcpy(CMSG_DATA(&rights.head), fds, sizeof(fds));
	transfer(pair[0], &rights, &message);
	CHECK(sendmsg(pair[0], &message, 0) == 1);
	fill();
	for (int i = 0; i < room; i++)
		close(MOST - 1 - i);
	memset(&rights, 0, sizeof(rights));
	transfer(pair[1], &rights, &message);
	CHECK(recvmsg(pair[1], &message, 0) == 1);
	CHECK(!!(message.msg_flags & MSG_CTRUNC) == (room < 3));
	CHECK(message.msg_controllen ==
	      (room ? CMSG_SPACE((unsigned)room * sizeof(int)) : 0));
	if (room) {
		CHECK(rights.head.cmsg_len ==
		      CMSG_LEN((unsigned)room * sizeof(int)));
		memcpy(fds, CMSG_DATA(&rights.head),
		       (unsigned)room * sizeof(int));
		CHECK(fds[0] == MOST - room && fds[room - 1] == MOST - 1);
	}
	CHECK(refused(dup(0)));
	closefrom(3);
}

static void test_descriptors(void)
{
	closefrom(3);
	set_limit(RLIMIT_NOFILE, MOST);
	test_accept();
	for (int room = 0; room <= 3; room++)
		pass_descriptors(room);
	test_new_ones();
}

static void *accept_in_vain(void *server)
{
	for (int i = 0; i < 300; i++)
		CHECK(refused(accept(*(int *)server, NULL, NULL)));
	return NULL;
}

/* What is refused to one thread leaves the others alone. */
static void test_threads(void)
{
	struct sockaddr_un address = { AF_UNIX, "socket" };
	int server;
	pthread_t threads[2];
	pid_t pid;

	closefrom(3);
	server = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK(!bind(server, (void *)&address, sizeof(address)));
	CHECK(!listen(server, 5));
	set_limit(RLIMIT_NOFILE, MOST);
	fill();
	for (int i = 0; i < 2; i++)
		CHECK(!pthread_create(&threads[i], NULL, accept_in_vain,
				      &server));
	for (int i = 0; i < 10; i++) {
		pid = fork();
		if (!pid)
			_exit(refused(dup(0)) ? 3 : 4);
		CHECK(end_of(pid) == 3 && refused(dup(0)));
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	unlink("socket");
	set_limit(RLIMIT_NOFILE, 2 * MOST);
	for (int i = MOST; i < 2 * MOST; i++)
		CHECK(dup(0) == i);
	CHECK(refused(dup(0)));
}

int main(void)
{
	in_child("files", test_files, 0);
	in_child("ignored", test_ignored, 0);
	in_child("killed", test_killed, 1000 + SIGXFSZ);
	in_child("descriptors", test_descriptors, 0);
	in_child("threads", test_threads, 0);
	return guest_end();
}
