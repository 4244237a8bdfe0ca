/* SPDX-License-Identifier: GPL-2.0-or-later */
/* containers.c - see containers.h */
#include <dwarf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/expressions/candidates.h"
#include "replayer/expressions/containers_internal.h"
#include "replayer/expressions/dies.h"
#include "replayer/expressions/members.h"

static const struct recogniser *const libraries[] = {
	recognisers_libstdcxx, recognisers_libcxx, recognisers_rust,
	recognisers_go,
};

#define ENTRIES_MOST 100000u	/* in a class, that are looked at */

/* ------- names of types ------- */

/* Namespaces of versions, which nobody writes: "std::__1". */
static bool is_version(const char *scope, size_t size)
{
	return (size > 2 && !strncmp(scope, "__", 2) &&
		scope[2] >= '0' && scope[2] <= '9') ||
	       (size == 7 && !strncmp(scope, "__ndk1", 6));
}

static bool is_inline(const char *scope, size_t size)
{
	return size > 2 && !strncmp(scope, "__", 2);
}

/* Copies scopes but for those that `leaves_out` takes; a std's alone. */
static void copy_scopes(char *out, const char *scopes,
			bool (*leaves_out)(const char *scope, size_t size))
{
	bool is_std = !strncmp(scopes, "std", 3);
	size_t length = 0;

	while (*scopes) {
		const char *end = strstr(scopes, "::");
		size_t size = end ? (size_t)(end - scopes) : strlen(scopes);

		if (!is_std || !leaves_out(scopes, size)) {
			if (length) {
				memcpy(out + length, "::", 2);
				length += 2;
			}
			memcpy(out + length, scopes, size);
			length += size;
		}
		scopes += size + (end ? 2 : 0);
	}
	out[length] = '\0';
}

/* The scopes of a type that is called `name`; "" if it has none. */
static bool find_scopes(struct context *context, struct type *type,
			const char *name, char *out)
{
	char text[NAME_MOST];
	size_t length, own = strlen(name);

	if (!context->types.qualify(context->types.context, &type->die, text,
				    sizeof(text)))
		return false;
	length = strlen(text);
	if (length < own + 2 || strcmp(text + length - own, name)) {
		*out = '\0';
		return true;
	}
	text[length - own - 2] = '\0';
	memcpy(out, text, length - own - 1);
	return true;
}

static bool fits_name(const struct recogniser *row, const char *name,
		      size_t size)
{
	size_t length = strlen(row->name);

	if (row->name[length - 1] == '*')
		return size >= length - 1 &&
		       !strncmp(name, row->name, length - 1);
	return size == length && !strncmp(name, row->name, length);
}

/* ------- opening ------- */

/* What one library calls so; `name` without arguments has `size` bytes. */
static bool open_by(const struct recogniser *row, struct container *container,
		    const char *name, size_t size)
{
	struct context *context = container->context;
	char scopes[NAME_MOST], plain[NAME_MOST];
	struct value of;
	bool has_scopes = false;

	for (; row->name; row++) {
		if (!fits_name(row, name, size))
			continue;
		if (!row->scope)
			*scopes = '\0';
		else if (!has_scopes && !find_scopes(context,
						     container->of.type, name,
						     scopes))
			return false;
		has_scopes = row->scope != NULL;
		copy_scopes(plain, scopes, is_inline);
		if (row->scope && strcmp(row->scope, plain))
			continue;
		copy_scopes(plain, scopes, is_version);
		if (value_fetch(context, &container->of, NULL))
			return false;
		of = container->of;
		*container = (struct container) { .context = context,
						  .of = of };
		container_say(container, "%s%s%.*s", plain, *plain ? "::" : "",
			      (int)size, name);
		if (row->open(container) && container->find_child)
			return true;
	}
	return false;
}

/* Names of Go and of slices of Rust are no templates. */
static size_t name_size(const struct type *type, const char *name)
{
	return type->language == LANGUAGE_GO ? strlen(name) :
					       strcspn(name, "<");
}

bool container_open(struct context *context, const struct value *value,
		    struct container *out)
{
	struct trace *trace = context->trace;
	unsigned members = context->members;
	const char *name;

