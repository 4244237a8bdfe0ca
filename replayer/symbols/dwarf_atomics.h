/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_atomics.h - variables of atomic types, in debugging information
 *
 * Source: DWARF 5, 5.3 (DW_TAG_atomic_type); std::atomic and its kin are
 * classes of these names.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_DWARF_ATOMICS_H
#define CPREC_REPLAYER_SYMBOLS_DWARF_ATOMICS_H

#include <stdint.h>

#include <elfutils/libdw.h>

/* As lines_each_atomic(); addresses are as in the debugging information. */
int dwarf_each_atomic(Dwarf *dwarf,
		      int (*visit)(void *context, uint64_t addr,
				   uint64_t size),
		      void *context);

#endif
