/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * container_shapes.c - where children are, by what containers are made of
 *
 * Containers of all libraries are arrays, blocks, chains, trees or a few parts.
 * Addresses and counts are the guest's: each look is bounded.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/expressions/containers_internal.h"

/* Links from one node of a tree to the next: no tree in memory is that high. */
#define LINKS_MOST 128u

static uint64_t word_of(const struct container *container)
{
	return container->context->types.word;
}

static uint64_t aligned(uint64_t offset, uint64_t to)
{
	return to > 1 ? (offset + to - 1) / to * to : offset;
}

static bool begin(struct container *container, enum container_kind kind,
		  struct type *element, container_find_child *find_child)
{
	container->kind = kind;
	container->element = element;
	container->find_child = find_child;
	return element != NULL;
}

static void number_child(struct container_child *out, uint64_t n)
{
	snprintf(out->name, sizeof(out->name), "[%" PRIu64 "]", n);
}

int container_take(struct container *container, uint64_t n, uint64_t addr,
		   struct container_child *out)
{
	struct value element = {
		.type = container->element, .has_addr = true, .addr = addr,
	};

	number_child(out, n);
	out->value = element;
	if (container->kind == CONTAINER_MAP)
		out->key = value_part(&element, &container->key);
	if (container->kind == CONTAINER_MAP || container->is_first)
		out->value = value_part(&element, &container->value);
	return 1;
}

static int unreadable(uint64_t addr, struct failure *why)
{
	return failed(why, ERR_NOT_FOUND, "Cannot access memory at address"
		      " 0x%" PRIx64, addr);
}

/* ------- arrays ------- */

static int find_in_array(struct container *container, uint64_t n,
			 struct container_child *out, struct failure *why)
{
	(void)why;
	return n < container->count ?
		container_take(container, n, container->first +
				   n * container->element->size, out) : 0;
}

bool shape_counted(struct container *container, uint64_t first, uint64_t count,
		   struct type *element)
{
	container->first = first;
	container->has_count = container->is_contiguous = true;
	container->count = count;
	return begin(container, CONTAINER_ARRAY, element, find_in_array);
}

bool shape_array(struct container *container, uint64_t first, uint64_t end,
		 struct type *element)
{
	uint64_t size = element && element->size ? element->size : 1;

	if (!shape_counted(container, first, (end - first) / size, element))
		return false;
	if (end < first)
		return container_damaged(container, "its end, 0x%" PRIx64 ", is"
			" before its beginning, 0x%" PRIx64, end, first);
	if ((end - first) % size)
		return container_damaged(container, "from 0x%" PRIx64 " to 0x%"
			PRIx64 " is no whole number of elements", first, end);
	return true;
}

bool shape_vector(struct container *container, uint64_t first, uint64_t last,
		  uint64_t end, struct type *element)
{
	if (!shape_array(container, first, last, element))
		return false;
	container->has_capacity = true;
	container->capacity = (end - first) /
			      (element->size ? element->size : 1);
	container_say(container, " of length %" PRId64 ", capacity %" PRId64,
		      (int64_t)container->count, (int64_t)container->capacity);
	if (!*container->damage && end < last)
		container_damaged(container, "its end, 0x%" PRIx64
				  ", is behind its storage, which ends at 0x%"
				  PRIx64, last, end);
	return true;
}

bool shape_span(struct container *container, uint64_t first, uint64_t count,
		struct type *element)
{
	container_say(container, " of length %" PRIu64, count);
	return shape_counted(container, first, count, element);
}

bool shape_text(struct container *container, uint64_t first, uint64_t count,
		struct type *character)
{
	bool is_good = shape_counted(container, first, count, character);

	container->kind = CONTAINER_TEXT;
	if (is_good && (!character->size || character->size > 4))
		return false;
	if (is_good && (count > UINT32_MAX * (uint64_t)4096 ||
			first + count * character->size < first))
		return container_damaged(container, "its length is %" PRIu64,
					 count);
	return is_good;
}

/* ------- blocks, rings and bits ------- */

static int find_in_blocks(struct container *container, uint64_t n,
			  struct container_child *out, struct failure *why)
{
	uint64_t at = container->offset + n, word = word_of(container), block;
	uint64_t where = container->first + at / container->per_block * word;

