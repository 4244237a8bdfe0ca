/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * i386_calls.c - calls that i386 alone has: segments of threads; results of
 * calls for several others
 *
 * Source: Linux, arch/x86/kernel/tls.c.
 */
#include <errno.h>
#include <string.h>

#include "formats/registers.h"
#include "vm/arch/x86/guest.h"
#include "vm/linux/abi/abi.h"
#include "vm/linux/abi/calls.h"
#include "vm/linux/abi/i386_internal.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/process.h"

/* ------- segments ------- */

/* struct user_desc */
struct segment {
	uint32_t entry, base, limit, flags;
};

enum {			/* bits of the flags */
	IS_32 = 1,
	CONTENTS = 6,	/* two bits: expands down, is code */
	READ_ONLY = 8,
	IN_PAGES = 16,
	NOT_PRESENT = 32,
	USABLE = 64,
};

#define ANY_ENTRY UINT32_MAX

/* Bits of a descriptor (Intel SDM volume 3, 3.4.5). */
#define ACCESSED (UINT64_C(1) << 40)
#define WRITABLE (UINT64_C(1) << 41)
#define CONTENTS_AT 42
#define NO_SYSTEM (UINT64_C(1) << 44)
#define OF_PROGRAMS (UINT64_C(3) << 45)
#define PRESENT (UINT64_C(1) << 47)
#define AVAILABLE (UINT64_C(1) << 52)
#define OPERANDS_32 (UINT64_C(1) << 54)
#define PAGES (UINT64_C(1) << 55)

/* Linux takes this, and all zeros, for "none". */
static bool is_empty(const struct segment *from)
{
	return !from->base && !from->limit &&
	       (!from->flags || from->flags == (READ_ONLY | NOT_PRESENT));
}

static uint64_t descriptor_of(const struct segment *from)
{
	uint64_t out = NO_SYSTEM | OF_PROGRAMS | ACCESSED;

	if (is_empty(from))
		return 0;
	out |= (from->limit & UINT64_C(0xffff)) |
	       (from->limit & UINT64_C(0xf0000)) << 32;
	out |= (from->base & UINT64_C(0xffffff)) << 16 |
	       (from->base & UINT64_C(0xff000000)) << 32;
	out |= (uint64_t)(from->flags & CONTENTS) / 2 << CONTENTS_AT;
	out |= from->flags & READ_ONLY ? 0 : WRITABLE;
	out |= from->flags & NOT_PRESENT ? 0 : PRESENT;
	out |= from->flags & IS_32 ? OPERANDS_32 : 0;
	out |= from->flags & IN_PAGES ? PAGES : 0;
	return out | (from->flags & USABLE ? AVAILABLE : 0);
}

static void describe(uint64_t descriptor, struct segment *out)
{
	out->base = x86_segment_base(descriptor);
	out->limit = (uint32_t)(descriptor & 0xffff) |
		     (uint32_t)(descriptor >> 32 & 0xf0000);
	out->flags = (uint32_t)(descriptor >> CONTENTS_AT & 3) * 2;
	out->flags |= descriptor & OPERANDS_32 ? IS_32 : 0;
	out->flags |= descriptor & WRITABLE ? 0 : READ_ONLY;
	out->flags |= descriptor & PAGES ? IN_PAGES : 0;
	out->flags |= descriptor & PRESENT ? 0 : NOT_PRESENT;
	out->flags |= descriptor & AVAILABLE ? USABLE : 0;
}

/* Not a segment that code could be in, or of 16 bits. */
static bool is_allowed(const struct segment *segment)
{
	return is_empty(segment) ||
	       ((segment->flags & IS_32) && (segment->flags & CONTENTS) < 4 &&
		!(segment->flags & NOT_PRESENT));
}

static bool is_entry(uint32_t entry)
{
	return entry - X86_TLS_FIRST < X86_TLS_COUNT;
}

static unsigned reg_of(uint32_t entry)
{
	return I386_TLS0 + entry - X86_TLS_FIRST;
}

int i386_take_tls(struct linux_process *process, uint64_t from,
		  struct guest_tls *out)
{
	struct segment segment;

	if (copy_in(process, &segment, from, sizeof(segment)))
		return -EFAULT;
	if (!is_entry(segment.entry) || !is_allowed(&segment))
		return -EINVAL;
	*out = (struct guest_tls){ reg_of(segment.entry),
				   descriptor_of(&segment) };
	return 0;
}

/* A free entry, for the program that did not name one. */
static int find_entry(struct linux_process *process, guest_addr at,
		      uint32_t *entry)
{
	uint32_t found = X86_TLS_FIRST;

	while (is_entry(found) && vm_reg(process->vm, reg_of(found)))
		found++;
	if (!is_entry(found))
		return -ESRCH;
	*entry = found;
	return copy_out(process, at, entry, sizeof(*entry));
}

int64_t sys_set_thread_area(struct linux_process *process,
			    const struct linux_call *row, const uint64_t *arg)
{
	struct segment segment;
	int rc;

	(void)row;
	if (process->abi != &abi_i386)
		return -ENOSYS;
	if (copy_in(process, &segment, arg[0], sizeof(segment)))
		return -EFAULT;
	if (!is_allowed(&segment))
		return -EINVAL;
	if (segment.entry == ANY_ENTRY) {
		rc = find_entry(process, arg[0], &segment.entry);
		if (rc)
			return rc;
	}
	if (!is_entry(segment.entry))
		return -EINVAL;
	vm_set_reg(process->vm, reg_of(segment.entry),
		   descriptor_of(&segment));
	process->thread->changed_registers = true;
	return 0;
}

int64_t sys_get_thread_area(struct linux_process *process,
			    const struct linux_call *row, const uint64_t *arg)
{
	struct segment segment;

	(void)row;
	if (process->abi != &abi_i386)
		return -ENOSYS;
	if (copy_in(process, &segment.entry, arg[0], sizeof(segment.entry)))
		return -EFAULT;
	if (!is_entry(segment.entry))
		return -EINVAL;
	describe(vm_reg(process->vm, reg_of(segment.entry)), &segment);
	return copy_out(process, arg[0], &segment, sizeof(segment));
}

/* ------- calls for several others ------- */

/* shmat(2) by ipc(2): the address is stored where the last argument says. */
int64_t i386_fold(struct linux_process *process, const struct linux_call *row,
		  const uint64_t *arg, int64_t result)
{
	const struct linux_call *called = abi_call(process->abi,
						   process->thread->number);
	bool failed = result < 0 && result >= -4095;

	if (failed || row != &linux_calls[CALL_shmat] ||
	    called != &linux_calls[CALL_ipc])
		return result;
	return word_out(process, arg[3], (uint64_t)result);
}
