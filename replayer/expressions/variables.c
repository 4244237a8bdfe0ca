/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * variables.c - arguments and local variables of a frame
 *
 * Source: how gdb 13 lists them ("info args", "info locals").
 */
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/expressions/expressions_internal.h"
#include "replayer/expressions/locations.h"
#include "replayer/expressions/show.h"

/* Of one block: more would be made up by a damaged file. */
#define ENTRIES_MOST 10000u

#define DEPTH_MOST 32u		/* of blocks in blocks */

struct listing {
	struct context *context;
	const struct variables_question *question;
	int tag;		/* of what is listed now */
	unsigned depth;
	struct failure *why;
};

/* ------- one variable ------- */

static bool is_scalar(struct type *type)
{
	while (type->kind == TYPE_REFERENCE)
		type = type_target(type);
	return !type_is_class(type) && type->kind != TYPE_ARRAY;
}

/* A variable without a value is no failure of the list. */
static char *reason_text(const struct listing *listing,
			 const struct failure *reason)
{
	char *text;

	if (listing->context->asked_lost)
		return strdup("<not saved>");
	return asprintf(&text, "<error reading variable: %s>",
			reason->text) < 0 ? NULL : text;
}

typedef int show_variable(struct context *context, struct value *value,
			  FILE *out, struct failure *why);

static char *value_text(const struct listing *listing, Dwarf_Die *die,
			struct value *value, show_variable *show_it)
{
	struct context *context = listing->context;
	struct failure reason = { "" };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool has_none;

	if (!out)
		return NULL;
	context->asked_lost = false;
	context->members = 0;
	has_none = value_of_variable(context, die, value, &reason) ||
		   show_it(context, value, out, &reason);
	if (!fclose(out) && !has_none)
		return text;
	free(text);
	return has_none ? reason_text(listing, &reason) : NULL;
}

/* What an argument was when the function was called; NULL: nobody tells. */
static char *entry_text(const struct listing *listing, Dwarf_Die *die,
			struct type *type)
{
	struct context *context = listing->context;
	struct failure ignored;
	struct location_value found;
	struct value value = { .type = type };
	char *text = NULL;
	size_t size;
	FILE *out;
	bool has_none;

	/* Of what a reference refers to, callers would have to tell, too. */
	if (!type || type->kind == TYPE_REFERENCE || !type->size ||
	    type->size > sizeof(found.bits) ||
	    location_at_entry(context, die, &found, &ignored))
		return NULL;
	value.bytes = context_take(context, (size_t)type->size + 32);
	out = value.bytes ? open_memstream(&text, &size) : NULL;
	if (!out)
		return NULL;
	memcpy(value.bytes, &found.bits, (size_t)type->size);
	has_none = show_listed(context, &value, out, &ignored);
	if (!fclose(out) && !has_none)
		return text;
	free(text);
	return NULL;
}

static int list_variable(const struct listing *listing, Dwarf_Die *die,
			 const char *name)
{
	const struct variables_question *question = listing->question;
	struct value value = { 0 };
	char *text = value_text(listing, die, &value, show_listed);
	char *type = value.type ? type_to_text(value.type) : NULL;
	bool is_argument = listing->tag == DW_TAG_formal_parameter;
	char *entry = is_argument ? entry_text(listing, die, value.type) :
				    NULL;
	bool has_parts = value.type && !is_scalar(value.type);
	char *brief = has_parts ? value_text(listing, die, &value, show_brief) :
				  NULL;
	const struct variable variable = {
		.name = name, .type = type, .value = text, .entry = entry,
		.brief = has_parts ? brief : text,
		.is_argument = is_argument,
		.is_scalar = !has_parts,
	};
	int rc = text && variable.brief && (type || !value.type) ?
		question->visit(question->context, &variable) :
		failed(listing->why, ERR_NO_MEMORY, "out of memory");

	free(text);
	free(brief);
	free(type);
	free(entry);
	return rc;
}

