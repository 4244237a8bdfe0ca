/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine_devices.c - what devices are, at key frames and behind them */
#include "recorder/machine_internal.h"

#include <stdlib.h>

#include "formats/array.h"
#include "formats/error.h"

/* Stored pages that blocks of a disk are. */
struct blocks {
	struct page_ref *list;
	size_t count, room;
};

static int add_block(struct machine *machine, struct blocks *blocks,
		     uint64_t block, const uint8_t *bytes, struct failure *why)
{
	struct page_ref *ref;

	if (array_room(blocks->list, blocks->count, blocks->room))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	ref = &blocks->list[blocks->count++];
	ref->page = block;
	return machine_trace_keep(&machine->trace, block, bytes, &ref->id, why);
}

static int record_disk(struct machine *machine, unsigned disk,
		       struct failure *why)
{
	struct blocks blocks = { 0 };
	uint8_t bytes[GUEST_PAGE];
	int rc = 0;

	for (uint64_t block = 0; !rc && blocks.count < KEY_FRAME_LIST_MAX &&
	     machine->kind->next_written(machine->live, disk, &block, bytes);
	     block++)
		rc = add_block(machine, &blocks, block, bytes, why);
	if (!rc && blocks.count)
		rc = machine_trace_disk(&machine->trace, disk, blocks.list,
					blocks.count, why);
	free(blocks.list);
	return rc;
}

int machine_record_devices(struct machine *machine, struct failure *why)
{
	unsigned disks = live_disks(machine->kind, machine->live);
	struct output out = { 0 };
	int rc = 0;

	for (unsigned i = 0; i < disks && !rc; i++)
		rc = record_disk(machine, i, why);
	if (rc)
		return rc;
	/* The last one: if it is there, all is. */
	live_save(machine->kind, machine->live, &out);
	return machine_trace_devices(&machine->trace, &out, why);
}
