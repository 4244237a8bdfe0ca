/* SPDX-License-Identifier: GPL-2.0-or-later */
/* race_progress.h - how far a search for races is */
#ifndef CPREC_REPLAYER_RACES_RACE_PROGRESS_H
#define CPREC_REPLAYER_RACES_RACE_PROGRESS_H

#include <stdint.h>

/* Told from time to time; both numbers are of the same unit. */
typedef void race_progress(void *context, uint64_t done, uint64_t total);

#endif
