/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accesses.h - what `last`, `writes`, `reads` and `accesses` have in common
 *
 * Ownership:  as in options.h.
 */
#ifndef CPREC_TOOLS_ACCESSES_H
#define CPREC_TOOLS_ACCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "replayer/session/session.h"
#include "tools/options.h"
#include "tools/questions.h"
#include "tools/shown_values.h"

enum accesses_which { ACCESSES_ALL, ACCESSES_FIRST, ACCESSES_LAST };

struct accesses_command {
	struct request asked;	/* `at`: up to this time */
	const char *from;	/* NULL: the start */
	const char *reg;	/* NULL: memory is meant */
	bool reads, writes;
	enum accesses_which which;
	uint64_t limit;		/* 0: none */
	bool changes, json;
	bool only_thread;	/* only what the thread does whose variables
				   are meant, if one is */
	const char *value;	/* NULL: any */
};

enum { ACCESSES_ADDR = 256, ACCESSES_SIZE, ACCESSES_AT, ACCESSES_FROM,
       ACCESSES_TO, ACCESSES_ONLY_FIRST, ACCESSES_ONLY_LAST, ACCESSES_LIMIT,
       ACCESSES_CHANGES, ACCESSES_VALUE, ACCESSES_THREAD, ACCESSES_FRAME,
       ACCESSES_DEBUG_DIR, ACCESSES_REGISTER, ACCESSES_PHYSICAL,
       ACCESSES_PROCESS, ACCESSES_SPACE, ACCESSES_WRITES, ACCESSES_JSON,
       ACCESSES_ELEMENTS, ACCESSES_RAW };

/* Options that all four have, for their tables. */
#define ACCESSES_OPTION_ADDR                                                  \
	{ ACCESSES_ADDR, "addr", "A",                                         \
	  "an address: 0x1000, counter+8, libc.so.6!environ;\n"               \
	  "or an expression: head->name, table[3].x, *p; or\n"                \
	  "heap:p, the block of the heap that p points into" }
#define ACCESSES_OPTION_SIZE                                                  \
	{ ACCESSES_SIZE, "size", "N",                                         \
	  "how many bytes (k, m: times 1024); without this the\n"             \
	  "size of a variable given by its name, else 8" }
#define ACCESSES_OPTIONS_COMMON                                               \
	{ ACCESSES_FRAME, "frame", "N",                                       \
	  "whose variables are meant: 0 is the innermost\n"                   \
	  "function, as 'cprec backtrace' shows them" },                      \
	{ ACCESSES_PHYSICAL, "physical", NULL,                                \
	  "of a machine: the address is physical; without this\n"             \
	  "it is as at the end of what is asked for",                         \
	  .without = "process asid" },                                        \
	{ ACCESSES_PROCESS, "process", "P",                                   \
	  "of a machine: the address is one of this process of\n"            \
	  "its kernel, a number or a name", .without = "asid" },              \
	{ ACCESSES_SPACE, "asid", "N",                                        \
	  "of a machine: the address is one of the program that\n"            \
	  "last had this number of an address space" },                       \
	SHOWN_ROWS(ACCESSES_ELEMENTS, ACCESSES_RAW),                          \
	{ ACCESSES_DEBUG_DIR, "debug-dir", "DIR",                             \
	  "where debugging information is looked for, too" },                 \
	{ ACCESSES_JSON, "json", NULL,                                        \
	  "one JSON object per line: at, events, thread, access,\n"           \
	  "addr, size, old, new, by, pc, function, line, ..." }

/* Takes one of these options. */
int accesses_take(struct accesses_command *command,
		  const struct options *options, int id);

/* Answers for the recording, and prints; returns the exit status. */
int accesses_answer(const struct accesses_command *command,
		    struct options *options, int id);

#endif
