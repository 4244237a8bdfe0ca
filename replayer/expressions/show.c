/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * show.c - see show.h
 *
 * Source: how gdb 13 prints with its defaults, compared by tests/run/names.py.
 */
#include "replayer/expressions/show.h"

#include <dwarf.h>
#include <inttypes.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/expressions/candidates.h"
#include "replayer/expressions/dies.h"
#include "replayer/expressions/members.h"
#include "replayer/expressions/show_internal.h"
#include "replayer/expressions/signatures.h"

/* How deep values may be nested before the rest is left out, as gdb. */
#define DEPTH_MOST 20u
#define TEXT_MOST (1 << 20)

/* ------- pointers ------- */

/* Before what is shown alone. */
static void write_type(struct shower *shower, struct type *type)
{
	if (shower->is_listed)
		return;
	fputc('(', shower->out);
	type_write(shower->out, type);
	fputs(") ", shower->out);
}

static bool is_text(struct type *target)
{
	return target->kind == TYPE_INT && target->is_char &&
	       (target->size == 1 || target->size == 2 || target->size == 4);
}

static void show_function(struct shower *shower, uint64_t addr)
{
	fprintf(shower->out, "0x%" PRIx64, addr);
	show_symbol(shower, addr, " ");
}

/* At the top, pointers are shown with their types. */
static void write_pointer_type(struct shower *shower, struct type *type)
{
	if (!shower->depth && type->kind == TYPE_POINTER &&
	    (!is_text(type_target(type)) ||
	     (type->has_die && dwarf_tag(&type->written) == DW_TAG_typedef)))
		write_type(shower, type);
}

static void show_pointer(struct shower *shower, struct value *value)
{
	struct type *target = type_target(value->type);
	uint64_t addr = (uint64_t)value_bits(value);

	write_pointer_type(shower, value->type);
	fprintf(shower->out, "0x%" PRIx64, addr);
	if (!addr)
		return;
	show_symbol(shower, addr, " ");
	if (!is_text(target))
		return;
	fputc(' ', shower->out);
	show_pointed_text(shower, target, addr);
}

/* At the top, with what it refers to. */
static int show_reference(struct shower *shower, struct value *value)
{
	uint64_t addr = (uint64_t)value_bits(value);
	struct value object = {
		.type = type_target(value->type), .has_addr = true,
		.addr = addr,
	};

	if (!shower->depth)
		write_type(shower, value->type);
	fprintf(shower->out, "@0x%" PRIx64, addr);
	if (shower->depth)
		return 0;
	fputs(": ", shower->out);
	shower->depth++;
	if (show_part(shower, &object))
		fprintf(shower->out, "<error: Cannot access memory at address"
				     " 0x%" PRIx64 ">", addr);
	shower->depth--;
	return 0;
}

/* ------- arrays ------- */

static uint64_t shown_count(const struct value *value)
{
	const struct type *type = value->type;

	uint64_t size = type->size < VALUE_MOST ? type->size : VALUE_MOST;
	uint64_t known = size / type->target->size;

	return known < type->count ? known : type->count;
}

/* Zeroes at the end, but for one, are a part of it. */
static int show_text_array(struct shower *shower, struct value *value)
{
	static const uint8_t zero[4];
	struct type *element = type_target(value->type);
	size_t count = (size_t)shown_count(value);
	const uint8_t *bytes = value->bytes;

	if (count && !memcmp(bytes + (count - 1) * element->size, zero,
			     element->size))
		count--;
	show_characters(shower, element, bytes, count, false);
	return 0;
}

static struct value element_of(const struct value *array, uint64_t at)
{
	struct type *type = array->type->target;

	return (struct value) {
		.type = type, .has_addr = array->has_addr,
		.addr = array->addr + at * type->size,
		.bytes = array->bytes + at * type->size,
		.known = array->known ? array->known + at * type->size : NULL,
	};
}

static int show_elements(struct shower *shower, struct value *value)
{
	uint64_t count = shown_count(value), shown = 0, i = 0;
	uint64_t size = value->type->target->size;
	bool is_rust = value->type->language == LANGUAGE_RUST;
	int rc = 0;

	fputc(is_rust ? '[' : '{', shower->out);
	while (i < count && shown < shower->most && !rc) {
		struct value element = element_of(value, i);
		uint64_t equal = 1;

		while (i + equal < count &&
		       !memcmp(element.bytes, element.bytes + equal * size,
			       size))
			equal++;
		fputs(i ? ", " : "", shower->out);
		rc = show_part(shower, &element);
		if (equal > REPEATS_LEAST) {
			fprintf(shower->out, " <repeats %" PRIu64 " times>",
				equal);
			i += equal;
			shown += REPEATS_LEAST;
		} else {
			i++;
			shown++;
		}
	}
	if (i < value->type->count)
		fputs("...", shower->out);
	fputc(is_rust ? ']' : '}', shower->out);
	return rc;
}

