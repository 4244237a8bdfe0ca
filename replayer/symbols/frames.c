/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frames.c - see frames.h */
#include "replayer/symbols/frames.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/stacks.h"
#include "replayer/symbols/cfi.h"
#include "replayer/symbols/exception_frame.h"
#include "replayer/symbols/guess.h"
#include "replayer/symbols/inlines.h"
#include "replayer/symbols/guest_tables.h"
#include "replayer/symbols/jump_tables.h"
#include "replayer/symbols/kernel_entry.h"
#include "replayer/symbols/names.h"
#include "replayer/symbols/tail_calls.h"

/* A stack that a program filled up has some 100,000 frames. */
#define FRAMES_MOST 10000000u

struct walker {
	const struct frame_walk *walk;
	struct guest_tables tables;
	struct unwind_state state;
	bool is_exact;		/* the thread stands at its pc: it was not left
				   there by a call */
	bool is_sure;
	bool is_tail_call;	/* it jumped to what it called */
	bool is_thumb;		/* 32-bit ARM: that is where it goes on */
	bool is_cortex_m;
	uint64_t process_sp;	/* PSP */
};

/*
 * A call may be the last instruction of its function: what stands behind it
 * belongs to the next one.
 */
static uint64_t code_address(const struct walker *walker)
{
	return walker->state.pc - !walker->is_exact;
}

/* ------- what is shown of a frame ------- */

/*
 * The line of the inlined function's call is where its caller stands.  `pc` is
 * as in the debugging information.
 */
static void set_function(const struct walker *walker, struct frame *frame,
			 struct inline_function *function,
			 const struct inline_function *callee, uint64_t pc)
{
	Dwarf_Addr entry;

	if (callee) {
		frame->line.file = callee->line ? callee->file : NULL;
		frame->line.line = callee->file ? callee->line : 0;
	}
	lines_name_function(walker->walk->lines, walker->walk->t, frame->code,
			    &function->die, &frame->line);
	if (!function->is_inlined && !dwarf_entrypc(&function->die, &entry) &&
	    entry <= pc)
		frame->line.offset = pc - entry;
	frame->is_inlined = function->is_inlined;
}

static size_t find_inlined(const struct walker *walker, uint64_t addr,
			   struct inline_function *out, uint64_t *bias)
{
	uint64_t more;
	struct Dwfl_Module *module = lines_module(
		walker->walk->lines, walker->walk->t, addr, bias);
	Dwarf_Die *unit = lines_unit(walker->walk->lines, module, addr - *bias,
				     &more);

	if (!unit)
		return 0;
	*bias += more;
	return inlines_find(walker->walk->lines, unit, addr - *bias, out);
}

static const char *module_path(const struct walker *walker, uint64_t addr)
{
	uint64_t bias;
	const struct symbols *symbols = names_module(
		lines_names(walker->walk->lines), walker->walk->t, addr,
		&bias);

	return symbols ? symbols->path : NULL;
}

/* Shows where it stands now: functions that were inlined there, first. */
static int show(const struct walker *walker, bool is_signal)
{
	const struct frame_walk *walk = walker->walk;
	const struct unwind_state *state = &walker->state;
	struct inline_function inlined[INLINES_MOST];
	uint64_t addr = code_address(walker);
	struct frame frame = {
		.pc = state->pc,
		.sp = state->registers.value[state->sp],
		.code = addr,
		.registers = &state->registers,
		.is_sure = walker->is_sure,
		.is_signal = is_signal,
		.module = module_path(walker, addr),
	};
	uint64_t bias;
	size_t count;
	int rc = 0;

	lines_find(walk->lines, walk->t, addr, &frame.line);
	frame.line.offset += !walker->is_exact;
	count = find_inlined(walker, addr, inlined, &bias);
	if (!count)
		return walk->visit(walk->context, &frame);
	for (size_t i = 0; i < count && !rc; i++) {
		frame.inlined = (unsigned)i;
		set_function(walker, &frame, &inlined[i],
			     i ? &inlined[i - 1] : NULL, state->pc - bias);
		rc = walk->visit(walk->context, &frame);
	}
	return rc;
}

