/* SPDX-License-Identifier: GPL-2.0-or-later */
/* calls.c - who performs each call of the table, in all rooms */
#include "vm/linux/abi/abi.h"
#include "vm/linux/files/files.h"
#include "vm/linux/ipc/ipc.h"
#include "vm/linux/kernel.h"
#include "vm/linux/limits/limits.h"
#include "vm/linux/load/load.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/signals/signals.h"
#include "vm/linux/tasks/tasks.h"

static syscall_handler *const handlers[CALL_COUNT] = {
#define CALL(...)
#define WAIT(...)
#define REFUSED(...)
#define CODE(name, number, function, ...) [CALL_##name] = function,
#define WAIT_CODE(name, number, function, ...) [CALL_##name] = function,
#define LIKE(...)
#include "vm/linux/abi/calls.inc"
#include "vm/linux/abi/calls_32.inc"
#undef LIKE
#undef CALL
#undef WAIT
#undef REFUSED
#undef CODE
#undef WAIT_CODE
};

syscall_handler *call_handler(const struct linux_call *call)
{
	return handlers[linux_call_kind(call)];
}
