/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * types.c - see types.h
 *
 * Source: DWARF 5, chapter 5.
 */
#include "replayer/expressions/types.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/expressions/dies.h"

/* How deep types may be nested in a file that makes sense. */
#define DEPTH_MOST 64u

struct type_chunk {
	struct type_chunk *next;
	struct type type;
};

void types_release(struct types *types)
{
	while (types->chunks) {
		struct type_chunk *chunk = types->chunks;

		types->chunks = chunk->next;
		free(chunk);
	}
	number_map_release(&types->by_die);
}

static struct type *make(struct types *types, enum type_kind kind,
			 uint64_t size, const char *name)
{
	struct type_chunk *chunk = calloc(1, sizeof(*chunk));

	if (!chunk)
		return NULL;
	chunk->next = types->chunks;
	types->chunks = chunk;
	chunk->type = (struct type) {
		.kind = kind, .size = size, .name = name, .types = types,
	};
	return &chunk->type;
}

/* ------- from debugging information ------- */

static bool number_of(struct types *types, Dwarf_Die *die, unsigned name,
		      uint64_t *out)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number;
	Dwarf_Sword negative;

	if (!dwarf_attr_integrate(die, name, &attribute))
		return false;
	if (dwarf_whatform(&attribute) == DW_FORM_sdata &&
	    !dwarf_formsdata(&attribute, &negative)) {
		*out = (uint64_t)negative;
		return true;
	}
	if (!dwarf_formudata(&attribute, &number)) {
		*out = number;
		return true;
	}
	types->is_computed = true;
	return types->compute &&
	       types->compute(types->context, &attribute, out);
}

static enum type_language language_of(Dwarf_Die *die)
{
	Dwarf_Die unit;

	if (!dwarf_diecu(die, &unit, NULL, NULL))
		return LANGUAGE_C;
	switch (dwarf_srclang(&unit)) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
		return LANGUAGE_CXX;
	case DW_LANG_Rust:
		return LANGUAGE_RUST;
	case DW_LANG_Go:
		return LANGUAGE_GO;
	}
	return LANGUAGE_C;
}

static bool target_die(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_type, &attribute) &&
	       dwarf_formref_die(&attribute, die);
}

/* Names that C gives to numbers which are characters. */
static char prefix_of(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	if (!name)
		return 0;
	if (!strcmp(name, "wchar_t"))
		return 'L';
	if (!strcmp(name, "char16_t"))
		return 'u';
	return strcmp(name, "char32_t") ? 0 : 'U';
}

/* Without names and qualifiers.  False: it is void, or makes no sense. */
static bool strip(Dwarf_Die *die, char *prefix)
{
	for (unsigned depth = 0; depth < DEPTH_MOST; depth++) {
		*prefix = *prefix ? *prefix : prefix_of(die);
		switch (dwarf_tag(die)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
		case DW_TAG_immutable_type:
		case DW_TAG_template_alias:
			if (!target_die(die))
				return false;
			break;
		default:
			return true;
		}
	}
	return false;
}

static bool is_brain(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	return name && !strcmp(name, "__bf16");
}

static void fill_base(struct type *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Word encoding = 0;

	if (dwarf_attr(&type->die, DW_AT_encoding, &attribute))
		dwarf_formudata(&attribute, &encoding);
	type->kind = TYPE_INT;
	switch (encoding) {
	case DW_ATE_boolean:
		type->kind = TYPE_BOOL;
		break;
	case DW_ATE_float:
		type->kind = TYPE_FLOAT;
		type->is_brain = is_brain(&type->die);
		break;
	case DW_ATE_complex_float:
		type->kind = TYPE_COMPLEX;
		break;
	case DW_ATE_signed:
		type->is_signed = true;
		break;
	case DW_ATE_signed_char:
		type->is_signed = type->is_char = true;
		break;
	case DW_ATE_unsigned_char:
	case DW_ATE_UTF:
		type->is_char = true;
		break;
	case DW_ATE_unsigned:
	case DW_ATE_address:
		break;
	default:
		type->kind = TYPE_UNKNOWN;
	}
	if (type->language <= LANGUAGE_CXX && type->kind == TYPE_INT &&
	    type->prefix)
		type->is_char = true;
	else
		type->prefix = 0;
	/* A byte is no character in Rust and Go, whatever its encoding. */
	if (type->language == LANGUAGE_RUST || type->language == LANGUAGE_GO)
		type->is_char = encoding == DW_ATE_UTF;
}

