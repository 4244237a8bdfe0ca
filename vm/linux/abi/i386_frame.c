/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * i386_frame.c - what a signal puts on the guest's stack, and takes back
 *
 * Two kinds of frame: one with struct siginfo and struct ucontext, for handlers
 * that asked for them (SA_SIGINFO), and an older one.  The registers of floating
 * point are as FSAVE has them, followed by the same as FXSAVE has them.
 *
 * Source: Linux, arch/x86/kernel/signal_32.c, fpu/regset.c there, and
 * uapi/asm/sigcontext.h.
 */
#include <errno.h>
#include <string.h>

#include "vm/arch/x86/guest.h"
#include "vm/linux/abi/abi.h"
#include "vm/linux/abi/i386_internal.h"
#include "vm/linux/abi/structs_32.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/process.h"

#define WANTS_INFO 4u			/* SA_SIGINFO */
#define HAS_RESTORER 0x4000000u		/* SA_RESTORER */

/* Flags that a program may set: AC OF DF TF SF ZF AF PF CF RF. */
#define PROGRAMS_FLAGS UINT32_C(0x50dd5)
#define HANDLER_CLEARS UINT32_C(0x10500)	/* RF DF TF */

/* pop %eax; mov $119, %eax; int $0x80, and mov $173, %eax; int $0x80. */
enum { RETURN_OLD = 0, RETURN_INFO = 8 };
const uint8_t i386_signal_code[16] = {
	0x58, 0xb8, 119, 0, 0, 0, 0xcd, 0x80,
	0xb8, 173, 0, 0, 0, 0xcd, 0x80, 0x00,
};

/* ------- the layouts ------- */

struct context {
	uint32_t gs, fs, es, ds;
	uint32_t di, si, bp, sp, bx, dx, cx, ax;
	uint32_t trap, error, ip, cs, flags, sp_at_signal, ss;
	uint32_t floats;	/* address, 0 if there is none */
	uint32_t old_mask, cr2;
};

struct old_frame {
	uint32_t return_to, number;
	struct context context;
	uint8_t unused[624];
	uint32_t mask_high;
	uint8_t code[8];
};

struct info_frame {
	uint32_t return_to, number, info_at, ucontext_at;
	uint8_t info[128];
	uint32_t flags, link;
	struct { uint32_t base, flags, size; } stack;
	struct context context;
	uint64_t mask;
	uint8_t code[8];
} __attribute__((packed, aligned(4)));

struct floats {
	/* As FSAVE has it. */
	uint32_t control, status, tags, ip, cs, operand, ds;
	uint8_t st[8][10];
	uint16_t status_again, has_more;	/* 0: what follows is there */
	/* As FXSAVE has it: 64 bytes are aligned here. */
	uint16_t fx_control, fx_status;
	uint8_t fx_tags, reserved;
	uint16_t opcode;
	uint64_t fx_ip, fx_operand;
	uint32_t mxcsr, mxcsr_mask;
	uint8_t fx_st[8][16];
	uint8_t xmm[8][16];
	uint8_t more[224];
} __attribute__((packed, aligned(4)));

#define FX_AT offsetof(struct floats, fx_control)

_Static_assert(sizeof(struct context) == 88, "struct sigcontext_32");
_Static_assert(sizeof(struct old_frame) == 732, "struct sigframe_ia32");
_Static_assert(sizeof(struct info_frame) == 268, "struct rt_sigframe_ia32");
_Static_assert(offsetof(struct info_frame, mask) - 4 == I386_FRAME_MASK,
	       "the mask, behind the return address");
_Static_assert(FX_AT == 112 && sizeof(struct floats) == 624, "_fpstate_32");

/* ------- registers ------- */

static const struct reg_table *table_of(const struct linux_process *process)
{
	return vm_reg_table(process->vm);
}

static uint8_t *bytes_of(struct linux_process *process, struct reg_file *regs,
			 unsigned reg)
{
	return regs->bytes + table_of(process)->regs[reg].offset;
}

