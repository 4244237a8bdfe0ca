/* SPDX-License-Identifier: GPL-2.0-or-later */
/* module_map.c - see module_map.h */
#include "replayer/symbols/module_map.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/symbols/demangle.h"

/*
 * The lowest part says where a module is.  It need not be the first of the
 * file: the first PT_LOAD may begin further into it.
 */
static void place_module(struct module_place *place,
			 const struct symbols *module,
			 const struct module_part *part)
{
	if (part->offset < module->base_offset ||
	    (place->mapped && place->part < part->start))
		return;
	place->mapped = true;
	place->part = part->start;
	place->start = part->start - (part->offset - module->base_offset);
	place->bias = place->start - module->link_base;
	place->end = module->link_end + place->bias;
}

int module_map_init(struct module_map *map, const struct modules *modules,
		    const struct module_parts *parts)
{
	*map = (struct module_map) {
		.count = modules->count, .program = MODULE_NONE,
	};
	map->places = calloc(modules->count + 1, sizeof(*map->places));
	if (!map->places)
		return ERR_NO_MEMORY;
	for (size_t i = 0; i < parts->count; i++) {
		const struct module_part *part = &parts->list[i];

		place_module(&map->places[part->module],
			     &modules->list[part->module], part);
	}
	return 0;
}

void module_map_release(struct module_map *map)
{
	free(map->places);
	*map = (struct module_map) { 0 };
}

/* ------- names ------- */

static const char *file_name(const struct symbols *module)
{
	const char *slash = strrchr(module->path, '/');

	return slash ? slash + 1 : module->path;
}

/*
 * What is asked for: "NAME" or "LIBRARY!NAME".  A library is named as its file
 * is, or as programs are linked with it, which is the same without the last
 * numbers: libz.so.1 and libz.so for libz.so.1.2.13.
 */
struct wanted {
	const char *library;	/* `library_size` bytes; NULL: any */
	size_t library_size;
	bool is_short;		/* only where numbers are missing */
	const char *symbol;
	bool is_plain;		/* as people write what is mangled */
};

static struct wanted wanted_of(const char *name)
{
	const char *mark = strchr(name, '!');

	return (struct wanted) {
		.library = mark ? name : NULL,
		.library_size = mark ? (size_t)(mark - name) : 0,
		.symbol = mark ? mark + 1 : name,
	};
}

static bool is_wanted(const struct symbols *module, const struct wanted *wanted)
{
	const char *file = file_name(module);
	const char *rest;

	if (!wanted->library)
		return !wanted->is_short;
	if (strncmp(file, wanted->library, wanted->library_size))
		return false;
	rest = file + wanted->library_size;
	if (!wanted->is_short)
		return !*rest;
	return *rest == '.' && !rest[strspn(rest, ".0123456789")];
}

/* "Server::serve" in one module: ERR_INPUT if several functions are that. */
static int find_plain(const struct symbols *symbols, const char *wanted,
		      const struct symbol **out)
{
	char *found = NULL;
	int rc = 0;

	*out = NULL;
	for (size_t i = 0; i < symbols->count && !rc; i++) {
		const struct symbol *symbol = &symbols->list[i];
		char *plain = demangle_may_be(symbol->name, wanted) ?
				      demangle(symbol->name) : NULL;

		if (!plain || !demangle_is(plain, wanted)) {
			free(plain);
		} else if (!found) {
			found = plain;
			*out = symbol;
		} else {
			rc = strcmp(found, plain) ? ERR_INPUT : 0;
			free(plain);
		}
	}
	free(found);
	return rc;
}

static int find_in(const struct module_map *map, const struct modules *modules,
		   size_t module, const struct wanted *wanted, uint64_t *addr,
		   uint64_t *size)
{
	const struct symbols *symbols = &modules->list[module];
	const struct symbol *symbol;
	int rc = 0;

	if (!map->places[module].mapped || !is_wanted(symbols, wanted))
		return ERR_NOT_FOUND;
	if (wanted->is_plain)
		rc = find_plain(symbols, wanted->symbol, &symbol);
	else
		symbol = symbols_find(symbols, wanted->symbol);
	if (rc || !symbol)
		return rc ? rc : ERR_NOT_FOUND;
	*addr = symbol->addr + map->places[module].bias;
	*size = symbol->type == SYMBOL_OBJECT ? symbol->size : 0;
	return 0;
}

static int find(const struct module_map *map, const struct modules *modules,
		const struct wanted *wanted, uint64_t *addr, uint64_t *size)
{
	int rc = ERR_NOT_FOUND;

	if (map->program != MODULE_NONE)
		rc = find_in(map, modules, map->program, wanted, addr, size);
	for (size_t i = 0; i < map->count && rc == ERR_NOT_FOUND; i++)
		rc = find_in(map, modules, i, wanted, addr, size);
	return rc;
}

int module_map_find(const struct module_map *map,
		    const struct modules *modules, const char *name,
		    uint64_t *addr, uint64_t *size)
{
	struct wanted wanted = wanted_of(name);
	int rc = ERR_NOT_FOUND;

	for (unsigned i = 0; i < 4 && rc == ERR_NOT_FOUND; i++) {
		wanted.is_plain = i >= 2;
		wanted.is_short = i % 2;
		rc = find(map, modules, &wanted, addr, size);
	}
	return rc;
}

size_t module_map_lacks(const struct module_map *map,
			const struct modules *modules, const char *name)
{
	struct wanted exact = wanted_of(name), cut = exact;

	cut.is_short = true;
	for (size_t i = 0; i < map->count; i++)
		if (map->places[i].mapped &&
		    (is_wanted(&modules->list[i], &exact) ||
		     is_wanted(&modules->list[i], &cut)))
			return 0;
	return exact.library_size;
}

const struct symbols *module_map_at(const struct module_map *map,
				    const struct modules *modules,
				    uint64_t addr, uint64_t *bias)
{
	for (size_t i = 0; i < map->count; i++) {
		const struct module_place *place = &map->places[i];

		if (!place->mapped || addr < place->start || addr >= place->end)
			continue;
		*bias = place->bias;
		return &modules->list[i];
	}
	return NULL;
}

static void write_name(char *text, size_t room, const char *file,
		       const char *name, uint64_t inside)
{
	char *plain = demangle(name);

	name = plain ? plain : name;
	if (inside)
		snprintf(text, room, "%s%s%s+0x%" PRIx64, file,
			 *file ? "!" : "", name, inside);
	else
		snprintf(text, room, "%s%s%s", file, *file ? "!" : "", name);
	free(plain);
}

bool module_map_name(const struct module_map *map,
		     const struct modules *modules, uint64_t addr, char *text,
		     size_t room)
{
	for (size_t i = 0; i < map->count; i++) {
		const struct module_place *place = &map->places[i];
		const struct symbols *module = &modules->list[i];
		const struct symbol *symbol;

		if (!place->mapped || addr < place->start || addr >= place->end)
			continue;
		symbol = symbols_at(module, addr - place->bias);
		if (!symbol)
			continue;
		write_name(text, room,
			   i == map->program ? "" : file_name(module),
			   symbol->name, addr - place->bias - symbol->addr);
		return true;
	}
	return false;
}
