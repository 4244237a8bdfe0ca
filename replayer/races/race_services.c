/* SPDX-License-Identifier: GPL-2.0-or-later */
/* race_services.c - see race_services.h */
#include "replayer/races/race_services.h"

#include <stddef.h>
#include <string.h>

#define COUNT_OF(list) (sizeof(list) / sizeof((list)[0]))

/* Whole families: all names that begin so, with or without "__". */
static const char *const families[] = {
	"bcmp", "bcopy", "bzero", "explicit_bzero", "mem", "rawmem", "stp",
	"str", "wcp", "wcs", "wmem",
};

/* Memory that they get from the allocator is the caller's then. */
static const char *const giving[] = {
	"asprintf", "fscanf", "getaddrinfo", "getcwd", "getdelim", "getline",
	"glob", "open_memstream", "realpath", "regcomp", "scandir", "scanf",
	"sscanf", "strdup", "strndup", "tsearch", "vasprintf", "vfscanf",
	"vscanf", "vsscanf", "wcsdup",
};

static const struct {
	const char *name;
	enum race_service_kind kind;
	uint8_t stream;
} functions[] = {
	/* Not in the name of the caller, though the family is. */
	{ "memalign",		SERVICE_NONE, 0 },

	{ "asprintf",		SERVICE_CALLER, 0 },
	{ "strdup",		SERVICE_CALLER, 0 },
	{ "strndup",		SERVICE_CALLER, 0 },
	{ "vasprintf",		SERVICE_CALLER, 0 },
	{ "wcsdup",		SERVICE_CALLER, 0 },
	{ "asctime_r",		SERVICE_CALLER, 0 },
	{ "atof",		SERVICE_CALLER, 0 },
	{ "atoi",		SERVICE_CALLER, 0 },
	{ "atol",		SERVICE_CALLER, 0 },
	{ "atoll",		SERVICE_CALLER, 0 },
	{ "bsearch",		SERVICE_CALLER, 0 },
	{ "clock_getres",	SERVICE_CALLER, 0 },
	{ "clock_gettime",	SERVICE_CALLER, 0 },
	{ "ctime_r",		SERVICE_CALLER, 0 },
	{ "dprintf",		SERVICE_CALLER, 0 },
	{ "drand48_r",		SERVICE_CALLER, 0 },
	{ "erand48",		SERVICE_CALLER, 0 },
	{ "erand48_r",		SERVICE_CALLER, 0 },
	{ "fstat",		SERVICE_CALLER, 0 },
	{ "fstat64",		SERVICE_CALLER, 0 },
	{ "getcwd",		SERVICE_CALLER, 0 },
	{ "getentropy",		SERVICE_CALLER, 0 },
	{ "gethostname",	SERVICE_CALLER, 0 },
	{ "getrandom",		SERVICE_CALLER, 0 },
	{ "gettimeofday",	SERVICE_CALLER, 0 },
	{ "gmtime_r",		SERVICE_CALLER, 0 },
	{ "inet_aton",		SERVICE_CALLER, 0 },
	{ "inet_ntop",		SERVICE_CALLER, 0 },
	{ "inet_pton",		SERVICE_CALLER, 0 },
	{ "lfind",		SERVICE_CALLER, 0 },
	{ "localtime_r",	SERVICE_CALLER, 0 },
	{ "lrand48_r",		SERVICE_CALLER, 0 },
	{ "lsearch",		SERVICE_CALLER, 0 },
	{ "lstat",		SERVICE_CALLER, 0 },
	{ "lstat64",		SERVICE_CALLER, 0 },
	{ "mbrtowc",		SERVICE_CALLER, 0 },
	{ "mbsrtowcs",		SERVICE_CALLER, 0 },
	{ "mbstowcs",		SERVICE_CALLER, 0 },
	{ "mkdtemp",		SERVICE_CALLER, 0 },
	{ "mkstemp",		SERVICE_CALLER, 0 },
	{ "mktime",		SERVICE_CALLER, 0 },
	{ "nrand48",		SERVICE_CALLER, 0 },
	{ "pread",		SERVICE_CALLER, 0 },
	{ "pread64",		SERVICE_CALLER, 0 },
	{ "preadv",		SERVICE_CALLER, 0 },
	{ "pwrite",		SERVICE_CALLER, 0 },
	{ "pwrite64",		SERVICE_CALLER, 0 },
	{ "pwritev",		SERVICE_CALLER, 0 },
	{ "qsort",		SERVICE_CALLER, 0 },
	{ "qsort_r",		SERVICE_CALLER, 0 },
	{ "rand_r",		SERVICE_CALLER, 0 },
	{ "random_r",		SERVICE_CALLER, 0 },
	{ "read",		SERVICE_CALLER, 0 },
	{ "readlink",		SERVICE_CALLER, 0 },
	{ "readv",		SERVICE_CALLER, 0 },
	{ "realpath",		SERVICE_CALLER, 0 },
	{ "recv",		SERVICE_CALLER, 0 },
	{ "recvfrom",		SERVICE_CALLER, 0 },
	{ "recvmsg",		SERVICE_CALLER, 0 },
	{ "regexec",		SERVICE_CALLER, 0 },
	{ "send",		SERVICE_CALLER, 0 },
	{ "sendmsg",		SERVICE_CALLER, 0 },
	{ "sendto",		SERVICE_CALLER, 0 },
	{ "snprintf",		SERVICE_CALLER, 0 },
	{ "sprintf",		SERVICE_CALLER, 0 },
	{ "sscanf",		SERVICE_CALLER, 0 },
	{ "stat",		SERVICE_CALLER, 0 },
	{ "stat64",		SERVICE_CALLER, 0 },
	{ "swab",		SERVICE_CALLER, 0 },
	{ "swprintf",		SERVICE_CALLER, 0 },
	{ "tdelete",		SERVICE_CALLER, 0 },
	{ "tfind",		SERVICE_CALLER, 0 },
	{ "time",		SERVICE_CALLER, 0 },
	{ "timegm",		SERVICE_CALLER, 0 },
	{ "tsearch",		SERVICE_CALLER, 0 },
	{ "twalk",		SERVICE_CALLER, 0 },
	{ "uname",		SERVICE_CALLER, 0 },
	{ "vdprintf",		SERVICE_CALLER, 0 },
	{ "vsnprintf",		SERVICE_CALLER, 0 },
	{ "vsprintf",		SERVICE_CALLER, 0 },
	{ "vsscanf",		SERVICE_CALLER, 0 },
	{ "write",		SERVICE_CALLER, 0 },
	{ "writev",		SERVICE_CALLER, 0 },

	{ "fgets",		SERVICE_STREAM, 2 },
	{ "fgets_unlocked",	SERVICE_STREAM, 2 },
	{ "fprintf",		SERVICE_STREAM, 0 },
	{ "fputs",		SERVICE_STREAM, 1 },
	{ "fputs_unlocked",	SERVICE_STREAM, 1 },
	{ "fread",		SERVICE_STREAM, 3 },
	{ "fread_unlocked",	SERVICE_STREAM, 3 },
	{ "fscanf",		SERVICE_STREAM, 0 },
	{ "fwrite",		SERVICE_STREAM, 3 },
	{ "fwrite_unlocked",	SERVICE_STREAM, 3 },
	{ "getdelim",		SERVICE_STREAM, 3 },
	{ "getline",		SERVICE_STREAM, 2 },
	{ "printf",		SERVICE_STREAM, SERVICE_STDOUT },
	{ "puts",		SERVICE_STREAM, SERVICE_STDOUT },
	{ "scanf",		SERVICE_STREAM, SERVICE_STDIN },
	{ "vfprintf",		SERVICE_STREAM, 0 },
	{ "vfscanf",		SERVICE_STREAM, 0 },
	{ "vprintf",		SERVICE_STREAM, SERVICE_STDOUT },
	{ "vscanf",		SERVICE_STREAM, SERVICE_STDIN },

	{ "asctime",		SERVICE_ALL, 0 },
	{ "clearenv",		SERVICE_ALL, 0 },
	{ "ctime",		SERVICE_ALL, 0 },
	{ "drand48",		SERVICE_ALL, 0 },
	{ "ecvt",		SERVICE_ALL, 0 },
	{ "fcvt",		SERVICE_ALL, 0 },
	{ "getenv",		SERVICE_ALL, 0 },
	{ "hcreate",		SERVICE_ALL, 0 },
	{ "hdestroy",		SERVICE_ALL, 0 },
	{ "hsearch",		SERVICE_ALL, 0 },
	{ "l64a",		SERVICE_ALL, 0 },
	{ "lrand48",		SERVICE_ALL, 0 },
	{ "mrand48",		SERVICE_ALL, 0 },
	{ "putenv",		SERVICE_ALL, 0 },
	{ "secure_getenv",	SERVICE_ALL, 0 },
	{ "setenv",		SERVICE_ALL, 0 },
	{ "srand48",		SERVICE_ALL, 0 },
	{ "strtok",		SERVICE_ALL, 0 },
	{ "unsetenv",		SERVICE_ALL, 0 },
};

