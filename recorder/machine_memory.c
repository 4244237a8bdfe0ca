/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine_memory.c - see machine_memory.h */
#include "recorder/machine_memory.h"

#include <stdlib.h>

#include "formats/array.h"
#include "formats/error.h"

static void note(struct machine_memory *memory, uint64_t addr, uint64_t size,
		 bool is_output)
{
	struct machine_use *last = memory->count ?
		&memory->list[memory->count - 1] : NULL;

	if (!size)
		return;
	if (last && last->is_output == is_output &&
	    last->addr + last->size == addr) {
		last->size += size;
		return;
	}
	if (array_room(memory->list, memory->count, memory->room)) {
		memory->error = ERR_NO_MEMORY;
		return;
	}
	memory->list[memory->count++] =
		(struct machine_use){ addr, size, is_output };
}

void machine_memory_changed(struct machine_memory *memory, uint64_t addr,
			    uint64_t size)
{
	note(memory, addr, size, false);
}

void machine_memory_output(struct machine_memory *memory, uint64_t addr,
			   uint64_t size)
{
	note(memory, addr, size, true);
}

/* A whole page is stored; what is less goes through the read stream. */
static int record_part(struct machine_trace *trace, const struct board *board,
		       uint64_t addr, uint64_t size, struct failure *why)
{
	const uint8_t *bytes = board_bytes(board, addr, size);

	if (size == GUEST_PAGE)
		return machine_trace_stored(trace, addr, bytes, why);
	machine_trace_write(trace, addr, bytes, size);
	return 0;
}

static int record_change(struct machine_trace *trace,
			 const struct board *board,
			 const struct machine_use *use, struct failure *why)
{
	uint64_t done = 0;
	int rc = 0;

	while (done < use->size && !rc) {
		uint64_t addr = use->addr + done;
		uint64_t part = GUEST_PAGE - addr % GUEST_PAGE;

		if (part > use->size - done)
			part = use->size - done;
		rc = record_part(trace, board, addr, part, why);
		done += part;
	}
	return rc;
}

int machine_memory_record(struct machine_memory *memory,
			  struct machine_trace *trace,
			  const struct board *board, struct failure *why)
{
	struct packet packet = { .kind = PACKET_DMA };
	int rc = 0;

	if (memory->error)
		return failed(why, memory->error, "out of memory");
	if (!memory->count)
		return 0;
	machine_trace_event(trace, &packet, board_steps(board));
	for (size_t i = 0; i < memory->count && !rc; i++) {
		const struct machine_use *use = &memory->list[i];

		if (use->is_output)
			machine_trace_output(trace, use->addr, use->size);
		else
			rc = record_change(trace, board, use, why);
	}
	memory->count = 0;
	return rc;
}

void machine_memory_release(struct machine_memory *memory)
{
	free(memory->list);
	*memory = (struct machine_memory){ 0 };
}
