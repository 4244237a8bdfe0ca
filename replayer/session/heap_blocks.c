/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heap_blocks.c - see heap_blocks.h */
#include "replayer/session/heap_blocks.h"

#include <stdlib.h>

#include "formats/error.h"

/*
 * The memory of a block, or what is left of it: a tree by address, in which
 * each node stands above those with lower priority, which is random.
 */
struct heap_node {
	struct heap_block block;
	guest_addr first, end;
	struct heap_node *left, *right;
	uint32_t priority;
};

/* More than a program can have in use is only a reservation. */
#define SHADOWED_MOST (UINT64_C(16) << 30)

static bool is_live(const struct heap_node *node)
{
	return !node->block.freed.function;
}

/* ------- the tree ------- */

/* Those that begin before an address, and the rest. */
static void split(struct heap_node *node, guest_addr addr,
		  struct heap_node **before, struct heap_node **rest)
{
	if (!node) {
		*before = *rest = NULL;
	} else if (node->first < addr) {
		split(node->right, addr, &node->right, rest);
		*before = node;
	} else {
		split(node->left, addr, before, &node->left);
		*rest = node;
	}
}

static struct heap_node *join(struct heap_node *before, struct heap_node *rest)
{
	if (!before || !rest)
		return before ? before : rest;
	if (before->priority > rest->priority) {
		before->right = join(before->right, rest);
		return before;
	}
	rest->left = join(before, rest->left);
	return rest;
}

/* The last one that begins at an address or before. */
static struct heap_node *find_before(const struct heap_blocks *blocks,
				     guest_addr addr)
{
	struct heap_node *node = blocks->root, *found = NULL;

	while (node) {
		if (node->first <= addr)
			found = node;
		node = node->first <= addr ? node->right : node->left;
	}
	return found;
}

static struct heap_node *find_behind(const struct heap_blocks *blocks,
				     guest_addr addr)
{
	struct heap_node *node = blocks->root, *found = NULL;

	while (node) {
		if (node->first > addr)
			found = node;
		node = node->first > addr ? node->left : node->right;
	}
	return found;
}

static int insert(struct heap_blocks *blocks, const struct heap_block *block,
		  guest_addr first, guest_addr end)
{
	struct heap_node *before, *rest, *node = malloc(sizeof(*node));

	if (!node)
		return ERR_NO_MEMORY;
	blocks->random = blocks->random * 1664525u + 1013904223u;
	*node = (struct heap_node) {
		.block = *block, .first = first, .end = end,
		.priority = blocks->random,
	};
	split(blocks->root, first, &before, &rest);
	blocks->root = join(join(before, node), rest);
	return 0;
}

static void take_out(struct heap_blocks *blocks, struct heap_node *node)
{
	struct heap_node *before, *rest;

	split(blocks->root, node->first, &before, &rest);
	split(rest, node->first + 1, &node, &rest);
	blocks->root = join(before, rest);
	node->left = node->right = NULL;
}

static void free_all(struct heap_node *node)
{
	if (!node)
		return;
	free_all(node->left);
	free_all(node->right);
	free(node);
}

void heap_blocks_release(struct heap_blocks *blocks)
{
	free_all(blocks->root);
	heap_shadow_release(&blocks->shadow);
	number_map_release(&blocks->lost);
	blocks->root = NULL;
	blocks->count = blocks->bytes = 0;
}

/* ------- memory that becomes another's ------- */

/* What was freed keeps the parts around it. */
static int cut_freed(struct heap_blocks *blocks, struct heap_node *node,
		     guest_addr first, guest_addr end)
{
	int rc = 0;

	take_out(blocks, node);
	if (node->first < first)
		rc = insert(blocks, &node->block, node->first, first);
	if (node->end > end && !rc)
		rc = insert(blocks, &node->block, end, node->end);
	free(node);
	return rc;
}

/* It was freed in a way that nobody told, or others are made of it. */
static int lose(struct heap_blocks *blocks, struct heap_node *node)
{
	int rc = number_map_set(&blocks->lost, node->block.addr, 0);

	if (!rc && node->block.size <= SHADOWED_MOST)
		rc = heap_shadow_forget(&blocks->shadow, node->block.addr,
					node->block.size);
	blocks->count--;
	blocks->bytes -= node->block.size;
	take_out(blocks, node);
	free(node);
	return rc;
}

static int cut(struct heap_blocks *blocks, guest_addr first, guest_addr end,
	       bool live_too)
{
	guest_addr at = end;
	struct heap_node *node;
	int rc = 0;

	while (!rc && at > first && (node = find_before(blocks, at - 1)) &&
	       node->end > first) {
		at = node->first;
		if (!is_live(node))
			rc = cut_freed(blocks, node, first, end);
		else if (live_too)
			rc = lose(blocks, node);
	}
	return rc;
}

/* ------- what happens to blocks ------- */

/* Where the memory of a block ends; it has some in any case. */
static guest_addr end_of(const struct heap_block *block)
{
	return block->addr + (block->size ? block->size : 1);
}

/* What is left of a block that was freed, of which another has a part. */
static bool is_rest(const struct heap_node *node)
{
	return !is_live(node) && (node->first != node->block.addr ||
				  node->end != end_of(&node->block));
}

/*
 * The zones of a new block are its own, not of what was there before: of blocks
 * that were freed and have lost a part already.
 */
