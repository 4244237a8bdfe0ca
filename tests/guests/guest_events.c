/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_events.c - pipes, sockets, and every way to wait for them */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "tests/guests/guest.h"

static int ends[2];

static void test_pipe(void)
{
	char one[4], two[8];
	struct iovec out[3] = { { (void *)(uintptr_t)"ab", 2 },
				{ NULL, 0 },
				{ (void *)(uintptr_t)"cdefg", 5 } };
	struct iovec in[2] = { { one, sizeof(one) }, { two, sizeof(two) } };
	int ready = -1;

	CHECK(!pipe2(ends, O_CLOEXEC));
	CHECK(fcntl(ends[0], F_GETFD) == FD_CLOEXEC);
	CHECK(writev(ends[1], out, 3) == 7);
	CHECK(!ioctl(ends[0], FIONREAD, &ready) && ready == 7);
	CHECK(readv(ends[0], in, 2) == 7);
	CHECK(!memcmp(one, "abcd", 4) && !memcmp(two, "efg", 3));
	CHECK(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
	CHECK(read(ends[0], one, 1) == -1 && errno == EAGAIN);
}

static void test_poll(void)
{
	struct pollfd fds[2] = { { ends[0], POLLIN, 0 },
				 { ends[1], POLLOUT, 0 } };
	struct timespec zero = { 0, 0 };

	CHECK(poll(fds, 2, 0) == 1);
	CHECK(fds[0].revents == 0 && fds[1].revents == POLLOUT);
	CHECK(poll(fds, 1, 5) == 0);
	CHECK(write(ends[1], "x", 1) == 1);
	CHECK(ppoll(fds, 2, &zero, NULL) == 2 && fds[0].revents == POLLIN);
}

static void test_select(void)
{
	struct timeval second = { 1, 0 };
	struct timespec zero = { 0, 0 };
	fd_set in, out;

	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_SET(ends[0], &in);
	FD_SET(ends[1], &out);
	CHECK(select(ends[1] + 1, &in, &out, NULL, &second) == 2);
	CHECK(FD_ISSET(ends[0], &in) && FD_ISSET(ends[1], &out));
	CHECK(second.tv_sec == 1 || second.tv_usec > 0);
	FD_ZERO(&in);
	FD_SET(ends[1], &in);
	CHECK(pselect(ends[1] + 1, &in, NULL, NULL, &zero, NULL) == 0);
	CHECK(!FD_ISSET(ends[1], &in));
}

static void test_epoll(void)
{
	int set = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event, events[4];

	memset(&event, 0, sizeof(event));
	CHECK(set >= 0);
	event.events = EPOLLIN;
	event.data.u64 = 0x1234567890abcdef;
	CHECK(!epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event));
	CHECK(epoll_wait(set, events, 4, 100) == 1);
	CHECK(events[0].events == EPOLLIN);
	CHECK(events[0].data.u64 == 0x1234567890abcdef);
	CHECK(!epoll_ctl(set, EPOLL_CTL_DEL, ends[0], NULL));
	CHECK(epoll_wait(set, events, 4, 0) == 0);
	CHECK(epoll_ctl(set, EPOLL_CTL_DEL, ends[0], NULL) == -1);
	CHECK(errno == ENOENT);
	close(set);
}

static void test_eventfd(void)
{
	int fd = eventfd(3, EFD_NONBLOCK);
	uint64_t value = 5;

	CHECK(write(fd, &value, 8) == 8);
	CHECK(read(fd, &value, 8) == 8 && value == 8);
	CHECK(read(fd, &value, 8) == -1 && errno == EAGAIN);
	CHECK(read(fd, &value, 4) == -1 && errno == EINVAL);
	close(fd);
}

static void test_timerfd(void)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	struct itimerspec set = { { 0, 0 }, { 0, 10000000 } }, left;
	uint64_t expirations = 0;

	CHECK(!timerfd_settime(fd, 0, &set, NULL));
	CHECK(!timerfd_gettime(fd, &left) && left.it_value.tv_nsec > 0);
	CHECK(read(fd, &expirations, 8) == 8 && expirations == 1);
	close(fd);
}

static void test_signalfd(void)
{
	struct signalfd_siginfo info;
	sigset_t set, old;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, &old);
	fd = signalfd(-1, &set, SFD_NONBLOCK);
	CHECK(fd >= 0);
	CHECK(read(fd, &info, sizeof(info)) == -1 && errno == EAGAIN);
	raise(SIGUSR1);
	CHECK(read(fd, &info, sizeof(info)) == sizeof(info));
	CHECK(info.ssi_signo == SIGUSR1);
	close(fd);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

