/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_linux_text.c - system calls as strace writes them */
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "formats/registers.h"
#include "tests/unit/table.h"
#include "vm/linux/text/text.h"

/* The guest's memory: what is there begins at BASE, a line after the other. */
#define BASE 0x10000u
#define LINE 0x100u
#define LINES 3u
#define NOWHERE 0x77777000u
#define AT(line) (BASE + (line) * LINE)

struct line {
	const void *bytes;
	size_t size;
};

struct row {
	const char *name;
	long number;
	uint64_t args[CALL_ARGS];
	int64_t result;
	const char *begin, *rest;	/* when it begins; the whole */
	struct line lines[LINES];
};

static const int exited = W_EXITCODE(3, 0), killed = SIGKILL,
		 stopped = W_STOPCODE(SIGTSTP), three[2] = { 3, 4 };
static const uint64_t most_signals = ~UINT64_C(0x180000000),
		      few_signals = 0x4002;
static const struct stat device = { .st_mode = S_IFCHR | 0620,
				    .st_rdev = 0x8803 };
static const struct stat plain = { .st_mode = S_IFREG | S_ISUID | 0755,
				   .st_size = 77 };
static const struct rlimit limit = { 8192 * 1024, RLIM_INFINITY };
static const struct timespec soon = { 1, 500 };
static const struct pollfd polled[2] = { { 3, POLLIN, POLLIN | POLLHUP },
					 { -1, POLLOUT, 0 } };
static const struct sockaddr_un unix_ = { AF_UNIX, "/run/x" };
static const struct sockaddr_in inet = {
	.sin_family = AF_INET, .sin_port = 0x5000,
	.sin_addr.s_addr = 0x0100007f,
};
static const uint64_t vector[4] = { AT(1), 2, AT(1) + 2, 5 };
static const uint64_t action[4] = { 0x401000, SA_RESTART | 0x4000000,
				    0x402000, 0x4002 };
static const uint64_t arguments[3] = { AT(1), AT(1), 0 };
static const struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_END,
				   .l_start = -5, .l_len = 10 };

#define STRING(text) { text, sizeof(text) }
#define VALUE(value) { &(value), sizeof(value) }

