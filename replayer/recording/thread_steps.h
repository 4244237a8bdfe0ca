/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thread_steps.h - how many instructions threads have retired by a time
 *
 * The count of a thread goes on where another stream takes over.
 */
#ifndef CPREC_REPLAYER_RECORDING_THREAD_STEPS_H
#define CPREC_REPLAYER_RECORDING_THREAD_STEPS_H

#include <stdint.h>

struct failure;
struct recording;

/*
 * Steps of a thread, since it began, before time `t`.  ERR_NOT_FOUND if it has
 * not begun then; if it has ended, all of them.
 */
int recording_steps(struct recording *recording, uint32_t thread, uint64_t t,
		    uint64_t *steps, struct failure *why);

/*
 * The first time at which thread `tid` had retired `steps` instructions.
 * ERR_NOT_FOUND if there is no such thread, or it never had so many.
 */
int recording_time_of(struct recording *recording, uint32_t tid,
		      uint64_t steps, uint64_t *t, struct failure *why);

#endif
