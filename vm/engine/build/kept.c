/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kept.c - translations that a process and those that it forks have in common
 *
 * A compiler is started for each file, translates the same code each time and
 * exits.  What one process of a family has translated, another takes over: it
 * copies it to the same address of its own buffer, where all that it refers to
 * is the same in both, as the engine was opened before they parted.
 *
 * The end of the engine's buffer is the zone of such translations.  Each address
 * there is given away once, in pieces that a process fills alone, so what is
 * there can have come from one process only.  The store, memory that the family
 * shares, has a copy of the zone, with each translation as it was before it was
 * executed: without jumps to others, and with the call at its entry that
 * inline_count.c replaces.  Behind each is what it was made from, and it is
 * found by a hash of that.  An entry that can be found never changes, so nobody
 * waits for anybody.
 *
 * The engine does all else itself: it is led to believe that it has translated.
 * An address has something other than zeros once it was taken over, until the
 * engine drops all translations and clears its buffer: what was dropped alone is
 * translated anew, and not kept.
 *
 * The rest of the buffer is for what is not kept: code that crosses a page, or
 * that somebody has a special interest in (engine_calls.common).
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vm/engine/build/branches.h"
#include "vm/engine/build/replaces.h"
#include "vm/engine/engine_internal.h"

/* Of the zone: as much as a process takes at a time, and as a translation with
 * all that belongs to it may need. */
#define PIECE (256u << 10)
#define LARGEST (96u << 10)
#define PIECES (KEPT_SIZE / PIECE)

#define ENTRIES (1u << 19)
#define PROBES 16u
#define ALIGNED 64u

/* As many bytes behind a block may say where it ends. */
#define AHEAD 16u

/* The engine's choices for a translation; the rest says which processor's. */
#define CHOICES 0xffffffu

/* What a translation depends on, beside the bytes of its code. */
struct kept_key {
	uint64_t pc, other;
	uint64_t direct;	/* where memory is accessed directly; 0: nowhere */
	uint32_t flags, reserved;
};

struct kept_store {
	uint32_t pieces;		/* given away */
	uint32_t entries[ENTRIES];	/* their place, by hash; 0: none */
	_Alignas(ALIGNED) uint8_t zone[KEPT_SIZE];
};

/* Offsets are from the beginning of the zone. */
struct kept_entry {
	struct kept_key key;
	uint32_t block;		/* offset of what the engine has of it, ... */
	uint32_t bytes;		/* ... all of them, ... */
	int32_t size;		/* ... and those of the translation itself */
	uint16_t insns;
	uint16_t count;		/* of the bytes of code that follow */
	uint8_t code[];
};

/* Of one engine. */
struct kept {
	struct kept_store *store;
	uint8_t **place;	/* the engine's own, where it translates to */
	uint8_t *zone;		/* of the buffer: the store's addresses */
	uint8_t *next, *end;	/* the piece of it that this process fills */
	pid_t owner;		/* which process that is */
	uint8_t *others;	/* where translations that are not kept go on */

	/* Of the translation under way. */
	enum { KEPT_NOT, KEPT_MADE, KEPT_FOUND } state;
	struct kept_key key;
	const uint8_t *code;	/* the guest's, of which `left` bytes */
	size_t left;
	const struct kept_entry *found;
	uint8_t pristine[256];	/* what the engine notes of it in front */
	int size;		/* and bytes of the translation itself */
};

/* What the engine notes of a translation in front of it, behind addresses. */
struct block_notes {
	uint32_t flags;
	uint16_t size, insns;	/* of the guest's code */
	uint32_t choices, traced;
	uint8_t *translation;
};

static struct block_notes *notes_of(const struct engine *engine, void *block)
{
	return (struct block_notes *)((uint8_t *)block +
				      (engine->kind->is_narrow ? 8 : 16));
}

static uint8_t *aligned(uint8_t *at)
{
	return at + (-(uintptr_t)at & (ALIGNED - 1));
}

