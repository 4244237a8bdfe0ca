/* SPDX-License-Identifier: GPL-2.0-or-later */
/* code_places.c - see code_places.h */
#include "replayer/symbols/code_places.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/symbols/dwarf_locations.h"
#include "replayer/symbols/inlines.h"
#include "replayer/symbols/lines.h"
#include "replayer/symbols/patterns.h"

/* How deep blocks may be nested in a file that makes sense. */
#define DEPTH_MOST 64u

/* ------- functions ------- */

/* Whether a variable has a list of locations, somewhere in there. */
static bool has_lists(Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;
	Dwarf_Die die;

	if (depth > DEPTH_MOST || dwarf_child(parent, &die))
		return false;
	do {
		if (dwarf_location(&die, DW_AT_location, &attribute) &&
		    dwarf_getlocation(&attribute, &ops, &count))
			return true;
		if (has_lists(&die, depth + 1))
			return true;
	} while (!dwarf_siblingof(&die, &die));
	return false;
}

/* Variables have their values before the frame is there; or there are none. */
static bool is_valid_at_once(Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;
	const char *producer = NULL;

	if (dwarf_srclang(unit) == DW_LANG_Mips_Assembler)
		return true;
	if (dwarf_attr(unit, DW_AT_producer, &attribute))
		producer = dwarf_formstring(&attribute);
	return producer && !strncmp(producer, "GNU ", 4) &&
	       has_lists(unit, 0);
}

/* Where the frame is set up: told by the compiler, or the second row. */
static uint64_t frame_end(Dwarf_Die *unit, uint64_t entry, uint64_t end)
{
	Dwarf_Lines *rows;
	size_t count;
	uint64_t second = end;
	bool told = false;

	if (dwarf_getsrclines(unit, &rows, &count))
		return entry;
	for (size_t i = 0; i < count; i++) {
		Dwarf_Line *row = dwarf_onesrcline(rows, i);
		Dwarf_Addr addr;
		bool is_told = false;

		if (!row || dwarf_lineaddr(row, &addr) || addr <= entry ||
		    addr >= end)
			continue;
		dwarf_lineprologueend(row, &is_told);
		if (is_told && (!told || addr < second))
			second = addr;
		else if (!told && addr < second)
			second = addr;
		told |= is_told;
	}
	return second < end ? second : entry;
}

bool code_part_of_function(Dwarf_Die *function, uint64_t *entry, uint64_t *end)
{
	Dwarf_Addr base, start, behind, first;
	bool has_entry = !dwarf_entrypc(function, &first), found = false;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(function, at, &base, &start, &behind)) > 0) {
		bool is_entry = has_entry && first >= start && first < behind;

		if (start >= behind || (found && !is_entry))
			continue;
		*entry = is_entry ? first : start;
		*end = behind;
		if (is_entry)
			return true;
		found = true;
	}
	return found;
}

/* The function with that code of a unit. */
static bool find_function(struct lines *lines, Dwarf_Die *unit, uint64_t addr,
			  Dwarf_Die *out)
{
	Dwarf_Die scopes[SCOPES_MOST];

	if (!lines_scopes(lines, unit, addr, scopes))
		return false;
	*out = scopes[0];
	return true;
}

/* Moves an address in the code that sets up a frame behind that. */
static uint64_t skip_frame(struct lines *lines, Dwarf_Die *unit,
			   uint64_t addr, bool is_valid)
{
	uint64_t entry, end, behind;
	Dwarf_Die function;

	if (is_valid || !find_function(lines, unit, addr, &function) ||
	    !code_part_of_function(&function, &entry, &end))
		return addr;
	behind = frame_end(unit, entry, end);
	return addr >= entry && addr < behind ? behind : addr;
}

uint64_t code_behind_frame(struct lines *lines, Dwarf_Die *unit, uint64_t addr)
{
	return skip_frame(lines, unit, addr, is_valid_at_once(unit));
}

