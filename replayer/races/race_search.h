/* SPDX-License-Identifier: GPL-2.0-or-later */
/* race_search.h - the two replays of a search; private to this room */
#ifndef CPREC_REPLAYER_RACES_RACE_SEARCH_H
#define CPREC_REPLAYER_RACES_RACE_SEARCH_H

#include "replayer/races/race_replay.h"

struct lines;

/* For a search that was set up: says whose code is whose. */
int races_start(struct race_replay *replay, struct lines *lines,
		struct failure *why);

/* The first replay and the second. */
int races_mark(struct race_replay *replay, struct lines *lines,
	       struct failure *why);
int races_look(struct race_replay *replay, struct lines *lines,
	       struct failure *why);

#endif
