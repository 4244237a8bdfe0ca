/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tail_calls.c - see tail_calls.h */
#include "replayer/symbols/tail_calls.h"

#include <dwarf.h>
#include <string.h>

#include "formats/number_map.h"
#include "replayer/symbols/file_symbols.h"
#include "replayer/symbols/lines.h"
#include "replayer/symbols/names.h"

/* Calls that are followed: the ways through many functions are countless. */
#define FOLLOWED_MOST 10000u

/* Functions that may be jumped to. */
#define VISITED_MOST 2000u

/* Parts of the code of a callee. */
#define PARTS_MOST 16u

/* Where debugging information is asked, and for when. */
struct asked {
	struct lines *lines;
	uint64_t t;
};

/* ------- functions ------- */

/* A function with debugging information. */
static bool find_function(const struct asked *asked, uint64_t pc,
			  Dwarf_Die *out, uint64_t *bias)
{
	uint64_t more;
	struct Dwfl_Module *module = lines_module(asked->lines, asked->t, pc,
						  bias);
	Dwarf_Die *unit = lines_unit(asked->lines, module, pc - *bias, &more);
	Dwarf_Die scopes[SCOPES_MOST];

	*bias += more;
	if (!unit || !lines_scopes(asked->lines, unit, pc - *bias, scopes))
		return false;
	*out = scopes[0];
	return true;
}

static bool find_symbol_start(const struct asked *asked, uint64_t pc,
			      uint64_t *out)
{
	uint64_t bias;
	const struct symbols *symbols = names_module(
		lines_names(asked->lines), asked->t, pc, &bias);
	const struct symbol *symbol = symbols ?
		symbols_at(symbols, pc - bias) : NULL;
	struct Dwfl_Module *module;
	GElf_Off offset;
	GElf_Sym found;

	if (symbol) {
		*out = symbol->addr + bias;
		return true;
	}
	module = lines_module(asked->lines, asked->t, pc, &bias);
	if (!module || !file_symbol_at(lines_symbol_tables(asked->lines),
				       module, pc - bias, &offset, &found))
		return false;
	*out = pc - offset;
	return true;
}

bool call_function_start(struct lines *lines, uint64_t t, uint64_t pc,
			 uint64_t *out)
{
	const struct asked asked = { lines, t };
	Dwarf_Die function;
	uint64_t bias;

	if (!find_function(&asked, pc, &function, &bias))
		return find_symbol_start(&asked, pc, out);
	if (!call_entry_of(&function, out))
		return false;
	*out += bias;
	return true;
}

/* The calls of the function that begins there; NULL if nobody knows. */
static struct call_sites *sites_of(const struct asked *asked, uint64_t start)
{
	Dwarf_Die function;
	uint64_t bias, entry;

	if (!find_function(asked, start, &function, &bias) ||
	    !call_entry_of(&function, &entry) || entry + bias != start)
		return NULL;
	return lines_call_sites(asked->lines, &function);
}

struct call_site *call_site_before(struct lines *lines, uint64_t t,
				   uint64_t pc)
{
	const struct asked asked = { lines, t };
	struct call_sites *sites;
	Dwarf_Die function;
	uint64_t bias;

	/* A call may be the last instruction of its function. */
	if (!find_function(&asked, pc - 1, &function, &bias))
		return NULL;
	sites = lines_call_sites(lines, &function);
	return sites ? call_sites_at(sites, pc - bias) : NULL;
}

/* ------- callees ------- */

static size_t count_modules(const struct asked *asked)
{
	size_t count = 0;

	while (names_mapped(lines_names(asked->lines), asked->t, count,
			    &(uint64_t){ 0 }))
		count++;
	return count;
}

/* Where the module with this path is; false if it is not mapped. */
static bool find_bias(const struct asked *asked, const char *path,
		      uint64_t *out)
{
	struct names *names = lines_names(asked->lines);
	const struct symbols *symbols;

	for (size_t i = 0; (symbols = names_mapped(names, asked->t, i, out));
	     i++)
		if (symbols->path == path)
			return true;
	return false;
}

/* What is called so, of all that is mapped. */
static void look_for_name(const struct asked *asked, struct call_site *site,
			  const char *name)
{
	uint64_t addr, bias;
	const struct symbols *symbols =
		lines_function(asked->lines, asked->t, name, &addr) ?
		names_module(lines_names(asked->lines), asked->t, addr,
			     &bias) : NULL;

	if (!symbols) {
		site->unnamed_in = count_modules(asked);
		return;
	}
	site->named = symbols->path;
	site->named_addr = addr - bias;
}

