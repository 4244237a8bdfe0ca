/* SPDX-License-Identifier: GPL-2.0-or-later */
/* data_names.c - see data_names.h */
#include "replayer/expressions/data_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replayer/expressions/values.h"
#include "replayer/symbols/symbols.h"

#define DEPTH_MOST 64u

/*
 * The part of a class that has what is `*inside` the class.  Members may lie in
 * the padding at a base's end: they come first.
 */
static bool find_part(struct context *context, const struct type *type,
		      uint64_t *inside, struct member *out)
{
	const struct value of = { .type = (struct type *)type,
				  .is_absent = true };
	struct member_walk walk = { .context = context, .of = &of };
	struct member member;
	bool is_found = false;

	while (member_next(&walk, &member) > 0) {
		if (member.is_static || *inside < member.offset ||
		    *inside - member.offset >= member.type->size ||
		    (is_found && member.is_base))
			continue;
		*out = member;
		is_found = true;
		if (!member.is_base)
			break;
	}
	*inside -= is_found ? out->offset : 0;
	return is_found;
}

/* Fields of bits are numbers of their own. */
struct type *data_part(struct context *context, struct type *type,
		       uint64_t inside, uint64_t size)
{
	struct member part;

	for (unsigned depth = 0; depth < DEPTH_MOST; depth++) {
		if (!type || inside >= type->size || size > type->size)
			return NULL;
		if (!inside && size == type->size)
			return type;
		if (type->kind == TYPE_ARRAY) {
			type = type_target(type);
			if (type && type->size)
				inside %= type->size;
		} else if (type_is_class(type) &&
			   find_part(context, type, &inside, &part) &&
			   !part.bit_size) {
			type = part.type;
		} else {
			return NULL;
		}
	}
	return NULL;
}

/* Writes parts until one begins there. */
static void write_parts(struct context *context, struct type *type,
			uint64_t inside, FILE *out)
{
	struct member part;

	for (unsigned depth = 0; inside && depth < DEPTH_MOST; depth++) {
		if (type->kind == TYPE_ARRAY) {
			type = type_target(type);
			if (!type || !type->size)
				break;
			fprintf(out, "[%" PRIu64 "]", inside / type->size);
			inside %= type->size;
		} else if (type_is_class(type) &&
			   find_part(context, type, &inside, &part)) {
			type = part.type;
			if (part.name && !part.is_base)
				fprintf(out, ".%s", part.name);
		} else {
			break;
		}
	}
	if (inside)
		fprintf(out, "+0x%" PRIx64, inside);
}

/* "NAME+0x30": where NAME ends; the whole if there is no offset. */
static char *cut_offset(char *text, uint64_t *offset)
{
	char *mark = strrchr(text, '+');
	char *end;

	*offset = 0;
	if (!mark || strncmp(mark, "+0x", 3))
		return text + strlen(text);
	*offset = strtoull(mark + 3, &end, 16);
	return *end ? text + strlen(text) : mark;
}

bool data_name(struct context *context, uint64_t addr, char *text, size_t room)
{
	struct type *type;
	uint64_t offset;
	Dwarf_Die die;
	FILE *out;
	char *end;

	if (!lines_symbol(context->lines, context->place.at.time, addr,
		      text, room))
		return false;
	end = cut_offset(text, &offset);
	if (!offset || !context_variable_at(context, addr - offset, &die))
		return true;
	type = type_of_entry(&context->types, &die);
	if (!type || offset >= type->size)
		return true;
	out = fmemopen(end, room - (size_t)(end - text), "w");
	if (!out)
		return true;
	write_parts(context, type, offset, out);
	fclose(out);
	text[room - 1] = '\0';
	return true;
}