/* Two lines begin there: for debuggers, nothing sets up a frame. */
static bool has_two_lines(Dwarf_Die *unit, uint64_t entry)
{
	Dwarf_Lines *rows;
	size_t count;
	int first = 0;

	if (dwarf_getsrclines(unit, &rows, &count))
		return false;
	for (size_t i = 0; i < count; i++) {
		Dwarf_Line *row = dwarf_onesrcline(rows, i);
		Dwarf_Addr addr;
		int line;

		if (!row || dwarf_lineaddr(row, &addr) || addr != entry ||
		    dwarf_lineno(row, &line) || !line)
			continue;
		if (first && first != line)
			return true;
		first = line;
	}
	return false;
}

static uint64_t place_in(struct lines *lines, uint64_t t, uint64_t entry,
			 bool by_rows)
{
	uint64_t bias, more;
	struct Dwfl_Module *module = lines_module(lines, t, entry, &bias);
	Dwarf_Die *unit = lines_unit(lines, module, entry - bias, &more);

	if (!unit)
		return entry;
	bias += more;
	return skip_frame(lines, unit, entry - bias, by_rows ?
			  has_two_lines(unit, entry - bias) :
			  is_valid_at_once(unit)) + bias;
}

uint64_t code_place_of_function(struct lines *lines, uint64_t t,
				uint64_t entry)
{
	return place_in(lines, t, entry, false);
}

uint64_t code_place_by_rows(struct lines *lines, uint64_t t, uint64_t entry)
{
	return place_in(lines, t, entry, true);
}

static bool begins_statement(Dwarf_Line *row)
{
	bool begins = false, ends = false;

	return row && !dwarf_linebeginstatement(row, &begins) && begins &&
	       !dwarf_lineendsequence(row, &ends) && !ends;
}

/* ------- a function's code ------- */

bool function_code_find(struct lines *lines, uint64_t t, uint64_t entry,
			struct function_code *out)
{
	uint64_t more;
	struct Dwfl_Module *module = lines_module(lines, t, entry, &out->bias);
	Dwarf_Die *unit = lines_unit(lines, module, entry - out->bias, &more);

	if (!unit)
		return false;
	out->unit = *unit;
	out->bias += more;
	out->entry = entry;
	out->place = code_behind_frame(lines, unit, entry - out->bias) +
		     out->bias;
	return find_function(lines, unit, entry - out->bias, &out->function);
}

/* The next part behind the code that sets up the frame. */
static bool next_part(const struct function_code *code, ptrdiff_t *at,
		      uint64_t *start, uint64_t *end)
{
	Dwarf_Die function = code->function;
	Dwarf_Addr base;

	*at = dwarf_ranges(&function, *at, &base, start, end);
	*start += code->bias;
	*end += code->bias;
	if (*at > 0 && *start <= code->entry && code->entry < *end &&
	    code->place > code->entry)
		*start = code->place;
	return *at > 0;
}

int function_code_parts(const struct function_code *code,
			code_part_visit *visit, void *context)
{
	uint64_t start, end;
	ptrdiff_t at = 0;
	int rc = 0;

	while (!rc && next_part(code, &at, &start, &end))
		if (start < end)
			rc = visit(context, start, end);
	return rc;
}

unsigned function_code_inlines(struct lines *lines,
			       const struct function_code *code, uint64_t addr)
{
	struct inline_function inlined[INLINES_MOST];
	Dwarf_Die unit = code->unit;
	size_t count = inlines_find(lines, &unit, addr - code->bias, inlined);

	for (size_t i = 0; i < count; i++)
		if (inlined[i].die.addr == code->function.addr)
			return (unsigned)i;
	return 0;
}

/* ------- statements ------- */

struct statements {
	struct lines *lines;
	const struct function_code *code;
	code_visit *visit;
	void *context;
};

/* Whether the code there is of this function, not of one inlined in it. */
static bool is_own(const struct statements *statements, uint64_t addr)
{
	Dwarf_Die unit = statements->code->unit, scopes[SCOPES_MOST];
	size_t count = lines_scopes(statements->lines, &unit, addr, scopes);

	while (count && dwarf_tag(&scopes[count - 1]) == DW_TAG_lexical_block)
		count--;
	return count &&
	       scopes[count - 1].addr == statements->code->function.addr;
}

