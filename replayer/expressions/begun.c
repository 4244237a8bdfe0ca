/* SPDX-License-Identifier: GPL-2.0-or-later */
/* begun.c - see begun.h */
#include "replayer/expressions/begun.h"

#include <dwarf.h>

#include "formats/number_map.h"
#include "replayer/symbols/symbols.h"

/* Whether it is where one expression says, from the first instruction on. */
static bool has_one_place(Dwarf_Die *variable)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;

	return dwarf_tag(variable) == DW_TAG_variable &&
	       dwarf_location(variable, DW_AT_location, &attribute) &&
	       !dwarf_getlocation(&attribute, &ops, &count) && count &&
	       ops[0].atom == DW_OP_fbreg;
}

static bool is_in(Dwarf_Die *scope, const Dwarf_Die *variable)
{
	Dwarf_Die die;

	if (dwarf_child(scope, &die))
		return false;
	do {
		if (die.addr == variable->addr)
			return true;
	} while (!die_sibling(&die, &die));
	return false;
}

/* The first code of its line in its block; 0: there is none. */
static uint64_t find_first(const struct code_frame *frame, Dwarf_Die *scope,
			   int line)
{
	Dwarf_Die unit = frame->unit;
	Dwarf_Addr addr, first = 0;
	Dwarf_Lines *rows;
	size_t count;

	if (dwarf_getsrclines(&unit, &rows, &count))
		return 0;
	for (size_t i = 0; i < count; i++) {
		Dwarf_Line *row = dwarf_onesrcline(rows, i);
		bool begins = false;
		int number;

		if (row && !dwarf_lineno(row, &number) && number == line &&
		    !dwarf_linebeginstatement(row, &begins) && begins &&
		    !dwarf_lineaddr(row, &addr) &&
		    (!first || addr < first) && dwarf_haspc(scope, addr) > 0)
			first = addr;
	}
	return first;
}

static uint64_t first_of(const struct code_frame *frame, Dwarf_Die *variable)
{
	int line;

	if (!has_one_place(variable) || dwarf_decl_line(variable, &line))
		return 0;
	for (size_t i = frame->count; i-- > 0;) {
		Dwarf_Die scope = frame->scopes[i];

		if (is_in(&scope, variable))
			return find_first(frame, &scope, line);
	}
	return 0;
}

bool variable_has_begun(struct context *context,
			const struct code_frame *frame, Dwarf_Die *variable)
{
	uint64_t key = (uintptr_t)variable->addr, first;
	uint64_t *known = number_map_find(&context->begins, key);

	if (known)
		return frame->pc > *known;
	first = first_of(frame, variable);
	number_map_set(&context->begins, key, first);
	return frame->pc > first;
}
