/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * type_names.c - how types are written
 *
 * As C declares them: what is before the name, and what is behind it.
 */
#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replayer/expressions/dies.h"
#include "replayer/expressions/type_writing.h"

#define DEPTH_MOST 24u

/* A type, and what its qualifiers say. */
struct written {
	struct type *type;
	bool is_const, is_volatile;
	bool has_name;		/* a typedef, or a type that has a name */
	Dwarf_Die named;
};

/* Up to the first name that is not to be resolved. */
static struct written look(const struct type_writing *to, struct type *type)
{
	struct written out = { .type = type };
	Dwarf_Die die = type->written;
	Dwarf_Attribute attribute;

	if (!type->has_die)
		return out;
	for (unsigned depth = 0; depth < DEPTH_MOST; depth++) {
		switch (dwarf_tag(&die)) {
		case DW_TAG_const_type:
			out.is_const = true;
			break;
		case DW_TAG_volatile_type:
			out.is_volatile = true;
			break;
		case DW_TAG_atomic_type:
		case DW_TAG_restrict_type:
			break;
		case DW_TAG_typedef:
			if (to->show == SHOW_MEMBERS)
				break;
			/* fallthrough */
		default:
			/* C has no names for pointers, whatever Rust says. */
			out.has_name = dwarf_diename(&die) &&
				       dwarf_tag(&die) != DW_TAG_pointer_type &&
				       dwarf_tag(&die) != DW_TAG_subprogram;
			out.named = die;
			return out;
		}
		if (!dwarf_attr(&die, DW_AT_type, &attribute) ||
		    !dwarf_formref_die(&attribute, &die))
			return out;	/* const void */
	}
	return out;
}

static void write_before(const struct type_writing *to, struct type *type,
			 unsigned depth);
static void write_behind(const struct type_writing *to, struct type *type,
			 unsigned depth);

/* Compilers have another order of the words than people. */
static const char *usual_name(Dwarf_Die *die)
{
	static const char *const names[][2] = {
		{ "long int", "long" }, { "short int", "short" },
		{ "long long int", "long long" },
		{ "long unsigned int", "unsigned long" },
		{ "short unsigned int", "unsigned short" },
		{ "long long unsigned int", "unsigned long long" },
	};
	const char *name = dwarf_diename(die);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (dwarf_tag(die) == DW_TAG_base_type &&
		    !strcmp(name, names[i][0]))
			return names[i][1];
	return name;
}

void type_write_name(FILE *out, struct type *type, Dwarf_Die *named)
{
	struct types *types = type->types;
	char text[1024];

	if (dwarf_tag(named) != DW_TAG_base_type && types->qualify &&
	    types->qualify(types->context, named, text, sizeof(text)))
		fputs(text, out);
	else
		fputs(usual_name(named), out);
}

static void write_name(FILE *out, struct written *written)
{
	if (written->type->language == LANGUAGE_C) {
		switch (dwarf_tag(&written->named)) {
		case DW_TAG_structure_type:
			fputs("struct ", out);
			break;
		case DW_TAG_union_type:
			fputs("union ", out);
			break;
		case DW_TAG_enumeration_type:
			fputs("enum ", out);
			break;
		}
	}
	type_write_name(out, written->type, &written->named);
}

static void write_nameless(FILE *out, const struct type *type)
{
	switch (type->kind) {
	case TYPE_STRUCT:
		fputs("struct {...}", out);
		break;
	case TYPE_UNION:
		fputs("union {...}", out);
		break;
	case TYPE_ENUM:
		fputs("enum {...}", out);
		break;
	default:
		fputs("void", out);
	}
}

/* Parentheses go around the '*' of what is a pointer to such. */
static bool is_suffixed(const struct type_writing *to, struct type *type)
{
	struct written written = look(to, type);

	return !written.has_name && !type->name &&
	       (type->kind == TYPE_ARRAY || type->kind == TYPE_FUNCTION);
}

