/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arm64_frame.c - what a signal puts on the guest's stack, and takes back
 *
 * Source: Linux, arch/arm64/kernel/signal.c; uapi/asm/sigcontext.h and
 * ucontext.h there.
 */
#include <errno.h>
#include <string.h>

#include "vm/arch/arm64/guest.h"
#include "vm/linux/abi/abi.h"
#include "vm/linux/abi/arm64_internal.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/process.h"

#define HAS_RESTORER 0x4000000u		/* SA_RESTORER */

/* ------- the layouts ------- */

struct record {
	uint32_t magic, size;
};

struct float_record {
	struct record head;
	uint32_t fpsr, fpcr;
	uint8_t v[32][16];
};
#define FLOAT_MAGIC 0x46508001u

struct fault_record {
	struct record head;
	uint64_t syndrome;
};
#define FAULT_MAGIC 0x45535201u

/* Linux writes as much, whatever is in use. */
#define RECORDS_ROOM 4096

struct frame {
	uint8_t info[128];
	uint64_t flags, link;
	struct guest_stack stack;
	uint64_t mask;
	uint8_t mask_room[120];
	uint64_t padding;
	uint64_t address;	/* of the last fault */
	uint64_t x[31], sp, pc, pstate;
	uint64_t more_padding;
	union {
		uint8_t bytes[RECORDS_ROOM];
		struct {
			struct float_record floats;
			struct fault_record fault;	/* if there was one */
		};
	} records;
};

/* What a function that is called keeps, for who follows frames. */
struct link {
	uint64_t x29, x30;
};

_Static_assert(offsetof(struct frame, flags) == 128, "struct rt_sigframe");
_Static_assert(offsetof(struct frame, mask) == 128 + 40, "struct ucontext");
_Static_assert(offsetof(struct frame, address) == 128 + 176, "sigcontext");
_Static_assert(offsetof(struct frame, records) == 128 + 176 + 288, "records");
_Static_assert(sizeof(struct frame) == 4688, "struct rt_sigframe");
_Static_assert(offsetof(struct frame, mask) == FRAME_MASK, "the mask");
_Static_assert(sizeof(struct float_record) == 528, "struct fpsimd_context");

/* ------- registers ------- */

static const struct reg_table *table_of(const struct linux_process *process)
{
	return vm_reg_table(process->vm);
}

static uint8_t *vector(struct linux_process *process, struct reg_file *regs,
		       unsigned number)
{
	return regs->bytes +
	       table_of(process)->regs[ARM64_V0 + number].offset;
}

static uint64_t get(struct linux_process *process, const struct reg_file *regs,
		    unsigned reg)
{
	return reg_get(table_of(process), regs, reg);
}

static void set(struct linux_process *process, struct reg_file *regs,
		unsigned reg, uint64_t value)
{
	reg_set(table_of(process), regs, reg, value);
}

/* ------- entering a handler ------- */

static void fill_records(struct linux_process *process, struct frame *frame,
			 struct reg_file *regs, const struct guest_trap *trap)
{
	struct float_record *floats = &frame->records.floats;
	struct fault_record *fault = &frame->records.fault;

	floats->head = (struct record){ FLOAT_MAGIC, sizeof(*floats) };
	floats->fpsr = (uint32_t)get(process, regs, ARM64_FPSR);
	floats->fpcr = (uint32_t)get(process, regs, ARM64_FPCR);
	for (unsigned i = 0; i < 32; i++)
		memcpy(floats->v[i], vector(process, regs, i), 16);
	if (!trap->error)
		return;
	fault->head = (struct record){ FAULT_MAGIC, sizeof(*fault) };
	fault->syndrome = trap->error;
}

static void fill_frame(struct linux_process *process, struct frame *frame,
		       struct reg_file *regs, const struct signal_entry *entry)
{
	memset(frame, 0, sizeof(*frame));
	memcpy(frame->info, entry->info, sizeof(frame->info));
	frame->stack = *entry->stack;
	frame->mask = entry->mask;
	frame->address = entry->trap->address;
	for (unsigned i = 0; i < 31; i++)
		frame->x[i] = get(process, regs, ARM64_X0 + i);
	frame->sp = get(process, regs, ARM64_SP);
	frame->pc = get(process, regs, ARM64_PC);
	frame->pstate = get(process, regs, ARM64_CPSR);
	fill_records(process, frame, regs, entry->trap);
}

