/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire.c - see wire.h */
#include "debugger/wire.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "debugger/text.h"

#define ESCAPE '}'
#define ESCAPED 0x20
#define INTERRUPT 0x03
#define WAITING_MOST 64u

struct waiting {
	struct waiting *next;
	size_t size;
	char bytes[];
};

struct wire {
	struct wire_ends ends;
	int woken;		/* the reader is to end */
	pthread_t reader;
	bool has_reader;

	/* The reader's. */
	char *body;		/* of the message that it is in */
	size_t size;
	enum { BETWEEN, IN_BODY, IN_SUM, IN_SUM_TOO } state;
	bool is_escaped;
	uint8_t sum;
	char digits[3];

	pthread_mutex_t lock;	/* of all below */
	pthread_cond_t changed;
	struct waiting *first, **last;
	unsigned waiting;
	bool is_over, is_trusted, is_closing;
	bool is_idle;		/* all is answered, and nothing is waiting */

	struct waiting *taken;
	struct text out;
};

/* ------- what comes ------- */

static bool write_all(int fd, const char *bytes, size_t size)
{
	while (size) {
		/* One that is gone is no reason to end. */
		ssize_t done = send(fd, bytes, size, MSG_NOSIGNAL);

		if (done < 0 && errno == ENOTSOCK)
			done = write(fd, bytes, size);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		bytes += done;
		size -= done;
	}
	return true;
}

/* A few are kept; the reader waits for room. */
static bool keep(struct wire *wire)
{
	struct waiting *waiting = malloc(sizeof(*waiting) + wire->size + 1);

	if (!waiting)
		return false;
	waiting->next = NULL;
	waiting->size = wire->size;
	memcpy(waiting->bytes, wire->body, wire->size);
	waiting->bytes[wire->size] = '\0';
	pthread_mutex_lock(&wire->lock);
	while (wire->waiting >= WAITING_MOST && !wire->is_closing)
		pthread_cond_wait(&wire->changed, &wire->lock);
	*wire->last = waiting;
	wire->last = &waiting->next;
	wire->waiting++;
	wire->is_idle = false;
	pthread_cond_broadcast(&wire->changed);
	pthread_mutex_unlock(&wire->lock);
	return true;
}

/* The message is there: it is kept if it is whole. */
static bool end_message(struct wire *wire)
{
	unsigned sum = strtoul(wire->digits, NULL, 16);
	bool is_whole = wire->size < WIRE_MESSAGE_MOST;
	bool trusted;

	wire->state = BETWEEN;
	pthread_mutex_lock(&wire->lock);
	trusted = wire->is_trusted;
	pthread_mutex_unlock(&wire->lock);
	if (!trusted) {
		is_whole = is_whole && sum == wire->sum;
		if (!write_all(wire->ends.out, is_whole ? "+" : "-", 1))
			return false;
	}
	return !is_whole || keep(wire);
}

static void add(struct wire *wire, uint8_t byte)
{
	wire->sum += byte;
	if (!wire->is_escaped && byte == ESCAPE) {
		wire->is_escaped = true;
		return;
	}
	/* Longer ones are read to their ends, and are damaged. */
	if (wire->size < WIRE_MESSAGE_MOST)
		wire->body[wire->size++] =
			wire->is_escaped ? byte ^ ESCAPED : byte;
	wire->is_escaped = false;
}

static void interrupt(struct wire *wire)
{
	pthread_mutex_lock(&wire->lock);
	wire->ends.interrupt(wire->ends.context, wire->is_idle);
	pthread_mutex_unlock(&wire->lock);
}

/* Between messages are confirmations, which need no answer. */
static void begin(struct wire *wire, uint8_t byte)
{
	if (byte == INTERRUPT)
		interrupt(wire);
	if (byte != '$')
		return;
	wire->state = IN_BODY;
	wire->size = 0;
	wire->sum = 0;
	wire->is_escaped = false;
}

static bool take_byte(struct wire *wire, uint8_t byte)
{
	switch (wire->state) {
	case BETWEEN:
		begin(wire, byte);
		break;
	case IN_BODY:
		if (byte == '#')
			wire->state = IN_SUM;
		else
			add(wire, byte);
		break;
	case IN_SUM:
		wire->digits[0] = byte;
		wire->state = IN_SUM_TOO;
		break;
	case IN_SUM_TOO:
		wire->digits[1] = byte;
		return end_message(wire);
	}
	return true;
}

