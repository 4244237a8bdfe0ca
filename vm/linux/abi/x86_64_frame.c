/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86_64_frame.c - what a signal puts on the guest's stack, and takes back
 *
 * The layouts are the x86-64 kernel's for a processor without XSAVE: struct
 * rt_sigframe with the floating-point registers above it as FXSAVE has them
 * (Intel SDM volume 1, section 10.5.1).
 */
#include <errno.h>
#include <string.h>

#include "vm/linux/abi/abi.h"
#include "vm/linux/abi/x86_64_internal.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/process.h"

#define RED_ZONE 128

/* Flags that a program may set: AC OF DF TF SF ZF AF PF CF RF. */
#define PROGRAMS_FLAGS UINT64_C(0x50dd5)
#define HANDLER_CLEARS UINT64_C(0x10500)	/* RF DF TF */

/* UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS */
#define CONTEXT_FLAGS 6

struct context {
	uint64_t r8_to_r15[8];
	uint64_t di, si, bp, bx, dx, ax, cx, sp, ip, flags;
	uint16_t cs, gs, fs, ss;
	uint64_t error, trap, old_mask, cr2;
	uint64_t fp_state;	/* address, 0 if there is none */
	uint64_t reserved[8];
};

struct frame {
	uint64_t return_to;
	uint64_t uc_flags, uc_link;
	struct guest_stack stack;
	struct context context;
	uint64_t mask;
	uint8_t info[128];
};

struct fxsave {
	uint16_t control, status;
	uint8_t tags, reserved;
	uint16_t opcode;
	uint64_t ip, dp;
	uint32_t mxcsr, mxcsr_mask;
	uint8_t st[8][16];
	uint8_t xmm[16][16];
	uint8_t unused[96];
};

_Static_assert(sizeof(struct frame) == 440, "struct rt_sigframe");
_Static_assert(offsetof(struct frame, mask) - 8 == FRAME_MASK,
	       "the mask, behind the return address");
_Static_assert(sizeof(struct fxsave) == 512, "FXSAVE");

/* Which register each number of struct context's order is. */
static const uint8_t general[18] = {
	X86_R8, X86_R9, X86_R10, X86_R11, X86_R12, X86_R13, X86_R14, X86_R15,
	X86_RDI, X86_RSI, X86_RBP, X86_RBX, X86_RDX, X86_RAX, X86_RCX,
	X86_RSP, X86_RIP, X86_RFLAGS,
};

static uint8_t *bytes_of(struct linux_process *process, struct reg_file *regs,
			 unsigned reg)
{
	return regs->bytes + vm_reg_table(process->vm)->regs[reg].offset;
}

static uint64_t get(struct linux_process *process, const struct reg_file *regs,
		    unsigned reg)
{
	return reg_get(vm_reg_table(process->vm), regs, reg);
}

static void set(struct linux_process *process, struct reg_file *regs,
		unsigned reg, uint64_t value)
{
	reg_set(vm_reg_table(process->vm), regs, reg, value);
}

/* ------- floating point ------- */

/* The full tag of a register that is in use. */
static unsigned full_tag(const uint8_t *st)
{
	uint64_t mantissa;
	unsigned exponent = (st[8] | st[9] << 8) & 0x7fff;

	memcpy(&mantissa, st, sizeof(mantissa));
	if (!exponent && !mantissa)
		return 1;
	if (!exponent || exponent == 0x7fff || !(mantissa >> 63))
		return 2;
	return 0;
}

static void save_fp(struct linux_process *process, struct reg_file *regs,
		    struct fxsave *out)
{
	unsigned tags = (unsigned)get(process, regs, X86_FPTAG);

	memset(out, 0, sizeof(*out));
	out->control = (uint16_t)get(process, regs, X86_FPCW);
	out->status = (uint16_t)get(process, regs, X86_FPSW);
	out->mxcsr = (uint32_t)get(process, regs, X86_MXCSR);
	out->mxcsr_mask = 0xffff;
	out->ip = get(process, regs, X86_FIP);
	out->dp = get(process, regs, X86_FDP);
	for (unsigned i = 0; i < 8; i++) {
		if ((tags >> 2 * i & 3) != 3)
			out->tags |= (uint8_t)(1u << i);
		memcpy(out->st[i], bytes_of(process, regs, X86_ST0 + i), 10);
	}
	for (unsigned i = 0; i < 16; i++)
		memcpy(out->xmm[i], bytes_of(process, regs, X86_XMM0 + i), 16);
}

static void load_fp(struct linux_process *process, struct reg_file *regs,
		    const struct fxsave *from)
{
	unsigned top = from->status >> 11 & 7;
	unsigned tags = 0;

	for (unsigned i = 0; i < 8; i++) {
		/* Tags are of physical registers, contents by the stack. */
		const uint8_t *st = from->st[(i - top) & 7];
		unsigned tag = from->tags >> i & 1 ? full_tag(st) : 3;

		tags |= tag << 2 * i;
		memcpy(bytes_of(process, regs, X86_ST0 + i), from->st[i], 10);
	}
	for (unsigned i = 0; i < 16; i++)
		memcpy(bytes_of(process, regs, X86_XMM0 + i), from->xmm[i],
		       16);
	set(process, regs, X86_FPCW, from->control);
	set(process, regs, X86_FPSW, from->status);
	set(process, regs, X86_FPTAG, tags);
	set(process, regs, X86_MXCSR, from->mxcsr);
	set(process, regs, X86_FIP, from->ip);
	set(process, regs, X86_FDP, from->dp);
}

