/* SPDX-License-Identifier: GPL-2.0-or-later */
/* paths_fixed.c - another thread changes what the kernel reads; with a lock */
#include "race.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

static char path[] = "/dev/null", text[] = "a text";
static struct iovec vector = { text, 6 };
static volatile int results[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void caller(void)
{
	pthread_mutex_lock(&lock);
	int fd = open(path, O_WRONLY);

	results[0] = fd;
	results[1] = (int)writev(fd, &vector, 1);
	pthread_mutex_unlock(&lock);
}

static void changer(void)
{
	later();
	pthread_mutex_lock(&lock);
	path[5] = 'N';
	vector.iov_len = 5;
	text[0] = 'b';
	pthread_mutex_unlock(&lock);
}

int main(void)
{
	race(caller, changer);
	return results[0] < 0 || results[1] < 5;
}
