/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * values.c - see values.h
 *
 * Source: DWARF 5, 5.7 (members).
 */
#include "replayer/expressions/values.h"

#include <dwarf.h>
#include <inttypes.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/expressions/locations.h"
#include "replayer/expressions/small_floats.h"

/* ------- members ------- */

static bool has_attribute(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, name, &attribute) != NULL;
}

static uint64_t number_of(Dwarf_Die *die, unsigned name, uint64_t otherwise)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number;

	if (!dwarf_attr(die, name, &attribute) ||
	    dwarf_formudata(&attribute, &number))
		return otherwise;
	return number;
}

/* Where a virtual base is, the object itself says. */
static int find_offset(struct member_walk *walk, struct member *member)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number;
	struct location_value place;
	int rc;

	member->offset = 0;
	if (!dwarf_attr(&member->die, DW_AT_data_member_location, &attribute))
		return 0;
	if (!dwarf_formudata(&attribute, &number)) {
		member->offset = number;
		return 0;
	}
	if (!walk->of->has_addr)
		return failed(walk->why, ERR_NOT_FOUND, "cannot tell where a"
			      " base is");
	rc = location_value_of(walk->context, &attribute, &walk->of->addr,
			       &place, walk->why);
	member->offset = place.bits - walk->of->addr;
	return rc;
}

static void find_bits(struct member *member)
{
	uint64_t size = number_of(&member->die, DW_AT_bit_size, 0);
	uint64_t at = number_of(&member->die, DW_AT_data_bit_offset, 0);
	uint64_t storage = number_of(&member->die, DW_AT_byte_size,
				     member->type->size);

	if (!size || size > 64)
		return;
	member->bit_size = (unsigned)size;
	/* DWARF 3 counts from the highest bit. */
	if (has_attribute(&member->die, DW_AT_bit_offset))
		at = member->offset * 8 + storage * 8 - size -
		     number_of(&member->die, DW_AT_bit_offset, 0);
	member->offset = at / 8;
	member->bit_offset = at % 8;
}

static int describe(struct member_walk *walk, Dwarf_Die *die, int tag,
		    struct member *out)
{
	int rc = 0;

	*out = (struct member) {
		.die = *die, .name = dwarf_diename(die),
		.type = type_of_entry(&walk->context->types, die),
		.is_base = tag == DW_TAG_inheritance,
		.is_static = tag == DW_TAG_variable ||
			     has_attribute(die, DW_AT_external),
		.is_artificial = has_attribute(die, DW_AT_artificial),
	};
	if (!out->type)
		return failed(walk->why, ERR_NO_MEMORY, "out of memory");
	if (!out->is_static)
		rc = find_offset(walk, out);
	if (!rc)
		find_bits(out);
	return rc ? rc : 1;
}

int member_next(struct member_walk *walk, struct member *out)
{
	struct type *type = walk->of->type;

	if (walk->context->members++ >= MEMBERS_MOST)
		return failed(walk->why, ERR_INPUT, "it has too many members");
	for (;;) {
		Dwarf_Die die;
		int tag;

		if (!walk->has_begun ? !type->has_die ||
				       dwarf_child(&type->die, &die) :
				       die_sibling(&walk->next, &die))
			return 0;
		walk->has_begun = true;
		walk->next = die;
		tag = dwarf_tag(&die);
		if (tag == DW_TAG_member || tag == DW_TAG_inheritance ||
		    tag == DW_TAG_variable)
			return describe(walk, &die, tag, out);
	}
}

/* A part of which nothing is known is absent; an empty one has nothing. */
static void take_known(struct value *part, const struct value *of,
		       uint64_t offset, uint64_t end)
{
	part->bytes = of->bytes + offset;
	if (!of->known)
		return;
	part->known = of->known + offset;
	if (end == offset)
		return;
	part->is_absent = !memchr(part->known, 1, (size_t)(end - offset)) ||
			  (type_is_scalar(part->type) &&
			   memchr(part->known, 0, (size_t)(end - offset)));
}

struct value value_part(const struct value *of, const struct member *member)
{
	uint64_t end = member->offset + (member->bit_size ?
			(member->bit_offset + member->bit_size + 7) / 8 :
			member->type->size);
	struct value part = {
		.type = member->type, .has_addr = of->has_addr,
		.addr = of->addr + member->offset,
		.bit_offset = member->bit_offset, .bit_size = member->bit_size,
		.is_absent = of->is_absent, .place = of->place,
		.place_offset = of->place_offset + member->offset,
	};

