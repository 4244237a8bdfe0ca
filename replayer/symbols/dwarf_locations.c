/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dwarf_locations.c - see dwarf_locations.h */
#include "replayer/symbols/dwarf_locations.h"

#include <dwarf.h>

/* Up to here, the lengths of both forms are the same byte. */
#define SHORT_MOST 127u

bool dwarf_location(Dwarf_Die *die, unsigned name, Dwarf_Attribute *out)
{
	Dwarf_Block block;

	if (!dwarf_attr_integrate(die, name, out))
		return false;
	if (out->form == DW_FORM_block1 && !dwarf_formblock(out, &block) &&
	    block.length <= SHORT_MOST)
		out->form = DW_FORM_exprloc;
	return true;
}
