/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diversion_told.c - what a diversion is told that the recording has: who the
 * process is, what the program was told before, and clocks
 */
#include <errno.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "replayer/replayer.h"
#include "replayer/session/diversion_calls_internal.h"
#include "replayer/session/program_start.h"
#include "replayer/session/query.h"
#include "replayer/session/recorded_calls.h"
#include "vm/memory/memory.h"
#include "vm/vm.h"

#define NANOSECONDS INT64_C(1000000000)

/* ------- who the process is ------- */

static int find_tid(const struct diverted_call *call, uint32_t *out,
		    struct failure *why)
{
	struct recording *recording = query_recording(call->kernel->query);
	const struct diversion_kernel *kernel = call->kernel;

	return recording_tid(recording,
			     recording_thread_of(recording, kernel->stream,
						 kernel->at.time),
			     out, why);
}

int divert_getpid(struct diverted_call *call, struct failure *why)
{
	uint32_t pid;
	int rc = recording_tid(query_recording(call->kernel->query), 0, &pid,
			       why);

	call->result = pid;
	return rc;
}

int divert_gettid(struct diverted_call *call, struct failure *why)
{
	uint32_t tid = 0;
	int rc = find_tid(call, &tid, why);

	call->result = tid;
	return rc;
}

static int send_signal(struct diverted_call *call, uint64_t to, uint64_t self,
		       uint64_t signal, struct failure *why)
{
	if ((uint32_t)to != (uint32_t)self)
		return divert_refuse(call, why, "nobody else is there");
	if (!signal)
		return 0;
	call->end = DIVERSION_CALL_SIGNAL;
	call->signal = (uint32_t)signal;
	return 0;
}

int divert_kill(struct diverted_call *call, struct failure *why)
{
	uint32_t pid = 0;
	int rc = recording_tid(query_recording(call->kernel->query), 0, &pid,
			       why);

	return rc ? rc
		  : send_signal(call, call->args[0], pid, call->args[1], why);
}

int divert_tkill(struct diverted_call *call, struct failure *why)
{
	uint32_t tid = 0;
	int rc = find_tid(call, &tid, why);

	return rc ? rc
		  : send_signal(call, call->args[0], tid, call->args[1], why);
}

int divert_tgkill(struct diverted_call *call, struct failure *why)
{
	uint32_t tid = 0;
	int rc = find_tid(call, &tid, why);

	return rc ? rc
		  : send_signal(call, call->args[1], tid, call->args[2], why);
}

/* The program that the process was; and whether its start is recorded. */
static int find_program(const struct diverted_call *call,
			const struct recording_program **out, bool *is_begun,
			struct failure *why)
{
	struct recording *recording = query_recording(call->kernel->query);
	const struct recording_program *list;
	size_t count, i;
	int rc = recording_programs(recording, &list, &count, why);

	if (rc || !count)
		return rc ? rc
			  : failed(why, ERR_NOT_FOUND,
				   "no program was recorded");
	for (i = count - 1; i && list[i].time > call->kernel->at.time;)
		i--;
	*out = &list[i];
	*is_begun = i || (!recording_start(recording) &&
			  !recording_meta(recording)->origin.parent);
	return 0;
}

/*
 * Whether the program has made none of some calls, so that what it was given
 * at its start still holds.
 */
static int is_unchanged(const struct diverted_call *call, const unsigned *kinds,
			size_t count, const struct recording_program **program,
			bool *out, struct failure *why)
{
	const struct recorded_calls calls = {
		.query = call->kernel->query,
		.kinds = kinds,
		.kind_count = count,
	};
	struct recorded_call found;
	bool is_begun, is_found = true;
	int rc = find_program(call, program, &is_begun, why);

	if (!rc && is_begun)
		rc = recorded_call_before(
			&calls, &(struct position){ (*program)->time, 0 },
			&call->kernel->at, &found, &is_found, why);
	*out = !rc && !is_found;
	return rc;
}

/* At its start, the kernel tells a program. */
static int find_start(const struct diverted_call *call,
		      const struct recording_program *program,
		      struct program_start *out, struct failure *why)
{
	const struct position at = { program->time, 0 };
	struct replayer *replayer;
	int rc = query_replayer(call->kernel->query, &replayer, why);

