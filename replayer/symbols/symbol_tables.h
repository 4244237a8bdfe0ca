/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbol_tables.h - which symbol of a module's file an address is in
 *
 * libdwfl goes through all symbols for each address.  A table of the module,
 * made when it is first asked for, has the ranges between the places where
 * symbols and sections begin and end: the answer is the same in all of a range.
 * Where a symbol with a size covers it, that is the one that begins last; before
 * one that only its own file knows, one that others know; of those that begin at
 * the same place, the strongest, then the smallest, then the first.  Elsewhere
 * libdwfl is asked, once for each range.
 *
 * Source: dwfl_module_addrinfo() of elfutils, whose answers these are.
 *
 * Units:      addresses are as libdwfl has them.
 * Ownership:  symbol_tables_release() frees; a zeroed structure is empty.
 *             Modules are borrowed until then, names are theirs.
 * Errors:     none; without memory, libdwfl is asked each time.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_SYMBOL_TABLES_H
#define CPREC_REPLAYER_SYMBOLS_SYMBOL_TABLES_H

#include <stddef.h>

#include <elfutils/libdwfl.h>

struct symbol_table;

struct symbol_tables {
	struct symbol_table **list;
	size_t count, room;
};

/* As dwfl_module_addrinfo(). */
const char *symbol_tables_find(struct symbol_tables *tables,
			       Dwfl_Module *module, GElf_Addr addr,
			       GElf_Off *offset, GElf_Sym *symbol);

void symbol_tables_release(struct symbol_tables *tables);

#endif
