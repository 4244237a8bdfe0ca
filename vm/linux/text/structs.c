/* SPDX-License-Identifier: GPL-2.0-or-later */
/* structs.c - structures; those of the guest become the host's first */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/sysinfo.h>
#include <mqueue.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <time.h>
#include <utime.h>

#include "vm/linux/abi/abi.h"
#include "vm/linux/text/text_internal.h"

#define STRUCTS_MOST 1024u	/* of an array: a choice */

/* ------- times ------- */

static void put_timespec(FILE *out, const struct timespec *time)
{
	fprintf(out, "{tv_sec=%ld, tv_nsec=%ld}", time->tv_sec, time->tv_nsec);
}

static void put_timeval(FILE *out, const struct timeval *time)
{
	fprintf(out, "{tv_sec=%ld, tv_usec=%ld}", time->tv_sec, time->tv_usec);
}

static void show_timespec(struct showing *showing, const void *bytes)
{
	put_timespec(showing->out, bytes);
}

static void show_timeval(struct showing *showing, const void *bytes)
{
	put_timeval(showing->out, bytes);
}

/* That of a file, with a comment that says which day it was. */
static void show_file_time(struct showing *showing, const struct timespec *time)
{
	char text[40];
	struct tm tm;

	if (time->tv_nsec == UTIME_NOW || time->tv_nsec == UTIME_OMIT) {
		fputs(time->tv_nsec == UTIME_NOW ? "UTIME_NOW" : "UTIME_OMIT",
		      showing->out);
		return;
	}
	put_timespec(showing->out, time);
	if (!gmtime_r(&time->tv_sec, &tm))
		return;
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	fprintf(showing->out, " /* %s", text);
	if (time->tv_nsec)
		fprintf(showing->out, ".%09ld", time->tv_nsec);
	fputs("+0000 */", showing->out);
}

static void show_two_timespecs(struct showing *showing, const void *bytes)
{
	const struct timespec *times = bytes;

	fputc('[', showing->out);
	show_file_time(showing, &times[0]);
	fputs(", ", showing->out);
	show_file_time(showing, &times[1]);
	fputc(']', showing->out);
}

static void show_two_timevals(struct showing *showing, const void *bytes)
{
	const struct timeval *times = bytes;

	fputc('[', showing->out);
	put_timeval(showing->out, &times[0]);
	fputs(", ", showing->out);
	put_timeval(showing->out, &times[1]);
	fputc(']', showing->out);
}

static void show_timezone(struct showing *showing, const void *bytes)
{
	const struct timezone *zone = bytes;

	fprintf(showing->out, "{tz_minuteswest=%d, tz_dsttime=%d}",
		zone->tz_minuteswest, zone->tz_dsttime);
}

static void show_itimerval(struct showing *showing, const void *bytes)
{
	const struct itimerval *timer = bytes;

	fputs("{it_interval=", showing->out);
	put_timeval(showing->out, &timer->it_interval);
	fputs(", it_value=", showing->out);
	put_timeval(showing->out, &timer->it_value);
	fputc('}', showing->out);
}

static void show_itimerspec(struct showing *showing, const void *bytes)
{
	const struct itimerspec *timer = bytes;

	fputs("{it_interval=", showing->out);
	put_timespec(showing->out, &timer->it_interval);
	fputs(", it_value=", showing->out);
	put_timespec(showing->out, &timer->it_value);
	fputc('}', showing->out);
}

static void show_tms(struct showing *showing, const void *bytes)
{
	const struct tms *tms = bytes;

	fprintf(showing->out, "{tms_utime=%ld, tms_stime=%ld, tms_cutime=%ld,"
		" tms_cstime=%ld}", tms->tms_utime, tms->tms_stime,
		tms->tms_cutime, tms->tms_cstime);
}

static void show_rusage(struct showing *showing, const void *bytes)
{
	const struct rusage *usage = bytes;

	fputs("{ru_utime=", showing->out);
	put_timeval(showing->out, &usage->ru_utime);
	fputs(", ru_stime=", showing->out);
	put_timeval(showing->out, &usage->ru_stime);
	fputs(", ...}", showing->out);
}

/* ------- files ------- */