static bool find_named(const struct asked *asked, struct call_site *site,
		       const char *name, uint64_t *out)
{
	uint64_t bias;

	if (site->named && !find_bias(asked, site->named, &bias))
		site->named = NULL;
	if (!site->named && (!site->unnamed_in ||
			     site->unnamed_in != count_modules(asked)))
		look_for_name(asked, site, name);
	if (!site->named || !find_bias(asked, site->named, &bias))
		return false;
	*out = site->named_addr + bias;
	return true;
}

/* Whether a function is called so: most calls lead to what returns to them. */
static bool is_called(const struct asked *asked, uint64_t start,
		      const char *name)
{
	uint64_t bias;
	const struct symbols *symbols = names_module(
		lines_names(asked->lines), asked->t, start, &bias);
	const struct symbol *symbol = symbols ?
		symbols_at(symbols, start - bias) : NULL;

	return symbol && symbol->addr == start - bias &&
	       symbol->type == SYMBOL_FUNCTION &&
	       symbol_is_called(symbol, name);
}

struct entries {
	uint64_t list[PARTS_MOST];
	size_t count;
};

/* All parts of the function's code: any of them may begin it. */
static void add_parts(struct entries *entries, Dwarf_Die *function,
		      uint64_t bias)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while (entries->count < PARTS_MOST &&
	       (at = dwarf_ranges(function, at, &base, &start, &end)) > 0)
		entries->list[entries->count++] = start + bias;
}

/*
 * Where a call may lead, without the registers of its caller; false if nobody
 * can tell.  Of a function that is `expected`, a name is enough.
 */
static bool find_entries(const struct asked *asked, struct call_site *site,
			 uint64_t bias, uint64_t expected,
			 struct entries *out)
{
	struct call_target target;

	out->count = 0;
	call_site_target(site, &target);
	switch (target.kind) {
	case CALL_TARGET_CODE:
		add_parts(out, &target.entry, bias);
		break;
	case CALL_TARGET_NAME:
		out->count = 1;
		out->list[0] = expected;
		return is_called(asked, expected, target.name) ||
		       find_named(asked, site, target.name, out->list);
	default:
		break;
	}
	return out->count > 0;
}

/* What is added to addresses of the module with that code. */
static uint64_t bias_of(const struct asked *asked, uint64_t pc)
{
	Dwarf_Die function;
	uint64_t bias = 0;

	find_function(asked, pc, &function, &bias);
	return bias;
}

bool call_site_leads_to(struct lines *lines, uint64_t t, uint64_t pc,
			uint64_t function, bool *is_computed)
{
	const struct asked asked = { lines, t };
	struct call_site *site = call_site_before(lines, t, pc);
	struct call_target target;
	struct entries entries;

	*is_computed = false;
	if (!site)
		return false;
	call_site_target(site, &target);
	*is_computed = target.kind == CALL_TARGET_COMPUTED;
	if (!find_entries(&asked, site, bias_of(&asked, pc - 1), function,
			  &entries))
		return false;
	for (size_t i = 0; i < entries.count; i++)
		if (entries.list[i] == function)
			return true;
	return false;
}

/* ------- ways through tail calls ------- */

/* A list of jumps, the outermost first. */
struct way {
	uint64_t list[TAIL_CALLS_MOST];	/* addresses behind them */
	size_t count;
};

struct search {
	struct asked asked;
	uint64_t callee;	/* where it begins */
	struct way way;		/* to where the search is now */
	struct way found;	/* the first one */
	bool is_found;
	size_t first, last;	/* so many jumps all ways have in common */
	unsigned followed;
};

/* False: they have nothing in common. */
static bool compare_ways(struct search *search)
{
	const struct way *way = &search->way, *found = &search->found;
	size_t first = 0, last = 0;

	while (first < search->first && first < way->count &&
	       way->list[first] == found->list[first])
		first++;
	while (last < search->last && last < way->count &&
	       way->list[way->count - 1 - last] ==
		       found->list[found->count - 1 - last])
		last++;
	search->first = first;
	search->last = last;
	return first || last;
}

