/* SPDX-License-Identifier: GPL-2.0-or-later */
/* diversion.c - see diversion.h */
#include "replayer/session/diversion.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/error.h"
#include "replayer/replayer.h"
#include "replayer/session/mappings.h"
#include "vm/linux/abi/names.h"
#include "vm/memory/memory.h"
#include "vm/vm.h"

/* How far it runs before it asks whether it is still wanted. */
#define STEPS_AT_ONCE (2u << 20)

#define PRINTED_MOST (UINT64_C(1) << 20)

struct diversion {
	struct query *query;
	struct replayer *replayer;
	struct vm *vm;
	const struct reg_table *regs;
	struct position at;
	struct replay_diversion hooks;
	struct diversion_files files;
};

/* ------- pages that the program did not see ------- */

/*
 * What nobody may write is as in its file; what is written by the linker is
 * seen when that happens.
 */
static int find_in_file(struct diversion *diversion, guest_addr addr,
			uint8_t *bytes, struct failure *why)
{
	size_t count;
	const struct region *list =
		memory_regions(vm_memory(diversion->vm), &count);

	for (size_t i = 0; i < count; i++)
		if (list[i].start <= addr && addr < list[i].end &&
		    list[i].kind == REGION_FILE && !(list[i].prot & MAY_WRITE))
			return diversion->files.read(
				diversion->files.context, list[i].name,
				list[i].offset + (addr - list[i].start), bytes,
				why);
	return failed(why, ERR_NOT_FOUND, "it is in no file, or may have been"
		      " written");
}

/* It may have seen them later, unchanged. */
static int find_contents(void *context, uint64_t page, uint8_t *bytes,
			 struct failure *why)
{
	struct diversion *diversion = context;
	uint64_t addr = memory_address(vm_memory(diversion->vm),
				       page << GUEST_PAGE_SHIFT);
	uint8_t known[GUEST_PAGE];
	struct query_answer answer;
	struct failure reason;
	int rc = query_memory(diversion->query, addr, &diversion->at, bytes,
			      known, GUEST_PAGE, &answer, why);

	if (rc || !memchr(known, 0, GUEST_PAGE) ||
	    !find_in_file(diversion, addr, bytes, &reason))
		return rc;
	return failed(why, ERR_NOT_FOUND, "what is at 0x%llx is not in the"
		      " recording: the program never used it, and %.150s",
		      (unsigned long long)addr, reason.text);
}

/* ------- beginning and ending ------- */

int diversion_begin(struct diversion **out, struct query *query,
		    const struct position *at, uint32_t stream,
		    const struct diversion_files *files, struct failure *why)
{
	struct diversion *diversion = calloc(1, sizeof(*diversion));
	struct reg_file regs;
	int rc;

	if (!diversion)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	diversion->query = query;
	rc = recording_check_program(query_recording(query), why);
	if (!rc)
		rc = query_lend_replayer(query, &diversion->replayer, why);
	if (!rc)
		rc = replayer_seek(diversion->replayer, at, why);
	if (!rc)
		rc = replayer_thread_registers(diversion->replayer, stream,
					       &regs, why);
	if (rc) {
		diversion_end(diversion);
		return rc;
	}
	diversion->at = *at;
	diversion->files = *files;
	diversion->hooks = (struct replay_diversion){ find_contents, diversion };
	diversion->vm = replayer_vm(diversion->replayer);
	diversion->regs = vm_reg_table(diversion->vm);
	replayer_divert(diversion->replayer, &diversion->hooks);
	vm_set_registers(diversion->vm, &regs);
	*out = diversion;
	return 0;
}

void diversion_end(struct diversion *diversion)
{
	if (!diversion)
		return;
	if (diversion->replayer) {
		replayer_rejoin(diversion->replayer);
		query_take_back(diversion->query, diversion->replayer);
	}
	free(diversion);
}

int diversion_use_thread(struct diversion *diversion, uint32_t stream,
			 struct failure *why)
{
	struct replayer *replayer;
	struct reg_file regs;
	int rc = query_replayer(diversion->query, &replayer, why);

	if (!rc)
		rc = replayer_seek(replayer, &diversion->at, why);
	if (!rc)
		rc = replayer_thread_registers(replayer, stream, &regs, why);
	if (!rc)
		vm_set_registers(diversion->vm, &regs);
	return rc;
}

