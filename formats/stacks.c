/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stacks.c - see stacks.h */
#include "formats/stacks.h"

#include "formats/registers.h"
#include "formats/tables_arm.h"
#include "formats/tables_arm64.h"
#include "formats/tables_i386.h"

/* mov $15, %rax (or %eax); syscall: rt_sigreturn. */
static const uint8_t x86_sigreturn[] = {
	0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05,
};

/* Of struct ucontext: the registers begin behind flags, link and stack. */
#define SAVED(n) (40 + 8 * (n))

static const uint16_t x86_saved[] = {
	[X86_R8] = SAVED(0), [X86_R9] = SAVED(1), [X86_R10] = SAVED(2),
	[X86_R11] = SAVED(3), [X86_R12] = SAVED(4), [X86_R13] = SAVED(5),
	[X86_R14] = SAVED(6), [X86_R15] = SAVED(7), [X86_RDI] = SAVED(8),
	[X86_RSI] = SAVED(9), [X86_RBP] = SAVED(10), [X86_RBX] = SAVED(11),
	[X86_RDX] = SAVED(12), [X86_RAX] = SAVED(13), [X86_RCX] = SAVED(14),
	[X86_RSP] = SAVED(15), [X86_RIP] = SAVED(16),
};

/* Bytes of an indirect call from its ModR/M on; 0 if it is none. */
static size_t indirect_size(const uint8_t *modrm)
{
	unsigned mode = *modrm >> 6, operand = *modrm & 7;
	size_t size = 1;

	if ((*modrm >> 3 & 7) != 2)
		return 0;
	if (mode == 3)
		return size;
	if (operand == 4)
		size++;			/* SIB */
	if (mode == 1)
		return size + 1;
	if (mode == 2 || operand == 5 ||
	    (operand == 4 && (modrm[1] & 7) == 5))
		size += 4;
	return size;
}

/* call rel32, or call of a register or memory. */
bool stack_x86_is_call(const uint8_t *before, size_t size)
{
	if (size >= 5 && before[size - 5] == 0xe8)
		return true;
	for (size_t length = 2; length <= 7 && length <= size; length++) {
		const uint8_t *call = before + size - length;

		if (call[0] == 0xff && indirect_size(call + 1) == length - 1)
			return true;
	}
	return false;
}

static const struct stack_table x86_64_table = {
	.fp = X86_RBP,
	.ends_frame = true,
	.link = 8,
	.call_size = 8,
	.returns = { { x86_sigreturn, sizeof(x86_sigreturn), 0,
		       { { 0, 0 }, { 7, 0 } } } },
	.saved = x86_saved,
	.saved_count = sizeof(x86_saved) / sizeof(x86_saved[0]),
	.is_call = stack_x86_is_call,
};

const struct stack_table *stack_table(unsigned arch)
{
	switch (arch_of_code(arch)) {
	case ARCH_X86_64:
		return &x86_64_table;
	case ARCH_AARCH64:
		return &stack_table_arm64;
	case ARCH_I386:
		return &stack_table_i386;
	case ARCH_ARM:
	case ARCH_CORTEX_M:	/* numbers its registers alike */
		return &stack_table_arm;
	default:
		return NULL;
	}
}
