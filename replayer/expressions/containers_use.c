/* SPDX-License-Identifier: GPL-2.0-or-later */
/* containers_use.c - what expressions ask of containers */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/expressions/containers.h"

/* Elements that a search looks at: more would take minutes. */
#define SEARCH_MOST 100000u
#define TEXT_MOST (1u << 20)
#define BASES_MOST 8u		/* one in the other */

/* ------- text ------- */

struct text {
	const uint8_t *bytes;
	uint64_t size;
	unsigned width;		/* bytes of a character */
};

static bool is_character(const struct type *type)
{
	return type && type->kind == TYPE_INT && type->is_char &&
	       (type->size == 1 || type->size == 2 || type->size == 4);
}

/* Up to the zero that ends it, or `most` bytes. */
static uint64_t text_size(const uint8_t *bytes, uint64_t most, unsigned width)
{
	static const uint8_t zero[4];
	uint64_t size = 0;

	while (size + width <= most && memcmp(bytes + size, zero, width))
		size += width;
	return size;
}

/* What a pointer points to, as far as it is known. */
static bool read_pointed(struct context *context, uint64_t addr,
			 unsigned width, struct text *out)
{
	uint64_t room = 256, most = 0;

	for (; room <= TEXT_MOST; room *= 4) {
		uint8_t *bytes = context_take(context, room);
		uint8_t *known = context_take(context, room);

		if (!bytes || !known ||
		    context_look(context, addr, bytes, known, room, NULL))
			return false;
		for (most = 0; most < room && known[most];)
			most++;
		*out = (struct text) { bytes, text_size(bytes, most, width),
				       width };
		if (out->size + width <= most)
			return true;
		if (most < room)
			return false;
	}
	return false;
}

static bool read_text(struct context *context, const struct value *value,
		      struct text *out)
{
	struct value of = *value;
	struct container container;
	struct type *target;
	int64_t addr;

	if (value_strip(context, &of, NULL))
		return false;
	target = of.type->kind == TYPE_POINTER || of.type->kind == TYPE_ARRAY ?
			 type_target(of.type) : NULL;
	if (is_character(target)) {
		out->width = (unsigned)target->size;
		if (of.type->kind == TYPE_POINTER)
			return !value_integer(context, &of, &addr, NULL) &&
			       read_pointed(context, (uint64_t)addr,
					    out->width, out);
		if (of.type->size > VALUE_MOST ||
		    value_fetch(context, &of, NULL))
			return false;
		out->bytes = of.bytes;
		out->size = text_size(of.bytes, of.type->size, out->width);
		return true;
	}
	if (!container_open(context, &of, &container) ||
	    container.kind != CONTAINER_TEXT || *container.damage ||
	    container.count > TEXT_MOST)
		return false;
	out->width = (unsigned)container.element->size;
	out->size = container.count * out->width;
	out->bytes = context_take(context, out->size + 1);
	return out->bytes && !context_read(context, container.first,
					   (uint8_t *)out->bytes, out->size,
					   NULL);
}

static bool are_equal_texts(const struct text *left, const struct text *right)
{
	return left->width == right->width && left->size == right->size &&
	       !memcmp(left->bytes, right->bytes, left->size);
}

/* Two pointers or arrays are compared by their addresses, as in C. */
bool container_compare_texts(struct context *context, const struct value *left,
			     const struct value *right, bool *are_equal)
{
	struct text a, b;

	if (!type_is_class(left->type) && !type_is_class(right->type))
		return false;
	if (!read_text(context, left, &a) || !read_text(context, right, &b))
		return false;
	*are_equal = are_equal_texts(&a, &b);
	return true;
}

/* ------- elements ------- */

static int no_element(const struct container *container, int64_t n,
		      struct failure *why)
{
	if (container->has_count)
		return failed(why, ERR_INPUT, "there is no element %" PRId64
			      ": there are %" PRIu64, n, container->count);
	return failed(why, ERR_INPUT, "there is no element %" PRId64, n);
}

static int find_number(struct container *container, struct value *index,
		       struct value *out, struct failure *why)
{
	struct container_child child;
	int64_t n;
	int rc = value_integer(container->context, index, &n, why);

	if (rc)
		return rc;
	if (n < 0)
		return no_element(container, n, why);
	rc = container_child(container, (uint64_t)n, &child, why);
	if (rc < 0)
		return rc;
	*out = child.value;
	return rc ? 0 : no_element(container, n, why);
}

