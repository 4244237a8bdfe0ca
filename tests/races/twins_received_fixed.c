/* SPDX-License-Identifier: GPL-2.0-or-later */
/* twins_received_fixed.c - the same word, with a lock */
#include <sys/mman.h>
#include <unistd.h>

#include "race.h"

static volatile int *twins[2];
static int ends[2];
static volatile int seen;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void receive(void)
{
	pthread_mutex_lock(&lock);
	if (read(ends[0], (void *)&twins[0][5], 4) != 4)
		seen = -1;
	pthread_mutex_unlock(&lock);
}

static void look(void)
{
	pthread_mutex_lock(&lock);
	seen = twins[1][5];
	pthread_mutex_unlock(&lock);
}

int main(void)
{
	int fd = memfd_create("twins", 0);

	if (fd < 0 || ftruncate(fd, 4096) || pipe(ends) ||
	    write(ends[1], "word", 4) != 4)
		return 1;
	for (int i = 0; i < 2; i++) {
		twins[i] = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				MAP_SHARED, fd, 0);
		if (twins[i] == MAP_FAILED)
			return 1;
	}
	race(receive, look);
	return twins[1][5] == 0;
}
