/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page_sharing.c - see page_sharing.h */
#include "recorder/page_sharing.h"

#include <stdlib.h>

#include "formats/array.h"

uint64_t page_sharing_id(const struct page_sharing *sharing, uint64_t place)
{
	const uint64_t *id = number_map_find(&sharing->ids, place);

	return id ? *id : 0;
}

bool page_sharing_add(struct page_sharing *sharing, uint64_t id,
		      uint64_t place)
{
	if (array_room(sharing->pages, sharing->page_count,
		       sharing->page_room) ||
	    number_map_set(&sharing->ids, place, id))
		return false;
	sharing->pages[sharing->page_count++] =
		(struct shared_page){ id, place };
	return true;
}

bool page_sharing_mix(struct page_sharing *sharing, uint64_t id)
{
	if (array_room(sharing->pages, sharing->page_count,
		       sharing->page_room))
		return false;
	sharing->pages[sharing->page_count++] =
		(struct shared_page){ id, PLACE_MIXED };
	return true;
}

uint64_t page_sharing_place(const struct page_sharing *sharing, uint64_t id)
{
	size_t low = 0, high = sharing->page_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sharing->pages[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < sharing->page_count && sharing->pages[low].id == id ?
		       sharing->pages[low].place : 0;
}

uint32_t page_sharing_member(struct page_sharing *sharing, uint64_t place)
{
	uint32_t number = place_number(place);
	const uint64_t *known = number_map_find(&sharing->members, number);

	if (known)
		return (uint32_t)*known;
	if (sharing->member_count + 1 >= PAGE_PLACE_MEMBERS ||
	    array_room(sharing->numbers, sharing->member_count,
		       sharing->member_room) ||
	    number_map_set(&sharing->members, number,
			   sharing->member_count + 1))
		return 0;
	sharing->numbers[sharing->member_count++] = number;
	return (uint32_t)sharing->member_count;
}

void page_sharing_release(struct page_sharing *sharing)
{
	number_map_release(&sharing->ids);
	number_map_release(&sharing->members);
	free(sharing->pages);
	free(sharing->numbers);
	*sharing = (struct page_sharing){ 0 };
}
