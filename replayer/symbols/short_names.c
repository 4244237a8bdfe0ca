/* SPDX-License-Identifier: GPL-2.0-or-later */
/* short_names.c - see short_names.h */
#include "replayer/symbols/short_names.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/symbols/demangle.h"
#include "replayer/symbols/lines.h"
#include "replayer/symbols/names.h"
#include "replayer/symbols/patterns.h"

#define NAME_MOST 4096u
#define IS_CALLED_SO 1		/* a result: some function is */

/* A function that may be meant. */
struct found {
	char *name;		/* with its scopes, without arguments */
	char *link;		/* as the linker knows it */
	bool is_program;
};

struct search {
	struct lines *lines;
	uint64_t t;
	struct symbol_pattern *pattern;
	struct found *list;
	size_t count, room;

	/* In debugging information. */
	char wanted[NAME_MOST];	/* plain */
	const struct symbols *module;
	uint64_t bias;
	bool is_program;
};

static void release(struct search *search)
{
	for (size_t i = 0; i < search->count; i++) {
		free(search->list[i].name);
		free(search->list[i].link);
	}
	free(search->list);
}

static int add(struct search *search, const char *name, const char *link,
	       bool is_program)
{
	struct found found = { strdup(name), strdup(link), is_program };

	if (!found.name || !found.link ||
	    array_room(search->list, search->count, search->room)) {
		free(found.name);
		free(found.link);
		return ERR_NO_MEMORY;
	}
	search->list[search->count++] = found;
	return 0;
}

static bool is_in_file(const struct search *search, uint64_t addr)
{
	const char *file = search->pattern->file;
	struct source_line line;

	if (!file)
		return true;
	lines_find(search->lines, search->t, addr, &line);
	return line.file && source_file_is(line.file, file);
}

static bool is_library(const struct search *search, const char *module)
{
	const char *library = search->pattern->library;

	return !library || module_is_called(module, library);
}

/* ------- by symbols ------- */

static int compare(struct search *search, const struct lines_symbol *symbol,
		   const char *plain)
{
	const struct symbol_pattern *pattern = search->pattern;
	bool is = symbol_pattern_is(pattern, symbol->name, plain);
	size_t lacks = is ? 0 : symbol_pattern_lacks(pattern, plain);
	char name[NAME_MOST];

	if ((!is && !lacks) || !is_in_file(search, symbol->addr))
		return 0;
	if (is)
		return IS_CALLED_SO;
	snprintf(name, sizeof(name), "%.*s%.*s", (int)lacks, plain,
		 (int)symbol_name_size(pattern->name), pattern->name);
	return add(search, name, symbol->name, symbol->is_program);
}

static int on_symbol(void *context, const struct lines_symbol *symbol)
{
	struct search *search = context;
	char *plain;
	int rc;

	if (symbol->type != SYMBOL_FUNCTION ||
	    !is_library(search, symbol->module))
		return 0;
	plain = demangle_may_be(symbol->name, search->pattern->name) ?
			demangle(symbol->name) : NULL;
	rc = compare(search, symbol, plain ? plain : symbol->name);
	free(plain);
	return rc;
}

/* ------- by debugging information ------- */

/* What is defined elsewhere has its scopes where it is declared. */
static Dwarf_Die declaration_of(Dwarf_Die *function)
{
	Dwarf_Die die = *function;
	Dwarf_Attribute attribute;

	for (unsigned i = 0; i < SCOPES_MOST; i++)
		if ((!dwarf_attr(&die, DW_AT_abstract_origin, &attribute) &&
		     !dwarf_attr(&die, DW_AT_specification, &attribute)) ||
		    !dwarf_formref_die(&attribute, &die))
			break;
	return die;
}

static void full_name(Dwarf_Die *function, char *text, size_t room)
{
	Dwarf_Die die = declaration_of(function), *scopes = NULL;
	int count = dwarf_getscopes_die(&die, &scopes);
	size_t used = 0;

	*text = '\0';
	/* The last one is the unit. */
	for (int i = count - 2; i >= 0 && used < room; i--) {
		const char *name = dwarf_diename(&scopes[i]);

		if (name)
			used += (size_t)snprintf(text + used, room - used,
						 "%s%s", used ? "::" : "",
						 name);
	}
	free(scopes);
}

/* "r::main::{closure#0}" ends with "main::{closure#0}". */
static bool ends_with(const char *name, const char *end)
{
	size_t all = strlen(name), size = strlen(end);

	return all >= size && !strcmp(name + all - size, end) &&
	       (all == size || (all > size + 1 &&
				!memcmp(name + all - size - 2, "::", 2)));
}