/* False when there is no more. */
static bool read_some(struct wire *wire)
{
	struct pollfd ends[] = {
		{ .fd = wire->ends.in, .events = POLLIN },
		{ .fd = wire->woken, .events = POLLIN },
	};
	uint8_t bytes[4096];
	ssize_t size;

	if (poll(ends, 2, -1) < 0)
		return errno == EINTR;
	if (ends[1].revents)
		return false;
	size = read(wire->ends.in, bytes, sizeof(bytes));
	if (size < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	for (ssize_t i = 0; i < size; i++)
		if (!take_byte(wire, bytes[i]))
			return false;
	return size > 0;
}

static void *read_on(void *context)
{
	struct wire *wire = context;

	while (read_some(wire))
		;
	wire->ends.over(wire->ends.context);
	pthread_mutex_lock(&wire->lock);
	wire->is_over = true;
	pthread_cond_broadcast(&wire->changed);
	pthread_mutex_unlock(&wire->lock);
	return NULL;
}

/* ------- opening and closing ------- */

static int start_reader(struct wire *wire)
{
	sigset_t all, old;
	int rc;

	/* Signals are for the thread that serves. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&wire->reader, NULL, read_on, wire);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	wire->has_reader = !rc;
	return rc;
}

int wire_open(struct wire **out, const struct wire_ends *ends)
{
	struct wire *wire = calloc(1, sizeof(*wire));
	int rc = ENOMEM;

	if (!wire)
		return rc;
	wire->ends = *ends;
	wire->last = &wire->first;
	pthread_mutex_init(&wire->lock, NULL);
	pthread_cond_init(&wire->changed, NULL);
	wire->body = malloc(WIRE_MESSAGE_MOST);
	wire->woken = eventfd(0, EFD_CLOEXEC);
	if (wire->woken < 0)
		rc = errno;
	else if (wire->body)
		rc = start_reader(wire);
	if (rc)
		wire_close(wire);
	else
		*out = wire;
	return rc;
}

static void end_reader(struct wire *wire)
{
	const uint64_t one = 1;

	pthread_mutex_lock(&wire->lock);
	wire->is_closing = true;
	pthread_cond_broadcast(&wire->changed);
	pthread_mutex_unlock(&wire->lock);
	if (write(wire->woken, &one, sizeof(one)) == sizeof(one))
		pthread_join(wire->reader, NULL);
}

void wire_close(struct wire *wire)
{
	if (wire->has_reader)
		end_reader(wire);
	if (wire->woken >= 0)
		close(wire->woken);
	while (wire->first) {
		struct waiting *next = wire->first->next;

		free(wire->first);
		wire->first = next;
	}
	free(wire->taken);
	free(wire->body);
	text_release(&wire->out);
	pthread_cond_destroy(&wire->changed);
	pthread_mutex_destroy(&wire->lock);
	free(wire);
}

/* ------- messages ------- */

bool wire_take(struct wire *wire, const char **message, size_t *size)
{
	free(wire->taken);
	pthread_mutex_lock(&wire->lock);
	wire->is_idle = !wire->first;
	if (wire->is_idle)
		wire->ends.settle(wire->ends.context);
	while (!wire->first && !wire->is_over)
		pthread_cond_wait(&wire->changed, &wire->lock);
	wire->taken = wire->first;
	if (wire->taken) {
		wire->first = wire->taken->next;
		if (!wire->first)
			wire->last = &wire->first;
		wire->waiting--;
		*message = wire->taken->bytes;
		*size = wire->taken->size;
	}
	pthread_cond_broadcast(&wire->changed);
	pthread_mutex_unlock(&wire->lock);
	return wire->taken;
}

static bool is_special(char byte)
{
	return byte == '$' || byte == '#' || byte == ESCAPE || byte == '*';
}

/* What is between special bytes, all at once: files are long. */
static void add_escaped(struct text *out, const char *message, size_t size)
{
	while (size) {
		char escaped[] = { ESCAPE, 0 };
		size_t plain = 0;

		while (plain < size && !is_special(message[plain]))
			plain++;
		text_add_bytes(out, message, plain);
		message += plain;
		size -= plain;
		if (!size)
			return;
		escaped[1] = *message++ ^ ESCAPED;
		text_add_bytes(out, escaped, 2);
		size--;
	}
}

bool wire_send(struct wire *wire, const char *message, size_t size)
{
	struct text *out = &wire->out;
	uint8_t sum = 0;

	text_clear(out);
	text_add(out, "$");
	add_escaped(out, message, size);
	for (size_t i = 1; i < out->size; i++)
		sum += out->bytes[i];
	text_add(out, "#%02x", sum);
	return !out->failed && write_all(wire->ends.out, out->bytes, out->size);
}

void wire_trust(struct wire *wire)
{
	pthread_mutex_lock(&wire->lock);
	wire->is_trusted = true;
	pthread_mutex_unlock(&wire->lock);
}
