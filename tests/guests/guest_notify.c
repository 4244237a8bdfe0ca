/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_notify.c - who is told of a message in a queue: mq_notify(3) */
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/guests/guest.h"

static char name[40];
static volatile int came, came_code, came_value;
static volatile pid_t came_from;
static sem_t told;

static void on_message(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	came++;
	came_code = info->si_code;
	came_value = info->si_value.sival_int;
	came_from = info->si_pid;
}

static void on_thread(union sigval value)
{
	CHECK(value.sival_int == 4712);
	sem_post(&told);
}

static void send(mqd_t queue, const char *text)
{
	CHECK(!mq_send(queue, text, strlen(text) + 1, 1));
}

static void receive(mqd_t queue, const char *text)
{
	char got[64] = "";

	CHECK(mq_receive(queue, got, sizeof(got), NULL) ==
	      (ssize_t)strlen(text) + 1);
	CHECK(!strcmp(got, text));
}

/* Told once, of a message in a queue that was empty. */
static void test_signal(mqd_t queue)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL };

	install(SIGUSR1, on_message, 0);
	event.sigev_signo = SIGUSR1;
	event.sigev_value.sival_int = 4711;
	CHECK(!mq_notify(queue, &event));
	CHECK(mq_notify(queue, &event) == -1 && errno == EBUSY);
	send(queue, "one");
	while (!came)
		usleep(1000);
	CHECK(came == 1 && came_code == SI_MESGQ && came_value == 4711);
	CHECK(came_from == getpid());
	send(queue, "two");
	receive(queue, "one");
	receive(queue, "two");
	send(queue, "three");
	receive(queue, "three");
	CHECK(came == 1);
}

static void test_nobody(mqd_t queue)
{
	struct sigevent event = { .sigev_notify = SIGEV_NONE };

	CHECK(!mq_notify(queue, &event));
	CHECK(mq_notify(queue, &event) == -1 && errno == EBUSY);
	CHECK(!mq_notify(queue, NULL));
	CHECK(!mq_notify(queue, NULL));
	CHECK(!mq_notify(queue, &event));
	send(queue, "four");
	receive(queue, "four");
	CHECK(!mq_notify(queue, &event));
	CHECK(!mq_notify(queue, NULL));
	CHECK(came == 1);
}

/* The C library's thread waits for a message with a cookie of 32 bytes. */
static void test_thread(mqd_t queue)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD };

	CHECK(!sem_init(&told, 0, 0));
	event.sigev_notify_function = on_thread;
	event.sigev_value.sival_int = 4712;
	for (int i = 0; i < 3; i++) {
		CHECK(!mq_notify(queue, &event));
		send(queue, "five");
		CHECK(!sem_wait(&told));
		receive(queue, "five");
	}
	CHECK(!mq_notify(queue, &event));
	CHECK(!mq_notify(queue, NULL));
}

static long notify(mqd_t queue, const void *event)
{
	return syscall(SYS_mq_notify, queue, event);
}

static void test_refused(mqd_t queue)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL };

	event.sigev_signo = 65;
	CHECK(notify(queue, &event) == -1 && errno == EINVAL);
	event.sigev_signo = SIGUSR1;
	event.sigev_notify = 77;
	CHECK(notify(queue, &event) == -1 && errno == EINVAL);
	event.sigev_notify = SIGEV_SIGNAL;
	CHECK(notify(99, &event) == -1 && errno == EBADF);
	CHECK(notify(0, &event) == -1 && errno == EBADF);
	CHECK(notify(queue, (void *)8) == -1 && errno == EFAULT);
	event.sigev_notify = SIGEV_THREAD;
	event.sigev_signo = 99;
	event.sigev_value.sival_ptr = (void *)8;
	CHECK(notify(queue, &event) == -1 && errno == EFAULT);
	event.sigev_value.sival_ptr = name;
	CHECK(notify(queue, &event) == -1 && errno == EBADF);
	event.sigev_signo = 0;
	CHECK(notify(queue, &event) == -1);
	CHECK(errno == ENOTSOCK);
}

int main(void)
{
	struct mq_attr attr = { .mq_maxmsg = 5, .mq_msgsize = 64 };
	mqd_t queue;

	snprintf(name, sizeof(name), "/cprec-notify-%d", (int)getpid());
	queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attr);
	CHECK(queue >= 0);
	CHECK(!mq_unlink(name));
	test_signal(queue);
	test_nobody(queue);
	test_thread(queue);
	test_refused(queue);
	CHECK(!mq_close(queue));
	return guest_end();
}
