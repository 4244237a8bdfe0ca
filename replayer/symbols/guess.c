/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guess.c - see guess.h */
#include "replayer/symbols/guess.h"

#include <string.h>

#include "formats/stacks.h"
#include "replayer/symbols/exidx.h"
#include "replayer/symbols/frame_code.h"
#include "replayer/symbols/names.h"

/* Words of the stack that are looked at: frames without tables are small. */
#define WORDS_MOST 1024u

struct guess {
	const struct guess_place *place;
	const struct stack_table *table;
	struct unwind_state *state;
};

static bool read_bytes(const struct guess *guess, uint64_t addr, void *bytes,
		       size_t size)
{
	const struct guest_reader *memory = guess->place->memory;

	return memory->read(memory->context, addr, bytes, size);
}

static bool read_word(const struct guess *guess, uint64_t addr, uint64_t *out)
{
	return guest_read_number(guess->place->memory, addr,
				 guess->table->call_size, out);
}

/* The number of a register in debugging information. */
static unsigned dwarf_number(const struct guess *guess, unsigned reg)
{
	unsigned i = 0;

	while (i < guess->state->count && guess->place->table->dwarf[i] != reg)
		i++;
	return i;
}

static uint64_t *value_of(const struct guess *guess, unsigned reg)
{
	unsigned number = dwarf_number(guess, reg);
	struct dwarf_registers *registers = &guess->state->registers;

	return number < guess->state->count && registers->known[number] ?
		       &registers->value[number] : NULL;
}

static const struct symbol *symbol_at(const struct guess *guess,
				      uint64_t addr, uint64_t *bias)
{
	const struct symbols *symbols = names_module(
		guess->place->names, guess->place->t, addr, bias);

	return symbols ? symbols_at(symbols, addr - *bias) : NULL;
}

/* As far as the module's file tells, if it is of the present code's module. */
static bool is_executable(const struct guess *guess, uint64_t addr)
{
	const struct guess_place *place = guess->place;
	bool is_there = false, is_code = false;
	GElf_Phdr header;

	for (int i = 0; place->elf && gelf_getphdr(place->elf, i, &header);
	     i++) {
		if (header.p_type != PT_LOAD ||
		    addr - place->bias - header.p_vaddr >= header.p_memsz)
			continue;
		is_there = true;
		is_code |= header.p_flags & PF_X;
	}
	return is_code || !is_there;
}

/* Where code of a module may be. */
static bool is_in_module(const struct guess *guess, uint64_t addr)
{
	uint64_t bias;
	const struct symbol *symbol = symbol_at(guess, addr, &bias);

	return names_module(guess->place->names, guess->place->t, addr,
			    &bias) != NULL &&
	       !(symbol && symbol->type == SYMBOL_OBJECT) &&
	       is_executable(guess, addr);
}

/* Whether a call can return there. */
static bool is_behind_call(const struct guess *guess, uint64_t addr)
{
	uint8_t before[CALL_MOST];

	addr = reg_code(guess->place->table, addr);
	return read_bytes(guess, addr - sizeof(before), before,
			  sizeof(before)) &&
	       guess->table->is_call(before, sizeof(before));
}

/* ------- certain ------- */

/* Whether it is at a place of this code; what that has taken off the stack. */
static bool is_at_return(const struct guess *guess,
			 const struct stack_return *one, unsigned *popped)
{
	const size_t places = sizeof(one->places) / sizeof(*one->places);
	uint8_t code[SIGRETURN_MOST];

	for (size_t i = 0; i < places && one->size; i++) {
		unsigned passed = one->places[i].passed;

		if ((passed || !i) &&
		    read_bytes(guess, guess->state->pc - passed, code,
			       one->size) &&
		    !memcmp(code, one->code, one->size)) {
			*popped = one->places[i].popped;
			return true;
		}
	}
	return false;
}

/* NULL: it leaves no handler. */
static const struct stack_return *find_return(const struct guess *guess,
					      unsigned *popped)
{
	for (unsigned i = 0; i < STACK_RETURNS; i++)
		if (is_at_return(guess, &guess->table->returns[i], popped))
			return &guess->table->returns[i];
	return NULL;
}

/* All registers are in the handler's frame, so many bytes nearer.  If it is not
 * known where that is, what is there must make sense. */