	/* A part that lies outside of the whole is read by itself. */
	if (of->bytes && member->offset <= of->type->size &&
	    end <= of->type->size && end >= member->offset)
		take_known(&part, of, member->offset, end);
	else if (!of->has_addr)
		part.is_absent = true;
	return part;
}

/* ------- variables ------- */

int value_of_variable(struct context *context, Dwarf_Die *die,
		      struct value *out, struct failure *why)
{
	struct location location;
	struct type *type = type_of_entry(&context->types, die);
	int rc;

	if (!type)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = location_of(context, die, type->size, &location, why);
	*out = (struct value) {
		.type = type, .has_addr = location.has_addr,
		.addr = location.addr, .is_absent = location.is_absent,
		.bytes = location.has_addr ? NULL : location.bytes,
		.reg = location.reg,
		.known = location.known, .pointed = location.pointed,
	};
	return rc;
}

/* ------- bytes ------- */

static size_t bytes_of(const struct value *value)
{
	if (value->bit_size)
		return (value->bit_offset + value->bit_size + 7) / 8;
	return value->type->size < VALUE_MOST ? (size_t)value->type->size :
						VALUE_MOST;
}

int value_fetch(struct context *context, struct value *value,
		struct failure *why)
{
	size_t size = bytes_of(value);

	if (value->is_absent)
		return failed(why, ERR_NOT_FOUND, "the value was optimized"
			      " out");
	if (value->bytes)
		return 0;
	if (!value->has_addr)
		return failed(why, ERR_INPUT, "it has no value");
	/* All of the type: a pointer into the bytes may be read as such. */
	value->bytes = context_take(context, size + 32);
	if (!value->bytes)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	return context_read(context, value->addr, value->bytes, size, why);
}

__int128 value_bits(const struct value *value)
{
	unsigned __int128 bits = 0;
	unsigned size = value->bit_size;
	size_t count = bytes_of(value);

	memcpy(&bits, value->bytes, count < sizeof(bits) ? count :
							   sizeof(bits));
	if (!size)
		size = count < 16 ? (unsigned)count * 8 : 128;
	bits >>= value->bit_offset;
	if (!size)
		return 0;
	bits <<= 128 - size;
	if (value->type->is_signed)
		return (__int128)bits >> (128 - size);
	return (__int128)(bits >> (128 - size));
}

/* The same of a number, which a trace tells of. */
static int fetch_number(struct context *context, struct value *value,
			struct failure *why)
{
	struct trace *trace = context->trace;
	unsigned opaque = trace ? trace->opaque : 0;
	int rc = value_fetch(context, value, why);

	if (rc || !trace)
		return rc;
	trace->opaque = opaque;
	trace_number(trace, value);
	return 0;
}

/* ------- what leads elsewhere ------- */

int value_strip(struct context *context, struct value *value,
		struct failure *why)
{
	uint64_t addr;
	int rc;

	if (value->type->kind != TYPE_REFERENCE)
		return 0;
	rc = fetch_number(context, value, why);
	if (rc)
		return rc;
	memcpy(&addr, value->bytes, sizeof(addr));
	*value = (struct value) {
		.type = type_target(value->type), .has_addr = true,
		.addr = addr, .place = value->node,
	};
	return value->type ? 0 : failed(why, ERR_NO_MEMORY, "out of memory");
}

/* A pointer that is nowhere: what it points to may be known all the same. */
static int follow_pointed(struct context *context,
			  const struct pointed *pointed, struct type *target,
			  struct value *out, struct failure *why)
{
	const struct member part = { .type = target,
				     .offset = pointed->offset };
	Dwarf_Die die = pointed->variable;
	struct value whole;
	int rc = value_of_variable(context, &die, &whole, why);

	if (rc)
		return rc;
	*out = value_part(&whole, &part);
	if (!pointed->offset)
		out->pointed = whole.pointed;
	return 0;
}

int value_mistake(struct context *context, const char *text,
		  struct failure *why)
{
	context->mistake = MISTAKE_MEMBER;
	return failed(why, ERR_INPUT, "%s", text);
}

int value_follow(struct context *context, struct value *pointer,
		 struct value *out, struct failure *why)
{
	struct value from = *pointer;
	struct type *target;
	int64_t addr;
	int rc = value_strip(context, &from, why);