/* ------- the store ------- */

void engine_keep(struct engine *engine)
{
	struct kept *kept;
	void *store;

	if (!engine->keeps || engine->kept)
		return;
	if (engine->forked_by != getpid()) {
		engine->forked_by = getpid();
		return;
	}
	store = mmap(NULL, sizeof(struct kept_store), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (store == MAP_FAILED)
		return;
	kept = calloc(1, sizeof(*kept));
	if (!kept) {
		munmap(store, sizeof(struct kept_store));
		return;
	}
	kept->store = store;
	engine->kept = kept;
}

void kept_release(struct engine *engine)
{
	if (engine->kept)
		munmap(engine->kept->store, sizeof(struct kept_store));
	free(engine->kept);
	engine->kept = NULL;
}

void kept_forget(struct engine *engine)
{
	if (engine->kept)
		engine->kept->others = NULL;
}

static uint32_t hash_of(const struct kept *kept)
{
	uint64_t hash = kept->key.pc ^ (uint64_t)kept->key.flags << 40, first = 0;

	memcpy(&first, kept->code, kept->left < 8 ? kept->left : 8);
	hash = (hash ^ first) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)((hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >>
			  32);
}

static const struct kept_entry *entry_at(const struct kept *kept, uint32_t at)
{
	return (const struct kept_entry *)(kept->store->zone + at);
}

static bool is_of(const struct kept_entry *entry, const struct kept *kept)
{
	return !memcmp(&entry->key, &kept->key, sizeof(kept->key)) &&
	       entry->count <= kept->left &&
	       !memcmp(entry->code, kept->code, entry->count);
}

static const struct kept_entry *find(const struct kept *kept)
{
	uint32_t hash = hash_of(kept);

	for (uint32_t i = 0; i < PROBES; i++) {
		uint32_t at = __atomic_load_n(
			&kept->store->entries[(hash + i) % ENTRIES],
			__ATOMIC_ACQUIRE);

		if (!at)
			return NULL;
		if (is_of(entry_at(kept, at), kept))
			return entry_at(kept, at);
	}
	return NULL;
}

/* It is not found where there is no room: no harm. */
static void publish(const struct kept *kept, uint32_t at)
{
	uint32_t hash = hash_of(kept);

	for (uint32_t i = 0; i < PROBES; i++) {
		uint32_t none = 0;

		if (__atomic_compare_exchange_n(
			    &kept->store->entries[(hash + i) % ENTRIES], &none,
			    at, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return;
	}
}

/* Room for one more; false: all of the zone is given away. */
static bool make_room(struct kept *kept)
{
	uint32_t piece;
	uint8_t *at;

	/* A child's piece is its parent's. */
	if (kept->owner != getpid())
		kept->next = kept->end = NULL;
	if (kept->next && (size_t)(kept->end - kept->next) >= LARGEST)
		return true;
	if (__atomic_load_n(&kept->store->pieces, __ATOMIC_RELAXED) >= PIECES)
		return false;
	piece = __atomic_fetch_add(&kept->store->pieces, 1, __ATOMIC_RELAXED);
	if (piece >= PIECES)
		return false;
	at = kept->zone + (size_t)piece * PIECE;
	/* No entry is at 0. */
	if (at != kept->end)
		kept->next = at + (piece ? 0 : ALIGNED);
	kept->end = at + PIECE;
	kept->owner = getpid();
	return true;
}

/* ------- a translation ------- */

/* A translation that is taken over would lie where there is something. */
static bool is_taken(const struct engine *engine,
		     const struct kept_entry *entry)
{
	return notes_of(engine, engine->kept->zone + entry->block)->translation;
}

static void begin(struct engine *engine, uint64_t pc, uint64_t other,
		  uint32_t flags, int choices)
{
	struct kept *kept = engine->kept;

	kept->state = KEPT_NOT;
	if (!kept->zone || choices & (int)CHOICES)
		return;
	if (engine->direct.is_on && pc == engine->direct.paused)
		return;
	if (engine->logged.kinds || engine->until != engine->kind->never)
		return;
	kept->code = engine->calls->common(engine->context, pc, &kept->left);
	if (!kept->code)
		return;
	kept->key = (struct kept_key){
		.pc = pc, .other = other, .flags = flags,
		.direct = engine->direct.is_on ? engine->direct.start : 0,
	};
	kept->found = find(kept);
	if (kept->found)
		kept->state = is_taken(engine, kept->found) ? KEPT_NOT :
							      KEPT_FOUND;
	else if (make_room(kept))
		kept->state = KEPT_MADE;
}

/* The engine has translated a block at kept->next: puts a copy in the store. */
static void keep(struct engine *engine, uint8_t *block)
{
	struct kept *kept = engine->kept;
	const struct block_notes *notes = notes_of(engine, block);
	uint8_t *end = aligned(*kept->place);
	uint32_t offset = (uint32_t)(block - kept->zone);
	struct kept_entry *entry =
		(struct kept_entry *)(kept->store->zone + (end - kept->zone));
	size_t front = (size_t)(notes->translation - block);
	size_t count = notes->size + AHEAD;

	kept->next = end;
	if (count > kept->left)
		count = kept->left;
	if (notes->size > kept->left || notes->choices & CHOICES ||
	    end + sizeof(*entry) + count > kept->end)
		return;
	memcpy(kept->store->zone + offset, block, (size_t)(end - block));
	memcpy(kept->store->zone + offset, kept->pristine, front);
	*entry = (struct kept_entry){
		.key = kept->key, .block = offset,
		.bytes = (uint32_t)(end - block), .size = kept->size,
		.insns = notes->insns, .count = (uint16_t)count,
	};
	memcpy(entry->code, kept->code, count);
	kept->next = aligned(end + sizeof(*entry) + count);
	publish(kept, (uint32_t)(end - kept->zone));
}

static void finish(struct engine *engine, void *block)
{
	struct kept *kept = engine->kept;

	switch (kept->state) {
	case KEPT_FOUND:
		if (block == kept->zone + kept->found->block)
			notes_of(engine, block)->insns = kept->found->insns;
		break;
	case KEPT_MADE:
		if (block == kept->next)
			keep(engine, block);
		break;
	case KEPT_NOT:
		if (kept->place)
			kept->others = *kept->place;
	}
	kept->state = KEPT_NOT;
}

bool kept_is_found(void)
{
	return engine_entered && engine_entered->kept &&
	       engine_entered->kept->state == KEPT_FOUND;
}

/* ------- what the engine calls ------- */

/*
 * A block is translated.  An address is as wide as the guest's; the second says
 * something else that translations depend on.
 */
typedef void *generate_fn(void *cpu, uint64_t pc, uint64_t other,
			  uint32_t flags, int choices);
typedef void *generate_narrow_fn(void *cpu, uint32_t pc, uint32_t other,
				 uint32_t flags, int choices);

#define GENERATES(type, width, name)                                           \
	REPLACES(type, name);                                                  \
	void *name(void *cpu, width pc, width other, uint32_t flags,           \
		   int choices)                                                \
	{                                                                      \
		struct engine *engine = engine_back();                         \
		void *block;                                                   \
									       \
		if (!engine || !engine->kept)                                  \
			return engine_##name(cpu, pc, other, flags, choices);  \
		begin(engine, pc, other, flags, choices);                      \
		block = engine_##name(cpu, pc, other, flags, choices);         \
		if (engine->kept)                                              \
			finish(engine, block);                                 \
		return block;                                                  \
	}

GENERATES(generate_fn, uint64_t, tb_gen_code_x86_64)
GENERATES(generate_fn, uint64_t, tb_gen_code_aarch64)
GENERATES(generate_narrow_fn, uint32_t, tb_gen_code_arm)

/* The engine takes the next place of its buffer for a block's notes. */
typedef void *place_fn(void *context);

/* What is around the place in the engine's context. */
enum { BUFFER = -4, SIZE = -1, PLACE = 0, DATA = 1, LAST = 2 };

/*
 * Finds where the engine has its place, which is behind the notes that it has
 * just made room for.
 */
static void find_place(struct engine *engine, uint8_t **context,
		       const uint8_t *block)
{
	struct kept *kept = engine->kept;

	for (size_t i = 4; i < 256; i++) {
		uint8_t **at = context + i;
		size_t size = (uintptr_t)at[SIZE];

		if (at[PLACE] <= block || at[DATA] ||
		    (size_t)(at[PLACE] - block) > sizeof(kept->pristine) ||
		    at[BUFFER] > block || size > engine->translations ||
		    size < 2 * (size_t)KEPT_SIZE || at[LAST] <= at[PLACE] ||
		    at[LAST] > at[BUFFER] + size)
			continue;
		kept->place = at;
		kept->zone = at[LAST] - KEPT_SIZE -
			     (uintptr_t)at[LAST] % GUEST_PAGE;
		return;
	}
	kept_release(engine);
}

static void *take_place(struct engine *engine, void *context,
			place_fn *engines_own)
{
	struct kept *kept = engine->kept;
	uint32_t offset;
	uint8_t *block;

	if (kept->state == KEPT_NOT) {
		if (kept->others)
			*kept->place = kept->others;
		block = engines_own(context);
		if (!kept->place && block)
			find_place(engine, context, block);
		return block;
	}
	if (!kept->others)
		kept->others = *kept->place;
	if (kept->state == KEPT_MADE) {
		*kept->place = kept->next;
		return engines_own(context);
	}
	offset = kept->found->block;
	*kept->place = notes_of(engine, kept->store->zone + offset)->translation;
	kept->place[DATA] = NULL;
	return kept->zone + offset;
}

#define TAKES_PLACE(name)                                                      \
	REPLACES(place_fn, name);                                              \
	void *name(void *context)                                              \
	{                                                                      \
		struct engine *engine = engine_entered;                        \
									       \
		return engine && engine->kept ?                                \
			       take_place(engine, context, engine_##name) :    \
			       engine_##name(context);                         \
	}

TAKES_PLACE(tcg_tb_alloc_x86_64)
TAKES_PLACE(tcg_tb_alloc_aarch64)
TAKES_PLACE(tcg_tb_alloc_arm)

/* What was generated for a block becomes code of the host: how many bytes. */
typedef int emit_block_fn(void *context, void *block);

/* The engine then notes where instructions begin: of none, here. */
static int take_over(const struct engine *engine, void *block)
{
	const struct kept *kept = engine->kept;

	memcpy(block, kept->store->zone + kept->found->block,
	       kept->found->bytes);
	notes_of(engine, block)->insns = 0;
	return kept->found->size;
}

static int emit_block(void *context, void *block, emit_block_fn *engines_own)
{
	struct engine *engine = engine_entered;
	struct kept *kept = engine ? engine->kept : NULL;
	int size;

	if (kept && kept->state == KEPT_FOUND)
		return take_over(engine, block);
	if (engine)
		branches_begin(engine, context, block);
	size = engines_own(context, block);
	if (engine && size > 0)
		branches_find(engine, block);
	if (kept && kept->state == KEPT_MADE) {
		memcpy(kept->pristine, block, sizeof(kept->pristine));
		kept->size = size;
	}
	return size;
}

#define EMITS_BLOCK(name)                                                      \
	REPLACES(emit_block_fn, name);                                         \
	int name(void *context, void *block)                                   \
	{                                                                      \
		return emit_block(context, block, engine_##name);              \
	}

EMITS_BLOCK(tcg_gen_code_x86_64)
EMITS_BLOCK(tcg_gen_code_aarch64)
EMITS_BLOCK(tcg_gen_code_arm)
