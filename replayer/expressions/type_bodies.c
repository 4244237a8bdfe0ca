/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * type_bodies.c - what is in classes and enumerations, as gdb's ptype has it
 *
 * Source: GDB, gdb/c-typeprint.c, for the order of things and their words.
 */
#include <dwarf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "replayer/expressions/dies.h"
#include "replayer/expressions/type_writing.h"

/* ------- entries ------- */

static bool has(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	bool is = true;

	if (!dwarf_attr_integrate(die, name, &attribute))
		return false;
	return dwarf_formflag(&attribute, &is) || is;
}

static uint64_t number_of(Dwarf_Die *die, unsigned name, uint64_t otherwise)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	return dwarf_attr_integrate(die, name, &attribute) &&
			       !dwarf_formudata(&attribute, &value) ?
		       value : otherwise;
}

/* Those of a class are private, unless it says otherwise. */
static unsigned usual_access(const struct type *type)
{
	Dwarf_Die die = type->die;

	return dwarf_tag(&die) == DW_TAG_class_type ? DW_ACCESS_private :
						      DW_ACCESS_public;
}

static unsigned access_of(const struct type *type, Dwarf_Die *member)
{
	return (unsigned)number_of(member, DW_AT_accessibility,
				   usual_access(type));
}

enum kind { OTHER, BASE, TABLE, FIELD, MADE, METHOD, TYPEDEF };

/* What compilers add is not shown. */
static enum kind kind_of(Dwarf_Die *member)
{
	const char *name = dwarf_diename(member);

	switch (dwarf_tag(member)) {
	case DW_TAG_inheritance:
		return BASE;
	case DW_TAG_member:
	case DW_TAG_variable:
		return name && !strncmp(name, "_vptr.", 6) ? TABLE : FIELD;
	case DW_TAG_subprogram:
		return name && !has(member, DW_AT_artificial) ? METHOD : MADE;
	case DW_TAG_typedef:
		return TYPEDEF;
	default:
		return OTHER;
	}
}

/* ------- a class ------- */

struct body {
	const struct type_writing *to;
	struct type *type;
	unsigned access;	/* of the member before */
	bool any;		/* bases; then members, of whatever kind */
};

static void indent(const struct body *body, unsigned more)
{
	fprintf(body->to->out, "%*s", (int)(body->to->level + more), "");
}

static const char *access_word(unsigned access)
{
	return access == DW_ACCESS_private ? "private" :
	       access == DW_ACCESS_protected ? "protected" : "public";
}

static void begin_line(struct body *body, Dwarf_Die *member)
{
	unsigned access = access_of(body->type, member);

	if (access != body->access) {
		indent(body, 2);
		fprintf(body->to->out, "%s:\n", access_word(access));
		body->access = access;
	}
	indent(body, 4);
}

static void declare(const struct body *body, struct type *type,
		    enum type_show show, const char *name)
{
	const struct type_writing to = {
		.out = body->to->out, .show = show,
		.level = body->to->level + 4,
	};

	type_declare(&to, type, name);
}

static void write_field(struct body *body, Dwarf_Die *member)
{
	FILE *out = body->to->out;
	struct type *type = type_of_entry(body->type->types, member);
	uint64_t bits = number_of(member, DW_AT_bit_size, 0);
	const char *name = dwarf_diename(member);

	if (!type)
		return;
	begin_line(body, member);
	if (has(member, DW_AT_external) || has(member, DW_AT_declaration))
		fputs("static ", out);
	declare(body, type, body->to->show == SHOW_MEMBERS ? SHOW_NAMELESS :
							     SHOW_NAMES,
		name ? name : "");
	if (bits)
		fprintf(out, " : %" PRIu64, bits);
	fputs(";\n", out);
}

/* ------- methods ------- */

static bool is_constructor(const struct type *type, const char *name)
{
	Dwarf_Die die = type->die;
	const char *of = dwarf_diename(&die);
	size_t size = of ? strcspn(of, "<") : 0;

	return size && (*name == '~' || (!strncmp(of, name, size) &&
					 strcspn(name, "<") == size));
}

