/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dwarf_atomics.c - see dwarf_atomics.h */
#include "replayer/symbols/dwarf_atomics.h"

#include <dwarf.h>

#include "replayer/symbols/dwarf_types.h"

/* How deep scopes may be nested in a file that makes sense. */
#define DEPTH_MOST 64

/* Of an array, no more elements than this are looked at. */
#define ELEMENTS_MOST 65536u

struct search {
	int (*visit)(void *context, uint64_t addr, uint64_t size);
	void *context;
};

static int search_part(void *context, Dwarf_Die *type, uint64_t addr)
{
	const struct search *search = context;
	Dwarf_Word size;

	if (!dwarf_type_is_atomic(type) || dwarf_aggregate_size(type, &size) ||
	    !size)
		return 0;
	return search->visit(search->context, addr, size);
}

/* A variable with an address that does not change. */
static int search_variable(struct search *search, Dwarf_Die *variable)
{
	const struct dwarf_walk walk = { search_part, search, ELEMENTS_MOST };
	Dwarf_Die type;
	uint64_t addr;

	/* A definition may say its type in its declaration. */
	return dwarf_fixed_address(variable, &addr) &&
			       dwarf_type_of(variable, &type) ?
		       dwarf_type_walk(&walk, &type, addr) : 0;
}

/* Also the static variables of functions. */
static int search_scope(struct search *search, Dwarf_Die *scope,
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
	struct search search = { visit, context };
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	int rc = 0;

	while (!rc && !dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die,
				       NULL))
		rc = search_scope(&search, &die, 0);
	return rc;
}
