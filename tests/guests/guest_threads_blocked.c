/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_threads_blocked.c - a thread that waits in a call stops no other */
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "tests/guests/guest_threads.h"

extern char **environ;

static int pipe_ends[2], sockets[2], event_fd, listener;
static int ready, results;
static pid_t child;
static char scratch[] = "threads-blocked-XXXXXX", path[64];

/* Each waits until main() lets it go on, and then returns what it got. */

static long wait_read(void)
{
	char text[4] = "";

	return read(pipe_ends[0], text, 3) == 3 && !strcmp(text, "abc");
}

static long wait_readv(void)
{
	char one[2], two[8];
	struct iovec parts[] = { { one, 2 }, { two, 8 } };

	return readv(pipe_ends[0], parts, 2) == 3 && one[0] == 'a' &&
	       two[0] == 'c';
}

static long wait_poll(void)
{
	struct pollfd what = { pipe_ends[0], POLLIN, 0 };

	return poll(&what, 1, -1) == 1 && what.revents == POLLIN && wait_read();
}

static long wait_select(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(pipe_ends[0], &set);
	return select(pipe_ends[0] + 1, &set, NULL, NULL, NULL) == 1 &&
	       FD_ISSET(pipe_ends[0], &set) && wait_read();
}

static long wait_epoll(void)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = 77 };
	int fd = epoll_create1(0);
	long good = !epoll_ctl(fd, EPOLL_CTL_ADD, pipe_ends[0], &event);

	memset(&event, 0, sizeof(event));
	good = good && epoll_wait(fd, &event, 1, -1) == 1 &&
	       event.data.u64 == 77 && wait_read();
	close(fd);
	return good;
}

static void write_abc(void)
{
	CHECK(write(pipe_ends[1], "abc", 3) == 3);
}

