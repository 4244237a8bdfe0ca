/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page_index.c - see page_index.h */
#include "index/page_index.h"

#include <stddef.h>

static size_t first_of(const struct segment_index *index, uint64_t page)
{
	return page_touches_find(index->pages, index->page_count, page);
}

static bool is_page(const struct segment_index *index, size_t at,
		    uint64_t page)
{
	return at < index->page_count && index->pages[at].page == page;
}

bool page_index_is_unchanged(const struct segment_index *index, uint64_t page,
			     uint64_t time)
{
	if (!index->steps)
		return false;		/* there is no index */
	for (size_t i = first_of(index, page); is_page(index, i, page); i++) {
		const struct page_touch *touch = &index->pages[i];

		if ((touch->how & PAGE_WAS_WRITTEN) &&
		    time >= touch->write_time)
			return false;
	}
	return true;
}

bool page_index_is_touched(const struct segment_index *index, uint64_t page)
{
	return index->only_writes ||
	       is_page(index, first_of(index, page), page);
}

bool page_index_may_touch(const struct segment_index *index, uint64_t first,
			  uint64_t last)
{
	size_t at = first_of(index, first);

	return !index->steps || index->only_writes ||
	       (at < index->page_count && index->pages[at].page <= last);
}

bool page_index_may_write(const struct segment_index *index, uint64_t first,
			  uint64_t last)
{
	if (!index->steps)
		return true;
	for (size_t i = first_of(index, first);
	     i < index->page_count && index->pages[i].page <= last; i++)
		if (index->pages[i].how & PAGE_WAS_WRITTEN)
			return true;
	return false;
}

const struct page_touch *page_index_resolution(
	const struct segment_index *index, uint64_t page, uint64_t doubt)
{
	for (size_t i = first_of(index, page); is_page(index, i, page); i++) {
		const struct page_touch *touch = &index->pages[i];

		if ((touch->how & PAGE_WAS_RESOLVED) && touch->doubt == doubt)
			return touch;
	}
	return NULL;
}
