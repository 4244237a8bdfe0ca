/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_places.c - see dwarf_places.h
 *
 * Source: DWARF 5, 3.3.8 (inlined subroutines), 2.6 (locations); the headers
 * of libstdc++ (atomic_base.h: std::__atomic_impl) and libc++
 * (__cxx_atomic_load() and its kin).
 */
#include "replayer/symbols/dwarf_places.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/symbols/dwarf_locations.h"

/* How deep scopes may be nested in a file that makes sense. */
#define DEPTH_MOST 256

struct search {
	struct dwarf_places *places;
	struct number_map functions;	/* for atomic objects: their sizes */
	uint64_t bias;
};

/* ------- functions for atomic objects ------- */

static bool starts(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

/* Constructors and destructors access an object before others know it. */
static bool is_operation(Dwarf_Die *function)
{
	const char *name = dwarf_diename(function);

	return name && dwarf_tag(function) == DW_TAG_subprogram &&
	       (!starts(name, "atomic") || starts(name, "atomic_")) &&
	       !starts(name, "__atomic_") && !starts(name, "~");
}

/* The functions that a class or a namespace declares. */
static int note_functions(struct search *search, Dwarf_Die *scope,
			  uint64_t size)
{
	Dwarf_Die die;
	int rc = 0;

	if (dwarf_child(scope, &die))
		return 0;
	do {
		if (is_operation(&die))
			rc = number_map_set(&search->functions,
					    (uintptr_t)die.addr, size);
	} while (!rc && !dwarf_siblingof(&die, &die));
	return rc;
}

static int note_class(struct search *search, Dwarf_Die *type)
{
	const char *name = dwarf_diename(type);
	Dwarf_Word size;

	if (!dwarf_type_is_atomic_class(type) ||
	    dwarf_aggregate_size(type, &size))
		return 0;
	/* A reference is as large as a pointer, whatever it refers to. */
	return note_functions(search, type, strstr(name, "_ref<") ? 0 : size);
}

/* Classes and functions of a scope, and of those in it. */
static int note_scope(struct search *search, Dwarf_Die *scope, unsigned depth)
{
	Dwarf_Die die;
	int rc = 0;

	if (depth > DEPTH_MOST || dwarf_child(scope, &die))
		return 0;
	do {
		const char *name = dwarf_diename(&die);

		switch (dwarf_tag(&die)) {
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
			rc = note_class(search, &die);
			break;
		case DW_TAG_subprogram:
			if (name && starts(name, "__cxx_atomic_"))
				rc = number_map_set(&search->functions,
						    (uintptr_t)die.addr, 0);
			break;
		case DW_TAG_namespace:
			if (name && !strcmp(name, "__atomic_impl"))
				rc = note_functions(search, &die, 0);
			else
				rc = note_scope(search, &die, depth + 1);
			break;
		}
	} while (!rc && !dwarf_siblingof(&die, &die));
	return rc;
}

/* The entry that this one repeats in part. */
static bool find_origin(Dwarf_Die *die, Dwarf_Die *out)
{
	Dwarf_Attribute attribute;

	return (dwarf_attr(die, DW_AT_abstract_origin, &attribute) ||
		dwarf_attr(die, DW_AT_specification, &attribute)) &&
	       dwarf_formref_die(&attribute, out);
}

/* The size of what a function accesses; NULL if it is not for atomics. */
static const uint64_t *find_function(const struct search *search,
				     Dwarf_Die *die)
{
	const uint64_t *size = NULL;
	Dwarf_Die at = *die;

	for (unsigned depth = 0; depth < 4 && !size; depth++) {
		size = number_map_find(&search->functions, (uintptr_t)at.addr);
		if (!find_origin(&at, &at))
			break;
	}
	return size;
}

/* ------- places ------- */

static int add_place(struct search *search, struct dwarf_place place,
		     uint64_t start, uint64_t end)
{
	struct dwarf_places *places = search->places;

	if (start >= end)
		return 0;
	if (array_room(places->list, places->count, places->room))
		return ERR_NO_MEMORY;
	place.start = start + search->bias;
	place.end = end + search->bias;
	places->list[places->count++] = place;
	return 0;
}

/* In all the code of a scope. */
static int add_everywhere(struct search *search, Dwarf_Die *scope,
			  const struct dwarf_place *place)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	int rc = 0;

	while (!rc && (at = dwarf_ranges(scope, at, &base, &start, &end)) > 0)
		rc = add_place(search, *place, start, end);
	return rc;
}