static const struct row rows[] = {
	{ "a path and flags", SYS_openat,
	  { AT_FDCWD, AT(0), O_RDONLY | O_CLOEXEC, 0777 }, 3,
	  "AT_FDCWD, \"/etc/hosts\", O_RDONLY|O_CLOEXEC", " = 3",
	  { STRING("/etc/hosts") } },
	{ "a mode, because a file is made", SYS_open,
	  { AT(0), O_WRONLY | O_CREAT, 0640 }, -2,
	  "\"x\", O_WRONLY|O_CREAT, 0640",
	  " = -1 ENOENT (No such file or directory)", { STRING("x") } },
	{ "a path that is nowhere", SYS_unlink, { NOWHERE }, -14,
	  "0x77777000", " = -1 EFAULT (Bad address)", { { 0 } } },
	{ "no path", SYS_unlink, { 0 }, -14, "NULL",
	  " = -1 EFAULT (Bad address)", { { 0 } } },
	{ "a call that is made again", SYS_wait4, { 9, AT(0), 0, 0 }, -512, "9",
	  ", 0x10000, 0, NULL = ? ERESTARTSYS (To be restarted if SA_RESTART"
	  " is set)", { { 0 } } },
	{ "an error without a name", SYS_close, { 5 }, -1000, "5", " = -1000",
	  { { 0 } } },
	{ "bytes that are read", SYS_read, { 3, AT(0), 100 }, 6, "3",
	  ", \"a\\n\\0001\\\"\\\\\", 100 = 6", { { "a\n\0" "1\"\\", 6 } } },
	{ "more than is shown", SYS_write, { 1, AT(0), 40 }, 40,
	  "1, \"0123456789012345678901234567890\\1\"..., 40", " = 40",
	  { STRING("0123456789012345678901234567890\1" "23456789") } },
	{ "bytes of a read that failed", SYS_read, { 3, AT(0), 9 }, -4, "3",
	  ", 0x10000, 9 = -1 EINTR (Interrupted system call)",
	  { STRING("text") } },
	{ "memory", SYS_mmap, { 0, 4096, PROT_NONE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0x1000 },
	  0x7f0000, "NULL, 4096, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS, -1,"
	  " 0x1000", " = 0x7f0000", { { 0 } } },
	{ "a flag that nobody knows", SYS_mprotect, { AT(0), 1, 0x80 }, 0,
	  "0x10000, 1, 0x80 /* PROT_??? */", " = 0", { { 0 } } },
	{ "a file", SYS_fstat, { 3, AT(0) }, 0, "3",
	  ", {st_mode=S_IFREG|S_ISUID|0755, st_size=77, ...} = 0",
	  { VALUE(plain) } },
	{ "a device", SYS_stat, { AT(1), AT(0) }, 0, "\"x\"",
	  ", {st_mode=S_IFCHR|0620, st_rdev=makedev(0x88, 0x3), ...} = 0",
	  { VALUE(device), STRING("x") } },
	{ "a limit", SYS_prlimit64, { 0, RLIMIT_STACK, 0, AT(0) }, 0,
	  "0, RLIMIT_STACK, NULL",
	  ", {rlim_cur=8192*1024, rlim_max=RLIM64_INFINITY} = 0",
	  { VALUE(limit) } },
	{ "an exit status", SYS_wait4, { -1, AT(0), 0, 0 }, 9, "-1",
	  ", [{WIFEXITED(s) && WEXITSTATUS(s) == 3}], 0, NULL = 9",
	  { VALUE(exited) } },
	{ "a signal that ended it", SYS_wait4, { 9, AT(0), WUNTRACED, 0 }, 9,
	  "9", ", [{WIFSIGNALED(s) && WTERMSIG(s) == SIGKILL}], WSTOPPED, NULL"
	  " = 9", { VALUE(killed) } },
	{ "a signal that stopped it", SYS_wait4, { 9, AT(0), WNOHANG, 0 }, 9,
	  "9", ", [{WIFSTOPPED(s) && WSTOPSIG(s) == SIGTSTP}], WNOHANG, NULL"
	  " = 9", { VALUE(stopped) } },
	{ "nobody to wait for", SYS_wait4, { 9, AT(0), WNOHANG, 0 }, 0,
	  "9", ", 0x10000, WNOHANG, NULL = 0", { VALUE(exited) } },
	{ "two descriptors", SYS_pipe2, { AT(0), O_CLOEXEC }, 0, "",
	  "[3, 4], O_CLOEXEC = 0", { VALUE(three) } },
	{ "descriptors that are ready", SYS_poll, { AT(0), 2, -1 }, 1,
	  "[{fd=3, events=POLLIN}, {fd=-1}], 2, -1",
	  " = 1 ([{fd=3, revents=POLLIN|POLLHUP}])", { VALUE(polled) } },
	{ "none that is ready", SYS_poll, { 0, 0, 5 }, 0, "NULL, 0, 5",
	  " = 0 (Timeout)", { { 0 } } },
	{ "most signals", SYS_rt_sigprocmask, { SIG_BLOCK, AT(0), 0, 8 }, 0,
	  "SIG_BLOCK, ~[RTMIN RT_1], NULL, 8", " = 0",
	  { VALUE(most_signals) } },
	{ "some signals, and the old ones", SYS_rt_sigprocmask,
	  { SIG_SETMASK, AT(0), AT(1), 8 }, 0, "SIG_SETMASK, [INT TERM]",
	  ", ~[RTMIN RT_1], 8 = 0",
	  { VALUE(few_signals), VALUE(most_signals) } },
	{ "a handler", SYS_rt_sigaction, { SIGUSR1, AT(0), 0, 8 }, 0,
	  "SIGUSR1, {sa_handler=0x401000, sa_mask=[INT TERM],"
	  " sa_flags=SA_RESTORER|SA_RESTART, sa_restorer=0x402000}, NULL, 8",
	  " = 0", { VALUE(action) } },
	{ "a futex", SYS_futex, { AT(0), FUTEX_WAIT_PRIVATE, 2, AT(1) }, -110,
	  "0x10000, FUTEX_WAIT_PRIVATE, 2, {tv_sec=1, tv_nsec=500}",
	  " = -1 ETIMEDOUT (Connection timed out)",
	  { VALUE(three), VALUE(soon) } },
	{ "a futex and its bits", SYS_futex,
	  { AT(0), FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 2, 0, 0, ~0u }, 0,
	  "0x10000, FUTEX_WAIT_BITSET|FUTEX_CLOCK_REALTIME, 2, NULL,"
	  " FUTEX_BITSET_MATCH_ANY", " = 0", { { 0 } } },
	{ "a name of a socket", SYS_connect, { 3, AT(0), 110 }, 0,
	  "3, {sa_family=AF_UNIX, sun_path=\"/run/x\"}, 110", " = 0",
	  { VALUE(unix_) } },
	{ "an address of the internet", SYS_bind, { 3, AT(0), 16 }, 0,
	  "3, {sa_family=AF_INET, sin_port=htons(80),"
	  " sin_addr=inet_addr(\"127.0.0.1\")}, 16", " = 0", { VALUE(inet) } },
	{ "buffers", SYS_writev, { 1, AT(0), 2 }, 7,
	  "1, [{iov_base=\"ab\", iov_len=2}, {iov_base=\"cdefg\", iov_len=5}],"
	  " 2", " = 7", { VALUE(vector), STRING("abcdefg") } },
	{ "buffers that are not full", SYS_readv, { 0, AT(0), 2 }, 3, "0",
	  ", [{iov_base=\"ab\", iov_len=2}, {iov_base=\"c\", iov_len=5}], 2"
	  " = 3", { VALUE(vector), STRING("abcdefg") } },
	{ "a program", SYS_execve, { AT(1), AT(0), AT(0) }, -2,
	  "\"ls\", [\"ls\", \"ls\"], 0x10000 /* 2 vars */",
	  " = -1 ENOENT (No such file or directory)",
	  { VALUE(arguments), STRING("ls") } },
	{ "flags that a file has", SYS_fcntl, { 3, F_GETFL, 99 },
	  O_RDWR | O_APPEND, "3, F_GETFL", " = 0x402 (flags O_RDWR|O_APPEND)",
	  { { 0 } } },
	{ "a lock", SYS_fcntl, { 3, F_SETLK, AT(0) }, 0,
	  "3, F_SETLK, {l_type=F_WRLCK, l_whence=SEEK_END, l_start=-5,"
	  " l_len=10}", " = 0", { VALUE(lock) } },
	{ "a request that has a name", SYS_ioctl, { 0, FIONREAD, AT(0) }, 0,
	  "0, FIONREAD", ", [3] = 0", { VALUE(three) } },
	{ "one that has none", SYS_ioctl, { 0, _IOR('x', 3, int), AT(0) }, -25,
	  "0, _IOC(_IOC_READ, 0x78, 0x3, 0x4), 0x10000",
	  " = -1 ENOTTY (Inappropriate ioctl for device)", { { 0 } } },
	{ "a fork", SYS_clone,
	  { CLONE_CHILD_CLEARTID | SIGCHLD, 0, 0, AT(0), 0 }, 7,
	  "child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD",
	  ", child_tidptr=0x10000 = 7", { { 0 } } },
	{ "an end", SYS_exit_group, { 3 }, 0, "3", " = ?", { { 0 } } },
	{ "a mask in octal", SYS_umask, { 077 }, 022, "077", " = 022",
	  { { 0 } } },
	{ "a call that there is not", 999, { 1, 2, 3, 4, 5, 0 }, -38,
	  "0x1, 0x2, 0x3, 0x4, 0x5, 0",
	  " = -1 ENOSYS (Function not implemented)", { { 0 } } },
};

