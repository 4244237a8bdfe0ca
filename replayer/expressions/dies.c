/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dies.c - see dies.h
 *
 * Source: DWARF 5, 2.13.2 (declarations completed elsewhere), 3.3.8.2 (concrete
 * instances).
 */
#include "replayer/expressions/dies.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"

/* How deep scopes may be nested in a file that makes sense. */
#define DEPTH_MOST 64u
#define ENTRIES_MOST (1u << 26)

static bool has_flag(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	bool flag;

	return dwarf_attr(die, name, &attribute) &&
	       !dwarf_formflag(&attribute, &flag) && flag;
}

static bool is_static(Dwarf_Die *variable)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;
	uint64_t addr;

	if (dwarf_fixed_address(variable, &addr))
		return true;
	return dwarf_location(variable, DW_AT_location, &attribute) &&
	       !dwarf_getlocation(&attribute, &ops, &count) && count &&
	       (ops[0].atom == DW_OP_addr || ops[0].atom == DW_OP_addrx ||
		ops[0].atom == DW_OP_GNU_addr_index ||
		ops[count - 1].atom == DW_OP_form_tls_address ||
		ops[count - 1].atom == DW_OP_GNU_push_tls_address);
}

static bool is_in_function(const struct die_index *index, uint32_t parent)
{
	return parent != DIE_NONE && index->list[parent].kind == DIE_FUNCTION;
}

/* False for what is not named in other places. */
static bool kind_of(const struct die_index *index, Dwarf_Die *die,
		    uint32_t parent, enum die_kind *out)
{
	Dwarf_Attribute attribute;

	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
	case DW_TAG_module:
		*out = DIE_SCOPE;
		return true;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_typedef:
	case DW_TAG_base_type:
	case DW_TAG_unspecified_type:
	case DW_TAG_template_alias:
		*out = DIE_TYPE;
		return true;
	case DW_TAG_subprogram:
		*out = DIE_FUNCTION;
		return true;
	case DW_TAG_enumerator:
		*out = DIE_ENUMERATOR;
		return true;
	case DW_TAG_member:
		*out = DIE_VARIABLE;
		return dwarf_attr(die, DW_AT_external, &attribute) != NULL;
	case DW_TAG_variable:
	case DW_TAG_constant:
		*out = DIE_VARIABLE;
		return !is_in_function(index, parent) || is_static(die);
	}
	return false;
}

static int add_entry(struct die_index *index, Dwarf_Die *die,
		     enum die_kind kind, uint32_t parent)
{
	if (index->count == ENTRIES_MOST ||
	    array_room(index->list, index->count, index->room))
		return ERR_NO_MEMORY;
	if (index->count && index->list[index->count - 1].die.addr > die->addr)
		index->is_mixed = true;
	index->list[index->count++] = (struct die_entry) {
		.die = *die, .name = dwarf_diename(die), .parent = parent,
		.kind = kind,
		.is_declaration = has_flag(die, DW_AT_declaration),
		.is_transparent = dwarf_tag(die) == DW_TAG_enumeration_type &&
				  !has_flag(die, DW_AT_enum_class),
	};
	return 0;
}

static bool may_have_names(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
		return true;
	}
	return false;
}

static int walk(struct die_index *index, Dwarf_Die *parent_die,
		uint32_t parent, unsigned depth)
{
	Dwarf_Die die;
	int rc = 0;

	if (depth > DEPTH_MOST || dwarf_child(parent_die, &die))
		return 0;
	do {
		uint32_t inner = parent;
		enum die_kind kind;

		if (kind_of(index, &die, parent, &kind)) {
			inner = (uint32_t)index->count;
			rc = add_entry(index, &die, kind, parent);
		}
		if (!rc && may_have_names(dwarf_tag(&die)))
			rc = walk(index, &die, inner, depth + 1);
	} while (!rc && !die_sibling(&die, &die));
	return rc;
}

/* ------- by where the bytes are ------- */

/* Nearly always they are read in that order; several sections may not be. */
static int list_addrs(struct die_index *index)
{
	int rc = 0;

	for (size_t i = 0; index->is_mixed && i < index->count && !rc; i++)
		rc = number_map_set(&index->by_addr,
				    (uintptr_t)index->list[i].die.addr, i);
	return rc;
}

