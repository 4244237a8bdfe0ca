/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arm_flags.h - flags that ARM has, of 32 and of 64 bits */
#ifndef CPREC_VM_LINUX_ABI_ARM_FLAGS_H
#define CPREC_VM_LINUX_ABI_ARM_FLAGS_H

#include <stdint.h>

/*
 * Of open(2): four have each other's numbers, 040000 and 0200000, 0100000 and
 * 0400000.
 */
static inline uint64_t arm_open_flags(uint64_t flags)
{
	const uint64_t low = UINT64_C(0140000), high = UINT64_C(0600000);

	return (flags & ~(low | high)) | (flags & low) << 2 |
	       (flags & high) >> 2;
}

#endif
