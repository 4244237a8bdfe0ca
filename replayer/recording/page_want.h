/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page_want.h - which stored page somebody wants, and where */
#ifndef CPREC_REPLAYER_RECORDING_PAGE_WANT_H
#define CPREC_REPLAYER_RECORDING_PAGE_WANT_H

#include <stdint.h>

#include "formats/region.h"

/* A stored page, and where its contents go. */
struct page_want {
	uint64_t id;		/* not 0 */
	uint8_t *to;
};

#endif
