/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * states.c - one recording's positions, reached in two ways
 *
 * usage: states FILE <POSITIONS, lines "TIME EVENTS", rising
 *
 * First all of it is executed in order, from the first key frame: others are
 * only passed, as if there were none.  Then each position is gone to in random
 * order, mostly from the key frame or the checkpoint before it.  Registers of
 * all threads, whose turn it is, and what memory is known both ways must be the
 * same.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "replayer/recording/recording.h"
#include "replayer/replayer.h"
#include "tests/run/check.h"
#include "vm/memory/memory.h"
#include "vm/vm.h"

/* Checkpoints as close as this, and no more of them than in so many bytes. */
#define POINTS_GAP 200u
#define POINTS_MOST (4u << 20)

enum { STACK_BELOW = 512, PIECE_MOST = 1024, VARIABLES = 256, REGIONS = 24 };

struct piece {
	uint64_t addr;
	size_t size;
	uint8_t bytes[PIECE_MOST], known[PIECE_MOST];
};

struct state {
	struct position at;
	uint32_t stream;
	int *found;		/* by stream: what its registers' question gave */
	struct reg_file *regs;
	struct piece *pieces;	/* of memory */
	size_t count, room;
};

static struct recording *recording;
static size_t threads;

static void *allocated(void *memory)
{
	if (!memory)
		check(ERR_NO_MEMORY);
	return memory;
}

static void add_memory(struct replayer *replayer, struct state *state,
		       uint64_t addr, size_t size)
{
	struct piece *piece;

	check(array_room(state->pieces, state->count, state->room));
	piece = &state->pieces[state->count++];
	*piece = (struct piece) { .addr = addr, .size = size };
	check(replayer_read(replayer, addr, piece->bytes, piece->known, size,
			    &why));
}

/* Around stack pointers, and where variables are. */
static void take_memory(struct replayer *replayer, struct state *state)
{
	const struct reg_table *table = recording_reg_table(recording);
	struct memory *memory = vm_memory(replayer_vm(replayer));
	size_t count, taken = 0;
	const struct region *regions = memory_all_regions(memory, &count);

	for (size_t i = 0; i < threads; i++)
		if (!state->found[i])
			add_memory(replayer, state,
				   reg_get(table, &state->regs[i], X86_RSP) -
					   STACK_BELOW, PIECE_MOST);
	for (size_t i = 0; i < count && taken < REGIONS; i++) {
		if (!(regions[i].prot & MAY_WRITE) ||
		    regions[i].kind == REGION_SHARED)
			continue;
		add_memory(replayer, state, regions[i].start, VARIABLES);
		taken++;
	}
}

/* The same memory as of `like`, if that is there. */
static void take(struct replayer *replayer, struct state *state,
		 const struct state *like)
{
	check(replayer_seek(replayer, &state->at, &why));
	state->stream = replayer_stream(replayer);
	state->found = allocated(calloc(threads, sizeof(*state->found)));
	state->regs = allocated(calloc(threads, sizeof(*state->regs)));
	for (uint32_t i = 0; i < threads; i++) {
		int rc = replayer_thread_registers(replayer, i,
						   &state->regs[i], &why);

		if (rc && rc != ERR_NOT_FOUND)
			check(rc);
		state->found[i] = rc;
	}
	for (size_t i = 0; like && i < like->count; i++)
		add_memory(replayer, state, like->pieces[i].addr,
			   like->pieces[i].size);
	if (!like)
		take_memory(replayer, state);
}

static void release(struct state *state)
{
	free(state->found);
	free(state->regs);
	free(state->pieces);
}

/* What differs first; NULL: nothing. */
static const char *difference(const struct state *a, const struct state *b)
{
	const struct reg_table *table = recording_reg_table(recording);
	static char text[128];

	if (a->stream != b->stream)
		return "whose turn it is";
	for (size_t i = 0; i < threads; i++) {
		if (a->found[i] != b->found[i])
			return "whether a thread is there";
		for (unsigned j = 0; j < table->count && !a->found[i]; j++) {
			const struct reg_info *info = &table->regs[j];

			if (!memcmp(a->regs[i].bytes + info->offset,
				    b->regs[i].bytes + info->offset,
				    info->size))
				continue;
			snprintf(text, sizeof(text), "%s of stream %zu",
				 info->name, i);
			return text;
		}
	}
	for (size_t i = 0; i < a->count; i++)
		for (size_t j = 0; j < a->pieces[i].size; j++) {
			if (!a->pieces[i].known[j] ||
			    !b->pieces[i].known[j] ||
			    a->pieces[i].bytes[j] == b->pieces[i].bytes[j])
				continue;
			snprintf(text, sizeof(text), "memory at 0x%" PRIx64,
				 a->pieces[i].addr + j);
			return text;
		}
	return NULL;
}

static size_t read_positions(struct state **out)
{
	size_t count = 0, room = 0;
	struct state *list = NULL;
	struct position at;

	while (scanf("%" SCNu64 " %" SCNu32, &at.time, &at.events) == 2) {
		check(array_room(list, count, room));
		list[count++] = (struct state) { .at = at };
	}
	*out = list;
	return count;
}

/* The same order each time. */
static size_t *shuffled(size_t count)
{
	size_t *order = allocated(calloc(count + 1, sizeof(*order)));
	uint64_t seed = 1;

	for (size_t i = 0; i < count; i++) {
		size_t other;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		other = (size_t)(seed >> 33) % (i + 1);
		order[i] = order[other];
		order[other] = i;
	}
	return order;
}

static size_t compare(struct state *states, size_t count)
{
	size_t *order = shuffled(count), wrong = 0;
	struct replayer *replayer;

	check(replayer_create(&replayer, recording, &why));
	replayer_keep_points(replayer, POINTS_MOST, POINTS_GAP);
	for (size_t i = 0; i < count; i++) {
		const struct state *expected = &states[order[i]];
		struct state found = { .at = expected->at };
		char text[POSITION_TEXT];
		const char *what;

		take(replayer, &found, expected);
		what = difference(expected, &found);
		if (what && wrong++ < 20)
			printf("t=%s: %s\n",
			       position_text(text, &found.at), what);
		release(&found);
	}
	replayer_destroy(replayer);
	free(order);
	return wrong;
}

int main(int argc, char **argv)
{
	struct replayer *replayer;
	struct state *states;
	size_t count, wrong;

	if (argc != 2)
		return 2;
	check(recording_open(&recording, argv[1], &why));
	threads = recording_threads(recording);
	count = read_positions(&states);
	check(replayer_create(&replayer, recording, &why));
	replayer_in_order(replayer, true);
	for (size_t i = 0; i < count; i++)
		take(replayer, &states[i], NULL);
	replayer_destroy(replayer);
	wrong = compare(states, count);
	printf("%zu positions, %zu differ\n", count, wrong);
	for (size_t i = 0; i < count; i++)
		release(&states[i]);
	free(states);
	recording_close(recording);
	return wrong > 0;
}
