/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live.c - see live.h */
#include "vm/board/live.h"

#include <string.h>

#include "vm/board/state.h"

static const struct live_kind *const kinds[] = {
	&live_virt, &live_mps2_an385, &live_mps2_an386, &live_mps2_an500,
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

const struct live_kind *live_find(const char *name)
{
	for (size_t i = 0; i < KINDS; i++)
		if (!strcmp(kinds[i]->name, name))
			return kinds[i];
	return NULL;
}

const struct live_kind *live_of(enum arch arch, const char *model)
{
	const struct live_options options = { .virt.model = model };

	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i]->arch == arch &&
		    !strcmp(kinds[i]->model(&options), model))
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

unsigned live_disks(const struct live_kind *kind, const void *live)
{
	return kind->disks ? kind->disks(live) : 0;
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
