/* SPDX-License-Identifier: GPL-2.0-or-later */
/* diversion.c - see diversion.h */
#include "replayer/session/diversion.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/replayer.h"
#include "replayer/session/diversion_calls.h"
#include "replayer/session/mappings.h"
#include "vm/memory/memory.h"
#include "vm/vm.h"

/* How far it runs before it asks whether it is still wanted. */
#define STEPS_AT_ONCE (2u << 20)

struct diversion {
	struct query *query;
	struct replayer *replayer;
	struct vm *vm;
	struct diversion_kernel kernel;
	struct position at;
	struct replay_diversion hooks;
};

/* ------- pages that the program did not see ------- */

/* It may have seen them later, unchanged; or they are in a file. */
static int find_contents(void *context, uint64_t page, uint8_t *bytes,
			 struct failure *why)
{
	struct diversion *diversion = context;
	uint64_t addr = memory_address(vm_memory(diversion->vm),
				       page << GUEST_PAGE_SHIFT);
	uint8_t known[GUEST_PAGE];
	struct query_answer answer;
	const char *reason;
	int rc = query_memory(diversion->query, addr, &diversion->at, bytes,
			      known, GUEST_PAGE, &answer, why);

	if (rc || !memchr(known, 0, GUEST_PAGE))
		return rc;
	reason = query_why_unknown(diversion->query);
	return failed(why, ERR_NOT_FOUND, "what is at 0x%llx is not in the"
		      " recording: the program never used it, and %.150s",
		      (unsigned long long)addr,
		      reason ? reason : "it may have been written");
}

/* ------- beginning and ending ------- */

int diversion_begin(struct diversion **out, struct query *query,
		    const struct position *at, uint32_t stream,
		    struct failure *why)
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
	diversion->hooks = (struct replay_diversion){ find_contents, diversion };
	diversion->vm = replayer_vm(diversion->replayer);
	diversion->kernel = (struct diversion_kernel) {
		.query = query, .vm = diversion->vm, .at = *at,
		.stream = stream, .began = vm_steps(diversion->vm),
	};
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
	if (rc)
		return rc;
	vm_set_registers(diversion->vm, &regs);
	diversion->kernel.stream = stream;
	return 0;
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

/* What is of a file, and was not used in the diversion, is as recorded. */
static int read_recorded(struct diversion *diversion, uint64_t addr,
			 uint8_t *bytes, uint8_t *known, size_t size,
			 struct failure *why)
{
	const struct region *region =
		memory_region_at(vm_memory(diversion->vm), addr);
	struct query_answer answer;

	if (!region || region->kind != REGION_FILE)
		return 0;
	return query_memory(diversion->query, addr, &diversion->at, bytes,
			    known, size, &answer, why);
}

int diversion_read(struct diversion *diversion, uint64_t addr, uint8_t *bytes,
		   uint8_t *known, size_t size, struct failure *why)
{
	int rc = replayer_read(diversion->replayer, addr, bytes, known, size,
			       why);

	/* Page by page: some may be new. */
	for (size_t at = 0, part; !rc && at < size; at += part) {
		part = GUEST_PAGE - (addr + at) % GUEST_PAGE;
		if (part > size - at)
			part = size - at;
		if (!memchr(known + at, 1, part))
			rc = read_recorded(diversion, addr + at, bytes + at,
					   known + at, part, why);
	}
	return rc;
}

int diversion_write(struct diversion *diversion, uint64_t addr,
		    const uint8_t *bytes, size_t size, struct failure *why)
{
	if (memory_poke(vm_memory(diversion->vm), addr, bytes, size))
		return failed(why, ERR_INPUT, "0x%llx is not mapped",
			      (unsigned long long)addr);
	return 0;
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

/* One that is refused is still to be made. */
static int make_call(struct diversion *diversion, const struct vm_stop *stop,
		     bool *goes_on, struct diversion_stop *out,
		     struct failure *why)
{
	static const enum diversion_stop_kind kinds[] = {
		[DIVERSION_CALL_ENDS] = DIVERSION_EXITED,
		[DIVERSION_CALL_SIGNAL] = DIVERSION_AT_SIGNAL,
	};
	enum diversion_call end = DIVERSION_CALL_DONE;
	int rc = diversion_call(&diversion->kernel, &end, &out->signal, why);

	if (rc)
		vm_set_reg(diversion->vm, vm_reg_table(diversion->vm)->pc,
			   stop->pc - stop->size);
	*goes_on = end == DIVERSION_CALL_DONE;
	if (!*goes_on)
		out->kind = kinds[end];
	return rc;
}

/* Whether it `*goes_on`; else `*out` says why not. */
static int pass(struct diversion *diversion, const struct vm_stop *stop,
		bool *goes_on, struct diversion_stop *out, struct failure *why)
{
	*goes_on = false;
	switch (stop->kind) {
	case VM_STOP_SYSCALL:
		return make_call(diversion, stop, goes_on, out, why);
	case VM_STOP_BREAK:
		out->kind = DIVERSION_AT_BREAK;
		return 0;
	case VM_STOP_FAULT:
		*out = (struct diversion_stop) {
			.kind = DIVERSION_AT_SIGNAL, .signal = signal_of(stop),
		};
		return 0;
	case VM_STOP_VALUE:
		vm_emulate(diversion->vm, stop);
		break;
	default:
		break;
	}
	*goes_on = true;
	return 0;
}

/* Runs a part; sets the registers back if it used contents that are not known. */
static int run_part(struct diversion *diversion, uint64_t most, bool *goes_on,
		    struct diversion_stop *out, struct failure *why)
{
	struct reg_file began;
	struct vm_stop stop;
	int rc;

	vm_registers(diversion->vm, &began);
	rc = vm_run(diversion->vm, most, true, &stop, why);
	if (!rc)
		rc = replayer_diverted(diversion->replayer, why);
	if (!rc) {
		rc = pass(diversion, &stop, goes_on, out, why);
		if (rc)
			return rc;
		rc = replayer_diverted(diversion->replayer, why);
	}
	if (rc)
		vm_set_registers(diversion->vm, &began);
	return rc;
}

static int run_on(struct diversion *diversion, const struct diversion_run *run,
		  struct diversion_stop *out, struct failure *why)
{
	uint64_t left = run->most;
	bool goes_on = true;
	int rc = 0;

	diversion->kernel.printed = run->printed;
	diversion->kernel.context = run->context;
	*out = (struct diversion_stop){ .kind = DIVERSION_STEPPED };
	vm_break_pass(diversion->vm);
	while (!rc && goes_on && left) {
		uint64_t before = vm_steps(diversion->vm);

		rc = query_is_wanted(diversion->query, why);
		if (!rc)
			rc = run_part(diversion, left < STEPS_AT_ONCE ? left :
						STEPS_AT_ONCE, &goes_on, out,
				      why);
		left -= vm_steps(diversion->vm) - before;
	}
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
