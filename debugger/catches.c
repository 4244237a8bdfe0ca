/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * catches.c - system calls at which a debugger wants to stop, and those that
 * make processes
 */
#include "debugger/server_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/target.h"

/* ------- system calls ------- */

/* "0", "1": all, or "1;NUMBER;NUMBER" */
void on_catch_calls(struct server *server, const char *args)
{
	bool catches = *args == '1';
	size_t room = strlen(args) / 2 + 1, count = 0;
	uint64_t *numbers = calloc(room, sizeof(*numbers));

	args += *args != '\0';
	while (numbers && catches && *args == ';') {
		args++;
		if (!text_read_hex(&args, &numbers[count]))
			break;
		count++;
	}
	if (!numbers || *args) {
		free(numbers);
		reply_nonsense(server);
		return;
	}
	free(server->caught);
	server->caught = numbers;
	server->caught_count = count;
	server->catches = catches;
	reply(server, "OK");
}

bool catches_call(const struct server *server, uint64_t number)
{
	for (size_t i = 0; i < server->caught_count; i++)
		if (server->caught[i] == number)
			return true;
	return server->catches && !server->caught_count;
}

/* ------- processes ------- */

static bool is_number(const uint64_t *numbers, uint64_t number)
{
	for (; *numbers != CALL_NONE; numbers++)
		if (*numbers == number)
			return true;
	return false;
}

static int is_thread(void *context, const struct cprec_thread *thread)
{
	const uint32_t *tid = context;

	return thread->tid == *tid;
}

struct child_search {
	uint32_t pid;
	bool is_there;
	struct text *path;
};

static int find_child(void *context, const struct cprec_process *process)
{
	struct child_search *search = context;

	if (process->is_this || process->pid != search->pid)
		return 0;
	search->is_there = true;
	text_add(search->path, "%s", process->path);
	return 1;
}

/* The call has made a process, not a thread: where its recording is. */
static bool find_forked(struct server *server, const struct cprec_stop *stop,
			struct text *path)
{
	struct child_search search = { .pid = stop->result, .path = path };
	uint32_t tid = stop->result;

	return stop->kind == CPREC_AT_RETURN && stop->result > 0 &&
	       is_number(server->target->forks, stop->call) &&
	       !cprec_each_thread(server->recording, is_thread, &tid, NULL) &&
	       cprec_each_process(server->recording, find_child, &search,
				  NULL) >= 0 && search.is_there;
}

struct call_search {
	const struct cprec_stop *stop;
	bool waits;
};

static int find_flag(void *context, const struct cprec_event *event)
{
	struct call_search *search = context;

	if (event->kind != CPREC_CALL_ENDS || event->tid != search->stop->tid ||
	    event->number != search->stop->call ||
	    event->result != search->stop->result)
		return 0;
	for (size_t i = 0; i < event->argument_count; i++)
		search->waits |= event->arguments[i] &&
				 strstr(event->arguments[i], "CLONE_VFORK");
	return 1;
}

/* Whether the parent waits until the other program begins, or ends: by the
 * call's number, or its flags. */
static bool is_vfork(struct server *server, const struct cprec_stop *stop)
{
	struct call_search search = { .stop = stop };
	const struct cprec_events question = {
		.size = sizeof(question), .tid = stop->tid,
		.has_from = true, .from = { stop->at.time - 1, 0 },
		.has_to = true, .to = { stop->at.time + 1, 0 },
		.visit = find_flag, .context = &search,
	};

	if (is_number(server->target->vforks, stop->call))
		return true;
	return cprec_each_event(server->recording, &question, NULL) >= 0 &&
	       search.waits;
}

/* Where one may go on in the other process. */
static void tell_recording(struct server *server, uint32_t pid,
			   const struct text *path)
{
	struct text line = { 0 };

	text_add(&line, "The recording of process %" PRIu32 " is %s.", pid,
		 path->bytes ? path->bytes : "");
	if (line.bytes && !server->heard)
		tell_line(server, line.bytes);
	text_release(&line);
}

static bool stand_at_fork(struct server *server, const struct cprec_stop *stop)
{
	struct text path = { 0 };
	bool is_forked = find_forked(server, stop, &path);
	bool waits = is_forked && is_vfork(server, stop);
	bool is_told = is_forked && (waits ? server->tells_vforks :
					     server->tells_forks);

	if (is_told) {
		tell_recording(server, stop->result, &path);
		server->stop = (struct stop_told) {
			.why = waits ? STOPPED_AT_VFORK : STOPPED_AT_FORK,
			.tid = stop->tid, .child = stop->result,
		};
		server->in_vfork = waits;
	}
	text_release(&path);
	return is_told;
}

/* ------- running ------- */

static size_t count_numbers(const uint64_t *numbers)
{
	size_t count = 0;

	while (numbers[count] != CALL_NONE)
		count++;
	return count;
}

bool catches_begin(struct server *server, struct cprec_until *until)
{
	const uint64_t *forks = server->target->forks;
	bool tells = server->tells_forks || server->tells_vforks;
	size_t more = tells ? count_numbers(forks) : 0;
	uint64_t *numbers;

	until->calls = server->catches;
	until->returns = server->catches || tells;
	until->call_numbers = NULL;
	/* All of them. */
	if (!until->returns || (server->catches && !server->caught_count))
		return true;
	numbers = calloc(server->caught_count + more + 1, sizeof(*numbers));
	if (!numbers)
		return false;
	for (size_t i = 0; i < server->caught_count; i++)
		numbers[i] = server->caught[i];
	for (size_t i = 0; i < more; i++)
		numbers[server->caught_count + i] = forks[i];
	until->call_numbers = numbers;
	until->call_number_count = server->caught_count + more;
	return true;
}

void catches_end(struct cprec_until *until)
{
	free((void *)until->call_numbers);
	until->call_numbers = NULL;
}

bool catches_stand(struct server *server, const struct cprec_stop *stop)
{
	if (stand_at_fork(server, stop))
		return true;
	if (!catches_call(server, stop->call))
		return false;
	server->stop = (struct stop_told) {
		.why = stop->kind == CPREC_AT_CALL ? STOPPED_AT_CALL :
						     STOPPED_AT_RETURN,
		.tid = stop->tid, .call = stop->call,
	};
	return true;
}
