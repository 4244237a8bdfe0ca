/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpuid.c - a Westmere without what the engine lacks: x86-64-v2
 *
 * Source: Intel 64 SDM volume 2, CPUID.
 */
#include "vm/arch/x86/guest.h"

#include <stddef.h>

struct cpuid {
	uint32_t leaf;
	struct vm_cpuid result;
};

/* Leaf 7 and above 0xb say that there is nothing. */
static const struct cpuid leaves[] = {
	{ 0x0, { 0xb, 0x756e6547, 0x6c65746e, 0x49656e69 } },
	{ 0x1, { 0x206c1, 0x800, 0x82982203, 0x078bfbff } },
	{ 0x2, { 1, 0, 0x4d, 0x2c307d } },
	{ 0x80000000, { 0x80000008, 0, 0, 0 } },
	{ 0x80000001, { 0x206c1, 0, 1, 0x28100800 } },
	{ 0x80000002, { 0x72706320, 0x76206365, 0x75747269, 0x70206c61 } },
	{ 0x80000003, { 0x65636f72, 0x726f7373, 0, 0 } },
	{ 0x80000006, { 0, 0x42004200, 0x02008140, 0 } },
	{ 0x80000008, { 0x3028, 0, 0, 0 } },
};

/* Deterministic cache parameters: L1d, L1i, L2, L3. */
static const struct cpuid caches[] = {
	{ 0, { 0x121, 0x1c0003f, 0x3f, 1 } },
	{ 1, { 0x122, 0x1c0003f, 0x3f, 1 } },
	{ 2, { 0x143, 0x1c0003f, 0x1ff, 1 } },
	{ 3, { 0x163, 0x3c0003f, 0x3fff, 6 } },
};

struct vm_cpuid vm_cpuid(uint32_t leaf, uint32_t subleaf)
{
	struct vm_cpuid none = { 0 };

	if (leaf == 4)
		return subleaf < 4 ? caches[subleaf].result : none;
	for (size_t i = 0; i < sizeof(leaves) / sizeof(leaves[0]); i++)
		if (leaves[i].leaf == leaf)
			return leaves[i].result;
	return none;
}