/* ------- tail calls ------- */

/*
 * A function that jumped stood where its callee's caller has called it: what
 * that returns to is the top of the stack, or in its register.
 */
static void set_called(const struct walker *walker, struct unwind_state *state)
{
	const struct reg_table *regs = walker->walk->table;
	const struct stack_table *table = stack_table(regs->arch);

	if (table && !table->has_link_register)
		state->registers.value[state->sp] -= table->call_size;
	for (unsigned i = 0; table && table->has_link_register &&
			     i < state->count; i++) {
		if (regs->dwarf[i] != table->link_register)
			continue;
		state->registers.value[i] = state->pc;
		state->registers.known[i] = true;
	}
}

static int show_tail_call(const struct walker *walker, uint64_t pc,
			  const struct unwind_state *state)
{
	const struct frame_walk *walk = walker->walk;
	struct inline_function functions[INLINES_MOST];
	struct frame frame = {
		.pc = pc,
		.sp = state->registers.value[state->sp],
		.code = pc - 1,
		.registers = &state->registers,
		.is_sure = walker->is_sure,
		.is_tail_call = true,
		.module = module_path(walker, pc - 1),
	};
	uint64_t bias;

	lines_find(walk->lines, walk->t, frame.code, &frame.line);
	frame.line.offset++;
	if (find_inlined(walker, frame.code, functions, &bias)) {
		set_function(walker, &frame, &functions[0], NULL, pc - bias);
		frame.is_inlined = false;
	}
	return walk->visit(walk->context, &frame);
}

/* Shows functions between where it stands and `caller` that are not there. */
static int show_tail_calls(const struct walker *walker,
			   const struct unwind_state *caller)
{
	const struct frame_walk *walk = walker->walk;
	struct unwind_state called = *caller;
	uint64_t list[TAIL_CALLS_MOST];
	size_t count = tail_calls_find(walk->lines, walk->t, caller->pc,
				       code_address(walker), list);
	int rc = 0;

	set_called(walker, &called);
	for (size_t i = 0; i < count && !rc; i++)
		rc = show_tail_call(walker, list[i], &called);
	return rc;
}

/*
 * Goes from a function that jumped to its caller.  Unwind tables say where it
 * has kept registers, but it gave that part of the stack back before it jumped,
 * and others may have used it.
 */
static enum unwind_result leave_tail_call(const struct walker *walker,
					  struct unwind_state *state)
{
	const struct reg_table *regs = walker->walk->table;
	const struct stack_table *table = stack_table(regs->arch);
	uint64_t *sp = &state->registers.value[state->sp];

	if (!table)
		return UNWIND_UNKNOWN;
	if (!table->has_link_register) {
		if (!guest_read_word(&walker->walk->memory, *sp, &state->pc))
			return UNWIND_UNKNOWN;
		*sp += table->call_size;
		return UNWIND_DONE;
	}
	for (unsigned i = 0; i < state->count; i++)
		if (regs->dwarf[i] == table->link_register)
			state->pc = state->registers.value[i];
	return UNWIND_DONE;
}

/* ------- going to the caller ------- */

/* What a module has of unwind tables. */
enum { TABLES_EXCEPTIONS, TABLES_DEBUGGING, TABLES };

