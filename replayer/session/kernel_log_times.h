/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_log_times.h - when a machine's kernel logged its messages
 *
 * That is when it calls the function of its own that stores one, the text of
 * which is complete then.  What is continued later has the time of its first
 * part.  Only segments are replayed in which messages are stored: what the ring
 * has at their key frames tells which.
 *
 * Ownership:  all is borrowed; kernel_log_times_release() ends a zeroed one, too.
 * Errors:     those of kernel.h.  A kernel without the functions is none:
 *             no time is known then.
 */
#ifndef CPREC_REPLAYER_SESSION_KERNEL_LOG_TIMES_H
#define CPREC_REPLAYER_SESSION_KERNEL_LOG_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/number_map.h"

struct failure;
struct kernel_ring;
struct names;
struct position;

struct kernel_log_times {
	struct number_map by_sequence;
};

/* Of the messages that the ring has at a position. */
int kernel_log_times_find(struct kernel_log_times *out,
			  struct kernel_ring *ring, struct names *names,
			  const struct position *at, struct failure *why);
void kernel_log_times_release(struct kernel_log_times *times);

/* By the number of a message; false: not known. */
bool kernel_log_time(const struct kernel_log_times *times, uint64_t sequence,
		     uint64_t *out);

#endif
