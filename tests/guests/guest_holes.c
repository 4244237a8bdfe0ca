/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_holes.c - calls for ranges in which not all is mapped, or is alike */
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/guests/guest.h"

enum {
	PAGE = 4096,
	PAGES = 7,
	PROTECT = 1000,		/* and a protection */
	SYNC = 2000,
	IN_CORE,
	DONTNEED_LOCKED = 24,	/* which not all headers have */
};

/*
 * A letter a page.  Before: private (w), for reading only (r), without any
 * right (n), shared (s); private (f), shared (F) of a file; a hole (.).
 * After: none (n) or a hole (.); zeros (z), the file's byte (g) or ours (r),
 * in capitals what may be written.
 */
static const struct row {
	int call;		/* of madvise(), or one of the above */
	const char *before, *after;
	int error;
} rows[] = {
	{ PROTECT + PROT_READ, "wwwwwww", "rrrrrrr", 0 },
	{ PROTECT + PROT_READ, ".wwwww.", ".RRRRR.", ENOMEM },
	{ PROTECT + PROT_READ, "ww.www.", "rr.RRR.", ENOMEM },
	{ PROTECT + PROT_READ, "wwwww..", "rrrrr..", ENOMEM },
	{ PROTECT + PROT_READ, "wrwnw.w", "rrrrr.R", ENOMEM },
	{ PROTECT + PROT_READ, "wsw.fwF", "rrr.RRG", ENOMEM },
	{ PROTECT + PROT_READ, "sw.wwww", "rr.RRRR", ENOMEM },
	{ PROTECT + PROT_READ, "nn.wwww", "rr.RRRR", ENOMEM },
	{ PROTECT + PROT_READ, "FFF.FFs", "ggg.GGR", ENOMEM },
	{ PROTECT + PROT_READ, ".......", ".......", ENOMEM },
	{ PROTECT + PROT_READ, "wwwwwn.", "rrrrrr.", ENOMEM },
	{ PROTECT, "w.w.w.w", "n.R.R.R", ENOMEM },
	{ PROTECT, "ffw.wff", "nnn.RRR", ENOMEM },
	{ PROTECT, "wwwww..", "nnnnn..", ENOMEM },
	{ PROTECT + PROT_READ + PROT_WRITE, "wrwnw.w", "RRRRR.R", ENOMEM },
	{ PROTECT + PROT_READ + PROT_WRITE, "r.wwwww", "R.RRRRR", ENOMEM },
	{ PROTECT + PROT_READ + PROT_WRITE, "wwwwwn.", "RRRRRR.", ENOMEM },
	{ MADV_DONTNEED, "wwwwwww", "ZZZZZZZ", 0 },
	{ MADV_DONTNEED, ".wwwww.", ".ZZZZZ.", ENOMEM },
	{ MADV_DONTNEED, "ww.www.", "ZZ.ZZZ.", ENOMEM },
	{ MADV_DONTNEED, "w.w.w.w", "Z.Z.Z.Z", ENOMEM },
	{ MADV_DONTNEED, "wrwnw.w", "ZzZnZ.Z", ENOMEM },
	{ MADV_DONTNEED, "wsw.fwF", "ZRZ.GZG", ENOMEM },
	{ MADV_DONTNEED, "sw.wwww", "RZ.ZZZZ", ENOMEM },
	{ MADV_DONTNEED, "...wwww", "...ZZZZ", ENOMEM },
	{ MADV_DONTNEED, "wfF.Ffw", "ZGG.GGZ", ENOMEM },
	{ MADV_DONTNEED, "wwwww..", "ZZZZZ..", ENOMEM },
	{ MADV_DONTNEED, "FFF.FFs", "GGG.GGR", ENOMEM },
	{ MADV_DONTNEED, ".......", ".......", ENOMEM },
	{ DONTNEED_LOCKED, "w.w.w.w", "Z.Z.Z.Z", ENOMEM },
	{ MADV_NORMAL, "wwwwwww", "RRRRRRR", 0 },
	{ MADV_NORMAL, ".wwwww.", ".RRRRR.", ENOMEM },
	{ MADV_NORMAL, "w.w.w.w", "R.R.R.R", ENOMEM },
	{ MADV_NORMAL, ".......", ".......", ENOMEM },
	{ MADV_WILLNEED, "ww.www.", "RR.RRR.", ENOMEM },
	{ MADV_DONTDUMP, "ww.www.", "RR.RRR.", ENOMEM },
	{ MADV_FREE, "sw.wwww", "RR.RRRR", EINVAL },
	{ MADV_FREE, "FFF.FFs", "GGG.GGR", EINVAL },
	{ MADV_REMOVE, "FFF.FFs", "ZZZ.ZZZ", ENOMEM },
	{ MADV_REMOVE, "sF.Fsww", "ZZ.ZZRR", EINVAL },
	{ MADV_REMOVE, "...wwww", "...RRRR", EINVAL },
	{ MADV_REMOVE, "wfF.Ffw", "RRG.GRR", EINVAL },
	{ MADV_REMOVE, ".......", ".......", ENOMEM },
	{ MADV_POPULATE_READ, "wwwwwww", "RRRRRRR", 0 },
	{ MADV_POPULATE_READ, "ww.www.", "RR.RRR.", ENOMEM },
	{ MADV_POPULATE_READ, "nn.wwww", "nn.RRRR", EINVAL },
	{ MADV_POPULATE_READ, "wrwnw.w", "RrRnR.R", EINVAL },
	{ MADV_POPULATE_READ, ".......", ".......", ENOMEM },
	{ MADV_POPULATE_WRITE, "wwwwwww", "RRRRRRR", 0 },
	{ MADV_POPULATE_WRITE, "ww.www.", "RR.RRR.", ENOMEM },
	{ MADV_POPULATE_WRITE, "r.wwwww", "r.RRRRR", EINVAL },
	{ MADV_POPULATE_WRITE, "wsw.fwF", "RRR.RRG", ENOMEM },
	{ SYNC, "ww.www.", "RR.RRR.", ENOMEM },
	{ SYNC, "FFF.FFs", "GGG.GGR", ENOMEM },
	{ IN_CORE, "ww.www.", "RR.RRR.", ENOMEM },
};

static int file, ends[2];

static void map_page(char *at, char letter, int index)
{
	int prot = PROT_READ | PROT_WRITE, flags = MAP_FIXED;
	int is_file = letter == 'f' || letter == 'F';

	if (letter == '.') {
		CHECK(!munmap(at, PAGE));
		return;
	}
	flags |= letter == 's' || letter == 'F' ? MAP_SHARED : MAP_PRIVATE;
	flags |= is_file ? 0 : MAP_ANONYMOUS;
	CHECK(mmap(at, PAGE, prot, flags, is_file ? file : -1,
		   is_file ? index * PAGE : 0) == at);
	if (letter != 'F')
		*at = 'r';
	if (letter == 'r' || letter == 'n')
		CHECK(!mprotect(at, PAGE, letter == 'r' ? PROT_READ : 0));
}

static char *lay(const char *letters)
{
	char *at = mmap(NULL, PAGES * PAGE, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(at != MAP_FAILED);
	for (int i = 0; i < PAGES; i++) {
		CHECK(pwrite(file, "g", 1, i * PAGE) == 1);
		map_page(at + i * PAGE, letters[i], i);
	}
	return at;
}

/* The kernel says what may be done: no signal is needed. */
static char letter_of(char *at)
{
	unsigned char there;
	char byte;

	if (write(ends[1], at, 1) != 1)
		return mincore(at, PAGE, &there) ? '.' : 'n';
	CHECK(read(ends[0], &byte, 1) == 1 && write(ends[1], &byte, 1) == 1);
	byte = byte ? byte : 'z';
	if (read(ends[0], at, 1) == 1)
		return (char)(byte - 'a' + 'A');
	CHECK(read(ends[0], &there, 1) == 1);
	return byte;
}

static int do_call(int call, char *at)
{
	unsigned char there[PAGES];

	if (call == SYNC)
		return msync(at, PAGES * PAGE, MS_ASYNC);
	if (call == IN_CORE)
		return mincore(at, PAGES * PAGE, there);
	if (call >= PROTECT)
		return mprotect(at, PAGES * PAGE, call - PROTECT);
	return madvise(at, PAGES * PAGE, call);
}

static void test_row(const struct row *row)
{
	char *at = lay(row->before), after[PAGES + 1] = { 0 };
	int error = do_call(row->call, at) ? errno : 0;

	for (int i = 0; i < PAGES; i++)
		after[i] = letter_of(at + i * PAGE);
	if (error != row->error || strcmp(after, row->after) != 0)
		printf("call %d, %s: %s, errno %d\n", row->call, row->before,
		       after, error);
	CHECK(error == row->error && !strcmp(after, row->after));
	munmap(at, PAGES * PAGE);
}

int main(void)
{
	file = (int)syscall(SYS_memfd_create, "file", 0);
	CHECK(file >= 0 && !ftruncate(file, PAGES * PAGE));
	CHECK(!pipe(ends));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		test_row(&rows[i]);
	return guest_end();
}
