/* SPDX-License-Identifier: GPL-2.0-or-later */
/* strace_filter.c - see strace_filter.h */
#include "tools/strace_filter.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "formats/error.h"
#include "vm/linux/abi/names.h"
#include "vm/linux/text/text.h"

#define NAME_MOST 64

/* What an expression is about: strace has several words for one. */
enum kind { OF_CALLS, OF_SIGNALS, OF_STATUSES };

static const struct {
	const char *word;
	enum kind kind;
} kinds[] = {
	{ "trace", OF_CALLS },	    { "t", OF_CALLS },
	{ "signal", OF_SIGNALS },   { "signals", OF_SIGNALS },
	{ "s", OF_SIGNALS },	    { "status", OF_STATUSES },
};

/* The last two are never seen in a recording. */
static const char *const statuses[] = {
	[FILTER_SUCCESSFUL] = "successful", [FILTER_FAILED] = "failed",
	[FILTER_UNFINISHED] = "unfinished", "unavailable", "detached",
};

static bool is_word(const char *name, const char *word)
{
	return !strcmp(name, word);
}

/* ------- names ------- */

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

/* Those in whose name there is what a regular expression means. */
static int take_regex(struct strace_filter *filter, const char *text, bool to,
		      struct failure *why)
{
	regex_t regex;
	char problem[80];
	int rc = regcomp(&regex, text, REG_EXTENDED | REG_NOSUB);

	if (rc) {
		regerror(rc, &regex, problem, sizeof(problem));
		return failed(why, ERR_INPUT, "'/%s' is no regular expression:"
			      " %s", text, problem);
	}
	for (size_t i = 0; i < CALL_COUNT; i++)
		if (!regexec(&regex, linux_calls[i].name, 0, NULL, 0))
			filter->calls[i] = to;
	regfree(&regex);
	return 0;
}

static bool take_status(struct strace_filter *filter, const char *name, bool to)
{
	for (size_t i = 0; i < sizeof(statuses) / sizeof(*statuses); i++) {
		if (!is_word(name, statuses[i]))
			continue;
		if (i < FILTER_STATUSES)
			filter->statuses[i] = to;
		return true;
	}
	return false;
}

static void set_all(struct strace_filter *filter, enum kind kind, bool to)
{
	switch (kind) {
	case OF_CALLS:
		filter->has_calls = true;
		filter->other_calls = to;
		memset(filter->calls, to, sizeof(filter->calls));
		break;
	case OF_SIGNALS:
		filter->has_signals = true;
		memset(filter->signals, to, sizeof(filter->signals));
		break;
	case OF_STATUSES:
		filter->has_statuses = true;
		memset(filter->statuses, to, sizeof(filter->statuses));
	}
}

static int no_name(const char *name, enum kind kind, struct failure *why)
{
	static const char *const wanted[] = {
		[OF_CALLS] = "no system call, or set of calls like %file,"
			     " %desc, %network, %process, %memory, %stat",
		[OF_SIGNALS] = "no signal",
		[OF_STATUSES] = "none of successful, failed, unfinished,"
				" unavailable and detached",
	};

	return failed(why, ERR_INPUT, "'%s' is %s", name, wanted[kind]);
}

static int take_name(struct strace_filter *filter, const char *name,
		     enum kind kind, bool to, struct failure *why)
{
	bool is;

	if (is_word(name, "all") || is_word(name, "none")) {
		set_all(filter, kind, is_word(name, "all") == to);
		return 0;
	}
	if (kind == OF_CALLS && *name == '/')
		return take_regex(filter, name + 1, to, why);
	is = kind == OF_CALLS ? take_call(filter, name, to) :
	     kind == OF_SIGNALS ? take_signal(filter, name, to) :
				  take_status(filter, name, to);
	return is ? 0 : no_name(name, kind, why);
}

/* ------- expressions ------- */

/* "KIND=", or nothing: calls are meant.  Moves the text behind it. */
static int take_kind(const char **text, enum kind *out, struct failure *why)
{
	size_t size = strspn(*text, "abcdefghijklmnopqrstuvwxyz-");

	*out = OF_CALLS;
	if ((*text)[size] != '=')
		return 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strlen(kinds[i].word) != size ||
		    strncmp(*text, kinds[i].word, size))
			continue;
		*out = kinds[i].kind;
		*text += size + 1;
		return 0;
	}
	return failed(why, ERR_INPUT, "'%s': only trace=, signal= and status="
		      " are known, of the expressions of strace", *text);
}

int filter_take(struct strace_filter *filter, const char *text,
		struct failure *why)
{
	enum kind kind;
	bool to;
	int rc = take_kind(&text, &kind, why);

	if (rc)
		return rc;
	to = *text != '!';
	text += !to;
	set_all(filter, kind, !to);
	for (;;) {
		size_t size = strcspn(text, ",");
		char name[NAME_MOST];

		if (size >= sizeof(name))
			return no_name(text, kind, why);
		snprintf(name, sizeof(name), "%.*s", (int)size, text);
		rc = take_name(filter, name, kind, to, why);
		if (rc || !text[size])
			return rc;
		text += size + 1;
	}
}

void filter_take_status(struct strace_filter *filter,
			enum filter_status status)
{
	set_all(filter, OF_STATUSES, false);
	filter->statuses[status] = true;
}

/* ------- what is asked for ------- */

bool filter_has_call(const struct strace_filter *filter,
		     const struct linux_call *call)
{
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
		       enum filter_status status)
{
	return !filter->has_statuses || filter->statuses[status];
}