	*out = (struct container) { .context = context, .of = *value };
	if (value_strip(context, &out->of, NULL) ||
	    (!type_is_class(out->of.type) &&
	     out->of.type->language != LANGUAGE_GO) || !out->of.type->has_die ||
	    out->of.is_absent)
		return false;
	name = dwarf_diename(out->of.type->language == LANGUAGE_GO ?
				     &out->of.type->written :
				     &out->of.type->die);
	if (!name)
		return false;
	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++) {
		if (!open_by(libraries[i], out, name,
			     name_size(out->of.type, name)))
			continue;
		/* Members of libraries are few: one container counts as one. */
		context->members = members + 1;
		/* No tree tells of what it depends on. */
		if (trace)
			trace->opaque++;
		return true;
	}
	return false;
}

int container_child(struct container *container, uint64_t n,
		    struct container_child *out, struct failure *why)
{
	*out->name = '\0';
	if (*container->damage)
		return failed(why, ERR_INPUT, "damaged: %s",
			      container->damage);
	return container->find_child(container, n, out, why);
}

bool container_wrap(struct container *container, const struct value *inner,
		    const char *title)
{
	struct container *inside = malloc(sizeof(*inside));
	bool is_good = inside &&
		container_open(container->context, inner, inside) &&
		!inside->is_plain && inside->kind != CONTAINER_TEXT &&
		inside->kind != CONTAINER_ALONE && *inside->title;

	if (is_good) {
		char own[CONTAINER_TITLE_MOST], all[CONTAINER_TITLE_MOST];

		snprintf(own, sizeof(own), "%s", inside->title);
		snprintf(all, sizeof(all), "%.500s%s%.500s", container->title,
			 title, own);
		*container = *inside;
		memcpy(container->title, all, sizeof(all));
	}
	free(inside);
	return is_good;
}

bool container_holds(struct container *container, const struct value *value)
{
	if (value && container_wrap(container, value, " containing "))
		return true;
	if (!value)
		container_say(container, " [no contained value]");
	return (!value ||
		container_add(container, "[contained value]", value)) &&
	       shape_parts(container, CONTAINER_NAMED);
}

bool container_points(struct container *container, const struct value *pointer)
{
	container->is_pointer = true;
	return container_add(container, "get()", pointer) &&
	       shape_parts(container, CONTAINER_NAMED);
}

bool container_stands_for(struct container *container,
			  const struct value *value)
{
	*container->title = '\0';
	return container_add(container, NULL, value) &&
	       shape_parts(container, CONTAINER_ALONE);
}

/* ------- titles and damage ------- */

void container_say(struct container *container, const char *format, ...)
{
	size_t length = strlen(container->title);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(container->title + length, sizeof(container->title) - length,
		  format, arguments);
	va_end(arguments);
}

void container_say_type(struct container *container, struct type *type)
{
	char *text = type ? type_to_text(type) : NULL;

	container_say(container, "%s", text ? text : "?");
	free(text);
}

void container_say_argument(struct container *container)
{
	container_say(container, "<");
	container_say_type(container, type_argument(container->of.type, 0));
	container_say(container, ">");
}

void container_say_empty(struct container *container)
{
	char own[CONTAINER_TITLE_MOST];

	snprintf(own, sizeof(own), "empty %.1000s", container->title);
	memcpy(container->title, own, sizeof(own));
}

void container_say_count(struct container *container, uint64_t count)
{
	container_say(container, " with %" PRIu64 " element%s", count,
		      count == 1 ? "" : "s");
}

bool container_damaged(struct container *container, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(container->damage, sizeof(container->damage), format,
		  arguments);
	va_end(arguments);
	return true;
}

/* ------- members ------- */

bool value_path(struct context *context, const struct value *of,
		const char *path, struct value *out)
{
	char name[64];

	*out = *of;
	while (*path) {
		struct value part = *out;
		size_t size = strcspn(path, ".");

		if (size >= sizeof(name))
			return false;
		memcpy(name, path, size);
		name[size] = '\0';
		if (value_member(context, &part, name, out, NULL))
			return false;
		path += size + (path[size] == '.');
	}
	return true;
}

bool container_part(struct container *container, const char *path,
		    struct value *out)
{
	return value_path(container->context, &container->of, path, out);
}

bool container_number(struct container *container, const char *path,
		      uint64_t *out)
{
	struct value part;
	int64_t number;

	if (!container_part(container, path, &part) ||
	    value_integer(container->context, &part, &number, NULL))
		return false;
	*out = (uint64_t)number;
	return true;
}

bool container_pointer(struct container *container, const char *path,
		       uint64_t *addr, struct type **target)
{
	struct value pointer;
	int64_t number;

	if (!container_part(container, path, &pointer) ||
	    pointer.type->kind != TYPE_POINTER ||
	    value_integer(container->context, &pointer, &number, NULL))
		return false;
	*addr = (uint64_t)number;
	*target = type_target(pointer.type);
	return *target != NULL;
}

bool container_bytes(struct container *container, uint64_t addr, void *out,
		     size_t size)
{
	return !context_read(container->context, addr, out, size, NULL);
}

bool container_word(struct container *container, uint64_t addr, uint64_t *out)
{
	*out = 0;
	return container_bytes(container, addr, out,
			       container->context->types.word);
}

bool value_base(struct context *context, const struct value *of, unsigned n,
		struct value *out)
{
	struct member_walk walk = { .context = context, .of = of };
	struct member member;

	while (member_next(&walk, &member) > 0) {
		if (!member.is_base || n--)
			continue;
		*out = value_part(of, &member);
		return true;
	}
	return false;
}

struct value value_seen_as(const struct value *of, struct type *type)
{
	const struct member whole = { .type = type };

	return value_part(of, &whole);
}

/* ------- arguments of templates ------- */

/* Those of a pack are counted one by one. */
static bool find_argument(Dwarf_Die *of, unsigned *n, Dwarf_Die *out,
			  unsigned depth)
{
	unsigned looked = 0;
	Dwarf_Die die;

	if (dwarf_child(of, &die))
		return false;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_GNU_template_parameter_pack && !depth &&
		    find_argument(&die, n, out, 1))
			return true;
		if (tag != DW_TAG_template_type_parameter &&
		    tag != DW_TAG_template_value_parameter)
			continue;
		*out = die;
		if (!(*n)--)
			return true;
	} while (++looked < ENTRIES_MOST && !die_sibling(&die, &die));
	return false;
}

struct type *type_argument(struct type *type, unsigned n)
{
	Dwarf_Die die;

	if (!type || !type->has_die ||
	    !find_argument(&type->die, &n, &die, 0) ||
	    dwarf_tag(&die) != DW_TAG_template_type_parameter)
		return NULL;
	return type_of_entry(type->types, &die);
}

struct type *type_inside(struct type *type, const char *name)
{
	unsigned looked = 0;
	Dwarf_Die die;

	if (!type->has_die || dwarf_child(&type->die, &die))
		return NULL;
	do {
		const char *its = dwarf_tag(&die) == DW_TAG_typedef ?
					  dwarf_diename(&die) : NULL;

		if (its && !strcmp(its, name))
			return type_of_entry(type->types, &die);
	} while (++looked < ENTRIES_MOST && !die_sibling(&die, &die));
	return NULL;
}

struct type *container_element(struct container *container)
{
	struct type *type = type_inside(container->of.type, "value_type");

	if (!type)
		type = type_argument(container->of.type, 0);
	if (type)
		return type;
	type = type_inside(container->of.type, "pointer");
	return type && type->kind == TYPE_POINTER ? type_target(type) : NULL;
}

bool type_argument_number(struct type *type, unsigned n, uint64_t *out)
{
	Dwarf_Attribute attribute;
	Dwarf_Die die;
	Dwarf_Word number;

	if (!find_argument(&type->die, &n, &die, 0) ||
	    !dwarf_attr(&die, DW_AT_const_value, &attribute) ||
	    dwarf_formudata(&attribute, &number))
		return false;
	*out = number;
	return true;
}
