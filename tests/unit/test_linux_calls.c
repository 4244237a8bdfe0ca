/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_linux_calls.c - the table of system calls, the names of flags, and the
 * layouts of structures, compared with the host's headers
 */
#include <arpa/inet.h>
#include <asm/prctl.h>
#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <linux/magic.h>
#include <linux/membarrier.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <linux/version.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

/* What only the kernel's headers have, or nobody's. */
#define SA_RESTORER 0x4000000
#define ST_VALID 0x20
#define SUID_DUMP_DISABLE 0
#define SUID_DUMP_USER 1
#define SUID_DUMP_ROOT 2
#ifndef MAP_DROPPABLE
#define MAP_DROPPABLE 8		/* headers of Linux 6.11 and newer have it */
#endif

#include "formats/registers.h"
#include "tests/unit/table.h"
#include "vm/linux/abi/abi.h"
#include "vm/linux/kernel.h"

/* What the C library's headers leave out. */
#undef O_LARGEFILE
#define O_LARGEFILE 0100000	/* it is 0 where files are large anyway */

/* ------- numbers ------- */

static const struct {
	const char *name;
	unsigned number;
} host_calls[] = {
#include "tests/unit/syscall_names.inc"
};

/* The newest kernel of which all calls have rows. */
#define KNOWN_KERNEL KERNEL_VERSION(6, 18, 255)

/* Not one that only kernels of 32 bits have. */
static bool is_of_host(size_t call)
{
	return linux_calls[call].like == call &&
	       linux_calls[call].host != NO_NUMBER;
}

static const struct linux_call *row_of(const char *name)
{
	for (size_t i = 0; i < CALL_COUNT; i++)
		if (!strcmp(linux_calls[i].name, name))
			return &linux_calls[i];
	return NULL;
}

static void host_numbers(void **state)
{
	size_t found = 0, rows = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(host_calls); i++) {
		const struct linux_call *row = row_of(host_calls[i].name);

		if (row && row->host != host_calls[i].number)
			fail_msg("%s", host_calls[i].name);
		if (!row)
			print_message("no row: %s\n", host_calls[i].name);
		else
			found++;
	}
	for (size_t i = 0; i < CALL_COUNT; i++)
		rows += is_of_host(i);
	/*
	 * Each call that the headers know has a row; or each row is known to
	 * them, if they are so new that they have others too.
	 */
	assert_int_equal(found, LINUX_VERSION_CODE > KNOWN_KERNEL ?
					rows :
					COUNT(host_calls));
}

static void guest_numbers(void **state)
{
	(void)state;
	for (size_t i = 0; i < CALL_COUNT; i++)
		if (is_of_host(i))
			assert_ptr_equal(linux_call_of(ARCH_X86_64,
						       linux_calls[i].host),
					 &linux_calls[i]);
	assert_null(linux_call_of(ARCH_X86_64, 400));
	assert_null(linux_call_of(ARCH_X86_64, 0xf0002));
	assert_null(linux_call_of(ARCH_X86_64, UINT64_MAX));
	assert_null(linux_call_of(0, 0));
}

/* A kind of guest with a number far beyond, and without number 0. */
static void numbers_far_away(void **state)
{
	static const uint16_t low[] = { 0, 1 + CALL_exit };
	static const struct call_number others[] = {
		{ 0xf0002, CALL_sync },
	};
	const struct linux_abi abi = { .numbers = { low, 2, others, 1 } };

	(void)state;
	assert_null(abi_call(&abi, 0));
	assert_ptr_equal(abi_call(&abi, 1), &linux_calls[CALL_exit]);
	assert_null(abi_call(&abi, 2));
	assert_ptr_equal(abi_call(&abi, 0xf0002), &linux_calls[CALL_sync]);
}

/* Numbers of ARM's own: some are calls, some faults, others nothing. */
static void numbers_of_arm(void **state)
{
	struct guest_fault fault = { 0 };

	(void)state;
	assert_ptr_equal(linux_call_of(ARCH_ARM, 0xf0002),
			 &linux_calls[CALL_cacheflush]);
	assert_ptr_equal(linux_call_of(ARCH_ARM, 422),
			 &linux_calls[CALL_futex_time64]);
	assert_null(linux_call_of(ARCH_ARM, 13));	/* of OABI alone */
	assert_null(linux_call_of(ARCH_ARM, 0xf0007));
	assert_false(abi_arm.bad_call(NULL, 500, &fault));
}

