/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_blocks.h - the blocks that an allocator has handed out
 *
 * A block that is freed is remembered until its memory is another one's.
 * Around each block there is a zone that nobody but the allocator has a reason
 * to write: where no other block is, and in pages that have been the heap's.
 *
 * Zeroed, it is empty.
 *
 * Ownership:  heap_blocks_release() frees; blocks last until the next change.
 *             Names of functions are borrowed.
 * Errors:     ERR_NO_MEMORY.
 */
#ifndef CPREC_REPLAYER_SESSION_HEAP_BLOCKS_H
#define CPREC_REPLAYER_SESSION_HEAP_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/number_map.h"
#include "formats/region.h"
#include "replayer/recording/recording.h"
#include "replayer/session/heap_shadow.h"

/*
 * What an allocator keeps beside a block, and what it rounds sizes up to, are
 * seldom more.
 */
#define HEAP_ZONE_BEFORE 16u
#define HEAP_ZONE_BEHIND 32u

/* A call of the allocator. */
struct heap_site {
	const char *function;	/* "malloc"; NULL: there was none */
	struct position at;
	uint32_t stream, tid;
	guest_addr pc;		/* in the instruction that called */
};

struct heap_block {
	guest_addr addr;
	uint64_t size;
	struct heap_site allocated, freed;
};

struct heap_node;

struct heap_blocks {
	struct heap_node *root;
	struct heap_shadow shadow;
	struct number_map lost;	/* whose memory is another block's, though
				   nobody has freed them */
	bool no_zones;		/* there are blocks that nobody knows of */
	uint64_t count, bytes;	/* of those that are alive */
	uint32_t random;
};

void heap_blocks_release(struct heap_blocks *blocks);

/* A block is handed out. */
int heap_blocks_add(struct heap_blocks *blocks, const struct heap_block *block);

/* The block that has this byte, or had it last; a block of size 0 has one. */
struct heap_block *heap_blocks_find(const struct heap_blocks *blocks,
				    guest_addr addr);

/* The same, or, next to it, the block in whose zone it is; or NULL. */
struct heap_block *heap_blocks_near(const struct heap_blocks *blocks,
				    guest_addr addr);

/* A block that is alive is freed. */
int heap_blocks_free(struct heap_blocks *blocks, struct heap_block *block,
		     const struct heap_site *site);

/* A block that is alive is larger than was asked for, or smaller. */
int heap_blocks_resize(struct heap_blocks *blocks, struct heap_block *block,
		       uint64_t size);

/* Memory is not there any more, or is other memory now. */
int heap_blocks_unmap(struct heap_blocks *blocks, guest_addr addr,
		      uint64_t size);

/*
 * Others may have freed blocks, and been handed out some: what was freed is
 * forgotten, and no zones are set any more.
 */
void heap_blocks_doubt(struct heap_blocks *blocks);

/* Visits those that are alive by address, until a visit returns not 0. */
int heap_blocks_each(const struct heap_blocks *blocks,
		     int (*visit)(void *context,
				  const struct heap_block *block),
		     void *context);

#endif
