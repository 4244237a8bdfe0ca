/* SPDX-License-Identifier: GPL-2.0-or-later */
/* call_functions.c - see call_functions.h */
#include "replayer/session/call_functions.h"

#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"

static void free_function(struct call_function *function)
{
	if (!function)
		return;
	free(function->name);
	free(function->linkage_name);
	free(function->module);
	free(function);
}

void call_functions_release(struct call_functions *functions)
{
	for (size_t i = 0; i < functions->count; i++)
		free_function(functions->list[i]);
	free(functions->list);
	number_map_release(&functions->by_addr);
	*functions = (struct call_functions) { 0 };
}

/* ------- names ------- */

/* The part of a function that is seldom executed is no function. */
static bool is_part(const char *name)
{
	const char *mark = strstr(name, ".cold");

	return mark && (!mark[5] || mark[5] == '.');
}

static bool is_in_file(struct call_functions *functions, uint64_t t,
		       const struct lines_symbol *symbol, const char *file)
{
	struct source_line line;

	lines_find(functions->lines, t, symbol->addr, &line);
	return line.file && source_file_is(line.file, file);
}

static bool is_meant_by(struct call_functions *functions,
			const struct symbol_pattern *pattern, uint64_t t,
			const struct lines_symbol *symbol, const char *plain)
{
	return (!pattern->library ||
		module_is_called(symbol->module, pattern->library)) &&
	       symbol_pattern_is(pattern, symbol->name, plain) &&
	       (!pattern->file ||
		is_in_file(functions, t, symbol, pattern->file));
}

static uint64_t bit_of(size_t pattern)
{
	return UINT64_C(1) << (pattern < 63 ? pattern : 63);
}

/* Bits of the patterns that mean it; 0: it is not meant. */
static uint64_t meant_by(struct call_functions *functions, uint64_t t,
			 const struct lines_symbol *symbol, const char *plain)
{
	uint64_t patterns = 0;

	if (functions->is_wanted)
		return functions->is_wanted(symbol->name);
	for (size_t i = 0; i < functions->pattern_count; i++) {
		if (!is_meant_by(functions, &functions->patterns[i], t, symbol,
				 plain))
			continue;
		patterns |= bit_of(i);
		if (functions->is_found)
			functions->is_found[i] = true;
	}
	return patterns;
}

bool call_functions_called(const struct call_functions *functions,
			   size_t number)
{
	for (size_t i = 0; i < functions->count; i++)
		if (functions->list[i]->is_called &&
		    !functions->list[i]->is_resolver &&
		    functions->list[i]->patterns & bit_of(number))
			return true;
	return false;
}

static bool is_better(const char *name, const char *than)
{
	size_t mine = strspn(name, "_"), its = strspn(than, "_");

	return mine != its ? mine < its : strlen(name) < strlen(than);
}

static int set_names(struct call_function *function, const char *name,
		     const char *plain)
{
	char *shown = strdup(plain), *linkage = NULL;

	if (strcmp(name, plain) != 0)
		linkage = strdup(name);
	if (!shown || (!linkage && strcmp(name, plain) != 0)) {
		free(shown);
		free(linkage);
		return ERR_NO_MEMORY;
	}
	free(function->name);
	free(function->linkage_name);
	function->name = shown;
	function->linkage_name = linkage;
	return 0;
}

/* ------- one function ------- */

static int add(struct call_functions *functions,
	       const struct call_function *what, const char *name,
	       const char *plain, struct call_function **out)
{
	struct call_function *function = malloc(sizeof(*function));

	if (!function)
		return ERR_NO_MEMORY;
	*function = *what;
	function->name = function->linkage_name = NULL;
	function->module = strdup(what->module);
	if (!function->module || set_names(function, name, plain) ||
	    array_room(functions->list, functions->count, functions->room)) {
		free_function(function);
		return ERR_NO_MEMORY;
	}
	functions->list[functions->count++] = function;
	*out = function;
	return 0;
}

