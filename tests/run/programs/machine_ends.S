/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_ends.S - kernels that end in some way: -DEND says how
 */
#define UART 0x09000000
#define HOLE 0x10000000
#define KEPT 0x41000000
#define OFF 0x84000008
#define RESET 0x84000009

#include "machine_head.S"

	.macro	call, number
	ldr	w0, =\number
	hvc	#0
	.endm

start:
	adr	x0, vectors
	msr	vbar_el1, x0
	mov	x0, #KEPT
	mov	sp, x0
	isb
#if END == 1			/* vectors where nothing is */
	mov	x0, #0x8000000000
	msr	vbar_el1, x0
	isb
	udf	#0
#elif END == 2			/* the handler of faults faults */
	mov	x0, #0
	mov	sp, x0
	udf	#0
#elif END == 3			/* a loop that nothing ends */
	msr	daifset, #15
1:	wfe
	b	1b
#elif END == 4			/* nothing is there: no memory, no device */
	mov	x1, #HOLE
	str	x1, [x1]
	ldr	x0, [x1, #8]
	cbnz	x0, 1f
	call	OFF
1:	b	.
#elif END == 5			/* it begins anew, with its memory: three times */
	mov	x1, #KEPT
	ldr	w2, [x1]
	add	w2, w2, #1
	str	w2, [x1]
	add	w0, w2, #'0'
	bl	print_byte
	mrs	x3, cntv_ctl_el0	/* the timer is off again */
	add	w0, w3, #'a'
	bl	print_byte
	mov	x3, #2
	msr	cntv_ctl_el0, x3
	mov	x4, #0x1234
	msr	tpidr_el1, x4
	fmov	d1, x4
	cmp	w2, #3
	b.eq	1f
	call	RESET
1:	call	OFF
#elif END == 6			/* says that it panics, and loops */
	bl	panic
	msr	daifclr, #2
	b	.
#elif END == 7			/* says so, and goes on */
	bl	panic
	adr	x0, program		/* which runs: so it was none */
	msr	elr_el1, x0
	mov	x0, #0x3c0
	msr	spsr_el1, x0
	eret
program:
	svc	#0
	mov	x2, #0x9000000
1:	subs	x2, x2, #1
	b.ne	1b
	mov	x0, #HOLE
	br	x0
#elif END == 8			/* says so, and resets */
	bl	panic
	call	RESET
#elif END == 9			/* jumps to where nothing is */
	mov	x0, #HOLE
	br	x0
#elif END >= 10			/* nothing but holes; once, or for ever */
1:	mov	x1, #HOLE
	mov	x3, #0
2:	str	x1, [x1]
	ldr	x0, [x1]
	orr	x3, x3, x0
	add	x1, x1, #0x10, lsl #12
	tst	x1, #0x3fffffff
	b.ne	2b
	mov	x1, #0x60000000		/* behind all memory */
3:	strb	w1, [x1]
	ldrh	w0, [x1]
	orr	x3, x3, x0
	add	x1, x1, #0x800, lsl #12
	tbz	x1, #34, 3b
	mov	w0, #'h'
	cbz	x3, 4f
	mov	w0, #'?'
4:	bl	print_byte
#if END == 11
	b	1b
#endif
	ldr	x1, =UART + 0x18	/* registers that are only read */
	bl	overwrite
	ldr	x1, =UART + 0xfe0
	bl	overwrite
	ldr	x1, =0x08000008
	bl	overwrite
	call	OFF

overwrite:
	mov	x5, x30
	ldr	w2, [x1]
	mvn	w3, w2
	str	w3, [x1]
	ldr	w3, [x1]
	mov	w0, #'r'
	cmp	w2, w3
	b.eq	5f
	mov	w0, #'?'
5:	bl	print_byte
	br	x5
#endif

panic:
	adr	x1, words
	mov	x5, x30
1:	ldrb	w0, [x1], #1
	cbz	w0, 2f
	bl	print_byte
	b	1b
2:	br	x5

print_byte:
	mov	x9, #UART
	strb	w0, [x9]
	ret

words:
	.ascii	"[    0.8] Kernel panic - not syncing: no more\r\n"
	.asciz	"[    0.9] ---[ end Kernel panic - not syncing: no more ]---\r\n"

	.balign	2048
vectors:
	.rept	16
	.balign	128
	stp	x0, x1, [sp, #-16]!
	mrs	x0, elr_el1
	mov	x1, #HOLE
	cmp	x0, x1
	b.ne	1f
	mov	w0, #'f'
	bl	print_byte
	call	OFF
1:	ldp	x0, x1, [sp], #16
	eret
	.endr
	.ltorg
end:
