/* SPDX-License-Identifier: GPL-2.0-or-later */
/* code_lines.c - see code_lines.h */
#include "replayer/symbols/code_lines.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

#include "replayer/symbols/code_places.h"
#include "replayer/symbols/jump_tables.h"
#include "replayer/symbols/names.h"
#include "replayer/symbols/units.h"

/* The unit of code; less `*bias`, the address is as in it. */
static Dwarf_Die *find_unit(struct lines *lines, uint64_t t, uint64_t addr,
			    uint64_t *bias)
{
	uint64_t more;
	Dwfl_Module *module = lines_module(lines, t, addr, bias);
	Dwarf_Die *unit = module ? unit_find(module, addr - *bias, &more) :
				   NULL;

	if (unit)
		*bias += more;
	return unit;
}

/* ------- inlined functions ------- */

/* Where control comes into it, or else its first part. */
static uint64_t start_of(Dwarf_Die *die)
{
	Dwarf_Addr base, start = 0, end;

	if (dwarf_hasattr(die, DW_AT_entry_pc) &&
	    !dwarf_entrypc(die, &start) && dwarf_haspc(die, start) > 0)
		return start;
	start = 0;
	return dwarf_ranges(die, 0, &base, &start, &end) > 0 ? start : 0;
}

int code_each_inline(struct lines *lines, uint64_t t, uint64_t addr,
		     int (*visit)(void *context,
				  const struct code_inline *one),
		     void *context)
{
	struct inline_function inlined[INLINES_MOST];
	uint64_t bias = 0;
	Dwarf_Die *unit = find_unit(lines, t, addr, &bias);
	size_t count = unit ? inlines_find(lines, unit, addr - bias, inlined) :
			      0;
	struct code_inline *one = count ? calloc(1, sizeof(*one)) : NULL;
	int rc = 0;

	for (size_t i = 0; one && i < count && !rc; i++) {
		uint64_t start = start_of(&inlined[i].die);

		if (!inlined[i].is_inlined)
			break;
		one->start = start + bias;
		one->begins = start == addr - bias ||
			      dwarf_haspc(&inlined[i].die,
					  addr - bias - 1) <= 0;
		one->called = (struct source_line) {
			.file = inlined[i].file, .line = inlined[i].line,
		};
		lines_set_function(&one->called, &inlined[i].die);
		rc = visit(context, one);
	}
	free(one);
	return rc;
}

unsigned code_count_inlines(struct lines *lines, uint64_t t, uint64_t addr)
{
	struct inline_function inlined[INLINES_MOST];
	uint64_t bias = 0;
	Dwarf_Die *unit = find_unit(lines, t, addr, &bias);
	size_t all = unit ? inlines_find(lines, unit, addr - bias, inlined) :
			    0;
	unsigned count = 0;

	while (count < all && inlined[count].is_inlined)
		count++;
	return count;
}

/* ------- functions ------- */

static bool find_part(Dwarf_Die *function, uint64_t addr, uint64_t *start,
		      uint64_t *end)
{
	Dwarf_Addr base;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(function, at, &base, start, end)) > 0)
		if (*start <= addr && addr < *end)
			return true;
	return false;
}

bool code_function_part(struct lines *lines, uint64_t t, uint64_t addr,
			uint64_t *start, uint64_t *end)
{
	Dwarf_Die scopes[SCOPES_MOST];
	uint64_t bias;
	Dwarf_Die *unit = find_unit(lines, t, addr, &bias);

	if (!unit || !lines_scopes(lines, unit, addr - bias, scopes) ||
	    !find_part(&scopes[0], addr - bias, start, end))
		return false;
	*start += bias;
	*end += bias;
	return true;
}

