/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sent_i386.c - a thread sends what another one writes meanwhile, by
 * socketcall(2)
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static char text[16] = "before";
static int ends[2];

static void *sends(void *unused)
{
	long words[4] = { ends[0], (long)text, 5, 0 };

	syscall(SYS_socketcall, 9, words);
	return unused;
}

static void *writes(void *unused)
{
	text[2] = 'x';
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t first, second;

	(void)argv;
	socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
	pthread_create(&first, NULL, sends, NULL);
	if (argc > 1)		/* one after the other */
		pthread_join(first, NULL);
	pthread_create(&second, NULL, writes, NULL);
	if (argc == 1)
		pthread_join(first, NULL);
	pthread_join(second, NULL);
	puts("sent");
	return 0;
}