static long wait_receive(void)
{
	char text[8];
	struct iovec part = { text, sizeof(text) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	return recvmsg(sockets[0], &message, 0) == 4 && text[3] == 'd';
}

static void send_abcd(void)
{
	CHECK(send(sockets[1], "abcd", 4, 0) == 4);
}

static long wait_event(void)
{
	uint64_t value = 0;

	return read(event_fd, &value, 8) == 8 && value == 5;
}

static void write_event(void)
{
	uint64_t value = 5;

	CHECK(write(event_fd, &value, 8) == 8);
}

/* A pipe that is full. */
static long wait_write(void)
{
	static char text[1 << 20];

	return write(sockets[0], text, sizeof(text)) == sizeof(text);
}

static void drain(void)
{
	static char text[65536];
	size_t total = 0;

	while (total < 1 << 20) {
		ssize_t got = read(sockets[1], text, sizeof(text));

		if (got <= 0)
			break;
		total += (size_t)got;
	}
	CHECK(total == 1 << 20);
}

static long wait_accept(void)
{
	struct sockaddr_in peer;
	socklen_t size = sizeof(peer);
	int fd = accept(listener, (struct sockaddr *)&peer, &size);
	char byte = 0;
	long good = fd >= 0 && read(fd, &byte, 1) == 1 && byte == 'x';

	close(fd);
	return good;
}

static void connect_there(void)
{
	struct sockaddr_in address;
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	CHECK(!getsockname(listener, (struct sockaddr *)&address, &size));
	CHECK(!connect(fd, (struct sockaddr *)&address, size));
	CHECK(write(fd, "x", 1) == 1);
	close(fd);
}

static long wait_child(void)
{
	int status = 0;

	return waitpid(child, &status, 0) == child &&
	       WEXITSTATUS(status) == 12;
}

static void end_child(void)
{
	CHECK(write(pipe_ends[1], "x", 1) == 1);
}

static void start_child(void)
{
	child = fork();
	if (!child) {
		char byte;

		_exit(read(pipe_ends[0], &byte, 1) == 1 ? 12 : 13);
	}
}

static long wait_file_lock(void)
{
	int fd = open(path, O_RDWR);
	long good = !flock(fd, LOCK_EX);

	close(fd);
	return good;
}

static int locked_fd;

static void lock_file(void)
{
	locked_fd = open(path, O_RDWR | O_CREAT, 0600);
	CHECK(!flock(locked_fd, LOCK_EX));
}

static void unlock_file(void)
{
	CHECK(!flock(locked_fd, LOCK_UN));
	close(locked_fd);
}

static long wait_record_lock(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open(path, O_RDWR);
	long good = !fcntl(fd, F_OFD_SETLKW, &lock);

	close(fd);
	return good;
}

static void lock_record(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	locked_fd = open(path, O_RDWR | O_CREAT, 0600);
	CHECK(!fcntl(locked_fd, F_OFD_SETLK, &lock));
}

static void unlock_record(void)
{
	struct flock lock = { .l_type = F_UNLCK, .l_whence = SEEK_SET };

	CHECK(!fcntl(locked_fd, F_OFD_SETLK, &lock));
	close(locked_fd);
}

static long wait_open(void)
{
	int fd = open(path, O_RDONLY);
	char byte = 0;
	long good = fd >= 0 && read(fd, &byte, 1) == 1 && byte == 'f';

	close(fd);
	return good;
}

static void make_fifo(void)
{
	CHECK(!unlink(path) && !mkfifo(path, 0600));
}

static void open_fifo(void)
{
	int fd = open(path, O_WRONLY);

	CHECK(write(fd, "f", 1) == 1);
	close(fd);
}

static long wait_signal(void)
{
	sigset_t set;
	int number = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	return !sigwait(&set, &number) && number == SIGUSR1;
}

static void send_signal(void)
{
	CHECK(!kill(getpid(), SIGUSR1));
}

static sem_t semaphore;

static long wait_semaphore(void)
{
	return !sem_wait(&semaphore);
}

static void post_semaphore(void)
{
	CHECK(!sem_post(&semaphore));
}

static const struct waiter {
	long (*wait)(void);
	void (*go_on)(void);
	void (*before)(void);
} waiters[] = {
	{ wait_read, write_abc, NULL },
	{ wait_readv, write_abc, NULL },
	{ wait_poll, write_abc, NULL },
	{ wait_select, write_abc, NULL },
	{ wait_epoll, write_abc, NULL },
	{ wait_receive, send_abcd, NULL },
	{ wait_event, write_event, NULL },
	{ wait_write, drain, NULL },
	{ wait_accept, connect_there, NULL },
	{ wait_child, end_child, start_child },
	{ wait_file_lock, unlock_file, lock_file },
	{ wait_record_lock, unlock_record, lock_record },
	{ wait_open, open_fifo, make_fifo },
	{ wait_signal, send_signal, NULL },
	{ wait_semaphore, post_semaphore, NULL },
};

static void *wait_in_thread(void *argument)
{
	const struct waiter *waiter = argument;
	long good;

	store(&ready, 1);
	good = waiter->wait();
	add(&results, 1);
	return (void *)good;
}

static void test_waiter(const struct waiter *waiter)
{
	pthread_t other;

	store(&ready, 0);
	store(&results, 0);
	if (waiter->before)
		waiter->before();
	other = start(wait_in_thread, (void *)(uintptr_t)waiter);
	await(&ready, 1);
	sleep_for(15);
	CHECK(load(&results) == 0);
	waiter->go_on();
	CHECK(join(other) == (void *)1);
}

/* ------- many sleepers, one that computes ------- */

static void *sleep_long(void *argument)
{
	struct timespec left = { 0, 200000000 };

	(void)argument;
	add(&results, 1);
	while (nanosleep(&left, &left))
		continue;
	return NULL;
}

static void test_sleepers(void)
{
	struct timespec before, after;
	pthread_t threads[20];
	long passed;

	store(&results, 0);
	clock_gettime(CLOCK_MONOTONIC, &before);
	for (int i = 0; i < 20; i++)
		threads[i] = start(sleep_long, NULL);
	await(&results, 20);
	for (int i = 0; i < 20; i++)
		join(threads[i]);
	clock_gettime(CLOCK_MONOTONIC, &after);
	passed = (after.tv_sec - before.tv_sec) * 1000 +
		 (after.tv_nsec - before.tv_nsec) / 1000000;
	/* One after the other they would need 4 seconds. */
	CHECK(passed >= 199 && passed < 3000);
}

static void *vfork_child(void *argument)
{
	char *argv[] = { (char *)"sleep", (char *)"0.1", NULL };
	pid_t pid;
	int status = -1;

	CHECK(!posix_spawnp(&pid, "sleep", NULL, NULL, argv, environ));
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	store(argument, 1);
	return NULL;
}

static void test_spawned(void)
{
	int done = 0;
	volatile unsigned long spins = 0;
	pthread_t other = start(vfork_child, &done);

	while (!load(&done))
		spins++;
	join(other);
	CHECK(spins > 0);
}

int main(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	sigset_t set;

	guest_watchdog(100);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CHECK(mkdtemp(scratch) != NULL);
	snprintf(path, sizeof(path), "%s/file", scratch);
	CHECK(!pipe(pipe_ends));
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	event_fd = eventfd(0, 0);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(!bind(listener, (struct sockaddr *)&address, sizeof(address)));
	CHECK(!listen(listener, 5));
	sem_init(&semaphore, 0, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	CHECK(!pthread_sigmask(SIG_BLOCK, &set, NULL));
	for (size_t i = 0; i < sizeof(waiters) / sizeof(waiters[0]); i++)
		test_waiter(&waiters[i]);
	test_sleepers();
	test_spawned();
	CHECK(!unlink(path) && !rmdir(scratch));
	return guest_end();
}
