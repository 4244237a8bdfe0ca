/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tree_reader.c - see tree_reader.h */
#include "vm/board/tree_reader.h"

#include <string.h>

#include "formats/error.h"

#define MAGIC 0xd00dfeedu
#define VERSION_LEAST 16u	/* of the layout; later ones say which readers
				   know them */
#define VERSION 17u
#define CELL 4u

enum { NODE_BEGINS = 1, NODE_ENDS = 2, PROPERTY = 3, NOTHING = 4,
       TREE_ENDS = 9 };

uint64_t tree_number(struct input *in, unsigned cells)
{
	const uint8_t *bytes = input_bytes(in, (uint64_t)cells * CELL);
	uint64_t value = 0;

	for (size_t i = 0; bytes && i < (size_t)cells * CELL; i++)
		value = value << 8 | bytes[i];
	return value;
}

bool tree_is_one(const uint8_t *bytes, size_t size)
{
	struct input in = { bytes, bytes + size, 0 };

	return tree_number(&in, 1) == MAGIC;
}

/* What is between two places of a tree. */
static int take_part(struct input *out, const uint8_t *bytes, uint64_t whole,
		     uint64_t at, uint64_t size)
{
	if (at % CELL || at > whole || size > whole - at)
		return ERR_CORRUPT;
	*out = (struct input){ bytes + at, bytes + at + size, 0 };
	return 0;
}

int tree_reader_begin(struct tree_reader *out, const uint8_t *bytes,
		      size_t size)
{
	struct input in = { bytes, bytes + size, 0 };
	uint64_t whole, nodes, names, reserved, version, oldest, names_size;
	int rc;

	*out = (struct tree_reader){ 0 };
	if (tree_number(&in, 1) != MAGIC)
		return in.error ? in.error : ERR_CORRUPT;
	whole = tree_number(&in, 1);
	nodes = tree_number(&in, 1);
	names = tree_number(&in, 1);
	reserved = tree_number(&in, 1);
	version = tree_number(&in, 1);
	oldest = tree_number(&in, 1);
	tree_number(&in, 1);		/* the processor that starts it */
	names_size = tree_number(&in, 1);
	if (in.error || whole > size)
		return ERR_TRUNCATED;
	if (version < VERSION_LEAST || oldest > VERSION)
		return ERR_VERSION;
	if (names > whole || names_size > whole - names || nodes > whole ||
	    reserved > whole)
		return ERR_CORRUPT;
	out->names = bytes + names;
	out->names_end = out->names + names_size;
	rc = take_part(&out->nodes, bytes, whole, nodes, whole - nodes);
	return rc ? rc : take_part(&out->reserved, bytes, whole, reserved,
				   whole - reserved);
}

/* A text of at least one byte, and what is no letter of names is none; NULL:
 * it is no name. */
static const char *name_in(const uint8_t *at, const uint8_t *end)
{
	const uint8_t *nul = at < end ? memchr(at, 0, (size_t)(end - at)) :
					NULL;

	for (const uint8_t *byte = at; nul && byte < nul; byte++)
		if (*byte <= ' ' || *byte >= 0x7f)
			return NULL;
	return nul ? (const char *)at : NULL;
}

/* Items begin at multiples of 4. */
static void skip_padding(struct tree_reader *reader, size_t size)
{
	input_bytes(&reader->nodes, -size & (CELL - 1));
}

static int begin_node(struct tree_reader *reader, struct tree_item *out)
{
	size_t size;

	out->name = name_in(reader->nodes.at, reader->nodes.end);
	/* There is one root, without a name. */
	if (!out->name || reader->depth == TREE_DEPTH ||
	    (!reader->depth && (reader->has_root || *out->name)) ||
	    (reader->depth && !*out->name))
		return ERR_CORRUPT;
	size = strlen(out->name) + 1;
	input_bytes(&reader->nodes, size);
	skip_padding(reader, size);
	reader->has_root = true;
	reader->depth++;
	return reader->nodes.error;
}

static int take_property(struct tree_reader *reader, struct tree_item *out)
{
	uint64_t size = tree_number(&reader->nodes, 1);
	uint64_t name = tree_number(&reader->nodes, 1);

	out->bytes = input_bytes(&reader->nodes, size);
	skip_padding(reader, (size_t)size);
	if (reader->nodes.error || !reader->depth ||
	    name >= (uint64_t)(reader->names_end - reader->names))
		return ERR_CORRUPT;
	out->size = (size_t)size;
	out->name = name_in(reader->names + name, reader->names_end);
	return out->name && *out->name ? 0 : ERR_CORRUPT;
}

int tree_reader_next(struct tree_reader *reader, struct tree_item *out)
{
	uint64_t kind;

	do {
		kind = tree_number(&reader->nodes, 1);
	} while (kind == NOTHING);
	*out = (struct tree_item){ 0 };
	switch (kind) {
	case NODE_BEGINS:
		out->kind = TREE_NODE;
		return begin_node(reader, out);
	case PROPERTY:
		out->kind = TREE_PROPERTY;
		return take_property(reader, out);
	case NODE_ENDS:
		out->kind = TREE_NODE_END;
		return reader->depth-- ? 0 : ERR_CORRUPT;
	case TREE_ENDS:
		out->kind = TREE_END;
		return reader->depth || !reader->has_root ? ERR_CORRUPT : 0;
	}
	return ERR_CORRUPT;
}

int tree_reader_reserved(struct tree_reader *reader, uint64_t *addr,
			 uint64_t *size)
{
	*addr = tree_number(&reader->reserved, 2);
	*size = tree_number(&reader->reserved, 2);
	return reader->reserved.error ? ERR_CORRUPT : 0;
}
