/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unpack_pages.h - many stored pages at once, on several threads */
#ifndef CPREC_REPLAYER_RECORDING_UNPACK_PAGES_H
#define CPREC_REPLAYER_RECORDING_UNPACK_PAGES_H

#include <stddef.h>

#include "replayer/recording/page_want.h"
#include "replayer/recording/stored_pages.h"

/*
 * Copies the pages of a list, which it sorts.  Of many, other threads unpack
 * some, each chunk once; nothing more is kept than was.
 */
int stored_pages_read_all(struct stored_pages *store,
			  const struct trace_reader *reader,
			  struct page_want *list, size_t count,
			  struct failure *why);

#endif
