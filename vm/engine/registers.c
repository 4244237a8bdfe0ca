/* SPDX-License-Identifier: GPL-2.0-or-later */
/* registers.c - registers of the engine's processor, by their numbers */
#include "vm/engine/engine_internal.h"

#include <string.h>

static uint64_t *hidden(struct engine *engine, unsigned reg)
{
	return engine->kind->hidden(engine, reg);
}

void engine_read(struct engine *engine, unsigned reg, void *bytes)
{
	int name = engine->kind->regs[reg];

	if (name)
		uc_reg_read(engine->uc, name, bytes);
	else
		memcpy(bytes, hidden(engine, reg), sizeof(uint64_t));
}

void engine_write(struct engine *engine, unsigned reg, const void *bytes)
{
	int name = engine->kind->regs[reg];

	if (name)
		uc_reg_write(engine_enter(engine), name, bytes);
	else
		memcpy(hidden(engine, reg), bytes, sizeof(uint64_t));
}
