/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thread_names.c - see thread_names.h
 *
 * Source: Linux, comm_write() of fs/proc/base.c, prctl(2), begin_new_exec().
 */
#include "replayer/session/thread_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "formats/array.h"
#include "formats/error.h"
#include "formats/registers.h"
#include "replayer/replayer.h"
#include "replayer/session/known_memory.h"
#include "replayer/session/parent.h"
#include "replayer/session/program_start.h"
#include "vm/linux/abi/names.h"

enum naming { BY_PROGRAM, BY_PRCTL, BY_FILE };

/* A call that may give a name. */
struct naming_call {
	enum naming by;
	struct position at;	/* it has been made */
	uint32_t stream;	/* ... by this one */
	struct position asked;	/* its arguments are in registers here */
	struct position opened;	/* BY_FILE: those of the call that opened it */
	int64_t file;		/* ... and its descriptor */
	uint64_t size;		/* BY_FILE: bytes that were written */

	bool is_known;		/* what follows is */
	bool names;		/* a thread: */
	uint32_t tid;
	char name[THREAD_NAME_SIZE];
};

/* A call that has made a thread, or a process. */
struct birth {
	struct position at;
	uint32_t stream;
	uint32_t tid;
};

/* The last two calls of a stream. */
struct last_call {
	bool is_open;		/* it opened a file; after that, */
	bool has_written;	/* ... it wrote something short */
	struct naming_call call;
};

/* Numbers of calls; none is UINT64_MAX. */
enum { PRCTL, OPEN, OPENAT, WRITE, CLOSE, CLONE, CLONE3, CALLS };

struct thread_names {
	struct recording *recording;
	const struct reg_table *regs;
	uint32_t pid;
	uint64_t numbers[CALLS];
	struct naming_call *calls;	/* by position */
	size_t call_count, call_room;
	struct birth *births;
	size_t birth_count, birth_room;

	/* Of the process that has forked this one, once they were asked for. */
	struct recording *parent;
	struct thread_names *parent_names;
	unsigned depth;		/* it is asked for so many descendants */

	struct replayer *rep;	/* while something is looked up, or NULL: one of
				   its own, for others stand elsewhere */

	/* While packets are visited: */
	struct last_call *last;	/* of each stream */
	uint64_t start;		/* of the segment, and the events at this time */
	uint32_t before;	/* that stand before it */
	struct failure *why;
};

/* ------- calls in the packets ------- */

static int add_call(struct thread_names *names, const struct naming_call *call)
{
	if (array_room(names->calls, names->call_count, names->call_room))
		return failed(names->why, ERR_NO_MEMORY, "out of memory");
	names->calls[names->call_count++] = *call;
	return 0;
}

static int add_birth(struct thread_names *names, const struct birth *birth)
{
	if (array_room(names->births, names->birth_count, names->birth_room))
		return failed(names->why, ERR_NO_MEMORY, "out of memory");
	names->births[names->birth_count++] = *birth;
	return 0;
}

/* Before the instruction; of a call that comes back later, before that. */
static struct position place_of_arguments(const struct packet *packet,
					  const struct position *at)
{
	if (packet->kind == PACKET_RETURN)
		return (struct position){ at->time, at->events - 1 };
	return (struct position){ at->time - 1, EVENTS_ALL };
}

/* A file is opened, written and closed: it may be one of /proc. */
static int follow_file(struct thread_names *names, struct last_call *last,
		       const struct packet *packet,
		       const struct naming_call *call)
{
	bool opens = packet->number == names->numbers[OPEN] ||
		     packet->number == names->numbers[OPENAT];
	const struct last_call before = *last;

	*last = (struct last_call){ 0 };
	if (opens && packet->result >= 0) {
		last->is_open = true;
		last->call.opened = call->asked;
		last->call.file = packet->result;
	} else if (before.is_open && packet->number == names->numbers[WRITE] &&
		   packet->result > 0 && packet->result <= THREAD_NAME_SIZE) {
		*last = before;
		last->is_open = false;
		last->has_written = true;
		last->call.by = BY_FILE;
		last->call.at = call->at;
		last->call.asked = call->asked;
		last->call.stream = call->stream;
		last->call.size = (uint64_t)packet->result;
	} else if (before.has_written &&
		   packet->number == names->numbers[CLOSE] && !packet->result) {
		return add_call(names, &before.call);
	}
	return 0;
}

static int on_packet(void *context, const struct packet_place *place,
		     const struct packet *packet)
{
	struct thread_names *names = context;
	struct naming_call call = { .by = BY_PRCTL, .stream = place->stream };

	if (packet->kind != PACKET_SYSCALL && packet->kind != PACKET_RETURN)
		return 0;
	call.at = (struct position){ place->time, place->events };
	if (place->time == names->start)
		call.at.events += names->before;
	call.asked = place_of_arguments(packet, &call.at);
	if (packet->number == names->numbers[PRCTL] && !packet->result)
		return add_call(names, &call);
	if ((packet->number == names->numbers[CLONE] ||
	     packet->number == names->numbers[CLONE3]) && packet->result > 0)
		return add_birth(names, &(struct birth) {
			call.at, call.stream, (uint32_t)packet->result });
	return follow_file(names, &names->last[place->stream], packet, &call);
}

static int visit_packets(struct thread_names *names, struct failure *why)
{
	struct recording *recording = names->recording;
	size_t segments = recording_segments(recording);
	int rc = 0;

	names->why = why;
	for (size_t i = 0; i < segments && !rc; i++) {
		names->start = recording_time(recording, i);
		rc = recording_events_before(recording, i, &names->before,
					     why);
		if (!rc)
			rc = recording_each_packet(recording, i, on_packet,
						   names, why);
	}
	return rc;
}

/* One that goes on from itself has become another program. */
static bool is_forked(const struct thread_names *names)
{
	uint32_t parent = recording_meta(names->recording)->origin.parent;

	return parent && parent != names->pid;
}

/* Those that the process has begun. */
static int add_programs(struct thread_names *names, struct failure *why)
{
	const struct recording_program *list;
	size_t count;
	int rc = recording_programs(names->recording, &list, &count, why);

	names->why = why;
	for (size_t i = is_forked(names); i < count && !rc; i++) {
		const struct position at = { list[i].time, 0 };

		rc = add_call(names, &(struct naming_call) {
			.by = BY_PROGRAM, .at = at, .asked = at,
			.stream = list[i].stream });
	}
	return rc;
}

static int compare_calls(const void *a, const void *b)
{
	const struct naming_call *one = a, *other = b;

	return position_compare(&one->at, &other->at);
}

static void find_numbers(struct thread_names *names)
{
	static const char *const called[CALLS] = {
		[PRCTL] = "prctl", [OPEN] = "open", [OPENAT] = "openat",
		[WRITE] = "write", [CLOSE] = "close", [CLONE] = "clone",
		[CLONE3] = "clone3",
	};

	for (unsigned i = 0; i < CALLS; i++)
		if (!linux_syscall_find(names->regs->arch, called[i],
					&names->numbers[i]))
			names->numbers[i] = UINT64_MAX;
}

int thread_names_create(struct thread_names **out, struct recording *recording,
			struct failure *why)
{
	struct thread_names *names = calloc(1, sizeof(*names));
	size_t streams = recording_threads(recording);
	int rc = 0;

	if (names)
		names->last = calloc(streams + 1, sizeof(*names->last));
	if (!names || !names->last) {
		free(names);
		return failed(why, ERR_NO_MEMORY, "out of memory");
	}
	names->recording = recording;
	names->regs = recording_reg_table(recording);
	find_numbers(names);
	rc = recording_tid(recording, 0, &names->pid, why);
	if (!rc)
		rc = add_programs(names, why);
	if (!rc)
		rc = visit_packets(names, why);
	if (rc) {
		thread_names_destroy(names);
		return rc;
	}
	qsort(names->calls, names->call_count, sizeof(*names->calls),
	      compare_calls);
	*out = names;
	return 0;
}

void thread_names_destroy(struct thread_names *names)
{
	if (!names)
		return;
	thread_names_destroy(names->parent_names);
	recording_close(names->parent);
	free(names->calls);
	free(names->births);
	free(names->last);
	free(names);
}

/* ------- what they asked for ------- */

/* Goes where a call has its arguments; `args` are those. */
static int find_arguments(struct thread_names *names,
			  const struct position *asked, uint32_t stream,
			  uint64_t args[KERNEL_ARGS], struct failure *why)
{
	struct reg_file regs;
	int rc = replayer_seek(names->rep, asked, why);

	if (!rc)
		rc = replayer_thread_registers(names->rep, stream, &regs, why);
	for (unsigned i = 0; i < KERNEL_ARGS && !rc; i++)
		args[i] = reg_get(names->regs, &regs,
				  names->regs->call_args[i]);
	return rc;
}