	if (rc)
		return rc;
	if (from.type->kind == TYPE_UNKNOWN)
		return context_no_type(context, from.addr, why);
	if (from.type->kind == TYPE_INT)	/* as in gdb: a long is there */
		target = type_by_words(&context->types, "long");
	else if (from.type->kind == TYPE_POINTER ||
		 from.type->kind == TYPE_ARRAY ||
		 from.type->kind == TYPE_FUNCTION)
		target = from.type->kind == TYPE_FUNCTION ? from.type :
			 type_target(from.type);
	else
		return value_mistake(context, "it is no pointer", why);
	if (!target)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	if (from.pointed)
		return follow_pointed(context, from.pointed, target, out, why);
	rc = value_integer(context, &from, &addr, why);
	*out = (struct value) { .type = target, .has_addr = true,
				.addr = (uint64_t)addr, .place = from.node };
	/* An array need not be in memory. */
	if (from.type->kind == TYPE_ARRAY) {
		out->has_addr = from.has_addr;
		out->bytes = from.bytes;
		out->is_absent = from.is_absent;
	}
	return rc;
}

/* ------- numbers ------- */

/* Of IEEE's numbers of 128 bits: as much as the host's widest one can hold. */
static bool is_quad(const struct type *type)
{
	return type->size == 16 && type->types && type->types->has_quads;
}

long double value_float(const struct type *type, const uint8_t *bytes)
{
	float small;
	double middle;
	long double large = 0;
	__float128 quad;
	uint16_t half;

	if (is_quad(type)) {
		memcpy(&quad, bytes, sizeof(quad));
		return (long double)quad;
	}
	switch (type->size) {
	case 2:
		memcpy(&half, bytes, sizeof(half));
		return small_float(half, type->is_brain);
	case 4:
		memcpy(&small, bytes, sizeof(small));
		return (long double)small;
	case 8:
		memcpy(&middle, bytes, sizeof(middle));
		return (long double)middle;
	default:
		memcpy(&large, bytes, type->size < 10 ? type->size : 10);
		return large;
	}
}

int value_integer(struct context *context, struct value *value, int64_t *out,
		  struct failure *why)
{
	int rc = value_strip(context, value, why);

	if (rc)
		return rc;
	if (value->type->kind == TYPE_ARRAY ||
	    value->type->kind == TYPE_FUNCTION) {
		*out = (int64_t)value->addr;
		trace_number(context->trace, value);
		return 0;
	}
	if (value->type->kind == TYPE_UNKNOWN)
		return context_no_type(context, value->addr, why);
	if (!type_is_scalar(value->type))
		return value_mistake(context, "it is no number", why);
	rc = fetch_number(context, value, why);
	if (rc)
		return rc;
	*out = value->type->kind == TYPE_FLOAT ?
		       (int64_t)value_float(value->type, value->bytes) :
		       (int64_t)value_bits(value);
	return 0;
}

int value_double(struct context *context, struct value *value,
		 long double *out, struct failure *why)
{
	int64_t number;
	int rc = value_strip(context, value, why);

	if (rc)
		return rc;
	if (value->type->kind == TYPE_FLOAT) {
		rc = fetch_number(context, value, why);
		*out = rc ? 0 : value_float(value->type, value->bytes);
		return rc;
	}
	rc = value_integer(context, value, &number, why);
	*out = value->type->is_signed ? (long double)number :
					(long double)(uint64_t)number;
	return rc;
}

long double value_rounded(const struct type *type, long double number)
{
	if (type->size == 2)
		return small_float(small_float_bits(number, type->is_brain),
				   type->is_brain);
	return type->size == 4 ? (long double)(float)number :
	       type->size == 8 ? (long double)(double)number : number;
}

static int make(struct context *context, struct value *out, struct type *type,
		struct failure *why)
{
	*out = (struct value) { .type = type };
	if (type)
		out->bytes = context_take(context, 32);
	if (!out->bytes)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	return 0;
}

int value_of_integer(struct context *context, struct value *out,
		     struct type *type, uint64_t number, struct failure *why)
{
	int rc = make(context, out, type, why);

	if (rc)
		return rc;
	memcpy(out->bytes, &number, sizeof(number));
	if (type->size > 8 && type->is_signed && (int64_t)number < 0)
		memset(out->bytes + 8, 0xff, 8);
	return 0;
}

int value_of_double(struct context *context, struct value *out,
		    struct type *type, long double number,
		    struct failure *why)
{
	float small = (float)number;
	double middle = (double)number;
	__float128 quad = (__float128)number;
	uint16_t half = type ? small_float_bits(number, type->is_brain) : 0;
	int rc = make(context, out, type, why);

	if (rc)
		return rc;
	if (type->size == 2)
		memcpy(out->bytes, &half, sizeof(half));
	else if (type->size == 4)
		memcpy(out->bytes, &small, sizeof(small));
	else if (type->size == 8)
		memcpy(out->bytes, &middle, sizeof(middle));
	else if (is_quad(type))
		memcpy(out->bytes, &quad, sizeof(quad));
	else
		memcpy(out->bytes, &number, 10);
	return 0;
}
