/* SPDX-License-Identifier: GPL-2.0-or-later */
/* execs_internal.h - the execs themselves, for files of this room */
#ifndef CPREC_REPLAYER_RECORDING_EXECS_INTERNAL_H
#define CPREC_REPLAYER_RECORDING_EXECS_INTERNAL_H

#include "replayer/recording/execs.h"
#include "replayer/recording/recording_data.h"

/* The execs of a process that had several threads, by time. */
const struct exec *recording_execs(struct recording *recording, size_t *count);

/*
 * Whether an exec ends the thread, and when: another one's, or its own, from
 * which on it is thread 0.
 */
bool recording_exec_ends(struct recording *recording, uint32_t thread,
			 uint64_t *time);

#endif
