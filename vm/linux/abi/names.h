/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names.h - what numbers of a Linux guest are called
 *
 * For whoever shows a recording to a person.  `arch` is the guest's, of
 * formats/registers.h; numbers come from a file and may be anything.
 *
 * Ownership:  names are constants.
 * Errors:     none; what has no name is NULL.
 */
#ifndef CPREC_VM_LINUX_ABI_NAMES_H
#define CPREC_VM_LINUX_ABI_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* "openat" */
const char *linux_syscall_name(unsigned arch, uint64_t number);

/* The number of "execve"; false if there is no such call. */
bool linux_syscall_find(unsigned arch, const char *name, uint64_t *out);

/* Whether the result of a call is an address, unless it is an error. */
bool linux_syscall_gives_address(unsigned arch, uint64_t number);

/* "ENOENT" for -2: of a result that is a negative errno. */
const char *linux_error_name(int64_t result);

/* "SIGSEGV"; real-time signals are "SIGRT_0" and on, as strace(1) has them. */
const char *linux_signal_name(uint64_t number);

#endif