static void test_socket_pair(void)
{
	char bytes[16] = "", control[CMSG_SPACE(sizeof(int))];
	struct iovec part = { bytes, sizeof(bytes) };
	struct msghdr message;
	struct cmsghdr *header;
	int pair[2], passed = -1;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	memset(&message, 0, sizeof(message));
	memset(control, 0, sizeof(control));
	memcpy(bytes, "hello", 5);
	part.iov_len = 5;
	message.msg_iov = &part;
	message.msg_iovlen = 1;
	message.msg_control = control;
	message.msg_controllen = sizeof(control);
	header = CMSG_FIRSTHDR(&message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &ends[1], sizeof(int));
	CHECK(sendmsg(pair[0], &message, 0) == 5);
	memset(bytes, 0, sizeof(bytes));
	memset(control, 0, sizeof(control));
	part.iov_len = sizeof(bytes);
	CHECK(recvmsg(pair[1], &message, 0) == 5 && !strcmp(bytes, "hello"));
	header = CMSG_FIRSTHDR(&message);
	CHECK(header && header->cmsg_type == SCM_RIGHTS);
	if (header)
		memcpy(&passed, CMSG_DATA(header), sizeof(int));
	CHECK(write(passed, "y", 1) == 1);
	close(passed);
	close(pair[0]);
	CHECK(read(pair[1], bytes, 1) == 0);
	signal(SIGPIPE, SIG_IGN);
	CHECK(write(pair[1], bytes, 1) == -1 && errno == EPIPE);
	close(pair[1]);
}

static void test_tcp(void)
{
	struct sockaddr_in name, peer;
	socklen_t size = sizeof(name);
	int listener = socket(AF_INET, SOCK_STREAM, 0), client, server;
	int one = 1, value = 0;
	char bytes[8] = "";

	memset(&name, 0, sizeof(name));
	name.sin_family = AF_INET;
	name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CHECK(!setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)));
	CHECK(!bind(listener, (void *)&name, sizeof(name)));
	CHECK(!listen(listener, 1));
	CHECK(!getsockname(listener, (void *)&name, &size));
	CHECK(size == sizeof(name) && name.sin_port != 0);
	client = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(!connect(client, (void *)&name, sizeof(name)));
	size = sizeof(peer);
	server = accept(listener, (void *)&peer, &size);
	CHECK(server >= 0 && size == sizeof(peer));
	CHECK(peer.sin_family == AF_INET);
	CHECK(send(client, "12345", 5, 0) == 5);
	CHECK(recv(server, bytes, 3, 0) == 3 && !memcmp(bytes, "123", 3));
	CHECK(recv(server, bytes, 8, 0) == 2 && !memcmp(bytes, "45", 2));
	size = sizeof(value);
	CHECK(!getsockopt(client, SOL_SOCKET, SO_TYPE, &value, &size));
	CHECK(value == SOCK_STREAM && size == sizeof(value));
	CHECK(!shutdown(client, SHUT_WR) && recv(server, bytes, 1, 0) == 0);
	close(client);
	close(server);
	close(listener);
}

static void test_udp(void)
{
	struct sockaddr_in name, from;
	socklen_t size = sizeof(name);
	int a = socket(AF_INET, SOCK_DGRAM, 0);
	char bytes[8] = "";

	memset(&name, 0, sizeof(name));
	name.sin_family = AF_INET;
	name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CHECK(!bind(a, (void *)&name, sizeof(name)));
	CHECK(!getsockname(a, (void *)&name, &size));
	CHECK(sendto(a, "abc", 3, 0, (void *)&name, size) == 3);
	size = sizeof(from);
	CHECK(recvfrom(a, bytes, 2, MSG_TRUNC, (void *)&from, &size) == 3);
	CHECK(!memcmp(bytes, "ab", 3) && from.sin_port == name.sin_port);
	close(a);
}

static void test_sleep(void)
{
	struct timespec before, after, ten = { 0, 10000000 };
	int64_t passed;

	CHECK(!clock_gettime(CLOCK_MONOTONIC, &before));
	CHECK(!clock_nanosleep(CLOCK_MONOTONIC, 0, &ten, NULL));
	CHECK(!clock_gettime(CLOCK_MONOTONIC, &after));
	passed = (int64_t)(after.tv_sec - before.tv_sec) * 1000000000 +
		 (after.tv_nsec - before.tv_nsec);
	CHECK(passed >= 10000000);
}

int main(void)
{
	test_pipe();
	test_poll();
	test_select();
	test_epoll();
	test_eventfd();
	test_timerfd();
	test_signalfd();
	test_socket_pair();
	test_tcp();
	test_udp();
	test_sleep();
	return guest_end();
}
