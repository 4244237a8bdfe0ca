/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_arm64.S - a kernel of its own, that checks the machine it runs on
 *
 * Page tables, interrupts of the timer, WFI, a program at EL0 that calls the
 * kernel, exceptions, code that changes through another address, input and
 * output of the console.  It says a line of each; power goes off at its end.
 *
 * Virtual addresses: devices and RAM are where they are; RAM is also at
 * 0x80000000, for EL0, which EL1 must not execute.
 */
#define UART 0x09000000
#define GICD 0x08000000
#define GICC 0x08010000
#define ALIAS 0x40000000		/* from RAM to where it is, too */

#define TICKS 400			/* of the counter, between interrupts */
#define INTERRUPTS 50
#define CHANGES 40
#define ROUNDS 30000

#include "machine_head.S"

	.macro	say, text
	adr	x0, 7001f
	bl	print
	b	7002f
7001:	.asciz	"\text"
	.balign	4
7002:
	.endm

	/* Both are equal, or the kernel says so and stops. */
	.macro	check, reg, value
	ldr	x9, =\value
	cmp	\reg, x9
	b.ne	wrong
	.endm

start:
	address	x1, stack_end
	mov	sp, x1
	mov	x1, #3 << 20
	msr	cpacr_el1, x1
	address	x1, vectors
	msr	vbar_el1, x1
	bl	translate
	say	"translated\n"
	bl	interrupts
	say	"interrupts\n"
	bl	changes
	say	"changed code\n"
	bl	faults
	say	"faults\n"
	bl	program
	say	"program\n"
	bl	echo
	say	"bye\n"
off:
	ldr	w0, =0x84000008
	hvc	#0
	b	off
wrong:
	say	"wrong\n"
	b	off

/* ------- the console ------- */

print:
	ldr	x1, =UART
1:	ldrb	w2, [x0], #1
	cbz	w2, 2f
