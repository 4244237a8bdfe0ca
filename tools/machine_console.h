/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_console.h - standard input and output as a live machine's console
 *
 * There is one; Ctrl-A x and signals end the machine.
 */
#ifndef CPREC_TOOLS_MACHINE_CONSOLE_H
#define CPREC_TOOLS_MACHINE_CONSOLE_H

#include "recorder/machine.h"

/* The machine is to have it. */
void machine_console_set(struct machine_options *options);

/* While it runs, a terminal is raw. */
void machine_console_open(void);
void machine_console_close(void);

/* How it ended, unless as it should; the exit status of that. */
void machine_say_end(const struct machine_ending *ending);
int machine_status(const struct machine_ending *ending);

#endif