static int show_array(struct shower *shower, struct value *value)
{
	struct type *element = type_target(value->type);
	int rc;

	if (!value->type->count || !element->size) {
		if (value->type->language == LANGUAGE_RUST)
			fputs("[]", shower->out);
		else if (is_text(element) && value->type->has_count)
			fputs("\"\"", shower->out);
		else if (is_text(element))
			show_pointed_text(shower, element, value->addr);
		else
			fprintf(shower->out, value->type->has_count ? "{}" :
				"0x%" PRIx64, value->addr);
		return 0;
	}
	if (is_text(element) &&
	    (!shower->format || shower->format == 's'))
		return show_text_array(shower, value);
	shower->depth++;
	rc = show_elements(shower, value);
	shower->depth--;
	return rc;
}

/* ------- structures, classes, unions ------- */

static int show_static(struct shower *shower, struct member *member)
{
	struct value value;
	struct failure ignored;

	fprintf(shower->out, "static %s = ", member->name ? member->name : "");
	if (member_static(shower->context, &member->die, &value, &ignored) ||
	    value.is_absent) {
		fputs("<optimized out>", shower->out);
		return 0;
	}
	/* One that contains itself. */
	if (type_is_class(value.type) && shower->depth > 4) {
		fputs("<same as static member of an already seen type>",
		      shower->out);
		return 0;
	}
	return show_part(shower, &value);
}

/* All classes that have the same virtual base have one of it. */
static bool is_shown(struct shower *shower, struct member *member)
{
	Dwarf_Attribute attribute;
	const void *base = member->type->die.addr;

	if (!member->is_base ||
	    !dwarf_attr(&member->die, DW_AT_virtuality, &attribute))
		return false;
	for (unsigned i = 0; i < shower->base_count; i++)
		if (shower->bases[i] == base)
			return true;
	if (shower->base_count < VIRTUAL_MOST)
		shower->bases[shower->base_count++] = base;
	return false;
}

static int show_member(struct shower *shower, const struct value *of,
		       struct member *member)
{
	struct value part = value_part(of, member);

	if (member->is_static)
		return show_static(shower, member);
	shower->is_base = member->is_base;
	if (member->is_base) {
		fputc('<', shower->out);
		type_write(shower->out, member->type);
		fputs("> = ", shower->out);
	} else if (member->name) {
		fprintf(shower->out, "%s = ", member->name);
	}
	return show_part(shower, &part);
}

static int show_members(struct shower *shower, struct value *value)
{
	struct member_walk walk = { .context = shower->context, .of = value,
				    .why = shower->why };
	bool any = false, has_own = false;
	struct member member;
	int rc;

	fputc('{', shower->out);
	while ((rc = member_next(&walk, &member)) > 0) {
		if (is_shown(shower, &member))
			continue;
		fputs(any ? ", " : "", shower->out);
		any = true;
		has_own |= !member.is_base;
		rc = show_member(shower, value, &member);
		if (rc)
			return rc;
	}
	if (!has_own)
		fprintf(shower->out, "%s<No data fields>", any ? ", " : "");
	fputc('}', shower->out);
	return rc;
}

/* An object that is no base has virtual bases of its own. */
static int show_object(struct shower *shower, struct value *value)
{
	struct shower inner = *shower;

	inner.base_count = 0;
	return show_members(&inner, value);
}

static int show_class(struct shower *shower, struct value *value)
{
	bool is_base = shower->is_base;
	int rc;

	shower->is_base = false;

	shower->depth++;
	if (value->type->language == LANGUAGE_RUST)
		rc = show_rust(shower, value);
	else if (is_base)
		rc = show_members(shower, value);
	else
		rc = show_object(shower, value);
	shower->depth--;
	return rc;
}

/* ------- what was optimized out ------- */

/* Whether all members can be listed: a virtual base, only an object has. */
static bool has_known_members(struct shower *shower, const struct value *value)
{
	struct member_walk walk = { .context = shower->context, .of = value };
	struct member member;
	int rc;

	while ((rc = member_next(&walk, &member)) > 0)
		;
	return !rc;
}