static uint32_t get(struct linux_process *process, const struct reg_file *regs,
		    unsigned reg)
{
	return (uint32_t)reg_get(table_of(process), regs, reg);
}

static void set(struct linux_process *process, struct reg_file *regs,
		unsigned reg, uint64_t value)
{
	reg_set(table_of(process), regs, reg, value);
}

/* In the order of struct context; the program cannot change CS and SS. */
static const uint8_t saved[] = {
	I386_GS, I386_FS, I386_ES, I386_DS, I386_EDI, I386_ESI, I386_EBP,
	I386_ESP, I386_EBX, I386_EDX, I386_ECX, I386_EAX,
};
#define SELECTORS 4u

/* ------- floating point ------- */

#define UPPER_HALF 0xffff0000u	/* what FSAVE leaves above 16 bits */

static void save_floats(struct linux_process *process, struct reg_file *regs,
			struct floats *out)
{
	uint32_t tags = get(process, regs, I386_FPTAG);

	memset(out, 0, sizeof(*out));
	out->fx_control = (uint16_t)get(process, regs, I386_FPCW);
	out->fx_status = (uint16_t)get(process, regs, I386_FPSW);
	out->status_again = out->fx_status;
	out->control = out->fx_control | UPPER_HALF;
	out->status = out->fx_status | UPPER_HALF;
	out->tags = tags | UPPER_HALF;
	out->ip = get(process, regs, I386_FIP);
	out->operand = get(process, regs, I386_FDP);
	out->fx_ip = out->ip;
	out->fx_operand = out->operand;
	out->cs = get(process, regs, I386_CS);
	out->ds = get(process, regs, I386_DS) | UPPER_HALF;
	out->mxcsr = get(process, regs, I386_MXCSR);
	out->mxcsr_mask = 0xffff;
	for (unsigned i = 0; i < 8; i++) {
		if ((tags >> 2 * i & 3) != 3)
			out->fx_tags |= (uint8_t)(1u << i);
		memcpy(out->st[i], bytes_of(process, regs, I386_ST0 + i), 10);
		memcpy(out->fx_st[i], out->st[i], 10);
		memcpy(out->xmm[i], bytes_of(process, regs, I386_XMM0 + i), 16);
	}
}

/* Linux takes x87 from what FSAVE has, the rest from the other. */
static void load_floats(struct linux_process *process, struct reg_file *regs,
			const struct floats *from)
{
	set(process, regs, I386_FPCW, from->control & 0xffff);
	set(process, regs, I386_FPSW, from->status & 0xffff);
	set(process, regs, I386_FPTAG, from->tags & 0xffff);
	set(process, regs, I386_FIP, from->ip);
	set(process, regs, I386_FDP, from->operand);
	set(process, regs, I386_MXCSR, from->mxcsr);
	for (unsigned i = 0; i < 8; i++) {
		memcpy(bytes_of(process, regs, I386_ST0 + i), from->st[i], 10);
		memcpy(bytes_of(process, regs, I386_XMM0 + i), from->xmm[i],
		       16);
	}
}

/* As a program finds it when it starts, and a handler when it is entered. */
static void reset_floats(struct linux_process *process, struct reg_file *regs)
{
	static const struct floats fresh = {
		.control = 0x37f, .tags = 0xffff, .mxcsr = 0x1f80,
	};

	load_floats(process, regs, &fresh);
}

/* ------- entering a handler ------- */

/* Where the frame goes, and floating point above it; 0: there is no room. */
static guest_addr place(const struct signal_entry *entry, guest_addr sp,
			size_t size, guest_addr *floats)
{
	const struct guest_stack *stack = entry->stack;

	if (entry->enters_stack)
		sp = stack->base + stack->size;
	*floats = ((sp - (sizeof(struct floats) - FX_AT)) & ~UINT64_C(63)) -
		  FX_AT;
	/* So that the handler's arguments are aligned to 16 bytes. */
	sp = ((*floats - size + 4) & ~UINT64_C(15)) - 4;
	if ((entry->enters_stack || entry->is_on_stack) &&
	    (sp <= stack->base || sp - stack->base > stack->size))
		return 0;
	return sp;
}

