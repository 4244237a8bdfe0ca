/* SPDX-License-Identifier: GPL-2.0-or-later */
/* array.c - see array.h */
#include "formats/array.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"

#define FIRST_ROOM 4

int array_grow(void *items, size_t *room, size_t needed, size_t size)
{
	size_t more = *room ? *room : FIRST_ROOM;
	void *at;

	while (more < needed)
		more *= 2;
	memcpy(&at, items, sizeof(at));
	at = reallocarray(at, more, size);
	if (!at)
		return ERR_NO_MEMORY;
	memcpy(items, &at, sizeof(at));
	*room = more;
	return 0;
}
