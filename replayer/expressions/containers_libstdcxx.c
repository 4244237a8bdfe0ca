/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * containers_libstdcxx.c - containers of GCC's C++ library
 *
 * Source: its headers (bits/stl_*.h, ext/aligned_buffer.h); titles and names are
 * those of the printers for gdb that come with it.
 */
#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/expressions/containers_internal.h"

static uint64_t word_of(const struct container *container)
{
	return container->context->types.word;
}

/* ------- text ------- */

/* Without a length of its own, it stands before the characters. */
static bool open_string(struct container *container)
{
	uint64_t first, length;
	struct type *character;

	if (!container_pointer(container, "_M_dataplus._M_p", &first, &character))
		return false;
	if (!container_number(container, "_M_string_length", &length) &&
	    !container_word(container, first - 3 * word_of(container), &length))
		return false;
	return shape_text(container, first, length, character);
}

static bool open_string_view(struct container *container)
{
	uint64_t first, length;
	struct type *character;

	return container_pointer(container, "_M_str", &first, &character) &&
	       container_number(container, "_M_len", &length) &&
	       shape_text(container, first, length, character);
}

/* ------- arrays ------- */

static bool open_bits(struct container *container)
{
	uint64_t first, skipped, last, behind, end;

	if (!container_number(container, "_M_impl._M_start._M_p", &first) ||
	    !container_number(container, "_M_impl._M_start._M_offset",
			      &skipped) ||
	    !container_number(container, "_M_impl._M_finish._M_p", &last) ||
	    !container_number(container, "_M_impl._M_finish._M_offset",
			      &behind) ||
	    !container_number(container, "_M_impl._M_end_of_storage", &end))
		return false;
	container->has_count = container->has_capacity = true;
	container->count = (last - first) * 8 + behind - skipped;
	container->capacity = (end - first) * 8;
	container_say(container, "<bool> of length %" PRIu64 ", capacity %"
		      PRIu64, container->count, container->capacity);
	if (!shape_bits(container, first, skipped))
		return false;
	return last >= first && container->count <= container->capacity ?
		true : container_damaged(container, "its end, 0x%" PRIx64
			", is not behind its beginning, 0x%" PRIx64, last,
			first);
}

static bool open_vector(struct container *container)
{
	uint64_t first, last, end;
	struct type *element;

	if (!container_pointer(container, "_M_impl._M_start", &first, &element))
		return open_bits(container);
	if (!container_number(container, "_M_impl._M_finish", &last) ||
	    !container_number(container, "_M_impl._M_end_of_storage", &end))
		return false;
	return shape_vector(container, first, last, end, element);
}

/* Its elements may be in registers. */
static bool open_array(struct container *container)
{
	struct value elements;

	if (!container_part(container, "_M_elems", &elements))
		return false;
	container->is_plain = true;
	if (elements.type->kind != TYPE_ARRAY) {	/* of none */
		container->has_count = true;
		return shape_counted(container, 0, 0, elements.type);
	}
	return elements.has_addr &&
	       shape_counted(container, elements.addr, elements.type->count,
			     type_target(elements.type));
}

static bool open_span(struct container *container)
{
	uint64_t first, count;
	struct type *element;

	if (!container_pointer(container, "_M_ptr", &first, &element) ||
	    (!container_number(container, "_M_extent._M_extent_value",
			       &count) &&
	     !type_argument_number(container->of.type, 1, &count)))
		return false;
	return shape_span(container, first, count, element);
}

static bool open_initializer_list(struct container *container)
{
	uint64_t first, count;
	struct type *element;

	if (!container_pointer(container, "_M_array", &first, &element) ||
	    !container_number(container, "_M_len", &count))
		return false;
	return shape_span(container, first, count, element);
}

