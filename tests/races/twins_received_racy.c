/* SPDX-License-Identifier: GPL-2.0-or-later */
/* twins_received_racy.c - read() to one address of a word, a look at another */
#include <sys/mman.h>
#include <unistd.h>

#include "race.h"

static volatile int *twins[2];
static int ends[2];
static volatile int seen;

static void receive(void)
{
	if (read(ends[0], (void *)&twins[0][5], 4) != 4)	/* RACE:a */
		seen = -1;
}

static void look(void)
{
	seen = twins[1][5];	/* RACE:a */
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
