/* SPDX-License-Identifier: GPL-2.0-or-later */
/* twins_racy.c - one word at two addresses, without a lock */
#include <sys/mman.h>
#include <unistd.h>

#include "race.h"

static int *twins[2];

static void count(void)
{
	static atomic_int threads;
	int *counter = twins[threads++];

	for (int i = 0; i < 10; i++)
		counter[5]++;	/* RACE:a */
}

int main(void)
{
	int fd = memfd_create("twins", 0);

	if (fd < 0 || ftruncate(fd, 4096))
		return 1;
	for (int i = 0; i < 2; i++) {
		twins[i] = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				MAP_SHARED, fd, 0);
		if (twins[i] == MAP_FAILED)
			return 1;
	}
	race(count, count);
	return twins[0][5] == 0;
}
