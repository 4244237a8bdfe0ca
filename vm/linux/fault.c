/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fault.c - the signal for an instruction that cannot retire */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "formats/processor.h"
#include "vm/linux/abi/abi.h"
#include "vm/linux/kernel.h"
#include "vm/linux/linux.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/process.h"
#include "vm/linux/signals/signals.h"

/* Whether a page without a file was ever there, as the host knows. */
static bool is_known_page(struct linux_process *process, guest_addr addr)
{
	uint64_t page = addr >> GUEST_PAGE_SHIFT, entry = 0;
	int pagemap;

	if (memory_next_touched(process->memory, page, page + 1) != page)
		return false;
	/* With several threads it may be another one that has it. */
	if (process->next_index > 1)
		return true;
	pagemap = pagemap_open();
	if (pagemap < 0)
		return true;
	pagemap_entries(process, pagemap, page, &entry, 1);
	close(pagemap);
	return entry & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED);
}

/*
 * Whether bit 0 of the error code is set: a page is there but forbidden.  One
 * without any permission is not there, to the processor; of its own addresses
 * Linux always says so.
 */
static bool is_present(struct linux_process *process,
		       const struct vm_stop *stop)
{
	const struct region *region;

	if (stop->addr >= process->abi->user_end)
		return true;
	region = memory_region_at(process->memory, stop->addr);
	if (!region || !region->prot)
		return false;
	/* Linux gives a page to whoever may read, even to execute it. */
	return stop->access != ACCESS_WRITE || region->kind != REGION_ANON ||
	       is_known_page(process, stop->addr);
}

/* No signal: the guest goes on, what it missed is there now. */
static bool is_mended(struct linux_process *process,
		      const struct vm_stop *stop, struct guest_fault *fault)
{
	int tail = eof_tail_fault(process, stop->addr, stop->access);

	if (tail) {		/* beyond the end of its file */
		fault->info.si_signo = SIGBUS;
		fault->info.si_code = BUS_ADRERR;
	}
	return tail > 0;
}

/* Another processor may have the instruction that ends the program. */
static void tell_unknown(struct linux_process *process,
			 const struct vm_stop *stop)
{
	char text[120];
	unsigned size;

	vm_disassemble(process->vm, stop->pc, text, sizeof(text), &size);
	if (!strncmp(text, "ud", 2))
		return;		/* ud0, ud1, ud2, udf: no processor has them */
	notice(process, NOTICE_INSTRUCTION,
	       "the guest's processor, %s, has no '%s' (at 0x%llx): SIGILL",
	       processor_of(process->abi->arch)->model, text,
	       (unsigned long long)stop->pc);
}

/*
 * A call of another kind of kernel, which could be executed only with tables
 * of its own.  No program asks first whether there are such calls, so it is
 * always said.
 */
static void tell_other_call(struct linux_process *process,
			    const struct vm_stop *stop, const char *call)
{
	notice_once(process, ABOUT_OTHER_ABI, NOTICE_INSTRUCTION,
		    "32-bit system calls are not supported ('%s' at 0x%llx): "
		    "SIGILL",
		    call, (unsigned long long)stop->pc);
}

/* Returns the signal. */
static int raise_for(struct linux_process *process, const struct vm_stop *stop)
{
	struct guest_trap *trap = &process->thread->signals->trap;
	bool is_page = stop->fault == FAULT_MEMORY;
	struct guest_fault fault = { .trap = *trap };

	process->abi->fault(process->vm, stop,
			    is_page && is_present(process, stop), &fault);
	if (is_page && is_mended(process, stop, &fault))
		return fault.info.si_signo;
	if (fault.moved)
		process->thread->changed_registers = true;
	*trap = fault.trap;
	signals_force(process, &fault.info);
	if (fault.is_unknown && process->thread->outcome == LINUX_KILLED)
		tell_unknown(process, stop);
	if (fault.other_call)
		tell_other_call(process, stop, fault.other_call);
	return fault.info.si_signo;
}

/*
 * The signal, or the number of the call that it was, as of a page that is there
 * now.
 */
static uint64_t answer(struct linux_process *process,
		       const struct vm_stop *stop, bool *is_call)
{
	siginfo_t info = { .si_signo = SIGSEGV, .si_code = SI_KERNEL };
	uint64_t number;
	int error;

	*is_call = fixed_call(process, stop, &number, &error) && !error;
	if (*is_call)
		return number;
	if (!error)
		return (uint64_t)raise_for(process, stop);
	signals_force(process, &info);
	return SIGSEGV;
}

int linux_fault(struct linux_process *process, const struct vm_stop *stop,
		struct linux_result *result, struct failure *why)
{
	uint64_t number;
	bool is_call;

	(void)why;
	process->thread->changed_registers = false;
	number = answer(process, stop, &is_call);
	process_report(process, result, number,
		       (int64_t)guest_result(process));
	result->is_fixed_call = is_call;
	return 0;
}
