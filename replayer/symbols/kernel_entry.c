/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_entry.c - see kernel_entry.h
 *
 * Source: Linux, arch/arm64/kernel/entry.S, and struct pt_regs: x0 to x30, sp,
 * pc, pstate, and further on, a frame record, at which x29 is while a function
 * is called.
 */
#include "replayer/symbols/kernel_entry.h"

#include <string.h>

#define REGISTERS 31u
#define KEPT_SP (8 * 31)
#define KEPT_PC (8 * 32)
#define KEPT_STATE (8 * 33)
#define KEPT_RECORD (8 * 38)
#define FRAME_POINTER 29u
#define LEVEL_MASK 12u		/* of the state: where it was */

/* "el0t_64_sync", "el1h_64_irq"; -1: no entry, else from which level. */
static int level_of(const char *name)
{
	static const char *const behind[] = {
		"_64_sync", "_64_irq", "_64_fiq", "_64_error",
	};

	if (strlen(name) < 5 || strncmp(name, "el", 2) ||
	    (name[2] != '0' && name[2] != '1'))
		return -1;
	for (size_t i = 0; i < sizeof(behind) / sizeof(*behind); i++)
		if ((name[3] == 't' || name[3] == 'h') &&
		    !strcmp(name + 4, behind[i]))
			return name[2] - '0';
	return -1;
}

static bool number(const struct guest_reader *memory, uint64_t addr,
		   uint64_t *out)
{
	return guest_read_number(memory, addr, 8, out);
}

/* Whether registers are kept there. */
static bool is_kept(const struct guest_reader *memory, uint64_t at, int level)
{
	uint64_t state, pc;

	return number(memory, at + KEPT_STATE, &state) &&
	       number(memory, at + KEPT_PC, &pc) && !(pc & 3) &&
	       (state & LEVEL_MASK) == (unsigned)level << 2 &&
	       pc >> 63 == (unsigned)level;
}

static bool find_kept(const struct guest_reader *memory,
		      const struct unwind_state *state, int level,
		      uint64_t *out)
{
	const struct dwarf_registers *registers = &state->registers;

	*out = registers->value[FRAME_POINTER] - KEPT_RECORD;
	if (registers->known[FRAME_POINTER] && is_kept(memory, *out, level))
		return true;
	*out = registers->value[state->sp];
	return is_kept(memory, *out, level);
}

bool kernel_entry_unwind(const char *name, const struct guest_reader *memory,
			 struct unwind_state *state)
{
	struct dwarf_registers *registers = &state->registers;
	const int level = level_of(name);
	uint64_t kept;

	if (level < 0 || state->count < REGISTERS ||
	    !find_kept(memory, state, level, &kept))
		return false;
	for (unsigned i = 0; i < REGISTERS; i++)
		registers->known[i] = number(memory, kept + 8 * i,
					     &registers->value[i]);
	registers->known[state->sp] = number(memory, kept + KEPT_SP,
					     &registers->value[state->sp]);
	return number(memory, kept + KEPT_PC, &state->pc);
}
