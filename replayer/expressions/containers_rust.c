/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * containers_rust.c - containers of Rust's library
 *
 * Source: library/alloc, library/core and hashbrown, from Rust 1.63 to 1.95;
 * titles and names are those of the printers for gdb that come with rustc.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/expressions/containers_internal.h"

#define WRAPPERS_MOST 16u	/* one in the other, around a number */

static void say(struct container *container, const char *title, uint64_t size)
{
	*container->title = '\0';
	container_say(container, "%s(size=%" PRIu64 ")", title, size);
}

/* The number or pointer in structures around it: Unique, NonNull, Cell. */
static bool unwrap(struct context *context, struct value value,
		   enum type_kind kind, struct value *out, unsigned depth)
{
	struct member_walk walk = { .context = context, .of = &value };
	struct member member;

	*out = value;
	if (value.type->kind == kind)
		return true;
	if (!type_is_class(value.type) || depth == WRAPPERS_MOST)
		return false;
	while (member_next(&walk, &member) > 0)
		if (!member.is_static &&
		    unwrap(context, value_part(&value, &member), kind, out,
			   depth + 1))
			return true;
	return false;
}

static bool find(struct container *container, const char *path,
		 enum type_kind kind, struct value *out)
{
	struct value part;

	return container_part(container, path, &part) &&
	       unwrap(container->context, part, kind, out, 0);
}

static bool find_number(struct container *container, const char *path,
			enum type_kind kind, uint64_t *out)
{
	struct value part;
	int64_t number;

	if (!find(container, path, kind, &part) ||
	    value_integer(container->context, &part, &number, NULL))
		return false;
	*out = (uint64_t)number;
	return true;
}

/* ------- text and sequences ------- */

/* Characters are bytes of UTF-8. */
static struct type *character(const struct container *container)
{
	return type_by_words(&container->context->types, "char");
}

static bool open_string(struct container *container)
{
	uint64_t first, length;

	return find_number(container, "vec.buf", TYPE_POINTER, &first) &&
	       container_number(container, "vec.len", &length) &&
	       shape_text(container, first, length, character(container));
}

static bool open_str(struct container *container)
{
	uint64_t first, length;

	container->is_native = true;
	return container_number(container, "data_ptr", &first) &&
	       container_number(container, "length", &length) &&
	       shape_text(container, first, length, character(container));
}

/* Its name is that of its type: "&[i32]", "&mut [i32]". */
static bool open_slice(struct container *container)
{
	uint64_t first, length;
	struct type *element;

	if (!container_pointer(container, "data_ptr", &first, &element) ||
	    !container_number(container, "length", &length))
		return false;
	*container->title = '\0';
	container_say_type(container, container->of.type);
	container_say(container, "(size=%" PRIu64 ")", length);
	return shape_counted(container, first, length, element);
}

static bool find_capacity(struct container *container, uint64_t *out)
{
	return find_number(container, "buf.inner.cap", TYPE_INT, out) ||
	       find_number(container, "buf.cap", TYPE_INT, out);
}

/* Of elements without a size, the capacity does not matter. */
static bool open_vec(struct container *container)
{
	struct type *element = type_argument(container->of.type, 0);
	uint64_t first, length;

	if (!element ||
	    !find_number(container, "buf", TYPE_POINTER, &first) ||
	    !container_number(container, "len", &length) ||
	    !shape_counted(container, first, length, element))
		return false;
	say(container, "Vec", length);
	container->has_capacity = find_capacity(container,
						&container->capacity);
	if (container->has_capacity && element->size &&
	    length > container->capacity)
		return container_damaged(container, "%" PRIu64 " elements have"
			" no room in %" PRIu64, length, container->capacity);
	return true;
}

/* Until Rust 1.66, `tail` was its beginning and `head` its end. */
static bool open_deque(struct container *container)
{
	struct type *element = type_argument(container->of.type, 0);
	uint64_t first, head, tail;

	if (!element || !find_number(container, "buf", TYPE_POINTER, &first) ||
	    !container_number(container, "head", &head) ||
	    !find_capacity(container, &container->capacity))
		return false;
	container->has_count = container->has_capacity = true;
	if (container_number(container, "tail", &tail)) {
		container->count = (head - tail) & (container->capacity - 1);
		head = tail;
	} else if (!container_number(container, "len", &container->count)) {
		return false;
	}
	say(container, "VecDeque", container->count);
	return shape_ring(container, first, head, container->capacity,
			  element);
}

/* ------- tables ------- */

/*
 * A byte for each place says whether it is taken: then its highest bit is 0.
 * Elements stand before these bytes, the first one last.
 */
static int find_in_table(struct container *container, uint64_t n,
			 struct container_child *out, struct failure *why)
{
	uint64_t size = container->element->size;

	if (n >= container->count)
		return 0;
	if (!container->is_begun || n < container->at_n) {
		container->at = container->at_n = 0;
		container->is_begun = true;
	}
	for (; container->at <= container->per_block; container->at++) {
		uint64_t addr = container->first + container->at;
		uint8_t mark;

		if (!container_bytes(container, addr, &mark, sizeof(mark)))
			return failed(why, ERR_NOT_FOUND, "Cannot access"
				      " memory at address 0x%" PRIx64, addr);
		if (mark & 0x80)
			continue;
		if (container->at_n == n)
			return container_take(container, n, container->first -
					      (container->at + 1) * size, out);
		container->at_n++;
	}
	return failed(why, ERR_INPUT, "damaged: there are %" PRIu64 " of %"
		      PRIu64 " elements", container->at_n, container->count);
}

