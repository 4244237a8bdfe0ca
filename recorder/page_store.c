/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page_store.c - see page_store.h */
#include "recorder/page_store.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "formats/region.h"

#define FIRST_ROOM 4096

/* Words that a patch has at most: a whole page packs to some 1.5 KB. */
#define PATCH_MOST 192

int page_store_init(struct page_store *store)
{
	memset(store, 0, sizeof(*store));
	store->next_id = 1;
	store->batch_first = 1;
	store->stored_room = FIRST_ROOM;
	store->stored = calloc(FIRST_ROOM, sizeof(*store->stored));
	return store->stored ? 0 : ERR_NO_MEMORY;
}

void page_store_release(struct page_store *store)
{
	free(store->stored);
	number_map_release(&store->current);
	bases_release(&store->bases);
	page_groups_release(&store->groups);
	output_release(&store->batch.pages);
	memset(store, 0, sizeof(*store));
}

/* ------- contents ------- */

static struct stored *stored_slot(struct stored *table, size_t room,
				  const struct page_key *key)
{
	size_t at = key->low & (room - 1);

	while (table[at].id && (table[at].key.low != key->low ||
				table[at].key.high != key->high))
		at = (at + 1) & (room - 1);
	return &table[at];
}

static int grow_stored(struct page_store *store)
{
	size_t room = store->stored_room * 2;
	struct stored *table;

	if (store->stored_count * 4 < store->stored_room * 3)
		return 0;
	table = calloc(room, sizeof(*table));
	if (!table)
		return ERR_NO_MEMORY;
	for (size_t i = 0; i < store->stored_room; i++)
		if (store->stored[i].id)
			*stored_slot(table, room, &store->stored[i].key) =
				store->stored[i];
	free(store->stored);
	store->stored = table;
	store->stored_room = room;
	return 0;
}

bool page_store_has(const struct page_store *store, const uint8_t *bytes,
		    uint64_t *id)
{
	struct page_key key;

	*id = 0;
	if (page_is_zero(bytes))
		return true;
	key = page_hash(bytes);
	*id = stored_slot(store->stored, store->stored_room, &key)->id;
	return *id != 0;
}

static void put_whole(struct page_store *store, const uint8_t *bytes)
{
	if (!store->batch.count)
		store->batch_first = store->next_id;
	page_batch_add(&store->batch, bytes);
}

static void put_patch(struct page_store *store, const struct page_patch *patch,
		      const struct base *base)
{
	if (!store->batch.count)
		store->batch_first = store->next_id;
	page_batch_add_patch(&store->batch, patch, store->next_id - base->id);
}

/* Puts a new content into the batch. */
static int put_item(struct page_store *store, uint64_t page,
		    const uint8_t *bytes)
{
	struct page_group *group =
		page_groups_store(&store->groups, page, store->bases.turn);
	const uint8_t *before;
	const struct base *base = bases_find(&store->bases, page, &before);
	struct base next = { .page = page, .id = store->next_id };
	bool may_patch = base && group && base->began == group->began &&
			 base->patches < PATCHES_MOST;
	struct page_patch patch;

	if (!group)
		return ERR_NO_MEMORY;
	group->stores++;
	group->pages += !base || base->began != group->began || !base->changed;
	next.began = group->began;
	next.changed = true;
	if (may_patch && page_patch_make(&patch, before, bytes, PATCH_MOST)) {
		put_patch(store, &patch, base);
		next.patches = base->patches + 1;
	} else {
		put_whole(store, bytes);
		store->unlike += may_patch || !base;
	}
	/* What is stored a second time may be so again. */
	if (base || page_store_current(store, page))
		bases_keep(&store->bases, &next, bytes);
	return store->batch.pages.error;
}

int page_store_add(struct page_store *store, uint64_t page,
		   const uint8_t *bytes, uint64_t *id)
{
	struct page_key key;
	struct stored *slot;

	*id = 0;
	if (page_is_zero(bytes))
		return 0;
	if (grow_stored(store))
		return ERR_NO_MEMORY;
	key = page_hash(bytes);
	slot = stored_slot(store->stored, store->stored_room, &key);
	if (!slot->id) {
		int rc = put_item(store, page, bytes);

		if (rc)
			return rc;
		slot->key = key;
		slot->id = store->next_id++;
		store->stored_count++;
	}
	*id = slot->id;
	return 0;
}

/* ------- groups ------- */

bool page_store_begins(const struct page_store *store, uint64_t page)
{
	return page_groups_begun(&store->groups, page, store->bases.turn);
}

uint64_t page_store_begin(struct page_store *store, uint64_t page)
{
	const struct page_group *group =
		page_groups_begun(&store->groups, page, store->bases.turn);
	const uint8_t *bytes;
	struct base *base = bases_look(&store->bases, page, &bytes);
	struct page_key key;

	if (!group || !base || base->began != group->began_before ||
	    !base->changed || base->id != page_store_current(store, page))
		return 0;
	put_whole(store, bytes);
	if (store->batch.pages.error)
		return 0;	/* the batch tells */
	key = page_hash(bytes);
	stored_slot(store->stored, store->stored_room, &key)->id =
		store->next_id;
	base->id = store->next_id++;
	base->began = group->began;
	base->patches = 0;
	base->changed = false;
	return base->id;
}

/* ------- the newest snapshot ------- */

uint64_t page_store_current(const struct page_store *store, uint64_t page)
{
	const uint64_t *id = number_map_find(&store->current, page);

	return id ? *id : 0;
}

int page_store_set_current(struct page_store *store, uint64_t page,
			   uint64_t id)
{
	return number_map_set(&store->current, page, id);
}

void page_store_each(const struct page_store *store, uint64_t first,
		     uint64_t count,
		     void (*visit)(void *context, uint64_t page), void *context)
{
	if (count < store->current.room) {
		for (uint64_t page = first; page < first + count; page++)
			if (page_store_current(store, page))
				visit(context, page);
		return;
	}
	for (size_t i = 0; i < store->current.room; i++) {
		const struct number_slot *slot = &store->current.slots[i];

		if (slot->key != NUMBER_MAP_NONE && slot->value &&
		    slot->key - first < count)
			visit(context, slot->key);
	}
}