static bool is_conversion(const char *name)
{
	return !strncmp(name, "operator ", 9) && strcmp(name, "operator new") &&
	       strcmp(name, "operator delete") &&
	       strcmp(name, "operator new []") &&
	       strcmp(name, "operator delete []");
}

/* What `this` points to; NULL: there is none. */
static struct type *this_of(struct body *body, Dwarf_Die *method)
{
	Dwarf_Attribute attribute;
	Dwarf_Die parameter;
	struct type *type;

	if (!dwarf_attr(method, DW_AT_object_pointer, &attribute) ||
	    !dwarf_formref_die(&attribute, &parameter))
		return NULL;
	type = type_of_entry(body->type->types, &parameter);
	return type && type->kind == TYPE_POINTER ? type_target(type) : NULL;
}

static void write_arguments(struct body *body, Dwarf_Die *method)
{
	FILE *out = body->to->out;
	const char *between = "";
	Dwarf_Die child;
	struct type *type;

	fputc('(', out);
	if (dwarf_child(method, &child))
		goto end;
	do {
		if (dwarf_tag(&child) == DW_TAG_unspecified_parameters) {
			fprintf(out, "%s...", between);
			between = ", ";
		}
		if (dwarf_tag(&child) != DW_TAG_formal_parameter ||
		    has(&child, DW_AT_artificial))
			continue;
		type = type_of_entry(body->type->types, &child);
		if (!type)
			continue;
		fputs(between, out);
		declare(body, type, SHOW_NAMELESS, "");
		between = ", ";
	} while (!die_sibling(&child, &child));
end:
	fputs(*between ? ")" : "void)", out);
}

/* "const Square" before "Square" is what a const method has. */
static void write_qualifiers(struct body *body, Dwarf_Die *method)
{
	struct type *of = this_of(body, method);
	char *text = of ? type_to_text(of) : NULL;

	for (char *at = text; at;) {
		if (!strncmp(at, "const ", 6))
			fputs(" const", body->to->out);
		else if (!strncmp(at, "volatile ", 9))
			fputs(" volatile", body->to->out);
		else
			break;
		at = strchr(at, ' ') + 1;
	}
	free(text);
}

static void write_method(struct body *body, Dwarf_Die *method)
{
	FILE *out = body->to->out;
	const char *name = dwarf_diename(method);
	struct type *type = type_of_entry(body->type->types, method);

	begin_line(body, method);
	if (dwarf_hasattr(method, DW_AT_vtable_elem_location))
		fputs("virtual ", out);
	else if (!this_of(body, method))
		fputs("static ", out);
	if (type && !is_constructor(body->type, name) && !is_conversion(name)) {
		declare(body, type, SHOW_NAMES, "");
		fputc(' ', out);
	}
	fputs(name, out);
	write_arguments(body, method);
	write_qualifiers(body, method);
	fputs(";\n", out);
}

/* ------- all members ------- */

static void each(struct body *body, enum kind kind,
		 void (*visit)(struct body *body, Dwarf_Die *member))
{
	Dwarf_Die child;

	if (dwarf_child(&body->type->die, &child))
		return;
	do
		if (kind_of(&child) == kind)
			visit(body, &child);
	while (!die_sibling(&child, &child));
}

/* Methods of one name stand together, where the first one does. */
static void write_methods(struct body *body, Dwarf_Die *first)
{
	const char *name = dwarf_diename(first);
	bool is_behind = false;
	Dwarf_Die child;

	if (dwarf_child(&body->type->die, &child))
		return;
	do {
		if (kind_of(&child) != METHOD ||
		    strcmp(dwarf_diename(&child), name))
			continue;
		is_behind |= child.addr == first->addr;
		if (!is_behind)
			return;	/* this is none of the firsts */
		write_method(body, &child);
	} while (!die_sibling(&child, &child));
}

static void write_typedef(struct body *body, Dwarf_Die *member)
{
	struct type *type = type_of_entry(body->type->types, member);
	const char *name = dwarf_diename(member);

	begin_line(body, member);
	fputs("typedef ", body->to->out);
	if (type && name)
		declare(body, type, SHOW_NAMELESS, name);
	fputs(";\n", body->to->out);
}

static void note_any(struct body *body, Dwarf_Die *member)
{
	(void)member;
	body->any = true;
}

