/* SPDX-License-Identifier: GPL-2.0-or-later */
/* known_memory.c - see known_memory.h */
#include "replayer/session/known_memory.h"

#include <string.h>

#include "replayer/replayer.h"

bool known_memory_read(struct replayer *replayer, uint64_t addr, void *bytes,
		       size_t size)
{
	uint8_t known[256];
	uint8_t *to = bytes;

	while (size) {
		size_t part = size < sizeof(known) ? size : sizeof(known);

		if (replayer_read(replayer, addr, to, known, part, NULL) ||
		    memchr(known, 0, part))
			return false;
		addr += part;
		to += part;
		size -= part;
	}
	return true;
}