/* What stands before it ends with the '*' of a pointer. */
static bool ends_with_mark(const struct type_writing *to, struct type *type)
{
	struct written written;

	for (unsigned depth = 0; depth < DEPTH_MOST && is_suffixed(to, type);
	     depth++)
		type = type_target(type);
	written = look(to, type);
	return !type->name && !written.has_name && !written.is_const &&
	       !written.is_volatile &&
	       (type->kind == TYPE_POINTER || type->kind == TYPE_REFERENCE ||
		type->kind == TYPE_MEMBER_POINTER);
}

static void write_pointer(const struct type_writing *to,
			  struct written *written, unsigned depth)
{
	struct type *type = written->type, *target = type_target(type);
	const char *mark = "*";

	write_before(to, target, depth + 1);
	if (type->kind == TYPE_REFERENCE && !type->has_die)
		mark = "&";
	else if (type->kind == TYPE_REFERENCE)
		mark = dwarf_tag(&type->die) == DW_TAG_rvalue_reference_type ?
			       "&&" : "&";
	if (is_suffixed(to, target))
		fputs(ends_with_mark(to, target) ? "(" : " (", to->out);
	else if (!ends_with_mark(to, target))
		fputc(' ', to->out);
	fputs(mark, to->out);
	if (written->is_const)
		fputs(" const", to->out);
	if (written->is_volatile)
		fputs(" volatile", to->out);
}

/* "int Point::*", "int (Point::*)(int)" */
static void write_member_pointer(const struct type_writing *to,
				 struct written *written, unsigned depth)
{
	struct type *type = written->type, *target = type_target(type);
	struct type *of = type_class(type);

	write_before(to, target, depth + 1);
	fputs(is_suffixed(to, target) ? " (" : " ", to->out);
	if (of)
		type_write(to->out, of);
	fputs("::*", to->out);
	if (written->is_const)
		fputs(" const", to->out);
}

static bool shows_members(const struct type_writing *to,
			  const struct written *written)
{
	const struct type *type = written->type;

	return type->has_die &&
	       (type_is_class(type) || type->kind == TYPE_ENUM) &&
	       (to->show == SHOW_MEMBERS ||
		(to->show == SHOW_NAMELESS && !written->has_name));
}

static void write_before(const struct type_writing *to, struct type *type,
			 unsigned depth)
{
	struct written written = look(to, type);

	if (depth > DEPTH_MOST) {
		fputs("...", to->out);
		return;
	}
	if (!type->name && !written.has_name &&
	    (type->kind == TYPE_POINTER || type->kind == TYPE_REFERENCE)) {
		write_pointer(to, &written, depth);
		return;
	}
	if (!type->name && !written.has_name &&
	    type->kind == TYPE_MEMBER_POINTER) {
		write_member_pointer(to, &written, depth);
		return;
	}
	if (!type->name && !written.has_name &&
	    (type->kind == TYPE_ARRAY || type->kind == TYPE_FUNCTION)) {
		write_before(to, type_target(type), depth + 1);
		return;
	}
	if (written.is_const)
		fputs("const ", to->out);
	if (written.is_volatile)
		fputs("volatile ", to->out);
	if (type->name)
		fputs(type->name, to->out);
	else if (shows_members(to, &written))
		type_write_body(to, type);
	else if (written.has_name)
		write_name(to->out, &written);
	else
		write_nameless(to->out, type);
}

static void write_parameters(const struct type_writing *to,
			     struct type *type, unsigned depth)
{
	const struct type_writing names = { .out = to->out,
					    .show = SHOW_NAMES };
	Dwarf_Die child;
	Dwarf_Attribute attribute;
	bool any = false;

