/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_reset.c - a machine begins anew, and its recording goes on
 *
 * Memory keeps what it has, but for what is loaded again; the counter goes on.
 */
#include "recorder/machine_internal.h"

/* But the ticks that it was idle for, and what is wider: nobody may rely on
 * that. */
static bool is_reset(const struct machine *machine,
		     const struct reg_table *table, unsigned reg)
{
	return table->regs[reg].size <= sizeof(uint64_t) &&
	       reg != board_reg_idle(machine->board);
}

void machine_reset_registers(struct machine *machine)
{
	const struct reg_table *table = reg_table(machine->kind->arch);
	struct reg_file regs;

	board_registers(machine->board, &regs);
	for (unsigned reg = 0; reg < table->count; reg++)
		if (is_reset(machine, table, reg))
			reg_set(table, &regs, reg,
				reg_get(table, &machine->first, reg));
	board_set_registers(machine->board, &regs);
}

void machine_record_registers(struct machine *machine)
{
	const struct reg_table *table = reg_table(machine->kind->arch);

	if (machine->is_live)
		return;
	for (unsigned reg = 0; reg < table->count; reg++)
		if (is_reset(machine, table, reg))
			machine_trace_register(&machine->trace, reg,
					       board_reg(machine->board, reg));
}

int machine_reset(struct machine *machine, struct failure *why)
{
	struct packet packet = { .kind = PACKET_DMA };
	int rc;

	machine->has_end = false;
	machine_panic_forget(&machine->panic);
	machine->kind->reset(machine->live);
	machine_cores_reset(machine);
	machine_reset_registers(machine);
	rc = machine->kind->start(machine->live, machine->board, why);
	if (rc)
		return rc;
	machine_record_event(machine, &packet);
	machine_record_registers(machine);
	return machine_memory_record(&machine->memory, &machine->trace,
				     machine->board, why);
}