/* Registers of the handler's first instruction. */
static void enter(struct linux_process *process, struct reg_file *regs,
		  const struct signal_entry *entry, guest_addr sp,
		  guest_addr link)
{
	bool has_restorer = entry->action->flags & HAS_RESTORER;

	set(process, regs, ARM64_X0, (uint64_t)entry->info->si_signo);
	set(process, regs, ARM64_X0 + 1, sp + offsetof(struct frame, info));
	set(process, regs, ARM64_X0 + 2, sp + offsetof(struct frame, flags));
	set(process, regs, ARM64_X29, link);
	set(process, regs, ARM64_X30, has_restorer ? entry->action->restorer :
						     process->signal_page);
	set(process, regs, ARM64_SP, sp);
	set(process, regs, ARM64_PC, entry->action->handler);
	set(process, regs, ARM64_MONITOR, ARM64_MONITOR_CLEAR);
	vm_set_registers(process->vm, regs);
}

/* Where the frame goes, and the link above it; 0: there is no room. */
static guest_addr place(const struct signal_entry *entry, guest_addr sp,
			guest_addr *link)
{
	const struct guest_stack *stack = entry->stack;

	if (entry->enters_stack)
		sp = stack->base + stack->size;
	*link = (sp - sizeof(struct link)) & ~UINT64_C(15);
	sp = *link - sizeof(struct frame);
	if ((entry->enters_stack || entry->is_on_stack) &&
	    (sp <= stack->base || sp - stack->base > stack->size))
		return 0;
	return sp;
}

int arm64_frame_push(struct linux_process *process,
		     const struct signal_entry *entry)
{
	struct reg_file regs;
	struct frame frame;
	struct link link;
	guest_addr sp, link_at;

	vm_registers(process->vm, &regs);
	sp = place(entry, get(process, &regs, ARM64_SP), &link_at);
	if (!sp)
		return -EFAULT;
	fill_frame(process, &frame, &regs, entry);
	link = (struct link){ frame.x[29], frame.x[30] };
	if (copy_out(process, link_at, &link, sizeof(link)) ||
	    copy_out(process, sp, &frame, sizeof(frame)))
		return -EFAULT;
	enter(process, &regs, entry, sp, link_at);
	return 0;
}

/* ------- returning from it ------- */

/* Finds the record of floating point among those that a program left. */
static const struct float_record *find_floats(const struct frame *frame)
{
	size_t at = 0;

	while (at + sizeof(struct float_record) <= RECORDS_ROOM) {
		const struct record *head =
			(const void *)(frame->records.bytes + at);

		if (head->magic == FLOAT_MAGIC &&
		    head->size == sizeof(struct float_record))
			return (const void *)head;
		if (!head->magic || head->size < sizeof(*head) ||
		    head->size % 16)
			break;
		at += head->size;
	}
	return NULL;
}

static int restore(struct linux_process *process, const struct frame *frame)
{
	const struct float_record *floats = find_floats(frame);
	struct reg_file regs;

	if (!floats)
		return -EFAULT;
	vm_registers(process->vm, &regs);
	for (unsigned i = 0; i < 31; i++)
		set(process, &regs, ARM64_X0 + i, frame->x[i]);
	set(process, &regs, ARM64_SP, frame->sp);
	set(process, &regs, ARM64_PC, frame->pc);
	set(process, &regs, ARM64_CPSR, frame->pstate);
	set(process, &regs, ARM64_FPSR, floats->fpsr);
	set(process, &regs, ARM64_FPCR, floats->fpcr);
	for (unsigned i = 0; i < 32; i++)
		memcpy(vector(process, &regs, i), floats->v[i], 16);
	vm_set_registers(process->vm, &regs);
	return 0;
}

int arm64_frame_pop(struct linux_process *process, struct signal_return *out)
{
	guest_addr sp = vm_reg(process->vm, ARM64_SP);
	struct frame frame;

	if (sp % 16 || copy_in(process, &frame, sp, sizeof(frame)) ||
	    restore(process, &frame))
		return -EFAULT;
	out->mask = frame.mask;
	out->stack = frame.stack;
	out->sp = frame.sp;
	return 0;
}
