/* SPDX-License-Identifier: GPL-2.0-or-later */
/* float_shape.c - see float_shape.h */
#include "replayer/expressions/float_shape.h"

#include "formats/error.h"

/* How deep structures may be nested in a file that makes sense. */
#define DEPTH_MOST 32u

static void add_floats(struct float_shape *shape, uint64_t size, unsigned count)
{
	if (size > 4)
		shape->align = 8;
	shape->is_mixed |= shape->size && shape->size != size;
	shape->size = (unsigned)size;
	shape->count += count;
	shape->is_mixed |= shape->count > FLOAT_SHAPE_MOST;
}

static int look(struct context *context, struct type *type,
		struct float_shape *shape, unsigned depth, struct failure *why);

static int look_at_members(struct context *context, struct type *type,
			   struct float_shape *shape, unsigned depth,
			   struct failure *why)
{
	const struct value of = { .type = type };
	struct member_walk walk = { .context = context, .of = &of,
				    .why = why };
	unsigned before = shape->count, most = before;
	struct member member;
	int rc;

	while ((rc = member_next(&walk, &member)) > 0) {
		if (member.is_static)
			continue;
		/* Those of a union lie in the same place. */
		if (type->kind == TYPE_UNION)
			shape->count = before;
		rc = look(context, member.type, shape, depth + 1, why);
		if (rc < 0)
			break;
		most = shape->count > most ? shape->count : most;
	}
	shape->count = most;
	return rc;
}

static int look_at_elements(struct context *context, struct type *type,
			    struct float_shape *shape, unsigned depth,
			    struct failure *why)
{
	struct type *element = type_target(type);
	int rc = 0;

	if (!element)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	for (uint64_t at = 0; element->size && at < type->size && !rc &&
			      at <= FLOAT_SHAPE_MOST * element->size;
	     at += element->size)
		rc = look(context, element, shape, depth + 1, why);
	return rc;
}

static int look(struct context *context, struct type *type,
		struct float_shape *shape, unsigned depth, struct failure *why)
{
	if (depth > DEPTH_MOST) {
		shape->is_mixed = true;
		return 0;
	}
	switch (type->kind) {
	case TYPE_FLOAT:
		add_floats(shape, type->size, 1);
		return 0;
	case TYPE_COMPLEX:
		add_floats(shape, type->size / 2, 2);
		return 0;
	case TYPE_STRUCT:
	case TYPE_UNION:
		return look_at_members(context, type, shape, depth, why);
	case TYPE_ARRAY:
		if (!type_is_vector(type))
			return look_at_elements(context, type, shape, depth,
						why);
		add_floats(shape, type->size, 1);
		return 0;
	default:
		shape->is_mixed = true;
		if (type_is_scalar(type) && type->size == 8)
			shape->align = 8;
		return 0;
	}
}

int float_shape_of(struct context *context, struct type *type, bool is_copy,
		    struct float_shape *out, struct failure *why)
{
	*out = (struct float_shape){ .align = 4, .is_mixed = is_copy };
	return is_copy ? 0 : look(context, type, out, 0, why);
}