const struct die_entry *die_index_entry(const struct die_index *index,
					const Dwarf_Die *die)
{
	size_t low = 0, high = index->count;

	if (index->is_mixed) {
		const uint64_t *number = number_map_find(&index->by_addr,
							 (uintptr_t)die->addr);

		return number ? &index->list[*number] : NULL;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (index->list[middle].die.addr < die->addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < index->count && index->list[low].die.addr == die->addr ?
		       &index->list[low] : NULL;
}

/* ------- definitions that stand outside of what they belong to ------- */

static bool follow(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, name, &attribute) &&
	       dwarf_formref_die(&attribute, die);
}

/* They have the names and the scopes of their declarations. */
static void settle(struct die_index *index, struct die_entry *entry)
{
	const struct die_entry *declaration;
	Dwarf_Die die = entry->die;

	if (entry->kind != DIE_VARIABLE && entry->kind != DIE_FUNCTION &&
	    entry->kind != DIE_TYPE)
		return;
	for (unsigned i = 0; i < DEPTH_MOST; i++)
		if (!follow(&die, DW_AT_abstract_origin) &&
		    !follow(&die, DW_AT_specification))
			break;
	if (die.addr == entry->die.addr)
		return;
	declaration = die_index_entry(index, &die);
	if (declaration)
		entry->parent = declaration->parent;
}

/* ------- by name ------- */

/* Of a name: its first bytes, as a number that is in order as the name is. */
struct sorted_name {
	uint64_t begin;
	const char *name;
	uint32_t number;
};

static uint64_t begin_of(const char *name)
{
	uint64_t begin = 0;

	for (unsigned i = 0; i < sizeof(begin); i++)
		begin = begin << 8 | (*name ? (uint8_t)*name++ : 0);
	return begin;
}

/* Most names differ early, and those that do not are often the same bytes. */
static int compare_names(const void *left, const void *right)
{
	const struct sorted_name *a = left, *b = right;
	int order = 0;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	if (a->name != b->name)
		order = strcmp(a->name, b->name);
	return order ? order : (a->number > b->number) -
				       (a->number < b->number);
}

static int sort_names(struct die_index *index)
{
	struct sorted_name *names = calloc(index->count + 1, sizeof(*names));
	size_t count = 0;

	index->by_name = calloc(index->count + 1, sizeof(*index->by_name));
	if (!index->by_name || !names) {
		free(names);
		return ERR_NO_MEMORY;
	}
	for (size_t i = 0; i < index->count; i++)
		if (index->list[i].name)
			names[count++] = (struct sorted_name){
				begin_of(index->list[i].name),
				index->list[i].name, (uint32_t)i,
			};
	qsort(names, count, sizeof(*names), compare_names);
	for (size_t i = 0; i < count; i++)
		index->by_name[i] = names[i].number;
	index->named = count;
	free(names);
	return 0;
}

/* Variables that are always at the same address. */
static int note_place(struct die_index *index, size_t number)
{
	struct die_entry *entry = &index->list[number];
	Dwarf_Die die = entry->die;
	uint64_t addr;

	if (entry->kind != DIE_VARIABLE || !dwarf_fixed_address(&die, &addr) ||
	    addr == NUMBER_MAP_NONE)
		return 0;
	return number_map_set(&index->by_place, addr, number);
}

int die_index_build(struct die_index *index, Dwarf *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	int rc = 0;

	*index = (struct die_index) { 0 };
	while (!rc && !dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die,
				       NULL))
		rc = walk(index, &die, DIE_NONE, 0);
	if (!rc)
		rc = list_addrs(index);
	for (size_t i = 0; i < index->count && !rc; i++) {
		settle(index, &index->list[i]);
		rc = note_place(index, i);
	}
	return rc ? rc : sort_names(index);
}

void die_index_release(struct die_index *index)
{
	free(index->list);
	free(index->by_name);
	number_map_release(&index->by_addr);
	number_map_release(&index->by_place);
	*index = (struct die_index) { 0 };
}

size_t die_index_find(const struct die_index *index, const char *name)
{
	size_t low = 0, high = index->named;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint32_t number = index->by_name[middle];

		if (strcmp(index->list[number].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < index->named &&
	    !strcmp(index->list[index->by_name[low]].name, name))
		return low;
	return index->named;
}

const struct die_entry *die_index_at(const struct die_index *index,
				     uint64_t addr)
{
	const uint64_t *number = number_map_find(&index->by_place, addr);

	return number ? &index->list[*number] : NULL;
}

/* ------- variables of functions ------- */

const char *die_variable_name(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_variable || tag == DW_TAG_formal_parameter ?
		       dwarf_diename(die) : NULL;
}

static bool declares(Dwarf_Die *scope, const char *name, unsigned depth)
{
	Dwarf_Die die;

	if (depth > DEPTH_MOST || dwarf_child(scope, &die))
		return false;
	do {
		const char *its = die_variable_name(&die);

		if ((its && !strcmp(its, name)) ||
		    (dwarf_tag(&die) == DW_TAG_lexical_block &&
		     declares(&die, name, depth + 1)))
			return true;
	} while (!die_sibling(&die, &die));
	return false;
}

bool die_declares(Dwarf_Die *function, const char *name)
{
	Dwarf_Die origin = *function;

	return declares(function, name, 0) ||
	       (follow(&origin, DW_AT_abstract_origin) &&
		declares(&origin, name, 0));
}

/* ------- names with their scopes ------- */

void die_qualified_name(const struct die_index *index,
			const struct die_entry *entry, char *text, size_t room)
{
	const struct die_entry *scopes[DEPTH_MOST];
	size_t count = 0, used = 0;

	for (const struct die_entry *at = entry; count < DEPTH_MOST;) {
		if (at == entry || !at->is_transparent)
			scopes[count++] = at;
		if (at->parent == DIE_NONE)
			break;
		at = &index->list[at->parent];
	}
	*text = '\0';
	while (count-- && used < room) {
		const char *name = scopes[count]->name;

		if (!name && count)
			continue;	/* an anonymous namespace, a union */
		used += (size_t)snprintf(text + used, room - used, "%s%s",
					 used ? "::" : "", name ? name : "");
	}
}
