/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * print_waits.c - see print_waits.h
 *
 * Source: glibc, sysdeps/nptl/bits/struct_mutex.h: the thread that holds a mutex
 * stands 8 bytes behind its beginning.  nptl/descr.h, pthread_create.c: what the
 * kernel sets to 0 at a thread's end, and pthread_join() waits at, is the thread's
 * number, from version 2.43 on another member of its struct pthread, to which the
 * thread pointer points, or to its end.
 */
#include "tools/print_waits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/error.h"
#include "formats/registers.h"
#include "tools/print.h"
#include "vm/linux/abi/names.h"

#define OWNER_AT 8u		/* of a mutex */
#define DESCRIPTION_MOST 4096u	/* bytes of a struct pthread: it has 2368 */

/* Threads that are told of; the rest is counted. */
#define WAITS_SHOWN 20u

enum wait_kind { WAITS_NOT, WAITS_IN, WAITS_MUTEX, WAITS_CONDITION, WAITS_END };

struct wait {
	enum wait_kind kind;
	bool at_futex;		/* it is in the kernel, at an address */
	char called[64];	/* the C library's function */
	char place[300];	/* "get at hang.c:50": who has called it */
};

/* ------- which function ------- */

static const char *plain_name(const char *function)
{
	static const char *const prefixes[] = { "GI_", "libc_", "new_" };
	const char *mark = strchr(function, '!');
	bool again = true;

	if (mark)
		function = mark + 1;
	while (again) {
		again = false;
		function += strspn(function, "_");
		for (size_t i = 0; i < 3 && !again; i++) {
			again = !strncmp(function, prefixes[i],
					 strlen(prefixes[i]));
			if (again)
				function += strlen(prefixes[i]);
		}
	}
	return function;
}