static bool open_table(struct container *container, const char *path,
		       const char *title)
{
	char text[64];
	struct value table;

	if (!container_part(container, path, &table))
		return false;
	snprintf(text, sizeof(text), "%s.table.items", path);
	if (!container_number(container, text, &container->count))
		return false;
	snprintf(text, sizeof(text), "%s.table.bucket_mask", path);
	if (!container_number(container, text, &container->per_block))
		return false;
	snprintf(text, sizeof(text), "%s.table.ctrl", path);
	if (!find_number(container, text, TYPE_POINTER, &container->first))
		return false;
	container->has_count = true;
	container->element = type_argument(table.type, 0);
	container->find_child = find_in_table;
	container->kind = CONTAINER_ARRAY;
	say(container, title, container->count);
	if (container->count > container->per_block + 1)
		container_damaged(container, "%" PRIu64 " elements have no"
			" room in %" PRIu64, container->count,
			container->per_block + 1);
	return container->element != NULL;
}

static bool open_map(struct container *container)
{
	return open_table(container, "base.table", "HashMap") &&
	       container_is_map(container, "__0", "__1");
}

/* An element is a pair of the key and nothing. */
static bool open_set(struct container *container)
{
	if (!open_table(container, "base.map.table", "HashSet") &&
	    !open_table(container, "map.base.table", "HashSet"))
		return false;
	if (!container_is_map(container, "__0", "__0"))
		return false;
	container->kind = CONTAINER_ARRAY;
	container->is_first = true;
	return true;
}

/* ------- pointers and cells ------- */

/* How many refer to it stands before what they refer to. */
static bool open_counted(struct container *container, const char *title,
			 const char *value_name)
{
	struct context *context = container->context;
	struct value pointer, counted, value, strong, weak;
	int64_t strong_count, weak_count;

	if (!find(container, "ptr", TYPE_POINTER, &pointer) ||
	    value_follow(context, &pointer, &counted, NULL) ||
	    !value_path(context, &counted, value_name, &value) ||
	    !value_path(context, &counted, "strong", &strong) ||
	    !value_path(context, &counted, "weak", &weak) ||
	    !unwrap(context, strong, TYPE_INT, &strong, 0) ||
	    !unwrap(context, weak, TYPE_INT, &weak, 0) ||
	    value_integer(context, &strong, &strong_count, NULL) ||
	    value_integer(context, &weak, &weak_count, NULL))
		return false;
	weak_count--;	/* all strong ones have one together */
	*container->title = '\0';
	container_say(container, "%s(strong=%" PRId64 ", weak=%" PRId64 ")",
		      title, strong_count, weak_count);
	return !value_of_integer(context, &weak, weak.type,
				 (uint64_t)weak_count, NULL) &&
	       container_add(container, "value", &value) &&
	       container_add(container, "strong", &strong) &&
	       container_add(container, "weak", &weak) &&
	       shape_parts(container, CONTAINER_NAMED);
}

static bool open_rc(struct container *container)
{
	return open_counted(container, "Rc", "value");
}

static bool open_arc(struct container *container)
{
	return open_counted(container, "Arc", "data");
}

static bool open_cell(struct container *container)
{
	struct value value;

	*container->title = '\0';
	container_say(container, "Cell");
	return container_part(container, "value.value", &value) &&
	       container_add(container, "value", &value) &&
	       shape_parts(container, CONTAINER_NAMED);
}

/* Below 0, it is borrowed to be changed. */
static bool open_ref_cell(struct container *container)
{
	struct value value, borrow;
	int64_t count;

	if (!container_part(container, "value.value", &value) ||
	    !find(container, "borrow", TYPE_INT, &borrow) ||
	    value_integer(container->context, &borrow, &count, NULL))
		return false;
	*container->title = '\0';
	container_say(container, "RefCell(%s=%" PRId64 ")", count < 0 ?
			      "borrow_mut" : "borrow", count < 0 ? -count :
								   count);
	return container_add(container, "value", &value) &&
	       container_add(container, "borrow", &borrow) &&
	       shape_parts(container, CONTAINER_NAMED);
}

const struct recogniser recognisers_rust[] = {
	{ "alloc::string", "String", open_string },
	{ NULL, "&str", open_str },
	{ NULL, "&mut str", open_str },
	{ NULL, "&[*", open_slice },
	{ NULL, "&mut [*", open_slice },
	{ "alloc::vec", "Vec", open_vec },
	{ "alloc::collections::vec_deque", "VecDeque", open_deque },
	{ "std::collections::hash::map", "HashMap", open_map },
	{ "std::collections::hash::set", "HashSet", open_set },
	{ "alloc::rc", "Rc", open_rc },
	{ "alloc::sync", "Arc", open_arc },
	{ "core::cell", "Cell", open_cell },
	{ "core::cell", "RefCell", open_ref_cell },
	{ NULL, NULL, NULL },
};
