/* SPDX-License-Identifier: GPL-2.0-or-later */
/* call_sites.c - see call_sites.h */
#include "replayer/symbols/call_sites.h"

#include <dwarf.h>
#include <stdlib.h>

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/symbols/scopes.h"

/* Of one function: more would be made up by a damaged file. */
#define SITES_MOST 100000u

/* ------- the calls of a function ------- */

static bool has_flag(Dwarf_Die *die, unsigned name, unsigned gnu_name)
{
	Dwarf_Attribute attribute;
	bool is_set = false;

	return (dwarf_attr(die, name, &attribute) ||
		dwarf_attr(die, gnu_name, &attribute)) &&
	       !dwarf_formflag(&attribute, &is_set) && is_set;
}

static bool find_pc(Dwarf_Die *die, Dwarf_Addr *out)
{
	Dwarf_Attribute attribute;

	return (dwarf_attr(die, DW_AT_call_return_pc, &attribute) ||
		dwarf_attr(die, DW_AT_low_pc, &attribute)) &&
	       !dwarf_formaddr(&attribute, out);
}

static int add_site(struct call_sites *sites, Dwarf_Die *die)
{
	struct call_site site = {
		.die = *die,
		.is_tail = has_flag(die, DW_AT_call_tail_call,
				    DW_AT_GNU_tail_call),
	};

	if (sites->count == SITES_MOST || !find_pc(die, &site.pc))
		return 0;
	if (array_room(sites->list, sites->count, sites->room))
		return ERR_NO_MEMORY;
	sites->list[sites->count++] = site;
	return 0;
}

static int add_below(struct call_sites *sites, Dwarf_Die *parent,
		     unsigned depth)
{
	Dwarf_Die die;
	int rc = 0;

	if (depth > SCOPES_MOST || dwarf_child(parent, &die))
		return 0;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_call_site:
		case DW_TAG_GNU_call_site:
			rc = add_site(sites, &die);
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_inlined_subroutine:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			rc = add_below(sites, &die, depth + 1);
			break;
		}
	} while (!rc && !die_sibling(&die, &die));
	return rc;
}

static int compare_sites(const void *left, const void *right)
{
	const struct call_site *a = left, *b = right;

	if (a->pc != b->pc)
		return a->pc < b->pc ? -1 : 1;
	return (a->die.addr > b->die.addr) - (a->die.addr < b->die.addr);
}

static void free_sites(struct call_sites *sites)
{
	if (sites)
		free(sites->list);
	free(sites);
}

static struct call_sites *make_sites(struct call_site_tables *tables,
				     Dwarf_Die *function)
{
	struct call_sites *sites = calloc(1, sizeof(*sites));

	if (!sites || add_below(sites, function, 0) ||
	    array_room(tables->list, tables->count, tables->room) ||
	    number_map_set(&tables->by_function, (uintptr_t)function->addr,
			   tables->count)) {
		free_sites(sites);
		return NULL;
	}
	if (sites->count)
		qsort(sites->list, sites->count, sizeof(*sites->list),
		      compare_sites);
	sites->has_all_tails =
		has_flag(function, DW_AT_call_all_calls,
			 DW_AT_GNU_all_call_sites) ||
		has_flag(function, DW_AT_call_all_tail_calls,
			 DW_AT_GNU_all_tail_call_sites);
	tables->list[tables->count++] = sites;
	return sites;
}

struct call_sites *call_sites_of(struct call_site_tables *tables,
				 Dwarf_Die *function)
{
	const uint64_t *number = number_map_find(&tables->by_function,
						 (uintptr_t)function->addr);

	return number ? tables->list[*number] : make_sites(tables, function);
}

void call_site_tables_release(struct call_site_tables *tables)
{
	for (size_t i = 0; i < tables->count; i++)
		free_sites(tables->list[i]);
	free(tables->list);
	number_map_release(&tables->by_function);
	*tables = (struct call_site_tables) { 0 };
}

struct call_site *call_sites_at(struct call_sites *sites, uint64_t pc)
{
	size_t first = 0, behind = sites->count;

	while (first < behind) {
		size_t middle = first + (behind - first) / 2;

		if (sites->list[middle].pc < pc)
			first = middle + 1;
		else
			behind = middle;
	}
	return first < sites->count && sites->list[first].pc == pc ?
		       &sites->list[first] : NULL;
}

/* ------- what a call leads to ------- */

/* Names of members are as the linker knows them only if that is said. */
static const char *linkage_name(Dwarf_Die *function)
{
	Dwarf_Attribute attribute;

	if (dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(function, DW_AT_MIPS_linkage_name,
				 &attribute))
		return dwarf_formstring(&attribute);
	return dwarf_diename(function);
}

static bool find_expression(Dwarf_Die *die, Dwarf_Attribute *out)
{
	return dwarf_attr(die, DW_AT_call_target, out) ||
	       dwarf_attr(die, DW_AT_GNU_call_site_target, out);
}

static bool find_callee(Dwarf_Die *die, Dwarf_Die *out)
{
	Dwarf_Attribute attribute;

	return (dwarf_attr(die, DW_AT_call_origin, &attribute) ||
		dwarf_attr(die, DW_AT_abstract_origin, &attribute)) &&
	       dwarf_formref_die(&attribute, out);
}

void call_site_target(const struct call_site *site, struct call_target *out)
{
	Dwarf_Die die = site->die;

	*out = (struct call_target) { .kind = CALL_TARGET_UNKNOWN };
	if (find_expression(&die, &out->expression)) {
		out->kind = CALL_TARGET_COMPUTED;
		return;
	}
	if (!find_callee(&die, &out->entry))
		return;
	if (has_flag(&out->entry, DW_AT_declaration, DW_AT_declaration)) {
		out->name = linkage_name(&out->entry);
		out->kind = out->name ? CALL_TARGET_NAME : CALL_TARGET_UNKNOWN;
	} else if (call_entry_of(&out->entry, &(uint64_t){ 0 })) {
		out->kind = CALL_TARGET_CODE;
	}
}

bool call_entry_of(Dwarf_Die *function, uint64_t *out)
{
	Dwarf_Addr base, end;

	return dwarf_ranges(function, 0, &base, out, &end) > 0;
}
