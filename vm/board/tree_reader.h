/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree_reader.h - reads a device tree that somebody else has made
 *
 * Items come in the order of the file.  Its bytes are hostile: names that are
 * given have a NUL at their end, and only letters, digits and signs.
 * Source: Devicetree Specification 0.4, chapter 5.
 *
 * Ownership:  nothing is allocated; items borrow from the bytes.
 * Errors:     ERR_TRUNCATED (the bytes end before the tree does),
 *             ERR_VERSION, ERR_CORRUPT.
 */
#ifndef CPREC_VM_BOARD_TREE_READER_H
#define CPREC_VM_BOARD_TREE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/bytes.h"

/* As many nodes may be in each other; as Linux. */
#define TREE_DEPTH 64u

struct tree_reader {
	struct input nodes, reserved;
	const uint8_t *names, *names_end;
	unsigned depth;
	bool has_root;
};

enum tree_item_kind { TREE_NODE, TREE_PROPERTY, TREE_NODE_END, TREE_END };

struct tree_item {
	enum tree_item_kind kind;
	const char *name;	/* of a node, or a property, which has these: */
	const uint8_t *bytes;
	size_t size;
};

/* Whether the bytes claim to be one. */
bool tree_is_one(const uint8_t *bytes, size_t size);

int tree_reader_begin(struct tree_reader *out, const uint8_t *bytes,
		      size_t size);
int tree_reader_next(struct tree_reader *reader, struct tree_item *out);

/* The next piece of memory that nobody may use; a size of 0: no other one. */
int tree_reader_reserved(struct tree_reader *reader, uint64_t *addr,
			 uint64_t *size);

/* Takes so many cells of 32 bits as one number, of which the lowest 64 bits
 * count. */
uint64_t tree_number(struct input *in, unsigned cells);

#endif