/* Those for the code at `addr`; without the file, those in memory. */
static Dwarf_CFI *find_tables(struct walker *walker, uint64_t addr,
			      unsigned which, uint64_t *bias)
{
	const struct frame_walk *walk = walker->walk;
	struct Dwfl_Module *module = lines_module(walk->lines, walk->t, addr,
						  bias);
	const struct symbols *symbols;
	Dwarf_Addr more = 0;
	Dwarf_CFI *cfi;

	if (module) {
		cfi = which == TABLES_EXCEPTIONS ?
			      dwfl_module_eh_cfi(module, &more) :
			      dwfl_module_dwarf_cfi(module, &more);
		*bias += more;
		return cfi;
	}
	symbols = which == TABLES_EXCEPTIONS ?
		names_module(lines_names(walk->lines), walk->t, addr, bias) :
		NULL;
	return symbols ? guest_tables_find(&walker->tables, symbols, *bias,
					   &walk->memory) : NULL;
}

static enum unwind_result by_tables(struct walker *walker,
				    struct unwind_state *state,
				    bool *is_signal)
{
	enum unwind_result result = UNWIND_UNKNOWN;
	uint64_t addr = code_address(walker);

	for (unsigned i = 0; i < TABLES && result == UNWIND_UNKNOWN; i++) {
		uint64_t bias = 0;
		Dwarf_CFI *cfi = find_tables(walker, addr, i, &bias);

		result = cfi_unwind(cfi, bias, addr, &walker->walk->memory,
				    state, is_signal);
	}
	return result;
}

/* Where a frame pointer has led, tables may tell the stack pointer. */
static void find_stack_pointer(struct walker *walker,
			       struct unwind_state *state)
{
	const struct reg_table *table = walker->walk->table;
	const struct stack_table *stack = stack_table(table->arch);
	uint64_t *sp = &state->registers.value[state->sp];
	unsigned fp = 0;

	while (stack && fp < state->count && table->dwarf[fp] != stack->fp)
		fp++;
	for (unsigned i = 0; i < TABLES && !state->registers.known[state->sp];
	     i++) {
		uint64_t bias = 0;
		Dwarf_CFI *cfi = find_tables(walker, state->pc - 1, i, &bias);

		state->registers.known[state->sp] = cfi_stack_pointer(
			cfi, bias, state->pc - 1, fp, state, sp);
	}
}

static enum unwind_result by_guess(const struct walker *walker,
				   struct unwind_state *state, bool *is_sure,
				   bool *is_signal)
{
	const struct frame_walk *walk = walker->walk;
	uint64_t bias, addr = code_address(walker);
	struct Dwfl_Module *module = lines_module(walk->lines, walk->t, addr,
						  &bias);
	GElf_Addr more = 0;
	Elf *elf = module ? dwfl_module_getelf(module, &more) : NULL;
	const struct guess_place place = {
		.names = lines_names(walk->lines),
		.t = walk->t,
		.table = walk->table,
		.memory = &walk->memory,
		.is_exact = walker->is_exact,
		.is_thumb = walker->is_thumb,
		.in_jump_table = walker->is_exact &&
				 jump_table_has(module, addr - bias),
		.elf = elf,
		.bias = bias + more,
	};

	return guess_caller(&place, state, is_sure, is_signal);
}

/* What a signal interrupted may be on any stack. */
static bool makes_sense(const struct unwind_state *from,
			const struct unwind_state *to, bool is_signal)
{
	uint64_t before = from->registers.value[from->sp];
	uint64_t after = to->registers.value[to->sp];

	return is_signal || after > before ||
	       (after == before && to->pc != from->pc);
}

static void start(struct walker *walker, const struct reg_file *file)
{
	const struct reg_table *table = walker->walk->table;
	struct unwind_state *state = &walker->state;

	state->pc = reg_get(table, file, table->pc);
	state->kept = table->dwarf_kept;
	walker->is_exact = !walker->walk->at_call;
	walker->is_thumb = reg_get(table, file, table->code_state) &
			   table->code_state_bits;
	for (unsigned i = 0; i < table->dwarf_count &&
			     i < DWARF_REGISTERS_MOST; i++) {
		state->registers.value[i] = reg_get(table, file,
						    table->dwarf[i]);
		state->registers.known[i] = !walker->walk->known ||
					    walker->walk->known[i];
		state->count = i + 1;
		if (table->dwarf[i] == table->sp)
			state->sp = i;
	}
}

