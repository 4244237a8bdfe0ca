/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_files.c - files, folders, descriptors, and what /proc says of us */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "tests/guests/guest.h"

static void test_contents(void)
{
	char bytes[32] = "";
	struct stat file;
	int fd = open("f", O_RDWR | O_CREAT | O_TRUNC, 0640);

	CHECK(fd >= 0 && write(fd, "0123456789", 10) == 10);
	CHECK(lseek(fd, 2, SEEK_SET) == 2 && read(fd, bytes, 3) == 3);
	CHECK(!memcmp(bytes, "234", 3));
	CHECK(pread(fd, bytes, 4, 6) == 4 && !memcmp(bytes, "6789", 4));
	CHECK(pwrite(fd, "AB", 2, 8) == 2 && lseek(fd, 0, SEEK_CUR) == 5);
	CHECK(!fstat(fd, &file) && file.st_size == 10);
	CHECK((file.st_mode & 07777) == 0640 && S_ISREG(file.st_mode));
	CHECK(!ftruncate(fd, 4) && !stat("f", &file) && file.st_size == 4);
	CHECK(!fchmod(fd, 0600) && !fsync(fd));
	close(fd);
	CHECK(read(fd, bytes, 1) == -1 && errno == EBADF);
	CHECK(open("f", O_CREAT | O_EXCL | O_RDWR, 0600) == -1);
	CHECK(errno == EEXIST);
	CHECK(open("missing", O_RDONLY) == -1 && errno == ENOENT);
}

static void test_large(void)
{
	enum { SIZE = 1 << 20 };
	char *big = malloc(SIZE), *again = calloc(1, SIZE);
	int fd = open("big", O_RDWR | O_CREAT | O_TRUNC, 0600);

	for (int i = 0; i < SIZE; i++)
		big[i] = (char)(i * 7 + i / 1000);
	CHECK(write(fd, big, SIZE) == SIZE);
	CHECK(pread(fd, again, SIZE, 0) == SIZE);
	CHECK(!memcmp(big, again, SIZE));
	CHECK(pread(fd, again, SIZE, SIZE - 5) == 5);
	CHECK(!memcmp(big + SIZE - 5, again, 5) && again[5] == big[5]);
	close(fd);
	unlink("big");
	free(big);
	free(again);
}

static void test_names(void)
{
	char text[64] = "";
	struct stat file;
	struct timespec times[2] = { { 1000, 5 }, { 2000, 7 } };

	CHECK(!mkdir("d", 0700) && !rename("f", "d/g"));
	CHECK(!symlink("d/g", "l") && !link("d/g", "h"));
	CHECK(readlink("l", text, sizeof(text)) == 3 && !strcmp(text, "d/g"));
	CHECK(readlink("l", text, 1) == 1);
	CHECK(!lstat("l", &file) && S_ISLNK(file.st_mode));
	CHECK(!stat("l", &file) && file.st_nlink == 2);
	CHECK(!utimensat(AT_FDCWD, "h", times, 0) && !stat("d/g", &file));
	CHECK(file.st_mtim.tv_sec == 2000 && file.st_mtim.tv_nsec == 7);
	CHECK(!access("d/g", R_OK) && access("x", F_OK) == -1);
	CHECK(rmdir("d") == -1 && errno == ENOTEMPTY);
	CHECK(!unlink("l") && !unlink("h"));
}

static void test_folder(void)
{
	char name[32];
	int seen = 0, folder, fd;
	DIR *dir;
	struct dirent *entry;

	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "d/file-%03d", i);
		fd = open(name, O_CREAT | O_WRONLY, 0600);
		CHECK(fd >= 0);
		close(fd);
	}
	dir = opendir("d");
	CHECK(dir != NULL);
	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "file-", 5))
			seen++;
	CHECK(seen == 300);
	closedir(dir);
	folder = open("d", O_RDONLY | O_DIRECTORY);
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "file-%03d", i);
		CHECK(!unlinkat(folder, name, 0));
	}
	CHECK(!faccessat(folder, "g", F_OK, 0));
	CHECK(!unlinkat(folder, "g", 0));
	close(folder);
	CHECK(!rmdir("d"));
}

static void test_descriptors(void)
{
	int fd = open("/dev/null", O_WRONLY), copy, other;
	struct rlimit limit;

	copy = fcntl(fd, F_DUPFD_CLOEXEC, 20);
	CHECK(copy == 20 && fcntl(copy, F_GETFD) == FD_CLOEXEC);
	CHECK(dup2(fd, 21) == 21 && fcntl(21, F_GETFD) == 0);
	CHECK((fcntl(21, F_GETFL) & O_ACCMODE) == O_WRONLY);
	other = dup(1);
	CHECK(other == fd + 1 && write(other, "copy of stdout\n", 15) == 15);
	close(other);
	/* Standard output is moved away and back. */
	fflush(stdout);
	other = dup(1);
	CHECK(dup2(fd, 1) == 1 && write(1, "not seen\n", 9) == 9);
	CHECK(dup2(other, 1) == 1 && write(1, "back again\n", 11) == 11);
	close(other);
	CHECK(!getrlimit(RLIMIT_NOFILE, &limit));
	for (int i = 3; i < 5000; i++)
		close(i);
	CHECK(open("/dev/null", O_RDONLY) == 3);
	close(3);
	CHECK(close(4095) == -1 && errno == EBADF);
}