	if (!rc)
		rc = replayer_seek(replayer, &at, why);
	if (!rc &&
	    (!program_start_read(replayer, call->regs, out) || !out->has_uid))
		rc = divert_refuse(call, why, "the program was not told");
	return rc;
}

int divert_getid(struct diverted_call *call, struct failure *why)
{
	static const unsigned changes[] = {
		CALL_setuid,	CALL_setgid,	CALL_setreuid, CALL_setregid,
		CALL_setresuid, CALL_setresgid, CALL_setfsuid, CALL_setfsgid,
	};
	const struct recording_program *program;
	struct program_start start;
	bool holds;
	int rc = is_unchanged(call, changes, sizeof(changes) / sizeof(*changes),
			      &program, &holds, why);

	if (!rc && !holds)
		rc = divert_refuse(call, why,
				   "the process may have changed it");
	if (!rc)
		rc = find_start(call, program, &start, why);
	if (rc)
		return rc;
	switch (linux_call_kind(call->row)) {
	case CALL_getuid:
		call->result = start.uid;
		break;
	case CALL_geteuid:
		call->result = start.euid;
		break;
	case CALL_getgid:
		call->result = start.gid;
		break;
	default:
		call->result = start.egid;
	}
	return 0;
}

int divert_getcwd(struct diverted_call *call, struct failure *why)
{
	static const unsigned changes[] = { CALL_chdir, CALL_fchdir };
	const struct recording_program *program;
	bool holds;
	size_t size;
	int rc = is_unchanged(call, changes, sizeof(changes) / sizeof(*changes),
			      &program, &holds, why);

	if (rc)
		return rc;
	if (!holds)
		return divert_refuse(call, why,
				     "the process may have changed it");
	size = strlen(program->image.directory) + 1;
	call->result = size > call->args[1] ? -ERANGE
		       : memory_write(call->memory, call->args[0],
				      program->image.directory, size)
			       ? -EFAULT
			       : (int64_t)size;
	return 0;
}

/* ------- what the program was told before ------- */

/* Calls after which an answer does not hold. */
static const struct recalled {
	unsigned kind;		/* enum linux_call_index */
	unsigned changes[2];
	size_t change_count;
	uint64_t changing;	/* arguments of its own that make it one, too */
} recalled[] = {
	{ CALL_uname, { 0 }, 0, 0 },
	{ CALL_getppid, { 0 }, 0, 0 },
	{ CALL_getpgid, { CALL_setsid, CALL_setpgid }, 2, 0 },
	{ CALL_getpgrp, { CALL_setsid, CALL_setpgid }, 2, 0 },
	{ CALL_getsid, { CALL_setsid }, 1, 0 },
	{ CALL_getrlimit, { CALL_setrlimit, CALL_prlimit64 }, 2, 0 },
	{ CALL_prlimit64, { CALL_setrlimit }, 1, 1u << 2 },
};

struct recall {
	const struct diverted_call *call;
	const struct recalled *about;
};

static bool is_change(const struct recall *recall,
		      const struct linux_call *call, const uint64_t *args)
{
	if (linux_call_kind(call) != recall->about->kind)
		return true;
	for (unsigned i = 0; i < KERNEL_ARGS; i++)
		if (recall->about->changing >> i & 1 && args[i])
			return true;
	return false;
}

/* Whether all is the same but where the answer goes; or it is a change. */
static bool bears_on(void *context, const struct recorded_call *past)
{
	const struct recall *recall = context;
	const struct linux_call *row = recall->call->row;

	if (is_change(recall, past->call, past->args))
		return true;
	if (past->call != row)
		return false;
	for (unsigned i = 0; i < linux_call_arguments(row); i++)
		if (!arg_is_written(row->args[i].kind) &&
		    past->args[i] != recall->call->args[i])
			return false;
	return true;
}

static bool copy_told(struct diverted_call *call,
		      const struct recorded_call *past,
		      struct replayer *replayer)
{
	uint8_t bytes[STRUCT_MOST], known[STRUCT_MOST];

