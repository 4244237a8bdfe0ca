/* SPDX-License-Identifier: GPL-2.0-or-later */
/* strace_filter.c - see strace_filter.h */
#include "tools/strace_filter.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "vm/linux/abi/names.h"
#include "vm/linux/text/text.h"

#define NAME_MOST 64

static bool is_word(const char *name, const char *word)
{
	return !strcmp(name, word);
}

/* A set with its '%', or without, as older ones of strace have it. */
static bool take_set(struct strace_filter *filter, const char *name, bool to)
{
	name += *name == '%';
	if (!call_set_exists(name))
		return false;
	for (size_t i = 0; i < CALL_COUNT; i++)
		if (call_is_in_set(&linux_calls[i], name))
			filter->calls[i] = to;
	return true;
}

/* Extended, as of grep -E, and any part of a name. */
static bool take_regex(struct strace_filter *filter, const char *text, bool to)
{
	regex_t regex;

	if (regcomp(&regex, text, REG_EXTENDED | REG_NOSUB))
		return false;
	for (size_t i = 0; i < CALL_COUNT; i++)
		if (!regexec(&regex, linux_calls[i].name, 0, NULL, 0))
			filter->calls[i] = to;
	regfree(&regex);
	return true;
}

/* A '?' says that it may be one that there is not. */
static bool take_call(struct strace_filter *filter, const char *name, bool to)
{
	bool may_miss = *name == '?';

	name += may_miss;
	if (*name == '/')
		return take_regex(filter, name + 1, to);
	for (size_t i = 0; i < CALL_COUNT; i++) {
		if (!strcmp(linux_calls[i].name, name)) {
			filter->calls[i] = to;
			return true;
		}
	}
	return take_set(filter, name, to) || may_miss;
}

static bool take_signal(struct strace_filter *filter, const char *name, bool to)
{
	for (unsigned i = 1; i < FILTER_SIGNALS; i++) {
		const char *known = linux_signal_name(i);

		if (known && (!strcasecmp(known, name) ||
			      !strcasecmp(known + strlen("SIG"), name))) {
			filter->signals[i] = to;
			return true;
		}
	}
	return false;
}

static bool take_status(struct strace_filter *filter, const char *name, bool to)
{
	static const char *const names[STATUS_COUNT] = {
		"successful", "failed", "unfinished", "unavailable", "detached",
	};

	for (unsigned i = 0; i < STATUS_COUNT; i++) {
		if (is_word(name, names[i])) {
			filter->statuses[i] = to;
			return true;
		}
	}
	return false;
}

/* What an expression is of. */
struct kind {
	const char *const *marks;	/* that it begins with, to a NULL */
	bool (*take)(struct strace_filter *filter, const char *name, bool to);
	void (*set_all)(struct strace_filter *filter, bool to);
};

static void set_calls(struct strace_filter *filter, bool to)
{
	filter->has_calls = true;
	filter->other_calls = to;
	memset(filter->calls, to, sizeof(filter->calls));
}

static void set_signals(struct strace_filter *filter, bool to)
{
	filter->has_signals = true;
	memset(filter->signals, to, sizeof(filter->signals));
}

static void set_statuses(struct strace_filter *filter, bool to)
{
	filter->has_statuses = true;
	memset(filter->statuses, to, sizeof(filter->statuses));
}

/* The last one needs no mark. */
static const struct kind kinds[] = {
	{ (const char *const[]) { "signal=", "signals=", NULL },
	  take_signal, set_signals },
	{ (const char *const[]) { "status=", NULL },
	  take_status, set_statuses },
	{ (const char *const[]) { "trace=", "t=", "", NULL },
	  take_call, set_calls },
};

static bool begins(const char **text, const char *word)
{
	size_t size = strlen(word);

	if (strncmp(*text, word, size))
		return false;
	*text += size;
	return true;
}

static const struct kind *kind_of(const char **text)
{
	for (const struct kind *kind = kinds;; kind++)
		for (const char *const *mark = kind->marks; *mark; mark++)
			if (begins(text, *mark))
				return kind;
}

const char *filter_take(struct strace_filter *filter, const char *text)
{
	const struct kind *kind = kind_of(&text);
	bool to = !begins(&text, "!");

	kind->set_all(filter, !to);
	for (;;) {
		/* A regular expression may have commas. */
		size_t size = *text == '/' ? strlen(text) : strcspn(text, ",");
		char name[NAME_MOST];

		if (size >= sizeof(name))
			return text;
		snprintf(name, sizeof(name), "%.*s", (int)size, text);
		if (is_word(name, "all") || is_word(name, "none"))
			kind->set_all(filter, is_word(name, "all") == to);
		else if (!kind->take(filter, name, to))
			return text;
		if (!text[size])
			return NULL;
		text += size + 1;
	}
}

bool filter_has_call(const struct strace_filter *filter, unsigned arch,
		     uint64_t number)
{
	const struct linux_call *call = linux_call_of(arch, number);

	if (!filter->has_calls)
		return true;
	return call ? filter->calls[call - linux_calls] : filter->other_calls;
}

bool filter_has_signal(const struct strace_filter *filter, uint64_t number)
{
	return !filter->has_signals ||
	       (number < FILTER_SIGNALS && filter->signals[number]);
}

bool filter_has_status(const struct strace_filter *filter,
		       enum call_status status)
{
	return !filter->has_statuses || filter->statuses[status];
}