/* Rows of one address are one place. */
static int visit_statements(void *context, uint64_t start, uint64_t end)
{
	const struct statements *statements = context;
	uint64_t bias = statements->code->bias;
	Dwarf_Die unit = statements->code->unit;
	Dwarf_Addr addr, before = 0;
	Dwarf_Lines *rows;
	size_t count;
	int rc = 0;

	if (dwarf_getsrclines(&unit, &rows, &count))
		return 0;
	for (size_t i = 0; i < count && !rc; i++) {
		Dwarf_Line *row = dwarf_onesrcline(rows, i);

		if (!begins_statement(row) || dwarf_lineaddr(row, &addr) ||
		    addr == before || addr + bias < start ||
		    addr + bias >= end || !is_own(statements, addr))
			continue;
		before = addr;
		rc = statements->visit(statements->context, addr + bias);
	}
	return rc;
}

int function_code_statements(struct lines *lines,
			     const struct function_code *code,
			     code_visit *visit, void *context)
{
	struct statements statements = { lines, code, visit, context };

	return function_code_parts(code, visit_statements, &statements);
}

/* ------- lines ------- */

struct place {
	uint64_t addr;
	void *block;		/* the entry of the block that it is in */
};

struct places {
	struct lines *lines;
	struct place *list;
	size_t count, room;
};

static bool has_variables(Dwarf_Die *block)
{
	Dwarf_Die die;

	if (dwarf_child(block, &die))
		return false;
	do {
		if (dwarf_tag(&die) == DW_TAG_variable)
			return true;
	} while (!dwarf_siblingof(&die, &die));
	return false;
}

/* The innermost block; one without variables is none. */
static void *block_of(struct lines *lines, Dwarf_Die *unit, uint64_t addr)
{
	Dwarf_Die scopes[SCOPES_MOST];
	size_t count = lines_scopes(lines, unit, addr, scopes);

	while (count-- > 0)
		if (dwarf_tag(&scopes[count]) != DW_TAG_lexical_block ||
		    has_variables(&scopes[count]))
			return scopes[count].addr;
	return NULL;
}

/* Of those in one block, the first one counts. */
static int add_place(struct places *places, Dwarf_Die *unit, uint64_t addr)
{
	struct place place = { addr, block_of(places->lines, unit, addr) };

	for (size_t i = 0; i < places->count; i++) {
		struct place *other = &places->list[i];

		if (other->block != place.block)
			continue;
		if (addr < other->addr)
			other->addr = addr;
		return 0;
	}
	if (array_room(places->list, places->count, places->room))
		return ERR_NO_MEMORY;
	places->list[places->count++] = place;
	return 0;
}

static bool is_of_line(Dwarf_Line *row, const char *file, unsigned line)
{
	bool begins = false, ends = false;
	const char *path;
	int number;

	return row && !dwarf_lineno(row, &number) && number == (int)line &&
	       !dwarf_linebeginstatement(row, &begins) && begins &&
	       !dwarf_lineendsequence(row, &ends) && !ends &&
	       (path = dwarf_linesrc(row, NULL, NULL)) &&
	       source_file_is(path, file);
}

static int find_places(struct places *places, Dwarf_Die *unit,
		       const char *file, unsigned line)
{
	Dwarf_Lines *rows;
	size_t count;
	int rc = 0;

	if (dwarf_getsrclines(unit, &rows, &count))
		return 0;
	for (size_t i = 0; i < count && !rc; i++) {
		Dwarf_Line *row = dwarf_onesrcline(rows, i);
		Dwarf_Addr addr;

		if (is_of_line(row, file, line) && !dwarf_lineaddr(row, &addr))
			rc = add_place(places, unit, addr);
	}
	return rc;
}

/*
 * Whether the unit has code of a file: quicker than to look at all rows.  Units of
 * types have none, though they have the rows of a unit that has.
 */
