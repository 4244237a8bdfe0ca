/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * device_tree.h - writes a device tree, as a kernel wants it
 *
 * Nodes are begun and ended in order; a node's properties come before the nodes
 * in it.  Source: Devicetree Specification 0.4, chapter 5.
 *
 * Ownership:  device_tree_release() frees; a zeroed structure is empty.
 * Errors:     ERR_NO_MEMORY, which device_tree_end() tells.
 */
#ifndef CPREC_VM_BOARD_DEVICE_TREE_H
#define CPREC_VM_BOARD_DEVICE_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "formats/bytes.h"

struct device_tree {
	struct output nodes, names, reserved;
};

/* Memory that nobody may use. */
void tree_reserve(struct device_tree *tree, uint64_t addr, uint64_t size);

void tree_begin(struct device_tree *tree, const char *name);
void tree_end(struct device_tree *tree);

/* Properties: nothing, bytes, a text, numbers of 32 or 64 bits. */
void tree_flag(struct device_tree *tree, const char *name);
void tree_bytes(struct device_tree *tree, const char *name, const void *bytes,
		size_t size);
void tree_text(struct device_tree *tree, const char *name, const char *text);
void tree_numbers(struct device_tree *tree, const char *name,
		  const uint32_t *numbers, size_t count);
void tree_wide(struct device_tree *tree, const char *name,
	       const uint64_t *numbers, size_t count);

#define TREE_NUMBERS(tree, name, ...)                                          \
	tree_numbers(tree, name, (const uint32_t[]){ __VA_ARGS__ },            \
		     sizeof((const uint32_t[]){ __VA_ARGS__ }) / 4)
#define TREE_WIDE(tree, name, ...)                                             \
	tree_wide(tree, name, (const uint64_t[]){ __VA_ARGS__ },               \
		  sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8)

/* All of it as bytes. */
int device_tree_end(struct device_tree *tree, struct output *out);
void device_tree_release(struct device_tree *tree);

#endif