/* A function, and where in it variables are relative to. */
struct frame {
	enum dwarf_base base;
	unsigned reg;
};

static struct frame find_frame(Dwarf_Die *function)
{
	struct frame frame = { BASE_NONE, 0 };
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;

	if (!dwarf_location(function, DW_AT_frame_base, &attribute) ||
	    dwarf_getlocation(&attribute, &ops, &count) || count != 1)
		return frame;
	if (ops[0].atom == DW_OP_call_frame_cfa) {
		frame.base = BASE_FRAME;
	} else if (ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg15) {
		frame.base = BASE_REGISTER;
		frame.reg = ops[0].atom - DW_OP_reg0;
	}
	return frame;
}

/* False: it says where the variable is in a way that is not looked into. */
static bool take_location(struct dwarf_place *place, const struct frame *frame,
			  const Dwarf_Op *ops, size_t count)
{
	bool is_value = count == 2 && ops[1].atom == DW_OP_stack_value;

	if (!count || (count > 1 && !is_value))
		return false;
	place->kind = is_value ? PLACE_VALUE : PLACE_MEMORY;
	place->offset = ops[0].number;
	place->base = BASE_REGISTER;
	if (ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg15) {
		place->kind = PLACE_VALUE;
		place->reg = ops[0].atom - DW_OP_reg0;
		place->offset = 0;
		return !is_value;
	}
	if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg15) {
		place->reg = ops[0].atom - DW_OP_breg0;
		return true;
	}
	if (ops[0].atom == DW_OP_fbreg) {
		place->base = frame->base;
		place->reg = frame->reg;
		return frame->base != BASE_NONE;
	}
	return false;
}

static int add_local(struct search *search, Dwarf_Die *variable,
		     Dwarf_Die *scope, const struct frame *frame, size_t type)
{
	struct dwarf_place place = { .type = type };
	Dwarf_Addr base, start, end;
	Dwarf_Attribute attribute;
	ptrdiff_t at = 0;
	Dwarf_Op *ops;
	size_t count;
	int rc = 0;

	if (!dwarf_location(variable, DW_AT_location, &attribute))
		return 0;
	if (!dwarf_getlocation(&attribute, &ops, &count)) {
		return take_location(&place, frame, ops, count) ?
			       add_everywhere(search, scope, &place) : 0;
	}
	while (!rc && (at = dwarf_getlocations(&attribute, at, &base, &start,
					       &end, &ops, &count)) > 0) {
		if (take_location(&place, frame, ops, count))
			rc = add_place(search, place, start, end);
	}
	return rc;
}

static int add_static(struct search *search, uint64_t addr, size_t type)
{
	struct dwarf_places *places = search->places;

	if (array_room(places->variables, places->variable_count,
		       places->variable_room))
		return ERR_NO_MEMORY;
	places->variables[places->variable_count++] =
		(struct dwarf_variable) { addr + search->bias, type };
	return 0;
}

static int add_variable(struct search *search, Dwarf_Die *variable,
			Dwarf_Die *scope, const struct frame *frame)
{
	Dwarf_Die its_type;
	uint64_t addr;
	size_t type;
	int rc;

	if (!dwarf_hasattr(variable, DW_AT_location) ||
	    !dwarf_type_of(variable, &its_type))
		return 0;
	rc = dwarf_types_number(&search->places->types, &its_type, &type);
	if (rc || type == TYPE_NONE)
		return rc;
	return dwarf_fixed_address(variable, &addr) ?
		       add_static(search, addr, type) :
		       add_local(search, variable, scope, frame, type);
}

static int add_scope(struct search *search, Dwarf_Die *scope,
		     struct frame frame, unsigned depth);