int diversion_mappings(struct diversion *diversion,
		       int (*visit)(void *context,
				    const struct region *mapping),
		       void *context)
{
	return mappings_each(diversion->replayer, visit, context);
}

void diversion_registers(struct diversion *diversion, struct reg_file *out)
{
	vm_registers(diversion->vm, out);
}

void diversion_set_registers(struct diversion *diversion,
			     const struct reg_file *regs)
{
	vm_set_registers(diversion->vm, regs);
}

int diversion_read(struct diversion *diversion, uint64_t addr, uint8_t *bytes,
		   uint8_t *known, size_t size, struct failure *why)
{
	return replayer_read(diversion->replayer, addr, bytes, known, size,
			     why);
}

int diversion_write(struct diversion *diversion, uint64_t addr,
		    const uint8_t *bytes, size_t size, struct failure *why)
{
	if (memory_poke(vm_memory(diversion->vm), addr, bytes, size))
		return failed(why, ERR_INPUT, "0x%llx is not mapped",
			      (unsigned long long)addr);
	return 0;
}

/* ------- the kernel that it has ------- */

struct call {
	struct diversion *diversion;
	const struct diversion_run *run;
	uint64_t args[KERNEL_ARGS];
};

static bool print(const struct call *call, int descriptor, uint64_t addr,
		  uint64_t size)
{
	uint8_t *bytes;
	bool done;

	if ((descriptor != STDOUT_FILENO && descriptor != STDERR_FILENO) ||
	    size > PRINTED_MOST)
		return false;
	bytes = malloc(size + 1);
	done = bytes && !memory_read(vm_memory(call->diversion->vm), addr,
				     bytes, size);
	if (done && call->run->printed)
		call->run->printed(call->run->context, descriptor, bytes,
				   size);
	free(bytes);
	return done;
}

static int64_t do_write(const struct call *call)
{
	if (!print(call, call->args[0], call->args[1], call->args[2]))
		return -EBADF;
	return call->args[2];
}

static int64_t do_writev(const struct call *call)
{
	struct memory *memory = vm_memory(call->diversion->vm);
	int64_t total = 0;
	uint64_t part[2];

	for (uint64_t i = 0; i < call->args[2] && i < 1024; i++) {
		if (memory_read(memory, call->args[1] + i * sizeof(part), part,
				sizeof(part)))
			return -EFAULT;
		if (!print(call, call->args[0], part[0], part[1]))
			return -EBADF;
		total += part[1];
	}
	return total;
}

/* Of its own memory, anywhere. */
static int64_t do_mmap(const struct call *call)
{
	struct memory *memory = vm_memory(call->diversion->vm);
	uint64_t size = (call->args[1] + GUEST_PAGE - 1) & -GUEST_PAGE;
	struct region region = {
		.prot = call->args[2] & (MAY_READ | MAY_WRITE | MAY_EXEC),
		.kind = REGION_ANON, .name = "",
	};
	size_t count;
	const struct region *list = memory_regions(memory, &count);

	if (!(call->args[3] & MAP_ANONYMOUS) || call->args[3] & MAP_FIXED)
		return -ENOSYS;
	if (!size || size > UINT64_C(1) << 32)
		return -ENOMEM;
	/* Below the lowest that has such a hole below it. */
	for (size_t i = count; i-- > 1;)
		if (list[i].start - list[i - 1].end >= 2 * size) {
			region.start = list[i].start - size;
			region.end = list[i].start;
			return memory_map(memory, &region, -1, NULL) ?
				       -ENOMEM : (int64_t)region.start;
		}
	return -ENOMEM;
}

static int64_t do_munmap(const struct call *call)
{
	return memory_unmap(vm_memory(call->diversion->vm), call->args[0],
			    (call->args[1] + GUEST_PAGE - 1) & -GUEST_PAGE) ?
		       -EINVAL : 0;
}

static int64_t do_nothing(const struct call *call)
{
	(void)call;
	return 0;
}

static const struct {
	const char *name;
	int64_t (*perform)(const struct call *call);
} calls[] = {
	{ "write", do_write }, { "writev", do_writev },
	{ "mmap", do_mmap }, { "munmap", do_munmap },
	{ "mprotect", do_nothing }, { "madvise", do_nothing },
	{ "futex", do_nothing }, { "sched_yield", do_nothing },
	{ "rt_sigprocmask", do_nothing },
};

