/* SPDX-License-Identifier: GPL-2.0-or-later */
/* twins_fixed.c - one word at two addresses, and a lock that has two as well */
#include <sys/mman.h>
#include <unistd.h>

#include "race.h"

struct shared {
	pthread_mutex_t lock;
	int counter;
};

static struct shared *twins[2];

static void count(void)
{
	static atomic_int threads;
	struct shared *own = twins[threads++];

	for (int i = 0; i < 10; i++) {
		pthread_mutex_lock(&own->lock);
		own->counter++;
		if (i == 5)
			later();	/* the other waits in the kernel */
		pthread_mutex_unlock(&own->lock);
	}
}

int main(void)
{
	int fd = memfd_create("twins", 0);
	pthread_mutexattr_t how;

	if (fd < 0 || ftruncate(fd, 4096))
		return 1;
	for (int i = 0; i < 2; i++) {
		twins[i] = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				MAP_SHARED, fd, 0);
		if (twins[i] == MAP_FAILED)
			return 1;
	}
	pthread_mutexattr_init(&how);
	pthread_mutexattr_setpshared(&how, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&twins[0]->lock, &how);
	race(count, count);
	return twins[1]->counter != 20;
}
