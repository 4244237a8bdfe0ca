/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_symbols.c - symbols from and to bytes, and looking them up */
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "formats/symbols.h"
#include "tests/unit/table.h"

struct row {
	const char *name;
	int expected;
	size_t length;
	uint8_t bytes[32];
};

/* Path "m", loaded from page 1, 32 bytes, at offset 0. */
#define HEAD 1, 'm', 1, 32, 0

static const struct row rows[] = {
	{ "no symbols", 0, 6, { HEAD, 0 } },
	{ "a symbol", 0, 11, { HEAD, 1, 16, 4, 2, 1, 'f' } },
	{ "a symbol without a name", 0, 10, { HEAD, 1, 16, 4, 0, 0 } },
	{ "two symbols", 0, 16,
	  { HEAD, 2, 16, 4, 2, 1, 'f', 0, 0, 1, 1, 'g' } },
	{ "two symbols that are equal", 0, 16,
	  { HEAD, 2, 16, 4, 2, 1, 'f', 0, 0, 1, 1, 'f' } },
	{ "names that are not in order", ERR_CORRUPT, 16,
	  { HEAD, 2, 16, 4, 2, 1, 'g', 0, 0, 1, 1, 'f' } },
	{ "names in order of their addresses", 0, 16,
	  { HEAD, 2, 16, 4, 2, 1, 'g', 1, 0, 1, 1, 'f' } },
	{ "a function of Thumb code", 0, 11, { HEAD, 1, 16, 4, 3, 1, 'f' } },
	{ "type 4", ERR_CORRUPT, 11, { HEAD, 1, 16, 4, 4, 1, 'f' } },
	{ "type 130", ERR_CORRUPT, 11, { HEAD, 1, 16, 4, 130, 1, 'f' } },
	{ "a name with a NUL", ERR_CORRUPT, 12,
	  { HEAD, 1, 16, 4, 2, 2, 'f', 0 } },
	{ "a path with a NUL", ERR_CORRUPT, 6, { 1, 0, 1, 32, 0, 0 } },
	{ "a path of 4097 bytes", ERR_CORRUPT, 6,
	  { 0x81, 0x20, 'm', 'm', 'm', 'm' } },
	{ "a byte behind the symbols", ERR_CORRUPT, 7, { HEAD, 0, 0 } },
	{ "more symbols than bytes", ERR_TRUNCATED, 11,
	  { HEAD, 2, 16, 4, 2, 1, 'f' } },
	{ "2^63 symbols", ERR_TRUNCATED, 19,
	  { HEAD, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1,
	    0, 0, 0, 0 } },
	{ "a module that ends above 2^64", ERR_CORRUPT, 15,
	  { 1, 'm', 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	    1, 0, 0 } },
	{ "an address above 2^64", ERR_CORRUPT, 25,
	  { HEAD, 2, 16, 4, 2, 1, 'f',
	    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1,
	    0, 0, 1, 'g' } },
};

static int decode(const struct row *row, size_t size, struct symbols *symbols)
{
	/* Bytes of their own, so that a sanitizer sees their end. */
	uint8_t *bytes = malloc(size + !size);
	int rc;

	assert_non_null(bytes);
	memcpy(bytes, row->bytes, size);
	rc = symbols_decode(symbols, bytes, size);
	free(bytes);
	return rc;
}

static void symbols_row(void **state)
{
	const struct row *row = *state;
	struct symbols symbols = { 0 };
	struct output out = { 0 };

	assert_int_equal(decode(row, row->length, &symbols), row->expected);
	if (row->expected) {
		assert_null(symbols.list);
		return;
	}
	assert_string_equal(symbols.path, "m");
	assert_int_equal(symbols.link_base, 0x1000);
	assert_int_equal(symbols.link_end, 0x1020);
	symbols_encode(&out, &symbols);
	assert_int_equal(out.size, row->length);
	assert_memory_equal(out.bytes, row->bytes, row->length);
	symbols_release(&symbols);
	output_release(&out);
	for (size_t n = 0; n < row->length; n++)
		assert_int_equal(decode(row, n, &symbols), ERR_TRUNCATED);
}

