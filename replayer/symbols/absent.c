/* SPDX-License-Identifier: GPL-2.0-or-later */
/* absent.c - see absent.h */
#include "replayer/symbols/absent.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/nearest.h"
#include "formats/symbols.h"
#include "replayer/symbols/demangle.h"
#include "replayer/symbols/lines.h"
#include "replayer/symbols/names.h"
#include "replayer/symbols/patterns.h"

/* How deep blocks may be nested in a file that makes sense. */
#define DEPTH_MOST 64u

struct absent {
	char name[NEAREST_MOST + 1];	/* without scopes and arguments */
	char asked[NEAREST_MOST + 1];	/* without arguments */
	char scope[NEAREST_MOST + 1];	/* "app::Server::": what is looked at */
	bool has_scope;		/* "app::find" was asked for */
	bool is_declared;
	struct nearest nearest;
	char *list;		/* functions that it was inlined in */
	size_t room, used;
};

static void add_caller(struct absent *absent, const char *caller)
{
	size_t size = strlen(caller);
	const char *at = strstr(absent->list, caller);
	int more;

	/* A name that is in the list, as a part of another one, is rare. */
	if (at && (at[size] == ',' || !at[size]))
		return;
	more = snprintf(absent->list + absent->used,
			absent->room - absent->used, "%s%s",
			absent->used ? ", " : "", caller);
	if (more < 0 || (size_t)more >= absent->room - absent->used)
		absent->list[absent->used] = '\0';
	else
		absent->used += (size_t)more;
}

static bool is_scope(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_class_type;
}

/* Names are offered as they are called: with the scope. */
static void offer(struct absent *absent, Dwarf_Die *function)
{
	char name[sizeof(absent->scope) + NEAREST_MOST + 1];

	/* What was declared in a scope was offered there. */
	if (dwarf_hasattr(function, DW_AT_specification) ||
	    dwarf_hasattr(function, DW_AT_abstract_origin))
		return;
	snprintf(name, sizeof(name), "%s%.*s", absent->scope,
		 (int)NEAREST_MOST, dwarf_diename(function));
	nearest_offer(&absent->nearest, name);
}

/* Returns how long the scope was before. */
static size_t enter_scope(struct absent *absent, Dwarf_Die *die)
{
	const char *name = is_scope(dwarf_tag(die)) ? dwarf_diename(die) :
						      NULL;
	size_t size = strlen(absent->scope);

	if (name)
		snprintf(absent->scope + size, sizeof(absent->scope) - size,
			 "%s::", name);
	return size;
}

/* Below `parent`, which is in the code of the function `caller`. */
static void look_below(struct absent *absent, Dwarf_Die *parent,
		       const char *caller, unsigned depth)
{
	bool may_be = absent->has_scope || !is_scope(dwarf_tag(parent));
	Dwarf_Die die;

	if (depth > DEPTH_MOST || dwarf_child(parent, &die))
		return;
	do {
		int tag = dwarf_tag(&die);
		const char *name = tag == DW_TAG_subprogram ||
				   tag == DW_TAG_inlined_subroutine ?
					   dwarf_diename(&die) : NULL;

		if (name && tag == DW_TAG_inlined_subroutine && caller &&
		    !strcmp(name, absent->name))
			add_caller(absent, caller);
		else if (name && !strcmp(name, absent->name))
			absent->is_declared |= may_be &&
				dwarf_hasattr(&die, DW_AT_inline) &&
				(absent->has_scope ||
				 !dwarf_hasattr(&die, DW_AT_specification));
		else if (name && tag == DW_TAG_subprogram)
			offer(absent, &die);
		if (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block ||
		    tag == DW_TAG_inlined_subroutine || is_scope(tag)) {
			size_t size = enter_scope(absent, &die);

			look_below(absent, &die,
				   tag == DW_TAG_subprogram ? name : caller,
				   depth + 1);
			absent->scope[size] = '\0';
		}
	} while (!dwarf_siblingof(&die, &die));
}

/* In the program, not in libraries, whose debugging information is large. */
static void look_through(struct absent *absent, struct lines *lines,
			 uint64_t t)
{
	struct names *names = lines_names(lines);
	uint64_t bias;
	const struct symbols *own = names_own(names, t, &bias), *mapped;

	for (size_t i = 0; (mapped = names_mapped(names, t, i, &bias)); i++) {
		bool is_last;
		Dwarf *dwarf = mapped == own ?
			lines_dwarf(lines, t, i, &bias, &is_last) : NULL;
		Dwarf_CU *unit = NULL;
		Dwarf_Die die;

		while (dwarf && !dwarf_get_units(dwarf, unit, &unit, NULL, NULL,
						 &die, NULL))
			look_below(absent, &die, NULL, 0);
	}
}

static void take_name(struct absent *absent, const char *asked)
{
	size_t size = strcspn(asked, "(<");
	const char *name = asked;

	for (size_t i = 0; i < size; i++)
		if (asked[i] == ':')
			name = asked + i + 1;
	absent->has_scope = name != asked;
	snprintf(absent->name, sizeof(absent->name), "%.*s",
		 (int)(asked + size - name), name);
	snprintf(absent->asked, sizeof(absent->asked), "%.*s",
		 (int)symbol_name_size(asked), asked);
	nearest_begin(&absent->nearest, absent->asked, strlen(absent->asked));
}

/* ------- patterns ------- */

/* Writes the first scope in which a pattern means a function of a module. */
static bool find_scope(const struct symbols *symbols,
		       const struct symbol_pattern *pattern,
		       char text[ABSENT_TEXT])
{
	bool found = false;

	for (size_t i = 0; i < symbols->count && !found; i++) {
		const struct symbol *symbol = &symbols->list[i];
		char *plain = symbol->type == SYMBOL_FUNCTION ?
				      demangle(symbol->name) : NULL;
		size_t size = plain ? symbol_pattern_lacks(pattern, plain) : 0;

		found = size && size + strlen(pattern->name) <= NEAREST_MOST;
		if (found)
			snprintf(text, ABSENT_TEXT, " (did you mean '%.*s%s'?)",
				 (int)size, plain, pattern->name);
		free(plain);
	}
	return found;
}

/* As above, in the program. */
static const char *scope_text(struct lines *lines, uint64_t t,
			      const struct symbol_pattern *pattern,
			      char text[ABSENT_TEXT])
{
	struct names *names = lines_names(lines);
	uint64_t bias;
	const struct symbols *own = names_own(names, t, &bias);

	if (own && !pattern->library)
		find_scope(own, pattern, text);
	return text;
}

/* ------- all ------- */

const char *absent_text(struct lines *lines, uint64_t t,
			const struct symbol_pattern *pattern,
			char text[ABSENT_TEXT])
{
	const char *name = pattern->name;
	char list[ABSENT_TEXT - 40] = "";
	struct absent absent = { .list = list, .room = sizeof(list) };

	*text = '\0';
	if (!name || !*name)
		return text;
	if (strpbrk(name, "*?["))
		return scope_text(lines, t, pattern, text);
	take_name(&absent, name);
	look_through(&absent, lines, t);
	if (*list || absent.is_declared) {
		snprintf(text, ABSENT_TEXT, "%s%s", *list ?
				 ": it was inlined in " :
				 ": it was never called, or its calls are gone",
			 list);
		return text;
	}
	names_offer(lines_names(lines), t, true, &absent.nearest);
	if (!*absent.nearest.name) {
		nearest_narrow(&absent.nearest);
		names_offer(lines_names(lines), t, false, &absent.nearest);
	}
	return nearest_text(&absent.nearest, text);
}
