/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_run.c - cprec run: a program on the virtual machine, not recorded */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/error.h"
#include "tools/commands.h"
#include "tools/messages.h"
#include "tools/options.h"
#include "tools/programs.h"
#include "vm/linux/linux.h"
#include "vm/memory/memory.h"
#include "vm/vm.h"

static int run(struct options *options);

enum { OPTION_ASLR = 256, OPTION_SYSROOT };

const struct command command_run = {
	.name = "run",
	.run = run,
	.arguments = "PROGRAM [ARGUMENT...]",
	.summary = "run a program without recording it",
	.usage = "run [OPTION...] [--] PROGRAM [ARGUMENT...]",
	.about = "Runs a program on the virtual machine without recording it:"
		 " to see whether\n"
		 "it works there, and how fast.",
	.options = (const struct option_info[]) {
		{ OPTION_ASLR, "aslr", NULL,
		  "let addresses differ from run to run" },
		{ OPTION_SYSROOT, "sysroot", "DIR", OPTION_SYSROOT_TEXT },
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

	rc = vm_create(&vm, linux_arch_of(options), NULL, why);
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

static int run(struct options *options)
{
	struct linux_options program = { .envp = environ };
	struct linux_result result;
	struct failure why;
	char **arguments;
	int id, rc;

	while ((id = options_next(options)) >= 0) {
		if (id == OPTION_SYSROOT)
			program.sysroot = options->value;
		else
			program.aslr = true;
	}
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
