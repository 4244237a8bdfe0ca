/* SPDX-License-Identifier: GPL-2.0-or-later */
/* registers.c - registers of the engine's processor, by their numbers */
#include "vm/engine/engine_internal.h"

#include <string.h>

static uint64_t *hidden(struct engine *engine, unsigned reg)
{
	return engine->kind->hidden(engine, reg);
}

static uc_arm64_cp_reg system_register(unsigned name, uint64_t value)
{
	return (uc_arm64_cp_reg){
		.op0 = name >> 14, .op1 = name >> 11 & 7,
		.crn = name >> 7 & 15, .crm = name >> 3 & 15,
		.op2 = name & 7, .val = value,
	};
}

uint64_t engine_read_system(struct engine *engine, unsigned name)
{
	uc_arm64_cp_reg reg = system_register(name, 0);

	uc_reg_read(engine->uc, UC_ARM64_REG_CP_REG, &reg);
	return reg.val;
}

int engine_write_system(struct engine *engine, unsigned name, uint64_t value)
{
	uc_arm64_cp_reg reg = system_register(name, value);

	return (int)uc_reg_write(engine_enter(engine), UC_ARM64_REG_CP_REG,
				 &reg);
}

void engine_read(struct engine *engine, unsigned reg, void *bytes)
{
	int name = engine->kind->regs[reg];
	uint64_t value;

	if (name > 0) {
		uc_reg_read(engine->uc, name, bytes);
		return;
	}
	value = name ? engine_read_system(engine, (unsigned)-name) :
		       *hidden(engine, reg);
	memcpy(bytes, &value, sizeof(value));
}

void engine_write(struct engine *engine, unsigned reg, const void *bytes)
{
	int name = engine->kind->regs[reg];
	uint64_t value;

	engine->left |= name == UC_ARM_REG_PC;
	if (name > 0) {
		uc_reg_write(engine_enter(engine), name, bytes);
		return;
	}
	memcpy(&value, bytes, sizeof(value));
	if (name)
		engine_write_system(engine, (unsigned)-name, value);
	else
		*hidden(engine, reg) = value;
}
