/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page_groups.c - see page_groups.h */
#include "recorder/page_groups.h"

#include <stdlib.h>

#include "formats/array.h"

/*
 * After this many stores of a page, on average, its group begins anew.  More
 * make recordings smaller, and questions unpack more patches for each page: a
 * choice between these.
 */
#define STORES_MEAN 8

static struct page_group *find(const struct page_groups *groups, uint64_t page)
{
	const uint64_t *place =
		number_map_find(&groups->places, page / PAGE_GROUP);

	return place ? &groups->list[*place] : NULL;
}

static struct page_group *add(struct page_groups *groups, uint64_t page)
{
	if (array_room(groups->list, groups->count, groups->room) ||
	    number_map_set(&groups->places, page / PAGE_GROUP, groups->count))
		return NULL;
	groups->list[groups->count] = (struct page_group){ 0 };
	return &groups->list[groups->count++];
}

struct page_group *page_groups_store(struct page_groups *groups, uint64_t page,
				     uint64_t turn)
{
	struct page_group *group = find(groups, page);

	if (!group)
		group = add(groups, page);
	if (!group || group->turn == turn)
		return group;
	group->turn = turn;
	if (group->stores <= group->pages * STORES_MEAN)
		return group;
	group->began_before = group->began;
	group->began = turn;
	group->stores = group->pages = 0;
	return group;
}

struct page_group *page_groups_begun(const struct page_groups *groups,
				     uint64_t page, uint64_t turn)
{
	struct page_group *group = find(groups, page);

	return group && group->began == turn ? group : NULL;
}

void page_groups_release(struct page_groups *groups)
{
	free(groups->list);
	number_map_release(&groups->places);
	*groups = (struct page_groups){ 0 };
}
