/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * show_containers.c - containers, as gdb prints what its printers tell
 *
 * Source: gdb 13, compared by tests/run/containers.py.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "formats/error.h"
#include "replayer/expressions/containers.h"
#include "replayer/expressions/show_internal.h"

/* Text that no zero ends. */
static void show_content(struct shower *shower, struct container *container)
{
	struct type *type = container->element;
	size_t count = container->count < shower->most ?
			       (size_t)container->count : shower->most;
	uint8_t *bytes = malloc(count * type->size + 1);
	struct failure reason = { "out of memory" };

	if (!bytes || context_read(shower->context, container->first, bytes,
				   count * type->size, &reason))
		fprintf(shower->out, "<error: %s>", reason.text);
	else
		show_characters(shower, type, bytes, count,
				container->count > count);
	free(bytes);
}

/* What cannot be read is said; the rest is shown. */
static int show_child(struct shower *shower, struct value *value)
{
	struct failure reason = { "" }, *outer = shower->why;
	int rc;

	shower->why = &reason;
	rc = show_part(shower, value);
	shower->why = outer;
	if (rc == ERR_NOT_FOUND) {
		fprintf(shower->out, "<error: %s>", reason.text);
		return 0;
	}
	if (rc && outer)
		*outer = reason;
	return rc;
}

static int show_pair(struct shower *shower, struct container_child *child)
{
	int rc;

	fputc('[', shower->out);
	rc = show_child(shower, &child->key);
	fputs("] = ", shower->out);
	return rc ? rc : show_child(shower, &child->value);
}

/* A child, with what stands before it. */
static int show_one(struct shower *shower, const struct container *container,
		    struct container_child *child)
{
	switch (container->kind) {
	case CONTAINER_MAP:
		return show_pair(shower, child);
	case CONTAINER_NUMBERED:
	case CONTAINER_NAMED:
		fprintf(shower->out, "%s = ", child->name);
		break;
	default:
		break;
	}
	return show_child(shower, &child->value);
}

/* Of maps, keys are counted as well as values. */
static uint64_t children_most(const struct shower *shower,
			      const struct container *container)
{
	return container->kind == CONTAINER_MAP ? (shower->most + 1) / 2 :
						  shower->most;
}

static int show_children(struct shower *shower, struct container *container)
{
	uint64_t most = children_most(shower, container), n = 0;
	struct container_child child;
	struct failure reason = { "" };
	int rc = 1;

	for (;; n++) {
		rc = container_child(container, n, &child, &reason);
		if (rc <= 0 || n == most)
			break;
		if (shower->is_brief) {
			fputs(*container->title ? " = {...}" : "{...}",
			      shower->out);
			return 0;
		}
		fputs(n ? ", " : *container->title ? " = {" : "{", shower->out);
		rc = show_one(shower, container, &child);
		if (rc)
			return rc;
	}
	if (rc < 0)
		fprintf(shower->out, n ? ", <error: %s>" :
			*container->title ? " <error: %s>" : "<error: %s>",
			reason.text);
	else if (rc)
		fputs("...", shower->out);
	if (n)
		fputc('}', shower->out);
	return 0;
}

static int show_alone(struct shower *shower, struct container *container)
{
	struct container_child child;
	int rc = container_child(container, 0, &child, shower->why);

	fputs(container->title, shower->out);
	shower->depth--;
	rc = rc < 0 ? rc : show_part(shower, &child.value);
	shower->depth++;
	if (container->tail)
		fputs(container->tail, shower->out);
	return rc;
}

int show_container(struct shower *shower, struct value *value, bool *is_one)
{
	struct container container;
	int rc;

	*is_one = container_open(shower->context, value, &container) &&
		  !container.is_plain &&
		  (!shower->is_raw || container.is_native);
	if (!*is_one)
		return 0;
	if (container.kind == CONTAINER_TEXT && !*container.damage) {
		show_content(shower, &container);
		return 0;
	}
	shower->depth++;
	if (container.kind == CONTAINER_ALONE) {
		rc = show_alone(shower, &container);
	} else {
		fputs(container.title, shower->out);
		rc = show_children(shower, &container);
	}
	shower->depth--;
	return rc;
}
