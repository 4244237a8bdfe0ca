/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_messages.c - messages of System V that are large */
#include <stdint.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/msg.h>

#include "tests/guests/guest.h"

#define LARGE (UINT64_C(70) << 20)	/* bytes; natively allowed here */

struct text {
	long type;
	uint8_t bytes[LARGE];
};

int main(void)
{
	struct text *message = calloc(1, sizeof(*message));
	int queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
	uint64_t wrong = 0;

	CHECK(message && queue >= 0);
	message->type = 1;
	for (uint64_t i = 0; i < LARGE; i += 4096)
		message->bytes[i] = (uint8_t)(i >> 12);
	CHECK(!msgsnd(queue, message, LARGE, 0));
	memset(message, 0, sizeof(*message));
	CHECK(msgrcv(queue, message, LARGE - 1, 0, 0) < 0 && errno == E2BIG);
	CHECK(msgrcv(queue, message, LARGE, 0, 0) == (ssize_t)LARGE);
	for (uint64_t i = 0; i < LARGE; i += 4096)
		wrong += message->bytes[i] != (uint8_t)(i >> 12);
	CHECK(message->type == 1 && !wrong);
	CHECK(msgsnd(queue, message, UINT64_C(100) << 20, 0) &&
	      errno == EINVAL);
	CHECK(!msgctl(queue, IPC_RMID, NULL));
	free(message);
	return guest_end();
}
