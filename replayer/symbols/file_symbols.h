/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file_symbols.h - symbols of modules' files
 *
 * As libdwfl has them; but a function of Thumb code, of 32-bit ARM, is where
 * its first instruction is, and not one byte behind.
 *
 * Units:      addresses are as libdwfl has them.
 * Ownership:  names are the module's.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_FILE_SYMBOLS_H
#define CPREC_REPLAYER_SYMBOLS_FILE_SYMBOLS_H

#include "replayer/symbols/symbol_tables.h"

/* Number `i`, as dwfl_module_getsym_info(). */
const char *file_symbol(Dwfl_Module *module, int i, GElf_Sym *symbol,
			GElf_Addr *addr, GElf_Word *section);

/* The one that an address is in, as dwfl_module_addrinfo(). */
const char *file_symbol_at(struct symbol_tables *tables, Dwfl_Module *module,
			   GElf_Addr addr, GElf_Off *offset, GElf_Sym *symbol);

#endif
