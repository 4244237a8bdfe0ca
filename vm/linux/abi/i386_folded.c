/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * i386_folded.c - calls for several others, and those with arguments in memory
 *
 * Source: Linux, net/socket.c and ipc/syscall.c; include/uapi/linux/ipc.h.
 */
#include <errno.h>
#include <string.h>

#include "vm/linux/abi/abi.h"
#include "vm/linux/abi/i386_internal.h"

/* What is called, and where its arguments are: a word each, or so. */
struct folded {
	uint16_t call;		/* enum linux_call_index; 0: none such */
	uint8_t count;		/* of arguments */
	const char *order;	/* of those of ipc(2), see below */
	uint8_t command;	/* number of the one that may be marked */
};

/* socketcall(2): by its first argument; the second leads to the others. */
#define SOCKET(call, count) { CALL_##call, count, NULL, 0 }
static const struct folded socket_calls[] = {
	[1] = SOCKET(socket, 3), [2] = SOCKET(bind, 3),
	[3] = SOCKET(connect, 3), [4] = SOCKET(listen, 2),
	[5] = SOCKET(accept, 3), [6] = SOCKET(getsockname, 3),
	[7] = SOCKET(getpeername, 3), [8] = SOCKET(socketpair, 4),
	[9] = SOCKET(send, 4), [10] = SOCKET(recv, 4),
	[11] = SOCKET(sendto, 6), [12] = SOCKET(recvfrom, 6),
	[13] = SOCKET(shutdown, 2), [14] = SOCKET(setsockopt, 5),
	[15] = SOCKET(getsockopt, 5), [16] = SOCKET(sendmsg, 3),
	[17] = SOCKET(recvmsg, 3), [18] = SOCKET(accept4, 4),
	[19] = SOCKET(recvmmsg, 5), [20] = SOCKET(sendmmsg, 4),
};

/*
 * ipc(2): its arguments are a number, three integers, an address and one more.
 * A digit is one of them, 's' the second with a sign; '*' what is at the
 * address; 'm' and 't' the two words there, of a message and its type.
 */
#define IPC(call, count, order, command) { CALL_##call, count, order, command }
static const struct folded ipc_calls[] = {
	[1] = IPC(semop, 3, "142", 0), [2] = IPC(semget, 3, "123", 0),
	[3] = IPC(semctl, 4, "123*", 2), [4] = IPC(semtimedop, 4, "1425", 0),
	[11] = IPC(msgsnd, 4, "14s3", 0), [12] = IPC(msgrcv, 5, "1mst3", 0),
	[13] = IPC(msgget, 2, "12", 0), [14] = IPC(msgctl, 3, "124", 1),
	[21] = IPC(shmat, 4, "1423", 0), [22] = IPC(shmdt, 1, "4", 0),
	[23] = IPC(shmget, 3, "123", 0), [24] = IPC(shmctl, 3, "124", 1),
};

/* Words of 32 bits. */
static bool words_in(const struct linux_reader *reader, guest_addr from,
		     unsigned count, uint64_t *out)
{
	uint32_t words[CALL_ARGS];

	if (!reader->read(reader->context, from, words,
			  count * sizeof(*words)))
		return false;
	for (unsigned i = 0; i < count; i++)
		out[i] = words[i];
	return true;
}

/* The oldest calls of more than five arguments have them in memory, too. */
static int64_t unfold_words(const struct linux_reader *reader, guest_addr from,
			    unsigned count, uint64_t *arg)
{
	uint64_t words[CALL_ARGS] = { 0 };

	if (!words_in(reader, from, count, words))
		return -EFAULT;
	memcpy(arg, words, sizeof(words));
	return 0;
}

static int64_t unfold_socket(const struct linux_reader *reader,
			     const struct linux_call **row, uint64_t *arg)
{
	const size_t count = sizeof(socket_calls) / sizeof(socket_calls[0]);
	uint64_t number = arg[0];
	int64_t result;

	if (number >= count || !socket_calls[number].call)
		return -EINVAL;
	result = unfold_words(reader, arg[1], socket_calls[number].count, arg);
	if (!result)
		*row = &linux_calls[socket_calls[number].call];
	return result;
}

static uint64_t with_sign(uint64_t word)
{
	return (uint64_t)(int64_t)(int32_t)word;
}

static int64_t unfold_ipc(const struct linux_reader *reader,
			  const struct linux_call **row, uint64_t *arg)
{
	const size_t count = sizeof(ipc_calls) / sizeof(ipc_calls[0]);
	uint64_t number = arg[0] & 0xffff, given[CALL_ARGS], words[2] = { 0 };
	const char *order;

	if (number >= count || !ipc_calls[number].call)
		return -ENOSYS;
	order = ipc_calls[number].order;
	if (strpbrk(order, "*mt") &&
	    !words_in(reader, arg[4], order[3] == '*' ? 1 : 2, words))
		return -EFAULT;
	*row = &linux_calls[ipc_calls[number].call];
	memcpy(given, arg, sizeof(given));
	memset(arg, 0, sizeof(given));
	for (unsigned i = 0; order[i]; i++)
		arg[i] = order[i] == '*' || order[i] == 'm' ? words[0] :
			 order[i] == 't' ? with_sign(words[1]) :
			 order[i] == 's' ? with_sign(given[2]) :
					   given[order[i] - '0'];
	if (ipc_calls[number].command)
		arg[ipc_calls[number].command] &= ~IPC_MARK;
	return 0;
}

int64_t i386_unfold(const struct linux_reader *reader,
		    const struct linux_call **row, uint64_t *arg)
{
	switch (*row - linux_calls) {
	case CALL_socketcall:
		return unfold_socket(reader, row, arg);
	case CALL_mmap:
		return unfold_words(reader, arg[0], 6, arg);
	case CALL_select:
		return unfold_words(reader, arg[0], 5, arg);
	case CALL_ipc:
		return unfold_ipc(reader, row, arg);
	default:
		return 0;
	}
}
