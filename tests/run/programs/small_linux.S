/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * small_linux.S - how small_linux.c begins, and is entered
 *
 * It is at 0x40200000, and linked for 0xffffff8008000000; its module is at
 * 0x40600000, and the program from 0x40800000 on.
 */
#include "machine_head.S"

start:
	address	x0, low_1
	address	x1, low_2
	orr	x2, x1, #3
	str	x2, [x0]
	ldr	x2, =0x40000705		/* RAM, of EL1 */
	str	x2, [x0, #8]
	ldr	x2, =0x40800745		/* the program, of EL0 */
	str	x2, [x1, #8 * 2]
	ldr	x2, =0x40a00745
	str	x2, [x1, #8 * 3]
	address	x3, high_1
	address	x4, high_2
	orr	x2, x4, #3
	str	x2, [x3]
	ldr	x2, =0x40600705
	str	x2, [x4, #8 * 56]
	ldr	x2, =0x40200705
	str	x2, [x4, #8 * 64]
	ldr	x2, =0x40400705
	str	x2, [x4, #8 * 65]
	ldr	x2, =0x0060000009000401	/* devices, not executable */
	str	x2, [x4, #8 * 72]
	ldr	x1, =0xff00		/* 0: device; 1: normal */
	msr	mair_el1, x1
	ldr	x1, =0x12b5193519	/* 39 bits, 4 KiB, both halves */
	msr	tcr_el1, x1
	msr	ttbr0_el1, x0
	msr	ttbr1_el1, x3
	isb
	tlbi	vmalle1
	dsb	sy
	mrs	x1, sctlr_el1
	orr	x1, x1, #1
	msr	sctlr_el1, x1
	isb
	ldr	x1, =high
	br	x1
high:
	ldr	x1, =boot_stack
	mov	sp, x1
	ldr	x1, =vectors
	msr	vbar_el1, x1
	ldr	x1, =init_task
	msr	sp_el0, x1
	mov	x29, #0
	bl	start_kernel
	b	.
	.ltorg

	.balign	2048
	.globl	vectors
vectors:
	.skip	8 * 128
	b	el0t_64_sync
	.balign	2048

	/* Registers of the program are kept at the end of its kernel's stack. */
	.globl	el0t_64_sync
	.type	el0t_64_sync, %function
el0t_64_sync:
	sub	sp, sp, #336
	stp	x0, x1, [sp]
	stp	x2, x3, [sp, #16]
	stp	x4, x5, [sp, #32]
	stp	x6, x7, [sp, #48]
	stp	x8, x9, [sp, #64]
	stp	x10, x11, [sp, #80]
	stp	x12, x13, [sp, #96]
	stp	x14, x15, [sp, #112]
	stp	x16, x17, [sp, #128]
	stp	x18, x19, [sp, #144]
	stp	x20, x21, [sp, #160]
	stp	x22, x23, [sp, #176]
	stp	x24, x25, [sp, #192]
	stp	x26, x27, [sp, #208]
	stp	x28, x29, [sp, #224]
	mrs	x21, sp_el0
	stp	x30, x21, [sp, #240]
	mrs	x22, elr_el1
	mrs	x23, spsr_el1
	stp	x22, x23, [sp, #256]
	stp	x29, x22, [sp, #304]
	add	x29, sp, #304
	ldr	x1, =program
	msr	sp_el0, x1
	mov	x0, sp
	bl	el0t_64_sync_handler
	ldp	x22, x23, [sp, #256]
	msr	elr_el1, x22
	msr	spsr_el1, x23
	ldp	x30, x21, [sp, #240]
	msr	sp_el0, x21
	ldp	x28, x29, [sp, #224]
	ldp	x26, x27, [sp, #208]
	ldp	x24, x25, [sp, #192]
	ldp	x22, x23, [sp, #176]
	ldp	x20, x21, [sp, #160]
	ldp	x18, x19, [sp, #144]
	ldp	x16, x17, [sp, #128]
	ldp	x14, x15, [sp, #112]
	ldp	x12, x13, [sp, #96]
	ldp	x10, x11, [sp, #80]
	ldp	x8, x9, [sp, #64]
	ldp	x6, x7, [sp, #48]
	ldp	x4, x5, [sp, #32]
	ldp	x2, x3, [sp, #16]
	ldp	x0, x1, [sp]
	add	sp, sp, #336
	eret
	.ltorg
	.size	el0t_64_sync, . - el0t_64_sync

	.globl	enter_user
	.type	enter_user, %function
enter_user:
	mov	sp, x2
	msr	elr_el1, x0
	msr	sp_el0, x1
	msr	spsr_el1, xzr
	mov	x29, #0
	mov	x30, #0
	eret
	.size	enter_user, . - enter_user

	.data
	.balign	4096
	.globl	low_1
low_1:	.skip	4096
low_2:	.skip	4096
high_1:	.skip	4096
high_2:	.skip	4096
	.skip	4096
boot_stack:
