/* SPDX-License-Identifier: GPL-2.0-or-later */
/* strace_filter.c - see strace_filter.h */
#include "tools/strace_filter.h"

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

/* A '?' says that it may be one that there is not. */
static bool take_call(struct strace_filter *filter, const char *name, bool to)
{
	bool may_miss = *name == '?';

	name += may_miss;
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

static void set_all(struct strace_filter *filter, bool of_signals, bool to)
{
	if (of_signals) {
		filter->has_signals = true;
		memset(filter->signals, to, sizeof(filter->signals));
	} else {
		filter->has_calls = true;
		filter->other_calls = to;
		memset(filter->calls, to, sizeof(filter->calls));
	}
}

static bool take_name(struct strace_filter *filter, const char *name,
		      bool of_signals, bool to)
{
	if (is_word(name, "all") || is_word(name, "none"))
		set_all(filter, of_signals, is_word(name, "all") == to);
	else if (of_signals)
		return take_signal(filter, name, to);
	else
		return take_call(filter, name, to);
	return true;
}

static bool begins(const char **text, const char *word)
{
	size_t size = strlen(word);

	if (strncmp(*text, word, size))
		return false;
	*text += size;
	return true;
}

const char *filter_take(struct strace_filter *filter, const char *text)
{
	bool of_signals = begins(&text, "signal=") || begins(&text, "signals=");
	bool to;

	if (!of_signals && !begins(&text, "trace="))
		begins(&text, "t=");
	to = !begins(&text, "!");
	set_all(filter, of_signals, !to);
	for (;;) {
		size_t size = strcspn(text, ",");
		char name[NAME_MOST];

		if (size >= sizeof(name))
			return text;
		snprintf(name, sizeof(name), "%.*s", (int)size, text);
		if (!take_name(filter, name, of_signals, to))
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
