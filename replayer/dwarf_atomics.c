/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dwarf_atomics.c - see dwarf_atomics.h */
#include "replayer/dwarf_atomics.h"

#include <dwarf.h>
#include <stdbool.h>
#include <string.h>

/* How deep types and scopes may be nested in a file that makes sense. */
#define DEPTH_MOST 64

/* Of an array, no more elements than this are looked at. */
#define ELEMENTS_MOST 65536u

struct search {
	int (*visit)(void *context, uint64_t addr, uint64_t size);
	void *context;
};

static int search_type(const struct search *search, Dwarf_Die *type,
		       uint64_t addr, unsigned depth);

/* Members: structures, classes, unions. */
static int search_members(const struct search *search, Dwarf_Die *type,
			  uint64_t addr, unsigned depth)
{
	Dwarf_Die member, its_type;
	int rc = 0;

	if (dwarf_child(type, &member))
		return 0;
	do {
		Dwarf_Attribute attribute;
		Dwarf_Word offset = 0;
		int tag = dwarf_tag(&member);

		if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
			continue;
		if (dwarf_attr(&member, DW_AT_external, &attribute))
			continue;	/* a static member is elsewhere */
		if (dwarf_attr(&member, DW_AT_data_member_location, &attribute))
			dwarf_formudata(&attribute, &offset);
		if (dwarf_attr(&member, DW_AT_type, &attribute) &&
		    dwarf_formref_die(&attribute, &its_type))
			rc = search_type(search, &its_type, addr + offset,
					 depth + 1);
	} while (!rc && !dwarf_siblingof(&member, &member));
	return rc;
}

static int search_array(const struct search *search, Dwarf_Die *type,
			uint64_t addr, unsigned depth)
{
	Dwarf_Attribute attribute;
	Dwarf_Die element;
	Dwarf_Word all, each;
	int rc = 0;

	if (!dwarf_attr(type, DW_AT_type, &attribute) ||
	    !dwarf_formref_die(&attribute, &element) ||
	    dwarf_aggregate_size(type, &all) ||
	    dwarf_aggregate_size(&element, &each) || !each)
		return 0;
	for (Dwarf_Word i = 0; i < all / each && i < ELEMENTS_MOST && !rc; i++)
		rc = search_type(search, &element, addr + i * each, depth + 1);
	return rc;
}

static bool is_atomic_class(Dwarf_Die *type)
{
	const char *name = dwarf_diename(type);

	return name && (!strncmp(name, "atomic<", 7) ||
			!strncmp(name, "__atomic_base<", 14) ||
			!strcmp(name, "atomic_flag"));
}

static int search_type(const struct search *search, Dwarf_Die *type,
		       uint64_t addr, unsigned depth)
{
	Dwarf_Attribute attribute;
	Dwarf_Die base;
	Dwarf_Word size;
	int tag = dwarf_tag(type);
	bool is_class = tag == DW_TAG_structure_type ||
			tag == DW_TAG_class_type;

	if (depth > DEPTH_MOST)
		return 0;
	if (tag == DW_TAG_atomic_type || (is_class && is_atomic_class(type)))
		return dwarf_aggregate_size(type, &size) || !size ? 0 :
		       search->visit(search->context, addr, size);
	if (is_class || tag == DW_TAG_union_type)
		return search_members(search, type, addr, depth);
	if (tag == DW_TAG_array_type)
		return search_array(search, type, addr, depth);
	if ((tag == DW_TAG_typedef || tag == DW_TAG_const_type ||
	     tag == DW_TAG_volatile_type) &&
	    dwarf_attr(type, DW_AT_type, &attribute) &&
	    dwarf_formref_die(&attribute, &base))
		return search_type(search, &base, addr, depth + 1);
	return 0;
}

/* A variable with an address that does not change. */
static int search_variable(const struct search *search, Dwarf_Die *variable)
{
	Dwarf_Attribute attribute;
	Dwarf_Die type;
	Dwarf_Op *operations;
	size_t count;

	if (!dwarf_attr(variable, DW_AT_location, &attribute) ||
	    dwarf_getlocation(&attribute, &operations, &count) || count != 1 ||
	    operations[0].atom != DW_OP_addr)
		return 0;
	/* A definition may say its type in its declaration. */
	if (!dwarf_attr_integrate(variable, DW_AT_type, &attribute) ||
	    !dwarf_formref_die(&attribute, &type))
		return 0;
	return search_type(search, &type, operations[0].number, 0);
}

/* Also the static variables of functions. */
static int search_scope(const struct search *search, Dwarf_Die *scope,
			unsigned depth)
{
	Dwarf_Die die;
	int rc = 0;

	if (depth > DEPTH_MOST || dwarf_child(scope, &die))
		return 0;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_variable:
			rc = search_variable(search, &die);
			break;
		case DW_TAG_namespace:
		case DW_TAG_subprogram:
		case DW_TAG_lexical_block:
			rc = search_scope(search, &die, depth + 1);
			break;
		}
	} while (!rc && !dwarf_siblingof(&die, &die));
	return rc;
}

int dwarf_each_atomic(Dwarf *dwarf,
		      int (*visit)(void *context, uint64_t addr,
				   uint64_t size),
		      void *context)
{
	const struct search search = { visit, context };
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	int rc = 0;

	while (!rc && !dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die,
				       NULL))
		rc = search_scope(&search, &die, 0);
	return rc;
}