/* Bytes up to one that is 0, or not known; less than `size` of them. */
static void read_text(struct thread_names *names, uint64_t addr, char *out,
		      size_t size)
{
	size_t length = 0;

	while (length < size - 1 &&
	       known_memory_read(names->rep, addr + length, &out[length], 1) &&
	       out[length])
		length++;
	out[length] = '\0';
}

#define PATH_MOST 4096

static int take_program(struct thread_names *names, struct naming_call *call,
			struct failure *why)
{
	struct program_start start;
	char path[PATH_MOST];
	const char *slash;
	int rc = replayer_seek(names->rep, &call->asked, why);

	if (rc || !program_start_read(names->rep, names->regs, &start) ||
	    !start.name)
		return rc;
	read_text(names, start.name, path, sizeof(path));
	slash = strrchr(path, '/');
	snprintf(call->name, sizeof(call->name), "%.*s", THREAD_NAME_SIZE - 1,
		 slash ? slash + 1 : path);
	call->names = true;
	return 0;
}

static int take_prctl(struct thread_names *names, struct naming_call *call,
		      struct failure *why)
{
	uint64_t args[KERNEL_ARGS];
	int rc = find_arguments(names, &call->asked, call->stream, args, why);

	call->names = !rc && (int)args[0] == PR_SET_NAME;
	if (call->names)
		read_text(names, args[1], call->name, sizeof(call->name));
	return rc;
}

/* Of "/proc/self/task/12/comm" and the like; 0: it is none. */
static uint32_t thread_of_file(const struct thread_names *names,
			       const char *path, uint32_t own)
{
	char process[24], rest[24];
	uint32_t tid;

	if (!strcmp(path, "/proc/thread-self/comm"))
		return own;
	if (sscanf(path, "/proc/%23[^/]/task/%" SCNu32 "/%23s", process, &tid,
		   rest) == 3)
		return strcmp(rest, "comm") ? 0 : tid;
	if (sscanf(path, "/proc/%" SCNu32 "/%23s", &tid, rest) == 2)
		return strcmp(rest, "comm") ? 0 : tid;
	return strcmp(path, "/proc/self/comm") ? 0 : names->pid;
}

static int take_file(struct thread_names *names, struct naming_call *call,
		     uint32_t own, struct failure *why)
{
	uint64_t args[KERNEL_ARGS] = { 0 };
	char path[64];
	int rc = find_arguments(names, &call->opened, call->stream, args, why);

	if (rc)
		return rc;
	/* open() has it first, openat() behind a descriptor. */
	read_text(names, args[0], path, sizeof(path));
	if (*path != '/')
		read_text(names, args[1], path, sizeof(path));
	call->tid = thread_of_file(names, path, own);
	if (!call->tid)
		return 0;
	rc = find_arguments(names, &call->asked, call->stream, args, why);
	call->names = !rc && (int64_t)args[0] == call->file;
	if (call->names)
		read_text(names, args[1], call->name,
			  call->size < sizeof(call->name) ?
				  call->size + 1 : sizeof(call->name));
	return rc;
}

static int know(struct thread_names *names, struct naming_call *call,
		struct failure *why)
{
	uint32_t thread = recording_thread_of(names->recording, call->stream,
					      call->at.time);
	int rc = recording_tid(names->recording, thread, &call->tid, why);

	if (!rc && !names->rep)
		rc = replayer_create(&names->rep, names->recording, why);
	if (!rc && call->by == BY_PROGRAM)
		rc = take_program(names, call, why);
	else if (!rc && call->by == BY_PRCTL)
		rc = take_prctl(names, call, why);
	else if (!rc)
		rc = take_file(names, call, call->tid, why);
	call->is_known = !rc;
	return rc;
}

/* ------- names ------- */

/* A thread has this number; it began then, and lived on to what is asked. */
struct bearer {
	uint32_t tid, thread;
	uint64_t first;
};

/* Calls of others may name it if they write to a file. */
static bool may_name(const struct thread_names *names,
		     const struct naming_call *call, const struct bearer *who)
{
	return call->at.time >= who->first &&
	       (call->by == BY_FILE ||
		recording_thread_of(names->recording, call->stream,
				    call->at.time) == who->thread);
}

/* So many calls are looked at for one name: others give none, as those by which
 * allocators name memory. */
#define LOOKED_MOST 256u

/* The last call that names it, before a position; NULL: there is none. */
static int find_call(struct thread_names *names, const struct bearer *who,
		     const struct position *at, const struct naming_call **out,
		     struct failure *why)
{
	unsigned looked = 0;