static void test_streams(void)
{
	CHECK(write(2, "to stderr\n", 10) == 10);
}

static void test_system(void)
{
	struct utsname name;
	struct statfs fs;
	char folder[PATH_MAX];
	int fd = memfd_create("m", 0);

	CHECK(!uname(&name) && !strcmp(name.sysname, "Linux"));
#ifdef __aarch64__
	CHECK(!strcmp(name.machine, "aarch64"));
#elif defined(__arm__)
	CHECK(!strcmp(name.machine, "armv7l"));
#else
	CHECK(!strcmp(name.machine, "x86_64"));
#endif
	CHECK(!statfs(".", &fs) && fs.f_bsize > 0);
	CHECK(getcwd(folder, sizeof(folder)) && folder[0] == '/');
	CHECK(getcwd(folder, 1) == NULL && errno == ERANGE);
	CHECK(fd >= 0 && !ftruncate(fd, 5000));
	close(fd);
	CHECK(umask(022) == umask(022));
	CHECK(getpid() > 0 && getppid() != getpid());
}

/* The mapping that holds `addr`, as /proc/self/maps has it. */
static int find_mapping(const void *addr, char *perms, char *name)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[PATH_MAX + 100];
	unsigned long start, end;
	int found = 0, good = 1;

	CHECK(maps != NULL);
	while (maps && !found && fgets(line, sizeof(line), maps)) {
		*name = '\0';
		if (sscanf(line, "%lx-%lx %4s %*x %*x:%*x %*u %4000[^\n]", &start,
			   &end, perms, name) < 3)
			good = 0;
		found = start <= (uintptr_t)addr && (uintptr_t)addr < end;
	}
	CHECK(good);
	if (maps)
		fclose(maps);
	return found;
}

static void test_maps(void)
{
	static char name[PATH_MAX], self[PATH_MAX];
	char perms[5];
	char *page = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	struct stat a, b;

	CHECK(length > 0);
	CHECK(find_mapping((void *)(uintptr_t)test_system, perms, name));
	CHECK(!strcmp(perms, "r-xp") && !strcmp(name, self));
	CHECK(strstr(self, "guest_files") != NULL);
	CHECK(find_mapping(perms, perms, name));
	CHECK(!strcmp(perms, "rw-p") && !strcmp(name, "[stack]"));
	CHECK(find_mapping(page, perms, name) && !strcmp(perms, "r--p"));
	CHECK(!mprotect(page, 4096, PROT_NONE));
	CHECK(find_mapping(page, perms, name) && !strcmp(perms, "---p"));
	CHECK(find_mapping(page + 4096, perms, name));
	CHECK(!strcmp(perms, "r--p"));
	munmap(page, 8192);
	CHECK(!find_mapping(page, perms, name));
	CHECK(!stat("/proc/self/exe", &a) && !stat(self, &b));
	CHECK(a.st_ino == b.st_ino);
}

/* The ways that lead to the same link. */
static void test_links(void)
{
	static char self[PATH_MAX], path[PATH_MAX];
	int folder = open("/proc/self", O_RDONLY | O_DIRECTORY);
	struct stat about;

	CHECK(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	CHECK(realpath("/proc/self/exe", path) && !strcmp(path, self));
	snprintf(path, sizeof(path), "/proc/%d/exe", getpid());
	CHECK(!lstat(path, &about) && S_ISLNK(about.st_mode));
	CHECK(!stat(path, &about) && S_ISREG(about.st_mode));
	memset(path, 0, sizeof(path));
	CHECK(readlinkat(folder, "exe", path, sizeof(path) - 1) > 0);
	CHECK(!strcmp(path, self));
	CHECK(open("/proc/self/exe", O_RDONLY | O_NOFOLLOW) == -1);
	CHECK(errno == ELOOP);
	CHECK(!fstatat(folder, "exe", &about, AT_SYMLINK_NOFOLLOW));
	CHECK(S_ISLNK(about.st_mode));
	CHECK(!fstatat(folder, "exe", &about, 0) && S_ISREG(about.st_mode));
	close(folder);
}

static void test_cmdline(int argc, char **argv)
{
	char bytes[4096] = "";
	int fd = open("/proc/self/cmdline", O_RDONLY);
	ssize_t size = read(fd, bytes, sizeof(bytes));
	const char *at = bytes;

	for (int i = 0; i < argc; i++) {
		CHECK(!strcmp(at, argv[i]));
		at += strlen(at) + 1;
	}
	CHECK(at == bytes + size);
	close(fd);
}

int main(int argc, char **argv)
{
	test_contents();
	test_large();
	test_names();
	test_folder();
	test_descriptors();
	test_streams();
	test_system();
	test_maps();
	test_links();
	test_cmdline(argc, argv);
	return guest_end();
}
