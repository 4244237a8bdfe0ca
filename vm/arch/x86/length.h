/* SPDX-License-Identifier: GPL-2.0-or-later */
/* length.h - how long an instruction of x86-64 is */
#ifndef CPREC_VM_ARCH_X86_LENGTH_H
#define CPREC_VM_ARCH_X86_LENGTH_H

#include <stddef.h>
#include <stdint.h>

#define X86_INSN_MOST 15u	/* bytes */

/*
 * Bytes of the instruction at `code`, of which there are `size`; 0 if it goes
 * beyond them, or if it takes a disassembler to tell: it may be rare or
 * invalid.  An instruction that the processor refuses can have a length.
 */
size_t x86_length(const uint8_t *code, size_t size);

#endif