/* The code where a machine's kernel is entered: to what it interrupted. */
static bool by_entry(const struct walker *walker, struct unwind_state *state)
{
	const struct frame_walk *walk = walker->walk;
	uint64_t bias, addr = code_address(walker);
	const struct symbols *symbols;
	const struct symbol *symbol;

	if (walker->is_exact || !arch_is_machine(walk->table->arch))
		return false;
	symbols = names_module(lines_names(walk->lines), walk->t, addr, &bias);
	symbol = symbols ? symbols_at(symbols, addr - bias) : NULL;
	return symbol &&
	       kernel_entry_unwind(symbol->name, &walk->memory, state);
}

/* A handler's caller: what the exception has interrupted. */
static bool by_exception(const struct walker *walker,
			 enum unwind_result *result,
			 struct unwind_state *state)
{
	if (!walker->is_cortex_m || *result != UNWIND_DONE)
		return false;
	if (state->pc == EXCEPTION_NO_CALLER)
		*result = UNWIND_OUTERMOST;
	return exception_frame_unwind(&walker->walk->memory,
				      walker->process_sp, state);
}

/* Shows where it stands, and goes to the caller; else says why not. */
static bool step(struct walker *walker, enum frames_end *end)
{
	struct unwind_state next = walker->state;
	bool is_signal = false, is_thumb, is_sure = true, is_told;
	bool is_entry = by_entry(walker, &next);
	enum unwind_result result = is_entry ? UNWIND_DONE :
		walker->is_tail_call ? leave_tail_call(walker, &next) :
		by_tables(walker, &next, &is_signal);

	is_told = result == UNWIND_DONE && !is_entry && !is_signal;
	if (result == UNWIND_UNKNOWN) {
		next = walker->state;
		result = by_guess(walker, &next, &is_sure, &is_signal);
	}
	is_entry |= by_exception(walker, &result, &next);
	is_thumb = next.pc & 1;
	next.pc = reg_code(walker->walk->table, next.pc);
	if (result == UNWIND_DONE && !is_sure)
		find_stack_pointer(walker, &next);
	*end = FRAMES_ENOUGH;
	if (show(walker, is_signal))
		return false;
	*end = result == UNWIND_UNKNOWN ? FRAMES_LOST : FRAMES_OUTERMOST;
	if (result != UNWIND_DONE || !next.pc)
		return false;
	*end = FRAMES_LOOP;
	if (!makes_sense(&walker->state, &next, is_signal || is_entry))
		return false;
	*end = FRAMES_ENOUGH;
	if (is_told && !is_entry && show_tail_calls(walker, &next))
		return false;
	walker->state = next;
	/* What a signal interrupted has it elsewhere. */
	if (!is_signal)
		walker->is_thumb = is_thumb || walker->is_cortex_m;
	walker->is_exact = is_signal || is_entry;
	walker->is_sure &= is_sure;
	walker->is_tail_call = false;
	return true;
}

enum frames_end frames_walk(const struct frame_walk *walk,
			    const struct reg_file *registers)
{
	struct walker walker = { .walk = walk, .is_sure = true,
				 .is_tail_call = walk->is_tail_call };
	enum frames_end end = FRAMES_LOOP;

	start(&walker, registers);
	walker.is_cortex_m = walk->table->arch == ARCH_CORTEX_M;
	if (walker.is_cortex_m)
		walker.process_sp = reg_get(walk->table, registers, CM_PSP);
	for (unsigned i = 0; i < FRAMES_MOST; i++)
		if (!step(&walker, &end))
			break;
	guest_tables_release(&walker.tables);
	return end;
}

const char *frames_end_text(enum frames_end end)
{
	switch (end) {
	case FRAMES_LOST:
		return "who called this is not known";
	case FRAMES_LOOP:
		return "the stack makes no sense from here on";
	default:
		return NULL;
	}
}
