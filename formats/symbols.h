/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbols.h - the symbols of one module, as they travel in a recording
 *
 * A module is an ELF file that the guest mapped.  Symbol addresses are as in
 * the file; a loaded module adds its load bias, which the reader finds from
 * the regions that carry the module's path.
 *
 * Units:      addresses and sizes are bytes.
 * Ownership:  symbols_release() frees everything; names point into `strings`.
 * Errors:     ERR_TRUNCATED, ERR_CORRUPT, ERR_NO_MEMORY.
 */
#ifndef CPREC_FORMATS_SYMBOLS_H
#define CPREC_FORMATS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/bytes.h"

/* Written to disk. */
enum symbol_type {
	SYMBOL_OTHER = 0,
	SYMBOL_OBJECT = 1,
	SYMBOL_FUNCTION = 2,
	/* 3: a function of Thumb code. */
};

struct symbol {
	uint64_t addr, size;
	enum symbol_type type;
	const char *name;
	bool is_thumb;		/* of 32-bit ARM: a function of Thumb code */
};

struct symbols {
	char *path;		/* as in the regions' names */
	uint64_t link_base;	/* lowest page-aligned p_vaddr of a PT_LOAD */
	uint64_t link_end;	/* highest p_vaddr + p_memsz */
	uint64_t base_offset;	/* file offset, page-aligned, of that PT_LOAD */
	struct symbol *list;	/* sorted by address, then name */
	size_t count;
	char *strings;		/* backing store of the names */
};

void symbols_encode(struct output *out, const struct symbols *symbols);
int symbols_decode(struct symbols *out, const uint8_t *bytes, size_t size);
void symbols_release(struct symbols *symbols);

/*
 * Whether a symbol is called so: linkers add versions of libraries to names
 * ("optind@GLIBC_2.2.5"), which programs do not write.
 */
bool symbol_is_called(const struct symbol *symbol, const char *name);

/*
 * Of ARM: such a one marks where code ("$x"; of 32 bits "$a", of Thumb "$t") or
 * data ("$d") begins.
 */
static inline bool symbol_is_mark(const char *name)
{
	return name && name[0] == '$' &&
	       (name[1] == 'x' || name[1] == 'd' || name[1] == 'a' ||
		name[1] == 't') && (!name[2] || name[2] == '.');
}

/* By name; a function or object is preferred.  NULL if there is none. */
const struct symbol *symbols_find(const struct symbols *symbols,
				  const char *name);

/* The symbol that covers `addr` (as in the file), or NULL. */
const struct symbol *symbols_at(const struct symbols *symbols, uint64_t addr);

#endif