/* ------- arguments ------- */

/* What the registers have, from 10 on, and what they mean. */
struct take_row {
	const char *name;
	unsigned arch, number;
	uint64_t args[CALL_ARGS];
};

static const struct take_row take_rows[] = {
	{ "pread64 of i386", ARCH_I386, 180, { 10, 11, 12, 13 | 14ULL << 32 } },
	{ "pread64 of ARM", ARCH_ARM, 180, { 10, 11, 12, 14 | 15ULL << 32 } },
	{ "ftruncate64 of ARM", ARCH_ARM, 194, { 10, 12 | 13ULL << 32 } },
	{ "readahead of ARM", ARCH_ARM, 225, { 10, 12 | 13ULL << 32, 14 } },
	{ "fadvise64_64 of ARM", ARCH_ARM, 270,
	  { 10, 12 | 13ULL << 32, 14 | 15ULL << 32, 11 } },
	{ "sync_file_range2 of ARM", ARCH_ARM, 341,
	  { 10, 12 | 13ULL << 32, 14 | 15ULL << 32, 11 } },
	{ "fallocate of ARM", ARCH_ARM, 352,
	  { 10, 11, 12 | 13ULL << 32, 14 | 15ULL << 32 } },
	{ "preadv of ARM", ARCH_ARM, 361,
	  { 10, 11, 12, 13 | 14ULL << 32, 0, 15 } },
	{ "mmap2 of ARM", ARCH_ARM, 192, { 10, 11, 12, 13, 14, 15 << 12 } },
	{ "send of ARM", ARCH_ARM, 289, { 10, 11, 12, 13 } },
	{ "openat of ARM", ARCH_ARM, 322, { 10, 11, 12, 13, 14, 15 } },
};

/* There is no memory. */
static bool read_nothing(void *context, uint64_t addr, void *bytes, size_t size)
{
	(void)context;
	(void)addr;
	(void)bytes;
	(void)size;
	return false;
}

static const struct linux_reader nothing = { read_nothing, NULL };

static void take_row(void **state)
{
	const struct take_row *row = *state;
	uint64_t args[CALL_ARGS] = { 10, 11, 12, 13, 14, 15 };
	const struct linux_call *call;

	call = linux_call_made(row->arch, row->number, args, &nothing);
	assert_ptr_equal(call, linux_call_of(row->arch, row->number));
	for (unsigned i = 0; i < CALL_ARGS; i++)
		if (call->args[i].kind)
			assert_int_equal(args[i], row->args[i]);
}

/* Calls of i386 for several others; in memory there are 20, 21 and so on. */
struct unfold_row {
	const char *name;
	unsigned number, expected;
	uint64_t registers[CALL_ARGS], args[CALL_ARGS];
};

#define WORDS_AT 0x1000

static const struct unfold_row unfold_rows[] = {
	{ "socket", 102, CALL_socket, { 1, WORDS_AT }, { 20, 21, 22 } },
	{ "send", 102, CALL_send, { 9, WORDS_AT }, { 20, 21, 22, 23 } },
	{ "recvfrom", 102, CALL_recvfrom, { 12, WORDS_AT },
	  { 20, 21, 22, 23, 24, 25 } },
	{ "nothing of sockets", 102, CALL_socketcall, { 21, WORDS_AT },
	  { 21, WORDS_AT } },
	{ "socket of arguments nowhere", 102, CALL_socketcall, { 1, 5 },
	  { 1, 5 } },
	{ "semget", 117, CALL_semget, { 2, 11, 12, 13, 14, 15 },
	  { 11, 12, 13 } },
	{ "semctl", 117, CALL_semctl, { 3, 11, 12, 0x100 | 16, WORDS_AT },
	  { 11, 12, 16, 20 } },
	{ "msgrcv", 117, CALL_msgrcv, { 12, 11, 12, 13, WORDS_AT },
	  { 11, 20, 12, 21, 13 } },
	{ "msgrcv of a message nowhere", 117, CALL_ipc, { 12, 11, 12, 13, 5 },
	  { 12, 11, 12, 13, 5 } },
	{ "nothing of ipc", 117, CALL_ipc, { 5, 11, 12, 13 },
	  { 5, 11, 12, 13 } },
	{ "old mmap", 90, CALL_mmap, { WORDS_AT },
	  { 20, 21, 22, 23, 24, 25 } },
	{ "old mmap of arguments nowhere", 90, CALL_mmap, { 5 }, { 5 } },
	{ "old select", 82, CALL_select, { WORDS_AT }, { 20, 21, 22, 23, 24 } },
};