/* A block has 512 bytes, or one element. */
static bool open_deque(struct container *container)
{
	uint64_t cursor, first, block, last, last_first, last_block, size, most;
	struct type *element;

	if (!container_pointer(container, "_M_impl._M_start._M_cur", &cursor,
			  &element) ||
	    !container_number(container, "_M_impl._M_start._M_first", &first) ||
	    !container_number(container, "_M_impl._M_start._M_node", &block) ||
	    !container_number(container, "_M_impl._M_finish._M_cur", &last) ||
	    !container_number(container, "_M_impl._M_finish._M_first",
			      &last_first) ||
	    !container_number(container, "_M_impl._M_finish._M_node",
			      &last_block))
		return false;
	size = element->size ? element->size : 1;
	most = size < 512 ? 512 / size : 1;
	container->has_count = true;
	container->count = (last_block - block) / word_of(container) * most +
			   (last - last_first) / size - (cursor - first) / size;
	container_say_count(container, container->count);
	if (!shape_blocks(container, block, (cursor - first) / size, most,
			  element))
		return false;
	if (last_block < block || cursor < first || last < last_first ||
	    (cursor - first) / size > most || (last - last_first) / size > most)
		return container_damaged(container, "its end is before its"
					 " beginning");
	return true;
}

/* ------- lists and tables ------- */

static bool open_list(struct container *container)
{
	struct type *element = container_element(container);
	struct value head;
	uint64_t first;

	if (!element || !container_part(container, "_M_impl._M_node", &head) ||
	    !head.has_addr ||
	    !container_number(container, "_M_impl._M_node._M_next", &first))
		return false;
	container->has_count = container_number(container,
			"_M_impl._M_node._M_size", &container->count);
	if (first == head.addr)
		container_say_empty(container);
	return shape_chain(container, first, head.addr, 0, 2, element);
}

static bool open_forward_list(struct container *container)
{
	struct type *element = container_element(container);
	uint64_t first;

	if (!element || !container_number(container, "_M_impl._M_head._M_next",
					  &first))
		return false;
	if (!first)
		container_say_empty(container);
	return shape_chain(container, first, 0, 0, 1, element);
}

static bool open_tree(struct container *container)
{
	const struct tree_links links = {
		.parent = 1, .left = 2, .right = 3,
		.size = 4 * (unsigned)word_of(container),
	};
	uint64_t first;

	if (!container_number(container, "_M_t._M_impl._M_node_count",
			      &container->count) ||
	    !container_number(container, "_M_t._M_impl._M_header._M_left",
			      &first))
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

	if (!container_number(container, "_M_h._M_element_count",
			      &container->count) ||
	    !container_number(container, "_M_h._M_before_begin._M_nxt",
			      &first))
		return false;
	container->has_count = true;
	container_say_count(container, container->count);
	return shape_chain(container, first, 0, 0, 1,
			   container_element(container));
}

static bool open_hash_map(struct container *container)
{
	return open_hashes(container) &&
	       container_is_map(container, "first", "second");
}

/* ------- one of several, several of one ------- */

static bool open_pair(struct container *container)
{
	struct value first, second;

	*container->title = '\0';
	return container_part(container, "first", &first) &&
	       container_part(container, "second", &second) &&
	       container_add(container, "first", &first) &&
	       container_add(container, "second", &second) &&
	       shape_parts(container, CONTAINER_NAMED);
}

/* What has no bytes of its own is a base of the head, else its member. */
static bool find_head(struct context *context, const struct value *head,
		      struct value *out)
{
	return value_path(context, head, "_M_head_impl", out) ||
	       value_base(context, head, 0, out);
}

/*
 * A tuple is a class of its first element, with the rest as a base: the rest, if
 * there is any, stands first.
 */
static bool add_elements(struct container *container, struct value tuple)
{
	struct context *context = container->context;
	struct value rest, head, element;

	for (unsigned i = 0; i < CONTAINER_PARTS_MOST; i++) {
		bool is_last;

		if (!value_base(context, &tuple, 0, &rest))
			return false;
		is_last = !value_base(context, &tuple, 1, &head);
		if (!find_head(context, is_last ? &rest : &head, &element) ||
		    !container_add(container, NULL, &element))
			return false;
		if (is_last)
			return true;
		tuple = rest;
	}
	return false;
}

static bool open_tuple(struct container *container)
{
	struct member_walk walk = { .context = container->context,
				    .of = &container->of };
	struct member member;
	struct value all;

	if (member_next(&walk, &member) <= 0) {
		container_say_empty(container);
		return shape_parts(container, CONTAINER_NUMBERED);
	}
	container_say(container, " containing");
	return value_base(container->context, &container->of, 0, &all) &&
	       add_elements(container, all) &&
	       shape_parts(container, CONTAINER_NUMBERED);
}

static bool open_optional(struct container *container)
{
	struct value value;
	uint64_t is_there;

	if (!container_number(container, "_M_payload._M_engaged", &is_there) ||
	    !container_part(container, "_M_payload._M_payload._M_value",
			    &value))
		return false;
	return container_holds(container, is_there ? &value : NULL);
}

