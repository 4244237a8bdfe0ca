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

/* Puts a new content into the batch. */
static void put_item(struct page_store *store, uint64_t page,
		     const uint8_t *bytes)
{
	const uint8_t *before;
	const struct base *base = bases_find(&store->bases, page, &before);
	struct page_patch patch;

	if (!store->batch.count)
		store->batch_first = store->next_id;
	if (base && base->patches < PATCHES_MOST &&
	    page_patch_make(&patch, before, bytes, PATCH_MOST)) {
		page_batch_add_patch(&store->batch, &patch,
				     store->next_id - base->id);
		bases_keep(&store->bases, page, store->next_id,
			   base->patches + 1, bytes);
		return;
	}
	page_batch_add(&store->batch, bytes);
	store->whole++;
	/* What is stored a second time may be so again. */
	if (base || page_store_current(store, page))
		bases_keep(&store->bases, page, store->next_id, 0, bytes);
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
		put_item(store, page, bytes);
		if (store->batch.pages.error)
			return store->batch.pages.error;
		slot->key = key;
		slot->id = store->next_id++;
		store->stored_count++;
	}
	*id = slot->id;
	return 0;
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