static int clear_zones(struct heap_blocks *blocks,
		       const struct heap_block *block)
{
	guest_addr first = block->addr - HEAP_ZONE_BEFORE;
	guest_addr end = end_of(block);
	struct heap_node *node = find_before(blocks, block->addr - 1);
	int rc = 0;

	if (node && node->end > first && is_rest(node))
		rc = cut_freed(blocks, node, first, block->addr);
	node = find_behind(blocks, end - 1);
	if (!rc && node && node->first < end + HEAP_ZONE_BEHIND &&
	    is_rest(node))
		rc = cut_freed(blocks, node, end, end + HEAP_ZONE_BEHIND);
	return rc;
}

static int set_zones(struct heap_blocks *blocks, const struct heap_block *block)
{
	int rc = heap_shadow_forbid(&blocks->shadow,
				    block->addr - HEAP_ZONE_BEFORE,
				    HEAP_ZONE_BEFORE);

	return rc ? rc : heap_shadow_forbid(&blocks->shadow,
					    block->addr + block->size,
					    HEAP_ZONE_BEHIND);
}

int heap_blocks_add(struct heap_blocks *blocks, const struct heap_block *block)
{
	int rc = cut(blocks, block->addr, end_of(block), true);

	if (!rc)
		rc = clear_zones(blocks, block);
	if (!rc)
		rc = insert(blocks, block, block->addr, end_of(block));
	number_map_remove(&blocks->lost, block->addr);
	blocks->count++;
	blocks->bytes += block->size;
	if (rc || block->size > SHADOWED_MOST)
		return rc;
	rc = heap_shadow_live(&blocks->shadow, block->addr, block->size);
	return rc || blocks->no_zones ? rc : set_zones(blocks, block);
}

int heap_blocks_free(struct heap_blocks *blocks, struct heap_block *block,
		     const struct heap_site *site)
{
	block->freed = *site;
	blocks->count--;
	blocks->bytes -= block->size;
	if (block->size > SHADOWED_MOST)
		return 0;
	return heap_shadow_free(&blocks->shadow, block->addr, block->size);
}

int heap_blocks_resize(struct heap_blocks *blocks, struct heap_block *block,
		       uint64_t size)
{
	struct heap_block new = *block;
	struct heap_node *node = find_before(blocks, block->addr);

	if (size == block->size)
		return 0;
	blocks->count--;
	blocks->bytes -= block->size;
	take_out(blocks, node);
	free(node);
	new.size = size;
	return heap_blocks_add(blocks, &new);
}

int heap_blocks_unmap(struct heap_blocks *blocks, guest_addr addr,
		      uint64_t size)
{
	if (!size)
		return 0;
	heap_shadow_forget_pages(&blocks->shadow, addr, size);
	return cut(blocks, addr, addr + size, false);
}

static struct heap_node *keep_live(struct heap_node *node)
{
	struct heap_node *left, *right;

	if (!node)
		return NULL;
	left = keep_live(node->left);
	right = keep_live(node->right);
	node->left = node->right = NULL;
	if (is_live(node))
		return join(join(left, node), right);
	free(node);
	return join(left, right);
}

void heap_blocks_doubt(struct heap_blocks *blocks)
{
	blocks->root = keep_live(blocks->root);
	blocks->no_zones = true;
	heap_shadow_allow(&blocks->shadow);
}

/* ------- looking ------- */

struct heap_block *heap_blocks_find(const struct heap_blocks *blocks,
				    guest_addr addr)
{
	struct heap_node *node = find_before(blocks, addr);

	return node && addr < node->end ? &node->block : NULL;
}

/* What is left of a block that became smaller is behind it. */
static bool is_rest_of(const struct heap_node *node,
		       const struct heap_node *before)
{
	return before && is_live(before) &&
	       node->block.addr == before->block.addr &&
	       node->block.freed.stream == before->block.allocated.stream &&
	       !position_compare(&node->block.freed.at,
				 &before->block.allocated.at);
}

struct heap_block *heap_blocks_near(const struct heap_blocks *blocks,
				    guest_addr addr)
{
	struct heap_node *node = find_before(blocks, addr), *before, *behind;

	before = node;
	if (node && addr < node->end) {
		before = node->first ? find_before(blocks, node->first - 1) :
				       NULL;
		return is_rest_of(node, before) ? &before->block : &node->block;
	}
	behind = find_behind(blocks, addr);
	if (before && addr - before->end >= HEAP_ZONE_BEHIND)
		before = NULL;
	if (behind && behind->first - addr > HEAP_ZONE_BEFORE)
		behind = NULL;
	/* A block that was freed has no zone while there are others. */
	if (before && behind && is_live(before) != is_live(behind))
		return is_live(before) ? &before->block : &behind->block;
	if (before && behind)
		return behind->first - addr < addr - before->end + 1 ?
			       &behind->block : &before->block;
	return before ? &before->block : behind ? &behind->block : NULL;
}

static int each(const struct heap_node *node,
		int (*visit)(void *context, const struct heap_block *block),
		void *context)
{
	int rc;

	if (!node)
		return 0;
	rc = each(node->left, visit, context);
	if (!rc && is_live(node))
		rc = visit(context, &node->block);
	return rc ? rc : each(node->right, visit, context);
}

int heap_blocks_each(const struct heap_blocks *blocks,
		     int (*visit)(void *context,
				  const struct heap_block *block),
		     void *context)
{
	return each(blocks->root, visit, context);
}
