/* SPDX-License-Identifier: GPL-2.0-or-later */
/* code_units.c - see code_units.h */
#include "replayer/symbols/code_units.h"

#include <dwarf.h>

#include "replayer/symbols/lines.h"
#include "replayer/symbols/sections.h"

static const struct {
	int first, last;
	const char *name;
} languages[] = {
	{ DW_LANG_C89, DW_LANG_C, "c" },
	{ DW_LANG_C99, DW_LANG_C99, "c" },
	{ DW_LANG_C11, DW_LANG_C11, "c" },
	{ DW_LANG_C_plus_plus, DW_LANG_C_plus_plus, "c++" },
	{ DW_LANG_C_plus_plus_03, DW_LANG_C_plus_plus_11, "c++" },
	{ DW_LANG_C_plus_plus_14, DW_LANG_C_plus_plus_14, "c++" },
	{ DW_LANG_Rust, DW_LANG_Rust, "rust" },
	{ DW_LANG_Go, DW_LANG_Go, "go" },
	{ DW_LANG_Mips_Assembler, DW_LANG_Mips_Assembler, "asm" },
	{ DW_LANG_D, DW_LANG_D, "d" },
	{ DW_LANG_Ada83, DW_LANG_Ada83, "ada" },
	{ DW_LANG_Ada95, DW_LANG_Ada95, "ada" },
	{ DW_LANG_Fortran77, DW_LANG_Fortran90, "fortran" },
	{ DW_LANG_Fortran95, DW_LANG_Fortran95, "fortran" },
	{ DW_LANG_Fortran03, DW_LANG_Fortran08, "fortran" },
	{ DW_LANG_ObjC, DW_LANG_ObjC, "objective-c" },
	{ DW_LANG_Modula2, DW_LANG_Modula2, "modula-2" },
	{ DW_LANG_Pascal83, DW_LANG_Pascal83, "pascal" },
};

static const char *language_name(Dwarf_Die *unit)
{
	int language = dwarf_srclang(unit);

	for (size_t i = 0; i < sizeof(languages) / sizeof(*languages); i++)
		if (languages[i].first <= language &&
		    language <= languages[i].last)
			return languages[i].name;
	return NULL;
}

static const char *text_of(Dwarf_Die *unit, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(unit, name, &attribute) ?
		       dwarf_formstring(&attribute) : NULL;
}

static void take_unit(Dwarf_Die *unit, struct code_unit *out)
{
	Dwarf_Half version;

	out->file = dwarf_diename(unit);
	out->directory = text_of(unit, DW_AT_comp_dir);
	out->language = language_name(unit);
	out->producer = text_of(unit, DW_AT_producer);
	out->has_macros = dwarf_hasattr(unit, DW_AT_macros) ||
			  dwarf_hasattr(unit, DW_AT_GNU_macros) ||
			  dwarf_hasattr(unit, DW_AT_macro_info);
	if (dwarf_cu_die(unit->cu, &(Dwarf_Die) { 0 }, &version, NULL, NULL,
			 NULL, NULL, NULL))
		out->dwarf = version;
}

bool code_unit_find(struct lines *lines, uint64_t t, uint64_t addr,
		    struct code_unit *out)
{
	uint64_t bias, more;
	Dwfl_Module *module = lines_module(lines, t, addr, &bias);
	struct section section;
	Dwarf_Die *unit;

	*out = (struct code_unit) { 0 };
	if (!module)
		return false;
	if (section_find(module, addr - bias, &section))
		out->section = section.name;
	unit = lines_unit(lines, module, addr - bias, &more);
	if (unit)
		take_unit(unit, out);
	return out->section || unit;
}