/* What compilers, headers and glibc put before a name. */
static const char *without_prefix(const char *name)
{
	static const char *const prefixes[] = {
		"__isoc99_", "__isoc23_", "_IO_", "__",
	};

	for (size_t i = 0; i < COUNT_OF(prefixes); i++) {
		size_t size = strlen(prefixes[i]);

		if (!strncmp(name, prefixes[i], size))
			return name + size;
	}
	return name;
}

/* Whether it is `function`, or that with its arguments checked. */
static bool is_name(const char *name, const char *function)
{
	size_t size = strlen(function);

	return !strncmp(name, function, size) &&
	       (!name[size] || !strcmp(name + size, "_chk"));
}

static bool is_giving(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(giving); i++)
		if (is_name(name, giving[i]))
			return true;
	return false;
}

struct race_service race_service_of(const char *name)
{
	struct race_service service = { SERVICE_NONE, 0, false };

	name = without_prefix(name);
	service.gives = is_giving(name);
	for (size_t i = 0; i < COUNT_OF(functions); i++) {
		if (!is_name(name, functions[i].name))
			continue;
		service.kind = (uint8_t)functions[i].kind;
		service.stream = functions[i].stream;
		return service;
	}
	for (size_t i = 0; i < COUNT_OF(families); i++)
		if (!strncmp(name, families[i], strlen(families[i])))
			service.kind = SERVICE_CALLER;
	return service;
}
