/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_spaces.S - a kernel of its own with two programs, which take turns
 *
 * Each has an address space with a number, and adds the number to what is at
 * DATA, over and over, ROUNDS times; that is elsewhere in each of them.
 */
#define DATA 0x80400000			/* at 0x40400000, and at 0x40600000 */
#define FIRST 5				/* the numbers */
#define SECOND 9
#define ROUNDS 200

#include "machine_head.S"

	/* The tables of one space: x0, x1, and where its data is. */
	.macro	tables, data
	ldr	x2, =0x0060000000000401	/* devices, not executable */
	str	x2, [x0]
	ldr	x2, =0x40000705		/* RAM, of EL1 */
	str	x2, [x0, #8]
	orr	x2, x1, #3
	str	x2, [x0, #16]
	ldr	x2, =0x40200745		/* code, of EL0 */
	str	x2, [x1, #8]
	ldr	x2, =\data | 0x745
	str	x2, [x1, #16]
	.endm

start:
	address	x1, vectors
	msr	vbar_el1, x1
	address	x0, first
	address	x1, first_2
	tables	0x40400000
	address	x0, second
	address	x1, second_2
	tables	0x40600000
	ldr	x1, =0xff00		/* 0: device; 1: normal */
	msr	mair_el1, x1
	ldr	x1, =0x1280803519	/* 39 bits, 4 KiB; numbers of 16 bits */
	msr	tcr_el1, x1
	address	x20, first
	mov	x2, #FIRST
	orr	x20, x20, x2, lsl #48
	address	x21, second
	mov	x2, #SECOND
	orr	x21, x21, x2, lsl #48
	msr	ttbr0_el1, x20
	isb
	tlbi	vmalle1
	dsb	sy
	mrs	x1, sctlr_el1
	orr	x1, x1, #1
	msr	sctlr_el1, x1
	isb
	mov	x22, #ROUNDS * 2

	/* The next turn: it goes back and forth between both. */
turn:
	cbz	x22, off
	sub	x22, x22, #1
	mrs	x0, ttbr0_el1
	cmp	x0, x20
	csel	x0, x21, x20, eq
	msr	ttbr0_el1, x0
	isb
	lsr	x1, x0, #48		/* the program gets its number */
	adr	x2, program
	orr	x2, x2, #0x80000000
	and	x2, x2, #~0x40000000
	msr	elr_el1, x2
	msr	spsr_el1, xzr
	eret

program:
	ldr	x2, =DATA
	ldr	x3, [x2]
	add	x3, x3, x1
	str	x3, [x2]
	svc	#0

off:
	ldr	w0, =0x84000008
	hvc	#0
	b	off

	.ltorg
	.balign	0x800
vectors:
	.rept	16
	.balign	0x80
	b	turn
	.endr

	.balign	4096
first:	.fill	512, 8, 0
second:	.fill	512, 8, 0
first_2: .fill	512, 8, 0
second_2: .fill	512, 8, 0
end:
