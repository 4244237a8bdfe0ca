/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_cores.c - the cores of a machine take turns
 *
 * One core executes at a time.  Its turn ends when it waits, is switched off,
 * or has had it for so long, and another core can go on.  Turns depend on steps
 * alone.
 */
#include "recorder/machine_internal.h"

/*
 * How long a turn is while another core can go on, in steps.  Short, so that
 * who waits for the other one by looking does not look for long; a switch takes
 * as long as some 20,000 steps.  A choice.
 */
#define TURN_STEPS UINT64_C(200000)

static bool can_go_on(const struct machine *machine, unsigned core)
{
	return live_is_on(machine->kind, machine->live, core) &&
	       (!machine->cores.waits[core] ||
		machine->kind->wakes(machine->live, core));
}

/* The next one, in turn; the present one is the last.  False: none can. */
static bool find_next(const struct machine *machine, unsigned *core)
{
	const struct machine_cores *cores = &machine->cores;

	for (unsigned i = 1; i <= cores->count; i++) {
		*core = (board_core(machine->board) + i) % cores->count;
		if (can_go_on(machine, *core))
			return true;
	}
	*core = board_core(machine->board);
	return false;
}

static bool can_other(const struct machine *machine)
{
	unsigned core;

	return machine->cores.count > 1 && find_next(machine, &core) &&
	       core != board_core(machine->board);
}

unsigned machine_cores_wait(struct machine *machine, bool *ended)
{
	const unsigned present = board_core(machine->board);
	unsigned core;

	machine->cores.waits[present] =
		live_is_on(machine->kind, machine->live, present);
	while (!find_next(machine, &core) && !machine->stopped && !*ended)
		machine_pass_time(machine, machine->kind->next(machine->live),
				  ended);
	return core;
}

/* It has been switched on: all is as after a reset, but for this. */
static void begin(struct machine *machine, uint64_t entry, uint64_t context)
{
	struct packet packet = { .kind = PACKET_DMA };

	machine_reset_registers(machine);
	board_set_reg(machine->board, board_reg_result(machine->board),
		      context);
	board_set_reg(machine->board, reg_table(machine->kind->arch)->pc,
		      entry);
	machine_record_event(machine, &packet);
	machine_record_registers(machine);
}

void machine_cores_turn(struct machine *machine, unsigned core)
{
	struct machine_cores *cores = &machine->cores;
	uint64_t entry, context;

	cores->waits[core] = false;
	cores->turn_start = board_steps(machine->board);
	if (core != board_core(machine->board)) {
		board_switch(machine->board, core);
		if (!machine->is_live)
			machine_trace_turn(&machine->trace, core,
					   board_steps(machine->board));
	}
	if (machine->kind->begins &&
	    machine->kind->begins(machine->live, core, &entry, &context))
		begin(machine, entry, context);
}

void machine_cores_begin_run(struct machine *machine)
{
	machine->cores.is_alone = !can_other(machine);
}

uint64_t machine_cores_run_end(const struct machine *machine)
{
	const struct machine_cores *cores = &machine->cores;

	if (cores->is_alone)
		return UINT64_MAX;
	return cores->turn_start + TURN_STEPS;
}

/* A turn without an end gets one. */
void machine_cores_look(struct machine *machine)
{
	if (machine->cores.is_alone && can_other(machine))
		board_pause(machine->board);
}

void machine_cores_end_run(struct machine *machine)
{
	const struct machine_cores *cores = &machine->cores;
	unsigned core;

	if (board_steps(machine->board) - cores->turn_start < TURN_STEPS)
		return;
	if (find_next(machine, &core))
		machine_cores_turn(machine, core);
}

bool machine_cores_are_stuck(struct machine *machine)
{
	struct machine_cores *cores = &machine->cores;
	unsigned stuck = 0, on = 0;

	cores->is_stuck[board_core(machine->board)] =
		board_is_stuck(machine->board);
	for (unsigned i = 0; i < cores->count; i++) {
		if (!live_is_on(machine->kind, machine->live, i))
			continue;
		on++;
		stuck += cores->is_stuck[i] && !cores->waits[i];
	}
	return stuck == on;
}

void machine_cores_reset(struct machine *machine)
{
	const unsigned count = machine->cores.count;

	machine->cores = (struct machine_cores){ .count = count };
	machine_cores_turn(machine, 0);
}
