/* SPDX-License-Identifier: GPL-2.0-or-later */
/* race_roles.c - see race_roles.h */
#include "replayer/race_roles.h"

#include <stddef.h>
#include <string.h>

#include "formats/error.h"
#include "formats/symbols.h"
#include "replayer/recording.h"

/* Sorted by name, as strcmp() does. */
static const struct {
	const char *name;
	enum race_role role;
} functions[] = {
	{ "aligned_alloc", ROLE_NEW_ALIGNED },
	{ "calloc", ROLE_NEW_ARRAY },
	{ "cfree", ROLE_FREE },
	{ "exit", ROLE_EXIT },
	{ "free", ROLE_FREE },
	{ "malloc", ROLE_NEW },
	{ "memalign", ROLE_NEW_ALIGNED },
	{ "posix_memalign", ROLE_NEW_AT },
	{ "pthread_clockjoin_np", ROLE_JOIN },
	{ "pthread_create", ROLE_CREATE },
	{ "pthread_detach", ROLE_JOIN },
	{ "pthread_exit", ROLE_LEAVE },
	{ "pthread_join", ROLE_JOIN },
	{ "pthread_timedjoin_np", ROLE_JOIN },
	{ "pthread_tryjoin_np", ROLE_JOIN },
	{ "pvalloc", ROLE_NEW },
	{ "realloc", ROLE_RESIZE },
	{ "reallocarray", ROLE_RESIZE_ARRAY },
	{ "thrd_create", ROLE_CREATE },
	{ "thrd_detach", ROLE_JOIN },
	{ "thrd_exit", ROLE_LEAVE },
	{ "thrd_join", ROLE_JOIN },
	{ "valloc", ROLE_NEW },
};

static enum race_role role_of_name(const char *name)
{
	size_t low = 0, high = sizeof(functions) / sizeof(functions[0]);

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(name, functions[middle].name);

		if (!order)
			return functions[middle].role;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return ROLE_NONE;
}

static int add(struct race_roles *roles, uint64_t pc, enum race_role role)
{
	if (pc < roles->low)
		roles->low = pc;
	if (pc > roles->high)
		roles->high = pc;
	return number_map_set(&roles->entries, pc, role);
}

static int add_module(struct race_roles *roles, const struct symbols *symbols,
		      uint64_t bias, struct race_homes *homes)
{
	int rc = 0;

	for (size_t i = 0; i < symbols->count && !rc; i++) {
		const struct symbol *symbol = &symbols->list[i];
		enum race_role role = role_of_name(symbol->name);
		uint64_t pc = symbol->addr + bias;

		roles->is_glibc |= !strcmp(symbol->name,
					   "gnu_get_libc_version");
		if (role != ROLE_NONE && symbol->type == SYMBOL_FUNCTION &&
		    race_home_of(homes, pc) == HOME_C_LIBRARY)
			rc = add(roles, pc, role);
	}
	return rc;
}

int race_roles_find(struct race_roles *roles, struct recording *recording,
		    uint64_t t, struct race_homes *homes)
{
	const struct symbols *symbols;
	uint64_t bias;
	int rc = 0;

	number_map_clear(&roles->entries);
	roles->low = UINT64_MAX;
	roles->high = 0;
	roles->is_glibc = false;
	for (size_t i = 0; !rc && (symbols = recording_mapped_module(
					   recording, t, i, &bias)); i++)
		rc = add_module(roles, symbols, bias, homes);
	return rc;
}

void race_roles_release(struct race_roles *roles)
{
	number_map_release(&roles->entries);
	*roles = (struct race_roles) { .low = UINT64_MAX };
}
