/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * split_join.h - a module's file with all units that were split from it
 *
 * Errors:     none: what is missing is told (debug_search_note()), and its units
 *             stay without contents.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_SPLIT_JOIN_H
#define CPREC_REPLAYER_SYMBOLS_SPLIT_JOIN_H

struct debug_place;

/*
 * Returns a file in memory that has what is in files of units or in a package, or
 * `fd`, if nothing of it is in any; `fd` is closed then.
 */
int split_join(int fd, const struct debug_place *place);

#endif
