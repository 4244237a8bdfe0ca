/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * i386_calls.c - calls that i386 alone has: segments of threads, calls for
 * several others
 *
 * Source: Linux, arch/x86/kernel/tls.c; net/socket.c and ipc/syscall.c for the
 * numbers; include/uapi/linux/ipc.h.
 */
#include <errno.h>
#include <string.h>

#include "formats/registers.h"
#include "vm/arch/x86/guest.h"
#include "vm/linux/abi/abi.h"
#include "vm/linux/abi/calls.h"
#include "vm/linux/abi/i386_internal.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/process.h"

/* ------- segments ------- */

/* struct user_desc */
struct segment {
	uint32_t entry, base, limit, flags;
};

enum {			/* bits of the flags */
	IS_32 = 1,
	CONTENTS = 6,	/* two bits: expands down, is code */
	READ_ONLY = 8,
	IN_PAGES = 16,
	NOT_PRESENT = 32,
	USABLE = 64,
};

#define ANY_ENTRY UINT32_MAX

/* Bits of a descriptor (Intel SDM volume 3, 3.4.5). */
#define ACCESSED (UINT64_C(1) << 40)
#define WRITABLE (UINT64_C(1) << 41)
#define CONTENTS_AT 42
#define NO_SYSTEM (UINT64_C(1) << 44)
#define OF_PROGRAMS (UINT64_C(3) << 45)
#define PRESENT (UINT64_C(1) << 47)
#define AVAILABLE (UINT64_C(1) << 52)
#define OPERANDS_32 (UINT64_C(1) << 54)
#define PAGES (UINT64_C(1) << 55)

/* Linux takes this, and all zeros, for "none". */
static bool is_empty(const struct segment *from)
{
	return !from->base && !from->limit &&
	       (!from->flags || from->flags == (READ_ONLY | NOT_PRESENT));
}

static uint64_t descriptor_of(const struct segment *from)
{
	uint64_t out = NO_SYSTEM | OF_PROGRAMS | ACCESSED;

	if (is_empty(from))
		return 0;
	out |= (from->limit & UINT64_C(0xffff)) |
	       (from->limit & UINT64_C(0xf0000)) << 32;
	out |= (from->base & UINT64_C(0xffffff)) << 16 |
	       (from->base & UINT64_C(0xff000000)) << 32;
	out |= (uint64_t)(from->flags & CONTENTS) / 2 << CONTENTS_AT;
	out |= from->flags & READ_ONLY ? 0 : WRITABLE;
	out |= from->flags & NOT_PRESENT ? 0 : PRESENT;
	out |= from->flags & IS_32 ? OPERANDS_32 : 0;
	out |= from->flags & IN_PAGES ? PAGES : 0;
	return out | (from->flags & USABLE ? AVAILABLE : 0);
}

static void describe(uint64_t descriptor, struct segment *out)
{
	out->base = x86_segment_base(descriptor);
	out->limit = (uint32_t)(descriptor & 0xffff) |
		     (uint32_t)(descriptor >> 32 & 0xf0000);
	out->flags = (uint32_t)(descriptor >> CONTENTS_AT & 3) * 2;
	out->flags |= descriptor & OPERANDS_32 ? IS_32 : 0;
	out->flags |= descriptor & WRITABLE ? 0 : READ_ONLY;
	out->flags |= descriptor & PAGES ? IN_PAGES : 0;
	out->flags |= descriptor & PRESENT ? 0 : NOT_PRESENT;
	out->flags |= descriptor & AVAILABLE ? USABLE : 0;
}

/* Not a segment that code could be in, or of 16 bits. */
static bool is_allowed(const struct segment *segment)
{
	return is_empty(segment) ||
	       ((segment->flags & IS_32) && (segment->flags & CONTENTS) < 4 &&
		!(segment->flags & NOT_PRESENT));
}

static bool is_entry(uint32_t entry)
{
	return entry - X86_TLS_FIRST < X86_TLS_COUNT;
}

static unsigned reg_of(uint32_t entry)
{
	return I386_TLS0 + entry - X86_TLS_FIRST;
}

int i386_take_tls(struct linux_process *process, uint64_t from,
		  struct guest_tls *out)
{
	struct segment segment;

	if (copy_in(process, &segment, from, sizeof(segment)))
		return -EFAULT;
	if (!is_entry(segment.entry) || !is_allowed(&segment))
		return -EINVAL;
	*out = (struct guest_tls){ reg_of(segment.entry),
				   descriptor_of(&segment) };
	return 0;
}

/* A free entry, for the program that did not name one. */
static int find_entry(struct linux_process *process, guest_addr at,
		      uint32_t *entry)
{
	uint32_t found = X86_TLS_FIRST;

	while (is_entry(found) && vm_reg(process->vm, reg_of(found)))
		found++;
	if (!is_entry(found))
		return -ESRCH;
	*entry = found;
	return copy_out(process, at, entry, sizeof(*entry));
}

int64_t sys_set_thread_area(struct linux_process *process,
			    const struct linux_call *row, const uint64_t *arg)
{
	struct segment segment;
	int rc;

	(void)row;
	if (process->abi != &abi_i386)
		return -ENOSYS;
	if (copy_in(process, &segment, arg[0], sizeof(segment)))
		return -EFAULT;
	if (!is_allowed(&segment))
		return -EINVAL;
	if (segment.entry == ANY_ENTRY) {
		rc = find_entry(process, arg[0], &segment.entry);
		if (rc)
			return rc;
	}
	if (!is_entry(segment.entry))
		return -EINVAL;
	vm_set_reg(process->vm, reg_of(segment.entry),
		   descriptor_of(&segment));
	process->thread->changed_registers = true;
	return 0;
}

int64_t sys_get_thread_area(struct linux_process *process,
			    const struct linux_call *row, const uint64_t *arg)
{
	struct segment segment;

	(void)row;
	if (process->abi != &abi_i386)
		return -ENOSYS;
	if (copy_in(process, &segment.entry, arg[0], sizeof(segment.entry)))
		return -EFAULT;
	if (!is_entry(segment.entry))
		return -EINVAL;
	describe(vm_reg(process->vm, reg_of(segment.entry)), &segment);
	return copy_out(process, arg[0], &segment, sizeof(segment));
}

/* ------- calls for several others ------- */

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
	[9] = SOCKET(sendto, 4),	/* send(2) */
	[10] = SOCKET(recvfrom, 4),	/* recv(2) */
	[11] = SOCKET(sendto, 6), [12] = SOCKET(recvfrom, 6),
	[13] = SOCKET(shutdown, 2), [14] = SOCKET(setsockopt, 5),
	[15] = SOCKET(getsockopt, 5), [16] = SOCKET(sendmsg, 3),
	[17] = SOCKET(recvmsg, 3), [18] = SOCKET(accept4, 4),
	[19] = SOCKET(recvmmsg, 5), [20] = SOCKET(sendmmsg, 4),
};

/*
 * ipc(2): its arguments are a number, three integers, an address and one more.
 * A digit is one of them, 's' the second with a sign; '*' what is at the address;
 * 'm' and 't' the two words there, of a message and its type.
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

static int64_t words_in(struct linux_process *process, guest_addr from,
			unsigned count, uint64_t *out)
{
	for (unsigned i = 0; i < count; i++)
		if (word_in(process, &out[i], from + 4 * i))
			return -EFAULT;
	return 0;
}

static int64_t unfold_socket(struct linux_process *process,
			     const struct linux_call **row, uint64_t *arg)
{
	const size_t count = sizeof(socket_calls) / sizeof(socket_calls[0]);
	uint64_t number = arg[0], from = arg[1];

	if (number >= count || !socket_calls[number].call)
		return -EINVAL;
	*row = &linux_calls[socket_calls[number].call];
	memset(arg, 0, CALL_ARGS * sizeof(*arg));
	return words_in(process, from, socket_calls[number].count, arg);
}

static uint64_t with_sign(uint64_t word)
{
	return (uint64_t)(int64_t)(int32_t)word;
}

static int64_t unfold_ipc(struct linux_process *process,
			  const struct linux_call **row, uint64_t *arg)
{
	const size_t count = sizeof(ipc_calls) / sizeof(ipc_calls[0]);
	uint64_t number = arg[0] & 0xffff, given[CALL_ARGS], words[2] = { 0 };
	const char *order;

	if (number >= count || !ipc_calls[number].call)
		return -ENOSYS;
	*row = &linux_calls[ipc_calls[number].call];
	memcpy(given, arg, sizeof(given));
	memset(arg, 0, sizeof(given));
	order = ipc_calls[number].order;
	if (strpbrk(order, "*mt") &&
	    words_in(process, given[4], order[3] == '*' ? 1 : 2, words))
		return -EFAULT;
	for (unsigned i = 0; order[i]; i++)
		arg[i] = order[i] == '*' || order[i] == 'm' ? words[0] :
			 order[i] == 't' ? with_sign(words[1]) :
			 order[i] == 's' ? with_sign(given[2]) :
					   given[order[i] - '0'];
	if (ipc_calls[number].command)
		arg[ipc_calls[number].command] &= ~IPC_MARK;
	return 0;
}

/* The oldest calls of more than five arguments have them in memory. */
static int64_t unfold_old(struct linux_process *process, unsigned count,
			  uint64_t *arg)
{
	guest_addr from = arg[0];

	memset(arg, 0, CALL_ARGS * sizeof(*arg));
	return words_in(process, from, count, arg);
}

int64_t i386_unfold(struct linux_process *process,
		    const struct linux_call **row, uint64_t *arg)
{
	switch (*row - linux_calls) {
	case CALL_socketcall:
		return unfold_socket(process, row, arg);
	case CALL_mmap:
		return unfold_old(process, 6, arg);
	case CALL_select:
		return unfold_old(process, 5, arg);
	case CALL_ipc:
		return unfold_ipc(process, row, arg);
	default:
		return 0;
	}
}

/* shmat(2) by ipc(2): the address is stored where the last argument says. */
int64_t i386_fold(struct linux_process *process, const struct linux_call *row,
		  const uint64_t *arg, int64_t result)
{
	const struct linux_call *called = abi_call(process->abi,
						   process->thread->number);
	bool failed = result < 0 && result >= -4095;

	if (failed || row != &linux_calls[CALL_shmat] ||
	    called != &linux_calls[CALL_ipc])
		return result;
	return word_out(process, arg[3], (uint64_t)result);
}
