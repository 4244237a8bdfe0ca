/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_head.h - what the image of a kernel in C begins with: as
 * machine_head.S, a stack, a call of main(), and power goes off
 */
#ifndef MACHINE_HEAD_H
#define MACHINE_HEAD_H

#include <stdbool.h>
#include <stdint.h>

asm("	.arch armv8-a+fp\n"
    "	.text\n"
    "head:	b	start\n"
    "	.long	0\n"
    "	.quad	0, 0x80000, 0xa, 0, 0, 0\n"
    "	.ascii	\"ARM\\x64\"\n"
    "	.long	0\n"
    "start:	adrp	x1, stack + 16384\n"
    "	add	sp, x1, :lo12:stack + 16384\n"
    "	bl	main\n"
    "	ldr	w0, =0x84000008\n"
    "	hvc	#0\n"
    "	b	.\n"
    "	.ltorg\n");

uint8_t stack[16384] __attribute__((aligned(16)));

#define UART UINT64_C(0x09000000)
#define GICD UINT64_C(0x08000000)
#define GICC UINT64_C(0x08010000)

#endif
