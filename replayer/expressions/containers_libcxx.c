/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * containers_libcxx.c - containers of LLVM's C++ library
 *
 * Source: its headers, of version 14 and of 20, where members that were a pair
 * with an allocator stand alone.  Titles are those of libstdc++'s printers.
 * What both libraries make of the same members is in containers_libstdcxx.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "replayer/expressions/containers_internal.h"

static uint64_t word_of(const struct container *container)
{
	return container->context->types.word;
}

/* A member has another name, or another place, in other versions. */
static bool find_number(struct container *container, const char *path,
			const char *other, uint64_t *out)
{
	return container_number(container, path, out) ||
	       container_number(container, other, out);
}

static bool find_pointer(struct container *container, const char *path,
			 const char *other, uint64_t *addr,
			 struct type **target)
{
	return container_pointer(container, path, addr, target) ||
	       container_pointer(container, other, addr, target);
}

static bool find_part(struct container *container, const char *path,
		      const char *other, struct value *out)
{
	return container_part(container, path, out) ||
	       container_part(container, other, out);
}

/* ------- text ------- */

/* The lowest bit says that it is long; else it is inside. */
static bool open_string(struct container *container)
{
	struct context *context = container->context;
	struct value all, inside, pointer;
	int64_t first, length;
	uint8_t start;

	if (!find_part(container, "__r_.__value_", "__rep_", &all) ||
	    value_fetch(context, &all, NULL) || !all.type->size)
		return false;
	start = all.bytes[0];
	if (!(start & 1)) {
		if (!value_path(context, &all, "__s.__data_", &inside) ||
		    inside.type->kind != TYPE_ARRAY || !inside.has_addr)
			return false;
		return shape_text(container, inside.addr, start >> 1,
				  type_target(inside.type));
	}
	if (!value_path(context, &all, "__l.__data_", &pointer) ||
	    !value_path(context, &all, "__l.__size_", &inside) ||
	    pointer.type->kind != TYPE_POINTER ||
	    value_integer(context, &pointer, &first, NULL) ||
	    value_integer(context, &inside, &length, NULL))
		return false;
	return shape_text(container, (uint64_t)first, (uint64_t)length,
			  type_target(pointer.type));
}

static bool open_string_view(struct container *container)
{
	uint64_t first, length;
	struct type *character;

	return find_pointer(container, "__data_", "__data", &first,
			    &character) &&
	       find_number(container, "__size_", "__size", &length) &&
	       shape_text(container, first, length, character);
}

/* ------- arrays ------- */

static bool open_bits(struct container *container)
{
	uint64_t first, capacity;

	if (!container_number(container, "__size_", &container->count) ||
	    !container_number(container, "__begin_", &first) ||
	    !find_number(container, "__cap_alloc_.__value_", "__cap_",
			 &capacity))
		return false;
	container->has_count = container->has_capacity = true;
	container->capacity = capacity * word_of(container) * 8;
	container_say(container, "<bool> of length %" PRIu64 ", capacity %"
		      PRIu64, container->count, container->capacity);
	if (!shape_bits(container, first, 0))
		return false;
	return container->count <= container->capacity ||
	       container_damaged(container, "it is longer than its storage");
}

static bool open_vector(struct container *container)
{
	uint64_t first, last, end;
	struct type *element;

	if (!container_pointer(container, "__begin_", &first, &element) ||
	    !container_number(container, "__end_", &last))
		return open_bits(container);
	return find_number(container, "__end_cap_.__value_", "__cap_", &end) &&
	       shape_vector(container, first, last, end, element);
}

static bool open_array(struct container *container)
{
	struct value elements;

	container->is_plain = true;
	return container_part(container, "__elems_", &elements) &&
	       elements.has_addr && elements.type->kind == TYPE_ARRAY &&
	       shape_counted(container, elements.addr,
			     container->of.type->size &&
					     type_target(elements.type)->size ?
				     elements.type->count : 0,
			     type_target(elements.type));
}

static bool open_span(struct container *container)
{
	uint64_t first, count;
	struct type *element;

	if (!find_pointer(container, "__data_", "__data", &first, &element) ||
	    (!find_number(container, "__size_", "__size", &count) &&
	     !type_argument_number(container->of.type, 1, &count)))
		return false;
	return shape_span(container, first, count, element);
}

static bool open_initializer_list(struct container *container)
{
	uint64_t first, count;
	struct type *element;

	if (!container_pointer(container, "__begin_", &first, &element) ||
	    !container_number(container, "__size_", &count))
		return false;
	return shape_span(container, first, count, element);
}

