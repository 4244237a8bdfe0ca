/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_threads_turns.c - a thread whose system calls take long, and another */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/guests/guest.h"

#define READS 300
#define SIZE (4u << 20)
#define SLEEPS_LEAST 5

static volatile int is_over;

/* Few steps, but a millisecond each. */
static void *read_on(void *nothing)
{
	int fd = open("/dev/zero", O_RDONLY);
	char *bytes = malloc(SIZE);

	for (unsigned i = 0; i < READS; i++)
		if (read(fd, bytes, SIZE) != SIZE)
			abort();
	free(bytes);
	close(fd);
	is_over = 1;
	return nothing;
}

int main(void)
{
	pthread_t reader;
	unsigned sleeps = 0;

	CHECK(!pthread_create(&reader, NULL, read_on, NULL));
	while (!is_over) {
		usleep(1000);
		sleeps++;
	}
	pthread_join(reader, NULL);
	CHECK(sleeps >= SLEEPS_LEAST);
	return guest_end();
}
