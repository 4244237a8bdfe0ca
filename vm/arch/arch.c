/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arch.c - the architectures that there are */
#include "vm/arch/arch.h"

#include <string.h>

extern const struct architecture arch_x86;

const struct architecture *arch_find(enum arch arch)
{
	return arch == ARCH_X86_64 ? &arch_x86 : NULL;
}

void cpu_tell(struct cpu *cpu, guest_addr addr, const uint8_t *bytes,
	      unsigned size)
{
	for (unsigned at = 0; cpu->access && at < size; at += 8) {
		unsigned span = size - at < 8 ? size - at : 8;
		uint64_t value = 0;

		if (bytes)
			memcpy(&value, bytes + at, span);
		cpu->access(cpu->access_context,
			    bytes ? ACCESS_WRITE : ACCESS_READ, addr + at,
			    span, value);
	}
}
