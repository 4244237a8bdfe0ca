/* SPDX-License-Identifier: GPL-2.0-or-later */
/* requests.c - see requests.h */
#include "tests/fuzz/requests.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "debugger/server.h"
#include "debugger/wire.h"
#include "tests/fuzz/fuzz.h"

/* Seconds of the processor that an answer may take. */
#define PATIENCE 1
#define PATIENCE_AFTER_INTERRUPT 15

/* Messages that are told when something is wrong. */
#define LAST 12u

struct wire {
	struct wire_ends ends;
	char *messages[LAST]; /* the latest is at `message` */
	char *message;
	size_t size;
	uint64_t count;
	unsigned answers; /* to the latest */

	pthread_t watchdog, server;
	atomic_bool is_over;
	atomic_ullong began; /* nanoseconds; 0: nothing is asked */
};

static struct cprec_recording *recording;
static const struct requests *asked;

void requests_close(void)
{
	cprec_close(recording);
	recording = NULL;
}

void requests_use(const char *path)
{
	struct cprec_failure why;

	requests_close();
	if (!cprec_open(&recording, path, NULL, &why))
		return;
	fprintf(stderr, "%s\n", why.text);
	exit(EXIT_FAILURE);
}

/* ------- how long it takes ------- */

static unsigned long long used_by(pthread_t thread)
{
	struct timespec used = { 0 };
	clockid_t clock;

	if (!pthread_getcpuclockid(thread, &clock))
		clock_gettime(clock, &used);
	return used.tv_sec * 1000000000ull + used.tv_nsec;
}

/* What led there; bytes that are not letters are told as a debugger does. */
static void end_with(const struct wire *wire, const char *what)
{
	uint64_t first = wire->count < LAST ? 0 : wire->count - LAST;

	fprintf(stderr, "%s:\n", what);
	for (uint64_t i = first; i < wire->count; i++) {
		const char *at = wire->messages[i % LAST];

		fprintf(stderr, "%" PRIu64 ": ", i);
		for (; *at; at++)
			fprintf(stderr,
				' ' <= *at && *at <= '~' ? "%c" : "\\%03o",
				(unsigned char)*at);
		fputc('\n', stderr);
	}
	abort();
}

static void *watch(void *context)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	struct wire *wire = context;

	while (!atomic_load(&wire->is_over)) {
		unsigned long long began = atomic_load(&wire->began);
		unsigned long long now = used_by(wire->server);
		unsigned long long used = began && now > began ? now - began
							       : 0;

		if (used > PATIENCE * 1000000000ull)
			wire->ends.interrupt(wire->ends.context, false);
		if (used > PATIENCE_AFTER_INTERRUPT * 1000000000ull)
			end_with(wire, "no end of the last one");
		nanosleep(&pause, NULL);
	}
	return NULL;
}

/* ------- as debugger/wire.h says ------- */

int wire_open(struct wire **out, const struct wire_ends *ends)
{
	struct wire *wire = calloc(1, sizeof(*wire));

	assert(wire);
	wire->ends = *ends;
	wire->server = pthread_self();
	assert(!pthread_create(&wire->watchdog, NULL, watch, wire));
	*out = wire;
	return 0;
}

void wire_close(struct wire *wire)
{
	atomic_store(&wire->is_over, true);
	pthread_join(wire->watchdog, NULL);
	for (unsigned i = 0; i < LAST; i++)
		free(wire->messages[i]);
	free(wire);
}

bool wire_take(struct wire *wire, const char **message, size_t *size)
{
	const char *next;

	atomic_store(&wire->began, 0);
	if (wire->message && wire->answers != 1)
		end_with(wire, "no answer to the last one, or several");
	if (!asked->next(asked->context, &next, &wire->size))
		return false;
	wire->message = malloc(wire->size + 1);
	assert(wire->message);
	memcpy(wire->message, next, wire->size);
	wire->message[wire->size] = '\0';
	wire->answers = 0;
	free(wire->messages[wire->count % LAST]);
	wire->messages[wire->count++ % LAST] = wire->message;
	*message = wire->message;
	*size = wire->size;
	atomic_store(&wire->began, used_by(wire->server));
	return true;
}

/* What a program prints, between others: "O" and digits. */
static bool is_output(const char *message, size_t size)
{
	return size && *message == 'O' && message[1] != 'K';
}

bool wire_send(struct wire *wire, const char *message, size_t size)
{
	size_t escaped = size;

	for (size_t i = 0; i < size; i++)
		escaped += strchr("$#}*", message[i]) && message[i];
	if (escaped >= WIRE_MESSAGE_MOST)
		end_with(wire, "too long an answer to the last one");
	if (is_output(message, size))
		return true;
	wire->answers++;
	if (asked->heard)
		asked->heard(asked->context, message, size);
	return true;
}

void wire_trust(struct wire *wire)
{
	(void)wire;
}

/* ------- serving ------- */

void requests_serve(const struct requests *requests)
{
	const struct server_options options = {
		.recording = recording,
		.in = -1,
		.out = -1,
		.from = requests->from,
		.no_diversion = requests->no_diversion,
	};
	struct cprec_failure why;

	asked = requests;
	if (!server_run(&options, &why))
		return;
	fprintf(stderr, "%s\n", why.text);
	abort();
}
