/* SPDX-License-Identifier: GPL-2.0-or-later */
/* catches.c - system calls and signals that stop */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/debug/session.h"

/* ------- signals ------- */

#define SIGNAL_MOST 191u

const char *signal_name(char text[SIGNAL_TEXT], uint32_t signal)
{
	const char *name = signal < 32 ? sigabbrev_np((int)signal) : NULL;

	if (name)
		snprintf(text, SIGNAL_TEXT, "SIG%s", name);
	else
		snprintf(text, SIGNAL_TEXT, "signal %" PRIu32, signal);
	return text;
}

/* "SIGUSR1", "USR1" or "10"; 0 if it is none. */
static uint32_t find_signal(const char *word)
{
	char *end;
	unsigned long number = strtoul(word, &end, 10);

	if (*word && !*end)
		return number <= SIGNAL_MOST ? (uint32_t)number : 0;
	if (!strncasecmp(word, "SIG", 3))
		word += 3;
	for (int i = 1; i < 32; i++) {
		const char *name = sigabbrev_np(i);

		if (name && !strcasecmp(name, word))
			return (uint32_t)i;
	}
	return 0;
}

static void set_passed(struct session *session, uint32_t signal, bool passes)
{
	uint64_t bit = UINT64_C(1) << signal % 64;

	if (passes)
		session->passed[signal / 64] |= bit;
	else
		session->passed[signal / 64] &= ~bit;
}

/* "SIGUSR1 nostop", as in gdb; what else gdb knows means nothing here. */
int do_handle(struct session *session, const char *args,
	      struct cprec_failure *why)
{
	char *word = take_word(&args);
	uint32_t signal = word ? find_signal(word) : 0;
	bool all = word && !strcmp(word, "all");

	if (!signal && !all) {
		int rc = wrong(why, "'%s' is no signal", word ? word : "");

		free(word);
		return rc;
	}
	free(word);
	while (*args && (word = take_word(&args))) {
		bool stops = !strcmp(word, "stop");

		for (uint32_t i = 1; i <= SIGNAL_MOST; i++)
			if ((all || i == signal) &&
			    (stops || !strcmp(word, "nostop")))
				set_passed(session, i, !stops);
		free(word);
	}
	return 0;
}

int info_signals(struct session *session, const char *args,
		 struct cprec_failure *why)
{
	char text[SIGNAL_TEXT];

	(void)args;
	(void)why;
	puts("Signals that stop nobody:");
	for (uint32_t i = 1; i < 32; i++)
		if (session->passed[0] >> i & 1)
			printf("  %s\n", signal_name(text, i));
	return 0;
}

/* ------- what is caught ------- */

static int add_catch(struct session *session, const char *where,
		     enum point_kind kind, uint32_t signal,
		     struct cprec_failure *why)
{
	struct point made = {
		.kind = kind, .where = strdup(where), .watch.addr = signal,
	}, *point;
	int rc;

	if (!made.where)
		return no_memory(why);
	rc = point_add(session, &made, &point, why);
	if (rc)
		free(made.where);
	else
		printf("Catchpoint %u (%s)\n", point->number, where);
	return rc;
}

int do_catch(struct session *session, const char *args,
	     struct cprec_failure *why)
{
	const char *rest = args;
	char *word = take_word(&rest);
	uint32_t signal = 0;
	int rc = 0;

	if (word && !strcmp(word, "syscall")) {
		rc = add_catch(session, args, POINT_SYSCALL, 0, why);
	} else if (word && !strcmp(word, "signal")) {
		if (*rest && !(signal = find_signal(rest)))
			rc = wrong(why, "'%s' is no signal", rest);
		else
			rc = add_catch(session, args, POINT_SIGNAL, signal,
				       why);
	} else {
		rc = wrong(why, "catch syscall [NAME...], or catch signal"
			   " [NAME]");
	}
	free(word);
	return rc;
}

