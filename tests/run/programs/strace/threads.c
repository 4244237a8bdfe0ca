/* SPDX-License-Identifier: GPL-2.0-or-later */
/* threads.c - calls of two threads that overlap: each waits for the other */
#include <pthread.h>
#include <unistd.h>

#define ROUNDS 20

static int to[2], back[2];

static void *answer(void *unused)
{
	char byte;

	for (int i = 0; i < ROUNDS; i++) {
		read(to[0], &byte, 1);
		write(back[1], &byte, 1);
	}
	return unused;
}

int main(void)
{
	pthread_t thread;
	char byte = 'a';

	pipe(to);
	pipe(back);
	pthread_create(&thread, NULL, answer, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		write(to[1], &byte, 1);
		read(back[0], &byte, 1);
	}
	pthread_join(thread, NULL);
	return 0;
}