static void fill_enum(struct type *type)
{
	Dwarf_Die child;
	Dwarf_Attribute attribute;
	Dwarf_Sword value;

	type->kind = TYPE_ENUM;
	type->is_signed = false;
	if (dwarf_child(&type->die, &child))
		return;
	do {
		if (dwarf_attr(&child, DW_AT_const_value, &attribute) &&
		    !dwarf_formsdata(&attribute, &value) && value < 0 &&
		    dwarf_whatform(&attribute) == DW_FORM_sdata)
			type->is_signed = true;
	} while (!die_sibling(&child, &child));
}

/* ------- arrays ------- */

/* How many elements a dimension has. */
static bool count_of(struct types *types, Dwarf_Die *range, uint64_t *out)
{
	uint64_t lower = 0, upper;

	if (dwarf_tag(range) == DW_TAG_enumeration_type)
		return false;
	if (number_of(types, range, DW_AT_count, out))
		return true;
	number_of(types, range, DW_AT_lower_bound, &lower);
	if (!number_of(types, range, DW_AT_upper_bound, &upper))
		return false;
	*out = upper - lower + 1;
	return true;
}

static void set_count(struct type *type, bool has_count, uint64_t count)
{
	uint64_t each = type->target ? type->target->size : 0;

	type->has_target = true;
	type->has_count = has_count;
	type->count = has_count ? count : 0;
	if (__builtin_mul_overflow(type->count, each, &type->size)) {
		type->count = 0;
		type->size = 0;
	}
}

/* Of several dimensions, the first is that of the outermost array. */
static struct type *fill_dimension(struct type *type, Dwarf_Die range,
				   unsigned depth)
{
	Dwarf_Die element = type->die;
	uint64_t count = 0;
	bool has_count = count_of(type->types, &range, &count);

	do {
		if (die_sibling(&range, &range)) {
			type->target = target_die(&element) ?
				type_of_die(type->types, &element) : NULL;
			set_count(type, has_count, count);
			return type;
		}
	} while (dwarf_tag(&range) != DW_TAG_subrange_type);
	type->target = make(type->types, TYPE_ARRAY, 0, NULL);
	if (type->target && depth < DEPTH_MOST) {
		type->target->die = type->die;
		type->target->has_die = true;
		type->target->language = type->language;
		fill_dimension(type->target, range, depth + 1);
	}
	set_count(type, has_count, count);
	return type;
}

static void fill_array(struct type *type)
{
	Dwarf_Die range, element = type->die;

	type->kind = TYPE_ARRAY;
	if (!dwarf_child(&type->die, &range)) {
		do {
			if (dwarf_tag(&range) == DW_TAG_subrange_type) {
				fill_dimension(type, range, 0);
				return;
			}
		} while (!die_sibling(&range, &range));
	}
	type->target = target_die(&element) ?
			       type_of_die(type->types, &element) : NULL;
	set_count(type, false, 0);
}

/* ------- all kinds ------- */

static void fill_kind(struct type *type)
{
	switch (dwarf_tag(&type->die)) {
	case DW_TAG_base_type:
		fill_base(type);
		return;
	case DW_TAG_pointer_type:
		type->kind = TYPE_POINTER;
		type->size = type->size ? type->size : type->types->word;
		return;
	case DW_TAG_unspecified_type:
		type->kind = type->language == LANGUAGE_CXX ? TYPE_INT :
							     TYPE_VOID;
		type->size = type->types->word;	/* nullptr */
		return;
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		type->kind = TYPE_REFERENCE;
		type->size = type->types->word;
		return;
	case DW_TAG_ptr_to_member_type:
		type->kind = TYPE_MEMBER_POINTER;
		if (!type->size)
			type->size = type_target(type)->kind ==
						     TYPE_FUNCTION ? 16 : 8;
		return;
	case DW_TAG_array_type:
		fill_array(type);
		return;
	case DW_TAG_enumeration_type:
		fill_enum(type);
		return;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_interface_type:
		type->kind = TYPE_STRUCT;
		return;
	case DW_TAG_union_type:
		type->kind = TYPE_UNION;
		return;
	case DW_TAG_subroutine_type:
	case DW_TAG_subprogram:
		type->kind = TYPE_FUNCTION;
		type->size = 1;
		return;
	}
	type->kind = TYPE_UNKNOWN;
}

/* Its definition is in a unit of its own, which has this signature. */
static void follow_signature(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die found;

	if (dwarf_attr(die, DW_AT_signature, &attribute) &&
	    dwarf_formref_die(&attribute, &found))
		*die = found;
}

