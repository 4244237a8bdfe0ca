/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_location_values.c - numbers with types, in expressions of DWARF */
#include <dwarf.h>

#include "replayer/expressions/location_values.h"
#include "tests/unit/table.h"

#define GENERIC { 0, false }
#define INT { 4, true }
#define UNSIGNED { 4, false }
#define LONG { 8, true }
#define CHAR { 1, true }

struct row {
	const char *name;
	unsigned atom;
	struct location_type type;
	uint64_t left, right;
	uint64_t result;
};

static const struct row binaries[] = {
	{ "int / int", DW_OP_div, INT, (uint64_t)-48, 24, (uint64_t)-2 },
	{ "unsigned / unsigned", DW_OP_div, UNSIGNED, 0xfffffff0, 16,
	  0x0fffffff },
	{ "generic / generic", DW_OP_div, GENERIC, (uint64_t)-48, 24,
	  (uint64_t)-2 },
	{ "int % int", DW_OP_mod, INT, (uint64_t)-7, 4, (uint64_t)-3 },
	{ "generic % generic", DW_OP_mod, GENERIC, UINT64_MAX, 16, 15 },
	{ "int + int wraps", DW_OP_plus, INT, INT32_MAX, 1,
	  (uint64_t)INT32_MIN },
	{ "unsigned - unsigned wraps", DW_OP_minus, UNSIGNED, 1, 2,
	  UINT32_MAX },
	{ "char * char wraps", DW_OP_mul, CHAR, 100, 2, (uint64_t)-56 },
	{ "int < int", DW_OP_lt, INT, (uint64_t)-1, 1, 1 },
	{ "unsigned < unsigned", DW_OP_lt, UNSIGNED, UINT32_MAX, 1, 0 },
	{ "long >= long", DW_OP_ge, LONG, (uint64_t)-1, (uint64_t)-1, 1 },
	{ "int shr", DW_OP_shr, INT, (uint64_t)-16, 4, 0x0fffffff },
	{ "int shra", DW_OP_shra, INT, (uint64_t)-16, 4, (uint64_t)-1 },
	{ "shl by too much", DW_OP_shl, GENERIC, 1, 64, 0 },
};

static void compute(void **state)
{
	const struct row *row = *state;
	const struct location_value left = { row->left, row->type },
				    right = { row->right, row->type };
	struct location_value out;

	assert_true(location_binary(row->atom, &left, &right, &out));
	assert_int_equal(out.bits, row->result);
}

static void refuse(void **state)
{
	const struct location_value zero = { .type = INT },
				    least = { .bits = (uint64_t)INT64_MIN },
				    minus = { .bits = UINT64_MAX };
	struct location_value out = zero;

	(void)state;
	assert_false(location_binary(DW_OP_div, &zero, &zero, &out));
	assert_false(location_binary(DW_OP_mod, &zero, &zero, &out));
	assert_false(location_binary(DW_OP_div, &least, &minus, &out));
	assert_false(location_binary(DW_OP_neg, &zero, &zero, &out));
	assert_false(location_unary(DW_OP_plus, &out));
}

static void convert(void **state)
{
	const struct location_type narrow = INT, bare = UNSIGNED, wide = LONG;
	struct location_value value = { .bits = 0x1fffffffe };

	(void)state;
	value = location_value_as(value, narrow);
	assert_int_equal(value.bits, (uint64_t)-2);
	assert_int_equal(location_value_as(value, wide).bits, (uint64_t)-2);
	assert_int_equal(location_value_as(value, bare).bits, 0xfffffffe);
	assert_true(location_unary(DW_OP_neg, &value));
	assert_int_equal(value.bits, 2);
	assert_true(location_unary(DW_OP_not, &value));
	assert_int_equal(value.bits, (uint64_t)-3);
	assert_true(location_unary(DW_OP_abs, &value));
	assert_int_equal(value.bits, 3);
}

int main(void)
{
	struct test_list list = { 0 };

	add_rows(&list, binaries, compute);
	add_test(&list, "what has no result", refuse, NULL);
	add_test(&list, "types", convert, NULL);
	return run_list("location_values", &list);
}
