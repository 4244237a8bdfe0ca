/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sets.c - sets of calls by their names, as options of strace have them */
#include <string.h>

#include "vm/linux/text/text.h"

enum {
	SET_FILE = 1, SET_DESC = 2, SET_NETWORK = 4, SET_PROCESS = 8,
	SET_MEMORY = 16, SET_SIGNAL = 32, SET_IPC = 64, SET_CREDS = 128,
	SET_CLOCK = 256,
	/* What asks of files: by paths, links, descriptors; of file systems. */
	SET_STAT = 512, SET_LSTAT = 1024, SET_FSTAT = 2048,
	SET_STATFS = 4096, SET_FSTATFS = 8192, SET_USTAT = 16384,
	SET_PURE = 32768,	/* they have no arguments, and never fail */
};

static const struct {
	const char *name;
	unsigned set;
} sets[] = {
	{ "file", SET_FILE },	    { "desc", SET_DESC },
	{ "network", SET_NETWORK }, { "net", SET_NETWORK },
	{ "process", SET_PROCESS }, { "memory", SET_MEMORY },
	{ "signal", SET_SIGNAL },   { "ipc", SET_IPC },
	{ "creds", SET_CREDS },	    { "clock", SET_CLOCK },
	{ "stat", SET_STAT },	    { "lstat", SET_LSTAT },
	{ "fstat", SET_FSTAT },
	{ "%stat", SET_STAT | SET_LSTAT | SET_FSTAT },
	{ "statfs", SET_STATFS },   { "fstatfs", SET_FSTATFS },
	{ "%statfs", SET_STATFS | SET_FSTATFS | SET_USTAT },
	{ "pure", SET_PURE },
};

