/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machines_family.c - starts its arguments, as a shell does, and waits for them */
#include <stdio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

int depth;

int main(int argc, char **argv)
{
	struct utsname about;
	int status = 0;
	pid_t child;

	uname(&about);
	depth = argc;
	printf("%s %d\n", about.machine, argc);
	fflush(stdout);
	if (argc == 1)
		return 3;
	child = fork();
	if (!child) {
		execv(argv[1], argv + 1);
		_exit(127);
	}
	waitpid(child, &status, 0);
	printf("%s: status %d\n", about.machine, WEXITSTATUS(status));
	return argc;
}