	*out = NULL;
	for (size_t i = names->call_count; i-- > 0;) {
		struct naming_call *call = &names->calls[i];

		if (position_compare(&call->at, at) > 0 ||
		    !may_name(names, call, who))
			continue;
		if (!call->is_known) {
			int rc = ++looked > LOOKED_MOST ?
					 failed(why, ERR_NOT_FOUND,
						"it is not known") :
					 know(names, call, why);

			if (rc)
				return rc;
		}
		*out = call;
		if (call->names && call->tid == who->tid)
			return 0;
		/* Nothing before a program's beginning counts. */
		if (call->by == BY_PROGRAM)
			break;
	}
	*out = NULL;
	return 0;
}

/* Who has made it; false: nobody here. */
static bool find_birth(const struct thread_names *names,
		       const struct bearer *who, struct position *at,
		       uint32_t *thread)
{
	const struct birth *found = NULL;

	/* Of several threads with the number, the nearest: the call may be over
	 * later than the thread begins. */
	for (size_t i = 0; i < names->birth_count; i++) {
		const struct birth *birth = &names->births[i];

		if (birth->tid == who->tid &&
		    (!found || birth->at.time <= who->first))
			found = birth;
	}
	if (!found)
		return false;
	*at = (struct position){ found->at.time < who->first ?
					 found->at.time : who->first, 0 };
	*thread = recording_thread_of(names->recording, found->stream,
				      found->at.time);
	return *thread != who->thread;
}

/*
 * The name that a thread has or was born with, in this process; `*is_first` if it
 * has the first name of the process.
 */
static int find_own(struct thread_names *names, uint32_t thread,
		    struct position at, char out[THREAD_NAME_SIZE],
		    bool *is_first, struct failure *why)
{
	uint32_t generations = (uint32_t)recording_threads(names->recording);

	*is_first = false;
	for (uint32_t i = 0; i <= generations; i++) {
		struct recording_thread about;
		const struct naming_call *call;
		struct bearer who = { .thread = thread };
		int rc = recording_thread(names->recording, thread, &about,
					  why);

		who.tid = about.tid;
		who.first = about.first;
		if (!rc)
			rc = find_call(names, &who, &at, &call, why);
		if (rc)
			return rc;
		if (call) {
			memcpy(out, call->name, THREAD_NAME_SIZE);
			return 0;
		}
		if (!find_birth(names, &who, &at, &thread)) {
			*is_first = true;
			break;
		}
	}
	return failed(why, ERR_NOT_FOUND, "its name is not known");
}

/* Forked processes that became no other program, one in the other. */
#define ANCESTORS_MOST 64u

static int make_parent(struct thread_names *names, struct failure *why)
{
	int rc = 0;

	if (names->depth == ANCESTORS_MOST)
		return failed(why, ERR_NOT_FOUND, "its name is not known");
	if (!names->parent)
		rc = parent_open(&names->parent, names->recording, why);
	if (!rc)
		rc = thread_names_create(&names->parent_names, names->parent,
					 why);
	if (!rc)
		names->parent_names->depth = names->depth + 1;
	return rc;
}

/* What the thread that forked the process was called then. */
static int find_of_parent(struct thread_names *names,
			  char out[THREAD_NAME_SIZE], struct failure *why)
{
	const struct origin *origin = &recording_meta(names->recording)->origin;
	const struct position at = { origin->time, 0 };
	uint32_t thread;
	int rc = names->parent_names ? 0 : make_parent(names, why);

	if (!rc)
		rc = recording_find_thread(names->parent, origin->thread,
					   origin->time, &thread, why);
	return rc ? rc : thread_names_find(names->parent_names, thread, &at,
					   out, why);
}

static int find_name(struct thread_names *names, uint32_t thread,
		     const struct position *at, char out[THREAD_NAME_SIZE],
		     struct failure *why)
{
	bool is_first;
	int rc = find_own(names, thread, *at, out, &is_first, why);

	return rc == ERR_NOT_FOUND && is_first && is_forked(names) ?
		       find_of_parent(names, out, why) : rc;
}

int thread_names_find(struct thread_names *names, uint32_t thread,
		      const struct position *at, char out[THREAD_NAME_SIZE],
		      struct failure *why)
{
	int rc = find_name(names, thread, at, out, why);

	replayer_destroy(names->rep);
	names->rep = NULL;
	return rc;
}
