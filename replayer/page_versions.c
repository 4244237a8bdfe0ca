/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page_versions.c - see page_versions.h */
#include "replayer/page_versions.h"

#include <assert.h>
#include <stdlib.h>

#include "formats/error.h"

#define FIRST_SLOTS 1024u
#define MOST_VERSIONS (1u << 30)	/* positions fit 32 bits with room */

struct page_version {
	uint64_t page, id;
	uint32_t segment;
	uint32_t before;	/* 1 + position of the version before, or 0 */
};

/* The slot where `page` is or would go.  Fibonacci hashing. */
static uint32_t *slot_of(const struct page_versions *versions, uint64_t page)
{
	uint32_t mask = versions->slots - 1;
	uint32_t at = (uint32_t)(page * 0x9e3779b97f4a7c15u >> 32) & mask;

	for (;; at = (at + 1) & mask) {
		uint32_t *slot = &versions->newest[at];

		if (!*slot || versions->list[*slot - 1].page == page)
			return slot;
	}
}

static int grow_table(struct page_versions *versions)
{
	uint32_t *old = versions->newest;
	uint32_t old_slots = versions->slots;
	uint32_t slots = old_slots ? old_slots * 2 : FIRST_SLOTS;
	uint32_t *table = calloc(slots, sizeof(*table));

	if (!table)
		return ERR_NO_MEMORY;
	versions->newest = table;
	versions->slots = slots;
	for (uint32_t i = 0; i < old_slots; i++)
		if (old[i])
			*slot_of(versions, versions->list[old[i] - 1].page) =
				old[i];
	free(old);
	return 0;
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
	uint32_t *slot;

	/* At most half full, so that chains of slots stay short. */
	if (versions->pages >= versions->slots / 2 && grow_table(versions))
		return ERR_NO_MEMORY;
	slot = slot_of(versions, ref->page);
	if (!*slot)
		versions->pages++;
	versions->list[versions->count] = (struct page_version) {
		.page = ref->page,
		.id = ref->id,
		.segment = versions->segments,
		.before = *slot,
	};
	*slot = ++versions->count;
	return 0;
}

int page_versions_add(struct page_versions *versions,
		      const struct page_ref *refs, size_t count)
{
	int rc = reserve(versions, count);

	for (size_t i = 0; i < count && !rc; i++)
		rc = add_one(versions, &refs[i]);
	if (!rc)
		versions->segments++;
	return rc;
}

uint64_t page_versions_find(const struct page_versions *versions,
			    uint32_t segment, uint64_t page)
{
	uint32_t at;

	assert(segment < versions->segments);
	if (!versions->slots)
		return 0;
	for (at = *slot_of(versions, page); at;
	     at = versions->list[at - 1].before)
		if (versions->list[at - 1].segment <= segment)
			return versions->list[at - 1].id;
	return 0;
}

void page_versions_release(struct page_versions *versions)
{
	free(versions->list);
	free(versions->newest);
	*versions = (struct page_versions) { 0 };
}
