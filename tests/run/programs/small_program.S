/* SPDX-License-Identifier: GPL-2.0-or-later */
/* small_program.S - the programs of small_linux.c: the second one replaces the
 * first */
	.macro	call, number
	mov	x8, #\number
	svc	#0
	.endm

	.text
	.globl	_start
_start:
	mov	x0, #1
	adr	x1, said
	mov	x2, #4
	call	64
	mov	x0, #9
	adr	x1, said
	mov	x2, #3
	call	64
	mov	x0, #1
	mov	x1, #10
	call	129			/* kill: the handler is entered */
	mov	x0, #9
	adr	x1, said
	mov	x2, #2
	call	64
	adr	x0, said
	mov	x1, #0
	mov	x2, #0
	call	221
	b	.
	.globl	user_handler
user_handler:
	call	172
	call	139
	b	.
	.globl	user_exec
user_exec:
	call	172
	mov	x0, #1
	adr	x1, said
	mov	x2, #4
	call	64
	mov	x0, #3
	call	94
said:	.ascii	"said\n"