static void fill_context(struct linux_process *process,
			 struct context *context, const struct reg_file *regs,
			 const struct signal_entry *entry, guest_addr floats)
{
	uint32_t values[sizeof(saved)];

	for (unsigned i = 0; i < sizeof(saved); i++)
		values[i] = get(process, regs, saved[i]);
	memcpy(context, values, sizeof(values));
	context->trap = (uint32_t)entry->trap->trap;
	context->error = (uint32_t)entry->trap->error;
	context->ip = get(process, regs, I386_EIP);
	context->cs = get(process, regs, I386_CS);
	context->flags = get(process, regs, I386_EFLAGS);
	context->sp_at_signal = get(process, regs, I386_ESP);
	context->ss = get(process, regs, I386_SS);
	context->floats = (uint32_t)floats;
	context->old_mask = (uint32_t)entry->mask;
	context->cr2 = (uint32_t)entry->trap->address;
}

static uint32_t return_address(const struct linux_process *process,
			       const struct signal_entry *entry, unsigned code)
{
	return entry->action->flags & HAS_RESTORER ?
		       (uint32_t)entry->action->restorer :
		       (uint32_t)process->signal_page + code;
}

/* Registers of the handler's first instruction. */
static void enter(struct linux_process *process, struct reg_file *regs,
		  const struct signal_entry *entry, guest_addr sp,
		  const uint64_t second[2])
{
	reset_floats(process, regs);
	set(process, regs, I386_EAX, (uint64_t)entry->info->si_signo);
	set(process, regs, I386_EDX, second[0]);
	set(process, regs, I386_ECX, second[1]);
	set(process, regs, I386_ESP, sp);
	set(process, regs, I386_EIP, entry->action->handler);
	set(process, regs, I386_DS, X86_USER_DS);
	set(process, regs, I386_ES, X86_USER_DS);
	set(process, regs, I386_EFLAGS,
	    get(process, regs, I386_EFLAGS) & ~HANDLER_CLEARS);
	vm_set_registers(process->vm, regs);
}

static int put_floats(struct linux_process *process, struct reg_file *regs,
		      guest_addr at)
{
	struct floats floats;

	save_floats(process, regs, &floats);
	return copy_out(process, at, &floats, sizeof(floats));
}

static int push_old(struct linux_process *process, struct reg_file *regs,
		    const struct signal_entry *entry)
{
	static const uint64_t none[2];
	struct old_frame frame;
	guest_addr floats;
	guest_addr sp = place(entry, get(process, regs, I386_ESP),
			      sizeof(frame), &floats);

	if (!sp || put_floats(process, regs, floats))
		return -EFAULT;
	memset(&frame, 0, sizeof(frame));
	frame.return_to = return_address(process, entry, RETURN_OLD);
	frame.number = (uint32_t)entry->info->si_signo;
	fill_context(process, &frame.context, regs, entry, floats);
	frame.mask_high = (uint32_t)(entry->mask >> 32);
	memcpy(frame.code, i386_signal_code + RETURN_OLD, sizeof(frame.code));
	if (copy_out(process, sp, &frame, sizeof(frame)))
		return -EFAULT;
	enter(process, regs, entry, sp, none);
	return 0;
}

static int push_info(struct linux_process *process, struct reg_file *regs,
		     const struct signal_entry *entry)
{
	struct info_frame frame;
	uint64_t second[2];
	guest_addr floats;
	guest_addr sp = place(entry, get(process, regs, I386_ESP),
			      sizeof(frame), &floats);

	if (!sp || put_floats(process, regs, floats))
		return -EFAULT;
	second[0] = sp + offsetof(struct info_frame, info);
	second[1] = sp + offsetof(struct info_frame, flags);
	memset(&frame, 0, sizeof(frame));
	frame.return_to = return_address(process, entry, RETURN_INFO);
	frame.number = (uint32_t)entry->info->si_signo;
	frame.info_at = (uint32_t)second[0];
	frame.ucontext_at = (uint32_t)second[1];
	layout_out(&i386_layouts[S_SIGINFO], frame.info, entry->info);
	layout_out(&i386_layouts[S_STACK], &frame.stack, entry->stack);
	fill_context(process, &frame.context, regs, entry, floats);
	frame.mask = entry->mask;
	memcpy(frame.code, i386_signal_code + RETURN_INFO, sizeof(frame.code));
	if (copy_out(process, sp, &frame, sizeof(frame)))
		return -EFAULT;
	enter(process, regs, entry, sp, second);
	return 0;
}

