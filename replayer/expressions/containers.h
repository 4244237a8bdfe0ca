/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * containers.h - what containers of standard libraries hold
 *
 * A container is recognised by the name of its type and the members that its
 * library gives it.  Whatever it is made of, a caller sees children by number:
 * elements, pairs of keys and values, or the object that a smart pointer leads
 * to.  Children are values in the guest's memory; nothing of the guest runs.
 *
 * Ownership:  as in values.h.
 * Errors:     those of values.h; ERR_INPUT (a damaged container).
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_CONTAINERS_H
#define CPREC_REPLAYER_EXPRESSIONS_CONTAINERS_H

#include "replayer/expressions/values.h"

enum container_kind {
	CONTAINER_TEXT,		/* characters */
	CONTAINER_ARRAY,	/* elements: {1, 2} */
	CONTAINER_NUMBERED,	/* elements: {[0] = 1, [1] = 2} */
	CONTAINER_MAP,		/* keys and values: {["a"] = 1} */
	CONTAINER_NAMED,	/* a few parts with names: {first = 1} */
	CONTAINER_ALONE,	/* one child stands for the whole */
};

#define CONTAINER_TITLE_MOST 1024u
#define CONTAINER_PARTS_MOST 32u

/* The name of a child is read by the names of its kind. */
struct container_child {
	char name[40];		/* "first", "[3]"; of CONTAINER_NAMED and
				   CONTAINER_NUMBERED */
	struct value key;	/* of CONTAINER_MAP */
	struct value value;
};

struct container;

/*
 * Finds child `n`: returns 1, or 0 behind the last one.  To ask for children in
 * their order takes constant time each.
 */
typedef int container_find_child(struct container *container, uint64_t n,
				 struct container_child *out,
				 struct failure *why);

/*
 * At which words nodes of a binary tree have links; the value is behind so many
 * bytes.
 */
struct tree_links {
	unsigned left, right, parent, size;
};

struct container {
	struct context *context;
	struct value of;
	enum container_kind kind;
	char title[CONTAINER_TITLE_MOST];	/* "std::vector of length 3" */
	const char *tail;	/* what is written behind the children */
	char damage[160];	/* why its children make no sense; or "" */
	bool has_count;
	uint64_t count;		/* children */
	bool has_capacity;
	uint64_t capacity;
	bool is_native;		/* its language shows it so, with or without
				   printers */
	bool is_first;		/* of each pair, only the first is meant */
	bool is_plain;		/* it is shown by its members */
	bool is_contiguous;	/* elements are from `first` on */
	bool is_pointer;	/* child 0 is a pointer to what is meant */
	struct type *element;	/* of elements, or of pairs */
	container_find_child *find_child;

	/* What find_child needs to know; see container_shapes.c. */
	uint64_t first, end;	/* addresses: of elements, of nodes */
	uint64_t offset;	/* of an element in its node */
	unsigned next;		/* word of a node that leads to the next one */
	uint64_t per_block;	/* elements */
	struct tree_links links;
	struct member key, value;	/* of an element, of CONTAINER_MAP */
	uint64_t at, at_n;	/* the node that was asked for last, its number */
	bool is_begun;
	uint64_t passed;	/* a node: who comes there again, goes in circles */
	struct type *table;	/* one of ... */
	uint64_t tables;	/* ... so many; 0: it is no table yet */
	struct {		/* of tables in blocks of slots: the next slot */
		uint64_t table, block, slot;
	} next_slot;

	/* Parts that were found when the container was opened. */
	struct container_named {
		const char *name;	/* NULL: its number */
		struct value value;
	} *parts;		/* CONTAINER_PARTS_MOST; NULL: none */
};

/*
 * Whether the value is a container: then it is opened.  References are followed.
 * Bases of a class are not looked at.
 */
bool container_open(struct context *context, const struct value *value,
		    struct container *out);

/* A child, as container_find_child says; also of a damaged container. */
int container_child(struct container *container, uint64_t n,
		    struct container_child *out, struct failure *why);

/*
 * "container[index]": an element, or the value of a key.  `*is_one` is false if
 * it is no such container; then a smart pointer has become the pointer in it.
 */
int container_index(struct context *context, struct value *of,
		    struct value *index, struct value *out, bool *is_one,
		    struct failure *why);

/*
 * "*pointer" of a smart pointer, an iterator or an optional value.  `*is_one` is
 * false, and nothing is done, if it is none.
 */
int container_follow(struct context *context, const struct value *of,
		     struct value *out, bool *is_one, struct failure *why);

/*
 * "container.name(argument)", of functions that only look, like size();
 * `argument` may be NULL.  The same.
 */
int container_ask(struct context *context, const struct value *of,
		  const char *name, struct value *argument, struct value *out,
		  bool *is_one, struct failure *why);

/* Whether both are texts: then whether they are the same. */
bool container_compare_texts(struct context *context, const struct value *left,
			     const struct value *right, bool *are_equal);

#endif
