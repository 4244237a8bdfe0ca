/* SPDX-License-Identifier: GPL-2.0-or-later */
/* position.c - see position.h */
#include "replayer/recording/position.h"

#include <inttypes.h>
#include <stdio.h>

int position_compare(const struct position *a, const struct position *b)
{
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->events < b->events ? -1 : a->events > b->events;
}

const char *position_text(char text[POSITION_TEXT],
			  const struct position *position)
{
	if (position->events)
		snprintf(text, POSITION_TEXT, "%" PRIu64 ".%" PRIu32,
			 position->time, position->events);
	else
		snprintf(text, POSITION_TEXT, "%" PRIu64, position->time);
	return text;
}

/*
 * SYSCALL and VALUE are what their instruction does.  GIVE_WAY belongs to what
 * is before it: whether there is one depends on what was doubtful, which
 * depends on where key frames are.
 */
bool position_counts(enum packet_kind kind)
{
	return kind == PACKET_SIGNAL || kind == PACKET_FAULT ||
	       kind == PACKET_FIXED_CALL || kind == PACKET_INTERRUPT ||
	       kind == PACKET_DMA ||
	       kind == PACKET_EXIT || kind == PACKET_SLICE ||
	       kind == PACKET_RETURN;
}
