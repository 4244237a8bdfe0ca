/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_proc.c - what /proc says of this process's memory, and lets it do there
 *
 * Files are read with read(2) into memory that is there from the start, so that
 * looking changes nothing.
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/guests/guest.h"
#include "tests/guests/guest_machine.h"

#define PAGES 64
#define PAGE 4096

static char text[1 << 20], other[1 << 20];
static volatile int known = 0x12345678;

/* The whole file, NUL-ended; its size, or -1. */
static ssize_t slurp(const char *path, char *to)
{
	int fd = open(path, O_RDONLY);
	ssize_t size = 0, got = -1;

	while (fd >= 0 &&
	       (got = read(fd, to + size, sizeof(text) - 1 - size)) > 0)
		size += got;
	to[size] = '\0';
	close(fd);
	return fd < 0 || got < 0 ? -1 : size;
}

/* The number behind a name at the start of a line; -1 if there is none. */
static long number_of(const char *lines, const char *name)
{
	const char *at = lines;

	while (at && strncmp(at, name, strlen(name)) != 0) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	return at ? strtol(at + strlen(name), NULL, 10) : -1;
}

/* ------- smaps ------- */

struct mapping {
	unsigned long start, end;
	char perms[5];
};

/* Whether a line is that of a mapping; the kernel's own page is not ours. */
static bool parse_mapping(const char *line, struct mapping *out)
{
	const char *end = strchr(line, '\n');
	const char *name = strstr(line, "[vsyscall]");

	return sscanf(line, "%lx-%lx %4s", &out->start, &out->end,
		      out->perms) == 3 &&
	       !(name && name < end);
}

/* The lines about the mapping that holds an address; NULL. */
static const char *lines_about(const char *lines, const void *addr)
{
	struct mapping map;

	for (const char *at = lines; at && *at; at = strchr(at, '\n') + 1)
		if (parse_mapping(at, &map) && map.start <= (uintptr_t)addr &&
		    (uintptr_t)addr < map.end)
			return strchr(at, '\n') + 1;
	return NULL;
}

static bool is_consistent(const struct mapping *map, const char *lines)
{
	long rss = number_of(lines, "Rss:");
	long parts = number_of(lines, "Shared_Clean:") +
		     number_of(lines, "Shared_Dirty:") +
		     number_of(lines, "Private_Clean:") +
		     number_of(lines, "Private_Dirty:");
	long size = (long)((map->end - map->start) / 1024);

	return number_of(lines, "Size:") == size && rss >= 0 && rss <= size &&
	       parts == rss && number_of(lines, "Pss:") <= rss &&
	       number_of(lines, "Anonymous:") <= rss &&
	       number_of(lines, "KernelPageSize:") == 4;
}

/* The same mappings as in maps, and together as large as they should be. */
static void test_smaps(void)
{
	const char *at = other;
	struct mapping map, same;
	long size = 0, rss = 0, all;
	int wrong = 0, inconsistent = 0;

	CHECK(slurp("/proc/self/maps", other) > 0);
	CHECK(slurp("/proc/self/smaps", text) > 0);
	for (const char *line = text; line && *line;
	     line = strchr(line, '\n') + 1) {
		if (!parse_mapping(line, &map))
			continue;
		while (*at && !parse_mapping(at, &same))
			at = strchr(at, '\n') + 1;
		wrong += !*at || strncmp(at, line, strcspn(line, "\n")) != 0;
		at = strchr(at, '\n') + 1;
		line = strchr(line, '\n') + 1;
		inconsistent += !is_consistent(&map, line);
		size += number_of(line, "Size:");
		rss += number_of(line, "Rss:");
	}
	CHECK(!inconsistent);
	CHECK(!wrong && (!*at || !parse_mapping(at, &same)));
	CHECK(slurp("/proc/self/status", text) > 0);
	CHECK(number_of(text, "VmSize:") == size);
	CHECK(slurp("/proc/self/smaps_rollup", text) > 0);
	CHECK(strstr(text, "[rollup]") != NULL);
	all = number_of(text, "Rss:");
	/* Code of the library has come meanwhile. */
	CHECK(labs(all - rss) <= 1024);
	CHECK(number_of(text, "Pss:") <= all);
}

