/* SPDX-License-Identifier: GPL-2.0-or-later */
/* signatures.c - see signatures.h */
#include "replayer/expressions/signatures.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replayer/expressions/types.h"
#include "replayer/symbols/symbols.h"

#define TEXT_MOST 4096u
#define DEPTH_MOST 64u

/* Whether a word stands where an argument begins. */
static bool is_word(const char *at, const char *word, char before)
{
	size_t length = strlen(word);

	return before && strchr("(,<", before) && !strncmp(at, word, length) &&
	       at[length] == ' ';
}

/* Without blanks, and "const" behind what is constant: "(char const*)". */
static void unify(char *to, size_t room, const char *from)
{
	static const char word[] = "const";
	bool is_const[DEPTH_MOST] = { false };
	unsigned depth = 0;
	char before = '\0';
	size_t used = 0;

	for (; *from && used + sizeof(word) < room; from++) {
		if (is_word(from, word, before)) {
			is_const[depth] = true;
			from += strlen(word);
		}
		if (*from == ' ')
			continue;
		if (is_const[depth] && strchr("*&,)>", *from)) {
			memcpy(to + used, word, strlen(word));
			used += strlen(word);
			is_const[depth] = false;
		}
		if (strchr("(<", *from) && depth + 1 < DEPTH_MOST)
			is_const[++depth] = false;
		else if (strchr(")>", *from) && depth)
			depth--;
		before = to[used++] = *from;
	}
	to[used] = '\0';
}

/* ------- what a function takes ------- */

static bool is_artificial(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_artificial, &attribute) != NULL;
}

static void write_parameters(struct context *context, Dwarf_Die *function,
			     FILE *out)
{
	const char *before = "";
	Dwarf_Die die;

	if (dwarf_child(function, &die))
		return;
	do {
		int tag = dwarf_tag(&die);
		struct type *type = tag == DW_TAG_formal_parameter ?
			type_of_entry(&context->types, &die) : NULL;

		if (tag == DW_TAG_unspecified_parameters)
			fprintf(out, "%s...", before);
		else if (!type || is_artificial(&die))
			continue;
		else
			fputs(before, out);
		if (type)
			type_write(out, type);
		before = ", ";
	} while (!die_sibling(&die, &die));
}

/* "(const char *)" */
static void arguments_by_types(struct context *context, Dwarf_Die *function,
			       char *text, size_t room)
{
	FILE *out = fmemopen(text, room, "w");

	*text = '\0';
	if (!out)
		return;
	fputc('(', out);
	write_parameters(context, function, out);
	fputc(')', out);
	fclose(out);
	text[room - 1] = '\0';
}

/* "(char const*) const", squeezed; nothing if the linker knows no such. */
static void arguments_by_linker(Dwarf_Die *function, char *text, size_t room)
{
	const char *name = dwarf_diename(function), *last;
	char full[TEXT_MOST], plain[TEXT_MOST], own[TEXT_MOST];
	size_t length;

	*text = '\0';
	if (!name)
		return;
	demangle_into(full, sizeof(full), lines_linkage_name(function));
	unify(plain, sizeof(plain), full);
	unify(own, sizeof(own), name);
	last = name_last(plain);
	length = strlen(own);
	if (!strncmp(last, own, length) && last[length] == '(')
		snprintf(text, room, "%s", last + length);
}

/* In another language than C++, brackets behind what is wanted are a call. */
static bool takes_arguments(struct context *context,
			    const struct die_entry *entry, bool is_wanted)
{
	Dwarf_Die die = entry->die;
	struct type *type = entry->kind == DIE_FUNCTION ?
		type_of_die(&context->types, &die) : NULL;

	return type && (!is_wanted || type->language == LANGUAGE_CXX);
}

/* Whether its name alone need not tell it from others. */
static bool has_arguments(struct context *context,
			  const struct die_entry *entry)
{
	return takes_arguments(context, entry, true) &&
	       strcmp(entry->name ? entry->name : "", "main") != 0;
}

/* ------- arguments that are wanted ------- */

/* Behind the parenthesis that closes the first. */
static char *behind_arguments(char *text)
{
	unsigned depth = 0;

	for (; *text; text++) {
		depth += *text == '(';
		if (*text == ')' && !--depth)
			return text + 1;
	}
	return text;
}

static bool are_arguments(struct context *context,
			  const struct die_entry *entry, char *wanted,
			  bool *is_exact)
{
	char text[TEXT_MOST], types[TEXT_MOST];
	char *rest = behind_arguments(wanted), *end;
	Dwarf_Die die = entry->die;
	bool has_rest = *rest;

	if (!strncmp(wanted, "(void)", 6))
		memmove(wanted + 1, wanted + 5, strlen(wanted + 5) + 1);
	arguments_by_linker(&die, text, sizeof(text));
	if (!strcmp(text, wanted))
		return true;
	end = behind_arguments(text);
	if (*text && has_rest && strcmp(end, behind_arguments(wanted)) != 0)
		return false;
	*is_exact &= has_rest || !*end;
	*end = '\0';
	*behind_arguments(wanted) = '\0';
	if (!strcmp(text, wanted))
		return true;
	arguments_by_types(context, &die, types, sizeof(types));
	unify(text, sizeof(text), types);
	return !strcmp(text, wanted);
}

/* The last part of a name that is about an entry; what it takes, or "". */
static char *cut_part(char *name, const struct die_entry *entry)
{
	char own[TEXT_MOST], *last = (char *)name_last(name);
	size_t length;

	unify(own, sizeof(own), entry->name);
	length = strlen(own);
	if (last >= name + 2)
		last[-2] = '\0';
	else if (strlen(last) >= length)
		name = last;
	return !strncmp(last, own, length) && last[length] == '(' ?
		       last + length : last + strlen(last);
}

bool signature_fits(struct context *context, const struct die_index *index,
		    const struct die_entry *entry, const char *name,
		    bool *is_exact)
{
	char text[TEXT_MOST];

	*is_exact = true;
	if (!strchr(name, '('))
		return true;
	unify(text, sizeof(text), name);
	for (unsigned i = 0; i < DEPTH_MOST; i++) {
		bool is_first = name_last(text) == text;
		char *arguments = entry->name ? cut_part(text, entry) : NULL;

		if (arguments && *arguments &&
		    (!takes_arguments(context, entry, !i) ||
		     !are_arguments(context, entry, arguments, is_exact)))
			return false;
		if (entry->parent == DIE_NONE || (entry->name && is_first))
			break;
		entry = &index->list[entry->parent];
	}
	return true;
}

/* ------- as text ------- */

void signature_write(struct context *context, const struct die_index *index,
		     const struct die_entry *entry, char *text, size_t room)
{
	const struct die_entry *scope = entry;
	char arguments[TEXT_MOST];
	size_t length;

	die_qualified_name(index, entry, text, room);
	/* What is inside a function is told apart by that. */
	while (scope->kind != DIE_FUNCTION && scope->parent != DIE_NONE)
		scope = &index->list[scope->parent];
	if (scope->kind != DIE_FUNCTION || !has_arguments(context, scope))
		return;
	arguments_by_types(context, (Dwarf_Die *)&scope->die, arguments,
			   sizeof(arguments));
	if (scope == entry) {
		length = strlen(text);
		snprintf(text + length, room - length, "%s", arguments);
		return;
	}
	die_qualified_name(index, scope, text, room);
	length = strlen(text);
	snprintf(text + length, room - length, "%s::%s", arguments,
		 entry->name ? entry->name : "");
}
