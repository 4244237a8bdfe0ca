/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inlined_places.c - see inlined_places.h */
#include "replayer/symbols/inlined_places.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "formats/number_map.h"
#include "replayer/symbols/lines.h"
#include "replayer/symbols/names.h"
#include "replayer/symbols/patterns.h"
#include "replayer/symbols/scopes.h"

struct search {
	struct lines *lines;
	const struct symbol_pattern *pattern;
	Dwarf_Die unit;
	uint64_t bias;
	struct number_map origins;	/* entries of functions that are meant */
	struct number_map seen;		/* places */
	struct source_line *name;
	struct inlined_copies *copies;
	inlined_visit *visit;
	void *context;
};

/* ------- functions that are meant ------- */

/* Quicker than to write the whole name. */
static bool may_be_called(const char *wanted, const char *name)
{
	size_t size = strcspn(name, "<(");

	if (strpbrk(wanted, "*?["))
		return true;
	for (const char *at = wanted; *at; at++)
		if (!strncmp(at, name, size))
			return true;
	return false;
}

static bool is_meant(struct search *search, Dwarf_Die *function)
{
	const struct symbol_pattern *pattern = search->pattern;
	const char *name = dwarf_diename(function), *file;

	if (!name || (pattern->name && !may_be_called(pattern->name, name)))
		return false;
	if (pattern->file && (!(file = dwarf_decl_file(function)) ||
			      !source_file_is(file, pattern->file)))
		return false;
	lines_set_function(search->name, function);
	return symbol_pattern_is(pattern, lines_linkage_name(function),
				 search->name->function) ||
	       symbol_pattern_lacks(pattern, search->name->function);
}

/* What was inlined somewhere is described once without its code. */
static int find_origins(struct search *search, Dwarf_Die *die)
{
	if (!dwarf_func_inline(die) || !is_meant(search, die))
		return 0;
	return number_map_set(&search->origins, (uintptr_t)die->addr, 0) ?
		       ERR_NO_MEMORY : 0;
}

/* ------- where they were inlined ------- */

static bool is_of_origin(struct search *search, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die origin;

	return dwarf_attr(die, DW_AT_abstract_origin, &attribute) &&
	       dwarf_formref_die(&attribute, &origin) &&
	       number_map_find(&search->origins, (uintptr_t)origin.addr);
}

static int find_place(struct search *search, Dwarf_Die *die)
{
	struct function_code copy = { .unit = search->unit, .function = *die,
				      .bias = search->bias };
	uint64_t entry, end;

	if (dwarf_tag(die) != DW_TAG_inlined_subroutine ||
	    !is_of_origin(search, die))
		return 0;
	search->copies->all++;
	if (!code_part_of_function(die, &entry, &end))
		return 0;
	search->copies->found++;
	copy.entry = entry + copy.bias;
	copy.place = code_behind_frame(search->lines, &search->unit, entry) +
		     copy.bias;
	if (number_map_find(&search->seen, copy.place))
		return 0;
	if (number_map_set(&search->seen, copy.place, 0))
		return ERR_NO_MEMORY;
	return search->visit(search->context, &copy);
}

/* ------- the module ------- */

static bool may_hold_functions(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block ||
	       tag == DW_TAG_inlined_subroutine || tag == DW_TAG_namespace ||
	       tag == DW_TAG_module || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

static int look_below(struct search *search, Dwarf_Die *parent,
		      int (*look)(struct search *search, Dwarf_Die *die),
		      unsigned depth)
{
	Dwarf_Die die;
	int rc = 0;

	if (depth > SCOPES_MOST || dwarf_child(parent, &die))
		return 0;
	do {
		if (!may_hold_functions(dwarf_tag(&die)))
			continue;
		rc = look(search, &die);
		if (!rc)
			rc = look_below(search, &die, look, depth + 1);
	} while (!rc && !die_sibling(&die, &die));
	return rc;
}

static int look_through(struct search *search, Dwarf *dwarf,
			int (*look)(struct search *search, Dwarf_Die *die))
{
	Dwarf_CU *cu = NULL;
	int rc = 0;

	while (dwarf && !rc && !dwarf_get_units(dwarf, cu, &cu, NULL, NULL,
						&search->unit, NULL))
		rc = look_below(search, &search->unit, look, 0);
	return rc;
}

static bool is_of_library(struct lines *lines, uint64_t t, size_t number,
			  const char *library)
{
	uint64_t bias;
	const struct symbols *module = names_mapped(lines_names(lines), t,
						    number, &bias);
	const char *slash = module ? strrchr(module->path, '/') : NULL;

	return !library ||
	       (module && module_is_called(slash ? slash + 1 : module->path,
					   library));
}

int inlined_places_visit(struct lines *lines, uint64_t t, size_t number,
			 const struct symbol_pattern *pattern,
			 struct inlined_copies *copies, inlined_visit *visit,
			 void *context)
{
	struct search search = {
		.lines = lines, .pattern = pattern, .copies = copies,
		.visit = visit, .context = context, .name = calloc(1, sizeof(*search.name)),
	};
	bool is_last;
	Dwarf *dwarf;
	int rc = search.name ? 0 : ERR_NO_MEMORY;

	if (!rc && is_of_library(lines, t, number, pattern->library)) {
		dwarf = lines_dwarf(lines, t, number, &search.bias, &is_last);
		rc = look_through(&search, dwarf, find_origins);
		if (!rc && search.origins.count)
			rc = look_through(&search, dwarf, find_place);
	}
	number_map_release(&search.origins);
	number_map_release(&search.seen);
	free(search.name);
	return rc;
}