static bool read_words(void *context, uint64_t addr, void *bytes, size_t size)
{
	static const uint32_t words[CALL_ARGS] = { 20, 21, 22, 23, 24, 25 };

	(void)context;
	if (addr != WORDS_AT || size > sizeof(words))
		return false;
	memcpy(bytes, words, size);
	return true;
}

static void unfold_row(void **state)
{
	const struct linux_reader reader = { read_words, NULL };
	const struct unfold_row *row = *state;
	uint64_t args[CALL_ARGS];

	memcpy(args, row->registers, sizeof(args));
	assert_ptr_equal(linux_call_made(ARCH_I386, row->number, args, &reader),
			 &linux_calls[row->expected]);
	assert_memory_equal(args, row->args, sizeof(args));
}

/* A mark of newer structures is no part of the command. */
static void marked_command(void **state)
{
	uint64_t args[CALL_ARGS] = { 1, 2, 0x100 | 16, 3 };

	(void)state;
	linux_call_made(ARCH_ARM, 300, args, &nothing);
	assert_int_equal(args[2], 16);
}

static bool has_type(enum arg_kind kind)
{
	return (ARG_IN <= kind && kind <= ARG_INOUT_EINTR) ||
	       (ARG_ARRAY_IN <= kind && kind <= ARG_ARRAY_INOUT) ||
	       (ARG_VECTOR_IN <= kind && kind <= ARG_MESSAGES_OUT) ||
	       kind == ARG_MASK || kind == ARG_WORD;
}

/* What the argument may be that `other` is the number of; ARG_NONE: none. */
static bool is_partner(enum arg_kind kind, enum arg_kind other)
{
	switch (kind) {
	case ARG_BYTES_IN:
	case ARG_BYTES_OUT:
	case ARG_BYTES_INOUT:
		return other == ARG_SIZE;
	case ARG_ARRAY_IN:
	case ARG_ARRAY_OUT:
	case ARG_ARRAY_INOUT:
	case ARG_VECTOR_IN:
	case ARG_VECTOR_OUT:
	case ARG_MESSAGES_IN:
	case ARG_MESSAGES_OUT:
		return other == ARG_INT;
	case ARG_COUNTED_OUT:
		return other == ARG_LENGTH;
	case ARG_PATH_FOLLOWED:
		return true;
	default:
		return false;
	}
}

static bool needs_partner(enum arg_kind kind)
{
	return kind != ARG_PATH_FOLLOWED &&
	       (is_partner(kind, ARG_SIZE) || is_partner(kind, ARG_INT) ||
		is_partner(kind, ARG_LENGTH));
}

static bool is_sound(const struct linux_call *call, int i)
{
	const struct call_arg *arg = &call->args[i];
	bool is_result = i == CALL_RESULT;
	const struct guest_layout *layout = &abi_i386.layouts[arg->type];

	if (arg->kind >= ARG_KINDS || arg->type >= STRUCT_COUNT ||
	    arg->values >= VALUES_KINDS)
		return false;
	if (!is_result && i && arg->kind && !call->args[i - 1].kind)
		return false;		/* a hole */
	if (is_result && arg->kind >= ARG_PATH)
		return false;
	if ((arg->kind == ARG_VALUE || arg->kind == ARG_FLAGS) !=
	    (arg->values != VALUES_NONE))
		return false;
	if ((has_type(arg->kind) && !arg->type) ||
	    (arg->type && !has_type(arg->kind) && arg->kind != ARG_POINTER) ||
	    (arg->type && !layout->size))
		return false;
	if (arg->other >= CALL_ARGS)
		return false;
	/* Number 0 is none, except for a call whose count comes first. */
	return (!arg->other && !needs_partner(arg->kind)) ||
	       is_partner(arg->kind, call->args[arg->other].kind);
}