	for (unsigned i = 0; i < linux_call_arguments(call->row); i++) {
		const struct call_arg *arg = &call->row->args[i];
		const struct guest_layout *layout =
			linux_layout_of(call->regs->arch, arg->type);

		if (!arg_is_written(arg->kind) || !call->args[i])
			continue;
		if (!layout || layout->size > sizeof(bytes) || !past->args[i] ||
		    replayer_read(replayer, past->args[i], bytes, known,
				  layout->size, NULL) ||
		    memchr(known, 0, layout->size) ||
		    memory_write(call->memory, call->args[i], bytes,
				 layout->size))
			return false;
	}
	return true;
}

static int find_past(const struct diverted_call *call,
		     const struct recorded_calls *calls,
		     struct recorded_call *out, bool *is_found,
		     struct failure *why)
{
	const struct recording_program *program;
	bool is_begun;
	int rc = find_program(call, &program, &is_begun, why);

	return rc ? rc : recorded_call_before(
				 calls, &(struct position){ program->time, 0 },
				 &call->kernel->at, out, is_found, why);
}

/* The last answer to the same question. */
int divert_recall(struct diverted_call *call, struct failure *why)
{
	struct recall recall = { .call = call, .about = recalled };
	unsigned kinds[1 + sizeof(recalled[0].changes) / sizeof(unsigned)];
	struct recorded_calls calls = {
		.query = call->kernel->query, .kinds = kinds,
		.is_meant = bears_on, .context = &recall,
	};
	struct recorded_call past;
	struct replayer *replayer;
	bool is_found;
	int rc;

	while (recall.about->kind != linux_call_kind(call->row))
		recall.about++;
	if (is_change(&recall, call->row, call->args))
		return divert_refuse(call, why, "a recording has no kernel");
	calls.kind_count = 1 + recall.about->change_count;
	kinds[0] = recall.about->kind;
	memcpy(&kinds[1], recall.about->changes, sizeof(recall.about->changes));
	rc = find_past(call, &calls, &past, &is_found, why);
	if (!rc)
		rc = query_replayer(call->kernel->query, &replayer, why);
	if (rc)
		return rc;
	if (!is_found || is_change(&recall, past.call, past.args) ||
	    (past.result >= 0 && !copy_told(call, &past, replayer)))
		return divert_refuse(call, why, "the recording has no answer"
				     " that still holds");
	call->result = past.result;
	return 0;
}

/* ------- clocks ------- */

/* Since the diversion began: an instruction takes as long as nothing else. */
static int64_t passed(const struct diverted_call *call)
{
	return (int64_t)(vm_steps(call->kernel->vm) - call->kernel->began +
			 call->kernel->slept);
}

/* Nanoseconds since 1970, where the diversion began. */
static int wall_clock(const struct diverted_call *call, uint64_t at,
		      int64_t *out, struct failure *why)
{
	int rc = recording_clock_at(query_recording(call->kernel->query), at,
				    out, why);

	*out *= 1000;
	return rc;
}

/* Coarse clocks are the others, told less often. */
static uint64_t clock_kind(uint64_t clock)
{
	return clock == CLOCK_REALTIME_COARSE	 ? CLOCK_REALTIME
	       : clock == CLOCK_MONOTONIC_COARSE ? CLOCK_MONOTONIC
						 : clock;
}

static bool is_same_clock(void *context, const struct recorded_call *past)
{
	const struct diverted_call *call = context;

	return clock_kind((uint32_t)past->args[0]) ==
	       clock_kind((uint32_t)call->args[0]);
}

/* What a clock said once, and when that was. */
static int find_clock(struct diverted_call *call, int64_t *said, uint64_t *when,
		      struct failure *why)
{
	static const unsigned kind = CALL_clock_gettime;
	const struct recorded_calls calls = {
		.query = call->kernel->query,
		.kinds = &kind,
		.kind_count = 1,
		.is_meant = is_same_clock,
		.context = call,
	};
	struct recording *recording = query_recording(call->kernel->query);
	const struct position start = { recording_start(recording), 0 };
	const struct position end = { recording_end(recording), EVENTS_ALL };
	const struct guest_layout *layout = NULL;
	uint8_t bytes[STRUCT_MOST], known[STRUCT_MOST];
	struct recorded_call past;
	struct replayer *replayer;
	struct timespec time;
	bool is_found = false;
	int rc = recorded_call_before(&calls, &start, &call->kernel->at, &past,
				      &is_found, why);