/* What is looked for in a map: text or a number. */
struct wanted {
	bool is_text;
	struct text text;
	long double number;
};

static bool is_wanted(struct context *context, struct value *key,
		      const struct wanted *wanted)
{
	long double number;
	struct text text;

	if (wanted->is_text)
		return read_text(context, key, &text) &&
		       are_equal_texts(&text, &wanted->text);
	return !value_double(context, key, &number, NULL) &&
	       number == wanted->number;
}

static int find_key(struct container *container, struct value *index,
		    struct value *out, struct failure *why)
{
	struct context *context = container->context;
	struct container_child child;
	struct wanted wanted = { 0 };
	int rc;

	wanted.is_text = read_text(context, index, &wanted.text);
	rc = wanted.is_text ? 0 : value_double(context, index, &wanted.number,
					       why);
	if (rc)
		return rc;
	for (uint64_t n = 0; n < SEARCH_MOST; n++) {
		rc = container_child(container, n, &child, why);
		if (rc < 0)
			return rc;
		if (!rc)
			return failed(why, ERR_NOT_FOUND, "there is no such"
				      " key among the %" PRIu64 " in it", n);
		if (is_wanted(context, &child.key, &wanted)) {
			*out = child.value;
			return 0;
		}
	}
	return failed(why, ERR_INPUT, "the key is none of the first %u, and no"
		      " more are looked at", SEARCH_MOST);
}

/* What is derived from a container is one, too. */
static bool open_any(struct context *context, const struct value *of,
		     struct container *out, unsigned depth)
{
	struct value object = *of;
	struct member_walk walk = { .context = context, .of = &object };
	struct member member;

	if (value_strip(context, &object, NULL))
		return false;
	if (container_open(context, &object, out))
		return true;
	while (depth < BASES_MOST && type_is_class(object.type) &&
	       member_next(&walk, &member) > 0) {
		struct value base = value_part(&object, &member);

		if (!member.is_base)
			return false;
		if (open_any(context, &base, out, depth + 1))
			return true;
	}
	return false;
}

static bool has_elements(const struct container *container)
{
	return container->kind != CONTAINER_ALONE && !container->is_pointer &&
	       container->kind != CONTAINER_NAMED;
}

int container_index(struct context *context, struct value *of,
		    struct value *index, struct value *out, bool *is_one,
		    struct failure *why)
{
	struct container container;
	struct container_child child;

	*is_one = open_any(context, of, &container, 0) &&
		  has_elements(&container);
	/* A smart pointer to an array is as the pointer. */
	if (!*is_one && container.is_pointer &&
	    container_child(&container, 0, &child, why) > 0)
		*of = child.value;
	if (!*is_one)
		return 0;
	return container.kind == CONTAINER_MAP ?
		       find_key(&container, index, out, why) :
		       find_number(&container, index, out, why);
}

int container_follow(struct context *context, const struct value *of,
		     struct value *out, bool *is_one, struct failure *why)
{
	struct container container;
	struct container_child child;
	int rc;

	*is_one = open_any(context, of, &container, 0) &&
		  !has_elements(&container);
	if (!*is_one)
		return 0;
	rc = container_child(&container, 0, &child, why);
	if (rc < 0)
		return rc;
	if (!rc)
		return failed(why, ERR_INPUT, "it has no value");
	if (container.is_pointer)
		return value_follow(context, &child.value, out, why);
	*out = child.value;
	return 0;
}

/* ------- functions ------- */

static int count_children(struct container *container, uint64_t *out,
			  struct failure *why)
{
	struct container_child child;
	int rc = 1;

	*out = container->count;
	if (*container->damage)
		return container_child(container, 0, &child, why);
	if (container->has_count)
		return 0;
	for (*out = 0; *out < SEARCH_MOST && rc > 0; (*out)++)
		rc = container_child(container, *out, &child, why);
	if (rc > 0)
		return failed(why, ERR_INPUT, "it has more than %u elements, or"
			      " no end", SEARCH_MOST);
	(*out)--;
	return rc;
}

static int give_number(struct container *container, const char *type,
		       uint64_t number, struct value *out, struct failure *why)
{
	return value_of_integer(container->context, out,
				type_by_words(&container->context->types, type),
				number, why);
}

static int ask_size(struct container *container, struct value *argument,
		    struct value *out, struct failure *why)
{
	uint64_t count;
	int rc = count_children(container, &count, why);

	(void)argument;
	return rc ? rc : give_number(container, "unsigned long", count, out,
				     why);
}

