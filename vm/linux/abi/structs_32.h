/* SPDX-License-Identifier: GPL-2.0-or-later */
/* structs_32.h - layouts of structures for guests of 32 bits */
#ifndef CPREC_VM_LINUX_ABI_STRUCTS_32_H
#define CPREC_VM_LINUX_ABI_STRUCTS_32_H

#include "vm/linux/abi/structs.h"

extern const struct guest_layout i386_layouts[STRUCT_COUNT];
extern const struct guest_layout arm_layouts[STRUCT_COUNT];

#endif
