/* SPDX-License-Identifier: GPL-2.0-or-later */
/* when_names.c - see when_names.h */
#include "replayer/expressions/when_names.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/expressions/candidates.h"
#include "replayer/expressions/reader.h"
#include "replayer/expressions/resolve.h"

#define WORDS_MOST 64u
#define TOLD_MOST 8u		/* functions in a message */

/* Whose functions are meant first. */
enum owner {
	OWNER_PROGRAM,
	OWNER_OTHER,		/* a library, not of the system */
	OWNER_SYSTEM,
	OWNERS,
};

struct search {
	struct context *context;
	char *words[WORDS_MOST];	/* of the context */
	size_t count;

	const char *found[TOLD_MOST];	/* names, of the context */
	size_t found_count;
	enum owner owner;
};

/* ------- names in the text ------- */

/* What follows one of these is a member, a register or a part of a name. */
static bool is_behind_mark(const char *text, const char *at)
{
	while (at > text && at[-1] == ' ')
		at--;
	return at > text && (at[-1] == '.' || at[-1] == '$' ||
			     at[-1] == '!' ||
			     (at[-1] == ':' && at - 1 > text) ||
			     (at[-1] == '>' && at - 1 > text &&
			      at[-2] == '-'));
}

/* Whether a function of the program has such a variable. */
static bool is_of_function(struct context *context, const char *word)
{
	for (size_t i = 0; i < context->module_count; i++) {
		const struct context_module *module = &context->modules[i];
		const struct die_index *index = module->is_program ?
			context_index(context, module) : NULL;

		for (size_t j = 0; index && j < index->count; j++) {
			Dwarf_Die die = index->list[j].die;

			if (index->list[j].kind == DIE_FUNCTION &&
			    die_declares(&die, word))
				return true;
		}
	}
	return false;
}

static bool is_tag(const char *word)
{
	return !strcmp(word, "struct") || !strcmp(word, "union") ||
	       !strcmp(word, "enum") || !strcmp(word, "class");
}

static bool is_known(struct context *context, char *word)
{
	struct failure ignored;
	struct value value;
	int rc = resolve_name(context, word, &value, &ignored);

	/* One that is nowhere now, or not clear, is known.  Libraries have
	 * symbols of many names. */
	if (rc == ERR_NOT_FOUND && !is_of_function(context, word))
		rc = resolve_symbol(context, word, &value, &ignored);
	return rc != ERR_NOT_FOUND || resolve_type(context, word) ||
	       !strcmp(word, "sizeof") || is_tag(word);
}

/* Keeps those that mean nothing outside of functions. */
static int find_words(struct search *search, const char *text)
{
	const char *at = text, *end;
	bool is_tagged = false;		/* "node" of "struct node" */
	char *word;

	while (*at && search->count < WORDS_MOST) {
		if (*at == '\'' || *at == '"') {
			end = strchr(at + 1, *at);
			at = end ? end + 1 : at + 1;
			continue;
		}
		for (end = at; is_name_part(*end); end++)
			;
		if (end == at) {
			at++;
			continue;
		}
		if (is_name_start(*at) && !is_behind_mark(text, at) &&
		    strncmp(end, "::", 2) && *end != '!') {
			word = context_take(search->context,
					    (size_t)(end - at) + 1);
			if (!word)
				return ERR_NO_MEMORY;
			memcpy(word, at, (size_t)(end - at));
			if (!is_tagged && !is_known(search->context, word))
				search->words[search->count++] = word;
			is_tagged = is_tag(word);
		}
		at = end;
	}
	return 0;
}

/* ------- functions ------- */

static void add_function(struct search *search, const struct die_index *index,
			 const struct die_entry *entry)
{
	char *name = context_take(search->context, NAME_MOST);

	if (!name)
		return;
	die_qualified_name(index, entry, name, NAME_MOST);
	for (size_t i = 0; i < search->found_count; i++)
		if (!strcmp(search->found[i], name))
			return;
	if (search->found_count < TOLD_MOST)
		search->found[search->found_count++] = name;
}

