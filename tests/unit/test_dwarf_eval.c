/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Expressions of debugging information: what they mean, by DWARF 5, section
 * 2.5; and that those without a meaning have none.
 */
#include "tests/unit/table.h"

#include <dwarf.h>
#include <stdbool.h>
#include <string.h>

#include "replayer/symbols/dwarf_eval.h"

#define BASE UINT64_C(0x1000)	/* of 16 bytes of memory: 0x00, 0x11, ... */
#define OPS_MOST 16u

static bool read_memory(void *context, uint64_t addr, void *bytes, size_t size)
{
	(void)context;
	if (addr < BASE || addr - BASE > 16 || size > 16 - (addr - BASE))
		return false;
	for (size_t i = 0; i < size; i++)
		((uint8_t *)bytes)[i] = (uint8_t)(0x11 * (addr - BASE + i));
	return true;
}

struct row {
	const char *name;
	bool is_good, is_address;
	uint64_t value;
	Dwarf_Op ops[OPS_MOST];	/* up to an atom of 0 */
};

#define OP(...) { __VA_ARGS__ }
#define LIT(n) OP(DW_OP_constu, n, 0, 0)

static const struct row rows[] = {
	{ "a literal", true, true, 7, { OP(DW_OP_lit0 + 7) } },
	{ "an address is moved with its module", true, true, 0x5010,
	  { OP(DW_OP_addr, 0x10) } },
	{ "a register and an offset", true, true, 0x1008,
	  { OP(DW_OP_breg0 + 3, 8) } },
	{ "the same, by its number", true, true, 0xff8,
	  { OP(DW_OP_bregx, 3, (Dwarf_Word)-8) } },
	{ "a register itself", true, false, 0x1000, { OP(DW_OP_reg0 + 3) } },
	{ "the same, by its number", true, false, 0x1000,
	  { OP(DW_OP_regx, 3) } },
	{ "a register that is not known", false, false, 0,
	  { OP(DW_OP_breg0 + 4, 0) } },
	{ "a register that there is not", false, false, 0,
	  { OP(DW_OP_bregx, UINT64_MAX, 0) } },
	{ "the frame's address", true, true, 0x2010,
	  { OP(DW_OP_call_frame_cfa), OP(DW_OP_plus_uconst, 16) } },
	{ "a value", true, false, 5, { LIT(5), OP(DW_OP_stack_value) } },
	{ "what memory holds", true, true, UINT64_C(0x7766554433221100),
	  { OP(DW_OP_breg0 + 3, 0), OP(DW_OP_deref) } },
	{ "two bytes of memory", true, true, 0x2211,
	  { OP(DW_OP_breg0 + 3, 1), OP(DW_OP_deref_size, 2) } },
	{ "memory that is not known", false, false, 0,
	  { OP(DW_OP_breg0 + 3, 9), OP(DW_OP_deref) } },
	{ "no bytes at all of memory", true, true, 0,
	  { OP(DW_OP_breg0 + 3, 0), OP(DW_OP_deref_size, 0) } },
	{ "too many bytes of memory", false, false, 0,
	  { OP(DW_OP_breg0 + 3, 0), OP(DW_OP_deref_size, 9) } },
	/* What binutils writes for the entries of a PLT. */
	{ "a table of jumps, before its push", true, true, 0x3008,
	  { OP(DW_OP_breg0 + 7, 8), OP(DW_OP_breg0 + 16, 0),
	    OP(DW_OP_lit0 + 15), OP(DW_OP_and), OP(DW_OP_lit0 + 11),
	    OP(DW_OP_ge), OP(DW_OP_lit0 + 3), OP(DW_OP_shl),
	    OP(DW_OP_plus) } },
	{ "minus", true, true, 3, { LIT(5), LIT(2), OP(DW_OP_minus) } },
	{ "division is signed", true, true, (uint64_t)-2,
	  { LIT((Dwarf_Word)-7), LIT(3), OP(DW_OP_div) } },
	{ "division by 0", false, false, 0,
	  { LIT(7), LIT(0), OP(DW_OP_div) } },
	{ "the quotient that there is not", true, true, UINT64_C(1) << 63,
	  { LIT(UINT64_C(1) << 63), LIT(UINT64_MAX), OP(DW_OP_div) } },
	{ "the rest is not", true, true, 1,
	  { LIT(7), LIT(3), OP(DW_OP_mod) } },
	{ "the rest of 0", false, false, 0, { LIT(7), LIT(0), OP(DW_OP_mod) } },
	{ "a shift with the sign", true, true, UINT64_MAX,
	  { LIT(UINT64_C(1) << 63), LIT(63), OP(DW_OP_shra) } },
	{ "a shift by too much", true, true, 0,
	  { LIT(1), LIT(64), OP(DW_OP_shl) } },
	{ "comparisons are signed", true, true, 1,
	  { LIT(UINT64_MAX), LIT(1), OP(DW_OP_lt) } },
	{ "rot", true, true, 2,
	  { LIT(1), LIT(2), LIT(3), OP(DW_OP_rot) } },
	{ "rot moves the top to the third place", true, true, 3,
	  { LIT(1), LIT(2), LIT(3), OP(DW_OP_rot), OP(DW_OP_drop),
	    OP(DW_OP_drop) } },
	{ "pick", true, true, 1,
	  { LIT(1), LIT(2), LIT(3), OP(DW_OP_pick, 2) } },
	{ "pick below the stack", false, false, 0,
	  { LIT(1), OP(DW_OP_pick, 1) } },
	{ "swap", true, true, 1, { LIT(1), LIT(2), OP(DW_OP_swap) } },
	{ "an empty stack", false, false, 0, { OP(DW_OP_drop) } },
	{ "half an operation", false, false, 0, { LIT(1), OP(DW_OP_plus) } },
	{ "a jump", true, true, 1,
	  { OP(DW_OP_lit0 + 1, 0, 0, 0), OP(DW_OP_skip, 1, 0, 1),
	    OP(DW_OP_drop, 0, 0, 4), OP(DW_OP_nop, 0, 0, 5) } },
	{ "a jump that is not taken", true, true, 2,
	  { OP(DW_OP_lit0, 0, 0, 0), OP(DW_OP_bra, 1, 0, 1),
	    OP(DW_OP_lit0 + 2, 0, 0, 4), OP(DW_OP_nop, 0, 0, 5) } },
	{ "a jump to the end", true, true, 1,
	  { OP(DW_OP_lit0 + 1, 0, 0, 0), OP(DW_OP_skip, 1, 0, 1),
	    OP(DW_OP_drop, 0, 0, 4) } },
	{ "a jump into the middle", false, false, 0,
	  { OP(DW_OP_lit0 + 1, 0, 0, 0), OP(DW_OP_skip, 1, 0, 1),
	    OP(DW_OP_const2u, 5, 0, 4), OP(DW_OP_nop, 0, 0, 9) } },
	{ "a loop", false, false, 0,
	  { OP(DW_OP_skip, (Dwarf_Word)-3, 0, 0) } },
	{ "a loop that fills the stack", false, false, 0,
	  { OP(DW_OP_lit0 + 1, 0, 0, 0),
	    OP(DW_OP_skip, (Dwarf_Word)-4, 0, 1) } },
	{ "an unknown operation", false, false, 0, { LIT(1), OP(0xff) } },
};

