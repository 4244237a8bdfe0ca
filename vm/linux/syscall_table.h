/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * syscall_table.h - every system call: its numbers and its arguments
 *
 * One row per call.  A row without a handler is performed as its arguments
 * say (marshal.c); a handler is called instead of that, but descriptors of
 * cprec's own are refused in either case.
 *
 * Another kind of guest is a column: `enum abi`, the numbers in the table and
 * the sizes of structures in syscall_struct_size().
 */
#ifndef CPREC_VM_LINUX_SYSCALL_TABLE_H
#define CPREC_VM_LINUX_SYSCALL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct linux_process;
struct syscall_row;

enum {
	SYSCALL_NUMBERS = 512,	/* all are below, in every column */
	CALL_ARGS = 6,		/* arguments of a call */
};

enum abi {
	ABI_X86_64,
	ABI_COUNT
};

enum arg_kind {
	ARG_INT,		/* also: unused */
	ARG_FD,
	ARG_PATH,		/* string; NULL passes */
	ARG_PATH_FOLLOWED,	/* ... that may lead to the program itself;
				 * flags that forbid it in `other`, if any */
	ARG_IN,			/* structure that the kernel reads */
	ARG_OUT,		/* structure that it fills in on success */
	ARG_OUT_EINTR,		/* ... and when a signal interrupts */
	ARG_INOUT,
	ARG_INOUT_EINTR,
	ARG_BYTES_IN,		/* length in argument `other` */
	ARG_BYTES_OUT,		/* room in `other`, filled to the result */
	ARG_ARRAY_IN,		/* of structures, count in `other` */
	ARG_ARRAY_OUT,		/* filled to the result */
	ARG_ARRAY_INOUT,
	ARG_COUNTED_OUT,	/* room and size in the ARG_LENGTH at `other` */
	ARG_LENGTH,		/* socklen_t, in and out */
	ARG_MASK,		/* of signals, for the length of the call */
};

/* Structures by name; the sizes are in the table's file. */
enum guest_struct {
	S_NONE,
	S_INT, S_LONG, S_TWO_INTS, S_STAT, S_STATFS, S_STATX, S_TIMESPEC,
	S_TWO_TIMESPECS, S_TIMEVAL, S_TWO_TIMEVALS, S_TIMEZONE, S_UTIMBUF,
	S_TIMEX, S_TMS, S_ITIMERVAL, S_ITIMERSPEC, S_RUSAGE, S_RLIMIT,
	S_SYSINFO, S_UTSNAME, S_SIGSET, S_SIGINFO, S_SIGEVENT, S_POLLFD,
	S_EPOLL_EVENT, S_CAP_HEADER, S_CAP_DATA, S_MQ_ATTR, S_FLOCK,
	S_CACHESTAT, S_SEMBUF,
	STRUCT_COUNT
};

struct syscall_arg {
	uint8_t kind;		/* enum arg_kind */
	uint8_t other;		/* number of an argument */
	uint8_t type;		/* enum guest_struct */
};

typedef int64_t syscall_handler(struct linux_process *process,
				const struct syscall_row *row,
				const uint64_t *arg);

struct syscall_row {
	const char *name;
	uint16_t number[ABI_COUNT];
	int16_t refusal;	/* errno of a call that is always refused */
	bool waits;		/* may take long: other threads run meanwhile */
	bool gives_address;	/* as its result */
	syscall_handler *handler;
	struct syscall_arg args[CALL_ARGS];
};

extern const struct syscall_row syscall_rows[];
extern const size_t syscall_row_count;

/* The row of a number; NULL. */
const struct syscall_row *syscall_row_of(uint64_t number);

size_t syscall_struct_size(enum guest_struct type, enum abi abi);

#endif
