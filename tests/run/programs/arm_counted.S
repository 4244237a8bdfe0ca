/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arm_counted.S - both kinds of code, IT blocks, and what stops the engine */
	.syntax unified
	.arch armv7ve
	.fpu neon-vfpv4
	.global _start
	.arm
	.type _start, %function
_start:	mov	r0, #0
	mov	r1, #20
1:	add	r0, r0, r1
	subs	r1, r1, #1
	bne	1b
	blx	thumb
	ldr	r2, =word
	ldrexd	r4, r5, [r2]
	strexd	r6, r4, r5, [r2]
	yield
	wfi
	wfene
	bl	veneer
	mov	r7, #1
	mov	r0, #7
	svc	#0
veneer:	adr	r12, other + 1
	bx	r12
	.pool
	.thumb
	.thumb_func
	.type thumb, %function
thumb:	push	{r4-r7, lr}
	movs	r4, #0
2:	cmp	r4, #3
	itete	lt
	addlt	r0, r0, #1
	addge.w	r0, r0, #256
	movlt	r5, #1
	subge	r5, r4, r0
	itt	eq
	lsleq	r6, r0, #3
	ldreq.w	r3, [sp, #4]
	ittee	ne
	movne	r3, #2
	yieldne
	yieldeq
	moveq.w	r3, #7
	adds	r4, #1
	cmp	r4, #8
	it	ne
	bne	2b
	it	al
	nopal
	tbb	[pc, r1]
	.byte	(3f - .) / 2, 0
3:	vmov	s0, r0
	vcvt.f64.s32 d1, s0
	vmov.f64 d2, #0.5
	vmla.f64 d1, d2, d2
	vsqrt.f64 d1, d1
	vadd.i8	q8, q0, q1
	vmrs	r1, fpscr
	vmov	r2, r3, d1
	sdiv	r2, r2, r4
	pop	{r4-r7, pc}
	.thumb_func
	.type other, %function
other:	ldr.w	r3, =word
	setend	be
	ldr	r3, [r3]
	setend	le
	dmb	ish
	isb
	bx	lr
	.pool
	.data
	.balign	8
word:	.quad	0x0102030405060708
