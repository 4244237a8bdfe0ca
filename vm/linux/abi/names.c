/* SPDX-License-Identifier: GPL-2.0-or-later */
/* names.c - see names.h */
#include <string.h>

#include "vm/linux/abi/calls.h"
#include "vm/linux/abi/names.h"

const char *linux_syscall_name(unsigned arch, uint64_t number)
{
	const struct linux_call *call = linux_call_of(arch, number);

	return call ? call->name : NULL;
}

/* All numbers are below; a choice of Linux. */
#define NUMBERS 1024u

bool linux_syscall_find(unsigned arch, const char *name, uint64_t *out)
{
	for (*out = 0; *out < NUMBERS; ++*out) {
		const char *found = linux_syscall_name(arch, *out);

		if (found && !strcmp(found, name))
			return true;
	}
	return false;
}

bool linux_syscall_gives_address(unsigned arch, uint64_t number)
{
	const struct linux_call *call = linux_call_of(arch, number);

	return call && call->args[CALL_RESULT].kind == ARG_ADDRESS;
}

/* MAX_ERRNO of Linux. */
#define HIGHEST_ERROR 4095

const char *linux_error_name(int64_t result)
{
	if (result >= 0 || result < -HIGHEST_ERROR)
		return NULL;
	return strerrorname_np((int)-result);
}

/* The C library's names differ from those of signal(7) here and there. */
static const char *const signals[] = {
	[1] = "SIGHUP", "SIGINT",   "SIGQUIT",	"SIGILL",   "SIGTRAP",
	"SIGABRT",	"SIGBUS",   "SIGFPE",	"SIGKILL",  "SIGUSR1",
	"SIGSEGV",	"SIGUSR2",  "SIGPIPE",	"SIGALRM",  "SIGTERM",
	"SIGSTKFLT",	"SIGCHLD",  "SIGCONT",	"SIGSTOP",  "SIGTSTP",
	"SIGTTIN",	"SIGTTOU",  "SIGURG",	"SIGXCPU",  "SIGXFSZ",
	"SIGVTALRM",	"SIGPROF",  "SIGWINCH", "SIGIO",    "SIGPWR",
	"SIGSYS",	"SIGRT_0",  "SIGRT_1",	"SIGRT_2",  "SIGRT_3",
	"SIGRT_4",	"SIGRT_5",  "SIGRT_6",	"SIGRT_7",  "SIGRT_8",
	"SIGRT_9",	"SIGRT_10", "SIGRT_11", "SIGRT_12", "SIGRT_13",
	"SIGRT_14",	"SIGRT_15", "SIGRT_16", "SIGRT_17", "SIGRT_18",
	"SIGRT_19",	"SIGRT_20", "SIGRT_21", "SIGRT_22", "SIGRT_23",
	"SIGRT_24",	"SIGRT_25", "SIGRT_26", "SIGRT_27", "SIGRT_28",
	"SIGRT_29",	"SIGRT_30", "SIGRT_31", "SIGRT_32",
};

const char *linux_signal_name(uint64_t number)
{
	return number < sizeof(signals) / sizeof(signals[0]) ? signals[number]
							     : NULL;
}
