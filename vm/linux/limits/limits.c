/* SPDX-License-Identifier: GPL-2.0-or-later */
/* limits.c - getrlimit(2) and its kin; see limits.h */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "vm/linux/abi/calls.h"
#include "vm/linux/abi/structs.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/host/host.h"
#include "vm/linux/kernel.h"
#include "vm/linux/limits/limits.h"
#include "vm/linux/process.h"

_Static_assert(sizeof(struct limit) == sizeof(struct rlimit) &&
		       UNLIMITED == RLIM_INFINITY,
	       "the guest's layout is the host's");

/* What cprec's own descriptors take, wherever they are; see descriptors.c. */
#define DESCRIPTORS_WANTED 8192u

static const struct kept {
	__rlimit_resource_t resource;
	const char *name;	/* in /proc/self/limits */
	const char *unit;
} kept[LIMITS] = {
	[LIMIT_MEMORY] = { RLIMIT_AS, "Max address space", "bytes" },
	[LIMIT_DATA] = { RLIMIT_DATA, "Max data size", "bytes" },
	[LIMIT_STACK] = { RLIMIT_STACK, "Max stack size", "bytes" },
	[LIMIT_FILE] = { RLIMIT_FSIZE, "Max file size", "bytes" },
	[LIMIT_DESCRIPTORS] = { RLIMIT_NOFILE, "Max open files", "files" },
};

uint64_t limit_of(const struct linux_process *process, enum limit_kind kind)
{
	return process->limits->kept[kind].soft;
}

/* ------- the host's ------- */

static bool raise_host(uint64_t soft, uint64_t hard)
{
	const struct rlimit limit = { soft, hard };

	return !setrlimit(RLIMIT_NOFILE, &limit);
}

void limits_init(struct linux_process *process)
{
	struct rlimit limit;
	uint64_t hard;

	for (int i = 0; i < LIMITS; i++) {
		if (getrlimit(kept[i].resource, &limit))
			limit.rlim_cur = limit.rlim_max = UNLIMITED;
		process->limits->kept[i] =
			(struct limit){ limit.rlim_cur, limit.rlim_max };
	}
	hard = process->limits->kept[LIMIT_DESCRIPTORS].hard;
	if (hard >= DESCRIPTORS_WANTED ||
	    !raise_host(DESCRIPTORS_WANTED, DESCRIPTORS_WANTED))
		raise_host(hard, hard);
}

/* A descriptor that the guest may have, the host must let cprec have. */
static int reach(const struct limit *limit)
{
	struct rlimit host;

	if (getrlimit(RLIMIT_NOFILE, &host))
		return -EPERM;
	if (limit->hard <= host.rlim_max)
		return 0;
	return raise_host(limit->hard, limit->hard) ? 0 : -EPERM;
}

/*
 * Whether this process may raise hard limits, which is asked for a limit that
 * is then put back, because it depends on more than capabilities.
 */
static bool may_raise(void)
{
	static const __rlimit_resource_t others[] = {
		RLIMIT_NICE, RLIMIT_RTPRIO, RLIMIT_MSGQUEUE, RLIMIT_MEMLOCK,
		RLIMIT_SIGPENDING, RLIMIT_NPROC, RLIMIT_CORE,
	};
	const size_t count = sizeof(others) / sizeof(others[0]);
	struct rlimit now, more;

	for (size_t i = 0; i < count; i++) {
		if (getrlimit(others[i], &now) ||
		    now.rlim_max >= UNLIMITED - 1)
			continue;
		more = (struct rlimit){ now.rlim_cur, now.rlim_max + 1 };
		if (setrlimit(others[i], &more))
			return false;
		setrlimit(others[i], &now);
		return true;
	}
	return !geteuid();
}

/* ------- calls ------- */

/* What is kept of a resource; NULL if it is the host's. */
static struct limit *find(struct linux_process *process, uint64_t resource)
{
	for (int i = 0; i < LIMITS; i++)
		if ((uint64_t)kept[i].resource == (resource & UINT32_MAX))
			return &process->limits->kept[i];
	return NULL;
}

static int set(struct linux_process *process, struct limit *limit,
	       const struct limit *value)
{
	if (value->soft > value->hard)
		return -EINVAL;
	if (value->hard > limit->hard && !may_raise())
		return -EPERM;
	if (limit == &process->limits->kept[LIMIT_DESCRIPTORS] && reach(value))
		return -EPERM;
	*limit = *value;
	return 0;
}

/* `to` and `from` are addresses of the guest's, or 0. */
static int64_t get_and_set(struct linux_process *process, struct limit *limit,
			   enum guest_struct type, guest_addr from,
			   guest_addr to)
{
	const struct limit old = *limit;
	struct limit value;
	int rc = 0;

	if (from && struct_in(process, type, &value, from))
		return -EFAULT;
	if (from)
		rc = set(process, limit, &value);
	if (!rc && to)
		rc = struct_out(process, type, to, &old);
	return rc;
}

int64_t sys_getrlimit(struct linux_process *process,
		      const struct linux_call *row, const uint64_t *arg)
{
	struct limit *limit = find(process, arg[0]);

	if (!limit || !arg[1])
		return marshal_call(process, row, arg);
	return get_and_set(process, limit, row->args[1].type, 0, arg[1]);
}

int64_t sys_setrlimit(struct linux_process *process,
		      const struct linux_call *row, const uint64_t *arg)
{
	struct limit *limit = find(process, arg[0]);

	if (!limit || !arg[1])
		return marshal_call(process, row, arg);
	return get_and_set(process, limit, row->args[1].type, arg[1], 0);
}

int64_t sys_prlimit64(struct linux_process *process,
		      const struct linux_call *row, const uint64_t *arg)
{
	struct limit *limit = find(process, arg[1]);
	int pid = (int)arg[0];

	if (!limit ||
	    (pid && pid != getpid() && !thread_find(process, pid)))
		return marshal_call(process, row, arg);
	return get_and_set(process, limit, row->args[2].type, arg[2], arg[3]);
}

/* ------- /proc/self/limits ------- */

static void print_value(FILE *out, uint64_t value)
{
	if (value == UNLIMITED)
		fprintf(out, "%-20s ", "unlimited");
	else
		fprintf(out, "%-20llu ", (unsigned long long)value);
}

static bool print_kept(struct linux_process *process, const char *line,
		       FILE *out)
{
	for (int i = 0; i < LIMITS; i++) {
		const struct limit *limit = &process->limits->kept[i];

		if (strncmp(line, kept[i].name, strlen(kept[i].name)))
			continue;
		fprintf(out, "%-25s ", kept[i].name);
		print_value(out, limit->soft);
		print_value(out, limit->hard);
		fprintf(out, "%-10s\n", kept[i].unit);
		return true;
	}
	return false;
}

void limits_print(struct linux_process *process, uint32_t tid, FILE *out)
{
	FILE *in = host_proc_file(tid, "limits");
	char line[256];

	while (in && fgets(line, sizeof(line), in))
		if (!print_kept(process, line, out))
			fputs(line, out);
	if (in)
		fclose(in);
}