static void fill(struct type *type)
{
	Dwarf_Attribute attribute;
	uint64_t size = 0;

	type->language = language_of(&type->die);
	if (!strip(&type->die, &type->prefix)) {
		type->kind = TYPE_VOID;
		type->has_target = true;
		return;
	}
	follow_signature(&type->die);
	if (dwarf_attr(&type->die, DW_AT_declaration, &attribute) &&
	    type->types->define)
		type->types->define(type->types->context, &type->die);
	number_of(type->types, &type->die, DW_AT_byte_size, &size);
	type->size = size;
	fill_kind(type);
}

struct type *type_of_die(struct types *types, Dwarf_Die *die)
{
	const uint64_t *known;
	bool was_computed;
	struct type *type;

	if (!die)
		return make(types, TYPE_VOID, 1, "void");
	known = number_map_find(&types->by_die, (uintptr_t)die->addr);
	if (known)
		return (struct type *)(uintptr_t)*known;
	type = make(types, TYPE_UNKNOWN, 0, NULL);
	if (!type)
		return NULL;
	type->has_die = true;
	type->die = type->written = *die;
	/* Before it is filled: an array may be one of itself. */
	if (number_map_set(&types->by_die, (uintptr_t)die->addr,
			   (uintptr_t)type))
		return NULL;
	was_computed = types->is_computed;
	types->is_computed = false;
	if (types->depth++ < DEPTH_MOST)
		fill(type);
	types->depth--;
	/* It is another one at another time. */
	if (types->is_computed)
		number_map_remove(&types->by_die, (uintptr_t)die->addr);
	types->is_computed |= was_computed;
	return type;
}

struct type *type_of_entry(struct types *types, Dwarf_Die *entry)
{
	Dwarf_Die die = *entry;

	return type_of_die(types, target_die(&die) ? &die : NULL);
}

struct type *type_target(struct type *type)
{
	if (!type->has_target) {
		type->target = type->has_die ?
			type_of_entry(type->types, &type->die) : NULL;
		type->has_target = true;
	}
	if (!type->target)
		type->target = make(type->types, TYPE_VOID, 1, "void");
	return type->target;
}

struct type *type_class(struct type *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Die die;

	if (!type->has_die ||
	    !dwarf_attr(&type->die, DW_AT_containing_type, &attribute) ||
	    !dwarf_formref_die(&attribute, &die))
		return NULL;
	return type_of_die(type->types, &die);
}

static uint64_t alignment_of(struct type *type, unsigned depth);

/* That of the member which needs most. */
static uint64_t alignment_of_class(struct type *type, unsigned depth)
{
	Dwarf_Attribute attribute;
	Dwarf_Die die;
	uint64_t most = 1;

	if (!type->has_die || dwarf_child(&type->die, &die))
		return most;
	do {
		int tag = dwarf_tag(&die);
		struct type *part;
		uint64_t its;

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		    dwarf_attr(&die, DW_AT_external, &attribute))
			continue;
		part = type_of_entry(type->types, &die);
		its = part ? alignment_of(part, depth + 1) : 1;
		most = its > most ? its : most;
	} while (!die_sibling(&die, &die));
	return most;
}

static uint64_t alignment_of_number(const struct type *type, uint64_t size)
{
	const struct types *types = type->types;

	return types && types->aligns_to_words && size > types->word ?
		       types->word : size;
}

static uint64_t alignment_of(struct type *type, unsigned depth)
{
	uint64_t size = type->size;

	if (depth > DEPTH_MOST)
		return 1;
	if (type->has_die &&
	    number_of(type->types, &type->die, DW_AT_alignment, &size))
		return size;
	switch (type->kind) {
	case TYPE_ARRAY:
		return alignment_of(type_target(type), depth + 1);
	case TYPE_STRUCT:
	case TYPE_UNION:
		return alignment_of_class(type, depth);
	case TYPE_COMPLEX:
		return alignment_of_number(type, size / 2);
	case TYPE_MEMBER_POINTER:
		return 8;
	default:
		return alignment_of_number(type, size);
	}
}

uint64_t type_alignment(struct type *type)
{
	return alignment_of(type, 0);
}

/* ------- made of others ------- */

struct type *type_reference(struct types *types, struct type *target)
{
	struct type *type = type_pointer(types, target);

	if (type)
		type->kind = TYPE_REFERENCE;
	return type;
}

struct type *type_pointer(struct types *types, struct type *target)
{
	struct type *type = make(types, TYPE_POINTER, types->word, NULL);

	if (!type)
		return NULL;
	type->has_target = true;
	type->target = target;
	type->language = target ? target->language : LANGUAGE_C;
	return type;
}

