/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page_store.c - see page_store.h */
#include "recorder/page_store.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "formats/region.h"

#define FIRST_ROOM 4096
#define NO_PAGE UINT64_MAX

static struct current *new_current(size_t room)
{
	struct current *table = malloc(room * sizeof(*table));

	if (table)
		memset(table, 0xff, room * sizeof(*table));
	return table;
}

int page_store_init(struct page_store *store)
{
	memset(store, 0, sizeof(*store));
	store->next_id = 1;
	store->batch_first = 1;
	store->stored_room = FIRST_ROOM;
	store->current_room = FIRST_ROOM;
	store->stored = calloc(FIRST_ROOM, sizeof(*store->stored));
	store->current = new_current(FIRST_ROOM);
	return store->stored && store->current ? 0 : ERR_NO_MEMORY;
}

void page_store_release(struct page_store *store)
{
	free(store->stored);
	free(store->current);
	output_release(&store->batch);
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

int page_store_add(struct page_store *store, const uint8_t *bytes,
		   uint64_t *id)
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
		if (!store->batch.size)
			store->batch_first = store->next_id;
		output_bytes(&store->batch, bytes, GUEST_PAGE);
		if (store->batch.error)
			return store->batch.error;
		slot->key = key;
		slot->id = store->next_id++;
		store->stored_count++;
	}
	*id = slot->id;
	return 0;
}

/* ------- the newest snapshot ------- */

static struct current *current_slot(struct current *table, size_t room,
				    uint64_t page)
{
	size_t at = (page * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (room - 1);

	while (table[at].page != NO_PAGE && table[at].page != page)
		at = (at + 1) & (room - 1);
	return &table[at];
}

uint64_t page_store_current(const struct page_store *store, uint64_t page)
{
	const struct current *slot =
		current_slot(store->current, store->current_room, page);

	return slot->page == page ? slot->id : 0;
}

static int grow_current(struct page_store *store)
{
	size_t room = store->current_room * 2;
	struct current *table;

	if (store->current_count * 4 < store->current_room * 3)
		return 0;
	table = new_current(room);
	if (!table)
		return ERR_NO_MEMORY;
	for (size_t i = 0; i < store->current_room; i++)
		if (store->current[i].page != NO_PAGE)
			*current_slot(table, room, store->current[i].page) =
				store->current[i];
	free(store->current);
	store->current = table;
	store->current_room = room;
	return 0;
}

int page_store_set_current(struct page_store *store, uint64_t page,
			   uint64_t id)
{
	struct current *slot;

	if (grow_current(store))
		return ERR_NO_MEMORY;
	slot = current_slot(store->current, store->current_room, page);
	if (slot->page == NO_PAGE)
		store->current_count++;
	slot->page = page;
	slot->id = id;
	return 0;
}

void page_store_each(const struct page_store *store, uint64_t first,
		     uint64_t count,
		     void (*visit)(void *context, uint64_t page), void *context)
{
	if (count < store->current_room) {
		for (uint64_t page = first; page < first + count; page++)
			if (page_store_current(store, page))
				visit(context, page);
		return;
	}
	for (size_t i = 0; i < store->current_room; i++) {
		const struct current *slot = &store->current[i];

		if (slot->page != NO_PAGE && slot->id &&
		    slot->page - first < count)
			visit(context, slot->page);
	}
}