/*
 * A part of a structure or an array that itself has parts: gdb shows each of
 * them.  The whole of a variable is "<optimized out>" at once.
 */
static bool shows_absent_parts(struct shower *shower,
			       const struct value *value)
{
	struct type *type = value->type;

	if (!shower->depth || value->pointed || type->language == LANGUAGE_GO)
		return false;
	if (type->kind == TYPE_ARRAY)
		return type->language != LANGUAGE_RUST && type->count &&
		       type_target(type)->size;
	if (type_is_class(type) && type->language == LANGUAGE_RUST)
		return rust_is_structure(type);
	return type_is_class(type) && has_known_members(shower, value);
}

static int show_absent_elements(struct shower *shower,
				const struct value *value)
{
	uint64_t count = value->type->count;
	uint64_t shown = count > REPEATS_LEAST ? 1 : count;
	int rc = 0;

	fputc('{', shower->out);
	shower->depth++;
	for (uint64_t i = 0; i < shown && !rc; i++) {
		struct value element = {
			.type = type_target(value->type), .is_absent = true,
		};

		fputs(i ? ", " : "", shower->out);
		rc = show_part(shower, &element);
	}
	shower->depth--;
	if (shown < count)
		fprintf(shower->out, " <repeats %" PRIu64 " times>", count);
	fputc('}', shower->out);
	return rc;
}

static int show_absent(struct shower *shower, struct value *value)
{
	if (shows_absent_parts(shower, value))
		return value->type->kind == TYPE_ARRAY ?
			       show_absent_elements(shower, value) :
			       show_class(shower, value);
	if (value->pointed)
		write_pointer_type(shower, value->type);
	fputs(value->pointed ? "<synthetic pointer>" : "<optimized out>",
	      shower->out);
	return 0;
}

/* ------- all ------- */

/* The member at an offset; false: there is none. */
static bool find_at(struct shower *shower, struct type *type, uint64_t offset,
		    struct member *out)
{
	struct value of = { .type = type };
	struct member_walk walk = { .context = shower->context, .of = &of };

	int rc;

	/* Where a virtual base is, only an object tells. */
	while ((rc = member_next(&walk, out)) > 0 || rc == ERR_NOT_FOUND)
		if (rc > 0 && !out->is_static && !out->is_base && out->name &&
		    out->offset == offset)
			return true;
	return false;
}

static void show_data_member(struct shower *shower, struct value *value)
{
	struct type *type = type_class(value->type);
	int64_t offset = (int64_t)value_bits(value);
	struct member member;

	if (offset == -1) {
		fputs("NULL", shower->out);
	} else if (!type || !find_at(shower, type, (uint64_t)offset,
				     &member)) {
		fprintf(shower->out, "%" PRId64, offset);
	} else {
		fputc('&', shower->out);
		type_write(shower->out, type);
		fprintf(shower->out, "::%s", member.name);
	}
}

/* Where a function is in the table of its class; false: it is not virtual. */
static bool is_in_table(Dwarf_Die *function, uint64_t number)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;

	return dwarf_tag(function) == DW_TAG_subprogram &&
	       dwarf_attr(function, DW_AT_vtable_elem_location, &attribute) &&
	       !dwarf_getlocation(&attribute, &ops, &count) && count == 1 &&
	       ops[0].atom == DW_OP_constu && ops[0].number == number;
}

/* "&virtual app::Point::area()"; false: the class has no such function. */
static bool show_virtual(struct shower *shower, struct type *type,
			 uint64_t offset)
{
	struct context *context = shower->context;
	const struct context_module *module;
	const struct die_index *index;
	const struct die_entry *entry;
	char name[NAME_MOST];
	Dwarf_Die die;

	if (!type || !type->has_die || dwarf_child(&type->die, &die))
		return false;
	while (!is_in_table(&die, offset / sizeof(offset)))
		if (die_sibling(&die, &die))
			return false;
	module = context_module_of(context, &die);
	index = module ? context_index(context, module) : NULL;
	entry = index ? die_index_entry(index, &die) : NULL;
	if (!entry)
		return false;
	signature_write(context, index, entry, name, sizeof(name));
	fprintf(shower->out, "&virtual %s", name);
	return true;
}

/*
 * A function's address, or one more than where a virtual one is in the table:
 * Itanium C++ ABI, 2.3.
 */
