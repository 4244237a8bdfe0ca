/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arm64_cpuinfo.c - /proc/cpuinfo of the guest's processor */
#include "vm/arch/arm64/guest.h"
#include "vm/linux/abi/arm64_internal.h"

/* As Linux has it, arch/arm64/kernel/cpuinfo.c. */
void arm64_print_cpuinfo(FILE *out, unsigned processor)
{
	fprintf(out,
		"processor\t: %u\n"
		"BogoMIPS\t: 125.00\n"
		"Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 cpuid\n"
		"CPU implementer\t: 0x%02x\n"
		"CPU architecture: 8\n"
		"CPU variant\t: 0x%x\n"
		"CPU part\t: 0x%03x\n"
		"CPU revision\t: %u\n"
		"\n",
		processor, ARM64_MIDR >> 24, ARM64_MIDR >> 20 & 15,
		ARM64_MIDR >> 4 & 0xfff, ARM64_MIDR & 15);
}
