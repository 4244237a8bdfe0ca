/* SPDX-License-Identifier: GPL-2.0-or-later */
/* units.c - see units.h */
#include "replayer/symbols/units.h"

static Dwarf_Die *search(Dwfl_Module *module, uint64_t addr, Dwarf_Addr *bias)
{
	Dwarf_Die *unit = NULL;

	while ((unit = dwfl_module_nextcu(module, unit, bias)))
		if (dwarf_haspc(unit, addr - *bias) > 0)
			return unit;
	return NULL;
}

/*
 * libdw looks in a list of which code is where.  Clang does not write one; and
 * in one that there is, it finds the unit before code that belongs to none.
 */
Dwarf_Die *unit_find(Dwfl_Module *module, uint64_t addr, uint64_t *bias)
{
	Dwarf_Addr more = 0;
	Dwarf_Die *unit = dwfl_module_addrdie(module, addr, &more);

	if (!unit)
		unit = search(module, addr, &more);
	else if (dwarf_haspc(unit, addr - more) <= 0)
		unit = NULL;
	*bias = more;
	return unit;
}
