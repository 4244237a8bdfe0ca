/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jump_stubs.c - see jump_stubs.h */
#include "formats/jump_stubs.h"

#include <string.h>

#include "formats/registers.h"

/* ------- x86 ------- */

/*
 * Skips the mark of a branch's target and the prefix for bounds: neither need
 * be there.  Then it must be a jump of six bytes: NULL if they are not.
 */
static const uint8_t *find_jump(const struct jump_stub *stub, uint8_t mark)
{
	const uint8_t marked[] = { 0xf3, 0x0f, 0x1e, mark };
	const uint8_t *at = stub->code, *end = at + stub->size;

	if (stub->size >= sizeof(marked) &&
	    !memcmp(at, marked, sizeof(marked)))
		at += sizeof(marked);
	at += at < end && *at == 0xf2;
	return end - at >= 6 && at[0] == 0xff ? at : NULL;
}

static uint64_t distance_in(const uint8_t *jump)
{
	int32_t distance;

	memcpy(&distance, jump + 2, sizeof(distance));
	return (uint64_t)(int64_t)distance;
}

/* jmp *slot(%rip) */
static bool slot_of_x86_64(const struct jump_stub *stub, uint64_t *out)
{
	const uint8_t *jump = find_jump(stub, 0xfa);

	if (!jump || jump[1] != 0x25)
		return false;
	*out = stub->addr + (uint64_t)(jump + 6 - stub->code) +
	       distance_in(jump);
	return true;
}

/* jmp *slot; jmp *slot(%ebx) */
static bool slot_of_i386(const struct jump_stub *stub, uint64_t *out)
{
	const uint8_t *jump = find_jump(stub, 0xfb);

	if (!jump || (jump[1] != 0x25 && (jump[1] != 0xa3 || !stub->table)))
		return false;
	*out = (uint32_t)(distance_in(jump) +
			  (jump[1] == 0xa3 ? stub->table : 0));
	return true;
}

/* ------- Arm ------- */

/* bti c; adrp x16, slot; ldr x17, [x16, slot]: the first need not be there. */
static bool slot_of_arm64(const struct jump_stub *stub, uint64_t *out)
{
	const uint32_t bti = 0xd503245f;
	uint32_t words[3];
	size_t at = 0;
	uint64_t pages;

	if (stub->size < sizeof(words))
		return false;
	memcpy(words, stub->code, sizeof(words));
	at += words[0] == bti;
	if ((words[at] & 0x9f00001f) != 0x90000010 ||
	    (words[at + 1] & 0xffc003ff) != 0xf9400211)
		return false;
	/* 21 bits with their sign. */
	pages = (uint64_t)((words[at] >> 5 & 0x7ffff) << 2 |
			   (words[at] >> 29 & 3));
	pages = (pages ^ 0x100000) - 0x100000;
	*out = ((stub->addr + 4 * at) & ~UINT64_C(0xfff)) + (pages << 12) +
	       8 * (words[at + 1] >> 10 & 0xfff);
	return true;
}

/* A constant of 8 bits, rotated to the right by twice another of 4. */
static uint32_t constant_in(uint32_t word)
{
	unsigned by = word >> 7 & 30;
	uint32_t value = word & 0xff;

	return by ? value >> by | value << (32 - by) : value;
}

/*
 * add ip, pc, #; add ip, ip, #, once or twice; ldr pc, [ip, #]!.  In front of
 * it "bx pc; nop" may come from Thumb code.
 */
static bool slot_of_arm(const struct jump_stub *stub, uint64_t *out)
{
	const uint32_t from_thumb = 0x46c04778;
	uint32_t words[JUMP_STUB_MOST / 4] = { 0 };
	unsigned at = 0, count = (unsigned)stub->size / 4;
	uint32_t slot;

	if (count > JUMP_STUB_MOST / 4)
		count = JUMP_STUB_MOST / 4;
	memcpy(words, stub->code, 4 * count);
	at += count && words[0] == from_thumb;
	if (at == count || (words[at] & 0xfffff000) != 0xe28fc000)
		return false;
	slot = (uint32_t)stub->addr + 4 * at + 8 + constant_in(words[at]);
	while (++at < count && (words[at] & 0xfffff000) == 0xe28cc000)
		slot += constant_in(words[at]);
	if (at == count || (words[at] & 0xfffff000) != 0xe5bcf000)
		return false;
	*out = (uint32_t)(slot + (words[at] & 0xfff));
	return true;
}

/* ------- all of them ------- */

bool jump_stub_slot(unsigned arch, const struct jump_stub *stub, uint64_t *out)
{
	static bool (*const kinds[])(const struct jump_stub *, uint64_t *) = {
		[ARCH_X86_64] = slot_of_x86_64, [ARCH_I386] = slot_of_i386,
		[ARCH_AARCH64] = slot_of_arm64, [ARCH_ARM] = slot_of_arm,
	};

	return arch < sizeof(kinds) / sizeof(kinds[0]) && kinds[arch] &&
	       kinds[arch](stub, out);
}
