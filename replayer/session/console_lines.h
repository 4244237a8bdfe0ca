/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * console_lines.h - when a machine wrote lines to its console
 *
 * Errors:     those of machine.h; ERR_NOT_FOUND: there are fewer lines.
 */
#ifndef CPREC_REPLAYER_SESSION_CONSOLE_LINES_H
#define CPREC_REPLAYER_SESSION_CONSOLE_LINES_H

#include <stdint.h>

struct failure;
struct recording;

/* When the last byte of a line had been written; lines count from 1.  Replays
 * all until then. */
int console_find_line(struct recording *recording, uint64_t line, uint64_t *out,
		      struct failure *why);

#endif
