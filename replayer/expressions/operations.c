/* SPDX-License-Identifier: GPL-2.0-or-later */
/* operations.c - see operations.h */
#include "replayer/expressions/operations.h"

#include <stdio.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/expressions/arithmetic.h"
#include "replayer/expressions/containers.h"
#include "replayer/expressions/members.h"
#include "replayer/recording/recording.h"

/* ------- registers ------- */

static struct type *register_type(struct types *types, enum reg_kind kind,
				  unsigned size)
{
	struct type *type;

	if (kind == REG_CODE || kind == REG_ADDRESS)
		return type_pointer(types, type_by_words(types, "void"));
	switch (size) {
	case 1:
		type = type_by_words(types, "signed char");
		if (type)
			type->is_char = false;
		return type;
	case 2:
		return type_by_words(types, "short");
	case 4:
		return type_by_words(types, "int");
	case 8:
		return type_by_words(types, "long");
	case 10:
		type = type_by_words(types, "long double");
		return type;
	}
	return type_by_words(types, "__int128");
}

/* Fails if the frame has lost any. */
static int read_registers(struct context *context,
			  const struct reg_named *named,
			  const struct reg_file **out, struct failure *why)
{
	int rc = 0;

	for (unsigned i = 0; i < named->count && !rc; i++)
		rc = context_register(context, named->reg + i, out, why);
	return rc;
}

int value_of_register(struct context *context, const char *name,
		      struct value *out, struct failure *why)
{
	const struct reg_table *table = recording_reg_table(context->recording);
	const struct reg_file *file;
	struct reg_named named;
	unsigned opaque = context->trace ? context->trace->opaque : 0;
	char shown[64];
	int rc;

	if (!reg_find(table, name, &named)) {
		context->mistake = MISTAKE_MEMBER;
		snprintf(shown, sizeof(shown), "$%s", name);
		return reg_not_found(table, shown, ERR_NOT_FOUND, why);
	}
	rc = read_registers(context, &named, &file, why);
	if (rc)
		return rc;
	*out = (struct value) {
		.type = register_type(&context->types, named.info.kind,
				      named.info.size),
		.bytes = context_take(context, 32),
	};
	if (!out->type || !out->bytes)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	memcpy(out->bytes, file->bytes + named.info.offset, named.info.size);
	/* What is computed again reads a register from its lowest byte on. */
	if (context->trace &&
	    named.info.offset == table->regs[named.reg].offset)
		context->trace->opaque = opaque;
	trace_register(context->trace, out, named.reg);
	return 0;
}

/* ------- casts ------- */

int value_cast(struct context *context, struct type *type, struct value *from,
	       struct value *out, struct failure *why)
{
	long double real;
	int64_t number;
	int rc;

	if (type->kind == TYPE_REFERENCE) {
		rc = value_address(context, from, out, why);
		out->type = type;
		return rc;
	}
	if (!type_is_scalar(type)) {	/* the same bytes, seen otherwise */
		*out = *from;
		out->type = type;
		out->bytes = NULL;
		if (!from->has_addr)
			return failed(why, ERR_INPUT,
				      "it cannot be cast to that");
		return 0;
	}
	if (from->type->kind == TYPE_UNKNOWN && from->has_addr) {
		*out = (struct value) { .type = type, .has_addr = true,
					.addr = from->addr,
					.place = from->place,
					.place_offset = from->place_offset };
		return 0;
	}
	if (type->kind == TYPE_POINTER && from->pointed) {
		*out = *from;
		out->type = type;
		return 0;
	}
	if (type->kind == TYPE_FLOAT) {
		rc = value_double(context, from, &real, why);
		if (!rc)
			rc = value_of_double(context, out, type, real, why);
	} else {
		rc = value_integer(context, from, &number, why);
		if (!rc && type->kind == TYPE_BOOL)
			number = number != 0;
		if (!rc)
			rc = value_of_integer(context, out, type,
					      (uint64_t)number, why);
	}
	if (!rc)
		trace_compute(context->trace, out, &(struct trace_step) {
			.operation = TRACE_CAST, .type = type, .left = from });
	return rc;
}

/* ------- operators ------- */

int value_address(struct context *context, const struct value *value,
		  struct value *out, struct failure *why)
{
	struct value of = *value;
	int rc = value_strip(context, &of, why);

	if (rc)
		return rc;
	if (of.is_absent)
		return failed(why, ERR_NOT_FOUND, "it was optimized out");
	if (!of.has_addr)
		return failed(why, ERR_INPUT, "it is not in memory, but in a"
			      " register or a number");
	if (of.bit_size)
		return failed(why, ERR_INPUT, "a part of a byte has no"
			      " address");
	rc = value_of_integer(context, out,
			      type_pointer(&context->types, of.type), of.addr,
			      why);
	if (!rc)
		trace_address(context->trace, out, &of);
	return rc;
}

int value_negate(struct context *context, char mark, struct value *of,
		 struct value *out, struct failure *why)
{
	struct value other;
	long double real;
	int rc;

	if (mark == '!') {
		rc = value_double(context, of, &real, why);
		if (!rc)
			rc = value_of_integer(context, out,
				type_by_words(&context->types,
					of->type->language == LANGUAGE_C ?
						"int" : "bool"),
				real == 0, why);
		if (!rc)
			trace_compute(context->trace, out,
				      &(struct trace_step) {
				.operation = TRACE_NOT, .left = of });
		return rc;
	}
	rc = value_of_integer(context, &other,
			      type_by_words(&context->types, "int"),
			      mark == '~' ? UINT64_MAX : 0, why);
	if (rc)
		return rc;
	trace_constant(context->trace, &other);
	return arithmetic(context, mark == '~' ? OPERATOR_XOR : OPERATOR_MINUS,
			  &other, of, out, why);
}

int value_index(struct context *context, struct value *of, struct value *index,
		struct value *out, struct failure *why)
{
	struct value place;
	bool is_container = false;
	int64_t at;
	int rc = value_strip(context, of, why);

	if (!rc)
		rc = container_index(context, of, index, out, &is_container,
				     why);
	if (rc || is_container)
		return rc;

	if (!rc && of->pointed && !value_integer(context, index, &at, why) &&
	    !at)
		return value_follow(context, of, out, why);
	/* An array that is not in memory. */
	if (!rc && of->type->kind == TYPE_ARRAY && !of->has_addr) {
		struct type *element = type_target(of->type);

		rc = value_integer(context, index, &at, why);
		if (!rc && (at < 0 || (uint64_t)at >= of->type->count ||
			    of->type->size > VALUE_MOST))
			rc = failed(why, ERR_INPUT, "there is no such element");
		if (rc)
			return rc;
		*out = (struct value) { .type = element,
			.is_absent = of->is_absent,
			.bytes = of->bytes ? of->bytes +
				(uint64_t)at * element->size : NULL };
		return 0;
	}
	if (!rc && of->type->kind == TYPE_UNKNOWN)
		rc = context_no_type(context, of->addr, why);
	if (!rc && of->type->kind != TYPE_POINTER &&
	    of->type->kind != TYPE_ARRAY)
		rc = value_mistake(context, "it is no pointer or array", why);
	if (!rc)
		rc = arithmetic(context, OPERATOR_PLUS, of, index, &place, why);
	return rc ? rc : value_follow(context, &place, out, why);
}