static bool read_memory(void *context, guest_addr addr, void *bytes,
			size_t size)
{
	const struct row *row = context;
	const struct line *line;
	uint64_t at = addr % LINE;

	if (addr < BASE || addr >= AT(LINES))
		return false;
	line = &row->lines[(addr - BASE) / LINE];
	memset(bytes, 0, size);
	if (at + size > LINE)
		return false;
	if (at < line->size)
		memcpy(bytes, (const char *)line->bytes + at,
		       size < line->size - at ? size : line->size - at);
	return true;
}

#define TEXT 1000

static void join(char text[TEXT], const struct call_text *call, unsigned first)
{
	size_t size = 0;

	*text = '\0';
	for (unsigned i = first; i < call->count; i++)
		size += (size_t)snprintf(text + size, TEXT - size, "%s%s",
					 i ? ", " : "", call->texts[i]);
	if (call->result)
		snprintf(text + size, TEXT - size, " = %s", call->result);
}

static void call_row(void **state)
{
	const struct row *row = *state;
	char text[TEXT];
	struct call_text call = {
		.arch = ARCH_X86_64,
		.call = linux_call_of(ARCH_X86_64, (uint64_t)row->number),
		.string_most = 32,
		.read = read_memory,
		.context = (void *)(uintptr_t)row,
	};

	memcpy(call.args, row->args, sizeof(call.args));
	assert_int_equal(call_text_enter(&call), 0);
	join(text, &call, 0);
	assert_string_equal(text, row->begin);
	assert_int_equal(call_text_leave(&call, row->result), 0);
	join(text, &call, call.entered);
	assert_string_equal(text, row->rest);
	call_text_release(&call);
}