	if (n >= container->count)
		return 0;
	if (!container_word(container, where, &block))
		return unreadable(where, why);
	return container_take(container, n, block + at % container->per_block *
				  container->element->size, out);
}

bool shape_blocks(struct container *container, uint64_t map, uint64_t skipped,
		  uint64_t per_block, struct type *element)
{
	container->first = map;
	container->offset = skipped;
	container->per_block = per_block;
	return per_block && begin(container, CONTAINER_ARRAY, element,
				  find_in_blocks);
}

static int find_in_ring(struct container *container, uint64_t n,
			struct container_child *out, struct failure *why)
{
	uint64_t at = container->offset + n;

	(void)why;
	if (n >= container->count)
		return 0;
	if (at >= container->per_block)
		at -= container->per_block;
	return container_take(container, n, container->first +
				  at * container->element->size, out);
}

bool shape_ring(struct container *container, uint64_t first, uint64_t head,
		uint64_t capacity, struct type *element)
{
	container->first = first;
	container->offset = head;
	container->per_block = capacity;
	if (!begin(container, CONTAINER_ARRAY, element, find_in_ring))
		return false;
	if (element->size && (head > capacity || container->count > capacity))
		return container_damaged(container, "%" PRIu64 " elements from"
			" %" PRIu64 " on have no room in %" PRIu64,
			container->count, head, capacity);
	return true;
}

static int find_bit(struct container *container, uint64_t n,
		    struct container_child *out, struct failure *why)
{
	uint64_t bit = container->offset + n;
	uint8_t byte;

	if (n >= container->count)
		return 0;
	/* Words of guests are little-endian: bits of bytes, in their order. */
	if (!container_bytes(container, container->first + bit / 8, &byte, 1))
		return unreadable(container->first + bit / 8, why);
	number_child(out, n);
	return value_of_integer(container->context, &out->value,
				container->element, byte >> bit % 8 & 1, why) ?
		       ERR_NO_MEMORY : 1;
}

bool shape_bits(struct container *container, uint64_t first, uint64_t skipped)
{
	container->first = first;
	container->offset = skipped;
	return begin(container, CONTAINER_ARRAY,
		     type_by_words(&container->context->types, "bool"),
		     find_bit);
}

/* ------- chains ------- */

/* Goes on from the node that was found last, or begins anew. */
static void find_start(struct container *container, uint64_t n)
{
	if (container->is_begun && n >= container->at_n)
		return;
	container->at = container->passed = container->first;
	container->at_n = 0;
	container->is_begun = true;
}

/*
 * Says that the node was passed before.  The one to compare with moves on after
 * 1, 2, 4, ... nodes, so that circles of any length are found.
 */
static int look_for_circle(struct container *container, struct failure *why)
{
	uint64_t n = ++container->at_n;

	if (container->at == container->passed)
		return failed(why, ERR_INPUT, "damaged: its nodes form a"
			      " circle");
	if (!(n & (n - 1)))
		container->passed = container->at;
	return 0;
}

static int ends_early(const struct container *container, uint64_t n,
		      struct failure *why)
{
	return failed(why, ERR_INPUT, "damaged: there are %" PRIu64 " of %"
		      PRIu64 " elements", n, container->count);
}

static int find_in_chain(struct container *container, uint64_t n,
			 struct container_child *out, struct failure *why)
{
	if (container->has_count && n > container->count)
		return 0;
	find_start(container, n);
	for (;;) {
		uint64_t node = container->at;

		if (node == container->end || !node)
			return container->has_count &&
			       container->at_n != container->count ?
				ends_early(container, container->at_n, why) : 0;
		if (container->has_count && container->at_n == container->count)
			return failed(why, ERR_INPUT, "damaged: it goes on"
				      " behind %" PRIu64 " elements",
				      container->count);
		if (container->at_n == n)
			return container_take(container, n,
					      node + container->offset, out);
		node += container->next * word_of(container);
		if (!container_word(container, node, &container->at))
			return unreadable(node, why);
		if (look_for_circle(container, why))
			return ERR_INPUT;
	}
}