static int ask_empty(struct container *container, struct value *argument,
		     struct value *out, struct failure *why)
{
	struct container_child child;
	int rc = container_child(container, 0, &child, why);

	(void)argument;
	return rc < 0 ? rc : give_number(container, "bool", !rc, out, why);
}

static int ask_capacity(struct container *container, struct value *argument,
			struct value *out, struct failure *why)
{
	(void)argument;
	if (!container->has_capacity)
		return failed(why, ERR_INPUT, "it has none");
	return give_number(container, "unsigned long", container->capacity,
			   out, why);
}

static int ask_element(struct container *container, struct value *argument,
		       struct value *out, struct failure *why)
{
	if (!argument)
		return failed(why, ERR_INPUT, "which element is meant, stands"
			      " in the parentheses");
	return container->kind == CONTAINER_MAP ?
		       find_key(container, argument, out, why) :
		       find_number(container, argument, out, why);
}

static int ask_first(struct container *container, struct value *argument,
		     struct value *out, struct failure *why)
{
	struct value zero;
	int rc = give_number(container, "long", 0, &zero, why);

	(void)argument;
	return rc ? rc : find_number(container, &zero, out, why);
}

static int ask_last(struct container *container, struct value *argument,
		    struct value *out, struct failure *why)
{
	struct value last;
	uint64_t count;
	int rc = count_children(container, &count, why);

	(void)argument;
	if (!rc)
		rc = give_number(container, "long", count - 1, &last, why);
	return rc ? rc : find_number(container, &last, out, why);
}

/* The pointer itself. */
static int ask_pointer(struct container *container, struct value *argument,
		       struct value *out, struct failure *why)
{
	struct container_child child;
	int rc = container_child(container, 0, &child, why);

	(void)argument;
	*out = child.value;
	return rc < 0 ? rc : 0;
}

/* Where elements or characters are. */
static int ask_place(struct container *container, struct value *argument,
		     struct value *out, struct failure *why)
{
	(void)argument;
	return value_of_integer(container->context, out,
				type_pointer(&container->context->types,
					     container->element),
				container->first, why);
}

static int ask_presence(struct container *container, struct value *argument,
			struct value *out, struct failure *why)
{
	(void)argument;
	return give_number(container, "bool", container->count != 0, out, why);
}

static int ask_value(struct container *container, struct value *argument,
		     struct value *out, struct failure *why)
{
	struct container_child child;
	int rc = container_child(container, 0, &child, why);

	(void)argument;
	if (!rc)
		return failed(why, ERR_INPUT, "it has no value");
	*out = child.value;
	return rc < 0 ? rc : 0;
}

static bool is_sequence(const struct container *container)
{
	return has_elements(container);
}

static bool is_pointer(const struct container *container)
{
	return container->is_pointer;
}

static bool is_contiguous(const struct container *container)
{
	return container->kind == CONTAINER_TEXT || container->is_contiguous;
}

static bool is_wrapped(const struct container *container)
{
	return container->kind == CONTAINER_NAMED && !container->is_pointer;
}

/* Functions that only look, in C++, Rust and Go. */
static const struct function {
	const char *name;
	bool (*has)(const struct container *container);
	int (*ask)(struct container *container, struct value *argument,
		   struct value *out, struct failure *why);
} functions[] = {
	{ "size", is_sequence, ask_size },
	{ "length", is_sequence, ask_size },
	{ "len", is_sequence, ask_size },
	{ "empty", is_sequence, ask_empty },
	{ "is_empty", is_sequence, ask_empty },
	{ "capacity", is_sequence, ask_capacity },
	{ "at", is_sequence, ask_element },
	{ "front", is_sequence, ask_first },
	{ "back", is_sequence, ask_last },
	{ "data", is_contiguous, ask_place },
	{ "c_str", is_contiguous, ask_place },
	{ "get", is_pointer, ask_pointer },
	{ "use_count", is_pointer, ask_capacity },
	{ "has_value", is_wrapped, ask_presence },
	{ "value", is_wrapped, ask_value },
};

int container_ask(struct context *context, const struct value *of,
		  const char *name, struct value *argument, struct value *out,
		  bool *is_one, struct failure *why)
{
	struct container container;
	size_t i = 0, count = sizeof(functions) / sizeof(*functions);

	while (i < count && strcmp(functions[i].name, name))
		i++;
	*is_one = i < count && open_any(context, of, &container, 0) &&
		  functions[i].has(&container);
	return *is_one ? functions[i].ask(&container, argument, out, why) : 0;
}