/* " openat close " of system calls; any, if it is empty. */
static bool is_wanted(const struct point *point, const char *name)
{
	const char *at = point->where + strlen("syscall");
	size_t length = strlen(name);

	if (!*at)
		return true;
	while ((at = strstr(at, name))) {
		if (at[-1] == ' ' && (!at[length] || at[length] == ' '))
			return true;
		at += length;
	}
	return false;
}

struct looking {
	struct session *session;
	bool backwards;
	struct cprec_position from;
	struct cprec_position least;	/* backwards: no further */
	struct catching *out;
};

static int on_event(void *context, const struct cprec_event *event)
{
	struct looking *looking = context;
	struct session *session = looking->session;
	int side = cprec_position_compare(event->at, looking->from);

	bool is_return = event->kind == CPREC_CALL_ENDS;

	/* A call may begin and end at the same time. */
	if (looking->backwards && side == 0 && session->at_return &&
	    !is_return)
		side = -1;
	else if (!looking->backwards && side == 0 && session->at_call &&
		 is_return)
		side = 1;
	if ((event->kind != CPREC_CALL_BEGINS && !is_return) ||
	    (looking->backwards ? side >= 0 : side <= 0) ||
	    cprec_position_compare(event->at, looking->least) < 0)
		return 0;
	for (size_t i = 0; i < session->point_count; i++) {
		struct point *point = session->points[i];

		if (point->kind != POINT_SYSCALL || point->is_off ||
		    !is_wanted(point, event->name))
			continue;
		free(looking->out->text);
		*looking->out = (struct catching) {
			.is_found = true, .is_return = is_return,
			.at = event->at, .point = point,
		};
		if (asprintf(&looking->out->text, "%s %s%s%s",
			     is_return ? "returned from" : "call of",
			     event->name,
			     event->result_text ? " = " : "",
			     event->result_text ? event->result_text : "") < 0)
			looking->out->text = NULL;
		return !looking->backwards;
	}
	return 0;
}

/* How far back is looked first: then twice as far, and so on. */
#define BACK_FIRST 1000000u

static int look_back(struct looking *looking, struct cprec_failure *why)
{
	struct session *session = looking->session;
	struct cprec_position first = session->start;
	uint64_t far = BACK_FIRST, now = looking->from.time;
	struct cprec_events question = {
		.size = sizeof(question), .has_from = true, .has_to = true,
		.to = looking->from, .begins = true, .visit = on_event,
		.context = looking,
	};
	int rc = 0;

	/* The end of a call may be told at the time before. */
	if (looking->least.time > first.time)
		first = (struct cprec_position){ looking->least.time - 1 };
	while (!rc && !looking->out->is_found) {
		bool is_all = now - first.time <= far;

		question.from = first;
		if (!is_all)
			question.from = (struct cprec_position){ now - far };
		rc = cprec_each_event(session->recording, &question, why);
		far *= 2;
		if (is_all)
			break;
	}
	return rc < 0 ? rc : 0;
}

bool catches_calls(const struct session *session)
{
	for (size_t i = 0; i < session->point_count; i++)
		if (session->points[i]->kind == POINT_SYSCALL &&
		    !session->points[i]->is_off)
			return true;
	return false;
}

int catch_next(struct session *session, bool backwards,
	       const struct cprec_position *limit, struct catching *out,
	       struct cprec_failure *why)
{
	struct looking looking = {
		.session = session, .backwards = backwards, .out = out,
		.from = cprec_cursor_position(session->cursor),
		.least = backwards && limit ? *limit : session->start,
	};
	struct cprec_events question = {
		.size = sizeof(question), .has_from = true,
		.from = looking.from, .begins = true, .visit = on_event,
		.context = &looking,
	};
	int rc;

	/* The end of a call is told with its beginning. */
	if (session->at_call && question.from.time > session->start.time)
		question.from = (struct cprec_position) {
			question.from.time - 1,
		};
	*out = (struct catching){ 0 };
	if (!catches_calls(session))
		return 0;
	if (backwards)
		return look_back(&looking, why);
	if (limit) {
		question.has_to = true;
		question.to = *limit;
	}
	rc = cprec_each_event(session->recording, &question, why);
	return rc < 0 ? rc : 0;
}
