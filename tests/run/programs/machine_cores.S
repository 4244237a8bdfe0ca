/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_cores.S - a kernel for several cores, which says what they did
 *
 * Core 0 switches on all there are.  Each counts, with a lock; waits for its own
 * timer; has the next core wait for what it sends; and switches itself off.
 * Core 0 says how many there are, what was counted, and who sent what to each.
 * Then it switches on core 1 once more, and itself off; that core resets the
 * machine, and, the second time, switches it off.
 */
#define UART 0x09000000
#define GICD 0x08000000
#define GICC 0x08010000
#define OFF 0x84000008
#define RESET 0x84000009
#define CORE_OFF 0x84000002
#define CORE_ON 0xc4000003
#define CORE_INFO 0xc4000004
#define IS_OFF 1

/* Memory: a lock, a counter, the number of cores, how often it began; and of each
 * core, whether its timer came, and what was sent. */
#define SHARED 0x40800000
#define COUNTER 8
#define CORES 16
#define BEGUN 24
#define OWN 0x100
#define SENT 8

#define ROUNDS 3000
#define TIMER 27		/* numbers of interrupts */
#define SGI 1

#include "machine_head.S"

	.macro	call, number
	ldr	x0, =\number
	hvc	#0
	.endm

start:					/* core 0 */
	mov	x21, #0
	ldr	x20, =SHARED
	str	wzr, [x20]
	str	xzr, [x20, #COUNTER]
	str	xzr, [x20, #CORES]
	mov	x1, #OWN
1:	str	xzr, [x20, x1]
	add	x1, x1, #8
	cmp	x1, #OWN + 128
	b.ne	1b
	ldr	x1, =GICD
	mov	w0, #1
	str	w0, [x1]
	bl	begin
	mov	x22, #1
2:	mov	x1, x22
	adr	x2, other
	mov	x3, x22
	call	CORE_ON
	cbnz	x0, 3f
	add	x22, x22, #1
	b	2b
3:	str	x22, [x20, #CORES]
	bl	work
	mov	x23, #1
4:	cmp	x23, x22
	b.hs	5f
	mov	x1, x23
	bl	wait_for_off
	add	x23, x23, #1
	b	4b
5:	mov	x0, x22
	bl	say
	ldr	x0, [x20, #COUNTER]
	bl	say
	mov	x23, #0
6:	add	x1, x20, #OWN
	add	x1, x1, x23, lsl #4
	ldr	x0, [x1, #SENT]
	bl	say
	add	x23, x23, #1
	cmp	x23, x22
	b.lo	6b
	mov	x1, #1
	adr	x2, again
	mov	x3, #7
	call	CORE_ON
	cbnz	x0, over		/* there is none */
	call	CORE_OFF
over:	call	OFF

/* As after a reset, with its number in x0. */
other:
	mov	x21, x0
	bl	check
	ldr	x20, =SHARED
	bl	begin
	bl	work
	call	CORE_OFF
	b	.

/* The second time that core 1 is switched on. */
again:
	cmp	x0, #7
	b.ne	bad
	mov	x21, #1
	bl	check
	ldr	x20, =SHARED
	mov	x1, #0
	bl	wait_for_off
	ldr	x0, [x20, #BEGUN]
	add	x0, x0, #1
	str	x0, [x20, #BEGUN]
	bl	say
	ldr	x0, [x20, #BEGUN]
	cmp	x0, #2
	b.eq	over
	call	RESET

/* Nothing is left of what the core had done before; it is the one in x21. */
check:
	mrs	x1, vbar_el1
	cbnz	x1, bad
	mrs	x1, sctlr_el1
	tbnz	x1, #0, bad
	mrs	x1, cntv_ctl_el0
	tbnz	x1, #0, bad
	mrs	x1, mpidr_el1
	and	x1, x1, #0xff
	cmp	x1, x21
	b.ne	bad
	ret
bad:	mov	x0, #0xbad
	bl	say
	call	OFF

/* Waits until core x1 is off, by looking. */
wait_for_off:
	mov	x4, x1
1:	mov	x1, x4
	mov	x2, #0
	call	CORE_INFO
	cmp	x0, #IS_OFF
	b.ne	1b
	ret

/* The core takes its own interrupts. */
begin:
	adr	x0, vectors
	msr	vbar_el1, x0
	ldr	x1, =GICD
	ldr	w0, =(1 << TIMER) | (1 << SGI)
	str	w0, [x1, #0x100]
	ldr	x1, =GICC
	mov	w0, #0xf0
	str	w0, [x1, #4]
	mov	w0, #1
	str	w0, [x1]
	add	x19, x20, #OWN
	add	x19, x19, x21, lsl #4
	isb
	ret

	/* WFI ends while an interrupt is masked. */
	.macro	wait_for, offset
1:	ldr	x4, [x19, #\offset]
	cbnz	x4, 2f
	wfi
	msr	daifclr, #2
	isb
	msr	daifset, #2
	b	1b
2:
	.endm

work:
	mov	x10, #ROUNDS
1:	ldaxr	w11, [x20]
	cbnz	w11, 1b
	mov	w12, #1
	stxr	w11, w12, [x20]
	cbnz	w11, 1b
	ldr	x13, [x20, #COUNTER]
	mrs	x14, cntvct_el0
	add	x13, x13, #1
	str	x13, [x20, #COUNTER]
	stlr	wzr, [x20]
	subs	x10, x10, #1
	b.ne	1b
	mov	x4, #5000
	msr	cntv_tval_el0, x4
	mov	x4, #1
	msr	cntv_ctl_el0, x4
	wait_for 0
3:	ldr	x22, [x20, #CORES]
	cbz	x22, 3b
	add	x5, x21, #1
	cmp	x5, x22
	csel	x5, xzr, x5, eq
	mov	x4, #1 << 16
	lsl	x4, x4, x5
	orr	x4, x4, #SGI
	ldr	x5, =GICD
	str	w4, [x5, #0xf00]
	wait_for SENT
	ret

/* x0 in hexadecimal, on a line. */
say:
	mov	x2, #UART
	mov	x3, #28
1:	lsr	x1, x0, x3
	and	x1, x1, #15
	add	x1, x1, #'0'
	cmp	x1, #'9'
	b.ls	2f
	add	x1, x1, #'a' - '0' - 10
2:	strb	w1, [x2]
	subs	x3, x3, #4
	b.pl	1b
	mov	w1, #'\n'
	strb	w1, [x2]
	ret

on_interrupt:
	ldr	x1, =GICC
	ldr	w0, [x1, #0xc]
	and	w2, w0, #0x3ff
	cmp	w2, #TIMER
	b.eq	1f
	cmp	w2, #SGI
	b.ne	bad
	str	x0, [x19, #SENT]
	b	2f
1:	msr	cntv_ctl_el0, xzr
	mov	x2, #1
	str	x2, [x19]
2:	str	w0, [x1, #0x10]
	eret

	.balign	2048
vectors:
	.rept	5
	.balign	128
	b	bad
	.endr
	.balign	128
	b	on_interrupt
	.rept	10
	.balign	128
	b	bad
	.endr
	.ltorg
end:
