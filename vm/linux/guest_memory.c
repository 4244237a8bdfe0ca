/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_memory.c - the guest's memory as its kernel reads and writes it */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/error.h"
#include "vm/linux/abi/structs.h"
#include "vm/linux/files/files.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/linux.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/process.h"

/* What is above is the kernel's own, also where programs may read it. */
int copy_in(struct linux_process *process, void *to, guest_addr from,
	    size_t size)
{
	if (!is_user_range(process, from, size))
		return -EFAULT;
	if (!memory_read(process->memory, from, to, size))
		return 0;
	return eof_tail_look(process, from, size) &&
			       !memory_read(process->memory, from, to, size) ?
		       0 : -EFAULT;
}

/* memory_at(), also where a file has just grown. */
static uint8_t *host_at(struct linux_process *process, guest_addr addr,
			uint64_t size, enum memory_use use, uint64_t *span)
{
	uint8_t *host;

	if (!is_user_range(process, addr, size))
		return NULL;
	host = memory_at(process->memory, addr, size, use, span);
	if (!host && eof_tail_look(process, addr, size))
		host = memory_at(process->memory, addr, size, use, span);
	return host;
}

/* Copies as much as can be, piecewise; returns how much that is. */
static size_t copy_out_some(struct linux_process *process, guest_addr to,
			    const uint8_t *from, size_t size)
{
	size_t done = 0;
	uint64_t span;

	memory_enter(process->memory, to, size);
	for (; done < size; done += span) {
		uint8_t *host = host_at(process, to + done, size - done,
					MEMORY_OUT, &span);

		if (!host)
			break;
		memcpy(host, from + done, span);
	}
	memory_leave(process->memory);
	return done;
}

/* A large output need not be stored at once. */
static int copy_out_large(struct linux_process *process, guest_addr to,
			  const uint8_t *from, size_t size)
{
	size_t done = copy_out_some(process, to, from, size);

	guest_wrote(process, to, done);
	return done < size ? -EFAULT : 0;
}

int copy_out(struct linux_process *process, guest_addr to, const void *from,
	     size_t size)
{
	if (!size)
		return 0;
	if (size > BOUNCE)
		return copy_out_large(process, to, from, size);
	if (!memory_write(process->memory, to, from, size))
		return 0;
	return eof_tail_look(process, to, size) &&
			       !memory_write(process->memory, to, from, size) ?
		       0 : -EFAULT;
}

/* ------- structures ------- */

static const struct guest_layout *layout_of(const struct linux_process *process,
					    enum guest_struct type)
{
	return &process->abi->layouts[type];
}

size_t struct_size(const struct linux_process *process, enum guest_struct type)
{
	return layout_of(process, type)->size;
}

/* With other members than the host's: one after the other. */
static int convert_in(struct linux_process *process,
		      const struct guest_layout *layout, uint8_t *host,
		      guest_addr from, uint64_t count)
{
	uint8_t guest[STRUCT_MOST];

	for (; count; count--) {
		if (copy_in(process, guest, from, layout->size))
			return -EFAULT;
		layout_in(layout, host, guest);
		host += layout->host_size;
		from += layout->size;
	}
	return 0;
}

static int convert_out(struct linux_process *process,
		       const struct guest_layout *layout, guest_addr to,
		       const uint8_t *host, uint64_t count)
{
	uint8_t guest[STRUCT_MOST];

	for (; count; count--) {
		layout_out(layout, guest, host);
		if (copy_out(process, to, guest, layout->size))
			return -EFAULT;
		host += layout->host_size;
		to += layout->size;
	}
	return 0;
}

int structs_in(struct linux_process *process, enum guest_struct type,
	       void *host, guest_addr from, uint64_t count)
{
	const struct guest_layout *layout = layout_of(process, type);

	if (layout->count)
		return convert_in(process, layout, host, from, count);
	return copy_in(process, host, from, layout->size * count);
}

int structs_out(struct linux_process *process, enum guest_struct type,
		guest_addr to, const void *host, uint64_t count)
{
	const struct guest_layout *layout = layout_of(process, type);

	if (layout->count)
		return convert_out(process, layout, to, host, count);
	return copy_out(process, to, host, layout->size * count);
}

int struct_in(struct linux_process *process, enum guest_struct type,
	      void *host, guest_addr from)
{
	return structs_in(process, type, host, from, 1);
}

int struct_out(struct linux_process *process, enum guest_struct type,
	       guest_addr to, const void *host)
{
	return structs_out(process, type, to, host, 1);
}

int word_in(struct linux_process *process, uint64_t *out, guest_addr from)
{
	*out = 0;
	return copy_in(process, out, from, process->abi->word);
}

int word_out(struct linux_process *process, guest_addr to, uint64_t value)
{
	return copy_out(process, to, &value, process->abi->word);
}

/* ------- paths, and what the host writes itself ------- */

int copy_path(struct linux_process *process, char *text, guest_addr from)
{
	switch (memory_read_string(process->memory, from, text, PATH_MAX)) {
	case 0:
		return 0;
	case ERR_TRUNCATED:
		return -ENAMETOOLONG;
	default:
		return -EFAULT;
	}
}

void guest_wrote(struct linux_process *process, guest_addr addr, uint64_t size)
{
	if (size)
		memory_wrote(process->memory, addr, size);
}

int add_spans(struct linux_process *process, guest_addr addr, uint64_t size,
	      enum memory_use use)
{
	struct spans *spans = &process->thread->spans;
	uint64_t span;

