/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_folder.c - the folder of a family, and the files in it */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/folder.h"
#include "tests/unit/table.h"

static bool is_there(const char *path)
{
	struct stat status;

	return !lstat(path, &status);
}

/* Makes the file of a process; returns its turn, or an error. */
static int make(const struct folder *folder, uint32_t pid)
{
	struct family_member member = { .pid = pid };
	int fd = folder_create(folder, &member);

	if (fd < 0)
		return fd;
	close(fd);
	return (int)member.turn;
}

static void is_made_when_needed(void **state)
{
	struct folder folder;

	(void)state;
	assert_int_equal(folder_open(&folder, "t.cpr"), 0);
	assert_false(is_there("t.cpr.d"));
	folder_make(&folder);
	assert_true(is_there("t.cpr.d"));
	folder_make(&folder);
	folder_drop_empty(&folder);
	assert_false(is_there("t.cpr.d"));
	/* A file that is made after all brings it back. */
	assert_int_equal(make(&folder, 5), 1);
	assert_true(is_there("t.cpr.d/5.cpr"));
	folder_close(&folder);
	assert_int_equal(unlink("t.cpr.d/5.cpr") || rmdir("t.cpr.d"), 0);
}

static void numbers_come_again(void **state)
{
	struct folder folder;

	(void)state;
	assert_int_equal(folder_open(&folder, "t.cpr"), 0);
	folder_make(&folder);
	assert_int_equal(make(&folder, 5), 1);
	assert_int_equal(make(&folder, 5), 2);
	assert_int_equal(make(&folder, 6), 1);
	assert_int_equal(make(&folder, 5), 3);
	folder_drop_empty(&folder);
	folder_close(&folder);
	assert_int_equal(unlink("t.cpr.d/5.cpr") || unlink("t.cpr.d/5-2.cpr") ||
				 unlink("t.cpr.d/5-3.cpr") ||
				 unlink("t.cpr.d/6.cpr") || rmdir("t.cpr.d"),
			 0);
}

/* It is held: another one of its name is not it. */
static void renamed(void **state)
{
	struct folder folder;

	(void)state;
	assert_int_equal(folder_open(&folder, "t.cpr"), 0);
	folder_make(&folder);
	assert_int_equal(rename("t.cpr.d", "other.d"), 0);
	assert_int_equal(mkdir("t.cpr.d", 0700), 0);
	assert_int_equal(make(&folder, 5), 1);
	folder_drop_empty(&folder);
	folder_close(&folder);
	assert_int_equal(unlink("other.d/5.cpr") || rmdir("other.d") ||
				 rmdir("t.cpr.d"), 0);
}

static void cannot_be_made(void **state)
{
	struct folder folder;

	(void)state;
	assert_int_equal(folder_open(&folder, "none/t.cpr"), 0);
	folder_make(&folder);
	assert_int_equal(make(&folder, 5), -EBADF);
	folder_close(&folder);
	assert_int_equal(symlink("/tmp", "t.cpr.d"), 0);
	assert_int_equal(folder_open(&folder, "t.cpr"), 0);
	folder_make(&folder);
	assert_int_equal(make(&folder, 5), -ENOTDIR);
	folder_close(&folder);
	assert_int_equal(unlink("t.cpr.d"), 0);
}

int main(void)
{
	char place[] = "/tmp/cprec-folder-XXXXXX";
	struct test_list list = { 0 };
	int status;

	if (!mkdtemp(place) || chdir(place))
		return 1;
	add_test(&list, "is made when needed", is_made_when_needed, NULL);
	add_test(&list, "numbers come again", numbers_come_again, NULL);
	add_test(&list, "renamed", renamed, NULL);
	add_test(&list, "cannot be made", cannot_be_made, NULL);
	status = run_list("folder", &list);
	return chdir("/") || rmdir(place) || status;
}
