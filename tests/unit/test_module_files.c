/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_module_files.c - builds and kept files of modules from and to bytes */
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "formats/module_files.h"
#include "tests/unit/table.h"

struct row {
	const char *name;
	int expected;
	size_t count;		/* of modules */
	size_t length;
	uint8_t bytes[80];
};

/* The largest that a file may be, and one more. */
#define MOST 0xff, 0xff, 0xff, 0xff, 0x0f
#define TOO_MUCH 0x80, 0x80, 0x80, 0x80, 0x10

static const struct row rows[] = {
	{ "no module", 0, 0, 0, { 0 } },
	{ "a module of which nothing is known", 0, 1, 6, { 1, 'm', 0, 0, 0, 0 } },
	{ "a build id", 0, 1, 8, { 1, 'm', 2, 0xab, 0xcd, 0, 0, 0 } },
	{ "a build id of 64 bytes", 0, 1, 70, { 1, 'm', 64 } },
	{ "a build id of 65 bytes", ERR_CORRUPT, 0, 71, { 1, 'm', 65 } },
	{ "its own file", 0, 1, 8, { 1, 'm', 0, 9, 0, 1, 0, 0 } },
	{ "all files, one of them of a member", 0, 1, 12,
	  { 1, 'm', 0, 9, 0, 1, 7, 2, 1, 5, 0, 2 } },
	{ "a file of 2^32 - 1 bytes", 0, 1, 12,
	  { 1, 'm', 0, MOST, 0, 1, 0, 0 } },
	{ "a file of 2^32 bytes", ERR_CORRUPT, 0, 12,
	  { 1, 'm', 0, TOO_MUCH, 0, 1, 0, 0 } },
	{ "kept file 0", ERR_CORRUPT, 0, 8, { 1, 'm', 0, 9, 0, 0, 0, 0 } },
	{ "kept file 2^32", ERR_CORRUPT, 0, 12,
	  { 1, 'm', 0, 9, 0, TOO_MUCH, 0, 0 } },
	{ "member 2^32", ERR_CORRUPT, 0, 12,
	  { 1, 'm', 0, 9, TOO_MUCH, 1, 0, 0 } },
	{ "two modules", 0, 2, 12,
	  { 1, 'm', 0, 0, 0, 0, 1, 'n', 0, 0, 0, 0 } },
	{ "the second of two is bad", ERR_CORRUPT, 0, 11,
	  { 1, 'm', 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
	{ "the second of two is cut off", ERR_TRUNCATED, 0, 11,
	  { 1, 'm', 0, 0, 0, 0, 1, 'n', 0, 0, 0 } },
	{ "no path", ERR_CORRUPT, 0, 5, { 0, 0, 0, 0, 0 } },
	{ "a path with a NUL", ERR_CORRUPT, 0, 6, { 1, 0, 0, 0, 0, 0 } },
	{ "a path of 4097 bytes", ERR_CORRUPT, 0, 6,
	  { 0x81, 0x20, 'm', 'm', 'm', 'm' } },
	{ "a byte behind the modules", ERR_TRUNCATED, 0, 7,
	  { 1, 'm', 0, 0, 0, 0, 1 } },
};

static int decode(const struct row *row, size_t size,
		  struct module_list *modules)
{
	/* Bytes of their own, so that a sanitizer sees their end. */
	uint8_t *bytes = malloc(size + !size);
	int rc;

	assert_non_null(bytes);
	memcpy(bytes, row->bytes, size);
	rc = module_files_decode(modules, bytes, size);
	free(bytes);
	return rc;
}

static void modules_row(void **state)
{
	const struct row *row = *state;
	struct module_list modules = { 0 };
	struct output out = { 0 };

	assert_int_equal(decode(row, row->length, &modules), row->expected);
	assert_int_equal(modules.count, row->count);
	for (size_t i = 0; i < modules.count; i++)
		module_files_encode(&out, &modules.list[i]);
	if (!row->expected) {
		assert_int_equal(out.size, row->length);
		assert_true(!out.size ||
			    !memcmp(out.bytes, row->bytes, row->length));
	}
	module_files_release(&modules);
	output_release(&out);
}

/* But where one module ends, and another could begin. */
static void every_prefix_is_truncated(void **state)
{
	const struct row *row = &rows[6];
	struct module_list modules = { 0 };

	(void)state;
	for (size_t n = 1; n < row->length; n++)
		assert_int_equal(decode(row, n, &modules), ERR_TRUNCATED);
	module_files_release(&modules);
}

static void first_of_a_path(void **state)
{
	static const uint8_t bytes[] = { 1, 'm', 1, 7, 0, 0, 0,
					 1, 'm', 1, 8, 0, 0, 0 };
	struct module_list modules = { 0 };
	char text[BUILD_ID_TEXT];

	(void)state;
	assert_int_equal(module_files_decode(&modules, bytes, sizeof(bytes)),
			 0);
	assert_ptr_equal(module_files_find(&modules, "m"), modules.list);
	assert_null(module_files_find(&modules, "mm"));
	assert_string_equal(build_id_text(text, &modules.list[1].build_id),
			    "08");
	module_files_release(&modules);
}

/* Little of a file must not take much memory. */
static void content_above_4_mib(void **state)
{
	size_t size = (4u << 20) + 1;
	uint8_t *bytes = calloc(size, 1);
	struct module_list modules = { 0 };

	(void)state;
	assert_non_null(bytes);
	bytes[0] = 1;
	bytes[1] = 'm';
	assert_int_equal(module_files_decode(&modules, bytes, size),
			 ERR_CORRUPT);
	free(bytes);
}

int main(void)
{
	static struct test_list tests;

	add_rows(&tests, rows, modules_row);
	add_test(&tests, "every prefix", every_prefix_is_truncated, NULL);
	add_test(&tests, "the first of a path", first_of_a_path, NULL);
	add_test(&tests, "content above 4 MiB", content_above_4_mib, NULL);
	return run_list("module_files", &tests);
}
