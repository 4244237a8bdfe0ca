/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * units.h - the part of debugging information that code belongs to
 *
 * Ownership:  units are the module's.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_UNITS_H
#define CPREC_REPLAYER_SYMBOLS_UNITS_H

#include <stdint.h>

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

/*
 * The unit that covers the code at `addr`, as in the module's file, or NULL.
 * Less `*bias`, the address is as in the debugging information.
 */
Dwarf_Die *unit_find(Dwfl_Module *module, uint64_t addr, uint64_t *bias);

#endif
