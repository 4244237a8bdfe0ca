/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bare_calls.c - system calls of bare.c's programs: most go to the host */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "bare.h"

const char *sysroot;

static bool is_narrow(void)
{
	return word_size(guest) == 4;
}

const char *path_found(const char *path)
{
	static char found[PATH_SIZE];

	if (!sysroot || *path != '/')
		return path;
	snprintf(found, sizeof(found), "%s%s", sysroot, path);
	return access(found, F_OK) ? path : found;
}

static int64_t from_host(long result)
{
	return result < 0 ? -errno : result;
}

/* Both ARMs' flags of open() that have other bits than the host's. */
static uint64_t open_flags(uint64_t flags)
{
	static const struct {
		uint64_t theirs, ours;
	} moved[] = {
		{ 040000, O_DIRECTORY },
		{ 0100000, O_NOFOLLOW },
		{ 0200000, O_DIRECT },
		{ 0400000, 0100000 /* O_LARGEFILE */ },
	};
	uint64_t found = flags & ~UINT64_C(0740000);

	if (guest->number != ARM64 && guest->number != ARM)
		return flags;
	for (unsigned i = 0; i < sizeof(moved) / sizeof(*moved); i++)
		found |= flags & moved[i].theirs ? moved[i].ours : 0;
	return found;
}

/* ------- those that do not go to the host as they are ------- */

static int64_t do_nothing(const uint64_t *a)
{
	(void)a;
	return 0;
}

static int64_t do_refuse(const uint64_t *a)
{
	(void)a;
	return -ENOSYS;
}

static int64_t do_get_thread(const uint64_t *a)
{
	(void)a;
	return gettid();
}

static int64_t do_mmap(const uint64_t *a)
{
	return map(a[0], a[1], (unsigned)a[2], (unsigned)a[3], (int)a[4], a[5]);
}

static int64_t do_mmap2(const uint64_t *a)
{
	return map(a[0], a[1], (unsigned)a[2], (unsigned)a[3], (int)a[4],
		   a[5] << PAGE_SHIFT);
}

static int64_t do_munmap(const uint64_t *a)
{
	map_zeros(a[0], a[1], 0);
	return 0;
}

static int64_t do_mprotect(const uint64_t *a)
{
	set_pages(a[0], a[1], (unsigned)a[2]);
	return 0;
}

static int64_t do_mremap(const uint64_t *a)
{
	return move(a[0], a[1], a[2], a[3]);
}

static int64_t do_brk(const uint64_t *a)
{
	return set_heap_end(a[0]);
}

static int64_t do_thread_pointer(const uint64_t *a)
{
	return guest->set_thread_pointer(a);
}

static int64_t do_llseek(const uint64_t *a)
{
	int64_t at = from_host(
		lseek((int)a[0], (off_t)(a[1] << 32 | a[2]), (int)a[4]));

	if (at < 0)
		return at;
	memcpy(host(a[3]), &at, sizeof(at));
	return 0;
}

/* AArch64's struct stat. */
static void put_stat(void *to, const struct stat *s)
{
	const struct {
		uint64_t dev, ino;
		uint32_t mode, nlink, uid, gid;
		uint64_t rdev, pad;
		int64_t size, blksize, blocks, times[6];
		uint32_t unused[2];
	} found = {
		.dev = s->st_dev, .ino = s->st_ino,
		.mode = s->st_mode, .nlink = (uint32_t)s->st_nlink,
		.uid = s->st_uid, .gid = s->st_gid,
		.rdev = s->st_rdev, .size = s->st_size,
		.blksize = s->st_blksize, .blocks = s->st_blocks,
		.times = {
			s->st_atim.tv_sec, s->st_atim.tv_nsec,
			s->st_mtim.tv_sec, s->st_mtim.tv_nsec,
			s->st_ctim.tv_sec, s->st_ctim.tv_nsec,
		},
	};

	memcpy(to, &found, sizeof(found));
}

static int64_t do_fstat(const uint64_t *a)
{
	struct stat found;

	if (fstat((int)a[0], &found))
		return -errno;
	put_stat(host(a[1]), &found);
	return 0;
}

static int64_t do_fstatat(const uint64_t *a)
{
	struct stat found;

	if (fstatat((int)a[0], path_found(host(a[1])), &found, (int)a[3]))
		return -errno;
	put_stat(host(a[2]), &found);
	return 0;
}

/* Of 32 bits: memory is told in pages. */
static int64_t do_sysinfo(const uint64_t *a)
{
	struct sysinfo s;
	uint32_t *to = host(a[0]);
	uint64_t unit;

	if (sysinfo(&s))
		return -errno;
	unit = PAGE / s.mem_unit;
	memset(to, 0, 64);
	to[0] = (uint32_t)s.uptime;
	for (unsigned i = 0; i < 3; i++)
		to[1 + i] = (uint32_t)s.loads[i];
	to[4] = (uint32_t)(s.totalram / unit);
	to[5] = (uint32_t)(s.freeram / unit);
	to[6] = (uint32_t)(s.sharedram / unit);
	to[7] = (uint32_t)(s.bufferram / unit);
	to[8] = (uint32_t)(s.totalswap / unit);
	to[9] = (uint32_t)(s.freeswap / unit);
	to[10] = s.procs;
	to[13] = PAGE;
	return 0;
}

