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

/* ------- following a replay ------- */

static void on_read(void *context, uint64_t addr, uint64_t value)
{
	struct machine *machine = context;

	machine->kind->follow_read(machine->live, addr, value);
}

static void on_write(void *context, uint64_t addr, unsigned size,
		     uint64_t value)
{
	struct machine *machine = context;

	machine->kind->follow_write(machine->live, addr, size, value);
}

static void on_interrupted(void *context, unsigned number)
{
	struct machine *machine = context;

	if (machine->kind->follow_interrupt)
		machine->kind->follow_interrupt(machine->live, number);
}

static void on_stored(void *context, bool begins)
{
	struct machine *machine = context;

	machine->kind->follow_stores(machine->live, begins);
}

static void on_called(void *context, uint64_t result, const uint64_t *error)
{
	struct machine *machine = context;

	machine->kind->follow_call(machine->live, result, error);
}

struct board_follower machine_live_follower(struct machine_live *live)
{
	return (struct board_follower){
		.read = on_read, .write = on_write,
		.interrupted = on_interrupted, .stored = on_stored,
		.called = on_called, .context = &live->machine,
	};
}

/* ------- being alive ------- */

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