static bool open_variant(struct container *container)
{
	struct value storage, value;
	struct type *type;
	uint64_t index;

	if (!container_number(container, "_M_index", &index) ||
	    !container_part(container, "_M_u", &storage))
		return false;
	type = index < 256 ? type_argument(container->of.type,
					   (unsigned)index) : NULL;
	if (!type)
		return container_holds(container, NULL);
	value = value_seen_as(&storage, type);
	container_say(container, " [index %" PRIu64 "]", index);
	return container_wrap(container, &value, " containing ") ||
	       (container_add(container, NULL, &value) &&
		shape_parts(container, CONTAINER_ARRAY));
}

/* ------- pointers ------- */

static bool open_unique(struct container *container)
{
	struct context *context = container->context;
	struct value tuple, all, pointer;

	if (!container_part(container, "_M_t._M_t", &tuple) &&
	    !container_part(container, "_M_t", &tuple))
		return false;
	if (!value_base(context, &tuple, 0, &all) ||
	    !add_elements(container, all))
		return false;
	pointer = container->parts[0].value;
	container->count = 0;
	container_say_argument(container);
	return container_points(container, &pointer);
}

/* How many there are, and what is behind the address of functions. */
static bool say_uses(struct container *container)
{
	uint64_t counts;
	int32_t uses[2];

	if (!container_number(container, "_M_refcount._M_pi", &counts))
		return false;
	if (!counts) {
		container_say(container, " (empty)");
		return true;
	}
	if (!container_bytes(container, counts + word_of(container), uses,
			     sizeof(uses)))
		return false;
	container->has_capacity = true;
	container->capacity = (uint64_t)uses[0];
	if (uses[0])
		container_say(container, " (use count %d, weak count %d)",
			      (int)uses[0], (int)(uses[1] - 1));
	else
		container_say(container, " (expired, weak count %d)",
			      (int)uses[1]);
	return true;
}

static bool open_shared(struct container *container)
{
	struct value pointer;

	if (!container_part(container, "_M_ptr", &pointer))
		return false;
	container_say_argument(container);
	return say_uses(container) && container_points(container, &pointer);
}

/* ------- iterators ------- */

/* What is behind `links` words of a node. */
static bool open_node(struct container *container, unsigned links)
{
	uint64_t node;

	return container_number(container, "_M_node", &node) &&
	       container_stands_at(container, node, links * word_of(container),
				   container_element(container));
}

static bool open_list_iterator(struct container *container)
{
	return open_node(container, 2);
}

static bool open_forward_iterator(struct container *container)
{
	return open_node(container, 1);
}

static bool open_tree_iterator(struct container *container)
{
	return open_node(container, 4);
}

static bool open_pointer_iterator(struct container *container,
				  const char *path)
{
	struct type *element;
	uint64_t addr;

	return container_pointer(container, path, &addr, &element) &&
	       container_stands_at(container, addr, 0, element);
}

static bool open_plain_iterator(struct container *container)
{
	return open_pointer_iterator(container, "_M_current");
}

static bool open_deque_iterator(struct container *container)
{
	return open_pointer_iterator(container, "_M_cur");
}

/* ------- functions ------- */

/* The class that the function at an address is a member of. */
static bool find_class(struct context *context, uint64_t addr,
		       struct type **out)
{
	const struct context_module *module;
	const struct die_index *index;
	const struct die_entry *entry;
	struct code_frame frame = { 0 };
	Dwarf_Attribute attribute;
	Dwarf_Die die;

	context_find_code(context, addr, 0, &frame);
	if (!frame.is_known || !frame.count)
		return false;
	die = frame.scopes[0];
	while (dwarf_attr(&die, DW_AT_abstract_origin, &attribute) ||
	       dwarf_attr(&die, DW_AT_specification, &attribute))
		if (!dwarf_formref_die(&attribute, &die))
			return false;
	module = context_module_of(context, &die);
	index = module ? context_index(context, module) : NULL;
	entry = index ? die_index_entry(index, &die) : NULL;
	if (!entry || entry->parent == DIE_NONE)
		return false;
	die = index->list[entry->parent].die;
	*out = type_of_die(&context->types, &die);
	return *out != NULL;
}