static void write_base(struct body *body, Dwarf_Die *base)
{
	struct type *type = type_of_entry(body->type->types, base);

	fprintf(body->to->out, "%s %s%s ", body->any ? "," : ":",
		access_word(access_of(body->type, base)),
		number_of(base, DW_AT_virtuality, DW_VIRTUALITY_none) !=
			DW_VIRTUALITY_none ? " virtual" : "");
	if (type)
		type_write(body->to->out, type);
	body->any = true;
}

static const char *tag_word(int tag)
{
	switch (tag) {
	case DW_TAG_class_type:
		return "class ";
	case DW_TAG_union_type:
		return "union ";
	case DW_TAG_enumeration_type:
		return "enum ";
	default:
		return "struct ";
	}
}

static void write_tag(const struct type_writing *to, struct type *type)
{
	Dwarf_Die die = type->die;

	fputs(tag_word(dwarf_tag(&die)), to->out);
	if (type->kind == TYPE_ENUM && type->language == LANGUAGE_CXX &&
	    has(&die, DW_AT_enum_class))
		fputs("class ", to->out);
	if (dwarf_diename(&die)) {
		type_write_name(to->out, type, &die);
		fputc(' ', to->out);
	}
}

static void write_members(struct body *body)
{
	each(body, FIELD, write_field);
	each(body, METHOD, write_methods);
	each(body, TYPEDEF, write_typedef);
}

static void write_class(const struct type_writing *to, struct type *type)
{
	struct body body = {
		.to = to, .type = type, .access = usual_access(type),
	};

	each(&body, BASE, write_base);
	fputs(body.any ? " {\n" : "{\n", to->out);
	body.any = false;
	for (enum kind kind = FIELD; kind <= TYPEDEF; kind++)
		each(&body, kind, note_any);
	write_members(&body);
	if (!body.any) {
		indent(&body, 4);
		fputs(has(&type->die, DW_AT_declaration) ?
			      "<incomplete type>\n" : "<no data fields>\n",
		      to->out);
	}
	indent(&body, 0);
	fputc('}', to->out);
}

/* ------- an enumeration ------- */

static bool take_value(Dwarf_Die *enumerator, int64_t *out)
{
	Dwarf_Attribute attribute;
	Dwarf_Sword value;

	if (!dwarf_attr(enumerator, DW_AT_const_value, &attribute) ||
	    dwarf_formsdata(&attribute, &value))
		return false;
	*out = value;
	return true;
}

/* Values are there where they are not one more than that before. */
static void write_enumerators(FILE *out, struct type *type, bool is_scope)
{
	const char *between = "", *name;
	int64_t next = 0, value;
	Dwarf_Die die = type->die, child;

	if (dwarf_child(&die, &child))
		return;
	do {
		if (dwarf_tag(&child) != DW_TAG_enumerator)
			continue;
		fputs(between, out);
		if (is_scope) {
			type_write_name(out, type, &die);
			fputs("::", out);
		}
		name = dwarf_diename(&child);
		fputs(name ? name : "?", out);
		between = ", ";
		if (take_value(&child, &value) && value != next) {
			fprintf(out, " = %" PRId64, value);
			next = value;
		}
		next = (int64_t)((uint64_t)next + 1);
	} while (!die_sibling(&child, &child));
}

static void write_enumeration(const struct type_writing *to, struct type *type)
{
	Dwarf_Die die = type->die;
	struct type *numbers = dwarf_hasattr(&die, DW_AT_type) ?
				       type_of_entry(type->types, &die) : NULL;

	if (numbers && type->language == LANGUAGE_CXX) {
		fputs(": ", to->out);
		type_write(to->out, numbers);
		fputc(' ', to->out);
	}
	fputc('{', to->out);
	write_enumerators(to->out, type, has(&die, DW_AT_enum_class));
	fputc('}', to->out);
}

/* What makes sense is in fewer others; what does not, may be in itself. */
#define LEVEL_MOST 64u

void type_write_body(const struct type_writing *to, struct type *type)
{
	write_tag(to, type);
	if (to->level > LEVEL_MOST)
		fputs("{...}", to->out);
	else if (type->kind == TYPE_ENUM)
		write_enumeration(to, type);
	else
		write_class(to, type);
}
