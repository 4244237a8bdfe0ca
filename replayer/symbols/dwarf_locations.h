/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_locations.h - attributes that say where something is
 *
 * Go's compiler writes expressions as blocks, for which DWARF 4 has another form:
 * libdw takes such blocks for places of lists.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_DWARF_LOCATIONS_H
#define CPREC_REPLAYER_SYMBOLS_DWARF_LOCATIONS_H

#include <stdbool.h>

#include <elfutils/libdw.h>

/*
 * The attribute of this name that an entry has, or one that it is an instance of,
 * in a form whose expression libdw finds.
 */
bool dwarf_location(Dwarf_Die *die, unsigned name, Dwarf_Attribute *out);

#endif