/* ------- a block ------- */

static bool is_listed(const struct listing *listing, Dwarf_Die *die)
{
	return dwarf_tag(die) == listing->tag &&
	       !dwarf_hasattr(die, DW_AT_declaration);
}

/* The entry that says what this one is, where code was inlined or copied. */
static bool find_origin(Dwarf_Die *die, Dwarf_Die *out)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, DW_AT_abstract_origin, &attribute) &&
	       dwarf_formref_die(&attribute, out);
}

static bool is_copied(Dwarf_Die *block, Dwarf_Die *abstract)
{
	Dwarf_Die die, origin;
	unsigned count = 0;

	if (dwarf_child(block, &die))
		return false;
	do {
		if (find_origin(&die, &origin) &&
		    origin.addr == abstract->addr)
			return true;
	} while (count++ < ENTRIES_MOST && !die_sibling(&die, &die));
	return false;
}

static int list_block(struct listing *listing, const Dwarf_Die *scope);

/* A block of which no code was left: nobody is in it, nor outside of it. */
static bool is_without_code(Dwarf_Die *die)
{
	return dwarf_tag(die) == DW_TAG_lexical_block &&
	       !dwarf_hasattr(die, DW_AT_low_pc) &&
	       !dwarf_hasattr(die, DW_AT_ranges);
}

static int list_entry(struct listing *listing, Dwarf_Die *die)
{
	const char *name = is_listed(listing, die) ? dwarf_diename(die) : NULL;
	int rc;

	if (name)
		return list_variable(listing, die, name);
	if (!is_without_code(die) || listing->depth == DEPTH_MOST ||
	    listing->tag != DW_TAG_variable)
		return 0;
	listing->depth++;
	rc = list_block(listing, die);
	listing->depth--;
	return rc;
}

/* With `of`: only those that have no copy in that block. */
static int list_entries(struct listing *listing, Dwarf_Die *block,
			Dwarf_Die *of)
{
	unsigned count = 0;
	Dwarf_Die die;
	int rc = 0;

	if (dwarf_child(block, &die))
		return 0;
	do {
		if (!of || !is_copied(of, &die))
			rc = list_entry(listing, &die);
	} while (!rc && count++ < ENTRIES_MOST && !die_sibling(&die, &die));
	return rc;
}

/* What was optimized out may not even be in the copy. */
static int list_block(struct listing *listing, const Dwarf_Die *scope)
{
	Dwarf_Die block = *scope, origin;
	int rc = list_entries(listing, &block, NULL);

	if (!rc && find_origin(&block, &origin))
		rc = list_entries(listing, &origin, &block);
	return rc;
}

/* ------- a frame ------- */

static bool is_function(const Dwarf_Die *scope)
{
	return dwarf_tag((Dwarf_Die *)scope) != DW_TAG_lexical_block;
}

static int list_frame(struct listing *listing, const struct code_frame *frame)
{
	size_t function = frame->count - 1;
	int rc;

	while (function && !is_function(&frame->scopes[function]))
		function--;
	listing->tag = DW_TAG_formal_parameter;
	rc = list_block(listing, &frame->scopes[function]);
	listing->tag = DW_TAG_variable;
	for (size_t i = frame->count;
	     listing->question->locals && !rc && i-- > function;)
		rc = list_block(listing, &frame->scopes[i]);
	return rc;
}

int expressions_variables(struct expressions *expressions,
			  const struct variables_question *question,
			  bool *is_known, struct failure *why)
{
	struct listing listing = {
		.context = &expressions->context,
		.question = question,
		.why = why,
	};
	const struct code_frame *frame;
	int rc = context_enter(listing.context, &question->place,
			       question->frame, why);

	*is_known = false;
	if (!rc)
		rc = context_frame(listing.context, &frame, why);
	if (rc || !frame->is_known || !frame->count)
		return rc;
	*is_known = true;
	return list_frame(&listing, frame);
}
