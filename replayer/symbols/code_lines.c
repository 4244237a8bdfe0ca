/* SPDX-License-Identifier: GPL-2.0-or-later */
/* code_lines.c - see code_lines.h */
#include "replayer/symbols/code_lines.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

#include "replayer/symbols/code_places.h"
#include "replayer/symbols/file_symbols.h"
#include "replayer/symbols/jump_tables.h"
#include "replayer/symbols/names.h"

/* The unit of code; less `*bias`, the address is as in it. */
static Dwarf_Die *find_unit(struct lines *lines, uint64_t t, uint64_t addr,
			    uint64_t *bias)
{
	uint64_t more;
	Dwfl_Module *module = lines_module(lines, t, addr, bias);
	Dwarf_Die *unit = lines_unit(lines, module, addr - *bias, &more);

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

		if (file_symbol(module, i, &symbol, &place, NULL) &&
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

	if (!module ||
	    !file_symbol_at(lines_symbol_tables(lines), module, addr - bias,
			    &offset, &symbol))
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

bool code_is_resolver(struct lines *lines, uint64_t t, uint64_t addr)
{
	uint64_t bias;
	Dwfl_Module *module = lines_module(lines, t, addr, &bias);
	GElf_Off offset;
	GElf_Sym symbol;

	return module &&
	       file_symbol_at(lines_symbol_tables(lines), module, addr - bias,
			      &offset, &symbol) &&
	       GELF_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC;
}

/* ------- stepping into functions ------- */

static bool is_of_gnu(Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;
	const char *producer = dwarf_attr(unit, DW_AT_producer, &attribute) ?
		dwarf_formstring(&attribute) : NULL;

	return producer && !strncmp(producer, "GNU ", 4);
}

/* ------- code that functions begin with ------- */

struct entry {
	const uint8_t *bytes;
	unsigned at;		/* what was passed */
};

static bool pass(struct entry *entry, const char *code, unsigned size)
{
	if (size > CODE_ENTRY_BYTES - entry->at ||
	    memcmp(entry->bytes + entry->at, code, size) != 0)
		return false;
	entry->at += size;
	return true;
}

#define PASS(entry, code) pass(entry, code, sizeof(code) - 1)

/* "push %rbp; mov %rsp,%rbp" */
static bool pass_frame(struct entry *entry)
{
	PASS(entry, "\xf3\x0f\x1e\xfa");
	return PASS(entry, "\x55\x48\x89\xe5") ||
	       PASS(entry, "\x55\x48\x8b\xec");
}

/* "lea 4(%esp),%ecx; and $-16,%esp; push -4(%ecx)", of main() as a rule */
static void pass_alignment(struct entry *entry)
{
	static const char *const codes[] = {
		"\x8d\x4c\x24\x04\x83\xe4\xf0\xff\x71\xfc",
		"\x8d\x44\x24\x04\x83\xe4\xf0\xff\x70\xfc",
		"\x8d\x54\x24\x04\x83\xe4\xf0\xff\x72\xfc",
	};

	for (unsigned i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (pass(entry, codes[i], 10))
			return;
}

/* The same of i386, and what it makes room by, or else registers it saves. */
static bool pass_frame_32(struct entry *entry)
{
	PASS(entry, "\xf3\x0f\x1e\xfb");
	pass_alignment(entry);
	if (!PASS(entry, "\x55\x89\xe5") && !PASS(entry, "\x55\x8b\xec"))
		return false;
	if (PASS(entry, "\x83\xec"))
		entry->at++;
	else if (PASS(entry, "\x81\xec"))
		entry->at += 4;
	for (unsigned i = 0; i < 8 && entry->at < CODE_ENTRY_BYTES &&
	     (entry->bytes[entry->at] & 0xf8) == 0x50; i++)
		entry->at++;
	return true;
}

static unsigned machine_of(struct lines *lines, uint64_t t, uint64_t entry)
{
	uint64_t bias;
	Dwfl_Module *module = lines_module(lines, t, entry, &bias);
	GElf_Addr unused;
	GElf_Ehdr header;
	Elf *elf = module ? dwfl_module_getelf(module, &unused) : NULL;

	return elf && gelf_getehdr(elf, &header) ? header.e_machine : EM_NONE;
}

/* Debuggers look at code of x86, and at rows of the line table of others. */
uint64_t code_step_place(struct lines *lines, uint64_t t, uint64_t entry,
			 const uint8_t bytes[CODE_ENTRY_BYTES])
{
	uint64_t bias, start, end, place;
	Dwarf_Die *unit = find_unit(lines, t, entry, &bias);
	unsigned machine = machine_of(lines, t, entry);
	struct entry code = { .bytes = bytes };
	struct code_row row;

	if (!unit)
		return entry;
	if (!is_of_gnu(unit))
		return code_place_of_function(lines, t, entry);
	if (machine == EM_AARCH64 || machine == EM_ARM)
		return code_place_by_rows(lines, t, entry);
	if (machine == EM_386 ? !pass_frame_32(&code) : !pass_frame(&code))
		return entry;
	place = entry + code.at;
	/* In the middle of a line: up to the next one. */
	if (lines_row(lines, t, place, &row) && row.start != place &&
	    code_function_part(lines, t, entry, &start, &end) && row.end < end)
		return row.end;
	return place;
}
