/* SPDX-License-Identifier: GPL-2.0-or-later */
/* members.c - see members.h */
#include "replayer/expressions/members.h"

#include <dwarf.h>
#include <string.h>

#include "formats/error.h"
#include "formats/nearest.h"
#include "replayer/expressions/candidates.h"

/* How deep members may be nested in what makes sense. */
#define DEPTH_MOST 32u

int member_static(struct context *context, Dwarf_Die *member,
		  struct value *out, struct failure *why)
{
	struct types *types = &context->types;
	char name[NAME_MOST], full[NAME_MOST + 2];
	struct candidate found;
	Dwarf_Die die;

	if (dwarf_hasattr(member, DW_AT_const_value) ||
	    dwarf_hasattr(member, DW_AT_location))
		return value_of_variable(context, member, out, why);
	*out = (struct value) {
		.type = type_of_entry(types, member), .is_absent = true,
	};
	if (!out->type)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	if (!types->qualify(types->context, member, name, sizeof(name)))
		return 0;
	snprintf(full, sizeof(full), "::%s", name);
	if (!candidates_find(context, full, false, &found) ||
	    found.entry->kind != DIE_VARIABLE)
		return 0;
	die = found.entry->die;
	return value_of_variable(context, &die, out, why);
}

/* "app::Left::l" is what is called `l` in the base `app::Left`. */
struct member_name {
	const char *name;
	const char *scope;	/* NULL: any class */
};

static bool is_scope(struct context *context, struct type *type,
		     const char *scope)
{
	char text[NAME_MOST];

	return type->has_die &&
	       context->types.qualify(context->types.context, &type->die, text,
				      sizeof(text)) &&
	       !strcmp(text, scope);
}

/* The scope, into `scope` of NAME_MOST bytes, gets all of its own scopes. */
static struct member_name split_name(struct context *context,
				     const char *name, char *scope)
{
	struct member_name out = { .name = name_last(name) };
	size_t size = (size_t)(out.name - name);
	struct candidate found;

	if (size < 3 || size >= NAME_MOST)
		return out;
	memcpy(scope, name, size - 2);
	scope[size - 2] = '\0';
	if (candidates_find(context, scope, true, &found))
		die_qualified_name(found.index, found.entry, scope, NAME_MOST);
	out.scope = scope;
	return out;
}

static int find_member(struct context *context, struct value *of,
		       struct member_name wanted, struct value *out,
		       unsigned depth, struct failure *why)
{
	struct member_walk walk = { .context = context, .of = of,
				    .why = why };
	struct member member;
	int rc;

	if (depth > DEPTH_MOST)
		return ERR_NOT_FOUND;
	/* What is inherited or nameless there is of that class, too. */
	if (wanted.scope && is_scope(context, of->type, wanted.scope))
		wanted.scope = NULL;
	while ((rc = member_next(&walk, &member)) > 0) {
		struct value part = value_part(of, &member);
		bool is_inside = member.is_base ||
				 (!member.name && type_is_class(part.type));

		if (!wanted.scope && member.name && !member.is_base &&
		    !strcmp(member.name, wanted.name)) {
			if (member.is_static)
				return member_static(context, &member.die,
						     out, why);
			*out = part;
			return 0;
		}
		if (!is_inside)
			continue;
		rc = find_member(context, &part, wanted, out, depth + 1, why);
		if (rc != ERR_NOT_FOUND)
			return rc;
	}
	return rc ? rc : ERR_NOT_FOUND;
}

static void offer_members(struct context *context, const struct value *of,
			  struct nearest *nearest, unsigned depth)
{
	struct member_walk walk = { .context = context, .of = of };
	struct member member;

	while (depth < DEPTH_MOST && member_next(&walk, &member) > 0) {
		struct value part = value_part(of, &member);

		if (member.name && !member.is_base)
			nearest_offer(nearest, member.name);
		else
			offer_members(context, &part, nearest, depth + 1);
	}
}

static int no_member(struct context *context, const struct value *of,
		     const char *name, struct failure *why)
{
	struct nearest nearest;
	char text[NEAREST_TEXT];

	context->mistake = MISTAKE_MEMBER;
	if (!why)
		return ERR_NOT_FOUND;
	nearest_begin(&nearest, name, strlen(name));
	offer_members(context, of, &nearest, 0);
	return failed(why, ERR_NOT_FOUND, "there is no member '%s'%s", name,
		      nearest_text(&nearest, text));
}

int value_member(struct context *context, struct value *of, const char *name,
		 struct value *out, struct failure *why)
{
	struct value object = *of;
	char scope[NAME_MOST];
	int rc = value_strip(context, &object, why);

	if (!rc && object.type->kind == TYPE_POINTER)
		rc = value_follow(context, &object, &object, why);
	if (rc)
		return rc;
	if (object.type->kind == TYPE_UNKNOWN)
		return context_no_type(context, object.addr, why);
	if (!type_is_class(object.type)) {
		context->mistake = MISTAKE_MEMBER;
		return failed(why, ERR_INPUT, "there is no '%s' in what is no"
			      " structure, class or union", name);
	}
	rc = find_member(context, &object, split_name(context, name, scope),
			 out, 0, why);
	return rc == ERR_NOT_FOUND ? no_member(context, &object, name, why) :
				     rc;
}
