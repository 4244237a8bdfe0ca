/* SPDX-License-Identifier: GPL-2.0-or-later */
/* code.c - see code.h */
#include "replayer/session/code.h"

#include <stdio.h>
#include <string.h>

#include "formats/symbols.h"
#include "replayer/replayer.h"
#include "replayer/symbols/symbols.h"

/* ------- functions ------- */

/* One that does not say how long it is ends where the next one begins. */
static uint64_t end_of(const struct symbols *symbols,
		       const struct symbol *symbol)
{
	const struct symbol *next = symbol;

	if (symbol->size)
		return symbol->addr + symbol->size;
	while (next < symbols->list + symbols->count &&
	       next->addr == symbol->addr)
		next++;
	return next < symbols->list + symbols->count ? next->addr :
						       symbols->link_end;
}

bool code_function(struct lines *lines, uint64_t t, uint64_t addr,
		   uint64_t *start, uint64_t *end)
{
	uint64_t bias;
	const struct symbols *symbols = names_module(lines_names(lines), t,
						     addr, &bias);
	const struct symbol *symbol = symbols ?
		symbols_at(symbols, addr - bias) : NULL;

	if (!symbol)
		return code_function_symbol(lines, t, addr, start, end);
	*start = symbol->addr + bias;
	*end = end_of(symbols, symbol) + bias;
	return *start <= addr && addr < *end;
}

/* ------- instructions ------- */

/* How many bytes from the start are all known, or all not. */
static size_t run_of(const uint8_t *known, size_t size)
{
	size_t run = 1;

	while (run < size && known[run] == known[0])
		run++;
	return run;
}

static void name(const struct code_walk *walk, uint64_t addr, char *text,
		 size_t room)
{
	if (!lines_symbol(walk->lines, replayer_time(walk->replayer), addr,
			  text, room))
		*text = '\0';
}

/* What a jump by way of a table leads to, as linkers make it for libraries. */
static bool through_table(const struct code_walk *walk, uint64_t addr,
			  uint64_t *out)
{
	uint8_t bytes[2 * VM_INSTRUCTION_MOST], known[sizeof(bytes)];
	struct vm_instruction found = { 0 };
	uint8_t pointer[8], all[8];

	if (replayer_read(walk->replayer, addr, bytes, known, sizeof(bytes),
			  NULL) || memchr(known, 0, sizeof(bytes)))
		return false;
	/* A mark that jumps may lead there can stand before it. */
	for (size_t at = 0; at <= VM_INSTRUCTION_MOST && !found.has_target;
	     at += found.size) {
		replayer_instruction(walk->replayer, addr + at, bytes + at,
				     VM_INSTRUCTION_MOST, VM_INTEL, &found);
		if (!found.size || at > 4)
			return false;
	}
	if (found.jumps || !strstr(found.text, "jmp") ||
	    replayer_read(walk->replayer, found.target, pointer, all,
			  sizeof(pointer), NULL) ||
	    memchr(all, 0, sizeof(all)))
		return false;
	memcpy(out, pointer, sizeof(*out));
	return true;
}

/* "puts@plt" of a library's function that is called by way of a table. */
static void name_target(const struct code_walk *walk, struct code_line *out)
{
	const struct vm_instruction *instruction = &out->instruction;
	uint64_t to;
	char full[sizeof(out->target)];
	const char *last;

	name(walk, instruction->target, out->target, sizeof(out->target));
	if (!instruction->jumps || !strstr(out->target, "+0x") ||
	    !through_table(walk, instruction->target, &to))
		return;
	name(walk, to, full, sizeof(full));
	last = strrchr(full, '!');
	last = last ? last + 1 : full;
	if (*full && !strstr(full, "+0x"))
		snprintf(out->target, sizeof(out->target), "%.200s@plt", last);
}

/* What is at an address, and how long it is. */
static void decode(const struct code_walk *walk, const uint8_t *bytes,
		   const uint8_t *known, size_t size, struct code_line *out)
{
	size_t run = run_of(known, size);

	out->size = run;
	if (!known[0])
		return;
	out->bytes = bytes;
	replayer_instruction(walk->replayer, out->addr, bytes, run,
			     walk->syntax, &out->instruction);
	out->size = out->instruction.size ? out->instruction.size : 1;
	if (out->instruction.has_target)
		name_target(walk, out);
}

int code_each(const struct code_walk *walk, struct failure *why)
{
	struct code_line line;
	int rc = 0;

	for (uint64_t addr = walk->start, n = 0;
	     addr < walk->end && n < walk->count && !rc;
	     addr += line.size, n++) {
		uint8_t bytes[VM_INSTRUCTION_MOST], known[sizeof(bytes)];

		line = (struct code_line) { .addr = addr };
		rc = replayer_read(walk->replayer, addr, bytes, known,
				   sizeof(bytes), why);
		if (rc)
			break;
		decode(walk, bytes, known, sizeof(bytes), &line);
		if (line.size > walk->end - addr && !line.bytes)
			line.size = walk->end - addr;
		name(walk, addr, line.name, sizeof(line.name));
		rc = walk->visit(walk->context, &line);
	}
	return rc;
}