static void look_through(struct search *search, const struct die_index *index)
{
	for (size_t i = 0; i < index->count; i++) {
		const struct die_entry *entry = &index->list[i];
		Dwarf_Die die = entry->die;
		bool has_all = entry->kind == DIE_FUNCTION && entry->name;

		for (size_t j = 0; j < search->count && has_all; j++)
			has_all = die_declares(&die, search->words[j]);
		if (has_all)
			add_function(search, index, entry);
	}
}

static enum owner owner_of(const struct context *context,
			   const struct context_module *module)
{
	uint64_t bias;
	const struct symbols *symbols = names_mapped(
		lines_names(context->lines), context->place.at.time,
		module->number, &bias);

	if (module->is_program)
		return OWNER_PROGRAM;
	return symbols && (!strncmp(symbols->path, "/lib", 4) ||
			   !strncmp(symbols->path, "/usr/lib", 8)) ?
		       OWNER_SYSTEM : OWNER_OTHER;
}

static void look_through_modules(struct search *search)
{
	struct context *context = search->context;

	for (size_t i = 0; i < context->module_count && search->count; i++) {
		const struct context_module *module = &context->modules[i];
		const struct die_index *index =
			owner_of(context, module) == search->owner ?
				context_index(context, module) : NULL;

		if (index)
			look_through(search, index);
	}
}

static int refuse(const struct search *search, struct failure *why)
{
	const char *word = search->words[0];
	char list[200] = "";
	size_t used = 0, count = search->found_count;

	for (size_t i = 0; i < count; i++) {
		int size = snprintf(list + used, sizeof(list) - used, "%s%s",
				    i ? ", " : "", search->found[i]);

		if (size < 0 || (size_t)size >= sizeof(list) - used)
			count = TOLD_MOST;
		else
			used += (size_t)size;
	}
	list[used] = '\0';
	if (search->owner == OWNER_SYSTEM)
		return failed(why, ERR_INPUT, "'%s' is no variable of the"
			      " program; functions of libraries have such:"
			      " choose one with --in: %s%s", word, list,
			      count == TOLD_MOST ? ", ..." : "");
	return failed(why, ERR_INPUT, "several functions have '%s': choose one"
		      " with --in: %s%s", word, list,
		      count == TOLD_MOST ? ", ..." : "");
}

static int find_at(struct search *search, const struct when_question *question,
		   const struct position *at, struct failure *why)
{
	struct context *context = search->context;
	const struct expression_place place = { .at = *at };
	int rc = context_set(context, &place, why);

	if (rc)
		return rc;
	search->count = search->found_count = 0;
	context->no_frame = context->only_visible = true;
	rc = find_words(search, question->text);
	context->no_frame = context->only_visible = false;
	context->has_frame = false;
	if (rc)
		return failed(why, rc, "out of memory");
	for (search->owner = OWNER_PROGRAM; search->owner < OWNERS;
	     search->owner++) {
		look_through_modules(search);
		if (search->found_count)
			break;
	}
	return 0;
}

int when_find_function(struct context *context,
		       const struct when_question *question, char **out,
		       struct failure *why)
{
	struct search search = { .context = context };
	int rc = find_at(&search, question, &question->to, why);

	*out = NULL;
	/* Of a program that another one has replaced. */
	if (!rc && search.count && !search.found_count)
		rc = find_at(&search, question, &question->from, why);
	if (rc || !search.count || !search.found_count)
		return rc;
	if (search.found_count > 1)
		return refuse(&search, why);
	*out = strdup(search.found[0]);
	return *out ? 0 : failed(why, ERR_NO_MEMORY, "out of memory");
}

int when_lacks_name(struct context *context,
		    const struct when_question *question, bool *out,
		    struct failure *why)
{
	struct names *names = lines_names(context->lines);
	struct search search = { .context = context };
	struct position at = question->from;
	uint64_t until;
	int rc = find_at(&search, question, &question->to, why);

	*out = search.count > 0;
	while (!rc && *out && position_compare(&at, &question->to) < 0) {
		rc = find_at(&search, question, &at, why);
		*out = search.count > 0;
		if (!rc)
			rc = names_until(names, at.time, &until, why);
		if (rc || until <= at.time)
			break;
		at = (struct position){ until, 0 };
	}
	return rc;
}