/* Those that wait without a futex. */
static bool waits_in_kernel(const char *name)
{
	static const char *const names[] = {
		"accept", "accept4", "clock_nanosleep", "connect", "epoll_pwait",
		"epoll_wait", "fcntl", "flock", "getchar", "mq_receive",
		"msgrcv", "nanosleep", "pause", "poll", "ppoll", "pselect",
		"read", "readv", "recv", "recvfrom", "recvmsg", "select",
		"semop", "sigsuspend", "sigtimedwait", "sigwait",
		"sigwaitinfo", "sleep", "usleep", "wait", "wait4", "waitid",
		"waitpid",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static enum wait_kind kind_of(const struct wait *wait)
{
	const char *name = wait->called;

	if (!wait->at_futex)
		return waits_in_kernel(name) ? WAITS_IN : WAITS_NOT;
	if (strstr(name, "mutex_") || strstr(name, "lll_lock_wait"))
		return WAITS_MUTEX;
	if (strstr(name, "cond_"))
		return WAITS_CONDITION;
	return strstr(name, "join") ? WAITS_END : WAITS_IN;
}

static int on_frame(void *context, const struct frame *frame)
{
	const struct source_line *line = &frame->line;
	struct wait *wait = context;

	if (frame->module && module_is_c_library(frame->module)) {
		const char *name = plain_name(line->function);

		wait->at_futex |= strstr(name, "futex") ||
				  strstr(name, "lll_lock_wait");
		snprintf(wait->called, sizeof(wait->called), "%s", name);
		return 0;
	}
	if (line->file)
		snprintf(wait->place, sizeof(wait->place), "%.200s at %s:%u",
			 line->function, line->file, line->line);
	else
		snprintf(wait->place, sizeof(wait->place), "%.200s",
			 line->function);
	return 1;
}

/* ------- what it waits for ------- */

static bool read_number(const struct view *view, uint64_t addr, uint32_t *out)
{
	return known_memory_read(view->replayer, addr, out, sizeof(*out));
}

static bool is_thread(const struct view *view, uint32_t tid)
{
	uint32_t stream;

	return tid && !recording_find_stream(view->recording, tid,
					     view->at.time, &stream, NULL);
}

/* " 0x2aaaaaaae0a0 (q.lock)", without members of the library's own. */
static void print_object(const struct view *view, uint64_t addr)
{
	char name[300];
	char *own;

	printf(" 0x%" PRIx64, addr);
	if (!expressions_name(view->expressions, &view->at, addr, name,
			      sizeof(name)))
		return;
	own = strstr(name, ".__");
	if (own)
		*own = '\0';
	fputs(" (", stdout);
	print_escaped(stdout, name, strlen(name));
	putchar(')');
}

static void print_thread(const struct view *view, struct thread_names *names,
			 uint32_t tid)
{
	char name[THREAD_NAME_SIZE];
	uint32_t thread;

	printf("thread %" PRIu32, tid);
	if (!names ||
	    recording_find_thread(view->recording, tid, view->at.time, &thread,
				  NULL) ||
	    thread_names_find(names, thread, &view->at, name, NULL))
		return;
	fputs(" \"", stdout);
	print_escaped(stdout, name, strlen(name));
	putchar('"');
}

/* The thread whose struct pthread `addr` is in; 0: it is in none. */
static uint32_t thread_at(const struct view *view, uint64_t addr)
{
	const struct reg_table *table = recording_reg_table(view->recording);
	size_t streams = recording_threads(view->recording);

	for (uint32_t stream = 0; stream < streams; stream++) {
		struct reg_file regs;
		uint64_t pointer;
		uint32_t tid;

		if (replayer_thread_registers(view->replayer, stream, &regs,
					      NULL))
			continue;
		pointer = reg_get(table, &regs, table->tls);
		if ((addr < pointer ? pointer - addr : addr - pointer) <
			    DESCRIPTION_MOST &&
		    !recording_tid(view->recording,
				   recording_thread_of(view->recording, stream,
						       view->at.time),
				   &tid, NULL))
			return tid;
	}
	return 0;
}

static void print_what(const struct view *view, struct thread_names *names,
		       const struct wait *wait, uint64_t addr)
{
	uint32_t number = 0;

	switch (wait->kind) {
	case WAITS_MUTEX:
		fputs(" for the mutex", stdout);
		print_object(view, addr);
		if (read_number(view, addr + OWNER_AT, &number) &&
		    is_thread(view, number)) {
			fputs(", which ", stdout);
			print_thread(view, names, number);
			fputs(" holds", stdout);
		}
		break;
	case WAITS_CONDITION:
		fputs(" for the condition", stdout);
		print_object(view, addr);
		break;
	case WAITS_END:
		fputs(" for the end of ", stdout);
		if (!read_number(view, addr, &number) ||
		    !is_thread(view, number))
			number = thread_at(view, addr);
		if (number)
			print_thread(view, names, number);
		else
			fputs("a thread", stdout);
		break;
	default:
		printf(" in %s()", wait->called);
		break;
	}
	if (*wait->place) {
		fputs(", in ", stdout);
		print_escaped(stdout, wait->place, strlen(wait->place));
	}
	putchar('\n');
}

/* ------- all threads ------- */

static int find_wait(const struct view *view, uint32_t stream,
		     struct wait *out, struct failure *why)
{
	const struct backtrace backtrace = {
		.replayer = view->replayer, .lines = view->lines,
		.stream = stream, .visit = on_frame, .context = out,
	};
	enum frames_end end;
	int rc;

	*out = (struct wait){ 0 };
	rc = backtrace_walk(&backtrace, &end, why);
	out->kind = rc < 0 ? WAITS_NOT : kind_of(out);
	return rc < 0 && rc != ERR_NOT_FOUND ? rc : 0;
}

static int print_wait(const struct view *view, struct thread_names *names,
		      uint32_t stream, const struct wait *wait,
		      struct failure *why)
{
	const struct reg_table *table = recording_reg_table(view->recording);
	struct reg_file regs;
	uint32_t tid;
	int rc = recording_tid(view->recording,
			       recording_thread_of(view->recording, stream,
						   view->at.time), &tid, why);

	if (!rc)
		rc = replayer_thread_registers(view->replayer, stream, &regs,
					       why);
	if (rc)
		return rc;
	fputs("  ", stdout);
	print_thread(view, names, tid);
	print_what(view, names, wait,
		   reg_get(table, &regs, table->call_args[0]));
	return 0;
}

static int count_waits(const struct view *view, size_t *out,
		       struct failure *why)
{
	size_t streams = recording_threads(view->recording);
	int rc = 0;

	*out = 0;
	for (uint32_t stream = 0; stream < streams && !rc; stream++) {
		struct wait wait;

		rc = find_wait(view, stream, &wait, why);
		*out += !rc && wait.kind != WAITS_NOT;
	}
	return rc;
}

int print_waits(const struct view *view, struct thread_names *names,
		struct failure *why)
{
	size_t streams = recording_threads(view->recording), count, shown = 0;
	int rc = count_waits(view, &count, why);

	if (rc || !count)
		return rc;
	printf("%zu thread%s:\n", count, count == 1 ? " waits" : "s wait");
	for (uint32_t stream = 0; stream < streams && !rc; stream++) {
		struct wait wait;

		rc = find_wait(view, stream, &wait, why);
		if (rc || wait.kind == WAITS_NOT)
			continue;
		if (shown++ == WAITS_SHOWN) {
			puts("  ...");
			break;
		}
		rc = print_wait(view, names, stream, &wait, why);
	}
	return rc;
}