static void every_call_is_sound(void **state)
{
	(void)state;
	for (size_t k = 0; k < CALL_COUNT; k++)
		for (int i = 0; i <= CALL_RESULT; i++)
			if (!is_sound(&linux_calls[k], i))
				fail_msg("argument %d of %s", i,
					 linux_calls[k].name);
}

/* Calls without a function have arguments that marshal_call() passes on. */
static void every_call_is_performed(void **state)
{
	(void)state;
	for (size_t k = 0; k < CALL_COUNT; k++) {
		const struct linux_call *call = &linux_calls[k];

		assert_false(call->refusal && call_handler(call));
		for (int i = 0; i < CALL_ARGS; i++)
			if (!call->refusal && !call_handler(call) &&
			    !arg_is_marshalled(call->args[i].kind))
				fail_msg("argument %d of %s", i, call->name);
	}
}

/* A signal that a call sends is an argument; a futex is a word. */
static void orders_are_sound(void **state)
{
	(void)state;
	for (size_t k = 0; k < CALL_COUNT; k++) {
		const struct linux_call *call = &linux_calls[k];
		unsigned order = linux_call_order(call);
		bool signals = false, words = false;

		for (int i = 0; i < CALL_ARGS; i++) {
			signals |= call->args[i].kind == ARG_SIGNAL;
			words |= call->args[i].kind == ARG_WORD;
		}
		if (signals != !!(order & ORDER_SIGNALS) ||
		    words != !!(order & ORDER_FUTEX) ||
		    (order & ORDER_RECEIVES && order & ORDER_RECEIVES_SOME))
			fail_msg("%s", call->name);
	}
}

struct count_row {
	const char *name;
	enum linux_call_index call;
	unsigned expected;
};

static const struct count_row count_rows[] = {
	{ "getpid() has no argument", CALL_getpid, 0 },
	{ "close() has one", CALL_close, 1 },
	{ "openat() has four, and a result", CALL_openat, 4 },
	{ "mmap() has six", CALL_mmap, 6 },
};

static void count_row(void **state)
{
	const struct count_row *row = *state;

	assert_int_equal(linux_call_arguments(&linux_calls[row->call]),
			 row->expected);
}

/* ------- values ------- */

/* Linux 6.13. */
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#define MADV_GUARD_REMOVE 103
#endif

static const struct {
	const char *name;
	uint32_t table, host;
} values[] = {
#define VALUES(kind, field)
#define V(name, value) { #name, (uint32_t)(value), (uint32_t)(name) },
#define END
#include "vm/linux/abi/values.inc"
#undef VALUES
#undef V
#undef END
};

static void every_value_is_the_hosts(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(values); i++)
		if (values[i].table != values[i].host)
			fail_msg("%s is %#x", values[i].name, values[i].host);
}

struct text_row {
	const char *name;
	const char *expected;
	enum call_values kind;
	uint64_t value;
};

