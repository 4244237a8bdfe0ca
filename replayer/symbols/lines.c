/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines.c - see lines.h */
#include "replayer/symbols/lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/symbols/debug_files.h"
#include "replayer/symbols/dwarf_atomics.h"
#include "replayer/symbols/dwarf_places.h"
#include "replayer/symbols/names.h"
#include "replayer/symbols/units.h"

struct lines {
	struct names *names;
	struct debug_files files;
};

int lines_create(struct lines **out, struct recording *recording,
		 struct failure *why)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	return names_create(&(*out)->names, recording, why);
}

struct names *lines_names(struct lines *lines)
{
	return lines->names;
}

void lines_destroy(struct lines *lines)
{
	if (!lines)
		return;
	debug_files_release(&lines->files);
	names_destroy(lines->names);
	free(lines);
}

struct Dwfl_Module *lines_module(struct lines *lines, uint64_t t,
				 uint64_t addr, uint64_t *bias)
{
	const struct symbols *symbols = names_module(lines->names, t, addr,
						     bias);

	return symbols ? debug_files_find(&lines->files, symbols) : NULL;
}

/* ------- lines ------- */

/* The function or inlined function that the address is in. */
static void name_function(Dwfl_Module *module, uint64_t addr,
			  struct source_line *out)
{
	uint64_t bias;
	Dwarf_Die *unit = unit_find(module, addr, &bias);
	Dwarf_Die *scopes = NULL;
	int count = unit ? dwarf_getscopes(unit, addr - bias, &scopes) : 0;

	for (int i = 0; i < count; i++) {
		int tag = dwarf_tag(&scopes[i]);
		const char *name = dwarf_diename(&scopes[i]);

		if (!name || (tag != DW_TAG_subprogram &&
			      tag != DW_TAG_inlined_subroutine))
			continue;
		snprintf(out->function, sizeof(out->function), "%s", name);
		break;
	}
	free(scopes);
}

static void find_line(Dwfl_Module *module, uint64_t addr,
		      struct source_line *out)
{
	uint64_t bias;
	Dwarf_Die *unit = unit_find(module, addr, &bias);
	Dwarf_Line *line = unit ? dwarf_getsrc_die(unit, addr - bias) : NULL;
	int number;

	if (!line || dwarf_lineno(line, &number))
		return;
	out->file = dwarf_linesrc(line, NULL, NULL);
	out->line = out->file && number > 0 ? (unsigned)number : 0;
	if (!out->line)
		out->file = NULL;
}

/* "NAME+0x1f", as the recording has it, in two parts. */
static void name_by_symbols(struct lines *lines, uint64_t t, uint64_t addr,
			    struct source_line *out)
{
	char *mark;

	if (!names_of(lines->names, t, addr, out->function,
			    sizeof(out->function)))
		return;
	mark = strstr(out->function, "+0x");
	if (mark) {
		out->offset = strtoull(mark + 3, NULL, 16);
		*mark = '\0';
	}
}

static void name_module(struct lines *lines, uint64_t t, uint64_t addr,
			struct source_line *out)
{
	uint64_t bias;
	const struct symbols *symbols = names_module(lines->names, t, addr,
						     &bias);
	const char *slash = symbols ? strrchr(symbols->path, '/') : NULL;

	if (!symbols)
		return;
	snprintf(out->module, sizeof(out->module), "%s",
		 slash ? slash + 1 : symbols->path);
	if (!out->function[0])
		out->offset = addr - bias;
}

void lines_find(struct lines *lines, uint64_t t, uint64_t addr,
		struct source_line *out)
{
	Dwfl_Module *module;
	uint64_t bias;

	*out = (struct source_line) { 0 };
	name_by_symbols(lines, t, addr, out);
	name_module(lines, t, addr, out);
	module = lines_module(lines, t, addr, &bias);
	if (!module)
		return;
	find_line(module, addr - bias, out);
	if (out->line)
		name_function(module, addr - bias, out);
}

/* ------- code ------- */

static int each_range(Dwarf_Die *unit, uint64_t bias,
		      int (*visit)(void *context, uint64_t start,
				   uint64_t end), void *context)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	int rc = 0;

	while (!rc && (at = dwarf_ranges(unit, at, &base, &start, &end)) > 0)
		rc = visit(context, start + bias, end + bias);
	return rc;
}

