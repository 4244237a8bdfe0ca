/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * i386_folded.c - calls of i386 whose arguments are in memory, and those for
 * several others: socketcall, ipc, mmap and select of the oldest form
 *
 * Nothing but such calls is made, as there is no library.
 */
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

enum { EXIT = 1, OLD_SELECT = 82, OLD_MMAP = 90, MUNMAP = 91, SOCKETCALL = 102,
       IPC = 117 };

static long call(long number, long a, long b, long c, long d, long e)
{
	long result;

	__asm__ volatile("int $0x80" : "=a"(result)
			 : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
			 : "memory");
	return result;
}

#define WORD(value) ((long)(value))
#define SOCKETS(number, ...) \
	call(SOCKETCALL, number, WORD(((long[6]) { __VA_ARGS__ })), 0, 0, 0)

static void sockets(void)
{
	struct sockaddr_un name = { AF_UNIX, "" };
	struct iovec part = { (void *)WORD("message"), 7 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	int pair[2] = { 0, 0 }, value = 1;
	socklen_t size = sizeof(name), length = sizeof(value);
	char text[32];
	long fd = SOCKETS(1, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	SOCKETS(2, fd, WORD(&name), 2);
	SOCKETS(4, fd, 5);
	SOCKETS(3, 99, WORD(&name), 2);
	SOCKETS(5, 99, 0, 0);
	SOCKETS(18, 99, 0, 0, SOCK_CLOEXEC);
	SOCKETS(7, fd, WORD(&name), WORD(&size));
	SOCKETS(8, AF_UNIX, SOCK_STREAM, 0, WORD(pair));
	SOCKETS(6, pair[0], WORD(&name), WORD(&size));
	SOCKETS(9, pair[0], WORD("hello"), 5, MSG_NOSIGNAL);
	SOCKETS(10, pair[1], WORD(text), sizeof(text), MSG_DONTWAIT);
	SOCKETS(11, pair[0], WORD("world"), 5, 0, 0, 0);
	SOCKETS(12, pair[1], WORD(text), sizeof(text), 0, 0, 0);
	SOCKETS(14, pair[0], SOL_SOCKET, SO_KEEPALIVE, WORD(&value),
		sizeof(value));
	SOCKETS(15, pair[0], SOL_SOCKET, SO_KEEPALIVE, WORD(&value),
		WORD(&length));
	SOCKETS(16, pair[0], WORD(&message), 0);
	part.iov_base = text;
	part.iov_len = sizeof(text);
	SOCKETS(17, pair[1], WORD(&message), 0);
	SOCKETS(13, pair[0], SHUT_RDWR);
	call(SOCKETCALL, 99, WORD(text), 0, 0, 0);
}

static void of_system_v(void)
{
	struct { long type; char text[8]; } message = { 5, "seven" };
	struct sembuf change = { 0, 1, IPC_NOWAIT };
	long id, at = 0, value = 7, both[2];

	id = call(IPC, 23, IPC_PRIVATE, 4096, 0600, 0);
	call(IPC, 21, id, SHM_RDONLY, WORD(&at), 0);
	call(IPC, 22, 0, 0, 0, at);
	call(IPC, 24, id, IPC_RMID | 0x100, 0, 0);
	id = call(IPC, 2, IPC_PRIVATE, 1, 0600, 0);
	call(IPC, 1, id, 1, 0, WORD(&change));
	call(IPC, 3, id, 0, SETVAL | 0x100, WORD(&value));
	call(IPC, 3, id, 0, GETVAL | 0x100, WORD(&value));
	call(IPC, 3, id, 0, IPC_RMID | 0x100, WORD(&value));
	id = call(IPC, 13, IPC_PRIVATE, 0600, 0, 0);
	call(IPC, 11, id, 6, 0, WORD(&message));
	both[0] = WORD(&message);
	both[1] = -6;
	call(IPC, 12, id, sizeof(message.text), IPC_NOWAIT, WORD(both));
	call(IPC, 14, id, IPC_RMID | 0x100, 0, 0);
	call(IPC, 5, id, 0, 0, 0);
}

static void of_oldest_form(void)
{
	long words[6] = { 0, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0 };
	struct timeval soon = { 0, 1 };
	long at = call(OLD_MMAP, WORD(words), 0, 0, 0, 0);

	call(MUNMAP, at, 4096, 0, 0, 0);
	words[0] = words[1] = words[2] = words[3] = 0;
	words[4] = WORD(&soon);
	call(OLD_SELECT, WORD(words), 0, 0, 0, 0);
}

void _start(void)
{
	sockets();
	of_system_v();
	of_oldest_form();
	call(EXIT, 0, 0, 0, 0, 0);
}
