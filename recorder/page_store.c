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
	store->number = 1;
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
	page_sharing_release(&store->sharing);
	page_store_end_inheriting(store);
	output_release(&store->batch.pages);
	memset(store, 0, sizeof(*store));
}

/* ------- contents ------- */

static struct stored *stored_slot(struct stored *table, size_t room,
				  const struct page_key *key)
{
	size_t at = key->low & (room - 1);

	while (table[at].place && (table[at].key.low != key->low ||
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
		if (store->stored[i].place)
			*stored_slot(table, room, &store->stored[i].key) =
				store->stored[i];
	free(store->stored);
	store->stored = table;
	store->stored_room = room;
	return 0;
}

/* ------- the batch ------- */

static void begin_item(struct page_store *store)
{
	if (!store->batch.count)
		store->batch_first = store->next_id;
}

static void put_whole(struct page_store *store, const struct page_key *key,
		      const uint8_t *bytes)
{
	begin_item(store);
	store->keys[store->batch.count] = *key;
	page_batch_add(&store->batch, bytes);
}

/* What is elsewhere in part is not for others: it has no key. */
static void put_patch(struct page_store *store, const struct page_key *key,
		      const struct page_patch *patch, const struct base *base)
{
	begin_item(store);
	store->keys[store->batch.count] =
		base->elsewhere ? (struct page_key){ 0 } : *key;
	page_batch_add_patch(&store->batch, patch, store->next_id - base->id);
}

/* Gives a place an id; 0 when out of memory. */
static uint64_t put_place(struct page_store *store, uint64_t place)
{
	struct page_place there = {
		.member = page_sharing_member(&store->sharing, place),
		.id = place_id(place),
	};

	if (!there.member ||
	    !page_sharing_add(&store->sharing, store->next_id, place))
		return 0;
	begin_item(store);
	store->keys[store->batch.count] = (struct page_key){ 0 };
	page_batch_add_place(&store->batch, &there);
	return store->next_id++;
}

/* The id of a place, which is here or elsewhere. */
static int id_of(struct page_store *store, uint64_t place, uint64_t *id)
{
	if (place_number(place) == store->number)
		*id = place_id(place);
	else
		*id = page_sharing_id(&store->sharing, place);
	if (!*id)
		*id = put_place(store, place);
	return *id ? 0 : ERR_NO_MEMORY;
}

/* ------- what is stored ------- */

static bool is_here(const struct page_store *store, uint64_t place)
{
	return place_number(place & ~PLACE_MIXED) == store->number;
}

/*
 * The slot of a content, which has `*place`, here or elsewhere: 0 if it is new.
 * Then the slot is to be filled.
 */
static struct stored *find(struct page_store *store, const struct page_key *key,
			   uint64_t *place)
{
	struct stored *slot = stored_slot(store->stored, store->stored_room,
					  key);

	*place = slot->place;
	/* A parent's that cannot be named. */
	if (*place & PLACE_MIXED && !is_here(store, *place))
		*place = 0;
	if (!*place && store->sharing.table)
		*place = family_table_find(store->sharing.table, key);
	if (*place && *place != slot->place) {
		store->stored_count += !slot->place;
		*slot = (struct stored){ *key, *place };
	}
	*place &= ~PLACE_MIXED;
	return slot;
}

bool page_store_has(struct page_store *store, const uint8_t *bytes,
		    uint64_t *id)
{
	struct page_key key;
	uint64_t place;

	*id = 0;
	if (page_is_zero(bytes))
		return true;
	/* Without memory it seems new, and page_store_add() fails. */
	if (grow_stored(store))
		return false;
	key = page_hash(bytes);
	find(store, &key, &place);
	return place && !id_of(store, place, id);
}

/* It was not stored with its group, and cannot be stored anew with it. */
static bool is_distant(const struct base *base)
{
	return base->elsewhere && !base->patches;
}

/* Puts a new content into the batch; `*mixed`: a part of it is elsewhere. */
static int put_item(struct page_store *store, uint64_t page,
		    const struct page_key *key, const uint8_t *bytes,
		    bool *mixed)
{
	struct page_group *group =
		page_groups_store(&store->groups, page, store->bases.turn);
	const uint8_t *before;
	const struct base *base = bases_find(&store->bases, page, &before);
	struct base next = { .page = page, .id = store->next_id };
	bool may_patch = base && group && base->patches < PATCHES_MOST &&
			 (base->began == group->began || is_distant(base));
	struct page_patch patch;

	if (!group)
		return ERR_NO_MEMORY;
	group->stores++;
	group->pages += !base || base->began != group->began || !base->changed;
	next.began = group->began;
	next.changed = true;
	if (may_patch && page_patch_make(&patch, before, bytes, PATCH_MOST)) {
		put_patch(store, key, &patch, base);
		next.patches = base->patches + 1;
		next.elsewhere = base->elsewhere;
	} else {
		put_whole(store, key, bytes);
		store->unlike += may_patch || !base;
	}
	/* What is stored a second time may be so again. */
	if (base || page_store_current(store, page))
		bases_keep(&store->bases, &next, bytes);
	*mixed = next.elsewhere;
	if (*mixed && !page_sharing_mix(&store->sharing, next.id))
		return ERR_NO_MEMORY;
	return store->batch.pages.error;
}

/*
 * A page has a content that is elsewhere, and may be changed a little: then
 * that is the base, as if it were stored here.
 */
static void base_on(struct page_store *store, uint64_t page,
		    const uint8_t *bytes, uint64_t id)
{
	struct page_group *group;
	struct base next = { .page = page, .id = id, .elsewhere = true };
	const uint8_t *before;
	const struct base *base = bases_find(&store->bases, page, &before);

	if (base ? base->id == id : !page_store_current(store, page))
		return;
	group = page_groups_store(&store->groups, page, store->bases.turn);
	if (!group)
		return;
	next.began = group->began;
	bases_keep(&store->bases, &next, bytes);
}

int page_store_add(struct page_store *store, uint64_t page,
		   const uint8_t *bytes, uint64_t *id)
{
	struct page_key key;
	struct stored *slot;
	uint64_t place;
	bool mixed;
	int rc;

	*id = 0;
	if (page_is_zero(bytes))
		return 0;
	if (grow_stored(store))
		return ERR_NO_MEMORY;
	key = page_hash(bytes);
	slot = find(store, &key, &place);
	if (!place) {
		rc = put_item(store, page, &key, bytes, &mixed);
		if (rc)
			return rc;
		place = place_make(store->number, store->next_id++);
		store->stored_count += !slot->place;
		*slot = (struct stored){ key,
					 place | (mixed ? PLACE_MIXED : 0) };
	}
	rc = id_of(store, place, id);
	if (!rc && !is_here(store, place))
		base_on(store, page, bytes, *id);
	return rc;
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
	key = page_hash(bytes);
	put_whole(store, &key, bytes);
	if (store->batch.pages.error)
		return 0;	/* the batch tells */
	stored_slot(store->stored, store->stored_room, &key)->place =
		place_make(store->number, store->next_id);
	base->id = store->next_id++;
	base->began = group->began;
	base->patches = 0;
	base->changed = base->elsewhere = false;
	return base->id;
}

/* ------- a family ------- */

void page_store_share(struct page_store *store, struct family_table *table)
{
	store->sharing.table = table;
}

int page_store_inherit(struct page_store *store, uint32_t number)
{
	struct page_sharing *inherited = malloc(sizeof(*inherited));

	if (!inherited)
		return ERR_NO_MEMORY;
	*inherited = store->sharing;
	store->inherited = inherited;
	store->inherited_from = store->number;
	store->sharing = (struct page_sharing){ .table = inherited->table };
	store->number = number;
	bases_release(&store->bases);
	page_groups_release(&store->groups);
	store->next_id = store->batch_first = 1;
	store->unlike = 0;
	return 0;
}

int page_store_inherit_page(struct page_store *store, uint64_t page,
			    uint64_t *id)
{
	uint64_t before = page_store_current(store, page);
	uint64_t place = page_sharing_place(store->inherited, before);

	*id = 0;
	if (!before)
		return 0;
	return id_of(store, place ? place :
				    place_make(store->inherited_from, before),
		     id);
}

bool page_store_is_mixed(const struct page_store *store, uint64_t page)
{
	return page_sharing_place(store->inherited,
				  page_store_current(store, page)) ==
	       PLACE_MIXED;
}

void page_store_end_inheriting(struct page_store *store)
{
	if (store->inherited)
		page_sharing_release(store->inherited);
	free(store->inherited);
	store->inherited = NULL;
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