static bool take_way(struct search *search)
{
	if (search->is_found)
		return compare_ways(search);
	search->is_found = true;
	search->found = search->way;
	search->first = search->last = search->way.count;
	return true;
}

static bool is_on_way(const struct way *way, uint64_t pc)
{
	for (size_t i = 0; i < way->count; i++)
		if (way->list[i] == pc)
			return true;
	return false;
}

static bool follow(struct search *search, struct call_site *site,
		   uint64_t bias);

/* False: it cannot be told which functions there were. */
static bool follow_function(struct search *search, uint64_t start)
{
	struct way *way = &search->way;
	struct call_sites *sites;
	uint64_t bias;

	sites = sites_of(&search->asked, start);
	if (!sites)
		return false;
	bias = bias_of(&search->asked, start);
	for (size_t i = 0; i < sites->count && sites->has_all_tails; i++) {
		struct call_site *site = &sites->list[i];

		if (!site->is_tail || is_on_way(way, site->pc + bias))
			continue;
		if (way->count == TAIL_CALLS_MOST)
			return false;
		way->list[way->count++] = site->pc + bias;
		if (!follow(search, site, bias))
			return false;
		way->count--;
	}
	return true;
}

static bool follow(struct search *search, struct call_site *site,
		   uint64_t bias)
{
	struct entries entries;

	if (search->followed++ == FOLLOWED_MOST ||
	    !find_entries(&search->asked, site, bias, search->callee,
			  &entries))
		return false;
	/* Of a function in several parts, only one is where it begins. */
	for (size_t i = 0; i < entries.count; i++)
		if (entries.list[i] == search->callee)
			return take_way(search);
	for (size_t i = 0; i < entries.count; i++)
		if (!follow_function(search, entries.list[i]))
			return false;
	return true;
}

/* Of several ways, their ends: the innermost first. */
static size_t tell(const struct search *search, uint64_t out[TAIL_CALLS_MOST])
{
	const struct way *found = &search->found;
	size_t count = 0;

	for (size_t i = 0; i < search->last; i++)
		out[count++] = found->list[found->count - 1 - i];
	if (search->last == found->count)
		return count;
	for (size_t i = search->first; i-- > 0;)
		out[count++] = found->list[i];
	return count;
}

size_t tail_calls_find(struct lines *lines, uint64_t t, uint64_t caller_pc,
		       uint64_t pc, uint64_t out[TAIL_CALLS_MOST])
{
	struct search search = { .asked = { lines, t } };
	struct call_site *site = call_site_before(lines, t, caller_pc);

	if (!site || !call_function_start(lines, t, pc, &search.callee) ||
	    !follow(&search, site, bias_of(&search.asked, caller_pc - 1)) ||
	    !search.is_found)
		return 0;
	return tell(&search, out);
}

/* ------- functions that are left for themselves ------- */

struct visited {
	struct asked asked;
	uint64_t function;
	struct number_map starts;
	uint64_t list[VISITED_MOST];	/* to be looked at */
	size_t count;
};

static bool add_start(struct visited *visited, uint64_t start)
{
	if (number_map_find(&visited->starts, start))
		return true;
	if (visited->count == VISITED_MOST ||
	    number_map_set(&visited->starts, start, 1))
		return false;
	visited->list[visited->count++] = start;
	return true;
}

/* False: it comes back, or nobody can tell. */
static bool look_at(struct visited *visited, uint64_t start)
{
	struct call_sites *sites = sites_of(&visited->asked, start);
	struct entries entries;

	if (!sites)
		return false;
	for (size_t i = 0; i < sites->count && sites->has_all_tails; i++) {
		if (!sites->list[i].is_tail)
			continue;
		if (!find_entries(&visited->asked, &sites->list[i],
				  bias_of(&visited->asked, start),
				  visited->function, &entries))
			return false;
		for (size_t j = 0; j < entries.count; j++)
			if (entries.list[j] == visited->function ||
			    !add_start(visited, entries.list[j]))
				return false;
	}
	return true;
}

bool tail_calls_come_back(struct lines *lines, uint64_t t, uint64_t function)
{
	struct visited visited = { .asked = { lines, t },
				   .function = function };
	bool is_left = true;

	add_start(&visited, function);
	for (size_t i = 0; i < visited.count && is_left; i++)
		is_left = look_at(&visited, visited.list[i]);
	number_map_release(&visited.starts);
	return !is_left;
}