static long rss_of(const void *addr)
{
	const char *lines;

	CHECK(slurp("/proc/self/smaps", text) > 0);
	lines = lines_about(text, addr);
	return lines ? number_of(lines, "Rss:") / 4 : -1;
}

/* Of how many pages pagemap says that they are there. */
static int present(int pagemap, const char *from, int pages)
{
	uint64_t entries[PAGES] = { 0 };
	int count = 0;

	CHECK(pread(pagemap, entries, 8 * pages,
		    (off_t)((uintptr_t)from / PAGE * 8)) == 8 * pages);
	for (int i = 0; i < pages; i++)
		count += entries[i] >> 63 & 1;
	return count;
}

static void test_present(void)
{
	int pagemap = open("/proc/self/pagemap", O_RDONLY);
	char *map = mmap(NULL, (PAGES + 2) * PAGE, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *pages = map + PAGE;

	/* Neighbours without permissions keep it a mapping of its own. */
	CHECK(!mprotect(pages, PAGES * PAGE, PROT_READ | PROT_WRITE));
	CHECK(pagemap >= 0);
	CHECK(rss_of(pages) == 0 && present(pagemap, pages, PAGES) == 0);
	for (int i = 0; i < 5; i++)
		pages[i * 3 * PAGE] = 1;
	CHECK(rss_of(pages) == 5 && present(pagemap, pages, PAGES) == 5);
	CHECK(present(pagemap, pages + PAGE, 2) == 0);
	CHECK(!madvise(pages, 4 * PAGE, MADV_DONTNEED));
	CHECK(rss_of(pages) == 3 && present(pagemap, pages, PAGES) == 3);
	CHECK(!munmap(map, (PAGES + 2) * PAGE));
	CHECK(present(pagemap, pages, PAGES) == 0);
	CHECK(pread(pagemap, text, 4, 0) == -1 && errno == EINVAL);
	CHECK(pread(pagemap, text, 8, 3) == -1 && errno == EINVAL);
	CHECK(pread(pagemap, text, 8, (off_t)1 << 50) == 0);
	close(pagemap);
}

/* A mapping that is longer than its file has the permissions it was given. */
static void test_tail(void)
{
	int fd = open("tail", O_CREAT | O_RDWR | O_TRUNC, 0600);
	char *page;
	struct mapping map = { 0 };
	const char *at;

	CHECK(write(fd, "x", 1) == 1);
	page = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(page != MAP_FAILED);
	CHECK(slurp("/proc/self/maps", text) > 0);
	for (at = text; *at; at = strchr(at, '\n') + 1)
		if (parse_mapping(at, &map) && map.start == (uintptr_t)page)
			break;
	CHECK(map.end - map.start == 3 * PAGE && !strcmp(map.perms, "rw-s"));
	munmap(page, 3 * PAGE);
	close(fd);
	unlink("tail");
}

/* ------- stat, statm, status ------- */

static void parse_statm(const char *lines, long out[7])
{
	CHECK(sscanf(lines, "%ld %ld %ld %ld %ld %ld %ld", out, out + 1,
		     out + 2, out + 3, out + 4, out + 5, out + 6) == 7);
}

static void test_sizes(void)
{
	long statm[7] = { 0 };

	CHECK(slurp("/proc/self/statm", text) > 0);
	CHECK(slurp("/proc/self/status", other) > 0);
	parse_statm(text, statm);
	CHECK(number_of(other, "VmSize:") == statm[0] * 4);
	CHECK(labs(number_of(other, "VmRSS:") - statm[1] * 4) <= 256);
	CHECK(statm[2] <= statm[1] && statm[4] == 0 && statm[6] == 0);
	CHECK(number_of(other, "VmExe:") == statm[3] * 4);
	CHECK(number_of(other, "VmData:") + number_of(other, "VmStk:") ==
	      statm[5] * 4);
	CHECK(number_of(other, "RssAnon:") + number_of(other, "RssFile:") +
		      number_of(other, "RssShmem:") ==
	      number_of(other, "VmRSS:"));
	CHECK(number_of(other, "VmPeak:") >= number_of(other, "VmSize:"));
	CHECK(number_of(other, "VmLib:") > 0 && number_of(other, "VmPTE:") > 0);
}

/* One descriptor, read again: it says what is now. */
static void test_again(void)
{
	int fd = open("/proc/self/statm", O_RDONLY), copy = dup(fd);
	long before[7] = { 0 }, after[7] = { 0 };
	char line[200] = "";
	char *map;

	CHECK(read(fd, line, sizeof(line) - 1) > 0);
	parse_statm(line, before);
	map = mmap(NULL, 300 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		   0);
	CHECK(read(fd, line, sizeof(line) - 1) == 0);
	CHECK(pread(copy, line, sizeof(line) - 1, 0) > 0);
	parse_statm(line, after);
	CHECK(after[0] == before[0] + 300 && after[5] == before[5]);
	munmap(map, 300 * PAGE);
	CHECK(lseek(copy, 0, SEEK_SET) == 0);
	CHECK(read(fd, line, sizeof(line) - 1) > 0);
	parse_statm(line, after);
	CHECK(after[0] == before[0]);
	CHECK(write(fd, "x", 1) == -1 && errno == EBADF);
	close(fd);
	close(copy);
}

/* It is the file that the path leads to; programs that copy compare. */
static void test_identity(void)
{
	int fd = open("/proc/self/maps", O_RDONLY);
	struct stat about, opened;
	struct statfs system;
	struct statx more;

	CHECK(!stat("/proc/self/maps", &about) && !fstat(fd, &opened));
	CHECK(about.st_dev == opened.st_dev && about.st_ino == opened.st_ino);
	CHECK(opened.st_size == 0 && opened.st_mode == (S_IFREG | 0444));
	CHECK(!statx(fd, "", AT_EMPTY_PATH, STATX_INO, &more));
	CHECK(more.stx_ino == about.st_ino);
	CHECK(!fstatfs(fd, &system) && system.f_type == PROC_SUPER_MAGIC);
	close(fd);
}

/* Fields of stat by their numbers in proc(5); field 2 is left out. */
static void parse_stat(const char *line, unsigned long long out[53])
{
	const char *at = strrchr(line, ')');
	char *end;

	CHECK(at != NULL);
	out[1] = strtoull(line, NULL, 10);
	at += 3; /* the third is a letter */
	for (int i = 4; i <= 52; i++, at = end)
		out[i] = strtoull(at, &end, 10);
	CHECK(*at == '\n');
}

/* Signals that were ignored at the start stay so: SIGINT of a shell's `&`. */
static unsigned long long ignored_signals(void)
{
	unsigned long long ignored = 0;
	struct sigaction action;

	for (int sig = 1; sig < 32; sig++)
		if (!sigaction(sig, NULL, &action) &&
		    action.sa_handler == SIG_IGN)
			ignored |= 1ull << (sig - 1);
	return ignored;
}

static void test_stat(char **argv, char **envp)
{
	static unsigned long long stat[53];
	static int initialized = 1;
	sigset_t set, old;
	long statm[7] = { 0 };
	const char *own = strrchr(argv[0], '/');
	char name[40] = "";

	own = own ? own + 1 : argv[0];
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, &old);
	CHECK(slurp("/proc/self/stat", text) > 0);
	sigprocmask(SIG_SETMASK, &old, NULL);
	CHECK(slurp("/proc/self/statm", other) > 0);
	parse_statm(other, statm);
	parse_stat(text, stat);
	CHECK(stat[32] == 1 << (SIGUSR2 - 1) && stat[34] == 0);
	CHECK(stat[33] == ignored_signals());
	snprintf(name, sizeof(name), "(%.15s) R", own);
	CHECK(strstr(text, name) != NULL);
	CHECK(stat[1] == (unsigned)getpid() && stat[4] == (unsigned)getppid());
	CHECK(stat[20] == 1 && stat[23] == (unsigned long)statm[0] * PAGE);
	CHECK(stat[26] <= (uintptr_t)test_stat &&
	      (uintptr_t)test_stat < stat[27]);
	CHECK(stat[28] <= (uintptr_t)argv && stat[28] > (uintptr_t)name);
	CHECK(stat[29] == 0 && stat[30] == 0 && stat[35] == 0);
	CHECK(stat[45] <= (uintptr_t)&initialized &&
	      (uintptr_t)&initialized < stat[46]);
	CHECK(stat[47] <= (uintptr_t)sbrk(0));
	CHECK(stat[48] == (uintptr_t)argv[0] && stat[50] == (uintptr_t)*envp);
	CHECK(stat[49] == stat[50] && stat[51] > stat[50]);
	CHECK(slurp("/proc/self/comm", text) > 0);
	snprintf(name, sizeof(name), "%.15s\n", own);
	CHECK(!strcmp(text, name));
	CHECK(!prctl(PR_SET_NAME, "another (x) y"));
	CHECK(slurp("/proc/self/stat", text) > 0);
	CHECK(strstr(text, " (another (x) y) R ") != NULL);
	parse_stat(text, stat);
	CHECK(stat[1] == (unsigned)getpid());
	prctl(PR_SET_NAME, own);
}

