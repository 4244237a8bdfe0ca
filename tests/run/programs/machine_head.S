/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_head.S - what a kernel's image begins with: the rest is from `start`
 * to `end`
 *
 * Source: Linux, Documentation/arch/arm64/booting.rst.
 */
	.arch armv8-a
	.text
head:
	b	start
	.long	0
	.quad	0			/* offset */
	.quad	end - head		/* size */
	.quad	0xa			/* flags: 4 KiB pages, anywhere */
	.quad	0, 0, 0
	.ascii	"ARM\x64"
	.long	0

	.macro	address, reg, symbol
	adrp	\reg, \symbol
	add	\reg, \reg, :lo12:\symbol
	.endm
