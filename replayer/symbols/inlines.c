/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inlines.c - see inlines.h */
#include "replayer/symbols/inlines.h"

#include <dwarf.h>
#include <stdlib.h>

static const char *called_in(Dwarf_Die *unit, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Word index;
	size_t count;

	if (!dwarf_attr(die, DW_AT_call_file, &attribute) ||
	    dwarf_formudata(&attribute, &index) ||
	    dwarf_getsrcfiles(unit, &files, &count) || index >= count)
		return NULL;
	return dwarf_filesrc(files, (size_t)index, NULL, NULL);
}

static unsigned called_at(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Word line;

	if (!dwarf_attr(die, DW_AT_call_line, &attribute) ||
	    dwarf_formudata(&attribute, &line) || line > UINT32_MAX)
		return 0;
	return (unsigned)line;
}

static size_t take_scopes(Dwarf_Die *unit, Dwarf_Die *scopes, int scope_count,
			  struct inline_function *out)
{
	size_t count = 0;

	for (int i = 0; i < scope_count && count < INLINES_MOST; i++) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag != DW_TAG_inlined_subroutine &&
		    tag != DW_TAG_subprogram)
			continue;
		out[count] = (struct inline_function){
			.die = scopes[i],
			.is_inlined = tag == DW_TAG_inlined_subroutine,
		};
		if (tag == DW_TAG_subprogram)
			return count + 1;
		out[count].file = called_in(unit, &scopes[i]);
		out[count].line = called_at(&scopes[i]);
		count++;
	}
	return count;
}

size_t inlines_find(Dwarf_Die *unit, uint64_t addr,
		    struct inline_function out[INLINES_MOST])
{
	Dwarf_Die *scopes = NULL, innermost;
	int count = dwarf_getscopes(unit, addr, &scopes);
	size_t found = 0;

	if (count <= 0)
		return 0;
	/* Around one that was inlined, those are the scopes that its source
	 * is in; what it was inlined into, this tells. */
	innermost = scopes[0];
	free(scopes);
	scopes = NULL;
	count = dwarf_getscopes_die(&innermost, &scopes);
	if (count > 0)
		found = take_scopes(unit, scopes, count, out);
	free(scopes);
	return found;
}
