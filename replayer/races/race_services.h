/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * race_services.h - functions of the C library that work on their caller's
 * memory
 *
 * What the C library does among itself is no race of the program, but what it
 * reads and writes in its caller's name is: memset(), snprintf(), read().
 * Their accesses count as the caller's.
 *
 * Sources:  ISO C11, 7.21 to 7.31; POSIX.1-2017, System Interfaces, 2.9.1: the
 *           functions that need not be thread-safe, which use static memory.
 *           Other names: glibc's, and the versions that it chooses by what the
 *           processor can do.
 *
 * Ownership:  plain data.
 * Errors:     none.
 */
#ifndef CPREC_REPLAYER_RACES_RACE_SERVICES_H
#define CPREC_REPLAYER_RACES_RACE_SERVICES_H

#include <stdbool.h>
#include <stdint.h>

enum race_service_kind {
	SERVICE_NONE,
	SERVICE_CALLER,		/* works on the caller's memory */
	SERVICE_STREAM,		/* so, but for that of a stream, which has a
				   lock of its own */
	SERVICE_ALL,		/* static memory of the library is the
				   program's business, too */
};

/* Which stream: the number of an argument, or one of these. */
#define SERVICE_STDIN 0xfeu
#define SERVICE_STDOUT 0xffu

struct race_service {
	uint8_t kind;		/* enum race_service_kind */
	uint8_t stream;		/* SERVICE_STREAM */
	bool gives;		/* memory that it gets is the caller's then */
};

struct race_service race_service_of(const char *name);

#define SERVED_ARGS 6u

/* A call that the program made of the C library. */
struct race_served_call {
	struct race_service service;
	uint64_t sp;		/* at its first instruction */
	uint64_t place;		/* in the program */
	uint64_t stream;	/* SERVICE_STREAM: its address */
	uint64_t args[SERVED_ARGS];
};

#define SERVED_CALLS 8u

/* Those that have not returned; a function may call back the program. */
struct race_served {
	struct race_served_call calls[SERVED_CALLS];
	unsigned depth;
};

#endif
