/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_maps.c - what a process of a machine's kernel has mapped
 *
 * Source: Linux, include/linux/maple_tree.h: since 6.1, mappings are in a tree,
 * whose nodes have slots, and pivots: the last address of each slot.  A pointer
 * to a node has its type in the lowest bits.
 */
#include "replayer/session/kernel_internal.h"

#include <limits.h>
#include "formats/error.h"

#define DEPTH_MOST 16u
#define MAPPINGS_MOST 65536u
#define NODE_MASK 255u
#define FILE_SHIFT 12		/* offsets in files are in pages */

/* Flags of a mapping, include/linux/mm.h. */
enum { CAN_READ = 1, CAN_WRITE = 2, CAN_EXECUTE = 4, IS_SHARED = 8 };

enum place {
	MEMORY_ROOT, LEAF_PIVOTS, LEAF_SLOTS, INNER_PIVOTS, INNER_SLOTS,
	MAP_START, MAP_END, MAP_FLAGS, MAP_OFFSET, MAP_FILE, PLACES
};

static const struct kernel_place places[PLACES] = {
	[MEMORY_ROOT] = { "mm_struct", "mm_mt.ma_root" },
	[LEAF_PIVOTS] = { "maple_range_64", "pivot" },
	[LEAF_SLOTS] = { "maple_range_64", "slot" },
	[INNER_PIVOTS] = { "maple_arange_64", "pivot" },
	[INNER_SLOTS] = { "maple_arange_64", "slot" },
	[MAP_START] = { "vm_area_struct", "vm_start" },
	[MAP_END] = { "vm_area_struct", "vm_end" },
	[MAP_FLAGS] = { "vm_area_struct", "vm_flags" },
	[MAP_OFFSET] = { "vm_area_struct", "vm_pgoff" },
	[MAP_FILE] = { "vm_area_struct", "vm_file" },
};

struct walk {
	struct kernel *kernel;
	uint32_t at[PLACES];
	unsigned count;
	kernel_mapping_visit *visit;
	void *context;
};

/* ------- the tree ------- */

static int tell(struct walk *walk, uint64_t mapping)
{
	struct kernel *kernel = walk->kernel;
	const uint32_t *at = walk->at;
	uint64_t flags = kernel_number(kernel, mapping + at[MAP_FLAGS], 8);
	uint64_t file = kernel_pointer(kernel, mapping + at[MAP_FILE]);
	char path[PATH_MAX];
	const struct kernel_mapping told = {
		.start = kernel_number(kernel, mapping + at[MAP_START], 8),
		.end = kernel_number(kernel, mapping + at[MAP_END], 8),
		.offset = file ? kernel_number(kernel, mapping +
					       at[MAP_OFFSET], 8) << FILE_SHIFT
			       : 0,
		.file = file,
		.reads = flags & CAN_READ, .writes = flags & CAN_WRITE,
		.executes = flags & CAN_EXECUTE, .is_shared = flags & IS_SHARED,
		.name = file ? kernel_path(kernel, file, path) : "",
	};

	if (told.start >= told.end || ++walk->count > MAPPINGS_MOST)
		return ERR_NOT_FOUND;
	return walk->visit(walk->context, &told);
}

/* Types of nodes; the others have no room for addresses. */
enum { NODE_LEAF = 1, NODE_RANGE = 2, NODE_INNER = 3 };

static const struct shape {
	unsigned slots;
	enum place pivots, first;
} shapes[] = {
	[NODE_LEAF] = { 16, LEAF_PIVOTS, LEAF_SLOTS },
	[NODE_RANGE] = { 16, LEAF_PIVOTS, LEAF_SLOTS },
	[NODE_INNER] = { 10, INNER_PIVOTS, INNER_SLOTS },
};

/* The subtree whose last address this is. */
static int walk_node(struct walk *walk, uint64_t pointer, uint64_t last,
		     unsigned depth)
{
	const unsigned type = pointer >> 3 & 15;
	const uint64_t node = pointer & ~(uint64_t)NODE_MASK;
	int rc = 0;

	if (type < NODE_LEAF || type > NODE_INNER || depth > DEPTH_MOST)
		return ERR_NOT_FOUND;
	for (unsigned i = 0; i < shapes[type].slots && !rc; i++) {
		const uint32_t *at = walk->at;
		bool is_last = i + 1 == shapes[type].slots;
		uint64_t slot = kernel_pointer(walk->kernel, node +
				at[shapes[type].first] + 8 * i);
		uint64_t pivot = is_last ? last :
			kernel_number(walk->kernel, node +
				      at[shapes[type].pivots] + 8 * i, 8);

		if (!pivot && i)
			pivot = last;
		if (type == NODE_LEAF && slot)
			rc = tell(walk, slot);
		else if (type != NODE_LEAF && kernel_is_node(slot))
			rc = walk_node(walk, slot, pivot, depth + 1);
		if (pivot >= last)
			break;
	}
	return rc;
}

int kernel_each_in(struct kernel *kernel, uint64_t memory,
		   kernel_mapping_visit *visit, void *context)
{
	struct walk walk = { .kernel = kernel, .visit = visit,
			     .context = context };
	uint64_t root;

	if (kernel_places(kernel, places, PLACES, walk.at) < PLACES)
		return ERR_NOT_FOUND;
	root = kernel_pointer(kernel, memory + walk.at[MEMORY_ROOT]);
	return kernel_is_node(root) ? walk_node(&walk, root, UINT64_MAX, 0) :
	       root ? tell(&walk, root) : 0;
}

int kernel_each_mapping(struct kernel *kernel, const struct position *at,
			const struct address_space *space,
			kernel_mapping_visit *visit, void *context,
			struct failure *why)
{
	char time[POSITION_TEXT];
	int rc = kernel_go(kernel, at, why);
	uint64_t memory = rc ? 0 : kernel_memory(kernel, space);

	if (!rc && !memory)
		rc = failed(why, ERR_NOT_FOUND, "no process is present at"
			    " t=%s", position_text(time, at));
	if (!rc) {
		rc = kernel_each_in(kernel, memory, visit, context);
		if (rc == ERR_NOT_FOUND)
			failed(why, rc, "the kernel's mappings are not as those"
			       " since Linux 6.1 are");
	}
	kernel_leave(kernel);
	return rc;
}
