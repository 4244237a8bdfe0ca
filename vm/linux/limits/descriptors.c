/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * descriptors.c - RLIMIT_NOFILE
 *
 * The host's limit is higher than the guest's.  Where a new descriptor might
 * exceed the guest's, we check whether there is room.  If not, the host gets
 * the guest's limit for the length of the call, and refuses it with the error
 * that Linux has for it.  Such a call does not wait, so no other thread of the
 * guest runs meanwhile, and cprec's own threads need no descriptors.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "vm/linux/host/host.h"
#include "vm/linux/limits/limits.h"
#include "vm/linux/process.h"

static void narrow(struct linux_process *process)
{
	struct limits *limits = process->limits;
	struct rlimit host;

	if (getrlimit(RLIMIT_NOFILE, &host) ||
	    host.rlim_cur <= limit_of(process, LIMIT_DESCRIPTORS))
		return;
	limits->host = (struct limit){ host.rlim_cur, host.rlim_max };
	limits->is_narrow = true;
	host.rlim_cur = limit_of(process, LIMIT_DESCRIPTORS);
	setrlimit(RLIMIT_NOFILE, &host);
}

static void widen(struct linux_process *process)
{
	const struct limit *limit = &process->limits->host;
	const struct rlimit host = { limit->soft, limit->hard };

	if (process->limits->is_narrow)
		setrlimit(RLIMIT_NOFILE, &host);
	process->limits->is_narrow = false;
}

/* The lowest that is free is at most one more than the highest ever. */
static bool may_exceed(const struct linux_process *process, unsigned count)
{
	return (uint64_t)process->limits->highest + count >=
	       limit_of(process, LIMIT_DESCRIPTORS);
}

/* Whether the lowest `count` descriptors that are free are in the limit. */
static bool has_room(const struct linux_process *process, unsigned count)
{
	int fd = fcntl(process->host->exe, F_DUPFD_CLOEXEC, 0);
	bool found = fd >= 0 &&
		     (uint64_t)fd < limit_of(process, LIMIT_DESCRIPTORS) &&
		     (count == 1 || has_room(process, count - 1));

	if (fd >= 0)
		close(fd);
	return found;
}

bool limits_allow_descriptor(struct linux_process *process)
{
	return !may_exceed(process, 1) || has_room(process, 1);
}

bool limits_make(struct linux_process *process, unsigned count)
{
	if (!may_exceed(process, count) || has_room(process, count))
		return false;
	narrow(process);
	return true;
}

bool limits_make_at(struct linux_process *process, uint64_t number)
{
	if (number < limit_of(process, LIMIT_DESCRIPTORS) &&
	    !may_exceed(process, 1))
		return false;
	narrow(process);
	return true;
}

void limits_made(struct linux_process *process, bool narrowed, int64_t result)
{
	if (narrowed)
		widen(process);
	if (result > process->limits->highest)
		process->limits->highest = (int)result;
}

/* How many descriptors of such data may stay; the others are closed. */
static size_t keep(struct linux_process *process, const uint8_t *data,
		   size_t count)
{
	size_t kept = 0;
	int fd;

	for (size_t i = 0; i < count; i++) {
		memcpy(&fd, data + i * sizeof(fd), sizeof(fd));
		if (kept == i && (uint64_t)fd < limit_of(process,
							 LIMIT_DESCRIPTORS)) {
			limits_made(process, false, fd);
			kept++;
		} else {
			close(fd);
		}
	}
	return kept;
}

/* Takes the end of one message's data away, as Linux would not have put it. */
static void shorten(struct msghdr *message, struct cmsghdr *part, size_t kept)
{
	uint8_t *end = (uint8_t *)message->msg_control +
		       message->msg_controllen;
	uint8_t *next = (uint8_t *)part + CMSG_ALIGN(part->cmsg_len);
	uint8_t *to = (uint8_t *)part;

	if (kept) {
		part->cmsg_len = CMSG_LEN(kept * sizeof(int));
		to += CMSG_ALIGN(part->cmsg_len);
	}
	message->msg_flags |= MSG_CTRUNC;
	if (next < end)
		memmove(to, next, (size_t)(end - next));
	else
		next = end;
	message->msg_controllen -= (size_t)(next - to);
}

void limits_received(struct linux_process *process, struct msghdr *message)
{
	struct cmsghdr *part = CMSG_FIRSTHDR(message);

	for (; part; part = CMSG_NXTHDR(message, part)) {
		size_t count, kept;

		if (part->cmsg_level != SOL_SOCKET ||
		    part->cmsg_type != SCM_RIGHTS)
			continue;
		count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		kept = keep(process, CMSG_DATA(part), count);
		if (kept == count)
			continue;
		shorten(message, part, kept);
		return;		/* the kernel sends one of them at most */
	}
}
