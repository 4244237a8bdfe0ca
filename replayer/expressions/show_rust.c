/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * show_rust.c - structures, tuples and enumerations of Rust
 *
 * Source: DWARF 5, 5.7.10 (variant parts); what rustc writes.
 */
#include <ctype.h>
#include <dwarf.h>
#include <inttypes.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/expressions/members.h"
#include "replayer/expressions/show_internal.h"

/* "__0", "__12": of tuples. */
static bool is_position(const char *name)
{
	if (!name || strncmp(name, "__", 2) || !name[2])
		return false;
	for (name += 2; *name; name++)
		if (!isdigit((unsigned char)*name))
			return false;
	return true;
}

/* "&[i32] [5, 6, 7]": the elements that a slice leads to. */
static int show_slice(struct shower *shower, struct value *value, bool *is_one)
{
	const char *name = dwarf_diename(&value->type->die);
	struct value data, length, elements;
	int64_t count;

	*is_one = false;
	if (!name || strncmp(name, "&[", 2) ||
	    value_member(shower->context, value, "data_ptr", &data, NULL) ||
	    value_member(shower->context, value, "length", &length, NULL) ||
	    value_integer(shower->context, &length, &count, NULL) ||
	    count < 0 || count > VALUE_MOST ||
	    value_follow(shower->context, &data, &elements, NULL))
		return 0;
	*is_one = true;
	elements.type = type_array(&shower->context->types, elements.type,
				   (uint64_t)count);
	if (!elements.type)
		return failed(shower->why, ERR_NO_MEMORY, "out of memory");
	fprintf(shower->out, "%s ", name);
	return show_part(shower, &elements);
}

/* ------- structures ------- */

/* A structure, or one of the variants of an enumeration. */
static int show_fields(struct shower *shower, struct value *value,
		       bool is_variant)
{
	const char *name = dwarf_diename(&value->type->die);
	bool is_tuple = name && *name == '(', any = false, positions = false;
	struct member_walk walk = { .context = shower->context, .of = value,
				    .why = shower->why };
	struct member member;
	int rc;

	if (!is_tuple)
		type_write(shower->out, value->type);
	while ((rc = member_next(&walk, &member)) > 0) {
		struct value part = value_part(value, &member);

		if (!any) {
			positions = is_position(member.name);
			fputs(is_tuple || is_variant ? "" : " ", shower->out);
			fputc(positions ? '(' : '{', shower->out);
		}
		fputs(any ? ", " : "", shower->out);
		any = true;
		if (!positions && member.name)
			fprintf(shower->out, "%s: ", member.name);
		rc = show_part(shower, &part);
		if (rc)
			return rc;
	}
	if (any)
		fputc(positions ? ')' : '}', shower->out);
	else if (is_tuple)
		fputs("()", shower->out);
	return rc;
}

/* ------- enumerations with data ------- */

/* The entry with the variants; false: it is a plain structure. */
static bool find_variants(struct type *type, Dwarf_Die *out)
{
	if (dwarf_child(&type->die, out))
		return false;
	do {
		if (dwarf_tag(out) == DW_TAG_variant_part)
			return true;
	} while (!die_sibling(out, out));
	return false;
}

static int read_discriminant(struct shower *shower, struct value *value,
			     Dwarf_Die *part, uint64_t *out)
{
	Dwarf_Attribute attribute;
	struct member member = { 0 };
	struct value discriminant;
	Dwarf_Word offset = 0;
	int64_t number;
	int rc;

	*out = 0;
	if (!dwarf_attr(part, DW_AT_discr, &attribute) ||
	    !dwarf_formref_die(&attribute, &member.die))
		return 0;	/* there is one variant only */
	member.type = type_of_entry(&shower->context->types, &member.die);
	if (!member.type)
		return failed(shower->why, ERR_NO_MEMORY, "out of memory");
	if (dwarf_attr(&member.die, DW_AT_data_member_location, &attribute))
		dwarf_formudata(&attribute, &offset);
	member.offset = offset;
	discriminant = value_part(value, &member);
	rc = value_integer(shower->context, &discriminant, &number,
			   shower->why);
	*out = (uint64_t)number;
	return rc;
}

/* The variant with the discriminant; else the one that has none. */
static bool find_variant(Dwarf_Die *part, uint64_t wanted, unsigned bits,
			 Dwarf_Die *out)
{
	uint64_t mask = bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;
	Dwarf_Attribute attribute;
	Dwarf_Die variant;
	Dwarf_Word number;
	bool any = false;

	if (dwarf_child(part, &variant))
		return false;
	do {
		if (dwarf_tag(&variant) != DW_TAG_variant)
			continue;
		if (!dwarf_attr(&variant, DW_AT_discr_value, &attribute)) {
			*out = variant;
			any = true;
		} else if (!dwarf_formudata(&attribute, &number) &&
			   ((number ^ wanted) & mask) == 0) {
			*out = variant;
			return true;
		}
	} while (!die_sibling(&variant, &variant));
	return any;
}

static bool is_member(Dwarf_Die *variant, Dwarf_Die *out)
{
	if (dwarf_child(variant, out))
		return false;
	do {
		if (dwarf_tag(out) == DW_TAG_member)
			return true;
	} while (!die_sibling(out, out));
	return false;
}

static unsigned bits_of(struct shower *shower, Dwarf_Die *part)
{
	Dwarf_Attribute attribute;
	struct type *type;
	Dwarf_Die die;

	if (!dwarf_attr(part, DW_AT_discr, &attribute) ||
	    !dwarf_formref_die(&attribute, &die))
		return 64;
	type = type_of_entry(&shower->context->types, &die);
	return type && type->size < 8 ? (unsigned)type->size * 8 : 64;
}

static int show_variant(struct shower *shower, struct value *value,
			Dwarf_Die *part)
{
	struct member member = { 0 };
	Dwarf_Attribute attribute;
	Dwarf_Word offset = 0;
	Dwarf_Die variant;
	struct value inner;
	uint64_t number;
	int rc = read_discriminant(shower, value, part, &number);

	if (rc)
		return rc;
	if (!find_variant(part, number, bits_of(shower, part), &variant) ||
	    !is_member(&variant, &member.die)) {
		fprintf(shower->out, "<unknown variant %" PRIu64 ">", number);
		return 0;
	}
	member.type = type_of_entry(&shower->context->types, &member.die);
	if (!member.type)
		return failed(shower->why, ERR_NO_MEMORY, "out of memory");
	if (dwarf_attr(&member.die, DW_AT_data_member_location, &attribute))
		dwarf_formudata(&attribute, &offset);
	member.offset = offset;
	inner = value_part(value, &member);
	if (!type_is_class(inner.type) || inner.is_absent)
		return show_part(shower, &inner);
	return show_fields(shower, &inner, true);
}

bool rust_is_structure(struct type *type)
{
	const char *name = dwarf_diename(&type->die);
	Dwarf_Die part;

	return name && *name != '&' && !find_variants(type, &part);
}

int show_rust(struct shower *shower, struct value *value)
{
	Dwarf_Die part;
	bool is_slice;
	int rc;

	rc = show_slice(shower, value, &is_slice);
	if (rc || is_slice)
		return rc;
	if (find_variants(value->type, &part))
		return show_variant(shower, value, &part);
	return show_fields(shower, value, false);
}