3:	ldr	w3, [x1, #0x18]
	tbnz	w3, #5, 3b
	str	w2, [x1]
	b	1b
2:	ret

/* Each letter of a line, and the next one. */
echo:
	ldr	x1, =UART
1:	ldr	w2, [x1, #0x18]
	tbz	w2, #4, 2f
	wfi				/* the timer goes on */
	b	1b
2:	ldr	w2, [x1]
	str	w2, [x1]
	cmp	w2, #'\n'
	b.eq	3f
	add	w2, w2, #1
	str	w2, [x1]
	b	1b
3:	ret

/* ------- page tables ------- */

translate:
	address	x0, table
	ldr	x1, =0x0060000000000401	/* device, not executable */
	str	x1, [x0]
	ldr	x1, =0x0000000040000705	/* RAM, of EL1 */
	str	x1, [x0, #8]
	ldr	x1, =0x0000000040000745	/* RAM, of EL0 */
	str	x1, [x0, #16]
	ldr	x1, =0xff00		/* 0: device; 1: normal */
	msr	mair_el1, x1
	ldr	x1, =0x280803519	/* 39 bits, 4 KiB, no upper half */
	msr	tcr_el1, x1
	msr	ttbr0_el1, x0
	isb
	tlbi	vmalle1
	dsb	sy
	mrs	x1, sctlr_el1
	orr	x1, x1, #1
	orr	x1, x1, #1 << 2
	orr	x1, x1, #1 << 12
	msr	sctlr_el1, x1
	isb
	ret

/* ------- interrupts ------- */

interrupts:
	ldr	x0, =GICD
	mov	w1, #1
	str	w1, [x0]
	mov	w1, #1 << 27
	str	w1, [x0, #0x100]
	ldr	x0, =GICC
	mov	w1, #0xff
	str	w1, [x0, #4]
	mov	w1, #1
	str	w1, [x0]
	mov	x0, #TICKS
	msr	cntv_tval_el0, x0
	mov	x0, #1
	msr	cntv_ctl_el0, x0
	msr	daifclr, #2
	address	x0, count
1:	ldr	x1, [x0]
	cmp	x1, #INTERRUPTS
	b.hs	2f
	wfi
	b	1b
2:	mov	x2, #ROUNDS		/* some more, amid work */
	mov	x3, #0
	fmov	d0, #1.0
	fmov	d1, #1.0
3:	add	x3, x3, x2
	fadd	d0, d0, d1
	subs	x2, x2, #1
	b.ne	3b
	check	x3, ROUNDS * (ROUNDS + 1) / 2
	fcvtzu	x3, d0
	check	x3, ROUNDS + 1
	ret

on_interrupt:
	stp	x0, x1, [sp, #-32]!
	stp	x2, x3, [sp, #16]
	ldr	x0, =GICC
	ldr	w1, [x0, #0xc]
	address	x2, count
	ldr	x3, [x2]
	add	x3, x3, #1
	str	x3, [x2]
	mov	x2, #TICKS
	msr	cntv_tval_el0, x2
	str	w1, [x0, #0x10]
	ldp	x2, x3, [sp, #16]
	ldp	x0, x1, [sp], #32
	eret

/* ------- code that changes, through its other address ------- */

changes:
	stp	x29, x30, [sp, #-16]!
	mov	x10, #0
	mov	x11, #0
1:	address	x0, changed
	ldr	w1, =0x52800000		/* mov w0, #0 */
	orr	w1, w1, w10, lsl #5
	ldr	x2, =ALIAS
	add	x3, x0, x2
	str	w1, [x3]
	dc	cvau, x0
	dsb	ish
	ic	ivau, x0
	dsb	ish
	isb
	blr	x0
	add	x11, x11, x0
	add	x10, x10, #1
	cmp	x10, #CHANGES
	b.ne	1b
	check	x11, CHANGES * (CHANGES - 1) / 2
	ldp	x29, x30, [sp], #16
	ret

/* ------- faults ------- */

faults:
	mov	x12, #0
	mov	x13, #0
	ldr	x0, =0xc0000000		/* nothing is there */
	ldr	x1, [x0]
	check	x12, 0x25		/* data abort of this level */
	mrs	x1, far_el1
	check	x1, 0xc0000000
	.long	0			/* undefined */
	check	x12, 0
	brk	#7
	check	x12, 0x3c
	check	x13, 3
	ret

/* The class of what happened goes to x12; the instruction is left out. */
on_fault:
	mrs	x12, esr_el1
	lsr	x12, x12, #26
	mrs	x14, elr_el1
	add	x14, x14, #4
	msr	elr_el1, x14
	add	x13, x13, #1
	eret

/* ------- a program ------- */

program:
	address	x0, program_back
	str	x30, [x0]
	address	x0, at_el0
	ldr	x1, =ALIAS
	add	x0, x0, x1
	msr	elr_el1, x0
	msr	spsr_el1, xzr
	address	x0, program_stack
	add	x0, x0, x1
	msr	sp_el0, x0
	eret

/* 1: add to the sum; 2: the end. */
on_call:
	cmp	x8, #2
	b.eq	1f
	stp	x1, x2, [sp, #-16]!
	address	x1, sum
	ldr	x2, [x1]
	add	x2, x2, x0
	str	x2, [x1]
	ldp	x1, x2, [sp], #16
	eret
1:	address	x0, sum
	ldr	x0, [x0]
	check	x0, 5050
	msr	daifclr, #2
	address	x0, program_back
	ldr	x30, [x0]
	ret

at_el0:
	mov	x4, #100
1:	mov	x5, #300
2:	str	x4, [sp, #-16]!		/* interrupted now and then */
	ldr	x6, [sp], #16
	subs	x5, x5, #1
	b.ne	2b
	mov	x0, x6
	mov	x8, #1
	svc	#0
	subs	x4, x4, #1
	b.ne	1b
	mov	x8, #2
	svc	#0

/* ------- vectors ------- */

	.macro	vector, to
	.balign	0x80
	b	\to
	.endm

	.balign	0x800
vectors:
	.rept	4
	vector	wrong
	.endr
	vector	on_fault
	vector	on_interrupt
	vector	wrong
	vector	wrong
	vector	on_call
	vector	on_interrupt
	vector	wrong
	vector	wrong
	.rept	4
	vector	wrong
	.endr

	.ltorg
	.balign	4096
changed:
	mov	w0, #0
	ret

	.balign	4096
table:	.fill	512, 8, 0
count:	.quad	0
sum:	.quad	0
program_back: .quad 0
	.balign	16
	.fill	256, 8, 0
program_stack:
	.fill	512, 8, 0
stack_end:
end:
