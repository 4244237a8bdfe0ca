/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arm_frame.c - what a signal puts on the guest's stack, and takes back
 *
 * Two kinds of frame: struct ucontext alone, and behind struct siginfo, for
 * handlers that asked for it (SA_SIGINFO).
 *
 * Source: Linux, arch/arm/kernel/signal.c, signal.h and sigreturn_codes.S;
 * vfp/vfpmodule.c there, asm/ucontext.h and uapi/asm/sigcontext.h.
 */
#include <errno.h>
#include <string.h>

#include "formats/registers.h"
#include "vm/arch/arm/guest.h"
#include "vm/linux/abi/abi.h"
#include "vm/linux/abi/arm_internal.h"
#include "vm/linux/abi/structs_32.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/process.h"

#define WANTS_INFO 4u			/* SA_SIGINFO */
#define HAS_RESTORER 0x4000000u		/* SA_RESTORER */

/* For each kind of frame: of ARM code, and of Thumb. */
const uint32_t arm_signal_code[6] = {
	0xe3a07077,	/* mov	r7, #119: sigreturn(2) */
	0xef900077,	/* svc	#0x900077 */
	0xdf002777,	/* movs	r7, #119; svc #0 */
	0xe3a070ad,	/* mov	r7, #173: rt_sigreturn(2) */
	0xef9000ad,	/* svc	#0x9000ad */
	0xdf0027ad,	/* movs	r7, #173; svc #0 */
};
enum { CODE_THUMB = 2, CODE_INFO = 3 };

/* ------- the layouts ------- */

struct floats {
	uint32_t magic, size;
	uint64_t d[32];
	uint32_t fpscr, padding;
	uint32_t fpexc, fpinst, fpinst2, end_padding;
};
#define FLOATS_MAGIC 0x56465001u

/* FPEXC: the coprocessor is on, nothing is pending. */
#define FPEXC_ENABLED 0x40000000u

/* Fields of FPSCR that are 0 in a handler: length and stride of vectors. */
#define FPSCR_VECTORS 0x370000u

#define REGISTERS 16		/* r0 to pc */

/* Of CPSR, what programs cannot set; and the upper bits, flags and IT's. */
#define CPSR_MODE 0x1fu
#define CPSR_NO_IRQ 0x80u
#define CPSR_UPPER 0xff000000u

struct ucontext {
	uint32_t flags, link;
	struct {
		uint32_t base, flags, size;
	} stack;
	uint32_t trap, error, old_mask;
	uint32_t r[REGISTERS], cpsr;
	uint32_t address;	/* of the last fault */
	uint64_t mask;
	uint32_t mask_room[30];
	struct floats floats;
	uint32_t end;		/* 0: no more of them */
	uint8_t rest[512 - sizeof(struct floats) - 4];
};

/* What struct ucontext has there in frames without struct siginfo. */
#define NO_INFO 0x5ac3c35au

struct frame {
	struct ucontext context;
	uint32_t code[4];
};

struct info_frame {
	uint8_t info[128];
	struct frame frame;
};

_Static_assert(sizeof(struct floats) == 0x120, "struct vfp_sigframe");
_Static_assert(offsetof(struct ucontext, r) == 32, "struct sigcontext");
_Static_assert(offsetof(struct ucontext, mask) == 104, "uc_sigmask");
_Static_assert(offsetof(struct ucontext, floats) == 232, "uc_regspace");
_Static_assert(sizeof(struct ucontext) == 744, "struct ucontext");
_Static_assert(sizeof(struct info_frame) == 888, "struct rt_sigframe");
_Static_assert(offsetof(struct info_frame, frame.context.mask) ==
		       ARM_FRAME_MASK, "the mask");

/* ------- registers ------- */

static const struct reg_table *table_of(const struct linux_process *process)
{
	return vm_reg_table(process->vm);
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

/* ------- entering a handler ------- */

static void save_floats(struct linux_process *process, struct floats *out,
			const struct reg_file *regs)
{
	out->magic = FLOATS_MAGIC;
	out->size = sizeof(*out);
	for (unsigned i = 0; i < 32; i++)
		out->d[i] = reg_get(table_of(process), regs, ARM_D0 + i);
	out->fpscr = get(process, regs, ARM_FPSCR);
	out->fpexc = FPEXC_ENABLED;
}

static void fill(struct linux_process *process, struct frame *frame,
		 const struct reg_file *regs, const struct signal_entry *entry)
{
	struct ucontext *context = &frame->context;

	memset(frame, 0, sizeof(*frame));
	context->trap = (uint32_t)entry->trap->trap;
	context->error = (uint32_t)entry->trap->error;
	context->address = (uint32_t)entry->trap->address;
	context->old_mask = (uint32_t)entry->mask;
	context->mask = entry->mask;
	for (unsigned i = 0; i < REGISTERS; i++)
		context->r[i] = get(process, regs, ARM_R0 + i);
	context->cpsr = get(process, regs, ARM_CPSR);
	save_floats(process, &context->floats, regs);
}

/* Which of the pieces of code ends the handler. */
static unsigned code_of(const struct guest_action *action)
{
	return (action->flags & WANTS_INFO ? CODE_INFO : 0) +
	       (action->handler & 1 ? CODE_THUMB : 0);
}

/* Where it ends, which is also written behind the context. */
static uint32_t put_return(const struct linux_process *process,
			   struct frame *frame,
			   const struct guest_action *action)
{
	unsigned code = code_of(action);

	if (action->flags & HAS_RESTORER)
		return (uint32_t)action->restorer;
	for (unsigned i = 0; i < 2 && code + i < 6; i++)
		frame->code[i] = arm_signal_code[code + i];
	return (uint32_t)process->signal_page + 4 * code +
	       (uint32_t)(action->handler & 1);
}

/* Registers of the handler's first instruction. */
static void enter(struct linux_process *process, struct reg_file *regs,
		  const struct signal_entry *entry, guest_addr sp,
		  uint32_t return_to)
{
	uint64_t handler = entry->action->handler;
	uint32_t cpsr = get(process, regs, ARM_CPSR) &
			~(CPSR_UPPER | ARM_CPSR_BIG | ARM_CPSR_IT |
			  ARM_CPSR_THUMB);

	if (handler & 1)
		cpsr |= ARM_CPSR_THUMB;
	set(process, regs, ARM_R0, (uint64_t)entry->info->si_signo);
	set(process, regs, ARM_SP, sp);
	set(process, regs, ARM_LR, return_to);
	set(process, regs, ARM_PC, handler & ~UINT64_C(1));
	set(process, regs, ARM_CPSR, cpsr);
	set(process, regs, ARM_FPSCR,
	    get(process, regs, ARM_FPSCR) & ~FPSCR_VECTORS);
	set(process, regs, ARM_MONITOR, ARM_MONITOR_CLEAR);
	vm_set_registers(process->vm, regs);
}

static guest_addr place(const struct signal_entry *entry, guest_addr sp,
			size_t size)
{
	if (entry->enters_stack)
		sp = entry->stack->base + entry->stack->size;
	return (sp - size) & UINT64_C(0xfffffff8);
}

static int push_plain(struct linux_process *process, struct reg_file *regs,
		      const struct signal_entry *entry)
{
	struct frame frame;
	guest_addr sp = place(entry, get(process, regs, ARM_SP),
			      sizeof(frame));
	uint32_t return_to;

	fill(process, &frame, regs, entry);
	frame.context.flags = NO_INFO;
	return_to = put_return(process, &frame, entry->action);
	if (copy_out(process, sp, &frame, sizeof(frame)))
		return -EFAULT;
	enter(process, regs, entry, sp, return_to);
	return 0;
}

static int push_info(struct linux_process *process, struct reg_file *regs,
		     const struct signal_entry *entry)
{
	struct info_frame frame;
	struct ucontext *context = &frame.frame.context;
	guest_addr sp = place(entry, get(process, regs, ARM_SP),
			      sizeof(frame));
	uint32_t return_to;

	layout_out(&arm_layouts[S_SIGINFO], frame.info, entry->info);
	fill(process, &frame.frame, regs, entry);
	layout_out(&arm_layouts[S_STACK], &context->stack, entry->stack);
	return_to = put_return(process, &frame.frame, entry->action);
	if (copy_out(process, sp, &frame, sizeof(frame)))
		return -EFAULT;
	set(process, regs, ARM_R0 + 1, sp + offsetof(struct info_frame, info));
	set(process, regs, ARM_R0 + 2, sp + offsetof(struct info_frame, frame));
	enter(process, regs, entry, sp, return_to);
	return 0;
}

int arm_frame_push(struct linux_process *process,
		   const struct signal_entry *entry)
{
	struct reg_file regs;

	vm_registers(process->vm, &regs);
	return entry->action->flags & WANTS_INFO ?
		       push_info(process, &regs, entry) :
		       push_plain(process, &regs, entry);
}

/* ------- returning from it ------- */

static bool is_sound(const struct ucontext *context)
{
	const struct floats *floats = &context->floats;

	return (context->cpsr & CPSR_MODE) == ARM_CPSR_USER &&
	       !(context->cpsr & CPSR_NO_IRQ) &&
	       floats->magic == FLOATS_MAGIC &&
	       floats->size == sizeof(*floats);
}

static int restore(struct linux_process *process,
		   const struct ucontext *context)
{
	struct reg_file regs;

	if (!is_sound(context))
		return -EFAULT;
	vm_registers(process->vm, &regs);
	for (unsigned i = 0; i < REGISTERS; i++)
		set(process, &regs, ARM_R0 + i, context->r[i]);
	set(process, &regs, ARM_PC, context->r[REGISTERS - 1] & ~UINT32_C(1));
	set(process, &regs, ARM_CPSR, context->cpsr);
	for (unsigned i = 0; i < 32; i++)
		set(process, &regs, ARM_D0 + i, context->floats.d[i]);
	set(process, &regs, ARM_FPSCR, context->floats.fpscr);
	vm_set_registers(process->vm, &regs);
	return 0;
}

static int pop_plain(struct linux_process *process, guest_addr sp,
		     struct signal_return *out)
{
	struct frame frame;

	if (copy_in(process, &frame, sp, sizeof(frame)) ||
	    restore(process, &frame.context))
		return -EFAULT;
	out->mask = frame.context.mask;
	out->sp = frame.context.r[ARM_SP - ARM_R0];
	out->keeps_stack = true;
	return 0;
}

static int pop_info(struct linux_process *process, guest_addr sp,
		    struct signal_return *out)
{
	struct info_frame frame;
	const struct ucontext *context = &frame.frame.context;

	if (copy_in(process, &frame, sp, sizeof(frame)) ||
	    restore(process, context))
		return -EFAULT;
	out->mask = context->mask;
	layout_in(&arm_layouts[S_STACK], &out->stack, &context->stack);
	out->sp = context->r[ARM_SP - ARM_R0];
	return 0;
}

int arm_frame_pop(struct linux_process *process, struct signal_return *out)
{
	const struct linux_call *row = abi_call(process->abi,
						process->thread->number);
	guest_addr sp = vm_reg(process->vm, ARM_SP);

	if (sp % 8)
		return -EFAULT;
	return row == &linux_calls[CALL_sigreturn] ?
		       pop_plain(process, sp, out) :
		       pop_info(process, sp, out);
}