/* As a program finds it when it starts, and a handler when it is entered. */
static void reset_fp(struct linux_process *process, struct reg_file *regs)
{
	static const struct fxsave fresh = { .control = 0x37f,
					     .mxcsr = 0x1f80 };

	load_fp(process, regs, &fresh);
}

/* ------- entering a handler ------- */

/* Where the frame goes, and the floating-point state above it. */
static guest_addr place(const struct signal_entry *entry, guest_addr sp,
			guest_addr *fp)
{
	const struct guest_stack *stack = entry->stack;

	sp -= RED_ZONE;
	if (entry->enters_stack)
		sp = stack->base + stack->size;
	*fp = (sp - sizeof(struct fxsave)) & ~UINT64_C(63);
	sp = ((*fp - sizeof(struct frame)) & ~UINT64_C(15)) - 8;
	if ((entry->enters_stack || entry->is_on_stack) &&
	    (sp <= stack->base || sp - stack->base > stack->size))
		return 0;	/* no room */
	return sp;
}

static void fill_frame(struct linux_process *process, struct frame *frame,
		       const struct reg_file *regs,
		       const struct signal_entry *entry)
{
	struct context *context = &frame->context;
	uint64_t values[18];

	memset(frame, 0, sizeof(*frame));
	frame->return_to = entry->action->restorer;
	frame->uc_flags = CONTEXT_FLAGS;
	frame->stack = *entry->stack;
	frame->mask = entry->mask;
	for (int i = 0; i < 18; i++)
		values[i] = get(process, regs, general[i]);
	memcpy(context, values, sizeof(values));
	context->cs = (uint16_t)get(process, regs, X86_CS);
	context->ss = (uint16_t)get(process, regs, X86_SS);
	context->error = entry->trap->error;
	context->trap = entry->trap->trap;
	context->cr2 = entry->trap->address;
	context->old_mask = entry->mask;
	memcpy(frame->info, entry->info, sizeof(frame->info));
}

/* Registers of the handler's first instruction. */
static void enter(struct linux_process *process, struct reg_file *regs,
		  const struct signal_entry *entry, guest_addr sp)
{
	reset_fp(process, regs);
	set(process, regs, X86_RDI, (uint64_t)entry->info->si_signo);
	set(process, regs, X86_RSI, sp + offsetof(struct frame, info));
	set(process, regs, X86_RDX, sp + offsetof(struct frame, uc_flags));
	set(process, regs, X86_RAX, 0);
	set(process, regs, X86_RSP, sp);
	set(process, regs, X86_RIP, entry->action->handler);
	set(process, regs, X86_RFLAGS,
	    get(process, regs, X86_RFLAGS) & ~HANDLER_CLEARS);
	vm_set_registers(process->vm, regs);
}

int x86_64_frame_push(struct linux_process *process,
		      const struct signal_entry *entry)
{
	struct reg_file regs;
	struct frame frame;
	struct fxsave fx;
	guest_addr sp, fp;

	vm_registers(process->vm, &regs);
	sp = place(entry, get(process, &regs, X86_RSP), &fp);
	if (!sp || !entry->action->restorer)
		return -EFAULT;
	fill_frame(process, &frame, &regs, entry);
	frame.context.fp_state = fp;
	save_fp(process, &regs, &fx);
	if (copy_out(process, fp, &fx, sizeof(fx)) ||
	    copy_out(process, sp, &frame, sizeof(frame)))
		return -EFAULT;
	enter(process, &regs, entry, sp);
	return 0;
}

/* ------- returning from it ------- */

static int restore_fp(struct linux_process *process, struct reg_file *regs,
		      guest_addr from)
{
	struct fxsave fx;

	if (!from) {
		reset_fp(process, regs);
		return 0;
	}
	if (copy_in(process, &fx, from, sizeof(fx)) || fx.mxcsr & ~0xffffu)
		return -EFAULT;
	load_fp(process, regs, &fx);
	return 0;
}

static int restore(struct linux_process *process, const struct frame *frame)
{
	const struct context *context = &frame->context;
	uint64_t values[18], old_flags;
	struct reg_file regs;

	vm_registers(process->vm, &regs);
	old_flags = get(process, &regs, X86_RFLAGS);
	if (restore_fp(process, &regs, context->fp_state))
		return -EFAULT;
	memcpy(values, context, sizeof(values));
	for (int i = 0; i < 17; i++)
		set(process, &regs, general[i], values[i]);
	set(process, &regs, X86_RFLAGS,
	    (old_flags & ~PROGRAMS_FLAGS) | (context->flags & PROGRAMS_FLAGS));
	vm_set_registers(process->vm, &regs);
	return 0;
}

int x86_64_frame_pop(struct linux_process *process, struct signal_return *out)
{
	/* The return from the handler has taken the return address. */
	guest_addr sp = vm_reg(process->vm, X86_RSP) - 8;
	struct frame frame;

	if (copy_in(process, &frame, sp, sizeof(frame)) ||
	    restore(process, &frame))
		return -EFAULT;
	out->mask = frame.mask;
	out->stack = frame.stack;
	out->sp = frame.context.sp;
	return 0;
}
