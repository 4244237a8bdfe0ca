/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lost_pages.c - mapped pages whose file another process has cut short
 *
 * The host says so with SIGBUS, in the middle of a block of the guest's code,
 * which cannot be left there: the page becomes zeros, the guest runs on to the
 * end of the block, and gets its SIGBUS there.  From then on the pages are
 * known to be beyond the end of their file (eof_tail.c), and every further
 * access faults where it should.
 */
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vm/linux/abi/abi.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/process.h"
#include "vm/linux/signals/signals.h"

/* From the host's signal handler. */
static void on_lost(void *context, guest_addr addr, bool kernel)
{
	struct linux_process *process = context;

	/* To the kernel it is a bad address, to others nothing. */
	process->space->lost = page_down(addr);
	process->space->lost_to_guest |= !kernel && vm_is_running(process->vm);
	vm_interrupt(process->vm);
}

void lost_pages_catch(struct linux_process *process)
{
	memory_on_lost(process->memory, on_lost, process);
}

/* Maps what there is, and notes what there is not. */
static void map_again(struct linux_process *process,
		      const struct region *region)
{
	struct stat file = { 0 };
	int fd = mapped_files_open(process, region, region->start);

	if (fd < 0 || fstat(fd, &file)) {
		file.st_mode = S_IFREG;
		file.st_size = (off_t)region->offset;
	}
	eof_tail_forget(process, region->start, region->end - region->start);
	memory_map(process->memory, region, fd, NULL);
	eof_tail_note(process, region, &file);
	if (fd >= 0)
		close(fd);
}

static void mend(struct linux_process *process, guest_addr page)
{
	const struct region *found = memory_region_at(process->memory, page);
	struct region region;

	if (!found || found->kind == REGION_ANON)
		return;		/* it has gone meanwhile */
	region = *found;
	region.start = page;
	region.offset += page - found->start;
	region.common = 0;
	map_again(process, &region);
}

bool lost_pages_are_there(const struct linux_process *process)
{
	return process->space->lost;
}

void lost_pages_mend(struct linux_process *process)
{
	bool to_guest = process->space->lost_to_guest;
	guest_addr page = process->space->lost;
	const struct vm_stop stop = { .fault = FAULT_MEMORY, .addr = page };
	struct guest_fault fault = { .moved = false };

	process->space->lost = 0;
	process->space->lost_to_guest = false;
	mend(process, page);
	if (!to_guest)
		return;
	process->abi->fault(process->vm, &stop, false, &fault);
	fault.info.si_signo = SIGBUS;
	fault.info.si_code = BUS_ADRERR;
	process->thread->signals->trap = fault.trap;
	signals_force(process, &fault.info);
}