static void show_file_mode(struct showing *showing, unsigned mode)
{
	static const char *const types[16] = {
		[S_IFIFO >> 12] = "S_IFIFO", [S_IFCHR >> 12] = "S_IFCHR",
		[S_IFDIR >> 12] = "S_IFDIR", [S_IFBLK >> 12] = "S_IFBLK",
		[S_IFREG >> 12] = "S_IFREG", [S_IFLNK >> 12] = "S_IFLNK",
		[S_IFSOCK >> 12] = "S_IFSOCK",
	};
	const char *type = types[(mode & S_IFMT) >> 12];

	if (type)
		fprintf(showing->out, "%s|", type);
	else if (mode & S_IFMT)
		fprintf(showing->out, "%#o|", mode & S_IFMT);
	if (mode & S_ISUID)
		fputs("S_ISUID|", showing->out);
	if (mode & S_ISGID)
		fputs("S_ISGID|", showing->out);
	if (mode & S_ISVTX)
		fputs("S_ISVTX|", showing->out);
	show_mode(showing, mode & 0777);
}

static void show_stat(struct showing *showing, const void *bytes)
{
	const struct stat *stat = bytes;

	fputs("{st_mode=", showing->out);
	show_file_mode(showing, stat->st_mode);
	if (S_ISCHR(stat->st_mode) || S_ISBLK(stat->st_mode))
		fprintf(showing->out, ", st_rdev=makedev(%#x, %#x), ...}",
			major(stat->st_rdev), minor(stat->st_rdev));
	else
		fprintf(showing->out, ", st_size=%ld, ...}", stat->st_size);
}

static void show_statx(struct showing *showing, const void *bytes)
{
	const struct statx *stat = bytes;

	fputs("{stx_mask=", showing->out);
	show_values(showing, VALUES_STATX, stat->stx_mask);
	fputs(", stx_attributes=", showing->out);
	show_values(showing, VALUES_STATX_ATTR, stat->stx_attributes);
	fputs(", stx_mode=", showing->out);
	show_file_mode(showing, stat->stx_mode);
	fprintf(showing->out, ", stx_size=%" PRIu64 ", ...}",
		(uint64_t)stat->stx_size);
}

static void show_statfs(struct showing *showing, const void *bytes)
{
	const struct statfs *stat = bytes;

	fputs("{f_type=", showing->out);
	show_values(showing, VALUES_FILE_SYSTEM, (uint64_t)stat->f_type);
	fprintf(showing->out, ", f_bsize=%ld, f_blocks=%lu, f_bfree=%lu,"
		" f_bavail=%lu, f_files=%lu, f_ffree=%lu, f_fsid={val=[%#x,"
		" %#x]}, f_namelen=%ld, f_frsize=%ld, f_flags=",
		stat->f_bsize, stat->f_blocks, stat->f_bfree, stat->f_bavail,
		stat->f_files, stat->f_ffree,
		(unsigned)stat->f_fsid.__val[0],
		(unsigned)stat->f_fsid.__val[1],
		stat->f_namelen, stat->f_frsize);
	show_values(showing, VALUES_ST, (uint64_t)stat->f_flags);
	fputc('}', showing->out);
}

static void show_flock(struct showing *showing, const void *bytes)
{
	const struct flock *lock = bytes;

	fputs("{l_type=", showing->out);
	show_values(showing, VALUES_LOCK_TYPE, (uint64_t)lock->l_type);
	fputs(", l_whence=", showing->out);
	show_values(showing, VALUES_SEEK, (uint64_t)lock->l_whence);
	fprintf(showing->out, ", l_start=%ld, l_len=%ld", lock->l_start,
		lock->l_len);
	if (showing->leaves)
		fprintf(showing->out, ", l_pid=%d", lock->l_pid);
	fputc('}', showing->out);
}

static void show_utimbuf(struct showing *showing, const void *bytes)
{
	const struct utimbuf *times = bytes;

	fprintf(showing->out, "{actime=%ld, modtime=%ld}", times->actime,
		times->modtime);
}

/* ------- the system ------- */

static void show_limit(struct showing *showing, rlim_t limit)
{
	if (limit == RLIM_INFINITY)
		fputs(showing->row == &linux_calls[CALL_prlimit64] ?
			      "RLIM64_INFINITY" : "RLIM_INFINITY",
		      showing->out);
	else if (limit > 1024 && limit % 1024 == 0)
		fprintf(showing->out, "%lu*1024", limit / 1024);
	else
		fprintf(showing->out, "%lu", limit);
}

static void show_rlimit(struct showing *showing, const void *bytes)
{
	const struct rlimit *limit = bytes;

	fputs("{rlim_cur=", showing->out);
	show_limit(showing, limit->rlim_cur);
	fputs(", rlim_max=", showing->out);
	show_limit(showing, limit->rlim_max);
	fputc('}', showing->out);
}

