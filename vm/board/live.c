/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live.c - see live.h */
#include "vm/board/live.h"

#include <string.h>

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
