/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_linux_names.c - what numbers of a Linux guest are called */
#include <sys/syscall.h>

#include "formats/registers.h"
#include "tests/unit/table.h"
#include "vm/linux/abi/calls.h"
#include "vm/linux/abi/names.h"

struct call_row {
	const char *name;
	const char *expected;
	uint64_t number;
	unsigned arch;
	bool gives_address;
};

static const struct call_row call_rows[] = {
	{ "the first", "read", SYS_read, ARCH_X86_64, false },
	{ "one behind the gap", "pidfd_send_signal", SYS_pidfd_send_signal,
	  ARCH_X86_64, false },
	{ "one that is refused", "ptrace", SYS_ptrace, ARCH_X86_64, false },
	{ "mmap()", "mmap", SYS_mmap, ARCH_X86_64, true },
	{ "brk()", "brk", SYS_brk, ARCH_X86_64, true },
	{ "mremap()", "mremap", SYS_mremap, ARCH_X86_64, true },
	{ "shmat()", "shmat", SYS_shmat, ARCH_X86_64, true },
	{ "in the gap", NULL, 400, ARCH_X86_64, false },
	{ "behind all", NULL, 999, ARCH_X86_64, false },
	{ "2^32, whose lower half is 0", NULL, UINT64_C(1) << 32, ARCH_X86_64,
	  false },
	{ "the highest", NULL, UINT64_MAX, ARCH_X86_64, false },
	{ "of a guest that there is not", NULL, SYS_read, 0, false },
};

static void call_row(void **state)
{
	const struct call_row *row = *state;
	const char *name = linux_syscall_name(row->arch, row->number);

	assert_int_equal(!name, !row->expected);
	if (name)
		assert_string_equal(name, row->expected);
	assert_int_equal(linux_syscall_gives_address(row->arch, row->number),
			 row->gives_address);
}

/* Of two rows with one number only the first would be. */
static void every_row_is_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < CALL_COUNT; i++)
		if (linux_calls[i].like == i &&
		    linux_calls[i].host != NO_NUMBER)
			assert_ptr_equal(linux_syscall_name(ARCH_X86_64,
						    linux_calls[i].host),
				 linux_calls[i].name);
}

struct number_row {
	const char *name;
	const char *expected;
	int64_t number;
};

static const struct number_row error_rows[] = {
	{ "EPERM", "EPERM", -1 },
	{ "ENOENT", "ENOENT", -2 },
	{ "EAGAIN, not EWOULDBLOCK", "EAGAIN", -11 },
	{ "the highest error", "EHWPOISON", -133 },
	{ "no error: 0", NULL, 0 },
	{ "no error: 2", NULL, 2 },
	{ "a number that is not given out", NULL, -4095 },
	{ "no error: an address", NULL, -4096 },
	{ "whose lower half is ENOENT", NULL, -(INT64_C(1) << 32) - 2 },
	{ "the lowest", NULL, INT64_MIN },
};

static void error_row(void **state)
{
	const struct number_row *row = *state;
	const char *name = linux_error_name(row->number);

	assert_int_equal(!name, !row->expected);
	if (name)
		assert_string_equal(name, row->expected);
}

static const struct number_row signal_rows[] = {
	{ "no signal", NULL, 0 },
	{ "the first signal", "SIGHUP", 1 },
	{ "SIGSEGV", "SIGSEGV", 11 },
	{ "SIGIO, not SIGPOLL", "SIGIO", 29 },
	{ "SIGSYS", "SIGSYS", 31 },
	{ "the first real-time signal", "SIGRT_0", 32 },
	{ "the last real-time signal", "SIGRT_32", 64 },
	{ "behind all signals", NULL, 65 },
	{ "the highest number", NULL, -1 },
};

static void signal_row(void **state)
{
	const struct number_row *row = *state;
	const char *name = linux_signal_name((uint64_t)row->number);

	assert_int_equal(!name, !row->expected);
	if (name)
		assert_string_equal(name, row->expected);
}

int main(void)
{
	struct test_list list = { 0 };

	add_rows(&list, call_rows, call_row);
	add_test(&list, "every row of the table", every_row_is_found, NULL);
	add_rows(&list, error_rows, error_row);
	add_rows(&list, signal_rows, signal_row);
	return run_list("linux_names", &list);
}
