/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cache.h - the prediction cache, the same on both sides
 *
 * A direct-mapped array of 8-byte words, indexed by word address modulo its
 * size.  Each entry is the value that was last seen in its slot, and so what
 * the replay will expect there; there are no tags, because a wrong guess is
 * merely a miss.  It follows what the thread was *told* (outputs of system
 * calls, captured instructions, pages it found changed), not its own loads
 * and stores: those are predicted by the host's MMU at no cost.
 *
 * Source: US 7,620,938 B2, "compressed program recording": prediction cache.
 *
 * Units:      entries are words of 8 bytes; addresses are guest virtual.
 */
#ifndef CPREC_CACHE_CACHE_H
#define CPREC_CACHE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * 256 KiB: a choice.  A larger cache predicts more and makes key frames larger
 * where they store it; `record --cache-size` chooses another one.
 */
#define CACHE_ENTRIES_DEFAULT 32768u

/* Sizes that can be chosen: 16384, 32768 and 65536. */
bool cache_is_size(uint64_t entries);

struct cache {
	uint64_t *words;
	size_t entries;		/* a power of two */
};

int cache_init(struct cache *cache, unsigned entries);
void cache_release(struct cache *cache);

/* Makes every entry zero, as at the start. */
void cache_flush(struct cache *cache);

/* The entry for the word that holds `addr`. */
static inline uint64_t *cache_entry(struct cache *cache, uint64_t addr)
{
	return &cache->words[(addr >> 3) & (cache->entries - 1)];
}

#endif
