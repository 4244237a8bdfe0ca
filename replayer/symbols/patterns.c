/* SPDX-License-Identifier: GPL-2.0-or-later */
/* patterns.c - see patterns.h */
#include "replayer/symbols/patterns.h"

#include <fnmatch.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/symbols/demangle.h"

/* ------- the text ------- */

/* The ':' behind a file's name; those of "a::b" are none. */
static char *file_mark(char *text)
{
	for (; *text && !strchr("(<", *text); text++) {
		if (*text != ':')
			continue;
		if (text[1] != ':')
			return text;
		text++;
	}
	return NULL;
}

int symbol_pattern_init(struct symbol_pattern *pattern, const char *text)
{
	char *mark;

	*pattern = (struct symbol_pattern) {
		.asked = strdup(text), .text = strdup(text),
	};
	if (!pattern->asked || !pattern->text) {
		symbol_pattern_release(pattern);
		return ERR_NO_MEMORY;
	}
	pattern->name = pattern->text;
	mark = strchr(pattern->text, '!');
	if (mark) {
		*mark = '\0';
		pattern->library = pattern->text;
		pattern->name = mark + 1;
	}
	mark = file_mark(pattern->text + (pattern->name - pattern->text));
	if (mark) {
		*mark = '\0';
		pattern->file = pattern->name;
		pattern->name = mark + 1;
	}
	return 0;
}

void symbol_pattern_release(struct symbol_pattern *pattern)
{
	for (size_t i = 0; i < pattern->link_count; i++)
		free(pattern->links[i]);
	free(pattern->links);
	free(pattern->asked);
	free(pattern->text);
	*pattern = (struct symbol_pattern) { 0 };
}

/* ------- what is meant ------- */

static bool has_wildcard(const char *pattern)
{
	return strpbrk(pattern, "*?[") != NULL;
}

/* " const &", "[abi:cxx11]", " [clone .isra.0]": what follows arguments; not the
 * ".move" of Go's "main.(*point).move". */
static bool is_behind_arguments(const char *text)
{
	return *text != ':' && *text != '.' &&
	       !text[strspn(text, " abcdefghijklmnopqrstuvwxyz0123456789"
				  "&[]:._")];
}

static bool ends_with_operator(const char *plain, size_t size)
{
	const char word[] = "operator";
	size_t length = sizeof(word) - 1;

	return size >= length && !memcmp(plain + size - length, word, length);
}

size_t symbol_name_size(const char *plain)
{
	const char *at = strrchr(plain, ')');
	unsigned depth = 0;

	/* Those of "(anonymous namespace)::x" and "f<g(int)::x>" are none. */
	if (!at || !is_behind_arguments(at + 1))
		return strlen(plain);
	for (; at > plain; at--) {
		depth += *at == ')';
		depth -= *at == '(';
		if (!depth)
			break;
	}
	/* Nor are those of "operator()". */
	return ends_with_operator(plain, (size_t)(at - plain)) ?
		       strlen(plain) : (size_t)(at - plain);
}

static bool is_without_arguments(const char *pattern, const char *plain)
{
	char *name = strndup(plain, symbol_name_size(plain));
	bool is = name && !fnmatch(pattern, name, 0);

	free(name);
	return is;
}

/* "add.0" is a function in another one (GNU C), or its static variable. */
static const char *number_mark(const char *plain)
{
	size_t size = strlen(plain), at = size;

	while (at && plain[at - 1] >= '0' && plain[at - 1] <= '9')
		at--;
	return at > 1 && at < size && plain[at - 1] == '.' ? plain + at - 1 :
							      NULL;
}

/*
 * A function that the optimizer has changed has a mark behind its name:
 * "find.constprop.0", "find(int) [clone .isra.0]".  What it has cut off
 * (".part.0") is another one.  NULL: it has none.
 */
static char *without_mark(const char *plain)
{
	static const char *const marks[] = {
		".constprop.", ".isra.", ".lto_priv.", ".llvm.",
	};
	const char *end = NULL;

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		const char *mark = strstr(plain, marks[i]);

		if (mark && (!end || mark < end))
			end = mark;
	}
	if (!end)
		end = number_mark(plain);
	if (!end || strstr(plain, ".part.") || strstr(plain, ".cold"))
		return NULL;
	if (end - plain > 7 && !strncmp(end - 7, "[clone ", 7))
		end -= 7;
	return strndup(plain, (size_t)(end - plain));
}

int symbol_pattern_add(struct symbol_pattern *pattern, const char *link)
{
	char *copy = strdup(link);

	if (!copy || array_room(pattern->links, pattern->link_count,
				pattern->link_room)) {
		free(copy);
		return ERR_NO_MEMORY;
	}
	pattern->links[pattern->link_count++] = copy;
	return 0;
}

static bool is_link(const struct symbol_pattern *pattern, const char *name)
{
	for (size_t i = 0; i < pattern->link_count; i++)
		if (!strcmp(pattern->links[i], name))
			return true;
	return false;
}

static bool is_called(const char *wanted, const char *name, const char *plain)
{
	if (has_wildcard(wanted))
		return !fnmatch(wanted, plain, 0) ||
		       !fnmatch(wanted, name, 0) ||
		       is_without_arguments(wanted, plain);
	return demangle_is(plain, wanted);
}

static bool is_name(const char *wanted, const char *name, const char *plain)
{
	char *unmarked;
	bool is;

	if (!strcmp(wanted, name) || is_called(wanted, name, plain))
		return true;
	unmarked = without_mark(plain);
	is = unmarked && is_called(wanted, unmarked, unmarked);
	free(unmarked);
	return is;
}

size_t symbol_pattern_lacks(const struct symbol_pattern *pattern,
			    const char *plain)
{
	unsigned depth = 0;

	/* What stands in brackets, as the arguments of a template, is none. */
	for (const char *at = plain; *at; at++) {
		depth += *at == '(' || *at == '<';
		depth -= (*at == ')' || *at == '>') && depth;
		if (!depth && at > plain && at[-1] == ':' && *at == ':' &&
		    is_name(pattern->name, at + 1, at + 1))
			return (size_t)(at + 1 - plain);
	}
	return 0;
}

bool symbol_pattern_is(const struct symbol_pattern *pattern, const char *name,
		       const char *plain)
{
	return !pattern->name || is_name(pattern->name, name, plain) ||
	       is_link(pattern, name) ||
	       (pattern->any_scope && symbol_pattern_lacks(pattern, plain));
}

bool source_file_is(const char *path, const char *file)
{
	const char *end = path;

	if (!fnmatch(file, path, 0))
		return true;
	while ((end = strchr(end, '/')))
		if (!fnmatch(file, ++end, 0))
			return true;
	return false;
}