bool shape_chain(struct container *container, uint64_t first, uint64_t end,
		 unsigned next, unsigned links, struct type *element)
{
	if (!begin(container, CONTAINER_NUMBERED, element, find_in_chain))
		return false;
	container->first = first;
	container->end = end;
	container->next = next;
	container->offset = aligned(links * word_of(container),
				    type_alignment(element));
	return true;
}

/* ------- trees ------- */

struct tree_walk {
	struct container *container;
	unsigned links;		/* followed since the last node */
	uint64_t failed_at;
};

static bool follow(struct tree_walk *walk, uint64_t node, uint64_t word,
		   uint64_t *out)
{
	uint64_t addr = node + word * word_of(walk->container);

	walk->failed_at = addr;
	return ++walk->links < LINKS_MOST &&
	       container_word(walk->container, addr, out);
}

/* The next node in order. */
static bool next_node(struct tree_walk *walk, const struct tree_links *links,
		      uint64_t node, uint64_t *out)
{
	uint64_t next, right;

	if (!follow(walk, node, links->right, &next))
		return false;
	if (next) {
		do {
			*out = next;
			if (!follow(walk, next, links->left, &next))
				return false;
		} while (next);
		return true;
	}
	do {
		if (!follow(walk, node, links->parent, &next) ||
		    !follow(walk, next, links->right, &right))
			return false;
		*out = next;
		if (right != node)
			return true;
		node = next;
	} while (true);
}

static int find_in_tree(struct container *container, uint64_t n,
			struct container_child *out, struct failure *why)
{
	if (n >= container->count)
		return 0;
	find_start(container, n);
	while (container->at_n < n) {
		struct tree_walk walk = { .container = container };

		if (next_node(&walk, &container->links, container->at,
			      &container->at)) {
			if (look_for_circle(container, why))
				return ERR_INPUT;
			continue;
		}
		if (walk.links >= LINKS_MOST)
			return failed(why, ERR_INPUT, "damaged: its nodes are"
				      " no tree");
		return unreadable(walk.failed_at, why);
	}
	if (!container->at)
		return ends_early(container, n, why);
	return container_take(container, n, container->at + container->offset,
			      out);
}

bool shape_tree(struct container *container, uint64_t first,
		const struct tree_links *links, struct type *element)
{
	if (!begin(container, CONTAINER_NUMBERED, element, find_in_tree))
		return false;
	container->first = first;
	container->links = *links;
	container->offset = aligned(links->size,
				    type_alignment(element));
	return true;
}

/* ------- a few parts ------- */

static int find_part(struct container *container, uint64_t n,
		     struct container_child *out, struct failure *why)
{
	(void)why;
	if (n >= container->count)
		return 0;
	out->value = container->parts[n].value;
	if (container->parts[n].name)
		snprintf(out->name, sizeof(out->name), "%s",
			 container->parts[n].name);
	else
		number_child(out, n);
	return 1;
}

bool container_add(struct container *container, const char *name,
		   const struct value *part)
{
	struct container_named *parts = container->parts;

	if (!parts)
		parts = context_take(container->context, sizeof(*parts) *
				     CONTAINER_PARTS_MOST);
	container->parts = parts;
	if (!parts || container->count == CONTAINER_PARTS_MOST)
		return false;
	parts[container->count++] = (struct container_named) { name, *part };
	return true;
}

bool shape_parts(struct container *container, enum container_kind kind)
{
	container->kind = kind;
	container->has_count = true;
	container->find_child = find_part;
	return true;
}

bool container_stands_at(struct container *container, uint64_t node,
			 uint64_t size, struct type *element)
{
	struct value value = { .type = element, .has_addr = true };

	if (!element || !node)
		return false;
	value.addr = node + aligned(size, type_alignment(element));
	return container_stands_for(container, &value);
}

/* ------- maps ------- */

static bool find_member(struct container *container, const char *name,
			struct member *out)
{
	struct value element = { .type = container->element };
	struct member_walk walk = { .context = container->context,
				    .of = &element };

	while (member_next(&walk, out) > 0)
		if (out->name && !out->is_static && !strcmp(out->name, name))
			return true;
	return false;
}

bool container_is_map(struct container *container, const char *key,
		      const char *value)
{
	if (!container->element ||
	    !find_member(container, key, &container->key) ||
	    !find_member(container, value, &container->value))
		return false;
	container->kind = CONTAINER_MAP;
	return true;
}