static int add_function(struct search *search, Dwarf_Die *function)
{
	const uint64_t *size = find_function(search, function);
	struct dwarf_place place = { .kind = PLACE_FUNCTION };

	if (!size)
		return 0;
	place.size = *size;
	return add_everywhere(search, function, &place);
}

static int add_entry(struct search *search, Dwarf_Die *die, Dwarf_Die *scope,
		     const struct frame *frame, unsigned depth)
{
	int rc;

	switch (dwarf_tag(die)) {
	case DW_TAG_variable:
	case DW_TAG_formal_parameter:
		return add_variable(search, die, scope, frame);
	case DW_TAG_subprogram:
		rc = add_function(search, die);
		return rc ? rc : add_scope(search, die, find_frame(die),
					   depth + 1);
	case DW_TAG_inlined_subroutine:
		rc = add_function(search, die);
		return rc ? rc : add_scope(search, die, *frame, depth + 1);
	case DW_TAG_lexical_block:
	case DW_TAG_namespace:
		return add_scope(search, die, *frame, depth + 1);
	}
	return 0;
}

static int add_scope(struct search *search, Dwarf_Die *scope,
		     struct frame frame, unsigned depth)
{
	Dwarf_Die die;
	int rc = 0;

	if (depth > DEPTH_MOST || dwarf_child(scope, &die))
		return 0;
	do {
		rc = add_entry(search, &die, scope, &frame, depth);
	} while (!rc && !dwarf_siblingof(&die, &die));
	return rc;
}

/* ------- all of a module ------- */

static int each_unit(struct search *search, Dwarf *dwarf,
		     int (*visit)(struct search *search, Dwarf_Die *unit))
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	int rc = 0;

	while (!rc && !dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die,
				       NULL))
		rc = visit(search, &die);
	return rc;
}

static int note_unit(struct search *search, Dwarf_Die *unit)
{
	return note_scope(search, unit, 0);
}

static int add_unit(struct search *search, Dwarf_Die *unit)
{
	const struct frame none = { BASE_NONE, 0 };

	return add_scope(search, unit, none, 0);
}

int dwarf_places_add(struct dwarf_places *places, Dwarf *dwarf, uint64_t bias)
{
	struct search search = { .places = places, .bias = bias };
	int rc = each_unit(&search, dwarf, note_unit);

	if (!rc)
		rc = each_unit(&search, dwarf, add_unit);
	number_map_release(&search.functions);
	return rc;
}

static int compare(const void *a, const void *b)
{
	const struct dwarf_place *one = a, *other = b;

	return (one->start > other->start) - (one->start < other->start);
}

static bool is_of_use(const struct dwarf_places *places,
		      const struct dwarf_place *place)
{
	return place->kind == PLACE_FUNCTION ||
	       places->types.list[place->type].leads;
}

int dwarf_places_settle(struct dwarf_places *places)
{
	size_t kept = 0;
	int rc = dwarf_types_settle(&places->types);

	for (size_t i = 0; i < places->count && !rc; i++) {
		const struct dwarf_place *place = &places->list[i];

		if (!is_of_use(places, place))
			continue;
		if (places->longest < place->end - place->start)
			places->longest = place->end - place->start;
		places->list[kept++] = *place;
	}
	places->count = kept;
	if (kept)
		qsort(places->list, kept, sizeof(*places->list), compare);
	return rc;
}

/* The first place that starts behind `pc`. */
static size_t first_behind(const struct dwarf_places *places, uint64_t pc)
{
	size_t low = 0, high = places->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (places->list[middle].start <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int dwarf_places_each(const struct dwarf_places *places, uint64_t pc,
		      int (*visit)(void *context,
				   const struct dwarf_place *place),
		      void *context)
{
	int rc = 0;

	for (size_t i = first_behind(places, pc); i-- > 0 && !rc;) {
		const struct dwarf_place *place = &places->list[i];

		if (pc - place->start >= places->longest)
			break;
		if (pc < place->end)
			rc = visit(context, place);
	}
	return rc;
}

void dwarf_places_release(struct dwarf_places *places)
{
	dwarf_types_release(&places->types);
	free(places->list);
	free(places->variables);
	*places = (struct dwarf_places) { 0 };
}
