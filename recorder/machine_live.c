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
	struct machine *machine;
	int rc;

	if (!live)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	machine = &live->machine;
	live->options = *options;
	live->options.virt.memory = board_ram(board).size;
	for (unsigned i = 0; i < options->virt.drive_count; i++)
		live->options.virt.drives[i].snapshot = true;
	live->from = board;
	machine->options = &live->options;
	machine->is_live = machine->follows = true;
	rc = machine_create_world(machine, why);
	if (rc) {
		machine_live_destroy(live);
		return rc;
	}
	virt_connect(machine->virt, board);
	*out = live;
	return 0;
}

void machine_live_destroy(struct machine_live *live)
{
	if (live)
		machine_destroy(&live->machine);
}

void machine_live_read(struct machine_live *live, uint64_t addr, uint64_t value)
{
	virt_follow_read(live->machine.virt, addr, value);
}

void machine_live_write(struct machine_live *live, uint64_t addr,
			unsigned size, uint64_t value)
{
	virt_follow_write(live->machine.virt, addr, size, value);
}

void machine_live_stored(struct machine_live *live)
{
	virt_follow_stores(live->machine.virt);
}

/* The board becomes one of its own, with that state. */
static int take_over(struct machine_live *live, struct failure *why)
{
	struct board_ram ram = board_ram(live->from);
	struct machine *machine = &live->machine;
	struct reg_file regs;
	int rc = board_create(&machine->board, live->options.virt.model, &ram,
			      &machine->world, why);

	if (rc)
		return rc;
	for (uint64_t at = 0; at < ram.size; at += GUEST_PAGE) {
		const uint8_t *page = board_bytes(live->from, ram.base + at,
						  GUEST_PAGE);

		if (!page_is_zero(page))
			board_store(machine->board, ram.base + at, page,
				    GUEST_PAGE);
	}
	board_registers(live->from, &regs);
	board_set_registers(machine->board, &regs);
	board_set_steps(machine->board, board_steps(live->from));
	virt_connect(machine->virt, machine->board);
	machine->follows = false;
	machine->spoken = board_ticks(machine->board);
	return machine_work(machine, why);
}

int machine_live_run(struct machine_live *live, enum machine_end *end,
		     struct failure *why)
{
	struct machine *machine = &live->machine;
	bool on = true;
	int rc = take_over(live, why);

	while (!rc && on)
		rc = machine_advance(machine, &on, end, why);
	machine_write_output(machine);
	return rc;
}
