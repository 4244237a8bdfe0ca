/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_types.c - see dwarf_types.h
 *
 * Source: DWARF 5, 5.3 (type modifiers), 5.7 (structures and members);
 * std::atomic and its kin are classes of these names.
 */
#include "replayer/symbols/dwarf_types.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/symbols/dwarf_locations.h"

/* How deep types may be nested in a file that makes sense. */
#define DEPTH_MOST 64

/* Of a type, no more parts than this are kept. */
#define PARTS_MOST 256u

bool dwarf_type_of(Dwarf_Die *entry, Dwarf_Die *out)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(entry, DW_AT_type, &attribute) &&
	       dwarf_formref_die(&attribute, out);
}

bool dwarf_fixed_address(Dwarf_Die *variable, uint64_t *out)
{
	Dwarf_Attribute attribute, indexed;
	Dwarf_Op *ops;
	size_t count;

	if (!dwarf_location(variable, DW_AT_location, &attribute))
		return false;
	if (dwarf_getlocation(&attribute, &ops, &count) || count != 1)
		return false;
	if (ops[0].atom == DW_OP_addr) {
		*out = ops[0].number;
		return true;
	}
	return (ops[0].atom == DW_OP_addrx ||
		ops[0].atom == DW_OP_GNU_addr_index) &&
	       !dwarf_getlocation_attr(&attribute, &ops[0], &indexed) &&
	       !dwarf_formaddr(&indexed, out);
}

bool dwarf_type_is_atomic_class(Dwarf_Die *type)
{
	static const char *const beginnings[] = {
		"atomic<", "atomic_ref<", "__atomic_base<", "__atomic_ref<",
		"__atomic_float<",
	};
	const char *name = dwarf_diename(type);
	int tag = dwarf_tag(type);

	if (!name || (tag != DW_TAG_structure_type && tag != DW_TAG_class_type))
		return false;
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++)
		if (!strncmp(name, beginnings[i], strlen(beginnings[i])))
			return true;
	return !strcmp(name, "atomic_flag");
}

/* Itself is none of these: it only refers to an object. */
static bool is_reference_class(Dwarf_Die *type)
{
	const char *name = dwarf_diename(type);

	return name && strstr(name, "atomic_ref<");
}

/* Without names and qualifiers. */
static bool strip(Dwarf_Die *type)
{
	for (unsigned depth = 0; depth < DEPTH_MOST; depth++) {
		switch (dwarf_tag(type)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
			if (!dwarf_type_of(type, type))
				return false;
			break;
		default:
			return true;
		}
	}
	return false;
}

bool dwarf_type_is_atomic(Dwarf_Die *type)
{
	Dwarf_Die bare = *type;

	return strip(&bare) && (dwarf_tag(&bare) == DW_TAG_atomic_type ||
				(dwarf_type_is_atomic_class(&bare) &&
				 !is_reference_class(&bare)));
}

static bool is_pointer(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
	       tag == DW_TAG_rvalue_reference_type;
}

static bool may_have_parts(Dwarf_Die *type)
{
	switch (dwarf_tag(type)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_array_type:
	case DW_TAG_atomic_type:
		return true;
	}
	return is_pointer(type);
}

int dwarf_types_number(struct dwarf_types *types, Dwarf_Die *type,
		       size_t *out)
{
	Dwarf_Die bare = *type;
	const uint64_t *known;

	*out = TYPE_NONE;
	if (!strip(&bare) || !may_have_parts(&bare))
		return 0;
	known = number_map_find(&types->numbers, (uintptr_t)bare.addr);
	if (known) {
		*out = (size_t)*known;
		return 0;
	}
	if (array_room(types->list, types->count, types->room) ||
	    number_map_set(&types->numbers, (uintptr_t)bare.addr, types->count))
		return ERR_NO_MEMORY;
	*out = types->count;
	types->list[types->count++] = (struct dwarf_type) { .die = bare };
	return 0;
}

/* ------- through an object ------- */

static int walk_object(const struct dwarf_walk *walk, Dwarf_Die *type,
		       uint64_t offset, unsigned depth);

/* Members: structures, classes, unions. */
static int walk_members(const struct dwarf_walk *walk, Dwarf_Die *type,
			uint64_t offset, unsigned depth)
{
	Dwarf_Die member, its_type;
	int rc = 0;

	if (dwarf_child(type, &member))
		return 0;
	do {
		Dwarf_Attribute attribute;
		Dwarf_Word inside = 0;
		int tag = dwarf_tag(&member);

		if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
			continue;
		if (dwarf_attr(&member, DW_AT_external, &attribute))
			continue;	/* a static member is elsewhere */
		if (dwarf_attr(&member, DW_AT_data_member_location, &attribute))
			dwarf_formudata(&attribute, &inside);
		if (dwarf_type_of(&member, &its_type))
			rc = walk_object(walk, &its_type, offset + inside,
					 depth + 1);
	} while (!rc && !dwarf_siblingof(&member, &member));
	return rc;
}

static int walk_array(const struct dwarf_walk *walk, Dwarf_Die *type,
		      uint64_t offset, unsigned depth)
{
	Dwarf_Die element;
	Dwarf_Word all, each;
	int rc = 0;

	if (!dwarf_type_of(type, &element) ||
	    dwarf_aggregate_size(type, &all) ||
	    dwarf_aggregate_size(&element, &each) || !each)
		return 0;
	for (Dwarf_Word i = 0; i < all / each && i < walk->elements && !rc; i++)
		rc = walk_object(walk, &element, offset + i * each, depth + 1);
	return rc;
}