/* What arguments do not say. */
static const uint16_t members[CALL_COUNT] = {
	[CALL_socket] = SET_NETWORK,
	[CALL_connect] = SET_NETWORK,
	[CALL_accept] = SET_NETWORK,
	[CALL_sendto] = SET_NETWORK,
	[CALL_recvfrom] = SET_NETWORK,
	[CALL_sendmsg] = SET_NETWORK,
	[CALL_recvmsg] = SET_NETWORK,
	[CALL_shutdown] = SET_NETWORK,
	[CALL_bind] = SET_NETWORK,
	[CALL_listen] = SET_NETWORK,
	[CALL_getsockname] = SET_NETWORK,
	[CALL_getpeername] = SET_NETWORK,
	[CALL_socketpair] = SET_NETWORK,
	[CALL_setsockopt] = SET_NETWORK,
	[CALL_getsockopt] = SET_NETWORK,
	[CALL_accept4] = SET_NETWORK,
	[CALL_recvmmsg] = SET_NETWORK,
	[CALL_sendmmsg] = SET_NETWORK,
	[CALL_sendfile] = SET_NETWORK,
	[CALL_clone] = SET_PROCESS,
	[CALL_clone3] = SET_PROCESS,
	[CALL_fork] = SET_PROCESS,
	[CALL_vfork] = SET_PROCESS,
	[CALL_execve] = SET_PROCESS,
	[CALL_execveat] = SET_PROCESS,
	[CALL_exit] = SET_PROCESS,
	[CALL_exit_group] = SET_PROCESS,
	[CALL_wait4] = SET_PROCESS,
	[CALL_waitid] = SET_PROCESS,
	[CALL_unshare] = SET_PROCESS,
	[CALL_kill] = SET_PROCESS | SET_SIGNAL,
	[CALL_tkill] = SET_PROCESS | SET_SIGNAL,
	[CALL_tgkill] = SET_PROCESS | SET_SIGNAL,
	[CALL_rt_sigqueueinfo] = SET_PROCESS | SET_SIGNAL,
	[CALL_rt_tgsigqueueinfo] = SET_PROCESS | SET_SIGNAL,
	[CALL_pidfd_send_signal] = SET_PROCESS | SET_SIGNAL,
	[CALL_mmap] = SET_MEMORY | SET_DESC,
	[CALL_mprotect] = SET_MEMORY,
	[CALL_munmap] = SET_MEMORY,
	[CALL_brk] = SET_MEMORY,
	[CALL_mremap] = SET_MEMORY,
	[CALL_msync] = SET_MEMORY,
	[CALL_mincore] = SET_MEMORY,
	[CALL_madvise] = SET_MEMORY,
	[CALL_mlock] = SET_MEMORY,
	[CALL_mlock2] = SET_MEMORY,
	[CALL_munlock] = SET_MEMORY,
	[CALL_mlockall] = SET_MEMORY,
	[CALL_munlockall] = SET_MEMORY,
	[CALL_pkey_mprotect] = SET_MEMORY,
	[CALL_remap_file_pages] = SET_MEMORY,
	[CALL_mbind] = SET_MEMORY,
	[CALL_shmat] = SET_MEMORY | SET_IPC,
	[CALL_shmdt] = SET_MEMORY | SET_IPC,
	[CALL_shmget] = SET_IPC,
	[CALL_shmctl] = SET_IPC,
	[CALL_semget] = SET_IPC,
	[CALL_semop] = SET_IPC,
	[CALL_semtimedop] = SET_IPC,
	[CALL_semctl] = SET_IPC,
	[CALL_msgget] = SET_IPC,
	[CALL_msgsnd] = SET_IPC,
	[CALL_msgrcv] = SET_IPC,
	[CALL_msgctl] = SET_IPC,
	[CALL_rt_sigaction] = SET_SIGNAL,
	[CALL_rt_sigprocmask] = SET_SIGNAL,
	[CALL_sigprocmask] = SET_SIGNAL,
	[CALL_rt_sigreturn] = SET_SIGNAL,
	[CALL_rt_sigpending] = SET_SIGNAL,
	[CALL_rt_sigtimedwait] = SET_SIGNAL,
	[CALL_rt_sigsuspend] = SET_SIGNAL,
	[CALL_sigaltstack] = SET_SIGNAL,
	[CALL_pause] = SET_SIGNAL,
	[CALL_signalfd] = SET_SIGNAL | SET_DESC,
	[CALL_signalfd4] = SET_SIGNAL | SET_DESC,
	[CALL_prctl] = SET_CREDS,
	[CALL_getuid] = SET_CREDS | SET_PURE,
	[CALL_geteuid] = SET_CREDS | SET_PURE,
	[CALL_getgid] = SET_CREDS | SET_PURE,
	[CALL_getegid] = SET_CREDS | SET_PURE,
	[CALL_setuid] = SET_CREDS,
	[CALL_setgid] = SET_CREDS,
	[CALL_setreuid] = SET_CREDS,
	[CALL_setregid] = SET_CREDS,
	[CALL_getgroups] = SET_CREDS,
	[CALL_setgroups] = SET_CREDS,
	[CALL_setresuid] = SET_CREDS,
	[CALL_getresuid] = SET_CREDS,
	[CALL_setresgid] = SET_CREDS,
	[CALL_getresgid] = SET_CREDS,
	[CALL_setfsuid] = SET_CREDS,
	[CALL_setfsgid] = SET_CREDS,
	[CALL_capget] = SET_CREDS,
	[CALL_capset] = SET_CREDS,
	[CALL_gettimeofday] = SET_CLOCK,
	[CALL_settimeofday] = SET_CLOCK,
	[CALL_time] = SET_CLOCK,
	[CALL_adjtimex] = SET_CLOCK,
	[CALL_clock_gettime] = SET_CLOCK,
	[CALL_clock_settime] = SET_CLOCK,
	[CALL_clock_getres] = SET_CLOCK,
	[CALL_clock_adjtime] = SET_CLOCK,
	[CALL_pipe] = SET_DESC,
	[CALL_pipe2] = SET_DESC,
	[CALL_poll] = SET_DESC,
	[CALL_ppoll] = SET_DESC,
	[CALL_select] = SET_DESC,
	[CALL_pselect6] = SET_DESC,
	[CALL_getcwd] = SET_FILE,
	[CALL_memfd_create] = SET_DESC,
	[CALL_stat] = SET_STAT,
	[CALL_lstat] = SET_LSTAT,
	[CALL_fstat] = SET_FSTAT,
	[CALL_newfstatat] = SET_FSTAT,
	[CALL_statx] = SET_FSTAT,
	[CALL_statfs] = SET_STATFS,
	[CALL_fstatfs] = SET_FSTATFS,
	[CALL_ustat] = SET_USTAT,
	[CALL_getpid] = SET_PURE,
	[CALL_getppid] = SET_PURE,
	[CALL_getpgrp] = SET_PURE,
	[CALL_gettid] = SET_PURE,
};

/* A name is no path: of what is in memory, of an attribute. */
static bool takes_path(const struct linux_call *call)
{
	return call != &linux_calls[CALL_memfd_create] &&
	       (call->args[0].kind == ARG_PATH ||
		call->args[0].kind == ARG_PATH_FOLLOWED ||
		call->args[0].kind == ARG_DIR ||
		call == &linux_calls[CALL_inotify_add_watch]);
}

static unsigned sets_of(const struct linux_call *call)
{
	unsigned found = members[linux_call_kind(call)];

	if (takes_path(call))
		found |= SET_FILE;
	for (unsigned i = 0; i < CALL_ARGS; i++)
		if (call->args[i].kind == ARG_FD ||
		    call->args[i].kind == ARG_DIR)
			found |= SET_DESC;
	if (call->args[CALL_RESULT].kind == ARG_FD)
		found |= SET_DESC;
	return found & SET_NETWORK && call != &linux_calls[CALL_sendfile] ?
		       found & ~(unsigned)SET_DESC : found;
}

static unsigned set_of(const char *name)
{
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		if (!strcmp(sets[i].name, name))
			return sets[i].set;
	return 0;
}

bool call_set_exists(const char *name)
{
	return set_of(name);
}

bool call_is_in_set(const struct linux_call *call, const char *name)
{
	return sets_of(call) & set_of(name);
}
