/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arm_faults.c - the signal for an instruction of 32-bit ARM that cannot
 * retire, and for calls that are none
 *
 * Statuses are those of short descriptors: a table for each 2 MiB, where
 * anything is mapped.
 *
 * Source: Linux, arch/arm/mm/fault.c and fsr-2level.c; kernel/traps.c, ptrace.c
 * and hw_breakpoint.c there.  Arm Architecture Reference Manual for ARMv7-A,
 * B4.1.52 and B4.1.96.
 */
#include "formats/registers.h"
#include "vm/arch/arm/guest.h"
#include "vm/linux/abi/arm_internal.h"
#include "vm/vm.h"

enum {			/* of DFSR and IFSR */
	STATUS_ALIGNMENT = 0x01,
	STATUS_DEBUG = 0x02,
	STATUS_NO_TABLE = 0x05,
	STATUS_NO_PAGE = 0x07,
	STATUS_FORBIDDEN = 0x0f,
	DOMAIN_USER = 0x10,	/* of data, if there is a table */
	WRITES = 0x800,
};

#define IS_FETCH UINT32_C(0x80000000)	/* Linux's own */
#define TABLE_SPAN UINT64_C(0x200000)

enum { TRAP_UNDEFINED = 6, TRAP_PAGE = 14 };

static void set(struct guest_fault *out, int number, int code, guest_addr addr)
{
	out->info.si_signo = number;
	out->info.si_code = code;
	out->info.si_addr = (void *)(uintptr_t)addr;
	out->trap.trap = 0;
	out->trap.error = 0;
}

static bool has_table(struct vm *vm, guest_addr addr)
{
	guest_addr start = addr & ~(TABLE_SPAN - 1);

	return memory_find_gap(vm_memory(vm), TABLE_SPAN, start,
			       start + TABLE_SPAN) != start;
}

static uint64_t status_of(struct vm *vm, const struct vm_stop *stop,
			  bool is_present)
{
	bool is_there = is_present || has_table(vm, stop->addr);
	uint64_t status = is_present ? STATUS_FORBIDDEN :
			  is_there ? STATUS_NO_PAGE : STATUS_NO_TABLE;

	if (stop->access == ACCESS_FETCH)
		return status | IS_FETCH;
	return status | (is_there ? DOMAIN_USER : 0) |
	       (stop->access == ACCESS_WRITE ? WRITES : 0);
}

/* The kernel's own addresses are mapped, but not for programs. */
static void page_fault(struct vm *vm, const struct vm_stop *stop,
		       bool is_present, struct guest_fault *out)
{
	bool is_kernels = stop->addr >= abi_arm.user_end;

	set(out, SIGSEGV, stop->mapped && !is_kernels ? SEGV_ACCERR :
							SEGV_MAPERR,
	    stop->addr);
	out->trap.trap = TRAP_PAGE;
	out->trap.error = status_of(vm, stop, is_present);
	out->trap.address = stop->addr;
}

static uint32_t halfword(struct vm *vm, guest_addr pc)
{
	uint8_t bytes[2] = { 0 };

	memory_code(vm_memory(vm), pc, bytes, sizeof(bytes));
	return bytes[0] | (uint32_t)bytes[1] << 8;
}

/* Undefined ones that debuggers put in: udf #16 and its like. */
static bool is_breakpoint(struct vm *vm, guest_addr pc)
{
	uint32_t first = halfword(vm, pc);

	if (!(vm_reg(vm, ARM_CPSR) & ARM_CPSR_THUMB))
		return ((halfword(vm, pc + 2) << 16 | first) & 0x0fffffff) ==
		       0x07f001f0;
	return first == 0xde01 ||
	       (first == 0xf7f0 && halfword(vm, pc + 2) == 0xa000);
}

static void undefined(struct vm *vm, const struct vm_stop *stop,
		      struct guest_fault *out)
{
	struct guest_trap before = out->trap;

	if (is_breakpoint(vm, stop->pc)) {
		set(out, SIGTRAP, TRAP_BRKPT, stop->pc);
		out->trap = before;
		return;
	}
	set(out, SIGILL, ILL_ILLOPC, stop->pc);
	out->trap.trap = TRAP_UNDEFINED;
	out->is_unknown = true;
}

void arm_fault(struct vm *vm, const struct vm_stop *stop, bool is_present,
	       struct guest_fault *out)
{
	switch (stop->fault) {
	case FAULT_MEMORY:
		page_fault(vm, stop, is_present, out);
		break;
	case FAULT_BREAKPOINT:
		set(out, SIGTRAP, TRAP_HWBKPT, stop->pc);
		out->trap.error = STATUS_DEBUG;
		break;
	case FAULT_ALIGNMENT:
		set(out, SIGBUS, BUS_ADRALN, stop->addr);
		out->trap.error = STATUS_ALIGNMENT | DOMAIN_USER |
				  (stop->access == ACCESS_WRITE ? WRITES : 0);
		break;
	default:
		undefined(vm, stop, out);
	}
}

/* ------- calls that are none ------- */

enum {			/* uapi/asm/unistd.h */
	OWN_FIRST = 0xf0000,	/* the call of address 0, they say */
	OWN_BREAKPOINT,
	OWN_NONE = 0xf07ff,	/* up to here, others may come */
};

/* The program stands there again, as at a breakpoint. */
static void own_breakpoint(struct vm *vm, guest_addr at,
			   struct guest_fault *out)
{
	struct guest_trap before = out->trap;

	set(out, SIGTRAP, TRAP_BRKPT, at);
	out->trap = before;
	vm_set_reg(vm, ARM_PC, at);
}

bool arm_bad_call(struct vm *vm, uint64_t number, struct guest_fault *out)
{
	guest_addr at;

	if (number < OWN_FIRST ||
	    (number > OWN_BREAKPOINT && number <= OWN_NONE))
		return false;
	at = vm_reg(vm, ARM_PC) - vm_call_size(vm);
	switch (number) {
	case OWN_FIRST:
		set(out, SIGSEGV, SEGV_MAPERR, 0);
		break;
	case OWN_BREAKPOINT:
		own_breakpoint(vm, at, out);
		break;
	default:
		set(out, SIGILL, ILL_ILLTRP, at);
		out->trap.error = number;
	}
	return true;
}
