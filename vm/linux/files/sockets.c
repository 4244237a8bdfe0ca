/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sockets.c - messages: buffers, an address and control data in one call */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "vm/linux/abi/calls.h"
#include "vm/linux/abi/structs.h"
#include "vm/linux/files/files_internal.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/host/host.h"
#include "vm/linux/kernel.h"
#include "vm/linux/limits/limits.h"
#include "vm/linux/process.h"

/* struct msghdr as it is converted. */
struct guest_message {
	uint64_t name;
	uint32_t name_length, padding;
	uint64_t vector, vector_count;
	uint64_t control, control_length;
	int32_t flags;
	uint32_t padding2;
};

_Static_assert(sizeof(struct guest_message) == sizeof(struct msghdr),
	       "the host's layout is the guest's");

/* Control data begins with the length of each part, a word, and is aligned to
 * words.  Source: cmsg(3). */
struct part_head {
	uint64_t length;
	int32_t level, type;
};

static size_t whole_words(size_t size, unsigned word)
{
	return (size + word - 1) / word * word;
}

static struct part_head read_head(const uint8_t *at, unsigned word)
{
	struct part_head head = { 0 };

	memcpy(&head.length, at, word);
	memcpy(&head.level, at + word, 2 * sizeof(int32_t));
	return head;
}

/* What a part has behind its head, if that is not the same for all: times of
 * what was received. */
static enum guest_struct data_of(const struct part_head *head)
{
	if (head->level != SOL_SOCKET)
		return S_NONE;
	switch (head->type) {
	case SCM_TIMESTAMP:
		return S_TIMEVAL;
	case SCM_TIMESTAMPNS:
	case SCM_TIMESTAMPING:
		return S_TIMESPEC;
	default:
		return S_NONE;
	}
}

static size_t data_size(const struct guest_layout *layout, size_t size)
{
	return layout->count ? size / layout->host_size * layout->size : size;
}

static void convert_data(const struct guest_layout *layout, uint8_t *to,
			 const uint8_t *from, size_t size)
{
	if (!layout->count)
		memcpy(to, from, size);
	for (size_t i = 0; layout->count && i < size / layout->host_size; i++)
		layout_out(layout, to + i * layout->size,
			   from + i * layout->host_size);
}

/*
 * Converts parts from words of one size to those of another.  What follows
 * their heads stays as it is, but for times: with `layouts`, the guest's, they
 * are converted to these.  Returns how many bytes that makes: what does not fit
 * is left out.
 */
static size_t convert_parts(uint8_t *to, size_t room, unsigned to_word,
			    const uint8_t *from, size_t size,
			    unsigned from_word,
			    const struct guest_layout *layouts)
{
	static const struct guest_layout same = { 0 };
	const size_t from_head = from_word + 2 * sizeof(int32_t);
	const size_t to_head = to_word + 2 * sizeof(int32_t);
	size_t done = 0, at = 0;

	while (size - at >= from_head) {
		struct part_head head = read_head(from + at, from_word);
		size_t data = head.length - whole_words(from_head, from_word);
		const struct guest_layout *layout =
			layouts ? &layouts[data_of(&head)] : &same;
		uint64_t length = to_head + data_size(layout, data);

		if (head.length < from_head || head.length > size - at ||
		    length > room - done)
			break;
		memset(to + done, 0, to_head);
		memcpy(to + done, &length, to_word);
		memcpy(to + done + to_word, &head.level, 2 * sizeof(int32_t));
		convert_data(layout, to + done + to_head, from + at + from_head,
			     data);
		done += whole_words(length, to_word);
		at += whole_words(head.length, from_word);
		if (at > size || done > room)
			break;
	}
	return done < room ? done : room;
}

/* By how much a head and three times are smaller for a guest of 32 bits. */
#define TIMES_LARGER 32u

/* The same for the host; names and control data are copied. */
struct message {
	struct guest_message guest;
	struct msghdr host;
	uint8_t name[128];
	uint8_t control[16384] __attribute__((aligned(8)));
};

static int take_message(struct linux_process *process, guest_addr addr,
			enum memory_use use, struct message *message)
{
	struct guest_message *guest = &message->guest;
	struct msghdr *host = &message->host;
	int rc;