static const struct text_row text_rows[] = {
	{ "a field of 0", "O_RDONLY", VALUES_OPEN, 0 },
	{ "a field and flags", "O_RDWR|O_CREAT|O_CLOEXEC", VALUES_OPEN,
	  O_RDWR | O_CREAT | O_CLOEXEC },
	{ "the larger of two flags", "O_RDONLY|O_SYNC", VALUES_OPEN, O_SYNC },
	{ "a flag without a name", "O_WRONLY|0x40000000", VALUES_OPEN,
	  0x40000001 },
	{ "a field without a name", "0x3 /* O_??? */", VALUES_OPEN, 3 },
	{ "no flag", "0", VALUES_MSG, 0 },
	{ "no flag, which has a name", "PROT_NONE", VALUES_PROT, 0 },
	{ "the upper half does not count", "PROT_READ", VALUES_PROT,
	  (UINT64_C(5) << 32) | 1 },
	{ "one value", "F_GETFL", VALUES_FCNTL, F_GETFL },
	{ "one without a name", "0x4d2 /* F_??? */", VALUES_FCNTL, 1234 },
	{ "a negative one", "RUSAGE_CHILDREN", VALUES_RUSAGE,
	  (uint64_t)RUSAGE_CHILDREN },
	{ "a command with a flag", "FUTEX_WAIT_BITSET|FUTEX_CLOCK_REALTIME",
	  VALUES_FUTEX, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME },
	{ "a kind that there is not", "0x7", VALUES_NONE, 7 },
};

static void text_row(void **state)
{
	const struct text_row *row = *state;
	char text[100], cut[4];

	assert_int_equal(linux_values_text(text, sizeof(text), ARCH_X86_64,
					   row->kind, row->value),
			 strlen(row->expected));
	assert_string_equal(text, row->expected);
	linux_values_text(cut, sizeof(cut), ARCH_X86_64, row->kind, row->value);
	assert_int_equal(strncmp(cut, row->expected, strlen(cut)), 0);
	assert_int_equal(linux_values_text(cut, 0, ARCH_X86_64, row->kind,
					   row->value), 0);
}

/* ------- structures ------- */

struct size_row {
	const char *name;
	size_t expected;
	enum guest_struct type;
};

#define SIZE(name, type) { #type, sizeof(type), S_##name }

static const struct size_row size_rows[] = {
	SIZE(INT, int), SIZE(LONG, long), SIZE(STAT, struct stat),
	SIZE(STATFS, struct statfs), SIZE(STATX, struct statx),
	SIZE(TIMESPEC, struct timespec), SIZE(TIMEVAL, struct timeval),
	SIZE(TIMEZONE, struct timezone), SIZE(UTIMBUF, struct utimbuf),
	SIZE(TIMEX, struct timex), SIZE(TMS, struct tms),
	SIZE(ITIMERVAL, struct itimerval), SIZE(ITIMERSPEC, struct itimerspec),
	SIZE(RUSAGE, struct rusage), SIZE(RLIMIT, struct rlimit),
	SIZE(SYSINFO, struct sysinfo), SIZE(UTSNAME, struct utsname),
	SIZE(SIGINFO, siginfo_t), SIZE(SIGEVENT, struct sigevent),
	SIZE(SIGACTION, struct guest_action), SIZE(STACK, stack_t),
	SIZE(POLLFD, struct pollfd), SIZE(EPOLL_EVENT, struct epoll_event),
	SIZE(MQ_ATTR, struct mq_attr), SIZE(FLOCK, struct flock),
	SIZE(SEMBUF, struct sembuf), SIZE(OPEN_HOW, struct open_how),
	SIZE(IOVEC, struct iovec), SIZE(MSGHDR, struct msghdr),
	SIZE(MMSGHDR, struct mmsghdr), SIZE(SHMID_DS, struct shmid_ds),
	SIZE(SHMINFO, struct shminfo), SIZE(SHM_INFO, struct shm_info),
	SIZE(SEMID_DS, struct semid_ds), SIZE(SEMINFO, struct seminfo),
	SIZE(MSQID_DS, struct msqid_ds), SIZE(MSGINFO, struct msginfo),
	SIZE(CLONE_ARGS, struct clone_args),
	SIZE(ROBUST_LIST, struct robust_list_head),
};

static void size_row(void **state)
{
	const struct size_row *row = *state;
	const struct guest_layout *layout = &abi_x86_64.layouts[row->type];

	assert_int_equal(layout->size, row->expected);
	assert_int_equal(layout->host_size, row->expected);
	assert_int_equal(layout->count, 0);
}

static void is_layout_sound(const struct guest_layout *layout)
{
	assert_true(layout->size > 0 && layout->size <= STRUCT_MOST);
	for (unsigned k = 0; k < layout->count; k++) {
		const struct guest_member *member = &layout->members[k];

		assert_true(member->guest_at + member->guest_size <=
			    layout->size);
		assert_true(member->host_at + member->host_size <=
			    layout->host_size);
	}
}