/* Of 32 bits: what does not fit is as good as none. */
static int64_t do_getrlimit(const uint64_t *a)
{
	struct rlimit found;
	uint32_t *to = host(a[1]);

	if (getrlimit((int)a[0], &found))
		return -errno;
	to[0] = found.rlim_cur > UINT32_MAX ? UINT32_MAX
					    : (uint32_t)found.rlim_cur;
	to[1] = found.rlim_max > UINT32_MAX ? UINT32_MAX
					    : (uint32_t)found.rlim_max;
	return 0;
}

/* ------- which there are ------- */

/*
 * Which arguments are pointers, and names of files; argument 2 has flags of
 * open(); argument 3 has 64 bits.
 */
enum {
	A0 = 1,
	A1 = 2,
	A2 = 4,
	A3 = 8,
	A4 = 16,
	NAME = 0x100,
	NAME0 = NAME | A0,
	NAME1 = NAME << 1 | A1,
	FLAGS2 = 0x400,
	WIDE3 = 0x800,
};
enum { NO = -1 };

static const struct call {
	int numbers[GUESTS]; /* x86-64 is the host, too */
	unsigned kinds;
	int64_t (*own)(const uint64_t *args);
} calls[] = {
	{ { SYS_access, NO, 33, 33 }, NAME0 },
	{ { SYS_arch_prctl, NO, 0xf0005, 243 }, 0, do_thread_pointer },
	{ { SYS_brk, 214, 45, 45 }, 0, do_brk },
	{ { SYS_clock_gettime, 113, NO, NO }, A1 },
	{ { SYS_clock_gettime, NO, 403, 403 }, A1 },
	{ { SYS_clone, 220, 120, 120 }, 0, do_refuse },
	{ { SYS_clone3, 435, 435, 435 }, 0, do_refuse },
	{ { SYS_close, 57, 6, 6 } },
	{ { SYS_connect, 203, 283, 362 }, A1 },
	{ { SYS_dup, 23, 41, 41 } },
	{ { SYS_dup2, NO, 63, 63 } },
	{ { SYS_exit_group, 94, 248, 252 } },
	{ { SYS_faccessat, 48, 334, 307 }, NAME1 },
	{ { SYS_faccessat2, 439, 439, 439 }, NAME1 },
	{ { SYS_fadvise64, 223, 270, 272 }, 0, do_nothing },
	{ { SYS_fcntl, 25, 221, 221 } }, /* no locks */
	{ { SYS_fstat, NO, NO, NO }, A1 },
	{ { NO, 80, NO, NO }, 0, do_fstat },
	{ { SYS_futex, 98, 240, 240 }, A0 | A3 }, /* nobody waits */
	{ { SYS_futex, NO, 422, 422 }, A0 | A3 },
	{ { SYS_getcwd, 17, 183, 183 }, A0 },
	{ { SYS_getdents64, 61, 217, 220 }, A1 },
	{ { SYS_getegid, 177, 202, 202 } },
	{ { SYS_geteuid, 175, 201, 201 } },
	{ { SYS_getgid, 176, 200, 200 } },
	{ { SYS_getpgrp, NO, 65, 65 } },
	{ { SYS_getpid, 172, 20, 20 } },
	{ { SYS_getppid, 173, 64, 64 } },
	{ { SYS_getrandom, 278, 384, 355 }, A0 },
	{ { SYS_getresgid, 150, 211, 211 }, A0 | A1 | A2 },
	{ { SYS_getresuid, 148, 209, 209 }, A0 | A1 | A2 },
	{ { SYS_getrusage, 165, NO, NO }, A1 },
	{ { SYS_gettid, 178, 224, 224 } },
	{ { SYS_gettimeofday, 169, NO, NO }, A0 | A1 },
	{ { SYS_getuid, 174, 199, 199 } },
	{ { SYS_ioctl, 29, 54, 54 }, A2 },
	{ { SYS_lseek, 62, NO, NO } },
	{ { NO, NO, 140, 140 }, 0, do_llseek },
	{ { SYS_madvise, 233, 220, 219 }, A0 },
	{ { SYS_mmap, 222, NO, NO }, 0, do_mmap },
	{ { NO, NO, 192, 192 }, 0, do_mmap2 },
	{ { SYS_mprotect, 226, 125, 125 }, 0, do_mprotect },
	{ { SYS_mremap, 216, 163, 163 }, 0, do_mremap },
	{ { SYS_munmap, 215, 91, 91 }, 0, do_munmap },
	{ { SYS_newfstatat, NO, NO, NO }, NAME1 | A2 },
	{ { NO, 79, NO, NO }, 0, do_fstatat },
	{ { SYS_open, NO, NO, NO }, NAME0 },
	{ { SYS_openat, 56, 322, 295 }, NAME1 | FLAGS2 },
	{ { SYS_pipe2, 59, 359, 331 }, A0 },
	{ { SYS_poll, NO, 168, 168 }, A0 },
	{ { SYS_ppoll, 73, NO, NO }, A0 | A2 | A3 },
	{ { SYS_pread64, 67, 180, 180 }, A1 | WIDE3 },
	{ { SYS_prlimit64, 261, 369, 340 }, A2 | A3 },
	{ { SYS_pwrite64, 68, 181, 181 }, A1 | WIDE3 },
	{ { SYS_read, 63, 3, 3 }, A1 },
	{ { SYS_readlink, NO, 85, 85 }, NAME0 | A1 },
	{ { SYS_readlinkat, 78, 332, 305 }, NAME1 | A2 },
	{ { SYS_rseq, 293, 398, 386 }, 0, do_refuse },
	/* There are no signals and no threads. */
	{ { SYS_rt_sigaction, 134, 174, 174 }, 0, do_nothing },
	{ { SYS_rt_sigprocmask, 135, 175, 175 }, 0, do_nothing },
	{ { SYS_sched_getaffinity, 123, 242, 242 }, A2 },
	{ { SYS_set_robust_list, 99, 338, 311 }, 0, do_nothing },
	{ { SYS_set_tid_address, 96, 256, 258 }, 0, do_get_thread },
	{ { SYS_sigaltstack, 132, 186, 186 }, 0, do_nothing },
	{ { SYS_socket, 198, 281, 359 } },
	{ { NO, NO, NO, 102 }, 0, do_refuse }, /* socketcall */
	{ { SYS_stat, NO, NO, NO }, NAME0 | A1 },
	{ { SYS_statx, 291, 397, 383 }, NAME1 | A4 },
	{ { SYS_sysinfo, 179, NO, NO }, A0 },
	{ { NO, NO, 116, 116 }, 0, do_sysinfo },
	{ { SYS_tgkill, 131, 268, 270 } },
	{ { SYS_time, NO, NO, NO }, A0 },
	{ { NO, NO, 191, 191 }, 0, do_getrlimit },
	{ { SYS_uname, 160, 122, 122 }, A0 },
	{ { SYS_unlink, NO, 10, 10 }, A0 },
	{ { SYS_unlinkat, 35, 328, 301 }, A1 },
	{ { SYS_write, 64, 4, 4 }, A1 },
};