	if (struct_in(process, S_MSGHDR, guest, addr))
		return -EFAULT;
	if ((int32_t)guest->name_length < 0)
		return -EINVAL;
	if (guest->vector_count > SPANS)
		return -EMSGSIZE;
	process->thread->spans.count = 0;
	rc = add_vector(process, guest->vector, guest->vector_count, use);
	if (rc)
		return rc;
	memset(host, 0, sizeof(*host));
	host->msg_iov = process->thread->spans.host;
	host->msg_iovlen = (size_t)process->thread->spans.count;
	host->msg_flags = guest->flags;
	if (guest->name) {
		host->msg_name = message->name;
		host->msg_namelen = guest->name_length;
		if (host->msg_namelen > sizeof(message->name))
			host->msg_namelen = sizeof(message->name);
	}
	if (guest->control && guest->control_length) {
		host->msg_control = message->control;
		host->msg_controllen = guest->control_length;
	}
	return 0;
}

/* The host call; other threads run while it waits. */
static int64_t exchange(struct linux_process *process, long number,
			uint64_t fd, enum memory_use use,
			struct message *message, uint64_t flags)
{
	uint64_t host = host_pointer(&message->host);
	bool alone = process->thread_count == 1;
	bool waits = !alone ? !spans_ready(process, (int)fd, use) :
			      use == MEMORY_OUT && read_waits(process, (int)fd);
	int64_t result;

	if (flags & MSG_DONTWAIT)
		waits = false;
	if ((!waits || alone) && !spans_others_see(process, use))
		return waits ? host_wait(process, number, fd, host, flags) :
			       host_call(process, number, fd, host, flags);
	result = spans_detach(process, use);
	if (result)
		return result;
	result = waits ? host_wait(process, number, fd, host, flags) :
			 host_call(process, number, fd, host, flags);
	spans_attach(process, use, result > 0 ? (uint64_t)result : 0);
	return result;
}

/* Control data, from words of one size to those of another, in place. */
static void convert_control(struct message *message, size_t room,
			    unsigned to_word, unsigned from_word,
			    const struct guest_layout *layouts)
{
	uint8_t from[sizeof(message->control)];
	size_t size = message->host.msg_controllen;

	if (to_word == from_word)
		return;
	memcpy(from, message->control, size);
	message->host.msg_controllen =
		convert_parts(message->control, room, to_word, from, size,
			      from_word, layouts);
}

static int64_t send_one(struct linux_process *process, uint64_t fd,
			guest_addr addr, uint64_t flags)
{
	struct message message;
	int64_t result = take_message(process, addr, MEMORY_IN, &message);
	const struct guest_message *guest = &message.guest;

	if (result)
		return result;
	if (message.host.msg_controllen > sizeof(message.control))
		return -ENOBUFS;
	if ((message.host.msg_name &&
	     copy_in(process, message.name, guest->name,
		     message.host.msg_namelen)) ||
	    (message.host.msg_control &&
	     copy_in(process, message.control, guest->control,
		     message.host.msg_controllen)))
		return -EFAULT;
	if (message.host.msg_control)
		convert_control(&message, sizeof(message.control),
				sizeof(uint64_t), process->abi->word, NULL);
	result = exchange(process, SYS_sendmsg, fd, MEMORY_IN, &message,
			  flags);
	if (result > 0)
		spans_output(process, (int)fd, (uint64_t)result);
	return result;
}

static int give_message(struct linux_process *process, guest_addr addr,
			struct message *message, size_t received)
{
	struct guest_message *guest = &message->guest;
	const struct msghdr *host = &message->host;
	size_t name = host->msg_namelen;

	spans_wrote(process, received);
	if (name > sizeof(message->name))
		name = sizeof(message->name);
	if (name > guest->name_length)
		name = guest->name_length;
	if (guest->name) {
		if (copy_out(process, guest->name, message->name, name))
			return -EFAULT;
		guest->name_length = host->msg_namelen;
	}
	if (host->msg_control)
		convert_control(message, guest->control_length,
				process->abi->word, sizeof(uint64_t),
				process->abi->layouts);
	if (host->msg_control &&
	    copy_out(process, guest->control, message->control,
		     host->msg_controllen))
		return -EFAULT;
	guest->control_length = host->msg_controllen;
	guest->flags = host->msg_flags;
	return struct_out(process, S_MSGHDR, addr, guest);
}

