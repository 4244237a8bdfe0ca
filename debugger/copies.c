/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * copies.c - see copies.h
 *
 * An instruction that stores a register is followed to the one that wrote the
 * register; if that loaded it, the load's place had the value.  What is told by
 * the replay are the accesses; which registers an instruction has stands in its
 * text (moves.h).
 */
#include "debugger/copies.h"

#include <string.h>

/* From register to register, and no further. */
#define HOPS_MOST 32

struct search {
	struct cprec_cursor *cursor;
	uint32_t tid;
	const struct moves *moves;
	struct copy_source *out;
	struct cprec_failure *why;
	uint64_t offset, length;	/* which bytes, in what is followed */
};

/* ------- instructions ------- */

struct reading {
	const struct moves *moves;
	struct move *move;
};

static int take_code(void *context, const struct cprec_instruction *one)
{
	const struct reading *reading = context;

	reading->moves->read(one->text ? one->text : "", reading->move);
	return 1;
}

static int read_move(const struct search *search, uint64_t pc,
		     struct move *out)
{
	struct reading reading = { search->moves, out };
	const struct cprec_code code = {
		.size = sizeof(code), .start = pc, .count = 1,
	};
	int rc;

	*out = (struct move){ 0 };
	rc = cprec_each_instruction(search->cursor, &code, take_code, &reading,
				    search->why);
	return rc < 0 ? rc : 0;
}

/* ------- what one instruction accesses ------- */

/* The first access of the step at a position; `*is_there` false: none. */
static int first_access(const struct search *search, struct cprec_position at,
			bool reads, struct cprec_stop *out, bool *is_there)
{
	const struct cprec_watch all = {
		.length = UINT64_MAX, .reads = reads, .writes = !reads,
	};
	const struct cprec_until until = {
		.size = sizeof(until), .has_to = true, .to = { at.time + 1 },
		.watches = &all, .watch_count = 1,
	};
	const struct cprec_stop *stop;
	int rc = cprec_cursor_move(search->cursor, at, search->why);

	if (!rc)
		rc = cprec_cursor_thread(search->cursor, 0, search->why);
	if (!rc)
		rc = cprec_cursor_run(search->cursor, &until, &stop,
				      search->why);
	*is_there = !rc && stop->kind == CPREC_AT_WATCH && !stop->by_kernel;
	if (*is_there)
		*out = *stop;
	return rc;
}

/*
 * The instruction at a position loads the bytes that are followed, by one
 * access, or by several one behind the other.
 */
static int take_load(const struct search *search, struct cprec_position at,
		     uint64_t pc, bool is_several)
{
	struct copy_source *out = search->out;
	struct cprec_stop load;
	bool is_there;
	int rc = first_access(search, at, true, &load, &is_there);

	if (rc || !is_there ||
	    (!is_several && load.length <= search->offset))
		return rc;
	out->is_found = true;
	out->addr = load.addr + search->offset;
	out->length = load.length > search->offset ?
			      load.length - search->offset : load.length;
	if (out->length > search->length)
		out->length = search->length;
	out->at = at;
	out->pc = pc;
	return 0;
}

/* ------- through registers ------- */

/* Where the followed bytes are among those in memory; false: nowhere. */
static bool to_memory(struct search *search, const struct move *move,
		      const struct move_part *part)
{
	uint64_t at = 0;

	for (unsigned i = 0; i < move->count; at += move->parts[i++].size) {
		const struct move_part *one = &move->parts[i];
		uint64_t inside = search->offset - one->offset;

		if (!strcmp(one->name, part->name) &&
		    search->offset >= one->offset &&
		    (!one->size || inside < one->size)) {
			search->offset = at + inside;
			return true;
		}
	}
	return false;
}

/* In which register they are that go to memory; NULL: in none. */
static const struct move_part *from_memory(struct search *search,
					   const struct move *move)
{
	for (unsigned i = 0; i < move->count; i++) {
		const struct move_part *part = &move->parts[i];

		if (!part->size || search->offset < part->size) {
			search->offset += part->offset;
			return part;
		}
		search->offset -= part->size;
	}
	return NULL;
}

/* The instruction that wrote the register last; `*is_one` false: none did. */
static int last_write(const struct search *search, const char *name,
		      struct cprec_position *at, uint64_t *pc, bool *is_one)
{
	const struct cprec_register_write *write;
	int rc = cprec_cursor_move(search->cursor, *at, search->why);

	*is_one = false;
	if (!rc)
		rc = cprec_cursor_thread(search->cursor, search->tid,
					 search->why);
	if (!rc)
		rc = cprec_find_register_write(search->cursor, name, &write,
					       search->why);
	if (rc || !write || write->by)
		return rc;
	*is_one = true;
	*at = write->before;
	*pc = write->pc;
	return cprec_cursor_move(search->cursor, *at, search->why);
}

/* Follows the register in `part`, which may become another. */
static int find_register(struct search *search, struct move_part part,
			 struct cprec_position at)
{
	for (int hops = 0; hops < HOPS_MOST; hops++) {
		struct move move;
		uint64_t pc;
		bool is_one;
		int rc = last_write(search, part.name, &at, &pc, &is_one);

		if (!rc && is_one)
			rc = read_move(search, pc, &move);
		if (rc || !is_one)
			return rc;
		if (move.kind == MOVE_LOAD)
			return to_memory(search, &move, &part) ?
				       take_load(search, at, pc,
						 move.count > 1) : 0;
		if (move.kind != MOVE_REGISTER || move.count != 2 ||
		    strcmp(move.parts[0].name, part.name) ||
		    search->offset < move.parts[0].offset)
			return 0;
		search->offset += move.parts[1].offset -
				  move.parts[0].offset;
		part = move.parts[1];
	}
	return 0;
}

int copy_find(struct cprec_cursor *cursor, const struct moves *moves,
	      const struct cprec_access *access, struct copy_source *out,
	      struct cprec_failure *why)
{
	struct search search = {
		.cursor = cursor, .tid = access->tid, .moves = moves,
		.out = out, .why = why, .length = access->length,
	};
	const struct move_part *part;
	struct cprec_stop store;
	struct move move;
	bool is_there;
	int rc = read_move(&search, access->pc, &move);

	*out = (struct copy_source){ 0 };
	if (rc || (move.kind != MOVE_STORE && move.kind != MOVE_MEMORY))
		return rc;
	rc = first_access(&search, access->before, false, &store, &is_there);
	if (rc || !is_there || store.addr > access->addr)
		return rc;
	search.offset = access->addr - store.addr;
	if (move.kind == MOVE_MEMORY)
		return take_load(&search, access->before, access->pc, false);
	part = from_memory(&search, &move);
	return part ? find_register(&search, *part, access->before) : 0;
}

int copy_find_register(struct cprec_cursor *cursor, const struct moves *moves,
		       const char *name, struct copy_source *out,
		       struct cprec_failure *why)
{
	const struct cprec_state *state;
	struct search search = {
		.cursor = cursor, .moves = moves, .out = out, .why = why,
		.length = 16,
	};
	struct move_part part;
	int rc = cprec_cursor_describe(cursor, &state, why);

	*out = (struct copy_source){ 0 };
	if (rc || !moves->find(name + (*name == '$'), &part))
		return rc;
	search.tid = state->tid;
	search.offset = part.offset;
	return find_register(&search, part, cprec_cursor_position(cursor));
}
