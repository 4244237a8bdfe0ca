/* SPDX-License-Identifier: GPL-2.0-or-later */
/* absent.c - see absent.h */
#include "replayer/symbols/absent.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "formats/nearest.h"
#include "replayer/symbols/lines.h"
#include "replayer/symbols/names.h"
#include "replayer/symbols/patterns.h"

/* How deep blocks may be nested in a file that makes sense. */
#define DEPTH_MOST 64u

struct absent {
	char name[NEAREST_MOST + 1];
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
			nearest_offer(&absent->nearest, name);
		if (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block ||
		    tag == DW_TAG_inlined_subroutine || is_scope(tag))
			look_below(absent, &die,
				   tag == DW_TAG_subprogram ? name : caller,
				   depth + 1);
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

/* Without scopes and arguments. */
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
	nearest_begin(&absent->nearest, absent->name, strlen(absent->name));
}

const char *absent_text(struct lines *lines, uint64_t t,
			const struct symbol_pattern *pattern,
			char text[ABSENT_TEXT])
{
	const char *name = pattern->name;
	char list[ABSENT_TEXT - 40] = "";
	struct absent absent = { .list = list, .room = sizeof(list) };

	*text = '\0';
	if (!name || !*name || strpbrk(name, "*?["))
		return text;
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
