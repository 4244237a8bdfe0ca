/* SPDX-License-Identifier: GPL-2.0-or-later */
/* paths_racy.c - another thread changes what the kernel reads */
#include "race.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

static char path[] = "/dev/null", text[] = "a text";
static struct iovec vector = { text, 6 };
static volatile int results[2];

static void caller(void)
{
	int fd = open(path, O_WRONLY);	/* RACE:a */

	results[0] = fd;
	results[1] = (int)writev(fd, &vector, 1);	/* RACE:b */
}

static void changer(void)
{
	later();
	path[5] = 'N';	/* RACE:a */
	vector.iov_len = 5;	/* RACE:b */
	text[0] = 'b';	/* RACE? */
}

int main(void)
{
	race(caller, changer);
	return results[0] < 0 || results[1] < 5;
}
