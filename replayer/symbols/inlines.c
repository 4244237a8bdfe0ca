/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inlines.c - see inlines.h */
#include "replayer/symbols/inlines.h"

#include <dwarf.h>

#include "replayer/symbols/lines.h"

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

size_t inlines_find(struct lines *lines, Dwarf_Die *unit, uint64_t addr,
		    struct inline_function out[INLINES_MOST])
{
	Dwarf_Die scopes[SCOPES_MOST];
	size_t left = lines_scopes(lines, unit, addr, scopes), count = 0;

	while (left-- > 0 && count < INLINES_MOST) {
		int tag = dwarf_tag(&scopes[left]);

		if (tag == DW_TAG_lexical_block)
			continue;
		out[count] = (struct inline_function){
			.die = scopes[left],
			.is_inlined = tag == DW_TAG_inlined_subroutine,
		};
		if (out[count].is_inlined) {
			out[count].file = called_in(unit, &scopes[left]);
			out[count].line = called_at(&scopes[left]);
		}
		count++;
	}
	return count;
}
