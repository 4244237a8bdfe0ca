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
 * run that writes a new FILE ("n"), and after one that writes none.  A capital
 * letter has a folder with it, a point is a folder alone.
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
	{ "a family",		"A--", "nA-", "A--" },
	{ "a family and an old file", "Ab-", "nA-", "Ab-" },
	{ "a file and an old family", "aB-", "na-", "aB-" },
	{ "two families",	"AB-", "nA-", "AB-" },
	{ "rests of three",	"ABC", "nA-", "AB-" },
	{ "a folder alone",	".--", "n.-", ".--" },
	{ "a folder alone, and an old family", ".B-", "n.-", ".B-" },
};

static const char *const names[] = { "x", "x.old", "x.old~" };

static void write_letter(const char *name, char letter)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	fputc(letter, file);
	fclose(file);
}

static void put(const char *name, char letter)
{
	char folder[20], child[30];

	snprintf(folder, sizeof(folder), "%s.d", name);
	snprintf(child, sizeof(child), "%s/7-2.cpr", folder);
	unlink(name);
	unlink(child);
	rmdir(folder);
	if (letter != '-' && letter != '.')
		write_letter(name, letter);
	if (letter != '.' && (letter < 'A' || letter > 'Z'))
		return;
	assert_int_equal(mkdir(folder, 0700), 0);
	write_letter(child, letter);
}

static char read_letter(const char *name)
{
	FILE *file = fopen(name, "r");
	int letter;

	if (!file)
		return '-';
	letter = fgetc(file);
	fclose(file);
	return (char)letter;
}

/* The folder must be that of the file, and there only if it has one. */
static char get(const char *name)
{
	char child[30], letter = read_letter(name), of_folder;

	snprintf(child, sizeof(child), "%s.d/7-2.cpr", name);
	of_folder = read_letter(child);
	if (letter == '-')
		return of_folder;
	if (letter < 'A' || letter > 'Z')
		assert_int_equal(of_folder, '-');
	else
		assert_int_equal(of_folder, letter);
	return letter;
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
		put(names[i], '-');
	return chdir("/") || rmdir(folder) || status;
}