	fputc('(', to->out);
	if (!type->has_die || dwarf_child(&type->die, &child))
		goto end;
	do {
		int tag = dwarf_tag(&child);
		struct type *of;

		if (tag == DW_TAG_unspecified_parameters) {
			fputs(any ? ", ..." : "...", to->out);
			any = true;
		}
		if (tag != DW_TAG_formal_parameter)
			continue;
		fputs(any ? ", " : "", to->out);
		any = true;
		of = type_of_entry(type->types, &child);
		if (!of)
			break;
		write_before(&names, of, depth + 1);
		/* `this` cannot be changed. */
		if (dwarf_attr(&child, DW_AT_artificial, &attribute) &&
		    of->kind == TYPE_POINTER && !look(&names, of).is_const)
			fputs(" const", to->out);
		write_behind(&names, of, depth + 1);
	} while (!die_sibling(&child, &child));
end:
	if (!any && type->has_die &&
	    (type->language == LANGUAGE_CXX ||
	     dwarf_attr(&type->die, DW_AT_prototyped, &attribute)))
		fputs("void", to->out);
	fputc(')', to->out);
}

static void write_behind(const struct type_writing *to, struct type *type,
			 unsigned depth)
{
	if (depth > DEPTH_MOST || type->name || look(to, type).has_name)
		return;
	switch (type->kind) {
	case TYPE_POINTER:
	case TYPE_REFERENCE:
	case TYPE_MEMBER_POINTER:
		if (is_suffixed(to, type_target(type)))
			fputc(')', to->out);
		write_behind(to, type_target(type), depth + 1);
		break;
	case TYPE_ARRAY:
		if (type->has_count)
			fprintf(to->out, "[%" PRIu64 "]", type->count);
		else
			fputs("[]", to->out);
		write_behind(to, type_target(type), depth + 1);
		break;
	case TYPE_FUNCTION:
		write_parameters(to, type, depth);
		write_behind(to, type_target(type), depth + 1);
		break;
	default:
		break;
	}
}

/* ------- Rust ------- */

static void write_rust(const struct type_writing *to, struct type *type,
		       unsigned depth)
{
	struct written written = look(to, type);
	const char *name = type->has_die ? dwarf_diename(&type->written) :
					   type->name;

	if (depth > DEPTH_MOST)
		return;
	if (type->kind == TYPE_POINTER && !written.has_name) {
		fputs(name && !strncmp(name, "*const", 6) ? "*const " :
							   "*mut ", to->out);
		write_rust(to, type_target(type), depth + 1);
	} else if (type->kind == TYPE_ARRAY && !written.has_name) {
		fputc('[', to->out);
		write_rust(to, type_target(type), depth + 1);
		fprintf(to->out, "; %" PRIu64 "]", type->count);
	} else if (written.has_name && type->types->qualify) {
		write_name(to->out, &written);
	} else {
		fputs(name ? name : "()", to->out);
	}
}

void type_declare(const struct type_writing *to, struct type *type,
		  const char *name)
{
	if (type->language == LANGUAGE_RUST) {
		write_rust(to, type, 0);
		return;
	}
	write_before(to, type, 0);
	if ((*name || is_suffixed(to, type)) && !ends_with_mark(to, type))
		fputc(' ', to->out);
	fputs(name, to->out);
	write_behind(to, type, 0);
}

void type_write(FILE *out, struct type *type)
{
	const struct type_writing names = { .out = out, .show = SHOW_NAMES };

	type_declare(&names, type, "");
}

/* ------- as texts ------- */

static char *as_text(struct type *type, enum type_show show)
{
	struct type_writing to = { .show = show };
	char *text = NULL;
	size_t size;

	to.out = open_memstream(&text, &size);
	if (!to.out)
		return NULL;
	type_declare(&to, type, "");
	if (!fclose(to.out))
		return text;
	free(text);
	return NULL;
}

char *type_to_text(struct type *type)
{
	return as_text(type, SHOW_NAMES);
}

char *type_to_whole_text(struct type *type)
{
	return as_text(type, SHOW_MEMBERS);
}