static void show_member_function(struct shower *shower, struct value *value)
{
	uint64_t addr;

	memcpy(&addr, value->bytes, sizeof(addr));
	if (!addr) {
		fputs("NULL", shower->out);
	} else if (addr & 1 &&
		   show_virtual(shower, type_class(value->type), addr - 1)) {
		return;
	} else if (addr & 1) {
		fprintf(shower->out, "&virtual table offset %" PRIu64,
			addr - 1);
	} else {
		write_type(shower, value->type);
		show_function(shower, addr);
	}
}

static int show_member_pointer(struct shower *shower, struct value *value)
{
	if (type_target(value->type)->kind == TYPE_FUNCTION)
		show_member_function(shower, value);
	else
		show_data_member(shower, value);
	return 0;
}

static int show_kind(struct shower *shower, struct value *value)
{
	struct type *type = value->type;

	if (shower->format && shower->format != 's' && type_is_scalar(type) &&
	    type->kind != TYPE_REFERENCE &&
	    (type->kind != TYPE_FLOAT || shower->format != 'f'))
		return show_formatted(shower, value);
	if (type->language == LANGUAGE_RUST && !type->size &&
	    type->kind == TYPE_INT) {
		fputs("()", shower->out);
		return 0;
	}
	switch (type->kind) {
	case TYPE_INT:
	case TYPE_BOOL:
		show_integer(shower, value);
		return 0;
	case TYPE_FLOAT:
	case TYPE_COMPLEX:
		show_float(shower, value);
		return 0;
	case TYPE_ENUM:
		show_enum(shower, value);
		return 0;
	case TYPE_POINTER:
		show_pointer(shower, value);
		return 0;
	case TYPE_MEMBER_POINTER:
		return show_member_pointer(shower, value);
	case TYPE_REFERENCE:
		return show_reference(shower, value);
	case TYPE_ARRAY:
		return show_array(shower, value);
	case TYPE_STRUCT:
	case TYPE_UNION:
		return show_class(shower, value);
	default:
		fputs("<unknown type>", shower->out);
		return 0;
	}
}

int show_part(struct shower *shower, struct value *value)
{
	bool is_container;
	int rc;

	if (shower->depth > DEPTH_MOST) {
		fputs("{...}", shower->out);
		return 0;
	}
	if (ftell(shower->out) > TEXT_MOST)
		return failed(shower->why, ERR_INPUT, "its value is too long");
	if (value->type->kind == TYPE_VOID) {
		fputs("void", shower->out);
		return 0;
	}
	if (value->type->kind == TYPE_FUNCTION) {
		fputc('{', shower->out);
		type_write(shower->out, value->type);
		fputs("} ", shower->out);
		show_function(shower, value->addr);
		return 0;
	}
	if (value->is_absent)
		return show_absent(shower, value);
	rc = show_container(shower, value, &is_container);
	if (rc || is_container)
		return rc;
	if (value->type->kind == TYPE_UNKNOWN)
		return failed(shower->why, ERR_INPUT, "its type is not known");
	if (value->type->size)
		rc = value_fetch(shower->context, value, shower->why);
	return rc ? rc : show_kind(shower, value);
}

static struct shower make_shower(struct context *context, FILE *out,
				 struct failure *why)
{
	return (struct shower) {
		.context = context, .out = out, .why = why,
		.is_raw = context->is_raw,
		.most = context->elements ? context->elements : SHOWN_MOST,
	};
}

int show_listed(struct context *context, struct value *value, FILE *out,
		struct failure *why)
{
	struct shower shower = make_shower(context, out, why);

	shower.is_listed = true;
	return show_part(&shower, value);
}

int show_brief(struct context *context, struct value *value, FILE *out,
	       struct failure *why)
{
	struct shower shower = make_shower(context, out, why);
	struct value object = *value;
	bool is_container;
	int rc;

	shower.is_listed = shower.is_brief = true;
	rc = value->is_absent ? 0 : value_strip(context, &object, why);
	if (rc)
		return rc;
	if (!type_is_class(object.type) && object.type->kind != TYPE_ARRAY)
		return show_part(&shower, value);
	rc = object.is_absent ? 0 : show_container(&shower, &object,
						   &is_container);
	if (!rc && (object.is_absent || !is_container))
		fputs("...", out);
	return rc;
}

int show(struct context *context, struct value *value, char format, FILE *out,
	 struct failure *why)
{
	struct shower shower = make_shower(context, out, why);

	shower.format = format;
	return show_part(&shower, value);
}
