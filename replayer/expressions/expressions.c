/* SPDX-License-Identifier: GPL-2.0-or-later */
/* expressions.c - see expressions.h */
#include "replayer/expressions/expressions.h"

#include <ctype.h>
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/expressions/complete.h"
#include "replayer/expressions/data_names.h"
#include "replayer/expressions/evaluate.h"
#include "replayer/expressions/expressions_internal.h"
#include "replayer/expressions/operations.h"
#include "replayer/expressions/locations.h"
#include "replayer/expressions/resolve.h"
#include "replayer/expressions/show.h"
#include "replayer/session/session.h"
#include "replayer/symbols/symbols.h"

/* ------- what types ask ------- */

static bool define(void *context, Dwarf_Die *die)
{
	return resolve_definition(context, die);
}

static bool qualify(void *context, Dwarf_Die *die, char *text, size_t room)
{
	return resolve_qualified(context, die, text, room);
}

/* How long an array is may be an expression, or stand in a variable. */
static bool compute(void *context, Dwarf_Attribute *attribute, uint64_t *out)
{
	struct failure ignored;
	struct value value;
	struct location location;
	struct location_value computed;
	int64_t number;
	Dwarf_Die die;

	if (!location_value_of(context, attribute, NULL, &computed,
			       &ignored)) {
		*out = computed.bits;
		return true;
	}
	if (!dwarf_formref_die(attribute, &die) ||
	    location_of(context, &die, 8, &location, &ignored) ||
	    location.is_absent)
		return false;
	value = (struct value) {
		.type = type_by_words(&((struct context *)context)->types,
				      "long"),
		.has_addr = location.has_addr, .addr = location.addr,
		.bytes = location.has_addr ? NULL : location.bytes,
	};
	if (!value.type || value_integer(context, &value, &number, &ignored))
		return false;
	*out = (uint64_t)number;
	return true;
}

void expressions_frame_option(struct expressions *expressions,
			      const char *text)
{
	expressions->context.frame_option = text;
}

int expressions_create(struct expressions **out, struct lines *lines,
		       struct query *query, struct failure *why)
{
	struct context *context;

	*out = calloc(1, sizeof(**out));
	if (!*out)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	context = &(*out)->context;
	context_init(context, lines, query,
		     names_recording(lines_names(lines)));
	context->types.define = define;
	context->types.qualify = qualify;
	context->types.compute = compute;
	context->types.context = context;
	context->types.word = reg_word(recording_reg_table(context->recording));
	context->types.aligns_to_words =
		recording_reg_table(context->recording)->arch == ARCH_I386;
	return 0;
}

void expressions_destroy(struct expressions *expressions)
{
	if (!expressions)
		return;
	signatures_release(&expressions->signatures);
	context_release(&expressions->context);
	free(expressions);
}

void expressions_show(struct expressions *expressions,
		      const struct expressions_shown *shown)
{
	expressions->context.is_raw = shown->is_raw;
	expressions->context.elements = shown->elements;
}

struct lines *expressions_lines(const struct expressions *expressions)
{
	return expressions->context.lines;
}

struct query *expressions_query(const struct expressions *expressions)
{
	return expressions->context.query;
}

void expression_release(struct expression *expression)
{
	free(expression->type);
	free(expression->value);
	free(expression->no_value);
	free(expression->bytes);
	*expression = (struct expression) { 0 };
}

/* ------- where it is declared ------- */

bool expressions_source(struct expressions *expressions,
			const struct position *at, uint64_t addr,
			const char **file, unsigned *line)
{
	const struct expression_place place = { .at = *at };
	struct context *context = &expressions->context;
	struct failure ignored;
	Dwarf_Die die;
	int number;

	if (context_set(context, &place, &ignored) ||
	    !context_variable_at(context, addr, &die))
		return false;
	*file = dwarf_decl_file(&die);
	if (!*file || dwarf_decl_line(&die, &number) || number <= 0) {
		*file = NULL;
		return false;
	}
	*line = (unsigned)number;
	return true;
}

bool expressions_name(struct expressions *expressions,
		      const struct position *at, uint64_t addr, char *text,
		      size_t room)
{
	const struct expression_place place = { .at = *at };
	struct names *names = lines_names(expressions->context.lines);
	struct failure ignored;

	/* Most memory has no name; debugging information is not read then. */
	return names_of(names, at->time, addr, text, room) &&
	       !context_set(&expressions->context, &place, &ignored) &&
	       data_name(&expressions->context, addr, text, room);
}

