/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inbox.c - see inbox.h */
#include "tools/inbox.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "formats/error.h"

/* Bytes of lines that nobody has taken; as JSON they are some 20 times that. */
#define WAITING_MOST (1u << 20)

struct waiting {
	struct waiting *next;
	struct inbox_item item;
	size_t size;		/* of its line */
};

struct inbox {
	int in, answers;
	int signals;		/* SIGINT */
	int woken;		/* the reader is to look again */
	pthread_t reader;
	bool has_reader;

	/* The reader's: the line that it is in. */
	char *line;
	size_t size;		/* also of what is not kept */

	atomic_bool cancelled;
	pthread_mutex_t lock;	/* of all below */
	pthread_cond_t changed;
	struct waiting *first, **last;
	size_t waiting;		/* bytes */
	json_t *under_way;	/* its id; NULL: none */
	bool is_under_way;
	bool is_over;		/* no more comes */
	bool is_closing;
	int error;		/* errno */
	bool is_unread;		/* nobody reads answers */
};

/* ------- the reader: what comes ------- */

static bool is_meant(const json_t *id, const json_t *request)
{
	const json_t *own = json_object_get(request, "id");

	return !id || (own && json_equal(id, own));
}

/* Without an id, all are meant. */
static void cancel(struct inbox *inbox, const json_t *id)
{
	if (inbox->is_under_way &&
	    (!id || (inbox->under_way && json_equal(id, inbox->under_way))))
		inbox->cancelled = true;
	for (struct waiting *waiting = inbox->first; waiting;
	     waiting = waiting->next)
		waiting->item.is_cancelled |=
			waiting->item.request &&
			is_meant(id, waiting->item.request);
}

static void parse(struct inbox_item *item, const char *line, size_t size)
{
	json_error_t error;

	if (size > INBOX_LINE_MOST) {
		snprintf(item->wrong, sizeof(item->wrong),
			 "the line is longer than %u bytes", INBOX_LINE_MOST);
		return;
	}
	item->request = json_loadb(line, size, JSON_REJECT_DUPLICATES, &error);
	if (!item->request)
		snprintf(item->wrong, sizeof(item->wrong),
			 "the line is no JSON: %s", error.text);
	if (json_is_object(item->request) || !item->request)
		return;
	snprintf(item->wrong, sizeof(item->wrong),
		 "the line is no JSON object");
	json_decref(item->request);
	item->request = NULL;
}

static bool is_cancel(const json_t *request)
{
	const char *command =
		json_string_value(json_object_get(request, "command"));

	return command && !strcmp(command, "cancel");
}

static bool is_blank(const char *line, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!strchr(" \t\r", line[i]) || !line[i])
			return false;
	return true;
}

/* False without memory. */
static bool take_line(struct inbox *inbox)
{
	struct waiting *waiting;

	if (inbox->size <= INBOX_LINE_MOST &&
	    is_blank(inbox->line, inbox->size))
		return true;
	waiting = calloc(1, sizeof(*waiting));
	if (!waiting)
		return false;
	parse(&waiting->item, inbox->line, inbox->size);
	waiting->size = sizeof(*waiting) + inbox->size;
	pthread_mutex_lock(&inbox->lock);
	if (is_cancel(waiting->item.request)) {
		cancel(inbox, json_object_get(waiting->item.request, "id"));
		json_decref(waiting->item.request);
		free(waiting);
	} else {
		*inbox->last = waiting;
		inbox->last = &waiting->next;
		inbox->waiting += waiting->size;
		pthread_cond_signal(&inbox->changed);
	}
	pthread_mutex_unlock(&inbox->lock);
	return true;
}

static bool take_bytes(struct inbox *inbox, const char *bytes, size_t size)
{
	bool good = true;

	for (size_t i = 0; i < size && good; i++) {
		if (bytes[i] == '\n') {
			good = take_line(inbox);
			inbox->size = 0;
		} else if (inbox->size++ < INBOX_LINE_MOST) {
			inbox->line[inbox->size - 1] = bytes[i];
		}
	}
	return good;
}

/* No more comes.  What is there is answered. */
static void end(struct inbox *inbox, int error)
{
	pthread_mutex_lock(&inbox->lock);
	inbox->is_over = true;
	inbox->error = error;
	pthread_cond_signal(&inbox->changed);
	pthread_mutex_unlock(&inbox->lock);
}

