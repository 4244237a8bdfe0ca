/* SPDX-License-Identifier: GPL-2.0-or-later */
/* strace_files.c - see strace_files.h */
#include "tools/strace_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "vm/linux/abi/calls.h"

#define FILES_MOST 65536	/* descriptors: a choice */
#define NAME_MOST 4096		/* PATH_MAX */

const char *files_name(const struct strace_files *files, int descriptor)
{
	return descriptor >= 0 && (size_t)descriptor < files->count ?
		       files->list[descriptor].name : NULL;
}

static bool make_room(struct strace_files *files, size_t count)
{
	struct strace_file *list;

	if (count <= files->count)
		return true;
	list = realloc(files->list, count * sizeof(*list));
	if (!list)
		return false;
	memset(list + files->count, 0,
	       (count - files->count) * sizeof(*list));
	files->list = list;
	files->count = count;
	return true;
}

/* NULL: there is none any more, or nobody knows it. */
static void set(struct strace_files *files, int64_t descriptor,
		const char *name, bool ends_at_exec)
{
	char *copy = name ? strdup(name) : NULL;

	if (descriptor < 0 || descriptor >= FILES_MOST ||
	    !make_room(files, (size_t)descriptor + 1)) {
		free(copy);
		return;
	}
	free(files->list[descriptor].name);
	files->list[descriptor] = (struct strace_file){ copy, ends_at_exec };
}

/* The last pieces of a name that is behind a folder's. */
static void opened(struct strace_files *files, struct replayer *replayer,
		   const struct call_event *call, int folder, unsigned first)
{
	const char *before = files_name(files, folder);
	char path[NAME_MOST] = "", name[2 * NAME_MOST];

	for (size_t i = 0; i < sizeof(path) - 1; i++)
		if (!known_memory_read(replayer, call->args[first] + i, path + i,
				     1) || !path[i])
			break;
	path[sizeof(path) - 1] = '\0';
	snprintf(name, sizeof(name), "%s%s%s",
		 *path != '/' && before ? before : "",
		 *path != '/' && before ? "/" : "", path);
	set(files, call->result, name,
	    call->args[first + 1] & O_CLOEXEC);
}

static void copied(struct strace_files *files, const struct call_event *call,
		   bool ends_at_exec)
{
	set(files, call->result, files_name(files, (int)call->args[0]),
	    ends_at_exec);
}

static void made_two(struct strace_files *files, struct replayer *replayer,
		     uint64_t addr, const char *name, bool ends_at_exec)
{
	int both[2];

	if (!known_memory_read(replayer, addr, both, sizeof(both)))
		return;
	set(files, both[0], name, ends_at_exec);
	set(files, both[1], name, ends_at_exec);
}

static void closed(struct strace_files *files, uint64_t first, uint64_t last)
{
	for (uint64_t i = first; i <= last && i < files->count; i++)
		set(files, (int64_t)i, NULL, false);
}

static void executed(struct strace_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		if (files->list[i].ends_at_exec)
			set(files, (int64_t)i, NULL, false);
}

static void controlled(struct strace_files *files,
		       const struct call_event *call)
{
	uint64_t descriptor = call->args[0];

	if ((int)call->args[1] == F_DUPFD ||
	    (int)call->args[1] == F_DUPFD_CLOEXEC)
		copied(files, call, (int)call->args[1] == F_DUPFD_CLOEXEC);
	else if ((int)call->args[1] == F_SETFD && descriptor < files->count)
		files->list[descriptor].ends_at_exec =
			call->args[2] & FD_CLOEXEC;
}

void files_follow(struct strace_files *files, struct replayer *replayer,
		  const struct call_event *call)
{
	const uint64_t *args = call->args;

	if (!call->call || call->result < 0)
		return;
	switch (linux_call_kind(call->call)) {
	case CALL_open:
		opened(files, replayer, call, AT_FDCWD, 0);
		break;
	case CALL_openat:
		opened(files, replayer, call, (int)args[0], 1);
		break;
	case CALL_dup:
	case CALL_dup2:
		copied(files, call, false);
		break;
	case CALL_dup3:
		copied(files, call, args[2] & O_CLOEXEC);
		break;
	case CALL_fcntl:
		controlled(files, call);
		break;
	case CALL_pipe:
		made_two(files, replayer, args[0], "pipe", false);
		break;
	case CALL_pipe2:
		made_two(files, replayer, args[0], "pipe", args[1] & O_CLOEXEC);
		break;
	case CALL_socketpair:
		made_two(files, replayer, args[3], "socket",
			 args[1] & SOCK_CLOEXEC);
		break;
	case CALL_socket:
		set(files, call->result, "socket", args[1] & SOCK_CLOEXEC);
		break;
	case CALL_accept:
	case CALL_accept4:
		set(files, call->result, "socket", args[3] & SOCK_CLOEXEC);
		break;
	case CALL_close:
		closed(files, (uint32_t)args[0], (uint32_t)args[0]);
		break;
	case CALL_close_range:
		closed(files, (uint32_t)args[0], (uint32_t)args[1]);
		break;
	case CALL_execve:
	case CALL_execveat:
		executed(files);
		break;
	default:
		break;
	}
}

void files_release(struct strace_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->list[i].name);
	free(files->list);
	*files = (struct strace_files){ 0 };
}