static void evaluates(void **state)
{
	const struct row *row = *state;
	const struct guest_reader memory = { read_memory, NULL };
	const struct dwarf_registers registers = {
		.value = { [3] = BASE, [7] = 0x3000, [16] = 0x401023 },
		.known = { [3] = true, [7] = true, [16] = true },
	};
	const struct dwarf_machine machine = {
		.registers = &registers, .memory = &memory, .bias = 0x5000,
		.has_cfa = true, .cfa = 0x2000,
	};
	struct dwarf_result result;
	size_t count = 0;

	while (count < OPS_MOST && row->ops[count].atom)
		count++;
	assert_int_equal(dwarf_eval(&machine, row->ops, count, &result),
			 row->is_good);
	if (!row->is_good)
		return;
	assert_int_equal(result.value, row->value);
	assert_int_equal(result.is_address, row->is_address);
}

static void nothing_has_no_value(void **state)
{
	const struct guest_reader memory = { read_memory, NULL };
	const struct dwarf_registers registers = { .known = { false } };
	const struct dwarf_machine machine = { .registers = &registers,
					       .memory = &memory };
	const Dwarf_Op cfa = { .atom = DW_OP_call_frame_cfa };
	struct dwarf_result result;

	(void)state;
	assert_false(dwarf_eval(&machine, NULL, 0, &result));
	assert_false(dwarf_eval(&machine, &cfa, 1, &result));
}

int main(void)
{
	static struct test_list list;

	add_rows(&list, rows, evaluates);
	add_test(&list, "nothing", nothing_has_no_value, NULL);
	return run_list("dwarf_eval", &list);
}