int call_functions_add(struct call_functions *functions,
		       const struct call_function *resolver, guest_addr addr,
		       struct call_function **out, struct failure *why)
{
	struct call_function function = *resolver;

	*out = NULL;
	for (size_t i = 0; i < functions->count; i++)
		if (functions->list[i]->symbols == resolver->symbols &&
		    functions->list[i]->addr == addr)
			return 0;
	function.is_resolver = false;
	function.is_resolved = true;
	function.is_called = false;
	function.addr = addr;
	function.size = 0;
	if (add(functions, &function, resolver->linkage_name ?
		resolver->linkage_name : resolver->name, resolver->name, out))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	return 0;
}

/* ------- a module's ------- */

struct listing {
	struct call_functions *functions;
	const struct symbols *symbols;
	uint64_t t, bias;
};

static int list_new(struct listing *listing, const struct lines_symbol *symbol,
		    const char *plain, uint64_t patterns)
{
	struct call_functions *functions = listing->functions;
	const struct call_function what = {
		.module = (char *)symbol->module,
		.is_program = symbol->is_program,
		.symbols = listing->symbols,
		.addr = symbol->addr - listing->bias,
		.size = symbol->size,
		.is_resolver = symbol->is_resolver, .patterns = patterns,
	};
	struct call_function *function;

	if (number_map_set(&functions->by_addr, symbol->addr,
			   functions->count))
		return ERR_NO_MEMORY;
	return add(functions, &what, symbol->name, plain, &function);
}

/* Of those with the same address there is one. */
static int list_symbol(struct listing *listing,
		       const struct lines_symbol *symbol, const char *plain)
{
	struct call_functions *functions = listing->functions;
	uint64_t *number, patterns = meant_by(functions, listing->t, symbol,
					      plain);

	if (!patterns)
		return 0;
	number = number_map_find(&functions->by_addr, symbol->addr);
	if (!number)
		return list_new(listing, symbol, plain, patterns);
	functions->list[*number]->patterns |= patterns;
	if (!is_better(plain, functions->list[*number]->name))
		return 0;
	return set_names(functions->list[*number], symbol->name, plain);
}

static int on_symbol(void *context, const struct lines_symbol *symbol)
{
	struct listing *listing = context;
	char *plain;
	int rc;

	if (symbol->type != SYMBOL_FUNCTION || is_part(symbol->name))
		return 0;
	plain = demangle(symbol->name);
	rc = list_symbol(listing, symbol, plain ? plain : symbol->name);
	free(plain);
	return rc;
}

int call_functions_list(struct call_functions *functions, uint64_t t,
			size_t number, struct failure *why)
{
	struct listing listing = { .functions = functions, .t = t };
	int rc;

	number_map_clear(&functions->by_addr);
	functions->module = functions->count;
	listing.symbols = names_mapped(lines_names(functions->lines), t,
				       number, &listing.bias);
	rc = lines_each_symbol_of(functions->lines, t, number, on_symbol,
				  &listing, why);
	return rc == ERR_NO_MEMORY ? failed(why, rc, "out of memory") : rc;
}

/* ------- resolvers ------- */

struct resolver_search {
	struct call_functions *functions;
	uint64_t t;
};

#define IS_FOUND 1

static int on_resolver(void *context, const struct lines_symbol *symbol)
{
	const struct resolver_search *search = context;
	char *plain;
	bool is;

	if (!symbol->is_resolver)
		return 0;
	plain = demangle(symbol->name);
	is = meant_by(search->functions, search->t, symbol,
		      plain ? plain : symbol->name);
	free(plain);
	return is ? IS_FOUND : 0;
}

int call_functions_resolve(struct call_functions *functions, uint64_t t,
			   bool *out, struct failure *why)
{
	struct resolver_search search = { functions, t };
	int rc = lines_each_symbol(functions->lines, t, on_resolver, &search,
				   why);

	*out = rc == IS_FOUND;
	return rc == IS_FOUND ? 0 : rc;
}
