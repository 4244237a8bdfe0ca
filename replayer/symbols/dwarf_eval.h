/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_eval.h - what an expression of debugging information says
 *
 * Of where a register of a caller is, and the like, over the registers and
 * the memory of a guest.  An expression that makes no sense, or never ends, has
 * no value.
 *
 * Source: DWARF 5, 2.5.1, 6.4.2.
 *
 * Units:      registers are numbered as in DWARF.
 * Ownership:  everything is borrowed.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_DWARF_EVAL_H
#define CPREC_REPLAYER_SYMBOLS_DWARF_EVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

/*
 * Where a guest's memory is read, at most GUEST_READ_MOST bytes at once: false
 * if not all of them are known.
 */
#define GUEST_READ_MOST 256u

struct guest_reader {
	bool (*read)(void *context, uint64_t addr, void *bytes, size_t size);
	void *context;
	unsigned word;		/* bytes of an address; 0: 8 */
};

/* A number of at most 8 bytes, little-endian. */
bool guest_read_number(const struct guest_reader *reader, uint64_t addr,
		       unsigned size, uint64_t *out);

/* An address. */
bool guest_read_word(const struct guest_reader *reader, uint64_t addr,
		     uint64_t *out);

#define DWARF_REGISTERS_MOST 64u

struct dwarf_registers {
	uint64_t value[DWARF_REGISTERS_MOST];
	bool known[DWARF_REGISTERS_MOST];
};

struct dwarf_machine {
	const struct dwarf_registers *registers;
	const struct guest_reader *memory;
	uint64_t bias;		/* to be added to addresses */
	bool has_cfa;
	uint64_t cfa;		/* the canonical frame address */
};

struct dwarf_result {
	bool is_address;	/* of what is asked for; else it is the value */
	uint64_t value;
};

bool dwarf_eval(const struct dwarf_machine *machine, const Dwarf_Op *ops,
		size_t count, struct dwarf_result *out);

#endif