static int walk_object(const struct dwarf_walk *walk, Dwarf_Die *type,
		       uint64_t offset, unsigned depth)
{
	Dwarf_Die bare = *type;

	if (depth > DEPTH_MOST || !strip(&bare))
		return 0;
	if (dwarf_type_is_atomic(&bare))
		return walk->visit(walk->context, &bare, offset);
	switch (dwarf_tag(&bare)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return walk_members(walk, &bare, offset, depth);
	case DW_TAG_array_type:
		return walk_array(walk, &bare, offset, depth);
	}
	return walk->visit(walk->context, &bare, offset);
}

int dwarf_type_walk(const struct dwarf_walk *walk, Dwarf_Die *type,
		    uint64_t offset)
{
	return walk_object(walk, type, offset, 0);
}

/* ------- parts ------- */

/* The parts of one type are collected; `number` is its. */
struct layout {
	struct dwarf_types *types;
	size_t number;
};

static int add_part(const struct layout *layout, struct dwarf_part part)
{
	struct dwarf_type *type = &layout->types->list[layout->number];

	if (type->count == PARTS_MOST)
		return 0;
	if (array_room(type->parts, type->count, type->room))
		return ERR_NO_MEMORY;
	type->parts[type->count++] = part;
	return 0;
}

/* What `pointer` points to, if it is one. */
static int number_pointee(struct dwarf_types *types, Dwarf_Die *pointer,
			  size_t *out)
{
	Dwarf_Die bare = *pointer, target;

	*out = TYPE_NONE;
	if (!strip(&bare) || !is_pointer(&bare) ||
	    !dwarf_type_of(&bare, &target))
		return 0;
	return dwarf_types_number(types, &target, out);
}

/* The T of atomic<T>. */
static bool find_argument(Dwarf_Die *type, Dwarf_Die *out)
{
	Dwarf_Die child;

	if (dwarf_child(type, &child))
		return false;
	do {
		if (dwarf_tag(&child) == DW_TAG_template_type_parameter)
			return dwarf_type_of(&child, out);
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

static int lay_out_atomic(const struct layout *layout, Dwarf_Die *type,
			  uint64_t offset)
{
	struct dwarf_part part = { .offset = offset, .pointee = TYPE_NONE };
	Dwarf_Die inner;
	Dwarf_Word size;
	int rc = 0;

	if (dwarf_aggregate_size(type, &size) || !size)
		return 0;
	part.size = size;
	if (dwarf_tag(type) == DW_TAG_atomic_type ?
		    dwarf_type_of(type, &inner) : find_argument(type, &inner))
		rc = number_pointee(layout->types, &inner, &part.pointee);
	return rc ? rc : add_part(layout, part);
}

static int lay_out(void *context, Dwarf_Die *type, uint64_t offset)
{
	const struct layout *layout = context;
	struct dwarf_part pointer = { .offset = offset };
	int rc;

	if (dwarf_type_is_atomic(type))
		return lay_out_atomic(layout, type, offset);
	rc = number_pointee(layout->types, type, &pointer.pointee);
	return rc || pointer.pointee == TYPE_NONE ? rc :
						    add_part(layout, pointer);
}

/* ------- which of them matter ------- */

static bool is_of_use(const struct dwarf_types *types,
		      const struct dwarf_part *part)
{
	return part->size || (part->pointee != TYPE_NONE &&
			      types->list[part->pointee].leads);
}

/* Whether another type was found to lead to something atomic. */
static bool find_lead(struct dwarf_types *types)
{
	bool changed = false;

	for (size_t i = 0; i < types->count; i++) {
		struct dwarf_type *type = &types->list[i];
		bool before = type->leads;

		for (size_t j = 0; j < type->count && !type->leads; j++)
			type->leads = is_of_use(types, &type->parts[j]);
		changed |= type->leads != before;
	}
	return changed;
}

static void drop_useless(struct dwarf_types *types, struct dwarf_type *type)
{
	size_t kept = 0;

	for (size_t i = 0; i < type->count; i++)
		if (is_of_use(types, &type->parts[i]))
			type->parts[kept++] = type->parts[i];
	type->count = kept;
}

int dwarf_types_settle(struct dwarf_types *types)
{
	/* More are met on the way. */
	for (; types->settled < types->count; types->settled++) {
		struct layout layout = { types, types->settled };
		const struct dwarf_walk walk = { lay_out, &layout, PARTS_MOST };
		Dwarf_Die die = types->list[types->settled].die;
		int rc = dwarf_type_walk(&walk, &die, 0);

		if (rc)
			return rc;
	}
	while (find_lead(types))
		continue;
	for (size_t i = 0; i < types->count; i++)
		drop_useless(types, &types->list[i]);
	return 0;
}

void dwarf_types_release(struct dwarf_types *types)
{
	for (size_t i = 0; i < types->count; i++)
		free(types->list[i].parts);
	free(types->list);
	number_map_release(&types->numbers);
	*types = (struct dwarf_types) { 0 };
}
