/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules.c - see modules.h */
#include "replayer/symbols/modules.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"

size_t modules_find(const struct modules *modules, const char *path,
		    size_t path_size)
{
	for (size_t i = 0; i < modules->count; i++)
		if (strlen(modules->list[i].path) == path_size &&
		    !memcmp(modules->list[i].path, path, path_size))
			return i;
	return MODULE_NONE;
}

int modules_add(struct modules *modules, const uint8_t *bytes, size_t size)
{
	struct symbols symbols = { 0 };
	struct symbols *list;
	int rc = symbols_decode(&symbols, bytes, size);

	if (rc)
		return rc;
	if (modules_find(modules, symbols.path, strlen(symbols.path)) !=
	    MODULE_NONE) {
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
