/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_cpuinfo.c - what /proc/cpuinfo says is what CPUID says, whichever way
 * it is opened
 */
#include <cpuid.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/guests/guest.h"

#define ROOM (1 << 20)
#define PATH "/proc/cpuinfo"

static char text[ROOM], other[ROOM];

static size_t read_all(int fd, char *to)
{
	size_t size = 0;
	ssize_t part;

	while (fd >= 0 && (part = read(fd, to + size, ROOM - 1 - size)) > 0)
		size += (size_t)part;
	to[size] = '\0';
	if (fd >= 0)
		close(fd);
	return size;
}

/* The value on the first line of this name; NULL. */
static char *value_of(const char *name)
{
	static char value[8192];
	size_t length = strlen(name);
	const char *at = text, *colon;

	while (at && (strncmp(at, name, length) != 0 ||
		      (at[length] != '\t' && at[length] != ':'))) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	colon = at ? strchr(at, ':') : NULL;
	if (!colon)
		return NULL;
	snprintf(value, sizeof(value), "%.*s",
		 (int)strcspn(colon + 2, "\n"), colon + 2);
	return value;
}

static int has_flag(const char *name)
{
	char *flags = value_of("flags");
	char *flag = flags ? strtok(flags, " ") : NULL;

	while (flag && strcmp(flag, name) != 0)
		flag = strtok(NULL, " ");
	return flag != NULL;
}

/* ------- flags ------- */

struct flag {
	const char *name;
	unsigned leaf, reg, bit;	/* EAX, EBX, ECX, EDX */
	int exact;	/* it is there exactly if CPUID has it */
};

static const struct flag flags[] = {
	{ "fpu", 1, 3, 0, 1 },
	{ "tsc", 1, 3, 4, 1 },
	{ "cx8", 1, 3, 8, 1 },
	{ "cmov", 1, 3, 15, 1 },
	{ "mmx", 1, 3, 23, 1 },
	{ "sse2", 1, 3, 26, 1 },
	{ "pni", 1, 2, 0, 1 },
	{ "pclmulqdq", 1, 2, 1, 1 },
	{ "vmx", 1, 2, 5, 0 },
	{ "ssse3", 1, 2, 9, 1 },
	{ "fma", 1, 2, 12, 0 },
	{ "cx16", 1, 2, 13, 1 },
	{ "sse4_1", 1, 2, 19, 1 },
	{ "sse4_2", 1, 2, 20, 1 },
	{ "x2apic", 1, 2, 21, 0 },
	{ "movbe", 1, 2, 22, 0 },
	{ "popcnt", 1, 2, 23, 1 },
	{ "aes", 1, 2, 25, 0 },
	{ "xsave", 1, 2, 26, 0 },
	{ "avx", 1, 2, 28, 0 },
	{ "f16c", 1, 2, 29, 0 },
	{ "rdrand", 1, 2, 30, 0 },
	{ "hypervisor", 1, 2, 31, 1 },
	{ "fsgsbase", 7, 1, 0, 0 },
	{ "bmi1", 7, 1, 3, 0 },
	{ "avx2", 7, 1, 5, 0 },
	{ "bmi2", 7, 1, 8, 0 },
	{ "erms", 7, 1, 9, 0 },
	{ "avx512f", 7, 1, 16, 0 },
	{ "rdseed", 7, 1, 18, 0 },
	{ "adx", 7, 1, 19, 0 },
	{ "sha_ni", 7, 1, 29, 0 },
	{ "vaes", 7, 2, 9, 0 },
	{ "lahf_lm", 0x80000001, 2, 0, 1 },
	{ "abm", 0x80000001, 2, 5, 0 },
	{ "sse4a", 0x80000001, 2, 6, 0 },
	{ "xop", 0x80000001, 2, 11, 0 },
	{ "fma4", 0x80000001, 2, 16, 0 },
	{ "syscall", 0x80000001, 3, 11, 1 },
	{ "nx", 0x80000001, 3, 20, 0 },
	{ "rdtscp", 0x80000001, 3, 27, 0 },
	{ "lm", 0x80000001, 3, 29, 1 },
};

static void test_flags(void)
{
	int wrong = 0;

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		const struct flag *flag = &flags[i];
		unsigned regs[4] = { 0 };
		int real, shown = has_flag(flag->name);

		__get_cpuid_count(flag->leaf, 0, &regs[0], &regs[1], &regs[2],
				  &regs[3]);
		real = regs[flag->reg] >> flag->bit & 1;
		if (shown == real || (!shown && !flag->exact))
			continue;
		printf("%s: shown %d, CPUID has %d\n", flag->name, shown,
		       real);
		wrong++;
	}
	CHECK(wrong == 0);
}

/* ------- the rest ------- */