static void test_vectors(char **envp)
{
	uint64_t *pair = (uint64_t *)(void *)text;
	ssize_t size = slurp("/proc/self/auxv", text);
	bool same = true;
	int seen = 0;

	CHECK(size > 0 && size % 16 == 0);
	for (; size > 0; pair += 2, size -= 16) {
		if (pair[0] == AT_NULL)
			break;
		if (pair[0] != AT_ENTRY && pair[0] != AT_RANDOM)
			continue;
		seen++;
		CHECK(pair[1] == getauxval(pair[0]));
	}
	CHECK(seen == 2 && size == 16);
	size = slurp("/proc/self/environ", text);
	for (const char *at = text; *envp; envp++) {
		same &= at < text + size && !strcmp(at, *envp);
		at += strlen(at) + 1;
	}
	CHECK(same);
}

/* ------- mem ------- */

static void test_mem_read(int mem)
{
	char *volatile nowhere = (char *)8;
	int value = 0, copy = dup(mem);
	char bytes[8] = "", more[8] = "";
	struct iovec parts[2] = { { bytes, 3 }, { more, 5 } };
	char *map = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	off_t at = (off_t)(uintptr_t)map;

	CHECK(pread(mem, &value, 4, (off_t)(uintptr_t)&known) == 4);
	CHECK(value == known);
	memcpy(map, "abcdefgh", 8);
	CHECK(lseek(mem, at, SEEK_SET) == at);
	CHECK(readv(mem, parts, 2) == 8);
	CHECK(!memcmp(bytes, "abc", 3) && !memcmp(more, "defgh", 5));
	CHECK(lseek(copy, 0, SEEK_CUR) == at + 8);
	CHECK(lseek(copy, at + 2, SEEK_SET) == at + 2);
	CHECK(read(mem, bytes, 2) == 2 && !memcmp(bytes, "cd", 2));
	CHECK(preadv(mem, parts, 1, at + 4) == 3 && !memcmp(bytes, "efg", 3));
	CHECK(preadv2(mem, parts, 1, -1, 0) == 3 && !memcmp(bytes, "efg", 3));
	/* What the program itself may not read. */
	CHECK(!mprotect(map, PAGE, PROT_NONE));
	CHECK(pread(mem, bytes, 2, at) == 2 && !memcmp(bytes, "ab", 2));
	/* Up to what is not there. */
	map[PAGE + PAGE - 1] = 'z';
	CHECK(!munmap(map, PAGE));
	CHECK(pread(mem, bytes, 1, at) == -1 && errno == EIO);
	munmap(map + PAGE, PAGE);
	map = mmap(map, PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	map[PAGE - 1] = 'z';
	CHECK(pread(mem, bytes, 8, at + PAGE - 1) == 1 && *bytes == 'z');
	CHECK(pread(mem, nowhere, 1, at) == -1 && errno == EFAULT);
	CHECK(pread(mem, bytes, 0, 0) == 0);
	munmap(map, PAGE);
	close(copy);
}

/* A large part, by a program that looks at itself. */
static void test_mem_large(int mem)
{
	const size_t size = 100000;

	memset(other, 0, size);
	for (size_t i = 0; i < size; i++)
		text[i] = (char)(i * 7 + i / 251);
	CHECK(pread(mem, other, size, (off_t)(uintptr_t)text) == (ssize_t)size);
	CHECK(!memcmp(text, other, size));
	memset(other, 0, size);
	CHECK(pwrite(mem, text, size, (off_t)(uintptr_t)other) ==
	      (ssize_t)size);
	CHECK(!memcmp(text, other, size));
}

__attribute__((noinline, aligned(64))) static int answer(void)
{
	__asm__ volatile("");
	return 1;
}

static void test_mem_write(int mem)
{
	unsigned char code[ANSWER_SIZE];
	char *map =
		mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char bytes[] = "private";
	struct iovec part = { bytes, 7 };
	/* What it returns is for nobody to know before. */
	int (*volatile ask)(void) = answer;
	off_t at = (off_t)(uintptr_t)map;
	int fd;

	/* What the program itself may not write, but is its own. */
	CHECK(pwrite(mem, "read-only", 9, at) == 9);
	CHECK(!memcmp(map, "read-only", 9));
	CHECK(pwritev(mem, &part, 1, at) == 7 && !memcmp(map, "privately", 9));
	munmap(map, PAGE);
	CHECK(pwrite(mem, "x", 1, at) == -1 && errno == EIO);
	CHECK(ask() == 1);
	write_answer(code, 42);
	CHECK(pwrite(mem, code, sizeof(code), (off_t)(uintptr_t)answer) ==
	      sizeof(code));
	CHECK(ask() == 42);
	/* What others have, too. */
	fd = memfd_create("m", 0);
	CHECK(!ftruncate(fd, PAGE));
	map = mmap(map, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0);
	CHECK(pwrite(mem, "x", 1, at) == -1 && errno == EIO && !*map);
	CHECK(!mprotect(map, PAGE, PROT_READ | PROT_WRITE));
	CHECK(pwrite(mem, "x", 1, at) == 1 && *map == 'x');
	munmap(map, PAGE);
	close(fd);
}

static void test_mem(void)
{
	int mem = open("/proc/self/mem", O_RDWR);
	int limited = open("/proc/self/mem", O_RDONLY);
	char byte;
	pid_t pid;

	CHECK(mem >= 0 && limited >= 0);
	test_mem_read(mem);
	test_mem_read(limited);
	test_mem_large(mem);
	test_mem_write(mem);
	CHECK(pwrite(limited, "x", 1, (off_t)(uintptr_t)&known) == -1 &&
	      errno == EBADF);
	close(limited);
	limited = open("/proc/self/mem", O_WRONLY);
	CHECK(pread(limited, &byte, 1, (off_t)(uintptr_t)&known) == -1 &&
	      errno == EBADF);
	pid = fork();
	if (!pid) {
		int own = open("/proc/self/mem", O_RDWR), value = 7;

		_exit(own >= 0 && known == 0x12345678 &&
				      pwrite(own, &value, 4,
					     (off_t)(uintptr_t)&known) == 4 &&
				      known == 7
			      ? 5
			      : 6);
	}
	CHECK(end_of(pid) == 5 && known == 0x12345678);
	close(limited);
	close(mem);
}

/* ------- threads, and other ways ------- */

static int tasks(void)
{
	DIR *folder = opendir("/proc/self/task");
	struct dirent *entry;
	int count = 0;

	while (folder && (entry = readdir(folder)))
		count += *entry->d_name != '.';
	if (folder)
		closedir(folder);
	return count;
}

static void check_same(const char *path, const char *expected)
{
	CHECK(slurp(path, other) > 0);
	CHECK(!strcmp(other, expected));
}

static int ends[2];

static void *thread(void *context)
{
	int tid = (int)syscall(SYS_gettid);
	unsigned long long stat[53];
	char path[100];
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	/* While it makes a thread, the C library blocks signals. */
	CHECK(read(ends[0], path, 1) == 1);
	prctl(PR_SET_NAME, "of a thread");
	CHECK(tasks() == 2);
	CHECK(slurp("/proc/thread-self/stat", text) > 0);
	parse_stat(text, stat);
	CHECK((int)stat[1] == tid && stat[20] == 2);
	CHECK(strstr(text, " (of a thread) R ") != NULL);
	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	CHECK(slurp(path, text) > 0);
	CHECK(number_of(text, "Pid:") == tid);
	CHECK(number_of(text, "Tgid:") == getpid());
	CHECK(strstr(text, "SigBlk:\t0000000000000200\n") != NULL);
	CHECK(slurp("/proc/self/status", text) > 0);
	CHECK(strstr(text, "SigBlk:\t0000000000000000\n") != NULL);
	CHECK(slurp("/proc/self/maps", text) > 0);
	check_same("/proc/thread-self/maps", text);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/maps", getpid(), tid);
	check_same(path, text);
	snprintf(path, sizeof(path), "/proc/%d/maps", tid);
	check_same(path, text);
	check_same("/proc/self/../thread-self/../../maps", text);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/exe", getpid(), tid);
	CHECK(readlink(path, text, PATH_MAX) > 0);
	CHECK(readlink("/proc/self/exe", other, PATH_MAX) > 0);
	CHECK(!memcmp(text, other, strlen("/")) && strstr(text, "guest_proc"));
	return context;
}

static void test_thread(void)
{
	pthread_t made;

	CHECK(tasks() == 1 && !pipe(ends));
	CHECK(!pthread_create(&made, NULL, thread, NULL));
	CHECK(write(ends[1], "x", 1) == 1);
	CHECK(!pthread_join(made, NULL));
}

/* Made files, too, get the lowest descriptor that is free. */
static void test_lowest(void)
{
	static const char *const paths[] = {
		"/proc/self/maps", "/proc/self/status", "/proc/self/stat",
		"/proc/self/cmdline", "/proc/self/mem", "/proc/self/auxv",
		"/proc/self/environ", "/proc/self/smaps", "/proc/self/limits",
		"/proc/self/statm", "/proc/self/pagemap", "/proc/cpuinfo",
		"/proc/thread-self/stat", "/sys/devices/system/cpu/online",
		"/proc/self/comm",
	};
	int input = dup(0), lowest = open("/dev/null", O_RDONLY), next, end;
	char byte;

	close(0);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		CHECK(open(paths[i], O_RDONLY | O_CLOEXEC) == 0);
		CHECK(fcntl(0, F_GETFD) == FD_CLOEXEC && !close(0));
	}
	CHECK(open(paths[1], O_RDONLY) == 0 && !fcntl(0, F_GETFD));
	CHECK(read(0, &byte, 1) == 1 && byte == 'N');
	CHECK(dup2(input, 0) == 0 && !close(lowest));
	next = open(paths[0], O_RDONLY);
	end = dup(next);
	CHECK(next == lowest && end == input + 2);
	CHECK(!close(next) && !close(end) && !close(input));
	/* A table of descriptors has room for those that there are. */
	CHECK(slurp("/proc/self/status", text) > 0);
	CHECK(number_of(text, "FDSize:") <= 1024);
	CHECK(dup2(0, 600) == 600 && !close(600));
	CHECK(slurp("/proc/self/status", text) > 0);
	CHECK(number_of(text, "FDSize:") == 1024);
}

int main(int argc, char **argv, char **envp)
{
	(void)argc;
	memset(text, 1, sizeof(text));
	memset(other, 1, sizeof(other));
	test_smaps();
	test_present();
	test_tail();
	test_sizes();
	test_again();
	test_identity();
	test_stat(argv, envp);
	test_vectors(envp);
	test_mem();
	test_lowest();
	test_thread();
	return guest_end();
}
