/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arch.c - the architectures that there are */
#include "vm/arch/arch.h"

#include <string.h>

extern const struct architecture arch_x86, arch_arm, arch_arm64, arch_i386;

const struct architecture *arch_find(enum arch arch)
{
	switch (arch) {
	case ARCH_X86_64:
		return &arch_x86;
	case ARCH_AARCH64:
		return &arch_arm64;
	case ARCH_I386:
		return &arch_i386;
	case ARCH_ARM:
		return &arch_arm;
	default:
		return NULL;
	}
}

static void decode(struct cpu *cpu, guest_addr pc, struct cpu_code *out)
{
	out->insn = cpu->arch->decode(cpu, out->bytes, out->left, pc);
}

void cpu_fetch(struct cpu *cpu, guest_addr pc, struct cpu_code *out)
{
	out->left = memory_code_of_page(cpu->memory, pc, out->bytes,
					sizeof(out->bytes));
	decode(cpu, pc, out);
	if (out->insn.size && out->insn.size <= out->left)
		return;
	out->left = memory_code(cpu->memory, pc, out->bytes,
				sizeof(out->bytes));
	decode(cpu, pc, out);
}

static void tell(struct cpu *cpu, enum vm_access access, guest_addr addr,
		 const uint8_t *bytes, unsigned size)
{
	for (unsigned at = 0; cpu->access && at < size; at += 8) {
		unsigned span = size - at < 8 ? size - at : 8;
		uint64_t value = 0;

		memcpy(&value, bytes + at, span);
		cpu->access(cpu->access_context, access, addr + at, span,
			    value);
	}
}

void cpu_load(struct cpu *cpu, guest_addr addr, void *bytes, unsigned size)
{
	memory_load(cpu->memory, addr, bytes, size);
	tell(cpu, ACCESS_READ, addr, bytes, size);
}

void cpu_store(struct cpu *cpu, guest_addr addr, const void *bytes,
	       unsigned size)
{
	memory_store(cpu->memory, addr, bytes, size);
	tell(cpu, ACCESS_WRITE, addr, bytes, size);
}