/* A block has 4096 bytes, or 16 elements. */
static bool open_deque(struct container *container)
{
	struct type *element = container_element(container);
	uint64_t map, end, start, most;

	if (!element || !container_number(container, "__map_.__begin_", &map) ||
	    !container_number(container, "__map_.__end_", &end) ||
	    !container_number(container, "__start_", &start) ||
	    !find_number(container, "__size_.__value_", "__size_",
			 &container->count))
		return false;
	container->has_count = true;
	container_say_count(container, container->count);
	most = element->size && element->size < 256 ? 4096 / element->size : 16;
	if (!shape_blocks(container, map, start, most, element))
		return false;
	if (end < map || start > UINT64_MAX - container->count ||
	    (container->count && (start + container->count - 1) / most >=
					 (end - map) / word_of(container)))
		return container_damaged(container, "its elements are not in"
						    " its blocks");
	return true;
}

/* ------- lists, trees and tables ------- */

/* The head is a node, too. */
static bool open_list(struct container *container)
{
	struct type *element = container_element(container);
	struct value head;
	uint64_t first;

	if (!element || !container_part(container, "__end_", &head) ||
	    !head.has_addr ||
	    !container_number(container, "__end_.__next_", &first))
		return false;
	container->has_count = find_number(container, "__size_alloc_.__value_",
					   "__size_", &container->count);
	if (first == head.addr)
		container_say_empty(container);
	return shape_chain(container, first, head.addr, 1, 2, element);
}

static bool open_forward_list(struct container *container)
{
	struct type *element = container_element(container);
	uint64_t first;

	if (!element ||
	    !find_number(container, "__before_begin_.__value_.__next_",
			 "__before_begin_.__next_", &first))
		return false;
	if (!first)
		container_say_empty(container);
	return shape_chain(container, first, 0, 0, 1, element);
}

/* The value stands right behind the colour, a byte, if it may. */
static bool open_tree(struct container *container)
{
	const struct tree_links links = {
		.left = 0, .right = 1, .parent = 2,
		.size = 3 * (unsigned)word_of(container) + 1,
	};
	uint64_t first;

	if (!container_number(container, "__tree_.__begin_node_", &first) ||
	    !find_number(container, "__tree_.__pair3_.__value_",
			 "__tree_.__size_", &container->count))
		return false;
	container->has_count = true;
	container_say_count(container, container->count);
	return shape_tree(container, first, &links,
			  container_element(container));
}

static bool open_map(struct container *container)
{
	return open_tree(container) &&
	       container_is_map(container, "first", "second");
}

static bool open_hashes(struct container *container)
{
	uint64_t first;

	if (!find_number(container, "__table_.__p1_.__value_.__next_",
			 "__table_.__first_node_.__next_", &first) ||
	    !find_number(container, "__table_.__p2_.__value_",
			 "__table_.__size_", &container->count))
		return false;
	container->has_count = true;
	container_say_count(container, container->count);
	return shape_chain(container, first, 0, 0, 2,
			   container_element(container));
}

static bool open_hash_map(struct container *container)
{
	return open_hashes(container) &&
	       container_is_map(container, "first", "second");
}

/* ------- one of several, several of one ------- */

/* Leaves, each a base, in their order; an empty class is a base of its leaf. */
static bool open_tuple(struct container *container)
{
	struct context *context = container->context;
	struct value all, leaf, value;

	if (!find_part(container, "__base_", "base_", &all)) {
		container_say_empty(container);
		return shape_parts(container, CONTAINER_NUMBERED);
	}
	container_say(container, " containing");
	for (unsigned i = 0; value_base(context, &all, i, &leaf); i++)
		if ((!value_path(context, &leaf, "__value_", &value) &&
		     !value_base(context, &leaf, 0, &value)) ||
		    !container_add(container, NULL, &value))
			return false;
	return shape_parts(container, CONTAINER_NUMBERED);
}

static bool open_optional(struct container *container)
{
	struct value value;
	uint64_t is_there;

	return container_number(container, "__engaged_", &is_there) &&
	       container_part(container, "__val_", &value) &&
	       container_holds(container, is_there ? &value : NULL);
}

static bool open_variant(struct container *container)
{
	struct value storage, value, number;
	struct type *type;
	int64_t index;

	if (!find_part(container, "__impl_.__index", "__impl.__index",
		       &number) ||
	    !find_part(container, "__impl_.__data", "__impl.__data",
		       &storage) ||
	    value_integer(container->context, &number, &index, NULL))
		return false;
	type = index >= 0 && index < 256 ?
		       type_argument(container->of.type, (unsigned)index) :
		       NULL;
	if (!type)
		return container_holds(container, NULL);
	value = value_seen_as(&storage, type);
	container_say(container, " [index %" PRId64 "]", index);
	return container_wrap(container, &value, " containing ") ||
	       (container_add(container, NULL, &value) &&
		shape_parts(container, CONTAINER_ARRAY));
}