static bool ends(const char *name)
{
	return name && (!strcmp(name, "exit") || !strcmp(name, "exit_group"));
}

/* True if it goes on. */
static bool perform(struct diversion *diversion,
		    const struct diversion_run *run)
{
	const struct reg_table *regs = diversion->regs;
	uint64_t number = vm_reg(diversion->vm, regs->result);
	const char *name = linux_syscall_name(regs->arch, number);
	struct call call = { .diversion = diversion, .run = run };
	int64_t result = -ENOSYS;

	if (ends(name))
		return false;
	for (unsigned i = 0; i < KERNEL_ARGS; i++)
		call.args[i] = vm_reg(diversion->vm, regs->call_args[i]);
	for (size_t i = 0; name && i < sizeof(calls) / sizeof(*calls); i++)
		if (!strcmp(name, calls[i].name))
			result = calls[i].perform(&call);
	vm_set_reg(diversion->vm, regs->result, result);
	return true;
}

/* ------- running ------- */

static uint32_t signal_of(const struct vm_stop *stop)
{
	static const uint8_t signals[] = {
		[FAULT_MEMORY] = SIGSEGV, [FAULT_PRIVILEGE] = SIGSEGV,
		[FAULT_INVALID] = SIGILL, [FAULT_BREAKPOINT] = SIGTRAP,
		[FAULT_DEBUG] = SIGTRAP, [FAULT_DIVIDE] = SIGFPE,
		[FAULT_FLOAT] = SIGFPE, [FAULT_INTERRUPT] = SIGSEGV,
		[FAULT_ALIGNMENT] = SIGBUS,
	};

	return signals[stop->fault];
}

/* True if it goes on; else `*out` says why not. */
static bool pass(struct diversion *diversion, const struct diversion_run *run,
		 const struct vm_stop *stop, struct diversion_stop *out)
{
	switch (stop->kind) {
	case VM_STOP_SYSCALL:
		*out = (struct diversion_stop){ .kind = DIVERSION_EXITED };
		return perform(diversion, run);
	case VM_STOP_VALUE:
		vm_emulate(diversion->vm, stop);
		return true;
	case VM_STOP_BREAK:
		out->kind = DIVERSION_AT_BREAK;
		return false;
	case VM_STOP_FAULT:
		*out = (struct diversion_stop) {
			.kind = DIVERSION_AT_SIGNAL, .signal = signal_of(stop),
		};
		return false;
	default:
		return true;
	}
}

static int run_on(struct diversion *diversion, const struct diversion_run *run,
		  struct diversion_stop *out, struct failure *why)
{
	uint64_t left = run->most;
	struct reg_file began;
	bool goes_on = true;
	int rc = 0;

	*out = (struct diversion_stop){ .kind = DIVERSION_STEPPED };
	vm_break_pass(diversion->vm);
	while (!rc && goes_on && left) {
		uint64_t before = vm_steps(diversion->vm);
		struct vm_stop stop;

		vm_registers(diversion->vm, &began);
		rc = query_is_wanted(diversion->query, why);
		if (!rc)
			rc = vm_run(diversion->vm, left < STEPS_AT_ONCE ? left :
							STEPS_AT_ONCE,
				    true, &stop, why);
		if (!rc)
			rc = replayer_diverted(diversion->replayer, why);
		if (!rc)
			goes_on = pass(diversion, run, &stop, out);
		left -= vm_steps(diversion->vm) - before;
	}
	/* What it has done without those contents is nothing: it did not. */
	if (rc)
		vm_set_registers(diversion->vm, &began);
	if (goes_on)
		out->kind = DIVERSION_STEPPED;
	return rc;
}

int diversion_run(struct diversion *diversion, const struct diversion_run *run,
		  struct diversion_stop *stop, struct failure *why)
{
	size_t set = 0;
	int rc = 0;

	while (set < run->break_count && !rc)
		rc = vm_break_set(diversion->vm, run->breaks[set++], why);
	if (!rc)
		rc = run_on(diversion, run, stop, why);
	while (set-- > 0)
		vm_break_clear(diversion->vm, run->breaks[set]);
	return rc;
}