	if (!rc && !is_found)
		rc = recorded_call_behind(&calls, &call->kernel->at, &end,
					  &past, &is_found, why);
	if (!rc)
		rc = query_replayer(call->kernel->query, &replayer, why);
	if (rc)
		return rc;
	if (is_found)
		layout = linux_layout_of(call->regs->arch,
					 past.call->args[1].type);
	if (!layout || past.result || layout->size > sizeof(bytes) ||
	    replayer_read(replayer, past.args[1], bytes, known, layout->size,
			  NULL) ||
	    memchr(known, 0, layout->size))
		return divert_refuse(call, why,
				     "the recording does not say what this"
				     " clock shows");
	layout_in(layout, &time, bytes);
	*said = time.tv_sec * NANOSECONDS + time.tv_nsec;
	*when = past.end.time;
	return 0;
}

static int read_clock(struct diverted_call *call, uint64_t clock, int64_t *out,
		      struct failure *why)
{
	int64_t said, now, then;
	uint64_t when;
	int rc = wall_clock(call, call->kernel->at.time, &now, why);

	if (!rc && clock_kind(clock) != CLOCK_REALTIME) {
		if (clock == CLOCK_PROCESS_CPUTIME_ID ||
		    clock == CLOCK_THREAD_CPUTIME_ID)
			return divert_refuse(call, why,
					     "the recording does not say"
					     " what this clock shows");
		rc = find_clock(call, &said, &when, why);
		if (!rc)
			rc = wall_clock(call, when, &then, why);
		if (!rc)
			now = said + (now - then);
	}
	*out = now + passed(call);
	return rc;
}

int divert_clock_gettime(struct diverted_call *call, struct failure *why)
{
	int64_t now;
	int rc = read_clock(call, (uint32_t)call->args[0], &now, why);
	const struct timespec time = { now / NANOSECONDS, now % NANOSECONDS };

	return rc ? rc : divert_give(call, 1, &time);
}

int divert_clock_getres(struct diverted_call *call, struct failure *why)
{
	const struct timespec smallest = { 0, 1 };

	(void)why;
	return divert_give(call, 1, &smallest);
}

int divert_gettimeofday(struct diverted_call *call, struct failure *why)
{
	const struct timezone zone = { 0, 0 };
	int64_t now;
	int rc = read_clock(call, CLOCK_REALTIME, &now, why);
	const struct timeval time = { now / NANOSECONDS,
				      now % NANOSECONDS / 1000 };

	if (!rc && !divert_put(call, 1, &zone))
		call->result = -EFAULT;
	else if (!rc)
		divert_give(call, 0, &time);
	return rc;
}

int divert_time(struct diverted_call *call, struct failure *why)
{
	int64_t now;
	int rc = read_clock(call, CLOCK_REALTIME, &now, why);
	const long seconds = (long)(now / NANOSECONDS);

	if (!rc)
		call->result = divert_put(call, 0, &seconds) ? seconds
							     : -EFAULT;
	return rc;
}

static int sleep_for(struct diverted_call *call, unsigned argument)
{
	struct timespec time;

	if (!divert_take(call, argument, &time))
		call->result = -EFAULT;
	else if (time.tv_sec < 0 || time.tv_nsec < 0 ||
		 time.tv_nsec >= NANOSECONDS || time.tv_sec > INT32_MAX)
		call->result = -EINVAL;
	else
		call->kernel->slept +=
			(uint64_t)(time.tv_sec * NANOSECONDS + time.tv_nsec);
	return 0;
}

int divert_nanosleep(struct diverted_call *call, struct failure *why)
{
	(void)why;
	return sleep_for(call, 0);
}

int divert_clock_nanosleep(struct diverted_call *call, struct failure *why)
{
	return call->args[1] & TIMER_ABSTIME
		       ? divert_refuse(call, why, "nothing is waited for")
		       : sleep_for(call, 2);
}
