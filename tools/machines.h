/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machines.h - what commands do with the recording of a machine
 *
 * Each function takes the place of what its command does with a program's, and
 * is asked by it.
 *
 * Errors:     those of replayer/machine.h; ERR_INPUT.
 */
#ifndef CPREC_TOOLS_MACHINES_H
#define CPREC_TOOLS_MACHINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replayer/machine.h"

struct failure;

/* `cprec replay`: up to a time, with what the console said unless `quiet`. */
int machine_replay(struct recording *recording, const char *to, bool quiet,
		   struct failure *why);

/* `cprec verify`. */
int machine_verify(struct recording *recording, bool quiet,
		   struct failure *why);

/* How it ended, in words: an exit code of a summary. */
const char *machine_end_text(uint64_t code);

#endif
