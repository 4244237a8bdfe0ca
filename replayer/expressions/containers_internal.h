/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * containers_internal.h - what those who recognise containers use
 *
 * A function that opens a container returns false if members are missing or
 * cannot be read: then the value is shown by its members.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_CONTAINERS_INTERNAL_H
#define CPREC_REPLAYER_EXPRESSIONS_CONTAINERS_INTERNAL_H

#include "replayer/expressions/containers.h"

struct recogniser {
	const char *scope;	/* "std"; inline namespaces are left out */
	const char *name;	/* without arguments of templates; a '*' at the
				   end stands for anything */
	bool (*open)(struct container *container);
};

/* Ends with a row without a name. */
extern const struct recogniser recognisers_libstdcxx[], recognisers_libcxx[],
	recognisers_rust[], recognisers_go[];

/* ------- what a container is made of ------- */

/* The member at a path: "_M_impl._M_start". */
bool container_part(struct container *container, const char *path,
		    struct value *out);
bool value_path(struct context *context, const struct value *of,
		const char *path, struct value *out);

/* The same of a number or an address. */
bool container_number(struct container *container, const char *path,
		      uint64_t *out);

/* A pointer: its number, and the type that it points to. */
bool container_pointer(struct container *container, const char *path,
		       uint64_t *addr, struct type **target);

/* Numbers that are in memory; false if they are not known. */
bool container_word(struct container *container, uint64_t addr, uint64_t *out);
bool container_bytes(struct container *container, uint64_t addr, void *out,
		     size_t size);

/* Argument `n` of the template that a type was made of; NULL: none. */
struct type *type_argument(struct type *type, unsigned n);

/* What a typedef inside of a class stands for; NULL: there is none. */
struct type *type_inside(struct type *type, const char *name);

/* What a container is made for: its `value_type`. */
struct type *container_element(struct container *container);

/* An argument that is a number. */
bool type_argument_number(struct type *type, unsigned n, uint64_t *out);

/* The base number `n` of a class. */
bool value_base(struct context *context, const struct value *of, unsigned n,
		struct value *out);

/* A part of `of`, at its beginning, seen as another type. */
struct value value_seen_as(const struct value *of, struct type *type);

/* Text at the end of the title. */
void container_say(struct container *container, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void container_say_type(struct container *container, struct type *type);

/* " with 1 element", " with 3 elements" */
void container_say_count(struct container *container, uint64_t count);

/* "<T>", of its first argument. */
void container_say_argument(struct container *container);

/* "empty" before the title. */
void container_say_empty(struct container *container);

/* Says what is wrong; returns true: the container is opened. */
bool container_damaged(struct container *container, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* What may hold a value: the value that it holds, or NULL. */
bool container_holds(struct container *container, const struct value *value);

/* A smart pointer. */
bool container_points(struct container *container, const struct value *pointer);

/* It stands for this value, as an iterator does. */
bool container_stands_for(struct container *container,
			  const struct value *value);

/* The same of the value in a node, behind at least `size` bytes; 0: none. */
bool container_stands_at(struct container *container, uint64_t node,
			 uint64_t size, struct type *element);

/* Opens what it holds in its stead, with the title behind its own one. */
bool container_wrap(struct container *container, const struct value *inner,
		    const char *title);

/* Takes a part as a child with a name. */
bool container_add(struct container *container, const char *name,
		   const struct value *part);

/* ------- shapes ------- */

/* Takes the element at an address as child `n`, of a map a pair; returns 1. */
int container_take(struct container *container, uint64_t n, uint64_t addr,
		   struct container_child *out);

/* Elements one behind the other; `count` is known. */
bool shape_array(struct container *container, uint64_t first, uint64_t end,
		 struct type *element);
bool shape_counted(struct container *container, uint64_t first, uint64_t count,
		   struct type *element);

/* The same, with a title that says how many; storage reaches up to `end`. */
bool shape_vector(struct container *container, uint64_t first, uint64_t last,
		  uint64_t end, struct type *element);
bool shape_span(struct container *container, uint64_t first, uint64_t count,
		struct type *element);

/* `first` is the place of the first character. */
bool shape_text(struct container *container, uint64_t first, uint64_t count,
		struct type *character);

/*
 * Elements in blocks of `per_block`, the addresses of which are in an array:
 * `map`.  The first one is number `skipped` there.
 */
bool shape_blocks(struct container *container, uint64_t map, uint64_t skipped,
		  uint64_t per_block, struct type *element);

/* Bits in words of the guest, the lowest first, from bit `skipped` on. */
bool shape_bits(struct container *container, uint64_t first, uint64_t skipped);

/* An array of `capacity` elements that goes on at its beginning. */
bool shape_ring(struct container *container, uint64_t first, uint64_t head,
		uint64_t capacity, struct type *element);

/*
 * Nodes that have the address of the next one at word `next`; the value is behind
 * `links` words.  Ends at `end`, or at 0.
 */
bool shape_chain(struct container *container, uint64_t first, uint64_t end,
		 unsigned next, unsigned links, struct type *element);

/* Nodes of a binary tree; `first` is the leftmost one. */
bool shape_tree(struct container *container, uint64_t first,
		const struct tree_links *links, struct type *element);

/* Children are the parts that were added. */
bool shape_parts(struct container *container, enum container_kind kind);

/* It is a map: an element has these parts. */
bool container_is_map(struct container *container, const char *key,
		      const char *value);

#endif