int i386_frame_push(struct linux_process *process,
		    const struct signal_entry *entry)
{
	struct reg_file regs;

	vm_registers(process->vm, &regs);
	return entry->action->flags & WANTS_INFO ?
		       push_info(process, &regs, entry) :
		       push_old(process, &regs, entry);
}

/* ------- returning from it ------- */

static int restore_floats(struct linux_process *process, struct reg_file *regs,
			  guest_addr from)
{
	struct floats floats;

	if (!from) {
		reset_floats(process, regs);
		return 0;
	}
	if (copy_in(process, &floats, from, sizeof(floats)) ||
	    floats.mxcsr & ~0xffffu)
		return -EFAULT;
	load_floats(process, regs, &floats);
	return 0;
}

/* Selectors are loaded: FS and GS get the bases of their segments. */
static void restore_selectors(struct linux_process *process,
			      struct reg_file *regs)
{
	static const uint8_t bases[] = { I386_FS_BASE, I386_GS_BASE };

	for (unsigned i = 0; i < 2; i++) {
		unsigned entry = x86_tls_entry(
			(uint16_t)get(process, regs, I386_FS + i));
		uint64_t descriptor = 0;

		if (entry < X86_TLS_COUNT)
			descriptor = reg_get(table_of(process), regs,
					     I386_TLS0 + entry);
		set(process, regs, bases[i], x86_segment_base(descriptor));
	}
}

static int restore(struct linux_process *process,
		   const struct context *context)
{
	uint32_t values[sizeof(saved)];
	struct reg_file regs;

	vm_registers(process->vm, &regs);
	if (restore_floats(process, &regs, context->floats))
		return -EFAULT;
	memcpy(values, context, sizeof(values));
	for (unsigned i = 0; i < sizeof(saved); i++)
		set(process, &regs, saved[i],
		    i < SELECTORS && values[i] ? values[i] | 3 : values[i]);
	restore_selectors(process, &regs);
	set(process, &regs, I386_EIP, context->ip);
	set(process, &regs, I386_EFLAGS,
	    (get(process, &regs, I386_EFLAGS) & ~PROGRAMS_FLAGS) |
	    (context->flags & PROGRAMS_FLAGS));
	vm_set_registers(process->vm, &regs);
	return 0;
}

/* The return from the handler, and a pop, have taken two words. */
static int pop_old(struct linux_process *process, struct signal_return *out)
{
	guest_addr sp = vm_reg(process->vm, I386_ESP) - 8;
	struct old_frame frame;

	if (copy_in(process, &frame, sp, sizeof(frame)) ||
	    restore(process, &frame.context))
		return -EFAULT;
	out->mask = frame.context.old_mask | (uint64_t)frame.mask_high << 32;
	out->sp = frame.context.sp;
	out->keeps_stack = true;
	return 0;
}

static int pop_info(struct linux_process *process, struct signal_return *out)
{
	guest_addr sp = vm_reg(process->vm, I386_ESP) - 4;
	struct info_frame frame;

	if (copy_in(process, &frame, sp, sizeof(frame)) ||
	    restore(process, &frame.context))
		return -EFAULT;
	out->mask = frame.mask;
	layout_in(&i386_layouts[S_STACK], &out->stack, &frame.stack);
	out->sp = frame.context.sp;
	return 0;
}

int i386_frame_pop(struct linux_process *process, struct signal_return *out)
{
	const struct linux_call *row = abi_call(process->abi,
						process->thread->number);

	return row == &linux_calls[CALL_sigreturn] ? pop_old(process, out) :
						     pop_info(process, out);
}
