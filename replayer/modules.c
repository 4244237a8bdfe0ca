/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules.c - see modules.h */
#include "replayer/modules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"

static bool has_path(const struct modules *modules, const char *path)
{
	for (size_t i = 0; i < modules->count; i++)
		if (!strcmp(modules->list[i].path, path))
			return true;
	return false;
}

int modules_add(struct modules *modules, const uint8_t *bytes, size_t size)
{
	struct symbols symbols = { 0 };
	struct symbols *list;
	int rc = symbols_decode(&symbols, bytes, size);

	if (rc)
		return rc;
	if (has_path(modules, symbols.path)) {
		symbols_release(&symbols);
		return 0;
	}
	list = realloc(modules->list, (modules->count + 1) * sizeof(*list));
	if (!list) {
		symbols_release(&symbols);
		return ERR_NO_MEMORY;
	}
	modules->list = list;
	list[modules->count++] = symbols;
	if (modules->program && !strcmp(symbols.path, modules->program)) {
		list[modules->count - 1] = list[0];
		list[0] = symbols;
	}
	return 0;
}

void modules_release(struct modules *modules)
{
	for (size_t i = 0; i < modules->count; i++)
		symbols_release(&modules->list[i]);
	free(modules->list);
	modules->list = NULL;
	modules->count = 0;
}

int module_map_init(struct module_map *map, const struct modules *modules)
{
	*map = (struct module_map) { .count = modules->count };
	map->places = calloc(modules->count + 1, sizeof(*map->places));
	return map->places ? 0 : ERR_NO_MEMORY;
}

void module_map_release(struct module_map *map)
{
	free(map->places);
	*map = (struct module_map) { 0 };
}

static bool is_path(const struct symbols *module, const char *name,
		    size_t name_size)
{
	return strlen(module->path) == name_size &&
	       !memcmp(module->path, name, name_size);
}

void module_map_region(struct module_map *map, const struct modules *modules,
		       const char *name, size_t name_size, guest_addr start,
		       uint64_t offset)
{
	for (size_t i = 0; i < map->count; i++) {
		const struct symbols *module = &modules->list[i];
		struct module_place *place = &map->places[i];

		if (place->mapped || !is_path(module, name, name_size))
			continue;
		/* The first PT_LOAD may begin further into the file. */
		if (offset < module->base_offset)
			return;
		place->bias = start - (offset - module->base_offset) -
			      module->link_base;
		place->start = module->link_base + place->bias;
		place->end = module->link_end + place->bias;
		place->mapped = true;
		map->mapped++;
		return;
	}
}

static const char *file_name(const struct symbols *module)
{
	const char *slash = strrchr(module->path, '/');

	return slash ? slash + 1 : module->path;
}

/* Whether `name` starts with "MODULE!"; `*rest` is what follows. */
static bool is_in_module(const struct symbols *module, const char *name,
			 const char **rest)
{
	const char *mark = strchr(name, '!');
	const char *file = file_name(module);

	*rest = mark ? mark + 1 : name;
	return !mark || (strlen(file) == (size_t)(mark - name) &&
			 !strncmp(file, name, (size_t)(mark - name)));
}

int module_map_find(const struct module_map *map,
		    const struct modules *modules, const char *name,
		    uint64_t *addr, uint64_t *size)
{
	for (size_t i = 0; i < map->count; i++) {
		const struct symbol *symbol;
		const char *plain;

		if (!map->places[i].mapped ||
		    !is_in_module(&modules->list[i], name, &plain))
			continue;
		symbol = symbols_find(&modules->list[i], plain);
		if (!symbol)
			continue;
		*addr = symbol->addr + map->places[i].bias;
		*size = symbol->type == SYMBOL_OBJECT ? symbol->size : 0;
		return 0;
	}
	return ERR_NOT_FOUND;
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

bool module_map_name(const struct module_map *map,
		     const struct modules *modules, uint64_t addr, char *text,
		     size_t room)
{
	for (size_t i = 0; i < map->count; i++) {
		const struct module_place *place = &map->places[i];
		const struct symbols *module = &modules->list[i];
		const struct symbol *symbol;
		const char *file = "", *mark = "";
		uint64_t inside;

		if (!place->mapped || addr < place->start || addr >= place->end)
			continue;
		symbol = symbols_at(module, addr - place->bias);
		if (!symbol)
			continue;
		if (!modules->program ||
		    strcmp(module->path, modules->program) != 0) {
			file = file_name(module);
			mark = "!";
		}
		inside = addr - place->bias - symbol->addr;
		if (inside)
			snprintf(text, room, "%s%s%s+0x%" PRIx64, file, mark,
				 symbol->name, inside);
		else
			snprintf(text, room, "%s%s%s", file, mark,
				 symbol->name);
		return true;
	}
	return false;
}
