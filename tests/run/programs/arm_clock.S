/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arm_clock.S - asks the counter, also where conditions do not hold */
	.syntax unified
	.arch armv7ve
	.global _start
	.thumb
	.thumb_func
	.type _start, %function
_start:	mrrc	p15, 1, r0, r1, c14
	mrc	p15, 0, r2, c14, c0, 0
	cmp	r2, r2
	itete	eq
	mrrceq	p15, 1, r3, r4, c14
	mrrcne	p15, 1, r5, r6, c14
	mrceq	p15, 0, r6, c14, c0, 0
	mrcne	p15, 0, r5, c14, c0, 0
	blx	1f
	movs	r7, #1
	mov	r0, r2
	svc	#0
	.arm
1:	mrrcne	p15, 1, r2, r5, c14
	subs	r8, r3, r0
	sbcs	r8, r4, r1
	movhs	r2, #9
	bx	lr
