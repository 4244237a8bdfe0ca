/* SPDX-License-Identifier: GPL-2.0-or-later */
/* complete.c - what the beginning of a command may become */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "tools/debug/session.h"

#define COMPLETIONS_MOST 200u

/* ------- completions ------- */

static bool has(const struct completions *all, const char *text)
{
	for (size_t i = 0; i < all->count; i++)
		if (!strcmp(all->list[i], text))
			return true;
	return false;
}

static int offer(void *context, const char *text)
{
	struct completions *all = context;
	size_t same = 0;

	if (all->count == COMPLETIONS_MOST)
		return 1;
	if (all->count == all->room) {
		size_t room = 2 * all->room + 16;
		char **more = reallocarray(all->list, room, sizeof(*more));

		if (!more)
			return 1;
		all->list = more;
		all->room = room;
	}
	all->list[all->count] = strdup(text);
	if (!all->list[all->count])
		return 1;
	if (!all->count++) {
		all->common = strdup(text);
		return !all->common;
	}
	while (all->common[same] && all->common[same] == text[same])
		same++;
	all->common[same] = '\0';
	return 0;
}

static void offer_if(struct completions *all, const char *typed,
		     const char *text)
{
	if (!strncmp(text, typed, strlen(typed)) && !has(all, text))
		offer(all, text);
}

void completions_release(struct completions *all)
{
	for (size_t i = 0; i < all->count; i++)
		free(all->list[i]);
	free(all->list);
	free(all->common);
}

/* ------- words of ours ------- */

static void offer_verbs(const char *typed, struct completions *all)
{
	for (const struct verb *verb = verbs; verb->name; verb++)
		if (verb->summary)
			offer_if(all, typed, verb->name);
	all->is_whole = true;
}

static void offer_topics(const char *typed, struct completions *all)
{
	const char *name;

	for (size_t i = 0; (name = topic_name(i)); i++)
		offer_if(all, typed, name);
	all->is_whole = true;
}

static void offer_signals(const char *typed, struct completions *all)
{
	char text[SIGNAL_TEXT];

	for (uint32_t i = 1; i < 32; i++)
		offer_if(all, typed, signal_name(text, i));
	all->is_whole = true;
}

/* "syscall" or "signal", and what comes behind. */
static void offer_caught(const char *args, const char *typed,
			 struct completions *all)
{
	if (is_word(args, "signal")) {
		offer_signals(typed, all);
		return;
	}
	if (args != typed)
		return;
	offer_if(all, typed, "signal");
	offer_if(all, typed, "syscall");
	all->is_whole = true;
}

/* ------- times ------- */

struct named {
	struct completions *all;
	const char *typed;
};

static int on_bookmark(void *context, const struct cprec_bookmark *bookmark)
{
	const struct named *named = context;

	offer_if(named->all, named->typed, bookmark->name);
	return 0;
}

static void offer_times(struct session *session, const char *typed,
			struct completions *all)
{
	static const char *const words[] = { "start", "end", "main",
					     "output:" };
	struct named named = { all, typed };

	cprec_each_bookmark(session->recording, on_bookmark, &named, NULL);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		offer_if(all, typed, words[i]);
}

/* ------- source files ------- */

static int on_symbol(void *context, const struct cprec_symbol *symbol)
{
	const struct named *named = context;
	const char *slash = symbol->file ? strrchr(symbol->file, '/') : NULL;
	const char *name = slash ? slash + 1 : symbol->file;
	char text[256];

	if (!name || !symbol->is_program)
		return 0;
	snprintf(text, sizeof(text), "%s:", name);
	offer_if(named->all, named->typed, text);
	return 0;
}

static void offer_sources(struct session *session, const char *typed,
			  struct completions *all)
{
	struct named named = { all, typed };

	/* All symbols are gone through. */
	if (*typed)
		cprec_each_symbol(session->cursor, NULL, on_symbol, &named,
				  NULL);
}

/* ------- files ------- */

static void offer_files(const char *typed, struct completions *all)
{
	const char *slash = strrchr(typed, '/');
	size_t length = slash ? (size_t)(slash - typed) + 1 : 0;
	char *folder = length ? strndup(typed, length) : strdup(".");
	DIR *opened = folder ? opendir(folder) : NULL;
	struct dirent *entry;
	char text[4096];

	while (opened && (entry = readdir(opened))) {
		if (*entry->d_name == '.' && typed[length] != '.')
			continue;
		snprintf(text, sizeof(text), "%.*s%s%s", (int)length, typed,
			 entry->d_name, entry->d_type == DT_DIR ? "/" : "");
		offer_if(all, typed, text);
	}
	if (opened)
		closedir(opened);
	free(folder);
}

/* ------- all of it ------- */

/* Where the last name of an expression begins. */
static const char *last_name(const char *text)
{
	const char *at = text + strlen(text);

	while (at > text && (isalnum((unsigned char)at[-1]) ||
			     strchr("_.>-:$!", at[-1])))
		at--;
	return at;
}

static const char *last_word(const char *text)
{
	const char *at = text + strlen(text);

	while (at > text && !isspace((unsigned char)at[-1]))
		at--;
	return at;
}

/* Of an expression, or of a place. */
static void offer_names(struct session *session, const struct verb *verb,
			const char *typed, struct completions *all)
{
	struct cprec_failure why;

	cprec_complete(session->cursor, typed, offer, all, &why);
	if (verb->takes == TAKES_PLACE)
		offer_sources(session, typed, all);
}

void completions_find(struct session *session, const char *typed,
		     const char **from, struct completions *all)
{
	const char *blank = strpbrk(typed, " \t/"), *args;
	const struct verb *verb;
	struct cprec_failure why;

	*from = typed;
	if (!blank) {
		offer_verbs(typed, all);
		return;
	}
	if (verb_find(typed, (size_t)(blank - typed), &verb, &why))
		return;
	args = blank + strspn(blank, " \t");
	*from = verb->takes == TAKES_EXPRESSION || verb->takes == TAKES_PLACE ?
			last_name(args) : last_word(args);
	if (verb->takes == TAKES_TIME)
		offer_times(session, *from, all);
	else if (verb->takes == TAKES_FILE)
		offer_files(*from, all);
	else if (verb->takes == TAKES_TOPIC && *from == args)
		offer_topics(*from, all);
	else if (verb->takes == TAKES_VERB)
		offer_verbs(*from, all);
	else if (verb->takes == TAKES_SIGNAL)
		offer_signals(*from, all);
	else if (verb->takes == TAKES_CAUGHT)
		offer_caught(args, *from, all);
	else if (verb->takes != TAKES_WORDS && verb->takes != TAKES_TOPIC)
		offer_names(session, verb, *from, all);
}
