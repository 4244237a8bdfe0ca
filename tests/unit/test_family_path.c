/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_family_path.c - names of recordings of one family */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/family_path.h"
#include "tests/unit/table.h"

struct name_row {
	const char *name;
	uint32_t pid, turn;	/* 0: it is no such name */
};

static const struct name_row name_rows[] = {
	{ "1.cpr", 1, 1 },
	{ "1234.cpr", 1234, 1 },
	{ "4294967295.cpr", 4294967295, 1 },
	{ "1234-2.cpr", 1234, 2 },
	{ "7-10.cpr", 7, 10 },
	{ "4294967296.cpr", 0, 0 },
	{ "99999999999999999999.cpr", 0, 0 },
	{ "0.cpr", 0, 0 },
	{ "012.cpr", 0, 0 },
	{ "-1.cpr", 0, 0 },
	{ "+1.cpr", 0, 0 },
	{ " 1.cpr", 0, 0 },
	{ "12-1.cpr", 0, 0 },
	{ "12-0.cpr", 0, 0 },
	{ "12-02.cpr", 0, 0 },
	{ "12-.cpr", 0, 0 },
	{ "12-2-3.cpr", 0, 0 },
	{ "12-4294967296.cpr", 0, 0 },
	{ "12", 0, 0 },
	{ "12.cpr.old", 0, 0 },
	{ "x12.cpr", 0, 0 },
	{ "12x.cpr", 0, 0 },
	{ ".cpr", 0, 0 },
	{ "", 0, 0 },
};

static void name_row(void **state)
{
	const struct name_row *row = *state;
	struct family_member member;
	char name[FAMILY_NAME_ROOM];

	assert_int_equal(family_name_parse(&member, row->name), row->pid != 0);
	if (!row->pid)
		return;
	assert_int_equal(member.pid, row->pid);
	assert_int_equal(member.turn, row->turn);
	family_name(name, &member);
	assert_string_equal(name, row->name);
}

static void longest_name(void **state)
{
	struct family_member member = { UINT32_MAX, UINT32_MAX }, found;
	char name[FAMILY_NAME_ROOM];

	(void)state;
	family_name(name, &member);
	assert_true(family_name_parse(&found, name));
	assert_memory_equal(&found, &member, sizeof(member));
}

/* Of files that are not there, and folders that are: see main(). */
struct path_row {
	const char *name;	/* the path */
	const char *first;	/* NULL: "x.cpr" in the present folder */
	uint32_t pid;		/* 0: it is the first one */
};

static const struct path_row path_rows[] = {
	{ "trace.cpr", "trace.cpr", 0 },
	{ "a/b/out", "a/b/out", 0 },
	{ "trace.cpr.d/12.cpr", "trace.cpr", 12 },
	{ "a/out.d/12.cpr", "a/out", 12 },
	{ "/a/out.d/12.cpr", "/a/out", 12 },
	{ "out.d//12.cpr", "out", 12 },
	{ "out.d/x.cpr", "out.d/x.cpr", 0 },
	{ "out/12.cpr", "out/12.cpr", 0 },
	{ ".d/12.cpr", ".d/12.cpr", 0 },
	{ "a/.d/12.cpr", "a/.d/12.cpr", 0 },
	{ "12.cpr", "12.cpr", 0 },
	{ "/12.cpr", "/12.cpr", 0 },
	{ "x.cpr.d/in/../12.cpr", NULL, 12 },
	{ "x.cpr.d/./12.cpr", NULL, 12 },
	{ "folder/12.cpr", NULL, 12 },
	{ "link", NULL, 12 },
};

static void path_row(void **state)
{
	const struct path_row *row = *state;
	struct family_path path;
	char expected[200], folder[210];

	if (row->first)
		snprintf(expected, sizeof(expected), "%s", row->first);
	else
		assert_non_null(getcwd(expected, 100));
	if (!row->first)
		strncat(expected, "/x.cpr", 10);
	snprintf(folder, sizeof(folder), "%s.d", expected);
	assert_int_equal(family_path_find(&path, row->name), 0);
	assert_string_equal(path.first, expected);
	assert_string_equal(path.folder, folder);
	assert_int_equal(path.is_member, row->pid != 0);
	if (row->pid)
		assert_int_equal(path.member.pid, row->pid);
	family_path_release(&path);
}

/* As `cprec info 12.cpr` in the folder. */
static void inside(void **state)
{
	struct family_path path;
	char expected[200];

	(void)state;
	assert_non_null(getcwd(expected, 100));
	strncat(expected, "/x.cpr", 10);
	assert_int_equal(chdir("x.cpr.d"), 0);
	assert_int_equal(family_path_find(&path, "12.cpr"), 0);
	assert_string_equal(path.first, expected);
	assert_true(path.is_member);
	family_path_release(&path);
	assert_int_equal(chdir(".."), 0);
}

int main(void)
{
	char place[] = "/tmp/cprec-family-path-XXXXXX";
	struct test_list list = { 0 };
	int status;

	if (!mkdtemp(place) || chdir(place) || mkdir("x.cpr.d", 0700) ||
	    mkdir("x.cpr.d/in", 0700) || symlink("x.cpr.d", "folder") ||
	    symlink("x.cpr.d/12.cpr", "link") ||
	    mknod("x.cpr.d/12.cpr", S_IFREG | 0600, 0))
		return 1;
	add_rows(&list, name_rows, name_row);
	add_test(&list, "the longest name", longest_name, NULL);
	add_rows(&list, path_rows, path_row);
	add_test(&list, "inside the folder", inside, NULL);
	status = run_list("family_path", &list);
	unlink("link");
	unlink("folder");
	unlink("x.cpr.d/12.cpr");
	rmdir("x.cpr.d/in");
	rmdir("x.cpr.d");
	return chdir("/") || rmdir(place) || status;
}