static bool leave_handler(const struct guess *guess, unsigned nearer)
{
	const struct reg_table *regs = guess->place->table;
	const struct stack_table *table = guess->table;
	bool is_sure = value_of(guess, regs->sp);
	uint64_t frame = guess->state->registers.value[guess->state->sp] -
			 nearer;

	for (unsigned reg = 0; reg < table->saved_count; reg++) {
		unsigned number = dwarf_number(guess, reg);
		uint64_t value;

		if (!table->saved[reg])
			continue;
		if (!read_word(guess, frame + table->saved[reg], &value))
			return false;
		if (reg == regs->pc)
			guess->state->pc = value;
		if (number < guess->state->count) {
			guess->state->registers.value[number] = value;
			guess->state->registers.known[number] = true;
		}
	}
	return is_sure || is_in_module(guess, guess->state->pc);
}

/* Whether nothing of a function was executed: or it is no code at all. */
static bool is_at_start(const struct guess *guess)
{
	uint64_t bias, pc = guess->state->pc;
	const struct symbol *symbol = symbol_at(guess, pc, &bias);
	uint8_t code;

	return (symbol && symbol->addr == pc - bias) ||
	       !read_bytes(guess, pc, &code, 1);
}

/* A call that was just made. */
static bool leave_call(const struct guess *guess)
{
	const struct stack_table *table = guess->table;
	uint64_t *sp = value_of(guess, guess->place->table->sp);
	const uint64_t *link = table->has_link_register ?
		value_of(guess, table->link_register) : NULL;
	uint64_t pc;

	if (!sp || !(is_at_start(guess) ||
		     (link && guess->place->in_jump_table)))
		return false;
	if (link)
		pc = *link;
	else if (table->has_link_register || !read_word(guess, *sp, &pc))
		return false;
	if (!is_behind_call(guess, pc))
		return false;
	guess->state->pc = pc;
	if (!link)
		*sp += table->call_size;
	return true;
}

/* Whether both addresses are in one function, as far as symbols tell. */
static bool is_same_function(const struct guess *guess, uint64_t one,
			     uint64_t other)
{
	uint64_t bias, other_bias;
	const struct guess_place *place = guess->place;
	const struct symbols *symbols = names_module(place->names, place->t,
						     one, &bias);

	return symbols == names_module(place->names, place->t, other,
				       &other_bias) &&
	       (!symbols || symbols_at(symbols, one - bias) ==
				    symbols_at(symbols, other - bias));
}

/* Whether the frame pointer is the function's own: what it has saved there is
 * still in the register. */
static bool has_own_frame(const struct guess *guess, uint64_t link)
{
	const uint64_t *fp = value_of(guess, guess->table->fp);
	uint64_t saved;

	return fp && !guess->table->ends_frame &&
	       read_word(guess, *fp + guess->table->link, &saved) &&
	       saved == link;
}

/*
 * What a function's first call returns to is in another function.  As long as
 * the register for that says so, no call was made: it is the caller.
 */
static bool leave_leaf(const struct guess *guess)
{
	const uint64_t *link = guess->table->has_link_register ?
		value_of(guess, guess->table->link_register) : NULL;
	uint64_t pc;

	if (!link)
		return false;
	pc = reg_code(guess->place->table, *link);
	if (has_own_frame(guess, *link) || !is_in_module(guess, pc) ||
	    !is_behind_call(guess, pc) ||
	    is_same_function(guess, pc - 1, guess->state->pc))
		return false;
	guess->state->pc = *link;
	return true;
}

/* ------- by tables for exceptions ------- */

/* Whether the call that returns to `addr` is one of this function. */
static bool is_call_of(const struct guess *guess, uint64_t addr,
		       uint64_t function)
{
	uint8_t before[CALL_MOST];

	addr = reg_code(guess->place->table, addr);
	return read_bytes(guess, addr - sizeof(before), before,
			  sizeof(before)) &&
	       guess->table->call_target(before, sizeof(before), addr) ==
		       function;
}

/* Where the thread stands, they may be wrong, and where the stack pointer was
 * guessed: what calls it tells. */
static enum unwind_result leave_by_tables(const struct guess *guess,
					  bool *is_sure, bool *is_signal)
{
	const struct guess_place *place = guess->place;
	struct unwind_state next = *guess->state;
	bool is_guessed = !next.registers.known[next.sp];
	uint64_t start;
	enum unwind_result result = exidx_unwind(
		place->elf, place->bias, next.pc - !place->is_exact,
		place->memory, &next, &start, is_signal);

	*is_sure = true;
	if (result == UNWIND_DONE && !*is_signal &&
	    (place->is_exact || is_guessed)) {
		if (!is_behind_call(guess, next.pc))
			return UNWIND_UNKNOWN;
		*is_sure = is_call_of(guess, next.pc, start);
	}
	if (result == UNWIND_DONE)
		*guess->state = next;
	return result;
}

