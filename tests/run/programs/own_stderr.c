/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * own_stderr.c - does with its standard error what daemons and others do
 *
 * Each argument is something to do, in their order; see below.  Files are in
 * the working directory.  Exits with 1 where the host is not as it should be.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void check(int good)
{
	if (!good)
		_exit(1);
}

/* Until there is such a file, at most half a minute. */
static void wait_for(const char *name)
{
	for (int i = 0; i < 3000 && access(name, F_OK); i++)
		usleep(10000);
	check(!access(name, F_OK));
}

static void make(const char *name)
{
	check(open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0644) >= 0);
}

/* The child goes on; the parent ends like it, or at once. */
static void become_child(int waits)
{
	int before = getpid(), pid = fork(), status = 0;

	check(pid >= 0);
	if (pid) {
		if (waits)
			check(waitpid(pid, &status, 0) == pid);
		_exit(WEXITSTATUS(status));
	}
	while (!waits && getppid() == before)
		usleep(10000);
}

static void do_one(const char *what)
{
	static int file = -1;

	if (!strcmp(what, "close"))
		check(!close(2));
	else if (!strcmp(what, "null"))
		check(dup2(open("/dev/null", O_RDWR | O_CLOEXEC), 2) == 2);
	else if (!strcmp(what, "range"))
		check(!syscall(SYS_close_range, 2, ~0u, 0));
	else if (!strcmp(what, "copy"))
		check(dup(2) >= 0);
	else if (!strcmp(what, "file"))
		check((file = open("guestfile", O_CREAT | O_WRONLY | O_TRUNC,
				   0644)) == 2);
	else if (!strcmp(what, "A") || !strcmp(what, "B"))
		check(write(file, what, 1) == 1);
	else if (!strcmp(what, "note"))		/* cprec says something */
		check(syscall(9999) == -1);
	else if (!strcmp(what, "child"))
		become_child(1);
	else if (!strcmp(what, "orphan"))
		become_child(0);
	else if (!strcmp(what, "hold"))
		wait_for("release");
	else if (!strcmp(what, "done"))
		make("done");
	else if (!strncmp(what, "exit", 4))
		_exit(atoi(what + 4));
	else
		check(0);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "exec")) {
			/* What is left to do, as another program. */
			check(!fcntl(2, F_SETFD, FD_CLOEXEC));
			argv[i] = argv[0];
			execv(argv[0], argv + i);
			_exit(1);
		}
		do_one(argv[i]);
	}
	return 0;
}