static int on_function(void *context, Dwarf_Die *function)
{
	struct search *search = context;
	const char *its = dwarf_diename(function);
	char name[NAME_MOST], plain[NAME_MOST];
	const struct symbol *symbol;
	bool is_recorded;
	Dwarf_Addr entry;

	if (!its || dwarf_entrypc(function, &entry))
		return 0;
	name_plain(plain, sizeof(plain), its);
	if (strcmp(plain, name_last(search->wanted)) != 0)
		return 0;
	full_name(function, name, sizeof(name));
	name_plain(plain, sizeof(plain), name);
	if (!ends_with(plain, search->wanted))
		return 0;
	entry += search->bias;
	symbol = symbols_at(search->module, entry);
	is_recorded = symbol && symbol->addr == entry;
	return add(search, name, is_recorded ? symbol->name :
					       lines_linkage_name(function),
		   search->is_program);
}

static int look_through(struct search *search, size_t number)
{
	struct lines *lines = search->lines;
	Dwarf_CU *unit = NULL;
	uint64_t bias, all;
	bool is_last;
	Dwarf *dwarf;
	Dwarf_Die die;
	int rc = 0;

	search->module = names_mapped(lines_names(lines), search->t, number,
				      &bias);
	dwarf = lines_dwarf(lines, search->t, number, &all, &is_last);
	search->bias = all - bias;
	while (dwarf && !rc && !dwarf_get_units(dwarf, unit, &unit, NULL, NULL,
						&die, NULL))
		rc = lines_each_function(lines, &die, on_function, search);
	return rc;
}

/* That of libraries is large: only of one that is asked for. */
static int look_through_modules(struct search *search)
{
	struct names *names = lines_names(search->lines);
	uint64_t bias;
	const struct symbols *own = names_own(names, search->t, &bias), *module;
	int rc = 0;

	name_plain(search->wanted, sizeof(search->wanted),
		   search->pattern->name);
	for (size_t i = 0; !rc && (module = names_mapped(names, search->t, i,
							 &bias)); i++) {
		const char *slash = strrchr(module->path, '/');

		search->is_program = module == own;
		if (search->pattern->library ?
			    is_library(search, slash ? slash + 1 :
						       module->path) :
			    search->is_program)
			rc = look_through(search, i);
	}
	return rc;
}

/* ------- which one ------- */

/* Those of libraries are not meant if some are the program's. */
static void keep_own(struct search *search)
{
	size_t left = 0;
	bool any = false;

	for (size_t i = 0; i < search->count; i++)
		any |= search->list[i].is_program;
	for (size_t i = 0; i < search->count && any; i++) {
		struct found found = search->list[i];

		if (found.is_program) {
			search->list[left++] = found;
			continue;
		}
		free(found.name);
		free(found.link);
	}
	if (any)
		search->count = left;
}

static bool is_first(const struct search *search, size_t number)
{
	for (size_t i = 0; i < number; i++)
		if (!strcmp(search->list[i].name, search->list[number].name))
			return false;
	return true;
}

static int refuse(const struct search *search, struct failure *why)
{
	char text[sizeof(why->text) / 2] = "";
	size_t used = 0;

	for (size_t i = 0; i < search->count; i++) {
		const char *name = search->list[i].name;

		if (!is_first(search, i))
			continue;
		if (strlen(name) + 8 > sizeof(text) - used) {
			snprintf(text + used, sizeof(text) - used, ", ...");
			break;
		}
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s'%s'", used ? ", " : "", name);
	}
	return failed(why, ERR_INPUT, "cannot tell which '%.80s' is meant: %s",
		      search->pattern->asked, text);
}

static int take(struct search *search, struct failure *why)
{
	int rc = 0;

	keep_own(search);
	for (size_t i = 1; i < search->count; i++)
		if (is_first(search, i))
			return refuse(search, why);
	for (size_t i = 0; i < search->count && !rc; i++)
		rc = symbol_pattern_add(search->pattern, search->list[i].link);
	return rc;
}

int short_name_find(struct lines *lines, uint64_t t,
		    struct symbol_pattern *pattern, struct failure *why)
{
	struct search search = { .lines = lines, .t = t, .pattern = pattern };
	int rc;

	if (!pattern->name || !*pattern->name || pattern->link_count ||
	    strpbrk(pattern->name, "*?["))
		return 0;
	rc = lines_each_symbol(lines, t, on_symbol, &search, why);
	if (!rc && !search.count)
		rc = look_through_modules(&search);
	if (!rc)
		rc = take(&search, why);
	release(&search);
	if (rc == ERR_NO_MEMORY)
		return failed(why, rc, "out of memory");
	return rc == IS_CALLED_SO ? 0 : rc;
}
