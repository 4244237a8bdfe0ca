/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind tables in memory, at address 0, as a program left them.  Whatever they
 * are, finding a caller by them ends; what it reads is in bounds.
 */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

#include "replayer/symbols/cfi.h"
#include "replayer/symbols/guest_tables.h"

struct memory {
	const uint8_t *bytes;
	size_t size;
};

/* Behind the bytes, all of memory holds its own addresses. */
static bool read_memory(void *context, uint64_t addr, void *bytes, size_t size)
{
	const struct memory *memory = context;

	assert(size <= GUEST_READ_MOST);
	for (size_t i = 0; i < size; i++, addr++)
		((uint8_t *)bytes)[i] = addr < memory->size ?
					memory->bytes[addr] : (uint8_t)addr;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory memory = { data, size };
	const struct guest_reader reader = { read_memory, &memory };
	const struct symbols symbols = { .link_end = size };
	struct guest_tables tables = { 0 };
	Dwarf_CFI *cfi = guest_tables_find(&tables, &symbols, 0, &reader);

	for (uint64_t addr = 0; cfi && addr < size; addr += 61) {
		struct unwind_state state = { .pc = addr, .sp = 7,
					      .count = 16 };
		bool is_signal;

		for (unsigned i = 0; i < state.count; i++) {
			state.registers.known[i] = true;
			state.registers.value[i] = size + 8 * i;
		}
		cfi_unwind(cfi, 0, addr, &reader, &state, &is_signal);
	}
	guest_tables_release(&tables);
	return 0;
}