void expressions_complete(struct expressions *expressions,
			  const struct position *at, const char *typed,
			  void (*visit)(void *opaque, const char *text),
			  void *opaque)
{
	const struct expression_place place = { .at = *at };
	struct failure ignored;

	if (!context_set(&expressions->context, &place, &ignored))
		complete(&expressions->context, typed, visit, opaque);
}

/* ------- as text ------- */

static char *value_text(struct context *context, struct value *value,
			char format, char **no_value)
{
	struct failure why = { "" };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int rc;

	if (!out)
		return NULL;
	rc = show(context, value, format, out, &why);
	if (fclose(out) || rc) {
		free(text);
		*no_value = strdup(why.text);
		return NULL;
	}
	return text;
}

/* Bits of a structure are as a variable of their type would hold them. */
static uint8_t *copy_bytes(const struct value *value)
{
	size_t size = (size_t)value->type->size;
	uint8_t *bytes;
	__int128 bits;

	if (value->type->size > VALUE_MOST)
		return NULL;
	bytes = calloc(1, size + sizeof(bits));
	if (bytes && value->bit_size) {
		bits = value_bits(value);
		memcpy(bytes, &bits, size < sizeof(bits) ? size :
							   sizeof(bits));
	} else if (bytes) {
		memcpy(bytes, value->bytes, size);
	}
	return bytes;
}

static int describe(struct context *context, struct value *value, char format,
		    struct expression *out, struct failure *why)
{
	out->has_addr = value->has_addr && !value->bit_size;
	out->addr = value->addr;
	out->reg = value->reg;
	if (value->bit_size && value->has_addr) {
		out->bit_offset = value->bit_offset;
		out->bit_size = value->bit_size;
		out->is_signed = value->type->is_signed;
	}
	out->is_code = value->type->kind == TYPE_FUNCTION;
	out->size = out->is_code ? 0 : value->type->size;
	out->type = type_to_text(value->type);
	out->value = value_text(context, value, format, &out->no_value);
	if (!out->has_addr && value->bytes && !value->is_absent)
		out->bytes = copy_bytes(value);
	if (!out->type || (!out->value && !out->no_value))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	return 0;
}

/*
 * "&x" is a pointer.  Where it is not to be shown as such, or would say nothing,
 * what is there is meant.
 */
static int follow_address(struct context *context, const char *text,
			  const struct expression_question *question,
			  struct value *value, struct failure *why)
{
	struct type *target = value->type->kind == TYPE_POINTER ?
		type_target(value->type) : NULL;

	if (*text != '&' || value->has_addr || !target ||
	    (!question->is_raw && !question->size &&
	     target->kind != TYPE_UNKNOWN))
		return 0;
	return value_follow(context, value, value, why);
}

/* ------- numbers and offsets ------- */

/* "NAME+8", "&NAME-0x10" */
const char *expression_offset(const char *text)
{
	const char *sign = text + strlen(text);
	struct address_text address;
	const char *wrong;

	while (sign > text && sign[-1] != '+' && sign[-1] != '-')
		sign--;
	/* A '-' may be in the name of a library. */
	if (sign == text || strchr(sign, '!'))
		return NULL;
	for (const char *at = text; at < sign - 1; at++)
		if (strchr("*([@$'", *at) || (*at == '-' && at[1] == '>') ||
		    isspace((unsigned char)*at) ||
		    (*at == '.' && !strchr(text, '!') &&
		     !strchr(text, ':')))
			return NULL;
	if (!number_parse_address(text, &address, &wrong) || !address.symbol)
		return NULL;
	return sign - 1;
}

/* The address of what is named, and so many bytes. */
static int add_offset(struct context *context, const char *text,
		      const char *sign, struct value *out, struct failure *why)
{
	struct address_text address;
	struct value pointer;
	const char *wrong;
	int64_t base;
	char *name;
	int rc;

	name = strndup(text + (*text == '&'), (size_t)(sign - text) -
					      (*text == '&'));
	if (!name)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = evaluate(context, name, out, why);
	free(name);
	if (!rc)
		rc = value_address(context, out, &pointer, why);
	if (!rc)
		rc = value_integer(context, &pointer, &base, why);
	if (rc)
		return rc;
	number_parse_address(text, &address, &wrong);
	*out = (struct value) { .has_addr = true };
	if (!number_add_offset(&address, (uint64_t)base, &out->addr))
		return failed(why, ERR_INPUT, "cannot answer for '%s': there is"
			      " no such address", text);
	return 0;
}

