/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arm.c - the 32-bit ARM processor that the guest sees */
#include "vm/arch/arm/arm.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "vm/arch/arm/guest.h"

/* ------- registers ------- */

/* N, Z, C, V, Q, GE. */
#define FLAGS_OWN 0xf80f0000u
#define STATUS_OWN \
	(FLAGS_OWN | ARM_CPSR_IT | ARM_CPSR_BIG | ARM_CPSR_THUMB)

static uint64_t status_of(uint64_t value)
{
	return (value & STATUS_OWN) | ARM_CPSR_USER;
}

uint64_t arm_read_reg(struct cpu *cpu, unsigned reg)
{
	uint64_t value = 0;

	engine_read(cpu->engine, reg, &value);
	return reg == ARM_CPSR ? status_of(value) : value;
}

/* All code of a machine is Thumb, of which there is only a decoder. */
bool arm_is_in_thumb(struct cpu *cpu)
{
	return !cpu->engine || arm_read_reg(cpu, ARM_CPSR) & ARM_CPSR_THUMB;
}

/* With the program counter, the engine takes what code it leads to. */
void arm_write_reg(struct cpu *cpu, unsigned reg, uint64_t value)
{
	if (reg == ARM_CPSR)
		value = status_of(value);
	if (reg == ARM_PC)
		value = (value & ~UINT64_C(1)) | arm_is_in_thumb(cpu);
	engine_write(cpu->engine, reg, &value);
}

/* A return from an exception clears the monitor (DDI 0406, A3.4.4). */
void arm_resumes(struct cpu *cpu)
{
	arm_write_reg(cpu, ARM_MONITOR, ARM_MONITOR_CLEAR);
}

/* ------- the architecture ------- */

static void end(struct cpu *cpu)
{
	struct arm *arm = arm_of(cpu);

	if (!arm)
		return;
	if (arm->insn)
		cs_free(arm->insn, 1);
	if (arm->decoder)
		cs_close(&arm->decoder);
	modes_destroy(arm->modes);
	free(arm);
	cpu->state = NULL;
}

static int start(struct cpu *cpu, struct failure *why)
{
	struct arm *arm = calloc(1, sizeof(*arm));
	cs_err err;

	cpu->state = arm;
	if (arm)
		arm->modes = modes_create();
	if (!arm || !arm->modes)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	err = cs_open(CS_ARCH_ARM, CS_MODE_ARM, &arm->decoder);
	if (!err)
		err = cs_option(arm->decoder, CS_OPT_DETAIL, CS_OPT_ON);
	if (!err)
		arm->insn = cs_malloc(arm->decoder);
	if (err || !arm->insn)
		return failed(why, ERR_SYSTEM, "cannot start the decoder: %s",
			      cs_strerror(err));
	return 0;
}

extern const struct architecture arch_arm;

const struct architecture arch_arm = {
	.start = start,
	.end = end,
	.reg = arm_read_reg,
	.set_reg = arm_write_reg,
	.registers = plain_registers,
	.set_registers = plain_set_registers,
	.left = plain_left,
	.resumes = arm_resumes,
	.decode = arm_decode,
	.demands = plain_demands,
	.low_bits = plain_low_bits,
	.before = plain_before,
	.perform = plain_perform,
	.is_aligned = plain_is_aligned,
	.shows_steps = plain_never,
	.goes_on = plain_never,
	.disguise = arm_disguise,
	.explain = arm_explain,
	.capture = arm_capture,
	.call_size = arm_call_size,
	.syscall = arm_syscall,
	.exception = arm_exception,
	.memory_fault = arm_memory_fault,
	.way = arm_way,
	.order = arm_order,
	.flow = arm_flow,
	.disassemble = arm_text,
	.show = arm_show,
};