/* ------- by the code ------- */

/* A symbol says which code it is, and where the function begins; or the tables
 * for exceptions do. */
static struct frame_code code_of(const struct guess *guess)
{
	const struct guess_place *place = guess->place;
	uint64_t bias, start, at = guess->state->pc - !place->is_exact;
	const struct symbol *symbol = symbol_at(guess, at, &bias);
	struct frame_code code = {
		.memory = place->memory, .is_thumb = place->is_thumb,
	};

	if (symbol && symbol->type == SYMBOL_FUNCTION &&
	    (!symbol->size || at - bias - symbol->addr < symbol->size)) {
		code.is_thumb = symbol->is_thumb;
		code.start = symbol->addr + bias;
		code.end = symbol->size ? code.start + symbol->size : 0;
	}
	if (exidx_function(place->elf, place->bias, at, &start) &&
	    start > code.start)
		code.start = start;
	return code;
}

static bool leave_by_code(const struct guess *guess)
{
	const struct frame_code code = code_of(guess);
	bool is_exact = guess->place->is_exact;
	struct unwind_state next = *guess->state;

	if (!is_executable(guess, next.pc) ||
	    !(frame_code_unwind(&code, is_exact, &next) ||
	      (is_exact && frame_code_ends(&code, &next))) ||
	    !is_behind_call(guess, next.pc))
		return false;
	*guess->state = next;
	return true;
}

/* ------- guessed ------- */

static void forget_registers(const struct guess *guess)
{
	struct dwarf_registers *registers = &guess->state->registers;

	memset(registers->known, 0, sizeof(registers->known));
	registers->known[guess->state->sp] = true;
}

static bool leave_frame(const struct guess *guess)
{
	struct dwarf_registers *registers = &guess->state->registers;
	uint64_t *fp = value_of(guess, guess->table->fp);
	uint64_t *sp = &registers->value[guess->state->sp];
	uint64_t pc, next, at = fp ? *fp : 0;

	if (!fp || at < *sp || at % guess->table->call_size ||
	    !read_word(guess, at, &next) ||
	    !read_word(guess, at + guess->table->link, &pc) ||
	    !is_behind_call(guess, pc))
		return false;
	forget_registers(guess);
	guess->state->pc = pc;
	*sp = at + guess->table->link + guess->table->call_size;
	*fp = next;
	registers->known[dwarf_number(guess, guess->table->fp)] = true;
	/* The caller's is there, or beyond. */
	registers->known[guess->state->sp] = guess->table->ends_frame;
	return true;
}

static bool scan(const struct guess *guess)
{
	uint64_t *sp = &guess->state->registers.value[guess->state->sp];

	for (unsigned i = 0; i < WORDS_MOST; i++) {
		uint64_t addr = *sp + i * guess->table->call_size, pc;

		if (!read_word(guess, addr, &pc))
			return false;
		if (!is_in_module(guess, pc) || !is_behind_call(guess, pc))
			continue;
		/* What keeps frames further out is still in its register. */
		guess->state->pc = pc;
		*sp = addr + guess->table->call_size;
		return true;
	}
	return false;
}

enum unwind_result guess_caller(const struct guess_place *place,
				struct unwind_state *state, bool *is_sure,
				bool *is_signal)
{
	const struct guess guess = {
		place, stack_table(place->table->arch), state,
	};
	const struct stack_return *from;
	unsigned popped;

	*is_signal = false;
	*is_sure = false;
	if (!guess.table)
		return UNWIND_UNKNOWN;
	from = find_return(&guess, &popped);
	if (from) {
		*is_signal = *is_sure = leave_handler(&guess,
						      from->less + popped);
		return *is_signal ? UNWIND_DONE : UNWIND_UNKNOWN;
	}
	if (place->is_exact && leave_call(&guess)) {
		*is_sure = true;
		return UNWIND_DONE;
	}
	if (arch_of_code(place->table->arch) == ARCH_ARM) {
		enum unwind_result result;

		if (leave_by_code(&guess))
			return UNWIND_DONE;
		result = leave_by_tables(&guess, is_sure, is_signal);
		if (result != UNWIND_UNKNOWN)
			return result;
		*is_sure = false;
	}
	if (place->is_exact && leave_leaf(&guess))
		return UNWIND_DONE;
	return leave_frame(&guess) || scan(&guess) ? UNWIND_DONE :
						     UNWIND_UNKNOWN;
}