/* Whether a file has the C library in itself; it may load others. */
static bool is_whole(const struct symbols *symbols)
{
	return symbols_find(symbols, "__libc_start_main") != NULL;
}

int lines_each_code(struct lines *lines, uint64_t t,
		    int (*visit)(void *context, uint64_t start, uint64_t end),
		    void *context)
{
	uint64_t bias, other;
	const struct symbols *symbols = names_mapped(
		lines->names, t, 0, &bias);
	Dwarf_CU *unit = NULL;
	uint64_t more;
	Dwarf *dwarf;
	Dwarf_Die die;
	int rc = 0;

	if (!symbols || (names_mapped(lines->names, t, 1,
						 &other) &&
			 !is_whole(symbols)))
		return 0;
	dwarf = debug_files_dwarf(&lines->files, symbols, &more);
	while (!rc && dwarf && !dwarf_get_units(dwarf, unit, &unit, NULL, NULL,
						&die, NULL))
		rc = each_range(&die, bias + more, visit, context);
	return rc;
}

/* ------- variables ------- */

struct atomics {
	uint64_t bias;
	int (*visit)(void *context, uint64_t addr, uint64_t size);
	void *context;
};

static int visit_atomic(void *context, uint64_t addr, uint64_t size)
{
	const struct atomics *atomics = context;

	return atomics->visit(atomics->context, addr + atomics->bias, size);
}

/* The debugging information of the mapped module with this number. */
static Dwarf *mapped_dwarf(struct lines *lines, uint64_t t, size_t number,
			   uint64_t *bias, bool *is_last)
{
	const struct symbols *symbols = names_mapped(
		lines->names, t, number, bias);
	uint64_t more;
	Dwarf *dwarf;

	*is_last = !symbols;
	if (!symbols)
		return NULL;
	dwarf = debug_files_dwarf(&lines->files, symbols, &more);
	*bias += more;
	return dwarf;
}

int lines_each_atomic(struct lines *lines, uint64_t t,
		      int (*visit)(void *context, uint64_t addr,
				   uint64_t size),
		      void *context)
{
	struct atomics atomics = { .visit = visit, .context = context };
	bool is_last = false;
	int rc = 0;

	for (size_t i = 0; !rc && !is_last; i++) {
		Dwarf *dwarf = mapped_dwarf(lines, t, i, &atomics.bias,
					    &is_last);

		if (dwarf)
			rc = dwarf_each_atomic(dwarf, visit_atomic, &atomics);
	}
	return rc;
}

int lines_add_places(struct lines *lines, uint64_t t, struct dwarf_places *out)
{
	bool is_last = false;
	int rc = 0;

	for (size_t i = 0; !rc && !is_last; i++) {
		uint64_t bias;
		Dwarf *dwarf = mapped_dwarf(lines, t, i, &bias, &is_last);

		if (dwarf)
			rc = dwarf_places_add(out, dwarf, bias);
	}
	return rc;
}

/* ------- frames ------- */

/* Whether `cfi` says it for the address, as in the module's file. */
static bool find_frame(Dwarf_CFI *cfi, uint64_t addr, unsigned *reg,
		       uint64_t *offset)
{
	Dwarf_Frame *frame;
	Dwarf_Op *ops;
	size_t count;
	bool found;

	if (!cfi || dwarf_cfi_addrframe(cfi, addr, &frame))
		return false;
	found = !dwarf_frame_cfa(frame, &ops, &count) && count == 1 &&
		ops[0].atom == DW_OP_bregx;
	if (found) {
		*reg = (unsigned)ops[0].number;
		*offset = ops[0].number2;
	}
	free(frame);
	return found;
}

bool lines_frame(struct lines *lines, uint64_t t, uint64_t addr,
		 unsigned *reg, uint64_t *offset)
{
	uint64_t bias;
	Dwfl_Module *module = lines_module(lines, t, addr, &bias);
	Dwarf_Addr more;
	Dwarf_CFI *cfi;

	if (!module)
		return false;
	cfi = dwfl_module_eh_cfi(module, &more);
	if (cfi && find_frame(cfi, addr - bias - more, reg, offset))
		return true;
	cfi = dwfl_module_dwarf_cfi(module, &more);
	return find_frame(cfi, addr - bias - more, reg, offset);
}
