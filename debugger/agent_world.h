/* SPDX-License-Identifier: GPL-2.0-or-later */
/* agent_world.h - what agent expressions are about */
#ifndef CPREC_DEBUGGER_AGENT_WORLD_H
#define CPREC_DEBUGGER_AGENT_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an expression may ask, and where it prints; false: it is not known. */
struct agent_world {
	bool (*reg)(void *context, uint64_t number, uint64_t *out);
	bool (*memory)(void *context, uint64_t addr, void *out, size_t size);
	void (*print)(void *context, const char *bytes, size_t size);
	void *context;
};

#endif
