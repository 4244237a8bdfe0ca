/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page_versions.c - see page_versions.h */
#include "replayer/recording/page_versions.h"

#include <assert.h>
#include <stdlib.h>

#include "formats/error.h"

#define MOST_VERSIONS (1u << 30)	/* positions fit 32 bits with room */

struct page_version {
	uint64_t page, id;
	uint32_t segment;
	uint32_t before;	/* 1 + position of the version before, or 0 */
};

void page_versions_begin(struct page_versions *versions, uint32_t segment)
{
	versions->count = 0;
	number_map_clear(&versions->newest);
	versions->first = versions->end = segment;
}

static int reserve(struct page_versions *versions, size_t more)
{
	size_t needed = versions->count + more;
	size_t capacity = versions->capacity ? versions->capacity : 1024;
	struct page_version *list;

	if (more > MOST_VERSIONS - versions->count)
		return ERR_NO_MEMORY;
	if (needed <= versions->capacity)
		return 0;
	while (capacity < needed)
		capacity *= 2;
	list = realloc(versions->list, capacity * sizeof(*list));
	if (!list)
		return ERR_NO_MEMORY;
	versions->list = list;
	versions->capacity = (uint32_t)capacity;
	return 0;
}

static int add_one(struct page_versions *versions, const struct page_ref *ref)
{
	const uint64_t *before = number_map_find(&versions->newest, ref->page);

	versions->list[versions->count] = (struct page_version) {
		.page = ref->page,
		.id = ref->id,
		.segment = versions->end,
		.before = before ? (uint32_t)*before : 0,
	};
	return number_map_set(&versions->newest, ref->page, ++versions->count);
}

int page_versions_add(struct page_versions *versions,
		      const struct page_ref *refs, size_t count)
{
	int rc = reserve(versions, count);

	for (size_t i = 0; i < count && !rc; i++)
		rc = add_one(versions, &refs[i]);
	if (!rc)
		versions->end++;
	return rc;
}

uint64_t page_versions_find(const struct page_versions *versions,
			    uint32_t segment, uint64_t page)
{
	const uint64_t *newest = number_map_find(&versions->newest, page);

	assert(versions->first <= segment && segment < versions->end);
	for (uint64_t at = newest ? *newest : 0; at;
	     at = versions->list[at - 1].before)
		if (versions->list[at - 1].segment <= segment)
			return versions->list[at - 1].id;
	return 0;
}

void page_versions_release(struct page_versions *versions)
{
	free(versions->list);
	number_map_release(&versions->newest);
	*versions = (struct page_versions) { 0 };
}
