/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * races.h - accesses of different threads that nothing orders
 *
 * This room replays a recording with a detector of races and tells which pairs
 * of source lines race, or which values an address may have held because of a
 * race.  It stands above the replayer, which never includes it, and never
 * changes a recording.
 *
 * Other rooms include this header only:
 *
 *	race_pairs.h	all races of a recording
 *	race_values.h	the values that addresses may have held
 */
#ifndef CPREC_REPLAYER_RACES_RACES_H
#define CPREC_REPLAYER_RACES_RACES_H

#include "replayer/races/race_pairs.h"
#include "replayer/races/race_values.h"

#endif
