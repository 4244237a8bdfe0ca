/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine_live.c - a machine that goes on where a recording is */
#include "recorder/machine_internal.h"

#include <stdlib.h>

#include "formats/error.h"
#include "formats/page_hash.h"

struct machine_live {
	struct machine machine;
	struct machine_options options;
	struct board *from;	/* the replay's */
};

int machine_live_create(struct machine_live **out,
			const struct machine_options *options,
			struct board *board, struct failure *why)
{
	struct machine_live *live = calloc(1, sizeof(*live));
	struct virt_options *own;
	struct machine *machine;
	int rc;

	if (!live)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	machine = &live->machine;
	live->options = *options;
	own = &live->options.live.virt;
	/* It has no kernel that it could begin with. */
	live->options.ends_at_reset = true;
	own->memory = board_pages(board) * GUEST_PAGE;
	own->cores = board_cores(board);
	for (unsigned i = 0; i < own->drive_count; i++)
		own->drives[i].snapshot = true;
	live->from = board;
	machine->options = &live->options;
	machine->is_live = machine->follows = true;
	rc = machine_create_world(machine, why);
	if (rc) {
		machine_live_destroy(live);
		return rc;
	}
	machine->kind->connect(machine->live, board);
	*out = live;
	return 0;
}

void machine_live_destroy(struct machine_live *live)
{
	if (live)
		machine_destroy(&live->machine);
}

int machine_live_begin(struct machine_live *live, const uint8_t *state,
		       size_t size, struct failure *why)
{
	return live_load(live->machine.kind, live->machine.live, state, size) ?
		       0 : failed(why, ERR_CORRUPT, "the state of devices at"
				  " a key frame makes no sense");
}

void machine_live_block(struct machine_live *live, unsigned disk,
			uint64_t block, const uint8_t bytes[GUEST_PAGE])
{
	const struct machine *machine = &live->machine;

	if (disk < live_disks(machine->kind, machine->live))
		machine->kind->follow_block(machine->live, disk, block, bytes);
}

void machine_live_state(struct machine_live *live, struct output *out)
{
	live_save(live->machine.kind, live->machine.live, out);
}

void machine_live_read(struct machine_live *live, uint64_t addr, uint64_t value)
{
	live->machine.kind->follow_read(live->machine.live, addr, value);
}

void machine_live_write(struct machine_live *live, uint64_t addr,
			unsigned size, uint64_t value)
{
	live->machine.kind->follow_write(live->machine.live, addr, size, value);
}

void machine_live_interrupted(struct machine_live *live, unsigned number)
{
	if (live->machine.kind->follow_interrupt)
		live->machine.kind->follow_interrupt(live->machine.live,
						     number);
}

void machine_live_stored(struct machine_live *live, bool begins)
{
	live->machine.kind->follow_stores(live->machine.live, begins);
}

void machine_live_called(struct machine_live *live, uint64_t result,
			 const uint64_t *error)
{
	live->machine.kind->follow_call(live->machine.live, result, error);
}

/* The board becomes one of its own, with that state. */
static int take_over(struct machine_live *live, struct failure *why)
{
	struct machine *machine = &live->machine;
	struct board_ram rams[BOARD_RAMS_MOST];
	struct reg_file regs;
	int rc = board_create(&machine->board, machine->kind->arch,
			      machine->kind->model(&live->options.live), rams,
			      machine->kind->rams(machine->live, rams),
			      &machine->world, why);

	if (rc)
		return rc;
	for (uint64_t i = 0; i < board_pages(live->from); i++) {
		uint64_t addr = board_guest_page(live->from, i)
				<< GUEST_PAGE_SHIFT;
		const uint8_t *page = board_bytes(live->from, addr, GUEST_PAGE);

		if (!page_is_zero(page))
			board_store(machine->board, addr, page, GUEST_PAGE);
	}
	board_registers(machine->board, &machine->first);
	machine->cores.count = board_cores(live->from);
	board_set_cores(machine->board, machine->cores.count);
	board_switch(machine->board, board_core(live->from));
	for (unsigned i = 0; i < machine->cores.count; i++) {
		board_core_registers(live->from, i, &regs);
		board_set_core_registers(machine->board, i, &regs);
	}
	board_set_steps(machine->board, board_steps(live->from));
	machine->kind->connect(machine->live, machine->board);
	machine->follows = false;
	machine->spoken = board_ticks(machine->board);
	/* It may have been switched on, and nothing more. */
	machine_cores_turn(machine, board_core(machine->board));
	return machine_work(machine, why);
}

int machine_live_run(struct machine_live *live, enum board_stop stop,
		     struct machine_ending *ending, struct failure *why)
{
	struct machine *machine = &live->machine;
	bool on = true;
	int rc = take_over(live, why);

	if (!rc && stop != BOARD_AT_STEPS)
		rc = machine_attend(machine, stop, &on, why);
	while (!rc && on)
		rc = machine_advance(machine, &on, why);
	machine_write_output(machine);
	if (!rc)
		machine_tell_ending(machine, ending);
	return rc;
}