/* ------- looking up ------- */

static struct symbol list[] = {
	{ 0x1000, 0, SYMBOL_OTHER, "start" },
	{ 0x1010, 0x100, SYMBOL_FUNCTION, "outer" },
	{ 0x1020, 4, SYMBOL_FUNCTION, "inner" },
	{ 0x1020, 4, SYMBOL_OTHER, "inner_label" },
	{ 0x1030, 0, SYMBOL_OTHER, "label" },
	{ 0x1200, 8, SYMBOL_OTHER, "alias" },
	{ 0x1200, 8, SYMBOL_OBJECT, "counter" },
	{ 0x1300, 0, SYMBOL_FUNCTION, "assembly" },
	{ 0x1400, 0, SYMBOL_OTHER, "twin" },
	{ 0x1500, 8, SYMBOL_OBJECT, "twin" },
	{ 0x1508, 4, SYMBOL_OBJECT, "optind@GLIBC_2.2.5" },
	{ UINT64_MAX, 8, SYMBOL_OBJECT, "far" },
};

static const struct symbols symbols = {
	.link_base = 0x1000,
	.link_end = 0x1600,
	.list = list,
	.count = COUNT(list),
};

struct lookup_row {
	const char *name;
	uint64_t addr;
	const char *expected;
};

static const struct lookup_row lookup_rows[] = {
	{ "below the module", 0xfff, NULL },
	{ "a label without size", 0x1000, "start" },
	{ "behind a label without size", 0x100f, "start" },
	{ "the start of a function", 0x1010, "outer" },
	{ "a function inside another", 0x1023, "inner" },
	{ "behind a function inside another", 0x1024, "outer" },
	{ "a label inside a function", 0x1030, "outer" },
	{ "the end of a function", 0x110f, "outer" },
	{ "behind the end of a function", 0x1110, "label" },
	{ "an object before another symbol", 0x1207, "counter" },
	{ "between symbols", 0x1208, NULL },
	{ "a function without size", 0x13ff, "assembly" },
	{ "behind the last one", 0x150c, NULL },
	{ "behind the module", 0x1600, NULL },
	{ "the last address", UINT64_MAX, NULL },
};

static void lookup_row(void **state)
{
	const struct lookup_row *row = *state;
	const struct symbol *found = symbols_at(&symbols, row->addr);

	if (!row->expected) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found->name, row->expected);
}

static void find_by_name(void **state)
{
	static const struct symbols none;

	(void)state;
	assert_ptr_equal(symbols_find(&symbols, "start"), &list[0]);
	assert_ptr_equal(symbols_find(&symbols, "counter"), &list[6]);
	/* An object is preferred to a label of the same name. */
	assert_ptr_equal(symbols_find(&symbols, "twin"), &list[9]);
	/* Versions are the linker's. */
	assert_ptr_equal(symbols_find(&symbols, "optind"), &list[10]);
	assert_ptr_equal(symbols_find(&symbols, "optind@GLIBC_2.2.5"),
			 &list[10]);
	assert_null(symbols_find(&symbols, "optind@GLIBC_2.3"));
	assert_null(symbols_find(&symbols, "opt"));
	assert_ptr_equal(symbols_find(&symbols, "counter@V1"), &list[6]);
	assert_null(symbols_find(&symbols, "@GLIBC_2.2.5"));
	assert_null(symbols_find(&symbols, "count"));
	assert_null(symbols_find(&symbols, ""));
	assert_null(symbols_find(&none, "start"));
	assert_null(symbols_at(&none, 0));
}

int main(void)
{
	static struct test_list tests;

	add_rows(&tests, rows, symbols_row);
	add_rows(&tests, lookup_rows, lookup_row);
	add_test(&tests, "find by name", find_by_name, NULL);
	return run_list("symbols", &tests);
}
