/* SPDX-License-Identifier: GPL-2.0-or-later */
/* no_writes.c - see no_writes.h */
#include "tests/fuzz/no_writes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define WRITING (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND)

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

static const unsigned short forbidden[] = {
	SYS_creat,     SYS_unlink,   SYS_unlinkat,  SYS_rename,	  SYS_renameat,
	SYS_renameat2, SYS_mkdir,    SYS_mkdirat,   SYS_rmdir,	  SYS_link,
	SYS_linkat,    SYS_symlink,  SYS_symlinkat, SYS_mknod,	  SYS_mknodat,
	SYS_truncate,  SYS_chmod,    SYS_fchmod,    SYS_fchmodat, SYS_chown,
	SYS_lchown,    SYS_fchownat, SYS_utimensat, SYS_setxattr, SYS_execve,
	SYS_execveat,  SYS_fork,     SYS_vfork,	    SYS_connect,  SYS_bind,
	SYS_mount,
};

/* Files beside a recording, also while they are being made. */
static bool is_own(const char *path)
{
	return strstr(path, ".cpr.idx") || strstr(path, ".cpr.marks");
}

static void on_call(int signal, siginfo_t *about, void *context)
{
	ucontext_t *at = context;
	long long *registers = at->uc_mcontext.gregs;
	const char *path = "";
	char text[300];
	int size;

	(void)signal;
	if (about->si_syscall == SYS_openat)
		path = (const char *)registers[REG_RSI];
	if (about->si_syscall == SYS_openat && is_own(path)) {
		registers[REG_RAX] = -EROFS;
		return;
	}
	size = snprintf(text, sizeof(text),
			"forbidden: system call %d %.200s\n", about->si_syscall,
			path);
	if (write(2, text, (size_t)size) > 0)
		abort();
	abort();
}

void forbid_writes(void)
{
	struct sock_filter filter[COUNT(forbidden) + 10];
	struct sock_fprog program = { .filter = filter };
	const struct sigaction action = {
		.sa_sigaction = on_call,
		.sa_flags = SA_SIGINFO,
	};
	unsigned short count = 0;

	filter[count++] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < COUNT(forbidden); i++)
		filter[count++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, forbidden[i],
			(unsigned char)(COUNT(forbidden) - i + 3), 0);
	filter[count++] = (struct sock_filter)BPF_JUMP(
		BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 2);
	filter[count++] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS,
		offsetof(struct seccomp_data, args[2]));
	filter[count++] = (struct sock_filter)BPF_JUMP(
		BPF_JMP | BPF_JSET | BPF_K, WRITING, 1, 0);
	filter[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
						       SECCOMP_RET_ALLOW);
	filter[count++] =
		(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
	program.len = count;
	sigaction(SIGSYS, &action, NULL);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("seccomp");
		exit(EXIT_FAILURE);
	}
}
