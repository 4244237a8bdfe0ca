/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whatever the bytes are, symbols_decode() stays in bounds and returns a
 * documented code; what it accepts is encoded again to the same bytes, and
 * can be looked up.
 */
#include "tests/fuzz/fuzz.h"

#include "formats/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbols symbols;
	struct output again = { 0 };
	int rc = symbols_decode(&symbols, data, size);

	assert(!rc || is_documented(rc));
	if (rc)
		return 0;
	for (size_t i = 0; i < symbols.count; i++) {
		const struct symbol *symbol = &symbols.list[i];
		const struct symbol *found = symbols_at(&symbols, symbol->addr);

		assert(!found || found->addr <= symbol->addr);
		found = symbols_find(&symbols, symbol->name);
		assert(found && !strcmp(found->name, symbol->name));
	}
	symbols_encode(&again, &symbols);
	assert_same(&again, data, size);
	symbols_release(&symbols);
	return 0;
}
