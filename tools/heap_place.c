/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heap_place.c - see heap_place.h */
#include "tools/heap_place.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/session/session.h"

const char *heap_place_expression(const char *text)
{
	const char prefix[] = "heap:";
	size_t size = sizeof(prefix) - 1;

	/* "heap::x" is a name of C++. */
	return !strncmp(text, prefix, size) && text[size] != ':' ?
		       text + size : NULL;
}

/* ------- the address ------- */

/* What an expression is as a number; an array is where it begins. */
static int find_number(struct expressions *expressions, const char *text,
		       const struct expression_place *place, uint64_t *out,
		       struct failure *why)
{
	struct expression_question question = { .place = *place };
	struct expression found = { 0 };
	char *cast;
	int rc;

	if (asprintf(&cast, "(unsigned long)(%s)", text) < 0)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	question.text = cast;
	rc = expressions_find(expressions, &question, &found, why);
	free(cast);
	if (!rc && (!found.bytes || found.size != sizeof(*out)))
		rc = failed(why, ERR_INPUT, "'%s' is no address", text);
	if (!rc)
		memcpy(out, found.bytes, sizeof(*out));
	expression_release(&found);
	return rc;
}

static int find_address(struct expressions *expressions, const char *text,
			const struct expression_place *place, uint64_t *out,
			struct failure *why)
{
	const struct expression_question question = {
		.text = text, .place = *place,
	};
	struct expression found = { 0 };
	struct failure ignored;
	int rc = expressions_find(expressions, &question, &found, why);

	if (!rc) {
		*out = found.addr;
		if (!found.has_addr)
			rc = find_number(expressions, text, place, out, why);
		else if (found.type && strchr(found.type, '*'))
			find_number(expressions, text, place, out, &ignored);
	}
	expression_release(&found);
	return rc;
}

/* ------- the block ------- */

static int no_block(const struct heap_block *block, const char *text,
		    const struct position *at, uint64_t addr,
		    struct failure *why)
{
	char t[POSITION_TEXT], freed[POSITION_TEXT];

	position_text(t, at);
	if (block)
		return failed(why, ERR_NOT_FOUND, "cannot answer for '%s': the"
			      " block of %" PRIu64 " bytes at 0x%" PRIx64
			      " was freed at t=%s", text, block->size,
			      block->addr,
			      position_text(freed, &block->freed.at));
	return failed(why, ERR_NOT_FOUND, "cannot answer for '%s': 0x%" PRIx64
		      " is in no block of the heap at t=%s", text, addr, t);
}

int heap_place_find(struct expressions *expressions, const char *expression,
		    const struct expression_place *place, uint64_t *addr,
		    uint64_t *size, struct failure *why)
{
	const struct heap_question question = {
		.query = expressions_query(expressions),
		.lines = expressions_lines(expressions), .to = place->at,
	};
	const struct heap_block *block;
	struct heap heap;
	uint64_t inside;
	int rc = find_address(expressions, expression, place, &inside, why);

	if (!rc)
		rc = heap_follow(&heap, &question, why);
	if (rc)
		return rc;
	block = heap_blocks_find(&heap.blocks, inside);
	if (!block || block->freed.function) {
		rc = no_block(block, expression, &place->at, inside, why);
	} else if (!block->size) {
		rc = failed(why, ERR_NOT_FOUND, "the block at 0x%" PRIx64
			    " has no bytes", block->addr);
	} else {
		*addr = block->addr;
		*size = block->size;
	}
	heap_release(&heap);
	return rc;
}