/* Whether small targets are inside: a constant of the manager says so. */
static bool is_inside(struct context *context, const struct value *manager,
		      bool *out)
{
	struct value base, flag;
	int64_t number;

	if (!value_base(context, manager, 0, &base) ||
	    !value_path(context, &base, "__stored_locally", &flag) ||
	    value_integer(context, &flag, &number, NULL))
		return false;
	*out = number != 0;
	return true;
}

/*
 * The function that manages the target is a member of a class that was made for
 * the target's type.
 */
static bool open_function(struct container *container)
{
	struct context *context = container->context;
	struct value functor, target, manager = { 0 };
	uint64_t addr, functor_addr;
	struct type *type;
	bool inside;

	if (!container_number(container, "_M_manager", &addr) ||
	    !container_part(container, "_M_functor", &functor))
		return false;
	container_say_argument(container);
	if (!addr) {
		container_say(container, " [no target]");
		return shape_parts(container, CONTAINER_NAMED);
	}
	if (!find_class(context, addr, &manager.type))
		return false;
	type = type_argument(manager.type, 1);
	if (!type || !is_inside(context, &manager, &inside))
		return false;
	target = value_seen_as(&functor, type);
	if (!inside) {
		if (!container_number(container,
				      "_M_functor._M_unused._M_object",
				      &functor_addr))
			return false;
		target = (struct value) { .type = type, .has_addr = true,
					  .addr = functor_addr };
	}
	return container_add(container, "target", &target) &&
	       shape_parts(container, CONTAINER_NAMED);
}

/* ------- adapters and others ------- */

/* Children are those bits that are set. */
static int find_set_bit(struct container *container, uint64_t n,
			struct container_child *out, struct failure *why)
{
	const uint8_t *bytes = container->of.bytes;

	for (uint64_t bit = 0; bit < container->of.type->size * 8; bit++) {
		if (!(bytes[bit / 8] >> bit % 8 & 1) || n--)
			continue;
		snprintf(out->name, sizeof(out->name), "[%" PRIu64 "]", bit);
		return value_of_integer(container->context, &out->value,
				type_by_words(&container->context->types,
					      "int"), 1, why) ?
			       ERR_NO_MEMORY : 1;
	}
	return 0;
}

static bool open_bitset(struct container *container)
{
	if (container->of.type->size > VALUE_MOST)
		return false;
	container->kind = CONTAINER_NUMBERED;
	container->find_child = find_set_bit;
	return true;
}

/* A number, a pointer or an object, as the class is made for. */
static bool open_atomic(struct container *container)
{
	static const char *const paths[] = {
		"_M_i", "_M_fp", "_M_b._M_p", "_M_base._M_i",
	};
	struct value value;

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		if (!container_part(container, paths[i], &value))
			continue;
		container_say_argument(container);
		container_say(container, " = { ");
		container->tail = " }";
		return container_add(container, NULL, &value) &&
		       shape_parts(container, CONTAINER_ALONE);
	}
	return false;
}

static bool open_adapter(struct container *container)
{
	struct value inner;

	return container_part(container, "c", &inner) &&
	       container_wrap(container, &inner, " wrapping: ");
}

const struct recogniser recognisers_libstdcxx[] = {
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
	{ "std", "pair", open_pair },
	{ "std", "tuple", open_tuple },
	{ "std", "optional", open_optional },
	{ "std", "variant", open_variant },
	{ "std", "unique_ptr", open_unique },
	{ "std", "shared_ptr", open_shared },
	{ "std", "weak_ptr", open_shared },
	{ "std", "function", open_function },
	{ "std", "bitset", open_bitset },
	{ "std", "atomic", open_atomic },
	{ "std", "stack", open_adapter },
	{ "std", "queue", open_adapter },
	{ "std", "priority_queue", open_adapter },
	{ "std", "_List_iterator", open_list_iterator },
	{ "std", "_List_const_iterator", open_list_iterator },
	{ "std", "_Fwd_list_iterator", open_forward_iterator },
	{ "std", "_Fwd_list_const_iterator", open_forward_iterator },
	{ "std", "_Rb_tree_iterator", open_tree_iterator },
	{ "std", "_Rb_tree_const_iterator", open_tree_iterator },
	{ "std", "_Deque_iterator", open_deque_iterator },
	{ "__gnu_cxx", "__normal_iterator", open_plain_iterator },
	{ 0 },
};
