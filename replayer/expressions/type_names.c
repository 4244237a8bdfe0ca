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
#include "replayer/expressions/types.h"

#define DEPTH_MOST 24u

/* A type, and what its qualifiers say. */
struct written {
	struct type *type;
	bool is_const, is_volatile;
	bool has_name;		/* a typedef, or a type that has a name */
	Dwarf_Die named;
};

/* Up to the first name. */
static struct written look(struct type *type)
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

static void write_before(FILE *out, struct type *type, unsigned depth);
static void write_behind(FILE *out, struct type *type, unsigned depth);

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

static void write_name(FILE *out, struct written *written)
{
	struct type *type = written->type;
	struct types *types = type->types;
	char text[1024];

	if (type->language == LANGUAGE_C) {
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
	if (dwarf_tag(&written->named) != DW_TAG_base_type &&
	    types->qualify && types->qualify(types->context, &written->named,
					     text, sizeof(text)))
		fputs(text, out);
	else
		fputs(usual_name(&written->named), out);
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
static bool is_suffixed(struct type *type)
{
	struct written written = look(type);

	return !written.has_name && !type->name &&
	       (type->kind == TYPE_ARRAY || type->kind == TYPE_FUNCTION);
}

/* What stands before it ends with the '*' of a pointer. */
static bool ends_with_mark(struct type *type)
{
	struct written written;

	for (unsigned depth = 0; depth < DEPTH_MOST && is_suffixed(type);
	     depth++)
		type = type_target(type);
	written = look(type);
	return !type->name && !written.has_name && !written.is_const &&
	       !written.is_volatile &&
	       (type->kind == TYPE_POINTER || type->kind == TYPE_REFERENCE ||
		type->kind == TYPE_MEMBER_POINTER);
}

static void write_pointer(FILE *out, struct written *written, unsigned depth)
{
	struct type *type = written->type, *target = type_target(type);
	const char *mark = "*";

	write_before(out, target, depth + 1);
	if (type->kind == TYPE_REFERENCE && !type->has_die)
		mark = "&";
	else if (type->kind == TYPE_REFERENCE)
		mark = dwarf_tag(&type->die) == DW_TAG_rvalue_reference_type ?
			       "&&" : "&";
	if (is_suffixed(target))
		fputs(ends_with_mark(target) ? "(" : " (", out);
	else if (look(target).has_name || target->name ||
		 (target->kind != TYPE_POINTER &&
		  target->kind != TYPE_REFERENCE &&
		  target->kind != TYPE_MEMBER_POINTER))
		fputc(' ', out);
	fputs(mark, out);
	if (written->is_const)
		fputs(" const", out);
	if (written->is_volatile)
		fputs(" volatile", out);
}

/* "int Point::*", "int (Point::*)(int)" */
static void write_member_pointer(FILE *out, struct written *written,
				 unsigned depth)
{
	struct type *type = written->type, *target = type_target(type);
	struct type *of = type_class(type);

	write_before(out, target, depth + 1);
	fputs(is_suffixed(target) ? " (" : " ", out);
	if (of)
		write_before(out, of, depth + 1);
	fputs("::*", out);
	if (written->is_const)
		fputs(" const", out);
}

static void write_before(FILE *out, struct type *type, unsigned depth)
{
	struct written written = look(type);

	if (depth > DEPTH_MOST) {
		fputs("...", out);
		return;
	}
	if (!type->name && !written.has_name &&
	    (type->kind == TYPE_POINTER || type->kind == TYPE_REFERENCE)) {
		write_pointer(out, &written, depth);
		return;
	}
	if (!type->name && !written.has_name &&
	    type->kind == TYPE_MEMBER_POINTER) {
		write_member_pointer(out, &written, depth);
		return;
	}
	if (!type->name && !written.has_name &&
	    (type->kind == TYPE_ARRAY || type->kind == TYPE_FUNCTION)) {
		write_before(out, type_target(type), depth + 1);
		return;
	}
	if (written.is_const)
		fputs("const ", out);
	if (written.is_volatile)
		fputs("volatile ", out);
	if (type->name)
		fputs(type->name, out);
	else if (written.has_name)
		write_name(out, &written);
	else
		write_nameless(out, type);
}

static void write_parameters(FILE *out, struct type *type, unsigned depth)
{
	Dwarf_Die child;
	Dwarf_Attribute attribute;
	bool any = false;

	fputc('(', out);
	if (!type->has_die || dwarf_child(&type->die, &child))
		goto end;
	do {
		int tag = dwarf_tag(&child);
		struct type *of;

		if (tag == DW_TAG_unspecified_parameters) {
			fputs(any ? ", ..." : "...", out);
			any = true;
		}
		if (tag != DW_TAG_formal_parameter)
			continue;
		fputs(any ? ", " : "", out);
		any = true;
		of = type_of_entry(type->types, &child);
		if (!of)
			break;
		write_before(out, of, depth + 1);
		/* `this` cannot be changed. */
		if (dwarf_attr(&child, DW_AT_artificial, &attribute) &&
		    of->kind == TYPE_POINTER && !look(of).is_const)
			fputs(" const", out);
		write_behind(out, of, depth + 1);
	} while (!die_sibling(&child, &child));
end:
	if (!any && type->has_die &&
	    (type->language == LANGUAGE_CXX ||
	     dwarf_attr(&type->die, DW_AT_prototyped, &attribute)))
		fputs("void", out);
	fputc(')', out);
}

static void write_behind(FILE *out, struct type *type, unsigned depth)
{
	if (depth > DEPTH_MOST || type->name || look(type).has_name)
		return;
	switch (type->kind) {
	case TYPE_POINTER:
	case TYPE_REFERENCE:
	case TYPE_MEMBER_POINTER:
		if (is_suffixed(type_target(type)))
			fputc(')', out);
		write_behind(out, type_target(type), depth + 1);
		break;
	case TYPE_ARRAY:
		if (type->has_count)
			fprintf(out, "[%" PRIu64 "]", type->count);
		else
			fputs("[]", out);
		write_behind(out, type_target(type), depth + 1);
		break;
	case TYPE_FUNCTION:
		write_parameters(out, type, depth);
		write_behind(out, type_target(type), depth + 1);
		break;
	default:
		break;
	}
}

/* ------- Rust ------- */

static void write_rust(FILE *out, struct type *type, unsigned depth)
{
	struct written written = look(type);
	const char *name = type->has_die ? dwarf_diename(&type->written) :
					   type->name;

	if (depth > DEPTH_MOST)
		return;
	if (type->kind == TYPE_POINTER && !written.has_name) {
		fputs(name && !strncmp(name, "*const", 6) ? "*const " :
							   "*mut ", out);
		write_rust(out, type_target(type), depth + 1);
	} else if (type->kind == TYPE_ARRAY && !written.has_name) {
		fputc('[', out);
		write_rust(out, type_target(type), depth + 1);
		fprintf(out, "; %" PRIu64 "]", type->count);
	} else if (written.has_name && type->types->qualify) {
		write_name(out, &written);
	} else {
		fputs(name ? name : "()", out);
	}
}

void type_write(FILE *out, struct type *type)
{
	if (type->language == LANGUAGE_RUST) {
		write_rust(out, type, 0);
		return;
	}
	write_before(out, type, 0);
	if (is_suffixed(type) && !ends_with_mark(type))
		fputc(' ', out);
	write_behind(out, type, 0);
}

char *type_to_text(struct type *type)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	type_write(out, type);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}