/* ------- pointers ------- */

static bool open_unique(struct container *container)
{
	struct value pointer;

	if (!find_part(container, "__ptr_.__value_", "__ptr_", &pointer) ||
	    pointer.type->kind != TYPE_POINTER)
		return false;
	container_say_argument(container);
	return container_points(container, &pointer);
}

/* Counts begin at 0, and stand behind the address of functions. */
static bool say_uses(struct container *container)
{
	uint64_t counts, uses, weak, word = word_of(container);

	if (!container_number(container, "__cntrl_", &counts))
		return false;
	if (!counts) {
		container_say(container, " (empty)");
		return true;
	}
	if (!container_word(container, counts + word, &uses) ||
	    !container_word(container, counts + 2 * word, &weak))
		return false;
	container->has_capacity = true;
	container->capacity = (uint32_t)(uses + 1);
	if (container->capacity)
		container_say(container, " (use count %d, weak count %d)",
			      (int)container->capacity, (int)weak);
	else
		container_say(container, " (expired, weak count %d)",
			      (int)weak + 1);
	return true;
}

static bool open_shared(struct container *container)
{
	struct value pointer;

	if (!container_part(container, "__ptr_", &pointer) ||
	    pointer.type->kind != TYPE_POINTER)
		return false;
	container_say_argument(container);
	return say_uses(container) && container_points(container, &pointer);
}

/* ------- iterators and others ------- */

static bool open_list_iterator(struct container *container)
{
	uint64_t node;

	return container_number(container, "__ptr_", &node) &&
	       container_stands_at(container, node, 2 * word_of(container),
				   container_element(container));
}

static bool open_tree_iterator(struct container *container)
{
	struct type *element = container_element(container);
	struct type *pair = type_argument(type_argument(container->of.type, 0),
					  0);
	uint64_t node;

	if (container_number(container, "__i_.__ptr_", &node))
		element = pair && type_inside(pair, "value_type") ?
				  type_inside(pair, "value_type") : element;
	else if (!container_number(container, "__ptr_", &node))
		return false;
	return container_stands_at(container, node,
				   3 * word_of(container) + 1, element);
}

static bool open_iterator(struct container *container)
{
	struct type *element;
	uint64_t addr;

	return (find_pointer(container, "__i_", "__i", &addr, &element) ||
		container_pointer(container, "__ptr_", &addr, &element)) &&
	       container_stands_at(container, addr, 0, element);
}

static bool open_atomic(struct container *container)
{
	struct value value;

	if (!container_part(container, "__a_.__a_value", &value))
		return false;
	container_say_argument(container);
	container_say(container, " = { ");
	container->tail = " }";
	return container_add(container, NULL, &value) &&
	       shape_parts(container, CONTAINER_ALONE);
}

const struct recogniser recognisers_libcxx[] = {
	{ "std", "basic_string", open_string },
	{ "std", "basic_string_view", open_string_view },
	{ "std", "vector", open_vector },
	{ "std", "array", open_array },
	{ "std", "span", open_span },
	{ "std", "initializer_list", open_initializer_list },
	{ "std", "deque", open_deque },
	{ "std", "list", open_list },
	{ "std", "forward_list", open_forward_list },
	{ "std", "map", open_map },
	{ "std", "multimap", open_map },
	{ "std", "set", open_tree },
	{ "std", "multiset", open_tree },
	{ "std", "unordered_map", open_hash_map },
	{ "std", "unordered_multimap", open_hash_map },
	{ "std", "unordered_set", open_hashes },
	{ "std", "unordered_multiset", open_hashes },
	{ "std", "tuple", open_tuple },
	{ "std", "optional", open_optional },
	{ "std", "variant", open_variant },
	{ "std", "unique_ptr", open_unique },
	{ "std", "shared_ptr", open_shared },
	{ "std", "weak_ptr", open_shared },
	{ "std", "__wrap_iter", open_iterator },
	{ "std", "__deque_iterator", open_iterator },
	{ "std", "__list_iterator", open_list_iterator },
	{ "std", "__list_const_iterator", open_list_iterator },
	{ "std", "__tree_iterator", open_tree_iterator },
	{ "std", "__tree_const_iterator", open_tree_iterator },
	{ "std", "__map_iterator", open_tree_iterator },
	{ "std", "__map_const_iterator", open_tree_iterator },
	{ "std", "atomic", open_atomic },
	{ 0 },
};
