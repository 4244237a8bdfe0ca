/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jump_tables.h - code that linkers make for calls of libraries' functions
 *
 * An entry jumps to where a word says, which the loader fills in.  The file's
 * relocation of that word has the name.  What leads to the loader is called as
 * objdump does: by its section.
 *
 * Errors:     none; what is not known is no entry.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_JUMP_TABLES_H
#define CPREC_REPLAYER_SYMBOLS_JUMP_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdwfl.h>

/* Whether the code is in such a table; addresses are those of libdwfl. */
bool jump_table_has(Dwfl_Module *module, uint64_t addr);

/* "puts@plt", "puts@plt+0x4" inside of an entry, or ".plt+0x6". */
bool jump_table_name(Dwfl_Module *module, uint64_t addr, char *text,
		     size_t room);

#endif
