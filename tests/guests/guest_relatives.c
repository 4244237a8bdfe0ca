/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_relatives.c - what /proc says of processes that this one has started:
 * their programs, names, arguments and environment
 */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/guests/guest.h"

static char self[PATH_MAX];	/* this program's file */

static struct relative {
	pid_t pid;
	int told, tell;		/* a byte when it is there; to let it end */
} relative;

/* ------- what a relative does ------- */

static int part_wait(void)
{
	char byte = 0;

	if (write(1, &byte, 1) != 1)
		return 1;
	return read(0, &byte, 1) < 0 ? 2 : 5;
}

static void *execute_again(void *name)
{
	execl(self, name, "wait", "from a thread", (char *)NULL);
	return NULL;
}

static int part_thread(void)
{
	pthread_t thread;

	prctl(PR_SET_NAME, "another name");
	if (pthread_create(&thread, NULL, execute_again, (char *)"threaded"))
		return 4;
	pthread_join(thread, NULL);
	return 3;
}

/* ------- starting and ending one ------- */

/* A relative that executes `file`, or nothing if it is NULL. */
static void start(const char *file, char *const *argv)
{
	char *envp[] = { (char *)"FIRST=1", (char *)"SECOND=2", NULL };
	int up[2], down[2];
	char byte;

	CHECK(!pipe2(up, O_CLOEXEC) && !pipe2(down, O_CLOEXEC));
	fflush(stdout);
	relative.pid = fork();
	if (!relative.pid) {
		close(up[0]);
		close(down[1]);
		dup2(up[1], 1);
		dup2(down[0], 0);
		if (file)
			execve(file, argv, envp);
		_exit(part_wait());
	}
	close(up[1]);
	close(down[0]);
	relative.told = up[0];
	relative.tell = down[1];
	CHECK(read(relative.told, &byte, 1) == 1);
}

static void end(void)
{
	close(relative.tell);
	close(relative.told);
	CHECK(end_of(relative.pid) == 5);
}

static const char *file_of(const char *name)
{
	static char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)relative.pid, name);
	return path;
}

/* ------- checks ------- */

static bool holds(const char *name, const char *bytes, size_t size)
{
	char found[4096];
	int fd = open(file_of(name), O_RDONLY);
	ssize_t got = read(fd, found, sizeof(found));

	close(fd);
	return got == (ssize_t)size && !memcmp(found, bytes, size);
}

#define HOLDS(name, text) holds((name), (text), sizeof(text) - 1)

static bool is_link(const char *path, const char *target)
{
	char found[PATH_MAX] = "";

	return readlink(path, found, sizeof(found) - 1) ==
		       (ssize_t)strlen(target) &&
	       !strcmp(found, target);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whichever way one asks. */
static void check_exe(const struct stat *program)
{
	char part[8];
	struct stat found;
	int folder = open(file_of(""), O_RDONLY | O_DIRECTORY);
	int fd = open(file_of("exe"), O_RDONLY);

	CHECK(folder >= 0 && fd >= 0);
	CHECK(!fstat(fd, &found) && is_same(&found, program));
	CHECK(!stat(file_of("exe"), &found) && is_same(&found, program));
	CHECK(!fstatat(folder, "exe", &found, 0) && is_same(&found, program));
	CHECK(!lstat(file_of("exe"), &found) && S_ISLNK(found.st_mode));
	CHECK(readlinkat(folder, "exe", part, sizeof(part)) == sizeof(part));
	CHECK(!memcmp(part, self, sizeof(part)));
	CHECK(open(file_of("exe"), O_RDONLY | O_NOFOLLOW) == -1);
	CHECK(errno == ELOOP);
	close(folder);
	close(fd);
}

static void test_exec(void)
{
	char *argv[] = { (char *)"first of all", (char *)"wait", (char *)"",
			 (char *)"x", NULL };
	struct stat program;

	CHECK(!stat(self, &program));
	start(self, argv);
	CHECK(HOLDS("cmdline", "first of all\0wait\0\0x\0"));
	CHECK(HOLDS("environ", "FIRST=1\0SECOND=2\0"));
	CHECK(HOLDS("comm", "guest_relatives\n"));
	CHECK(is_link(file_of("exe"), self));
	check_exe(&program);
	end();
}

/* It is as its parent until it executes a program. */
static void test_fork(void)
{
	char bytes[4096];
	int fd = open("/proc/self/cmdline", O_RDONLY);
	ssize_t size = read(fd, bytes, sizeof(bytes));

	close(fd);
	start(NULL, NULL);
	CHECK(size > 0 && holds("cmdline", bytes, (size_t)size));
	CHECK(is_link(file_of("exe"), self));
	end();
}

/* A thread that is not the first gives the process its program's name. */
static void test_thread(void)
{
	char *argv[] = { (char *)"a", (char *)"thread", NULL };

	start(self, argv);
	CHECK(HOLDS("cmdline", "threaded\0wait\0from a thread\0"));
	CHECK(HOLDS("comm", "guest_relatives\n"));
	CHECK(is_link(file_of("exe"), self));
	end();
}

static bool copy_file(const char *to)
{
	int in = open(self, O_RDONLY);
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL, 0755);
	char bytes[65536];
	ssize_t got = -1;

	while (out >= 0 && (got = read(in, bytes, sizeof(bytes))) > 0)
		if (write(out, bytes, (size_t)got) != got)
			break;
	close(in);
	close(out);
	return got == 0;
}

/* Its file is still found when it has no name any more. */
static void test_deleted(void)
{
	char folder[] = "/tmp/relatives-XXXXXX", path[64], link[80];
	char *argv[] = { path, (char *)"wait", NULL };
	struct stat program, found;

	CHECK(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/copy", folder);
	CHECK(copy_file(path) && !stat(path, &program));
	start(path, argv);
	CHECK(is_link(file_of("exe"), path));
	CHECK(HOLDS("comm", "copy\n"));
	CHECK(!unlink(path) && !rmdir(folder));
	snprintf(link, sizeof(link), "%s (deleted)", path);
	CHECK(is_link(file_of("exe"), link));
	CHECK(!stat(file_of("exe"), &found) && is_same(&found, &program));
	end();
}

/* What a relative executes can be executed. */
static void test_execute(void)
{
	char *argv[] = { (char *)"one", (char *)"wait", NULL };
	struct relative first;
	char path[64];

	start(self, argv);
	first = relative;
	snprintf(path, sizeof(path), "%s", file_of("exe"));
	argv[0] = (char *)"two";
	start(path, argv);
	CHECK(HOLDS("cmdline", "two\0wait\0"));
	CHECK(is_link(file_of("exe"), self));
	end();
	relative = first;
	CHECK(HOLDS("cmdline", "one\0wait\0"));
	end();
}

int main(int argc, char **argv)
{
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	CHECK(length > 0);
	if (argc > 1 && !strcmp(argv[1], "wait"))
		return part_wait();
	if (argc > 1 && !strcmp(argv[1], "thread"))
		return part_thread();
	test_exec();
	test_fork();
	test_thread();
	test_deleted();
	test_execute();
	return guest_end();
}
