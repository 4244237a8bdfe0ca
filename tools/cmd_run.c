/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_run.c - cprec run: a program on the virtual machine, not recorded */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/error.h"
#include "tools/commands.h"
#include "tools/live_machine.h"
#include "tools/messages.h"
#include "tools/options.h"
#include "tools/programs.h"
#include "tools/record_machine.h"
#include "vm/linux/linux.h"
#include "vm/memory/memory.h"
#include "vm/vm.h"

static int run(struct options *options);

enum { OPTION_ASLR = 256, OPTION_SYSROOT, OPTION_AT };

const struct command command_run = {
	.name = "run",
	.run = run,
	.arguments = "PROGRAM [ARGUMENT...]",
	.summary = "run a program without recording it",
	.usage = "run [OPTION...] [--] PROGRAM [ARGUMENT...]\n"
		 "       cprec run --at=T [--drive=FILE...] [--net=user] FILE",
	.about = "Runs a program on the virtual machine without recording it:"
		 " to see whether\n"
		 "it works there, and how fast.  Or lets the machine of a"
		 " recording go on from a\n"
		 "time, alive: nothing of that is recorded.",
	.options = (const struct option_info[]) {
		{ OPTION_ASLR, "aslr", NULL,
		  "let addresses differ from run to run" },
		{ OPTION_SYSROOT, "sysroot", "DIR", OPTION_SYSROOT_TEXT },
		{ OPTION_AT, "at", "T",
		  "the time in FILE, the recording of a machine, from\n"
		  "which it goes on" },
		{ OPTION_DRIVE, "drive", "FILE",
		  "for each of its disks, the image that it began\n"
		  "with, which stays as it is", .with = "at" },
		{ OPTION_NET, "net", "HOW",
		  "user: connect its network card", .with = "at" },
		{ 0 }
	},
	.notes = PROGRAM_EXIT_NOTES,
	.kind = COMMAND_RUNS_PROGRAM,
};

static int handle_stop(struct vm *vm, struct linux_process *process,
		       struct vm_stop *stop, struct linux_result *result,
		       struct failure *why)
{
	switch (stop->kind) {
	case VM_STOP_SYSCALL:
		return linux_syscall(process, result, why);
	case VM_STOP_FAULT:
		return linux_fault(process, stop, result, why);
	case VM_STOP_VALUE:
		if (linux_allows(process, stop)) {
			vm_emulate(vm, stop);
			if (!vm_trap(vm, stop))
				return 0;
		}
		return linux_fault(process, stop, result, why);
	case VM_STOP_BUDGET:
	case VM_STOP_ASKED:
	case VM_STOP_BREAK:
		break;
	}
	return 0;
}

struct run {
	struct vm *vm;
	struct linux_process *process;
};

static int advance(void *context, uint64_t budget, bool exact,
		   struct linux_result *result, struct failure *why)
{
	const struct run *run = context;
	struct vm_stop stop;
	int rc = vm_run(run->vm, budget, exact, &stop, why);

	if (!rc)
		rc = handle_stop(run->vm, run->process, &stop, result, why);
	while (!rc && result->outcome == LINUX_GOES_ON &&
	       linux_has_signal(run->process))
		rc = linux_deliver(run->process, result, why);
	if (memory_is_wanted(vm_memory(run->vm)))
		memory_doubt_shared(vm_memory(run->vm));
	return rc;
}

/* Part of the type, which _Noreturn is not for clang. */
static void ended(void *context, int rc,
		  const struct linux_result *result,
		  const struct failure *why) __attribute__((noreturn));

static void ended(void *context, int rc,
		  const struct linux_result *result,
		  const struct failure *why)
{
	(void)context;
	if (rc)
		exit(program_not_run(rc, why));
	linux_exit_like(result);
}

static int run_program(const struct linux_options *options,
		       struct linux_result *result, struct failure *why)
{
	const struct linux_observer observer = { .notice = program_notice };
	const struct linux_schedule schedule = { .by_time = true };
	struct linux_process *process = NULL;
	struct vm *vm = NULL;
	struct run context;
	const struct linux_driver driver = { &context, advance, ended };
	int rc;

	rc = vm_create(&vm, linux_arch_of(options), true, NULL, why);
	if (rc)
		goto end;
	vm_run_uncounted(vm);
	rc = linux_create(&process, vm, options, why);
	if (rc)
		goto end;
	linux_observe(process, &observer);
	linux_set_schedule(process, &schedule);
	context = (struct run){ vm, process };
	rc = linux_run(process, &driver, result, why);
end:
	if (linux_is_threaded(process)) {
		linux_end(process);
		return rc;	/* its host threads are still there */
	}
	linux_destroy(process);
	vm_destroy(vm);
	return rc;
}

static int take_option(struct options *options, int id,
		       struct linux_options *program,
		       struct machine_options *machine, const char **at)
{
	switch (id) {
	case OPTION_SYSROOT:
		program->sysroot = options->value;
		return 0;
	case OPTION_ASLR:
		program->aslr = true;
		return 0;
	case OPTION_AT:
		return options_take_time(options, id, at);
	default:
		return machine_take_option(options, id, machine);
	}
}

static int run_machine(struct options *options, int id, const char *at,
		       struct machine_options *machine)
{
	size_t count;
	char **files = options_files(options, id, 1, 1, &count);

	return files ? live_machine_run(files[0], at, machine) :
		       options->status;
}

static int run(struct options *options)
{
	struct machine_options machine = { 0 };
	const char *at = NULL;
	struct linux_options program = { .envp = environ };
	struct linux_result result;
	struct failure why;
	char **arguments;
	int id, rc;

	while ((id = options_next(options)) >= 0)
		if (take_option(options, id, &program, &machine, &at))
			return options->status;
	if (at)
		return run_machine(options, id, at, &machine);
	arguments = options_program(options, id);
	if (!arguments)
		return options->status;
	program.argv = arguments;
	program.program = program.argv[0];
	rc = run_program(&program, &result, &why);
	if (rc)
		return program_not_run(rc, &why);
	linux_exit_like(&result);
}