static void show_sysinfo(struct showing *showing, const void *bytes)
{
	const struct sysinfo *info = bytes;

	fprintf(showing->out, "{uptime=%ld, loads=[%lu, %lu, %lu],"
		" totalram=%lu, freeram=%lu, sharedram=%lu, bufferram=%lu,"
		" totalswap=%lu, freeswap=%lu, procs=%u, totalhigh=%lu,"
		" freehigh=%lu, mem_unit=%u}", info->uptime, info->loads[0],
		info->loads[1], info->loads[2], info->totalram, info->freeram,
		info->sharedram, info->bufferram, info->totalswap,
		info->freeswap, (unsigned)info->procs, info->totalhigh,
		info->freehigh, info->mem_unit);
}

static void put_name(FILE *out, const char *name, size_t room)
{
	put_quoted(out, (const uint8_t *)name, strnlen(name, room));
}

static void show_utsname(struct showing *showing, const void *bytes)
{
	const struct utsname *names = bytes;

	fputs("{sysname=", showing->out);
	put_name(showing->out, names->sysname, sizeof(names->sysname));
	fputs(", nodename=", showing->out);
	put_name(showing->out, names->nodename, sizeof(names->nodename));
	fputs(", ...}", showing->out);
}

/* ------- events ------- */

static void show_pollfd(struct showing *showing, const void *bytes)
{
	const struct pollfd *wanted = bytes;

	fputs("{fd=", showing->out);
	show_descriptor(showing, wanted->fd);
	if (wanted->fd >= 0) {
		fputs(", events=", showing->out);
		show_values(showing, VALUES_POLL, (uint16_t)wanted->events);
	}
	fputc('}', showing->out);
}

static void show_epoll_event(struct showing *showing, const void *bytes)
{
	struct epoll_event event;

	memcpy(&event, bytes, sizeof(event));
	fputs("{events=", showing->out);
	show_values(showing, VALUES_EPOLL_EVENTS, event.events);
	fprintf(showing->out, ", data=%#" PRIx64 "}",
		(uint64_t)event.data.u64);
}

static void show_sembuf(struct showing *showing, const void *bytes)
{
	const struct sembuf *change = bytes;

	fprintf(showing->out, "{sem_num=%u, sem_op=%d, sem_flg=",
		change->sem_num, change->sem_op);
	show_values(showing, VALUES_IPC_GET, (uint16_t)change->sem_flg);
	fputc('}', showing->out);
}

/* ------- signals ------- */

static void show_sigset(struct showing *showing, const void *bytes)
{
	show_signal_set(showing, *(const uint64_t *)bytes);
}

static void show_info(struct showing *showing, const void *bytes)
{
	show_siginfo(showing, bytes);
}

static void show_handler(struct showing *showing,
			 const struct guest_action *action)
{
	FILE *out = showing->out;

	fputs("sa_handler=", out);
	if (action->handler == (uint64_t)(uintptr_t)SIG_DFL)
		fputs("SIG_DFL", out);
	else if (action->handler == (uint64_t)(uintptr_t)SIG_IGN)
		fputs("SIG_IGN", out);
	else
		fprintf(out, "%#" PRIx64, action->handler);
}

#define HAS_RESTORER 0x4000000u		/* SA_RESTORER */

static void show_sigaction(struct showing *showing, const void *bytes)
{
	const struct guest_action *action = bytes;

	fputc('{', showing->out);
	show_handler(showing, action);
	fputs(", sa_mask=", showing->out);
	show_signal_set(showing, action->mask);
	fputs(", sa_flags=", showing->out);
	show_values(showing, VALUES_SA, action->flags);
	if (action->flags & HAS_RESTORER) {
		fputs(", sa_restorer=", showing->out);
		show_address(showing, action->restorer);
	}
	fputc('}', showing->out);
}

static void show_stack(struct showing *showing, const void *bytes)
{
	const struct guest_stack *stack = bytes;

	fputs("{ss_sp=", showing->out);
	show_address(showing, stack->base);
	fputs(", ss_flags=", showing->out);
	show_values(showing, VALUES_SS, (uint32_t)stack->flags);
	fprintf(showing->out, ", ss_size=%" PRIu64 "}", stack->size);
}

/* ------- numbers ------- */