/* All numbers, with wild arguments, of memory that is partly there. */
static void every_call_can_be_shown(void **state)
{
	static const uint64_t wild[] = { 0, AT(0), UINT64_MAX, 5, NOWHERE };
	const struct row *row = &rows[0];

	(void)state;
	for (uint64_t number = 0; number < 500; number++) {
		for (size_t i = 0; i < COUNT(wild); i++) {
			struct call_text call = {
				.arch = ARCH_X86_64,
				.call = linux_call_of(ARCH_X86_64, number),
				.string_most = 32, .read = read_memory,
				.context = (void *)(uintptr_t)row,
			};

			for (size_t k = 0; k < CALL_ARGS; k++)
				call.args[k] = wild[(i + k * (k + number)) %
						    COUNT(wild)];
			assert_int_equal(call_text_enter(&call), 0);
			assert_int_equal(call_text_leave(
				&call, (int64_t)wild[(i + 1) % 3]), 0);
			assert_non_null(call.result);
			call_text_release(&call);
		}
	}
}

/* ------- signals ------- */

struct signal_row {
	const char *name, *expected;
	siginfo_t info;
};

static const struct signal_row signal_rows[] = {
	{ "a fault", "{si_signo=SIGSEGV, si_code=SEGV_MAPERR, si_addr=NULL}",
	  { .si_signo = SIGSEGV, .si_code = SEGV_MAPERR } },
	{ "one that a process sent",
	  "{si_signo=SIGINT, si_code=SI_USER, si_pid=5, si_uid=6}",
	  { .si_signo = SIGINT, .si_code = SI_USER,
	    ._sifields._kill = { 5, 6 } } },
	{ "one with a value", "{si_signo=SIGRT_3, si_code=SI_QUEUE, si_pid=5,"
	  " si_uid=6, si_int=7, si_ptr=0x7}",
	  { .si_signo = 35, .si_code = SI_QUEUE,
	    ._sifields._rt = { 5, 6, { .sival_int = 7 } } } },
	{ "a child", "{si_signo=SIGCHLD, si_code=CLD_KILLED, si_pid=5,"
	  " si_uid=6, si_status=SIGKILL, si_utime=1, si_stime=2}",
	  { .si_signo = SIGCHLD, .si_code = CLD_KILLED,
	    ._sifields._sigchld = { 5, 6, SIGKILL, 1, 2 } } },
	{ "a code that nobody knows",
	  "{si_signo=SIGFPE, si_code=0x63 /* FPE_??? */, si_addr=NULL}",
	  { .si_signo = SIGFPE, .si_code = 99 } },
};

static void signal_row(void **state)
{
	const struct signal_row *row = *state;
	char *text = signal_text(ARCH_X86_64, &row->info);

	assert_string_equal(text, row->expected);
	free(text);
}

/* ------- sets ------- */

struct set_row {
	const char *name, *set;
	enum linux_call_index call;
	bool expected;
};

static const struct set_row set_rows[] = {
	{ "openat() is about files", "file", CALL_openat, true },
	{ "... and descriptors", "desc", CALL_openat, true },
	{ "stat() is not about descriptors", "desc", CALL_stat, false },
	{ "symlinkat() is about files", "file", CALL_symlinkat, true },
	{ "socket() is about the network", "network", CALL_socket, true },
	{ "read() is about no file", "file", CALL_read, false },
	{ "execve() is about processes", "process", CALL_execve, true },
	{ "brk() is about memory", "memory", CALL_brk, true },
	{ "no such set", "nothing", CALL_brk, false },
};

static void set_row(void **state)
{
	const struct set_row *row = *state;

	assert_int_equal(call_is_in_set(&linux_calls[row->call], row->set),
			 row->expected);
	assert_int_equal(call_set_exists(row->set),
			 !!strcmp(row->set, "nothing"));
}

int main(void)
{
	struct test_list list = { 0 };

	add_rows(&list, rows, call_row);
	add_rows(&list, signal_rows, signal_row);
	add_rows(&list, set_rows, set_row);
	add_test(&list, "every call can be shown", every_call_can_be_shown,
		 NULL);
	return run_list("linux_text", &list);
}