struct type *type_array(struct types *types, struct type *element,
			uint64_t count)
{
	struct type *type = make(types, TYPE_ARRAY, 0, NULL);

	if (!type)
		return NULL;
	type->target = element;
	type->language = element->language;
	set_count(type, true, count);
	return type;
}

/* ------- those of C ------- */

struct basic {
	const char *words, *name;
	enum type_kind kind;
	unsigned size;
	bool is_signed, is_char;
};

static const struct basic basics[] = {
	{ "void", "void", TYPE_VOID, 1, false, false },
	{ "char", "char", TYPE_INT, 1, true, true },
	{ "signed char", "signed char", TYPE_INT, 1, true, true },
	{ "unsigned char", "unsigned char", TYPE_INT, 1, false, true },
	{ "short", "short", TYPE_INT, 2, true, false },
	{ "short int", "short", TYPE_INT, 2, true, false },
	{ "unsigned short", "unsigned short", TYPE_INT, 2, false, false },
	{ "int", "int", TYPE_INT, 4, true, false },
	{ "signed", "int", TYPE_INT, 4, true, false },
	{ "signed int", "int", TYPE_INT, 4, true, false },
	{ "unsigned", "unsigned int", TYPE_INT, 4, false, false },
	{ "unsigned int", "unsigned int", TYPE_INT, 4, false, false },
	{ "long", "long", TYPE_INT, 8, true, false },
	{ "long int", "long", TYPE_INT, 8, true, false },
	{ "long long", "long long", TYPE_INT, 8, true, false },
	{ "unsigned long", "unsigned long", TYPE_INT, 8, false, false },
	{ "long unsigned int", "unsigned long", TYPE_INT, 8, false, false },
	{ "unsigned long long", "unsigned long long", TYPE_INT, 8, false,
	  false },
	{ "__int128", "__int128", TYPE_INT, 16, true, false },
	{ "unsigned __int128", "unsigned __int128", TYPE_INT, 16, false,
	  false },
	{ "half", "half", TYPE_FLOAT, 2, true, false },
	{ "bfloat16", "bfloat16", TYPE_FLOAT, 2, true, false },
	{ "float", "float", TYPE_FLOAT, 4, true, false },
	{ "double", "double", TYPE_FLOAT, 8, true, false },
	{ "long double", "long double", TYPE_FLOAT, 16, true, false },
	{ "int8_t", "int8_t", TYPE_INT, 1, true, true },
	{ "uint8_t", "uint8_t", TYPE_INT, 1, false, true },
	{ "int16_t", "int16_t", TYPE_INT, 2, true, false },
	{ "uint16_t", "uint16_t", TYPE_INT, 2, false, false },
	{ "int32_t", "int32_t", TYPE_INT, 4, true, false },
	{ "uint32_t", "uint32_t", TYPE_INT, 4, false, false },
	{ "int64_t", "int64_t", TYPE_INT, 8, true, false },
	{ "uint64_t", "uint64_t", TYPE_INT, 8, false, false },
	{ "size_t", "size_t", TYPE_INT, 8, false, false },
	{ "bool", "bool", TYPE_BOOL, 1, false, false },
	{ "_Bool", "_Bool", TYPE_BOOL, 1, false, false },
};

struct type *type_by_words(struct types *types, const char *words)
{
	for (size_t i = 0; i < sizeof(basics) / sizeof(*basics); i++) {
		const struct basic *basic = &basics[i];
		struct type *type;

		if (strcmp(basic->words, words) != 0)
			continue;
		type = make(types, basic->kind, basic->size, basic->name);
		if (type) {
			type->is_signed = basic->is_signed;
			type->is_char = basic->is_char;
			type->is_brain = !strcmp(words, "bfloat16");
		}
		return type;
	}
	return NULL;
}

bool type_is_class(const struct type *type)
{
	return type->kind == TYPE_STRUCT || type->kind == TYPE_UNION;
}

bool type_is_vector(struct type *type)
{
	return type->kind == TYPE_ARRAY && type->has_die &&
	       dwarf_hasattr_integrate(&type->die, DW_AT_GNU_vector);
}

bool type_is_scalar(const struct type *type)
{
	switch (type->kind) {
	case TYPE_INT:
	case TYPE_BOOL:
	case TYPE_FLOAT:
	case TYPE_ENUM:
	case TYPE_POINTER:
	case TYPE_REFERENCE:
	case TYPE_MEMBER_POINTER:
		return true;
	default:
		return false;
	}
}
