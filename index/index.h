/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * index.h - what is known of segments without executing them
 *
 * The summarization index says which pages each segment touched, so that a
 * question replays the one segment that matters, or none.  This room answers
 * from it and from what stands in key frames and packets.  It never runs a
 * guest: whoever needs a replay asks here first.
 *
 * Other rooms include this header only:
 *
 *	page_index.h	answers of the page level
 *	segment_view.h	key frame, index and changes of pages of one segment
 *	doubts.h	where doubts of pages begin and end
 *	lines.h		the fine level: lines of memory, and stretches of time
 *	table_changes.h	of a machine: which page tables were in use, and when
 *
 * Source: US 7,620,938 B2: summarization index.
 */
#ifndef CPREC_INDEX_INDEX_H
#define CPREC_INDEX_INDEX_H

#include "index/doubts.h"
#include "index/lines.h"
#include "index/page_index.h"
#include "index/segment_view.h"
#include "index/table_changes.h"

#endif
