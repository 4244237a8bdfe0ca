/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_keep_old.c - a new recording never costs an old one */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/error.h"
#include "tests/unit/table.h"
#include "tools/keep_old.h"

/*
 * What FILE, FILE.old and FILE.old~ hold, one letter each, before, after a
 * run that writes a new FILE ("n"), and after one that writes none.
 */
struct row {
	const char *name;
	const char *before, *written, *not_written;
};

static const struct row rows[] = {
	{ "nothing before",	"---", "n--", "---" },
	{ "a file",		"a--", "na-", "a--" },
	{ "a file and an old one", "ab-", "na-", "ab-" },
	{ "an old one alone",	"-b-", "nb-", "-b-" },
	{ "a killed run's rest", "abc", "na-", "ab-" },
};

static const char *const names[] = { "x", "x.old", "x.old~" };

static void put(const char *name, char letter)
{
	FILE *file;

	unlink(name);
	if (letter == '-')
		return;
	file = fopen(name, "w");
	assert_non_null(file);
	fputc(letter, file);
	fclose(file);
}

static char get(const char *name)
{
	FILE *file = fopen(name, "r");
	int letter;

	if (!file)
		return '-';
	letter = fgetc(file);
	fclose(file);
	return (char)letter;
}

static void run(const struct row *row, bool writes, const char *after)
{
	struct failure why;
	struct keep_old keep;

	for (size_t i = 0; i < COUNT(names); i++)
		put(names[i], row->before[i]);
	assert_int_equal(keep_old_begin(&keep, "x", &why), 0);
	/* The recorder demands that there is nothing of this name. */
	assert_int_not_equal(access("x", F_OK), 0);
	if (writes)
		put("x", 'n');
	keep_old_end(&keep);
	for (size_t i = 0; i < COUNT(names); i++)
		assert_int_equal(get(names[i]), after[i]);
}

static void keep_row(void **state)
{
	const struct row *row = *state;

	run(row, true, row->written);
	run(row, false, row->not_written);
}

static void what_is_no_file_stays(void **state)
{
	struct failure why;
	struct keep_old keep;

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++)
		put(names[i], '-');
	assert_int_equal(mkdir("x", 0700), 0);
	assert_int_equal(keep_old_begin(&keep, "x", &why), ERR_INPUT);
	assert_int_equal(rmdir("x"), 0);
	assert_int_equal(symlink("elsewhere", "x"), 0);
	assert_int_equal(keep_old_begin(&keep, "x", &why), ERR_INPUT);
	assert_int_equal(unlink("x"), 0);
	put("x", 'a');
	assert_int_equal(mkdir("x.old", 0700), 0);
	assert_int_equal(keep_old_begin(&keep, "x", &why), ERR_INPUT);
	assert_int_equal(get("x"), 'a');
	assert_int_equal(rmdir("x.old"), 0);
	put("x", '-');
}

static void folder_that_is_not_there(void **state)
{
	struct failure why;
	struct keep_old keep;

	(void)state;
	assert_int_equal(keep_old_begin(&keep, "none/x", &why), 0);
	keep_old_end(&keep);
	put("x", 'a');
	assert_int_equal(keep_old_begin(&keep, "x/y", &why), ERR_SYSTEM);
	assert_string_equal(why.text, "cannot create 'x/y': Not a directory");
	put("x", '-');
}

int main(void)
{
	char folder[] = "/tmp/cprec-keep-old-XXXXXX";
	struct test_list list = { 0 };
	int status;

	if (!mkdtemp(folder) || chdir(folder))
		return 1;
	add_rows(&list, rows, keep_row);
	add_test(&list, "what is no file stays", what_is_no_file_stays, NULL);
	add_test(&list, "folder that is not there", folder_that_is_not_there,
		 NULL);
	status = run_list("keep_old", &list);
	for (size_t i = 0; i < COUNT(names); i++)
		unlink(names[i]);
	return chdir("/") || rmdir(folder) || status;
}
