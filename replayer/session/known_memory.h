/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * known_memory.h - memory where a replayer stands, all of it or none
 */
#ifndef CPREC_REPLAYER_SESSION_KNOWN_MEMORY_H
#define CPREC_REPLAYER_SESSION_KNOWN_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct replayer;

/* False unless all of it is known. */
bool known_memory_read(struct replayer *replayer, uint64_t addr, void *bytes,
		       size_t size);

#endif