static bool has_file(Dwarf_Die *unit, const char *file)
{
	Dwarf_Files *files;
	size_t count;

	if (dwarf_tag(unit) == DW_TAG_type_unit ||
	    dwarf_getsrcfiles(unit, &files, &count))
		return false;
	for (size_t i = 0; i < count; i++) {
		const char *path = dwarf_filesrc(files, i, NULL, NULL);

		if (path && source_file_is(path, file))
			return true;
	}
	return false;
}

/* Where a function is declared, if that is in the file; else 0. */
static unsigned declared_at(Dwarf_Die *function, const char *file)
{
	const char *path = dwarf_decl_file(function);
	int line;

	return path && source_file_is(path, file) &&
	       !dwarf_decl_line(function, &line) && line > 0 ?
		       (unsigned)line : 0;
}

unsigned code_line_inlines(struct lines *lines, uint64_t t, uint64_t addr,
			   const char *file, unsigned line)
{
	struct inline_function inlined[INLINES_MOST];
	uint64_t bias, more;
	struct Dwfl_Module *module = lines_module(lines, t, addr, &bias);
	Dwarf_Die *unit = lines_unit(lines, module, addr - bias, &more);
	size_t count = unit ? inlines_find(lines, unit, addr - bias - more,
					   inlined) : 0;
	unsigned last = 0, number = 0;

	for (unsigned i = 0; i < count; i++) {
		unsigned declared = declared_at(&inlined[i].die, file);

		if (inlined[i].is_inlined && inlined[i].line == line &&
		    inlined[i].file && source_file_is(inlined[i].file, file))
			return i + 1;
		if (declared > last && declared <= line) {
			last = declared;
			number = i;
		}
	}
	return number;
}

int code_places_of_line(struct lines *lines, uint64_t t, size_t number,
			const char *file, unsigned line, code_visit *visit,
			void *context)
{
	struct places places = { .lines = lines };
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	uint64_t bias;
	bool is_last;
	Dwarf *dwarf = lines_dwarf(lines, t, number, &bias, &is_last);
	int rc = 0;

	while (dwarf && !rc && !dwarf_get_units(dwarf, cu, &cu, NULL, NULL,
						&unit, NULL)) {
		bool is_valid;

		places.count = 0;
		if (!has_file(&unit, file))
			continue;
		rc = find_places(&places, &unit, file, line);
		is_valid = places.count && is_valid_at_once(&unit);
		for (size_t i = 0; i < places.count && !rc; i++)
			rc = visit(context, bias + skip_frame(
				lines, &unit, places.list[i].addr, is_valid));
	}
	free(places.list);
	return rc;
}

/* ------- lines that have code ------- */

static void look_around(struct code_lines_around *out, Dwarf_Die *unit,
			const char *file, unsigned line)
{
	Dwarf_Lines *rows;
	size_t count;

	if (dwarf_getsrclines(unit, &rows, &count))
		return;
	for (size_t i = 0; i < count; i++) {
		Dwarf_Line *row = dwarf_onesrcline(rows, i);
		int number;

		if (!row || dwarf_lineno(row, &number) || number <= 0 ||
		    !is_of_line(row, file, (unsigned)number))
			continue;
		if ((unsigned)number < line && (unsigned)number > out->before)
			out->before = (unsigned)number;
		if ((unsigned)number > line &&
		    (!out->behind || (unsigned)number < out->behind))
			out->behind = (unsigned)number;
	}
}

void code_lines_around(struct lines *lines, uint64_t t, const char *file,
		       unsigned line, struct code_lines_around *out)
{
	bool is_last = false;

	*out = (struct code_lines_around) { 0 };
	for (size_t i = 0; !is_last; i++) {
		uint64_t bias;
		Dwarf *dwarf = lines_dwarf(lines, t, i, &bias, &is_last);
		Dwarf_CU *cu = NULL;
		Dwarf_Die unit;

		while (dwarf && !dwarf_get_units(dwarf, cu, &cu, NULL, NULL,
						 &unit, NULL))
			if (has_file(&unit, file))
				look_around(out, &unit, file, line);
	}
}
