/* SPDX-License-Identifier: GPL-2.0-or-later */
/* complete.c - see complete.h */
#include "replayer/expressions/complete.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/expressions/evaluate.h"
#include "replayer/expressions/values.h"

#define TEXT_MOST 1024u
#define DEPTH_MOST 32u

struct completing {
	struct context *context;
	const char *typed;
	size_t kept;		/* of what was typed, stays as it is */
	void (*visit)(void *opaque, const char *text);
	void *opaque;
};

/* Not what is too long: its beginning would be another name. */
static void offer(const struct completing *completing, const char *name)
{
	const char *rest = completing->typed + completing->kept;
	char text[TEXT_MOST];
	int size;

	if (strncmp(name, rest, strlen(rest)) != 0)
		return;
	size = snprintf(text, sizeof(text), "%.*s%s", (int)completing->kept,
			completing->typed, name);
	if (size < 0 || (size_t)size >= sizeof(text))
		return;
	completing->visit(completing->opaque, text);
}

/* ------- members ------- */

/* Where the name of a member begins; 0: there is none. */
static size_t find_member_name(const char *typed)
{
	const char *dot = strrchr(typed, '.'), *arrow = NULL;

	for (const char *at = typed; (at = strstr(at, "->")); at += 2)
		arrow = at + 2;
	dot = dot ? dot + 1 : NULL;
	if (arrow && (!dot || arrow > dot))
		dot = arrow;
	return dot ? (size_t)(dot - typed) : 0;
}

static void offer_members(const struct completing *completing,
			  const struct value *of, unsigned depth)
{
	struct member_walk walk = { .context = completing->context, .of = of };
	struct member member;

	while (depth < DEPTH_MOST && member_next(&walk, &member) > 0) {
		struct value part = value_part(of, &member);

		if (member.is_static || member.is_artificial)
			continue;
		if (member.name && !member.is_base)
			offer(completing, member.name);
		else
			offer_members(completing, &part, depth + 1);
	}
}

static void complete_member(const struct completing *completing)
{
	bool is_arrow = completing->typed[completing->kept - 1] == '>';
	char text[TEXT_MOST];
	struct value of;

	if (completing->kept >= sizeof(text))
		return;
	snprintf(text, sizeof(text), "%.*s",
		 (int)completing->kept - (is_arrow ? 2 : 1),
		 completing->typed);
	if (evaluate(completing->context, text, &of, NULL) ||
	    value_strip(completing->context, &of, NULL))
		return;
	/* Of what it points to, only the type is of interest. */
	if (of.type->kind == TYPE_POINTER)
		of = (struct value) { .type = type_target(of.type),
				      .is_absent = true };
	if (of.type && type_is_class(of.type))
		offer_members(completing, &of, 0);
}

/* ------- names ------- */

static bool is_offered(const struct die_entry *entry)
{
	Dwarf_Die die = entry->die;

	if (!entry->name)
		return false;
	return entry->kind == DIE_FUNCTION ?
		       dwarf_hasattr(&die, DW_AT_low_pc) :
		       entry->kind == DIE_VARIABLE && !entry->is_declaration;
}

/* Scopes are needed for those of functions. */
static void complete_name(const struct completing *completing)
{
	struct context *context = completing->context;
	char name[TEXT_MOST];

	for (size_t i = 0; i < context->module_count; i++) {
		const struct die_index *index = context->modules[i].is_program ?
			context_index(context, &context->modules[i]) : NULL;

		for (size_t k = 0; index && k < index->count; k++) {
			if (!is_offered(&index->list[k]))
				continue;
			die_qualified_name(index, &index->list[k], name,
					   sizeof(name));
			offer(completing, name);
		}
	}
}

void complete(struct context *context, const char *typed,
	      void (*visit)(void *opaque, const char *text), void *opaque)
{
	struct completing completing = { context, typed, 0, visit, opaque };

	if (*typed == '&' || *typed == '*')
		completing.kept = strspn(typed, "&*");
	if (find_member_name(typed)) {
		completing.kept = find_member_name(typed);
		complete_member(&completing);
	} else {
		complete_name(&completing);
	}
}
