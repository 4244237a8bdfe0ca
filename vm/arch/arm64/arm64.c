/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arm64.c - the AArch64 processor that the guest sees */
#include "vm/arch/arm64/arm64.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "vm/arch/arm64/guest.h"

/* ------- registers ------- */

#define FLAGS_OWN UINT64_C(0xf0000000)		/* N, Z, C, V */

uint64_t arm64_read_reg(struct cpu *cpu, unsigned reg)
{
	uint8_t bytes[16] = { 0 };
	uint64_t value;

	engine_read(cpu->engine, reg, bytes);
	memcpy(&value, bytes, sizeof(value));
	return reg == ARM64_CPSR ? value & FLAGS_OWN : value;
}

void arm64_write_reg(struct cpu *cpu, unsigned reg, uint64_t value)
{
	if (reg == ARM64_CPSR)
		value &= FLAGS_OWN;
	engine_write(cpu->engine, reg, &value);
}

uint64_t arm64_general(struct cpu *cpu, unsigned number)
{
	return number == 31 ? 0 : arm64_read_reg(cpu, ARM64_X0 + number);
}

void arm64_set_general(struct cpu *cpu, unsigned number, uint64_t value)
{
	if (number != 31)
		arm64_write_reg(cpu, ARM64_X0 + number, value);
}

/* A return from an exception clears the monitor (DDI 0487, B2.12). */
void arm64_resumes(struct cpu *cpu)
{
	arm64_write_reg(cpu, ARM64_MONITOR, ARM64_MONITOR_CLEAR);
}

/* ------- the architecture ------- */

static void end(struct cpu *cpu)
{
	struct arm64 *arm64 = arm64_of(cpu);

	if (!arm64)
		return;
	if (arm64->insn)
		cs_free(arm64->insn, 1);
	if (arm64->decoder)
		cs_close(&arm64->decoder);
	free(arm64);
	cpu->state = NULL;
}

static int start(struct cpu *cpu, struct failure *why)
{
	struct arm64 *arm64 = calloc(1, sizeof(*arm64));
	cs_err err;

	if (!arm64)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	cpu->state = arm64;
	err = cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &arm64->decoder);
	if (!err)
		err = cs_option(arm64->decoder, CS_OPT_DETAIL, CS_OPT_ON);
	if (!err)
		arm64->insn = cs_malloc(arm64->decoder);
	if (err || !arm64->insn)
		return failed(why, ERR_SYSTEM, "cannot start the decoder: %s",
			      cs_strerror(err));
	return 0;
}

extern const struct architecture arch_arm64;

const struct architecture arch_arm64 = {
	.start = start,
	.end = end,
	.reg = arm64_read_reg,
	.set_reg = arm64_write_reg,
	.registers = plain_registers,
	.set_registers = plain_set_registers,
	.left = plain_left,
	.resumes = arm64_resumes,
	.decode = arm64_decode,
	.demands = plain_demands,
	.low_bits = plain_low_bits,
	.before = plain_before,
	.perform = plain_perform,
	.is_aligned = plain_is_aligned,
	.shows_steps = plain_never,
	.goes_on = plain_never,
	.disguise = arm64_disguise,
	.explain = arm64_explain,
	.capture = arm64_capture,
	.call_size = plain_call_size,
	.syscall = arm64_syscall,
	.exception = arm64_exception,
	.memory_fault = arm64_memory_fault,
	.way = arm64_way,
	.order = arm64_order,
	.flow = arm64_flow,
	.disassemble = arm64_text,
	.show = arm64_show,
};