static int is_number(const char *name, unsigned expected)
{
	const char *value = value_of(name);

	return value && strtoul(value, NULL, 10) == expected;
}

static void test_identity(void)
{
	unsigned a = 0, b = 0, c = 0, d = 0, name[12] = { 0 };
	unsigned family, model;
	char vendor[13] = "", brand[49] = "";
	const char *value, *start = brand;

	CHECK(__get_cpuid(0, &a, &b, &c, &d));
	memcpy(vendor, &b, 4);
	memcpy(vendor + 4, &d, 4);
	memcpy(vendor + 8, &c, 4);
	value = value_of("vendor_id");
	CHECK(value && !strcmp(value, vendor));
	CHECK(is_number("cpuid level", a));
	CHECK(__get_cpuid(1, &a, &b, &c, &d));
	family = a >> 8 & 15;
	model = a >> 4 & 15;
	if (family == 6 || family == 15)
		model |= a >> 12 & 0xf0;
	family += family == 15 ? a >> 20 & 0xff : 0;
	CHECK(is_number("cpu family", family));
	CHECK(is_number("model", model) && is_number("stepping", a & 15));
	CHECK(is_number("clflush size", (b >> 8 & 0xff) * 8));
	for (unsigned i = 0; i < 3; i++)
		__get_cpuid(0x80000002 + i, &name[4 * i], &name[4 * i + 1],
			    &name[4 * i + 2], &name[4 * i + 3]);
	memcpy(brand, name, 48);
	start += strspn(start, " ");
	value = value_of("model name");
	CHECK(value && *start && !strncmp(value, start, strlen(value)));
	CHECK(value && strspn(start + strlen(value), " ") ==
			       strlen(start + strlen(value)));
	CHECK(strstr(text, "\n\n") != NULL);
}

static int lists_processor(int number)
{
	char line[40];

	snprintf(line, sizeof(line), "processor\t: %d\n", number);
	return strstr(text, line) != NULL;
}

/* The processors that the program may use are there. */
static void test_affinity(void)
{
	int missing = 0;
	cpu_set_t set;

	CHECK(!sched_getaffinity(0, sizeof(set), &set));
	for (int i = 0; i < CPU_SETSIZE; i++)
		missing += CPU_ISSET(i, &set) && !lists_processor(i);
	CHECK(missing == 0);
}

static int is_online(int number)
{
	const char *at = other;

	read_all(open("/sys/devices/system/cpu/online", O_RDONLY), other);
	while (*at) {
		char *end;
		long first = strtol(at, &end, 10), last = first;

		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		if (first <= number && number <= last)
			return 1;
		at = *end ? end + 1 : end;
	}
	return 0;
}

static void test_processors(void)
{
	int count = 0;
	cpu_set_t set;

	for (const char *at = text; (at = strstr(at, "processor\t:")); at++)
		count++;
	CHECK(count == sysconf(_SC_NPROCESSORS_ONLN));
	test_affinity();
	/* Another one, if there is another that may be used. */
	CPU_ZERO(&set);
	CPU_SET(1, &set);
	sched_setaffinity(0, sizeof(set), &set);
	read_all(open(PATH, O_RDONLY), text);
	test_affinity();
	CHECK(!sched_getaffinity(0, sizeof(set), &set));
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set)) {
			CHECK(is_online(i) && lists_processor(i));
			break;
		}
}

/* Lines that tell of the host, or how fast it is at the moment. */
static void drop_speed(char *from)
{
	for (char *at; (at = strstr(from, "cpu MHz"));)
		memset(at, ' ', strcspn(at, "\n"));
}

static void test_ways(void)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY);
	int self = open("/proc/self", O_RDONLY | O_DIRECTORY);
	long how[3] = { O_RDONLY | O_CLOEXEC, 0, 0 };
	const int ways[] = {
		openat(proc, "cpuinfo", O_RDONLY),
		openat(self, "../cpuinfo", O_RDONLY),
		openat(-1, "//proc/./cpuinfo", O_RDONLY),
		(int)syscall(SYS_open, PATH, O_RDONLY),
		(int)syscall(SYS_openat2, proc, "cpuinfo", how, sizeof(how)),
		chdir("/proc") ? -1 : open("cpuinfo", O_RDONLY),
	};

	drop_speed(text);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		CHECK(ways[i] >= 0 && read_all(ways[i], other) > 0);
		drop_speed(other);
		CHECK(!strcmp(text, other));
	}
	CHECK(open(PATH, O_RDONLY | O_DIRECTORY) == -1 && errno == ENOTDIR);
	CHECK(!access(PATH, R_OK));
	close(proc);
	close(self);
}

int main(void)
{
	CHECK(read_all(open(PATH, O_RDONLY), text) > 0);
	test_flags();
	test_identity();
	test_ways();
	test_processors();
	return guest_end();
}