static void show_int(struct showing *showing, const void *bytes)
{
	fprintf(showing->out, "[%d]", *(const int *)bytes);
}

static void show_long(struct showing *showing, const void *bytes)
{
	fprintf(showing->out, "[%ld]", *(const long *)bytes);
}

static void show_two_descriptors(struct showing *showing, const void *bytes)
{
	const int *both = bytes;

	fputc('[', showing->out);
	show_descriptor(showing, both[0]);
	fputs(", ", showing->out);
	show_descriptor(showing, both[1]);
	fputc(']', showing->out);
}

/* ------- all of them ------- */

static void (*const shows[STRUCT_COUNT])(struct showing *showing,
					 const void *bytes) = {
	[S_INT] = show_int,
	[S_LONG] = show_long,
	[S_TWO_INTS] = show_two_descriptors,
	[S_STAT] = show_stat, [S_STAT64] = show_stat,
	[S_STATFS] = show_statfs, [S_STATFS64] = show_statfs,
	[S_STATX] = show_statx,
	[S_TIMESPEC] = show_timespec, [S_TIMESPEC64] = show_timespec,
	[S_TWO_TIMESPECS] = show_two_timespecs,
	[S_TWO_TIMESPECS64] = show_two_timespecs,
	[S_TIMEVAL] = show_timeval,
	[S_TWO_TIMEVALS] = show_two_timevals,
	[S_TIMEZONE] = show_timezone,
	[S_UTIMBUF] = show_utimbuf,
	[S_TMS] = show_tms,
	[S_ITIMERVAL] = show_itimerval,
	[S_ITIMERSPEC] = show_itimerspec, [S_ITIMERSPEC64] = show_itimerspec,
	[S_RUSAGE] = show_rusage,
	[S_RLIMIT] = show_rlimit, [S_RLIMIT64] = show_rlimit,
	[S_SYSINFO] = show_sysinfo,
	[S_UTSNAME] = show_utsname,
	[S_SIGSET] = show_sigset,
	[S_SIGINFO] = show_info,
	[S_SIGACTION] = show_sigaction,
	[S_STACK] = show_stack,
	[S_POLLFD] = show_pollfd,
	[S_EPOLL_EVENT] = show_epoll_event,
	[S_FLOCK] = show_flock, [S_FLOCK64] = show_flock,
	[S_SEMBUF] = show_sembuf,
};

/* Aligned as all that is read into it. */
union host_struct {
	uint8_t bytes[STRUCT_MOST];
	uint64_t words[STRUCT_MOST / 8];
};

static const struct guest_layout *layout_of(const struct showing *showing,
					    enum guest_struct type)
{
	const struct linux_abi *abi = abi_of(showing);

	return abi ? &abi->layouts[type] : NULL;
}

size_t size_of(const struct showing *showing, enum guest_struct type)
{
	const struct guest_layout *layout = layout_of(showing, type);

	return layout ? layout->size : 0;
}

bool read_struct(const struct showing *showing, enum guest_struct type,
		 guest_addr addr, void *host)
{
	const struct guest_layout *layout = layout_of(showing, type);
	uint8_t bytes[STRUCT_MOST];

	if (!layout || !addr ||
	    !read_guest(showing, addr, bytes, layout->size))
		return false;
	layout_in(layout, host, bytes);
	return true;
}

void show_struct(struct showing *showing, enum guest_struct type,
		 guest_addr addr)
{
	union host_struct host;

	if (shows[type] && read_struct(showing, type, addr, &host))
		shows[type](showing, &host);
	else
		show_address(showing, addr);
}

/* Elements that are lists in a list are numbers there. */
static void show_element(struct showing *showing, enum guest_struct type,
			 const union host_struct *host)
{
	if (type == S_INT)
		fprintf(showing->out, "%d", *(const int *)host->bytes);
	else
		shows[type](showing, host);
}

void show_structs(struct showing *showing, enum guest_struct type,
		  guest_addr addr, uint64_t count)
{
	size_t size = size_of(showing, type);
	union host_struct host;

	if (!shows[type] || !addr || count > STRUCTS_MOST ||
	    (count && !read_struct(showing, type, addr, &host))) {
		show_address(showing, addr);
		return;
	}
	fputc('[', showing->out);
	for (uint64_t i = 0; i < count; i++) {
		if (!read_struct(showing, type, addr + i * size, &host))
			break;
		if (i)
			fputs(", ", showing->out);
		show_element(showing, type, &host);
	}
	fputc(']', showing->out);
}