/* An argument of 64 bits is in two registers, of ARM an even and an odd one. */
static uint64_t wide(const uint64_t *args, unsigned at)
{
	if (!is_narrow())
		return args[at];
	at += guest->number == ARM && at % 2;
	return args[at] | args[at + 1] << 32;
}

static uint64_t argument(const struct call *call, const uint64_t *args,
			 unsigned i)
{
	unsigned kinds = call->kinds;

	if (i == 2 && kinds & FLAGS2)
		return open_flags(args[i]);
	if (i == 3 && kinds & WIDE3)
		return wide(args, i);
	if (!args[i] || !(kinds & 1u << i))
		return args[i];
	return i < 2 && kinds & NAME << i ? (uintptr_t)path_found(host(args[i]))
					  : (uintptr_t)host(args[i]);
}

static int64_t pass(const struct call *call, const uint64_t *args)
{
	uint64_t passed[CALL_ARGUMENTS];

	for (unsigned i = 0; i < CALL_ARGUMENTS; i++)
		passed[i] = argument(call, args, i);
	return from_host(syscall(call->numbers[X86_64], passed[0], passed[1],
				 passed[2], passed[3], passed[4], passed[5]));
}

static int64_t perform(uint64_t number, const uint64_t *args)
{
	for (unsigned i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		const struct call *call = &calls[i];

		if (call->numbers[guest->number] == (int64_t)number)
			return call->own ? call->own(args) : pass(call, args);
	}
	fprintf(stderr, "bare: no system call %llu\n",
		(unsigned long long)number);
	return -ENOSYS;
}

void perform_call(void)
{
	uint64_t values[1 + CALL_ARGUMENTS] = { 0 };
	int regs[1 + CALL_ARGUMENTS] = { guest->call };
	void *at[1 + CALL_ARGUMENTS];
	int64_t result;

	memcpy(regs + 1, guest->args, sizeof(guest->args));
	for (unsigned i = 0; i < 1 + CALL_ARGUMENTS; i++)
		at[i] = &values[i];
	check(uc_reg_read_batch(uc, regs, at, 1 + CALL_ARGUMENTS));
	result = perform(values[0], values + 1);
	check(uc_reg_write(uc, guest->result, &result));
}