	for (uint64_t done = 0; done < size; done += span) {
		uint8_t *host;

		if (spans->count == SPANS)
			return 0;
		host = host_at(process, addr + done, size - done, use, &span);
		if (!host)
			return done ? 0 : -EFAULT;
		spans->host[spans->count].iov_base = host;
		spans->host[spans->count].iov_len = span;
		spans->guest[spans->count++] = addr + done;
	}
	return 0;
}

int add_vector(struct linux_process *process, guest_addr vector,
	       uint64_t count, enum memory_use use)
{
	uint64_t total = 0;

	if (count > SPANS)
		return -EINVAL;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t part[2];	/* struct iovec: address, length */
		guest_addr from = vector + i * struct_size(process, S_IOVEC);
		uint64_t before = (uint64_t)process->thread->spans.count, covered = 0;

		if (struct_in(process, S_IOVEC, part, from))
			return -EFAULT;
		if (part[1] > (uint64_t)SSIZE_MAX - total)
			return -EINVAL;
		total += part[1];
		if (add_spans(process, part[0], part[1], use))
			return total == part[1] ? -EFAULT : 0;
		for (int k = (int)before; k < process->thread->spans.count; k++)
			covered += process->thread->spans.host[k].iov_len;
		if (covered < part[1])
			return 0;	/* the rest cannot be reached */
	}
	return 0;
}

uint64_t spans_size(const struct spans *spans)
{
	uint64_t size = 0;

	for (int i = 0; i < spans->count; i++)
		size += spans->host[i].iov_len;
	return size;
}

void spans_cut(struct spans *spans, uint64_t size)
{
	for (int i = 0; i < spans->count; i++) {
		struct iovec *part = &spans->host[i];

		if (part->iov_len > size)
			part->iov_len = size;
		size -= part->iov_len;
	}
}

/* Calls `tell` for stretches of guest memory within the first `size` bytes. */
static void each_stretch(struct linux_process *process, uint64_t size,
			 void (*tell)(struct linux_process *process,
				      guest_addr addr, uint64_t size,
				      int detail),
			 int detail)
{
	const struct spans *spans = &process->thread->spans;
	guest_addr start = 0;
	uint64_t length = 0;

	for (int i = 0; i < spans->count && size; i++) {
		uint64_t part = spans->host[i].iov_len;

		if (part > size)
			part = size;
		size -= part;
		if (length && start + length == spans->guest[i]) {
			length += part;
			continue;
		}
		if (length)
			tell(process, start, length, detail);
		start = spans->guest[i];
		length = part;
	}
	if (length)
		tell(process, start, length, detail);
}

static void tell_wrote(struct linux_process *process, guest_addr addr,
		       uint64_t size, int detail)
{
	(void)detail;
	guest_wrote(process, addr, size);
}

void spans_wrote(struct linux_process *process, uint64_t size)
{
	each_stretch(process, size, tell_wrote, 0);
}

static void tell_output(struct linux_process *process, guest_addr addr,
			uint64_t size, int stream)
{
	const struct linux_observer *observer = process->observer;

	memory_know(process->memory, addr, size);
	observer->output(observer->context, stream, addr, size);
}

void spans_output(struct linux_process *process, int fd, uint64_t size)
{
	int stream = stream_of(process, fd);

	if (stream && process->observer && process->observer->output)
		each_stretch(process, size, tell_output, stream);
}

/* ------- spans of calls that wait ------- */

bool spans_ready(const struct linux_process *process, int fd,
		 enum memory_use use)
{
	struct pollfd query = { fd, use == MEMORY_OUT ? POLLIN : POLLOUT, 0 };

	/* What is ready for a byte may wait behind it. */
	if (use == MEMORY_IN && spans_size(&process->thread->spans) > PIPE_BUF) {
		struct stat file;

		return fstat(fd, &file) || S_ISREG(file.st_mode) ||
		       S_ISDIR(file.st_mode);
	}
	return poll(&query, 1, 0) != 0;
}

bool spans_others_see(const struct linux_process *process,
		      enum memory_use use)
{
	const struct spans *spans = &process->thread->spans;

	for (int i = 0; use == MEMORY_OUT && i < spans->count; i++)
		if (memory_others_share(process->memory, spans->guest[i]))
			return true;
	return false;
}

int spans_detach(struct linux_process *process, enum memory_use use)
{
	struct spans *spans = &process->thread->spans;
	uint8_t *at = malloc(spans_size(spans) + 1);

	spans->detached = at;
	if (!at)
		return -ENOMEM;
	for (int i = 0; i < spans->count; i++) {
		struct iovec *part = &spans->host[i];

		if (use == MEMORY_IN)
			memcpy(at, part->iov_base, part->iov_len);
		part->iov_base = at;
		at += part->iov_len;
	}
	return 0;
}

/* What another thread has unmapped meanwhile is lost. */
void spans_attach(struct linux_process *process, enum memory_use use,
		  uint64_t size)
{
	struct spans *spans = &process->thread->spans;

	if (use == MEMORY_IN)
		size = 0;
	for (int i = 0; i < spans->count && size; i++) {
		struct iovec *part = &spans->host[i];
		uint64_t length = part->iov_len < size ? part->iov_len : size;

		copy_out_some(process, spans->guest[i], part->iov_base,
			      length);
		size -= length;
	}
	free(spans->detached);
	spans->detached = NULL;
}
