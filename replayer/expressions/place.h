/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * place.h - which frame of which thread is meant, and when
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_PLACE_H
#define CPREC_REPLAYER_EXPRESSIONS_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "replayer/recording/recording.h"

struct expression_place {
	struct position at;
	bool some_thread;	/* else the one whose turn it is */
	uint32_t tid;
	uint64_t frame;		/* as a backtrace counts them; 0: the innermost */
};

#endif