/* Where the first symbol behind an address is, no further than `end`. */
static uint64_t next_symbol(Dwfl_Module *module, uint64_t addr, uint64_t end)
{
	int count = dwfl_module_getsymtab(module);

	for (int i = 1; i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr place;

		if (dwfl_module_getsym_info(module, i, &symbol, &place, NULL,
					    NULL, NULL) &&
		    symbol.st_shndx != SHN_UNDEF && place > addr &&
		    place < end)
			end = place;
	}
	return end;
}

bool code_function_symbol(struct lines *lines, uint64_t t, uint64_t addr,
			  uint64_t *start, uint64_t *end)
{
	uint64_t bias;
	Dwfl_Module *module = lines_module(lines, t, addr, &bias);
	GElf_Off offset;
	GElf_Sym symbol;
	Dwarf_Addr behind;

	if (!module || !dwfl_module_addrinfo(module, addr - bias, &offset,
					     &symbol, NULL, NULL, NULL))
		return false;
	dwfl_module_info(module, NULL, NULL, &behind, NULL, NULL, NULL, NULL);
	*start = addr - offset;
	*end = symbol.st_size ? *start + symbol.st_size :
				next_symbol(module, addr - bias, behind) + bias;
	return addr < *end;
}

/* ------- linkers ------- */

bool code_is_linker(struct lines *lines, uint64_t t, uint64_t addr)
{
	uint64_t bias;
	const struct symbols *symbols = names_module(lines_names(lines), t,
						     addr, &bias);
	const char *slash = symbols ? strrchr(symbols->path, '/') : NULL;

	if (!symbols)
		return false;
	return !strncmp(slash ? slash + 1 : symbols->path, "ld-", 3) ||
	       jump_table_has(lines_module(lines, t, addr, &bias), addr - bias);
}

/* ------- stepping into functions ------- */

static bool is_of_gnu(Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;
	const char *producer = dwarf_attr(unit, DW_AT_producer, &attribute) ?
		dwarf_formstring(&attribute) : NULL;

	return producer && !strncmp(producer, "GNU ", 4);
}

/* How long "push %rbp; mov %rsp,%rbp" is that a function begins with, or 0. */
static unsigned frame_code(const uint8_t bytes[CODE_ENTRY_BYTES])
{
	static const uint8_t mark[] = { 0xf3, 0x0f, 0x1e, 0xfa },
			     one[] = { 0x55, 0x48, 0x89, 0xe5 },
			     other[] = { 0x55, 0x48, 0x8b, 0xec };
	unsigned at = memcmp(bytes, mark, sizeof(mark)) ? 0 : sizeof(mark);

	return !memcmp(bytes + at, one, sizeof(one)) ||
			       !memcmp(bytes + at, other, sizeof(other)) ?
		       at + (unsigned)sizeof(one) : 0;
}

/* Debuggers look at code of x86, and at rows of the line table of others. */
static bool goes_by_rows(struct lines *lines, uint64_t t, uint64_t entry)
{
	uint64_t bias;
	Dwfl_Module *module = lines_module(lines, t, entry, &bias);
	GElf_Addr unused;
	GElf_Ehdr header;
	Elf *elf = module ? dwfl_module_getelf(module, &unused) : NULL;

	return elf && gelf_getehdr(elf, &header) &&
	       header.e_machine == EM_AARCH64;
}

uint64_t code_step_place(struct lines *lines, uint64_t t, uint64_t entry,
			 const uint8_t bytes[CODE_ENTRY_BYTES])
{
	uint64_t bias, start, end, place = entry + frame_code(bytes);
	Dwarf_Die *unit = find_unit(lines, t, entry, &bias);
	struct code_row row;

	if (!unit)
		return entry;
	if (!is_of_gnu(unit))
		return code_place_of_function(lines, t, entry);
	if (goes_by_rows(lines, t, entry))
		return code_place_by_rows(lines, t, entry);
	/* In the middle of a line: up to the next one. */
	if (place != entry && lines_row(lines, t, place, &row) &&
	    row.start != place &&
	    code_function_part(lines, t, entry, &start, &end) && row.end < end)
		return row.end;
	return place;
}
