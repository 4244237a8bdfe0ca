/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_print.c - how answers look */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/table.h"
#include "tools/print.h"

struct text_row {
	const char *name;
	const char *text;
	const char *escaped;	/* print_escaped() */
	const char *json;	/* json_text() */
};

#define FFFD "\xef\xbf\xbd"

static const struct text_row text_rows[] = {
	{ "plain text", "ls -l", "ls -l", "ls -l" },
	{ "UTF-8", "gr\xc3\xbc\xc3\x9f" "e", "gr\xc3\xbc\xc3\x9f" "e",
	  "gr\xc3\xbc\xc3\x9f" "e" },
	{ "characters that move the cursor", "a\n\x1b[2Jb", "a\\x0a\\x1b[2Jb",
	  "a\n\x1b[2Jb" },
	{ "a control character of two bytes", "a\xc2\x9b" "2J\xc2\xa0",
	  "a\\xc2\\x9b2J\xc2\xa0", "a\xc2\x9b" "2J\xc2\xa0" },
	{ "a backslash", "a\\b", "a\\\\b", "a\\b" },
	{ "bytes that are not UTF-8", "a\xff" "b\xc3", "a\\xffb\\xc3",
	  "a" FFFD "b" FFFD },
	{ "a UTF-8 surrogate", "\xed\xa0\x80", "\\xed\\xa0\\x80",
	  FFFD FFFD FFFD },
	{ "nothing", "", "", "" },
};

static void show_text(void **state)
{
	const struct text_row *row = *state;
	char *shown = NULL;
	size_t size;
	FILE *out = open_memstream(&shown, &size);
	json_t *json = json_text(row->text);

	assert_non_null(out);
	print_escaped(out, row->text, strlen(row->text));
	fclose(out);
	assert_string_equal(shown, row->escaped);
	free(shown);
	assert_non_null(json);
	assert_string_equal(json_string_value(json), row->json);
	json_decref(json);
}

static void show_memory(void **state)
{
	uint8_t bytes[18] = "\x00hello, world\xff~?!";
	uint8_t known[18];
	char *shown = NULL;
	char *text;
	size_t size;
	FILE *out = open_memstream(&shown, &size);

	(void)state;
	assert_non_null(out);
	memset(known, 1, sizeof(known));
	known[1] = 0;
	known[17] = 0;
	print_memory(out, 0x401ffc, bytes, known, sizeof(bytes));
	fclose(out);
	assert_string_equal(
		shown,
		"  000000401ffc:  00 ?? 65 6c 6c 6f 2c 20"
		"  77 6f 72 6c 64 ff 7e 3f  |.?ello, world.~?|\n"
		"  00000040200c:  21 ??                  "
		"                           |!?|\n");
	free(shown);
	text = memory_text(bytes, known, 4);
	assert_string_equal(text, "00??656c");
	free(text);
}

static void show_registers(void **state)
{
	const struct reg_table *table = reg_table(ARCH_X86_64);
	struct reg_file file = { 0 };
	char text[REGISTER_TEXT];

	(void)state;
	reg_set(table, &file, X86_RBX, 0xabc);
	register_text(text, &table->regs[X86_RBX], &file);
	assert_string_equal(text, "0x0000000000000abc");
	reg_set(table, &file, X86_CS, 0x33);
	register_text(text, &table->regs[X86_CS], &file);
	assert_string_equal(text, "0x0033");
	for (unsigned i = 0; i < 16; i++)
		file.bytes[table->regs[X86_XMM15].offset + i] = (uint8_t)i;
	register_text(text, &table->regs[X86_XMM15], &file);
	assert_string_equal(text, "0x0f0e0d0c0b0a09080706050403020100");
}

static void counts_of_64_bits(void **state)
{
	json_t *small = json_count(INT64_MAX), *large = json_count(UINT64_MAX);

	(void)state;
	assert_true(json_integer_value(small) == INT64_MAX);
	assert_true(json_is_real(large));
	json_decref(small);
	json_decref(large);
}

int main(void)
{
	struct test_list list = { 0 };

	add_rows(&list, text_rows, show_text);
	add_test(&list, "memory", show_memory, NULL);
	add_test(&list, "registers", show_registers, NULL);
	add_test(&list, "counts of 64 bits", counts_of_64_bits, NULL);
	return run_list("print", &list);
}