/*
 * How much more room the host's control data needs: of a socket that passes
 * descriptors only for a head, as there must not be more of them than the guest
 * has room for.
 */
static size_t larger_by(struct linux_process *process, uint64_t fd)
{
	int domain = AF_UNIX;
	socklen_t size = sizeof(domain);

	host_call(process, SYS_getsockopt, fd, SOL_SOCKET, SO_DOMAIN,
		  host_pointer(&domain), host_pointer(&size));
	return domain == AF_UNIX ? sizeof(uint64_t) : TIMES_LARGER;
}

static int64_t receive_one(struct linux_process *process, uint64_t fd,
			   guest_addr addr, uint64_t flags)
{
	struct message message;
	int64_t result = take_message(process, addr, MEMORY_OUT, &message);

	if (result)
		return result;
	if (message.host.msg_controllen >= sizeof(message.control))
		message.host.msg_controllen = sizeof(message.control);
	else if (process->abi->word < sizeof(uint64_t) &&
		 message.host.msg_control)
		message.host.msg_controllen += larger_by(process, fd);
	result = exchange(process, SYS_recvmsg, fd, MEMORY_OUT, &message,
			  flags);
	if (result < 0)
		return result;
	if (message.host.msg_control)
		limits_received(process, &message.host);
	if (give_message(process, addr, &message, (size_t)result))
		return -EFAULT;
	return result;
}

int64_t sys_sendmsg(struct linux_process *process,
		    const struct linux_call *row, const uint64_t *arg)
{
	(void)row;
	return send_one(process, arg[0], arg[1], arg[2]);
}

int64_t sys_recvmsg(struct linux_process *process,
		    const struct linux_call *row, const uint64_t *arg)
{
	(void)row;
	return receive_one(process, arg[0], arg[1], arg[2]);
}

typedef int64_t one_message(struct linux_process *process, uint64_t fd,
			    guest_addr addr, uint64_t flags);

static int64_t many(struct linux_process *process, const uint64_t *arg,
		    one_message *one, uint64_t later_flags)
{
	uint32_t count = (uint32_t)arg[2];
	uint64_t flags = arg[3] & ~(uint64_t)MSG_WAITFORONE;
	uint32_t done;

	if (count > SPANS)
		count = SPANS;
	for (done = 0; done < count; done++) {
		guest_addr at = arg[1] + done * struct_size(process, S_MMSGHDR);
		int64_t result = one(process, arg[0], at, flags);
		uint32_t length = (uint32_t)result;

		if (result < 0)
			return done ? (int64_t)done : result;
		/* Behind the message: how many bytes it had. */
		if (copy_out(process, at + struct_size(process, S_MSGHDR),
			     &length, sizeof(length)))
			return -EFAULT;
		flags |= later_flags;
	}
	return (int64_t)done;
}

int64_t sys_sendmmsg(struct linux_process *process,
		     const struct linux_call *row, const uint64_t *arg)
{
	(void)row;
	return many(process, arg, send_one, 0);
}

int64_t sys_recvmmsg(struct linux_process *process,
		     const struct linux_call *row, const uint64_t *arg)
{
	uint64_t later = arg[3] & MSG_WAITFORONE ? MSG_DONTWAIT : 0;

	(void)row;
	if (arg[4])	/* its time limit is between messages only */
		later = MSG_DONTWAIT;
	return many(process, arg, receive_one, later);
}

int64_t sys_sendto(struct linux_process *process,
		   const struct linux_call *row, const uint64_t *arg)
{
	int64_t result = marshal_call(process, row, arg);

	if (result > 0 && stream_of(process, (int)arg[0])) {
		process->thread->spans.count = 0;
		add_spans(process, arg[1], (uint64_t)result, MEMORY_IN);
		spans_output(process, (int)arg[0], (uint64_t)result);
	}
	return result;
}
