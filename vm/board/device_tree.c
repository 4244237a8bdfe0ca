/* SPDX-License-Identifier: GPL-2.0-or-later */
/* device_tree.c - see device_tree.h */
#include "vm/board/device_tree.h"

#include <string.h>

#include "formats/error.h"

#define MAGIC 0xd00dfeedu
#define VERSION 17u
#define OLDEST_READER 16u
#define HEADER_SIZE 40u

enum { NODE_BEGINS = 1, NODE_ENDS = 2, PROPERTY = 3, TREE_ENDS = 9 };

static void put(struct output *out, uint32_t value)
{
	const uint8_t bytes[] = { (uint8_t)(value >> 24),
				  (uint8_t)(value >> 16), (uint8_t)(value >> 8),
				  (uint8_t)value };

	output_bytes(out, bytes, sizeof(bytes));
}

static void put_wide(struct output *out, uint64_t value)
{
	put(out, (uint32_t)(value >> 32));
	put(out, (uint32_t)value);
}

static void put_padded(struct output *out, const void *bytes, size_t size)
{
	static const uint8_t zeros[4];

	output_bytes(out, bytes, size);
	output_bytes(out, zeros, -size & 3);
}

void tree_reserve(struct device_tree *tree, uint64_t addr, uint64_t size)
{
	put_wide(&tree->reserved, addr);
	put_wide(&tree->reserved, size);
}

void tree_begin(struct device_tree *tree, const char *name)
{
	put(&tree->nodes, NODE_BEGINS);
	put_padded(&tree->nodes, name, strlen(name) + 1);
}

void tree_end(struct device_tree *tree)
{
	put(&tree->nodes, NODE_ENDS);
}

/* Each name may be there as often as it is used. */
static void begin_property(struct device_tree *tree, const char *name,
			   size_t size)
{
	put(&tree->nodes, PROPERTY);
	put(&tree->nodes, (uint32_t)size);
	put(&tree->nodes, (uint32_t)tree->names.size);
	output_bytes(&tree->names, name, strlen(name) + 1);
}

void tree_bytes(struct device_tree *tree, const char *name, const void *bytes,
		size_t size)
{
	begin_property(tree, name, size);
	put_padded(&tree->nodes, bytes, size);
}

void tree_flag(struct device_tree *tree, const char *name)
{
	begin_property(tree, name, 0);
}

void tree_text(struct device_tree *tree, const char *name, const char *text)
{
	tree_bytes(tree, name, text, strlen(text) + 1);
}

void tree_numbers(struct device_tree *tree, const char *name,
		  const uint32_t *numbers, size_t count)
{
	begin_property(tree, name, count * 4);
	for (size_t i = 0; i < count; i++)
		put(&tree->nodes, numbers[i]);
}

void tree_wide(struct device_tree *tree, const char *name,
	       const uint64_t *numbers, size_t count)
{
	begin_property(tree, name, count * 8);
	for (size_t i = 0; i < count; i++)
		put_wide(&tree->nodes, numbers[i]);
}

static void put_header(struct output *out, const struct device_tree *tree)
{
	uint32_t nodes = HEADER_SIZE + (uint32_t)tree->reserved.size;
	uint32_t names = nodes + (uint32_t)tree->nodes.size;
	const uint32_t fields[] = {
		MAGIC, names + (uint32_t)tree->names.size, nodes, names,
		HEADER_SIZE, VERSION, OLDEST_READER, 0 /* first processor */,
		(uint32_t)tree->names.size, (uint32_t)tree->nodes.size,
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		put(out, fields[i]);
}

int device_tree_end(struct device_tree *tree, struct output *out)
{
	put(&tree->nodes, TREE_ENDS);
	tree_reserve(tree, 0, 0);
	put_header(out, tree);
	output_bytes(out, tree->reserved.bytes, tree->reserved.size);
	output_bytes(out, tree->nodes.bytes, tree->nodes.size);
	output_bytes(out, tree->names.bytes, tree->names.size);
	if (tree->nodes.error || tree->reserved.error)
		return ERR_NO_MEMORY;
	return tree->names.error ? tree->names.error : out->error;
}

void device_tree_release(struct device_tree *tree)
{
	output_release(&tree->nodes);
	output_release(&tree->names);
	output_release(&tree->reserved);
}
