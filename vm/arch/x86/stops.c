/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stops.c - what it means for a program that the processor stopped
 *
 * Source: Intel 64 SDM volume 3, 6.15 (exceptions), 3.3.7.1 (canonical
 * addresses); volume 2, SYSCALL.
 */
#include "formats/processor.h"
#include "vm/arch/x86/guest.h"
#include "vm/arch/x86/x86.h"

bool x86_refuse(struct vm_stop *stop)
{
	stop->kind = VM_STOP_FAULT;
	stop->fault = FAULT_PRIVILEGE;
	return false;
}

bool x86_operand_faults(struct cpu *cpu, guest_addr addr, unsigned size,
			enum vm_access access, struct vm_stop *stop)
{
	unsigned need = access == ACCESS_WRITE ? MAY_WRITE :
			MAY_READ | MAY_WRITE | MAY_EXEC;
	const struct region *region = NULL;
	guest_addr end = addr + size;

	for (; addr < end; addr++) {
		region = memory_region_at(cpu->memory, addr);
		if (!region || !(region->prot & need))
			break;
	}
	if (addr == end)
		return false;
	stop->kind = VM_STOP_FAULT;
	stop->fault = FAULT_MEMORY;
	stop->access = access;
	stop->addr = addr;
	stop->mapped = region != NULL;
	return true;
}

/* Bits 47 to 63 are all equal. */
static bool is_canonical(guest_addr addr)
{
	return (uint64_t)((int64_t)addr >> 47) + 1 < 2;
}

/* Code of 32 bits may not reach beyond the last address of a segment. */
static bool is_beyond_segment(struct cpu *cpu, guest_addr pc, guest_addr page)
{
	struct x86_code code;
	guest_addr addr;
	unsigned size;

	if (!x86_is_32(cpu) || cpu->behaviour < BEHAVIOUR_REFUSES)
		return false;
	x86_fetch(cpu, pc, &code);
	return x86_operand(cpu, &code, &addr, &size) &&
	       addr + size > UINT64_C(1) << 32 &&
	       (addr ^ page) < GUEST_PAGE;
}

void x86_memory_fault(struct cpu *cpu, guest_addr page, struct vm_stop *stop)
{
	bool fetch = stop->access == ACCESS_FETCH;

	if (!is_canonical(page) ||
	    (!fetch && is_beyond_segment(cpu, stop->pc, page))) {
		stop->fault = FAULT_PRIVILEGE;
		if (!fetch && x86_fault_is_of_stack(cpu, stop->pc, page))
			stop->detail = X86_FAULT_STACK;
		return;
	}
	stop->fault = FAULT_MEMORY;
	if (fetch)
		stop->addr = page > stop->pc ? page : stop->pc;
	else
		stop->addr = x86_fault_address(cpu, stop->pc, page);
}

void x86_exception(struct cpu *cpu, unsigned number, struct vm_stop *stop)
{
	struct reg_file regs;

	switch (number) {
	case 0:
		stop->fault = FAULT_DIVIDE;
		break;
	case 5:
		stop->fault = FAULT_PRIVILEGE;
		stop->detail = X86_FAULT_BOUND;
		break;
	case 6:
		stop->fault = FAULT_INVALID;
		break;
	default:
		stop->fault = FAULT_PRIVILEGE;
	}
	x86_registers(cpu, &regs);
	engine_reset(cpu->engine);
	x86_set_registers(cpu, &regs);
}

void x86_syscall(struct cpu *cpu, struct vm_stop *stop)
{
	stop->size = 2;
	if (x86_is_32(cpu))	/* INT 0x80 */
		return;
	x86_write_reg(cpu, X86_RCX, stop->pc);
	x86_write_reg(cpu, X86_R11, x86_read_reg(cpu, X86_RFLAGS));
}

/* ------- instructions that the gate holds back ------- */

/* The instruction is executed on the host if its operand allows it. */
static void explain_operand(struct cpu *cpu, const struct x86_code *code,
			    struct vm_stop *stop)
{
	guest_addr addr;
	unsigned size;

	if (!align_is_met(cpu, code))
		x86_refuse(stop);
	else if (x86_operand(cpu, code, &addr, &size))
		x86_operand_faults(cpu, addr, size, ACCESS_READ, stop);
}

#define INTO 0xce
#define FLAG_OVERFLOW 0x800u

static void explain_interrupt(const struct x86_parts *insn,
			      struct vm_stop *stop)
{
	stop->number = insn->opcode == 0xcd ? insn->behind :
		       insn->opcode == INTO ? 4 : 3;
	stop->fault = insn->opcode == 0xf1 ? FAULT_DEBUG :
		      stop->number == 3	   ? FAULT_BREAKPOINT :
					     FAULT_INTERRUPT;
}

static void explain_value(unsigned value, struct vm_stop *stop)
{
	stop->kind = VM_STOP_VALUE;
	stop->detail = value;
	stop->is_clock = value == VALUE_TSC || value == VALUE_TSCP;
	stop->tells_processor = value == VALUE_TSCP;
}

/* Processors of the first behaviour did not have it. */
static void explain_tscp(const struct cpu *cpu, struct vm_stop *stop)
{
	if (cpu->behaviour < BEHAVIOUR_STEPS)
		stop->fault = FAULT_INVALID;
	else
		explain_value(VALUE_TSCP, stop);
}

enum performed x86_explain(struct cpu *cpu, struct vm_stop *stop)
{
	struct x86_code code;

	x86_fetch(cpu, stop->pc, &code);
	stop->kind = VM_STOP_FAULT;
	stop->size = code.insn.size;
	switch (code.insn.class.gate) {
	case GATE_TSC:
		explain_value(VALUE_TSC, stop);
		break;
	case GATE_TSCP:
		explain_tscp(cpu, stop);
		break;
	case GATE_CPUID:
		explain_value(VALUE_CPUID, stop);
		break;
	case GATE_HOST:
		explain_value(VALUE_HOST, stop);
		explain_operand(cpu, &code, stop);
		break;
	case GATE_OPEN:		/* x86_shows_steps() */
	case GATE_EMULATE:
		return x86_emulate(cpu, &code, stop) ? PERFORMED :
						       PERFORMED_FAULTS;
	case GATE_PRIVILEGE:
		stop->fault = FAULT_PRIVILEGE;
		break;
	case GATE_INT:
		if (code.insn.opcode == INTO &&
		    !(x86_read_reg(cpu, X86_RFLAGS) & FLAG_OVERFLOW))
			return PERFORMED;
		explain_interrupt(&code.insn, stop);
		break;
	default:
		stop->fault = FAULT_INVALID;
	}
	return PERFORMED_NOT;
}