static void read_more(struct inbox *inbox)
{
	char bytes[16384];
	ssize_t size = read(inbox->in, bytes, sizeof(bytes));

	if (size < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (size < 0)
		end(inbox, errno);
	else if (size == 0)
		/* The last line may have no end. */
		end(inbox, !inbox->size || take_line(inbox) ? 0 : ENOMEM);
	else if (!take_bytes(inbox, bytes, (size_t)size))
		end(inbox, ENOMEM);
}

/* ------- the reader: when it looks ------- */

/* Nobody waits for what is under way, nor for more. */
static void give_up_all(struct inbox *inbox, bool is_unread)
{
	pthread_mutex_lock(&inbox->lock);
	cancel(inbox, NULL);
	inbox->is_over = true;
	inbox->is_unread = is_unread;
	pthread_cond_signal(&inbox->changed);
	pthread_mutex_unlock(&inbox->lock);
}

/* Whether there is room for another line, and nothing to end. */
static bool look(struct inbox *inbox, bool *has_room)
{
	uint64_t count;
	bool goes_on;

	if (read(inbox->woken, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return false;
	pthread_mutex_lock(&inbox->lock);
	goes_on = !inbox->is_closing;
	*has_room = !inbox->is_over && inbox->waiting < WAITING_MOST;
	pthread_mutex_unlock(&inbox->lock);
	return goes_on;
}

enum { LOOK_IN, LOOK_ANSWERS, LOOK_SIGNALS, LOOK_WOKEN, LOOKS };

static void *read_all(void *context)
{
	struct inbox *inbox = context;
	struct pollfd polls[LOOKS] = {
		[LOOK_ANSWERS] = { .fd = inbox->answers },
		[LOOK_SIGNALS] = { .fd = inbox->signals, .events = POLLIN },
		[LOOK_WOKEN] = { .fd = inbox->woken, .events = POLLIN },
	};
	bool has_room;

	while (look(inbox, &has_room)) {
		polls[LOOK_IN] = (struct pollfd) {
			.fd = has_room ? inbox->in : -1, .events = POLLIN,
		};
		if (poll(polls, LOOKS, -1) < 0 && errno != EINTR)
			break;
		if (polls[LOOK_ANSWERS].revents ||
		    polls[LOOK_SIGNALS].revents) {
			give_up_all(inbox, polls[LOOK_ANSWERS].revents);
			break;
		}
		if (polls[LOOK_IN].revents)
			read_more(inbox);
	}
	return NULL;
}

/* ------- the one who takes ------- */

static int begin(struct inbox *inbox, struct failure *why)
{
	sigset_t set;

	inbox->line = malloc(INBOX_LINE_MOST);
	if (!inbox->line)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	inbox->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	inbox->woken = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (inbox->signals < 0 || inbox->woken < 0)
		return failed(why, ERR_SYSTEM, "cannot wait for requests: %s",
			      strerror(errno));
	inbox->has_reader = !pthread_create(&inbox->reader, NULL, read_all,
					    inbox);
	return inbox->has_reader ? 0 : failed(why, ERR_SYSTEM,
					      "cannot make a thread");
}

int inbox_open(struct inbox **out, int in, int answers, struct failure *why)
{
	struct inbox *inbox = calloc(1, sizeof(*inbox));
	int rc;

	if (!inbox)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	inbox->in = in;
	inbox->answers = answers;
	inbox->signals = inbox->woken = -1;
	inbox->last = &inbox->first;
	pthread_mutex_init(&inbox->lock, NULL);
	pthread_cond_init(&inbox->changed, NULL);
	rc = begin(inbox, why);
	if (rc)
		inbox_close(inbox);
	else
		*out = inbox;
	return rc;
}

static void wake(struct inbox *inbox)
{
	const uint64_t one = 1;

	/* It can fail only where it is awake. */
	if (write(inbox->woken, &one, sizeof(one)) < 0)
		return;
}

/* With the lock. */
static struct waiting *take_first(struct inbox *inbox)
{
	struct waiting *first = inbox->first;

	if (!first)
		return NULL;
	inbox->first = first->next;
	if (!inbox->first)
		inbox->last = &inbox->first;
	if (inbox->waiting >= WAITING_MOST)
		wake(inbox);
	inbox->waiting -= first->size;
	return first;
}

bool inbox_take(struct inbox *inbox, struct inbox_item *item)
{
	struct waiting *first;

	pthread_mutex_lock(&inbox->lock);
	json_decref(inbox->under_way);
	inbox->under_way = NULL;
	inbox->is_under_way = false;
	while (!inbox->first && !inbox->is_over)
		pthread_cond_wait(&inbox->changed, &inbox->lock);
	first = take_first(inbox);
	if (first) {
		*item = first->item;
		inbox->is_under_way = true;
		inbox->under_way = json_deep_copy(
			json_object_get(item->request, "id"));
		inbox->cancelled = item->is_cancelled;
	}
	pthread_mutex_unlock(&inbox->lock);
	free(first);
	return first;
}

void inbox_item_release(struct inbox_item *item)
{
	json_decref(item->request);
	item->request = NULL;
}

const atomic_bool *inbox_cancelled(const struct inbox *inbox)
{
	return &inbox->cancelled;
}

int inbox_error(struct inbox *inbox, struct failure *why)
{
	int rc = 0;

	pthread_mutex_lock(&inbox->lock);
	if (inbox->error)
		rc = failed(why, ERR_SYSTEM, "cannot read standard input: %s",
			    strerror(inbox->error));
	else if (inbox->is_unread)
		rc = failed(why, ERR_SYSTEM, "nobody reads the answers");
	pthread_mutex_unlock(&inbox->lock);
	return rc;
}

void inbox_close(struct inbox *inbox)
{
	struct waiting *waiting;

	if (!inbox)
		return;
	if (inbox->has_reader) {
		pthread_mutex_lock(&inbox->lock);
		inbox->is_closing = true;
		pthread_mutex_unlock(&inbox->lock);
		wake(inbox);
		pthread_join(inbox->reader, NULL);
	}
	while ((waiting = take_first(inbox))) {
		inbox_item_release(&waiting->item);
		free(waiting);
	}
	json_decref(inbox->under_way);
	pthread_cond_destroy(&inbox->changed);
	pthread_mutex_destroy(&inbox->lock);
	if (inbox->signals >= 0)
		close(inbox->signals);
	if (inbox->woken >= 0)
		close(inbox->woken);
	free(inbox->line);
	free(inbox);
}
