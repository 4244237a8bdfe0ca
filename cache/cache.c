/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cache.c - see cache.h */
#include "cache/cache.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"

bool cache_is_size(uint64_t entries)
{
	return entries == 16384 || entries == 32768 || entries == 65536;
}

int cache_init(struct cache *cache, unsigned entries)
{
	assert(cache_is_size(entries));
	cache->entries = 0;
	cache->words = calloc(entries, sizeof(*cache->words));
	if (!cache->words)
		return ERR_NO_MEMORY;
	cache->entries = entries;
	return 0;
}

void cache_release(struct cache *cache)
{
	free(cache->words);
	*cache = (struct cache){ 0 };
}

void cache_flush(struct cache *cache)
{
	memset(cache->words, 0, cache->entries * sizeof(*cache->words));
}