/* Sizes that programs of ARM see where those of i386 see others. */
static void sizes_of_arm(void **state)
{
	const struct guest_layout *layouts = abi_arm.layouts;

	(void)state;
	assert_int_equal(layouts[S_STAT64].size, 104);
	assert_int_equal(layouts[S_FLOCK64].size, 32);
	assert_int_equal(layouts[S_EPOLL_EVENT].size, 16);
	assert_int_equal(layouts[S_STATFS64].size, 84);
	for (int i = S_NONE + 1; i < STRUCT_COUNT; i++)
		if (i != S_STAT64 && i != S_FLOCK64 && i != S_EPOLL_EVENT)
			assert_int_equal(layouts[i].size,
					 abi_i386.layouts[i].size);
}

static void every_struct_has_a_layout(void **state)
{
	(void)state;
	for (int i = S_NONE + 1; i < STRUCT_COUNT; i++) {
		assert_int_equal(abi_x86_64.layouts[i].size > 0,
				 i < S_STAT64);
		assert_true(abi_x86_64.layouts[i].size <= STRUCT_MOST);
		is_layout_sound(&abi_i386.layouts[i]);
		is_layout_sound(&abi_arm.layouts[i]);
	}
}

/* struct iovec and struct timespec as guests of 32 bits have them. */
static const struct guest_member timespec_members[] = {
	{ 0, 4, 0, 8, true }, { 4, 4, 8, 8, true },
};
static const struct guest_member iovec_members[] = {
	{ 0, 4, 0, 8, false }, { 4, 4, 8, 8, false },
};

struct convert_row {
	const char *name;
	const struct guest_member *members;
	uint32_t guest[2];
	uint64_t host[2];
};

static const struct convert_row convert_rows[] = {
	{ "a time", timespec_members, { 5, 7 }, { 5, 7 } },
	{ "a negative time", timespec_members, { UINT32_MAX, 7 },
	  { UINT64_MAX, 7 } },
	{ "an address above 2^31", iovec_members, { 0xfffff000, 16 },
	  { 0xfffff000, 16 } },
};

static void convert_row(void **state)
{
	const struct convert_row *row = *state;
	const struct guest_layout layout = { 8, 16, 2, row->members };
	uint64_t host[3] = { 1, 2, 3 };
	uint32_t guest[3] = { 1, 2, 3 };

	layout_in(&layout, host, row->guest);
	assert_memory_equal(host, row->host, sizeof(row->host));
	layout_out(&layout, guest, row->host);
	assert_memory_equal(guest, row->guest, sizeof(row->guest));
	/* Nothing behind is touched. */
	assert_int_equal(host[2], 3);
	assert_int_equal(guest[2], 3);
}

int main(void)
{
	struct test_list list = { 0 };

	add_test(&list, "numbers of the host", host_numbers, NULL);
	add_test(&list, "numbers of the guest", guest_numbers, NULL);
	add_test(&list, "numbers far away", numbers_far_away, NULL);
	add_test(&list, "numbers of ARM", numbers_of_arm, NULL);
	add_rows(&list, take_rows, take_row);
	add_rows(&list, unfold_rows, unfold_row);
	add_test(&list, "a marked command", marked_command, NULL);
	add_test(&list, "every call is sound", every_call_is_sound, NULL);
	add_test(&list, "every call is performed", every_call_is_performed,
		 NULL);
	add_test(&list, "orders are sound", orders_are_sound, NULL);
	add_rows(&list, count_rows, count_row);
	add_test(&list, "every value is the host's", every_value_is_the_hosts,
		 NULL);
	add_rows(&list, text_rows, text_row);
	add_rows(&list, size_rows, size_row);
	add_test(&list, "every structure has a layout",
		 every_struct_has_a_layout, NULL);
	add_test(&list, "sizes of ARM", sizes_of_arm, NULL);
	add_rows(&list, convert_rows, convert_row);
	return run_list("linux_calls", &list);
}
