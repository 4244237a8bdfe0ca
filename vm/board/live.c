/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live.c - see live.h */
#include "vm/board/live.h"

#include <string.h>

#include "vm/board/state.h"

const struct live_kind *live_find(const char *name)
{
	static const struct live_kind *const kinds[] = {
		&live_virt, &live_mps2_an385, &live_mps2_an386,
		&live_mps2_an500,
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i]->name, name))
			return kinds[i];
	return NULL;
}

unsigned live_cores(const struct live_kind *kind, const void *live)
{
	return kind->cores ? kind->cores(live) : 1;
}

bool live_is_on(const struct live_kind *kind, const void *live, unsigned core)
{
	return !kind->is_on || kind->is_on(live, core);
}

void live_save(const struct live_kind *kind, void *live, struct output *out)
{
	struct state state = state_to(out);

	kind->state(live, &state);
}

bool live_load(const struct live_kind *kind, void *live, const uint8_t *bytes,
	       size_t size)
{
	struct state state = state_from(bytes, size);

	kind->state(live, &state);
	return !state.damaged;
}