/* ------- bytes as numbers ------- */

/* What `size` bytes are, if nothing says so. */
static struct type *number_type(struct types *types, uint64_t size,
				char format)
{
	struct type *element;

	if (format == 's' || format == 'c')
		return type_array(types, type_by_words(types, "char"), size);
	switch (size) {
	case 1:
		element = type_by_words(types, "unsigned char");
		if (element)
			element->is_char = false;
		return element;
	case 2:
		return type_by_words(types, "unsigned short");
	case 4:
		return type_by_words(types, format == 'f' ? "float" :
							    "unsigned int");
	case 8:
		return type_by_words(types, format == 'f' ? "double" :
							    "unsigned long");
	}
	element = size % 8 ? number_type(types, 1, format) :
			     number_type(types, 8, format);
	return element ? type_array(types, element, size / element->size) :
			 NULL;
}

/* Up to the zero that ends it, as "x/s" of gdb. */
static int show_string(struct context *context, uint64_t addr,
		       struct expression *out, struct failure *why)
{
	struct types *types = &context->types;
	struct value pointer;
	int rc = value_of_integer(context, &pointer,
				  type_pointer(types,
					       type_by_words(types, "char")),
				  addr, why);

	return rc ? rc : describe(context, &pointer, 0, out, why);
}

/* How many bytes a number has in what is asked for; 0: nobody says. */
static uint64_t unit_of(const struct value *value)
{
	struct type *type = value->type;

	while (type && type->kind == TYPE_ARRAY)
		type = type->target;
	return type && type_is_scalar(type) && type->size <= 8 ? type->size :
								 0;
}

static struct type *numbers_type(struct types *types, const struct value *value,
				 uint64_t size, char format)
{
	uint64_t unit = unit_of(value);
	struct type *element;

	if (!unit || size <= unit || size % unit)
		return number_type(types, size, format);
	element = number_type(types, unit, format);
	return element ? type_array(types, element, size / unit) : NULL;
}

static int show_numbers(struct context *context, struct value *value,
			const struct expression_question *question,
			struct expression *out, struct failure *why)
{
	struct value numbers = {
		.type = numbers_type(&context->types, value,
				     question->size ? question->size : 8,
				     question->format),
		.has_addr = true, .addr = value->addr,
	};

	if (!numbers.type)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	if (question->format == 's' && !question->size)
		return show_string(context, value->addr, out, why);
	return describe(context, &numbers, question->format, out, why);
}

/* ------- answers ------- */

/* Of a name, what is wrong with it is all. */
int expression_explain(const char *text, int rc, struct failure *why)
{
	struct failure inner = *why;

	if (strstr(inner.text, text))
		return rc;
	return failed(why, rc, "cannot evaluate '%.80s%s': %.290s", text,
		      strlen(text) > 80 ? "..." : "", inner.text);
}

/* A number by itself is an address. */
static bool find_number(const char *text, struct value *out)
{
	struct address_text number;
	const char *wrong;

	if (!number_parse_address(text, &number, &wrong) || number.symbol)
		return false;
	*out = (struct value) { .has_addr = true, .type = NULL };
	number_add_offset(&number, number.number, &out->addr);
	return true;
}

int expressions_find(struct expressions *expressions,
		     const struct expression_question *question,
		     struct expression *out, struct failure *why)
{
	struct context *context = &expressions->context;
	const char *text = question->text;
	const char *sign = question->is_value ? NULL : expression_offset(text);
	struct value value;
	bool is_plain = !question->is_value && find_number(text, &value);
	int rc = 0;

	*out = (struct expression) { 0 };
	/* To read debugging information takes longer than all the rest. */
	if (!is_plain || question->format || question->place.frame)
		rc = context_set(context, &question->place, why);
	if (rc)
		return rc;
	*why = (struct failure) { "" };
	if (!is_plain && sign) {
		rc = add_offset(context, text, sign, &value, why);
	} else if (!is_plain) {
		context->no_frame = question->no_frame;
		context->only_begun = question->only_begun;
		rc = evaluate(context, text, &value, why);
		context->no_frame = context->only_begun = false;
		context->has_frame &= !question->no_frame;
		if (!rc)
			rc = follow_address(context, text, question, &value,
					    why);
	}
	if (rc)
		return expression_explain(text, rc, why);
	if (is_plain || sign || (question->size && value.has_addr)) {
		rc = question->format ? show_numbers(context, &value, question,
						     out, why) : 0;
		out->has_addr = true;
		out->addr = value.addr;
		return rc;
	}
	return describe(context, &value, question->format, out, why);
}

