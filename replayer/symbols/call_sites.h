/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_sites.h - what debugging information tells of a function's calls
 *
 * Compilers that optimize say of calls what they lead to, what they pass, and
 * which of them are jumps: tail calls, of which nothing is left on the stack.
 *
 * Source: DWARF 5, 3.4; the GNU extensions of DWARF 4 that became that.
 *
 * Units:      addresses are as in the debugging information.
 * Ownership:  call_site_tables_release() frees; lists are borrowed until then.
 * Errors:     none; without memory, nothing is known.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_CALL_SITES_H
#define CPREC_REPLAYER_SYMBOLS_CALL_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "formats/number_map.h"

struct call_site {
	uint64_t pc;		/* where it returns to, or behind the jump */
	Dwarf_Die die;
	bool is_tail;

	/* What is called as the callee, as tail_calls.c keeps it. */
	const char *named;	/* path of its module; NULL: not known */
	uint64_t named_addr;	/* as in that module's file */
	size_t unnamed_in;	/* so many modules had none */
};

struct call_sites {
	struct call_site *list;
	size_t count, room;
	bool has_all_tails;	/* no jump to another function is missing */
};

struct call_site_tables {
	struct call_sites **list;
	size_t count, room;
	struct number_map by_function;
};

void call_site_tables_release(struct call_site_tables *tables);

/* The calls of a function, by its entry; NULL: nothing is known. */
struct call_sites *call_sites_of(struct call_site_tables *tables,
				 Dwarf_Die *function);

/* The call that returns to `pc`, or NULL. */
struct call_site *call_sites_at(struct call_sites *sites, uint64_t pc);

/* What a call leads to. */
enum call_target_kind {
	CALL_TARGET_UNKNOWN,
	CALL_TARGET_CODE,	/* `entry` is of a function with code here, */
	CALL_TARGET_NAME,	/* or of one that is elsewhere, called so */
	CALL_TARGET_COMPUTED,	/* an expression says it, in the caller */
};

struct call_target {
	enum call_target_kind kind;
	Dwarf_Die entry;
	const char *name;	/* as the linker knows it */
	Dwarf_Attribute expression;
};

void call_site_target(const struct call_site *site, struct call_target *out);

/* The first address of a function's code, by its entry. */
bool call_entry_of(Dwarf_Die *function, uint64_t *out);

#endif
