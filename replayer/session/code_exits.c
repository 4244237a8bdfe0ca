/* SPDX-License-Identifier: GPL-2.0-or-later */
/* code_exits.c - see code_exits.h */
#include "replayer/session/code_exits.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/replayer.h"
#include "replayer/session/code.h"
#include "replayer/session/function_places.h"
#include "replayer/session/query.h"
#include "replayer/symbols/symbols.h"
#include "vm/vm.h"

/* Code is looked at in pieces of so many bytes. */
#define PIECE 4096u

struct part {
	uint64_t start, end;
};

/* Control leaves at `last`; behind `first`, the frame is taken down. */
struct leave {
	uint64_t first, last;
	bool jumps_to;		/* a jump: perhaps within the function */
	uint64_t target;
};

struct exits {
	struct query *query;
	struct replayer *rep;
	bool is_copy;		/* that was inlined */
	struct part *parts;
	size_t part_count, part_room;
	struct leave *leaves;
	size_t leave_count, leave_room;
	uint64_t unwinds;	/* from here on; 0: nothing right before */
	uint64_t newest;	/* the instruction before the next one */
	struct failure *why;
};

/* ------- the function's code ------- */

static int on_part(void *context, uint64_t start, uint64_t end)
{
	struct exits *exits = context;

	if (array_room(exits->parts, exits->part_count, exits->part_room))
		return ERR_NO_MEMORY;
	exits->parts[exits->part_count++] = (struct part){ start, end };
	return 0;
}

static bool is_inside(const struct exits *exits, uint64_t addr)
{
	for (size_t i = 0; i < exits->part_count; i++)
		if (addr >= exits->parts[i].start && addr < exits->parts[i].end)
			return true;
	return false;
}

/* ------- its instructions ------- */

static int add_leave(struct exits *exits, uint64_t addr,
		     const struct vm_instruction *found)
{
	bool is_call = found->way == VM_WAY_CALL;

	if (array_room(exits->leaves, exits->leave_count, exits->leave_room))
		return ERR_NO_MEMORY;
	exits->leaves[exits->leave_count++] = (struct leave) {
		.first = exits->unwinds && !is_call ? exits->unwinds : addr,
		.last = addr, .jumps_to = found->jumps && !is_call,
		.target = found->target,
	};
	return 0;
}

static int take(struct exits *exits, uint64_t addr,
		const struct vm_instruction *found)
{
	int rc = found->leads_on ? add_leave(exits, addr, found) : 0;

	exits->newest = addr;
	if (!found->unwinds)
		exits->unwinds = 0;
	else if (!exits->unwinds)
		exits->unwinds = addr;
	return rc;
}

/* Between bytes that nobody knows, instructions begin anywhere. */
static int look_at_piece(struct exits *exits, uint64_t *addr, uint64_t end)
{
	uint8_t bytes[PIECE + VM_INSTRUCTION_MOST], known[sizeof(bytes)];
	const struct position now = replayer_now(exits->rep);
	struct query_answer answer;
	size_t at = 0;
	int rc = query_memory(exits->query, *addr, &now, bytes, known,
			      sizeof(bytes), &answer, exits->why);

	while (!rc && at < PIECE && *addr + at < end) {
		struct vm_instruction found = { 0 };
		const uint8_t *gap = memchr(known + at, 0, sizeof(known) - at);
		size_t left = (gap ? (size_t)(gap - known) : sizeof(known)) -
			      at;

		if (left)
			replayer_instruction(exits->rep, *addr + at, bytes + at,
					     left, VM_INTEL, &found);
		rc = take(exits, *addr + at, &found);
		at += found.size ? found.size : 1;
	}
	*addr += at;
	return rc;
}

static int look_at(struct exits *exits, const struct part *part)
{
	uint64_t addr = part->start;
	int rc = 0;

	exits->unwinds = 0;
	while (addr < part->end && !rc)
		rc = look_at_piece(exits, &addr, part->end);
	/* A function of its own does not go on there, but a copy does. */
	if (!rc && exits->is_copy && !is_inside(exits, part->end))
		rc = add_leave(exits, exits->newest,
			       &(struct vm_instruction){ 0 });
	return rc;
}

/* ------- all of it ------- */

/* A jump may lead behind a part of what takes the frame down. */
static int visit_leave(const struct exits *exits, const struct leave *leave,
		       int (*visit)(void *context, uint64_t addr),
		       void *context)
{
	int rc = visit(context, leave->first);

	for (size_t i = 0; i < exits->leave_count && !rc &&
			   leave->first < leave->last; i++) {
		const struct leave *other = &exits->leaves[i];

		if (other->jumps_to && other->target > leave->first &&
		    other->target <= leave->last)
			rc = visit(context, other->target);
	}
	return rc;
}

static int visit_leaves(const struct exits *exits,
			int (*visit)(void *context, uint64_t addr),
			void *context)
{
	int rc = 0;

	for (size_t i = 0; i < exits->leave_count && !rc; i++) {
		const struct leave *leave = &exits->leaves[i];

		if (!leave->jumps_to || !is_inside(exits, leave->target))
			rc = visit_leave(exits, leave, visit, context);
	}
	return rc;
}

/* Without debugging information, as far as its symbol says. */
static int find_parts(struct exits *exits, struct lines *lines,
		      const struct function_place *place)
{
	uint64_t start, end;

	if (place->has_code)
		return function_code_parts(&place->code, on_part, exits);
	return code_function(lines, replayer_time(exits->rep), place->entry,
			     &start, &end) ?
		       on_part(exits, place->entry, end) : 0;
}

int code_exits_of_function(struct query *query, struct lines *lines,
			   const struct function_place *place,
			   int (*visit)(void *context, uint64_t addr),
			   void *context, struct failure *why)
{
	struct exits exits = { .query = query, .why = why,
			       .is_copy = !place->function };
	int rc = query_replayer(query, &exits.rep, why);

	if (!rc)
		rc = find_parts(&exits, lines, place);
	for (size_t i = 0; i < exits.part_count && !rc; i++)
		rc = look_at(&exits, &exits.parts[i]);
	if (rc == ERR_NO_MEMORY)
		rc = failed(why, rc, "out of memory");
	if (!rc)
		rc = visit_leaves(&exits, visit, context);
	free(exits.parts);
	free(exits.leaves);
	return rc;
}