/* ------- types ------- */

/* What a typedef is for, as far as the next name; else the type itself. */
static struct type *type_behind(struct type *type)
{
	struct type *behind;

	if (!type->has_die || dwarf_tag(&type->written) != DW_TAG_typedef)
		return type;
	behind = type_of_entry(type->types, &type->written);
	return behind ? behind : type;
}

/* Names mean variables first, and their values do not matter. */
static int find_type(struct context *context, const char *text, bool whole,
		     struct type **out, struct failure *why)
{
	struct type *type;
	struct value value;
	int rc;

	context->only_types = true;
	rc = evaluate(context, text, &value, why);
	context->only_types = false;
	*out = rc ? NULL : value.type;
	if (*out && (*out)->kind != TYPE_FUNCTION)
		return 0;
	/* A constructor is called as its class. */
	type = resolve_type(context, text);
	if (!type)
		return rc ? expression_explain(text, rc, why) : 0;
	*out = whole ? type : type_behind(type);
	return 0;
}

int expressions_type(struct expressions *expressions,
		     const struct expression_question *question, bool whole,
		     char **out, struct failure *why)
{
	struct context *context = &expressions->context;
	struct type *type;
	int rc = context_set(context, &question->place, why);

	if (!rc)
		rc = find_type(context, question->text, whole, &type, why);
	if (rc)
		return rc;
	if (type->kind == TYPE_UNKNOWN)
		return failed(why, ERR_NOT_FOUND, "the type of '%.80s' is not"
			      " known", question->text);
	*out = whole ? type_to_whole_text(type) : type_to_text(type);
	return *out ? 0 : failed(why, ERR_NO_MEMORY, "out of memory");
}

/* ------- parts ------- */

/* What is asked for, or what is at its address. */
static bool find_whole(struct context *context,
		       const struct expression_question *question,
		       uint64_t addr, struct value *out)
{
	struct failure ignored;
	Dwarf_Die die;

	if (!find_number(question->text, out) && !expression_offset(question->text))
		return !evaluate(context, question->text, out, &ignored) &&
		       !follow_address(context, question->text, question, out,
				       &ignored);
	return context_variable_at(context, addr, &die) &&
	       !value_of_variable(context, &die, out, &ignored);
}

bool expressions_show_part(struct expressions *expressions,
			   const struct expression_question *question,
			   const struct part_bytes *part, char **type,
			   char **value)
{
	struct context *context = &expressions->context;
	struct value whole, shown = { .has_addr = true, .addr = part->addr };
	struct failure ignored;
	char *no_value = NULL;

	if (context_set(context, &question->place, &ignored) ||
	    !find_whole(context, question, part->addr, &whole) ||
	    !whole.has_addr || part->addr < whole.addr)
		return false;
	shown.type = data_part(context, whole.type, part->addr - whole.addr,
			       part->size);
	if (!shown.type)
		return false;
	shown.bytes = (uint8_t *)part->bytes;
	*type = type_to_text(shown.type);
	*value = value_text(context, &shown, 0, &no_value);
	free(no_value);
	if (*type && *value)
		return true;
	free(*type);
	free(*value);
	return false;
}

void expressions_operands(struct expressions *expressions, const char *text,
			  const struct expression_question *question,
			  void (*visit)(void *context, const char *text,
					size_t size),
			  void *opaque)
{
	struct context *context = &expressions->context;
	struct failure ignored;

	if (context_set(context, &question->place, &ignored))
		return;
	context->no_frame = question->no_frame;
	evaluate_operands(context, text, visit, opaque);
	context->no_frame = false;
	context->has_frame &= !question->no_frame;
}

/* ------- registers ------- */

_Static_assert(FRAME_REGISTERS_MOST == REGS_MOST, "all registers have room");

int expressions_registers(struct expressions *expressions,
			  const struct expression_place *place,
			  struct frame_registers *out, struct failure *why)
{
	struct context *context = &expressions->context;
	const struct reg_file *file;
	int rc = context_set(context, place, why);

	if (!rc)
		rc = context_registers(context, &file, why);
	if (rc)
		return rc;
	out->file = *file;
	memcpy(out->is_lost, context->is_lost, sizeof(out->is_lost));
	out->code = context->code;
	return 0;
}
