/* SPDX-License-Identifier: GPL-2.0-or-later */
/* special.c - the other special calls, and the table of all */
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "vm/linux/abi/abi.h"
#include "vm/linux/text/special.h"

/* ------- memory ------- */

static enum shown mapped(struct showing *showing, unsigned index)
{
	return index == 5 ? show_hex(showing, arg_of(showing, 5)) :
			    SHOWN_USUALLY;
}

static enum shown moved(struct showing *showing, unsigned index)
{
	return index == 4 && !(arg_of(showing, 3) & MREMAP_FIXED) ?
		       SHOWN_NOT : SHOWN_USUALLY;
}

/* Keys and permissions of System V's objects. */
static enum shown system_v(struct showing *showing, unsigned index)
{
	enum call_values kind = showing->row->args[index].values;
	uint64_t value = arg_of(showing, index);

	if (!index) {
		if (value)
			return show_hex(showing, (uint32_t)value);
		fputs("IPC_PRIVATE", showing->out);
		return SHOWN;
	}
	if (showing->row->args[index].kind != ARG_FLAGS)
		return SHOWN_USUALLY;
	if (value & ~UINT64_C(0777)) {
		show_values(showing, kind, value & ~UINT64_C(0777));
		fputc('|', showing->out);
	}
	show_mode(showing, (unsigned)value & 0777);
	return SHOWN;
}

/* A message of System V: its type, a word, and as many bytes as may be. */
static enum shown show_typed(struct showing *showing, uint64_t size)
{
	guest_addr addr = arg_of(showing, 1);
	uint64_t type;

	if (!read_word(showing, addr, &type))
		return SHOWN_USUALLY;
	fprintf(showing->out, "{mtype=%" PRId64 ", mtext=", (int64_t)type);
	show_bytes(showing, addr + word_of(showing), size);
	fputc('}', showing->out);
	return SHOWN;
}

static enum shown message_sent(struct showing *showing, unsigned index)
{
	return index == 1 ? show_typed(showing, arg_of(showing, 2)) :
			    SHOWN_USUALLY;
}

static enum shown message_received(struct showing *showing, unsigned index)
{
	if (index != 1)
		return SHOWN_USUALLY;
	if (!showing->leaves)
		return SHOWN_LATER;
	return showing->has_failed ? SHOWN_USUALLY :
		       show_typed(showing, arg_of(showing, 2));
}

/* ------- waiting for descriptors ------- */

#define DESCRIPTORS_MOST 1024u

/* A bit for each of `*count`. */
static bool read_descriptors(const struct showing *showing, uint64_t addr,
			     uint8_t bits[DESCRIPTORS_MOST / 8],
			     uint64_t *count)
{
	*count = arg_of(showing, 0);
	if (*count > DESCRIPTORS_MOST)
		*count = DESCRIPTORS_MOST;
	return addr && *count &&
	       read_guest(showing, addr, bits, (*count + 63) / 64 * 8);
}

static bool has_descriptors(const struct showing *showing, uint64_t addr)
{
	uint8_t bits[DESCRIPTORS_MOST / 8];
	uint64_t count;

	if (!read_descriptors(showing, addr, bits, &count))
		return false;
	for (unsigned i = 0; i < count; i++)
		if (bits[i / 8] >> i % 8 & 1)
			return true;
	return false;
}

/* False if it cannot be read. */
static bool show_descriptors(struct showing *showing, uint64_t addr)
{
	uint8_t bits[DESCRIPTORS_MOST / 8];
	const char *between = "";
	uint64_t count;

	if (!read_descriptors(showing, addr, bits, &count))
		return false;
	fputc('[', showing->out);
	for (unsigned i = 0; i < count; i++) {
		if (!(bits[i / 8] >> i % 8 & 1))
			continue;
		fputs(between, showing->out);
		show_descriptor(showing, (int)i);
		between = " ";
	}
	fputc(']', showing->out);
	return true;
}

static enum shown selected(struct showing *showing, unsigned index)
{
	uint64_t addr = arg_of(showing, index), mask[2];

	if (!index)
		return SHOWN_USUALLY;
	if (index == 4) {
		show_struct(showing, showing->row->args[4].type, addr);
	} else if (index == 5 && addr &&
		   read_struct(showing, S_SET_AND_SIZE, addr, mask)) {
		fputs("{sigmask=", showing->out);
		show_struct(showing, S_SIGSET, mask[0]);
		fprintf(showing->out, ", sigsetsize=%" PRIu64 "}", mask[1]);
	} else if (index == 5 || !show_descriptors(showing, addr)) {
		show_address(showing, addr);
	}
	return SHOWN;
}

static enum shown polled(struct showing *showing, unsigned index)
{
	if (index == 1)
		return show_unsigned(showing, arg_of(showing, 1));
	if (index)
		return SHOWN_USUALLY;
	if (arg_of(showing, 1) || !arg_of(showing, 0))
		show_structs(showing, S_POLLFD, arg_of(showing, 0),
			     arg_of(showing, 1));
	else
		fputs("[]", showing->out);
	return SHOWN;
}

static enum shown epoll_changed(struct showing *showing, unsigned index)
{
	if (index != 3 || arg_of(showing, 1) != EPOLL_CTL_DEL)
		return SHOWN_USUALLY;
	show_address(showing, arg_of(showing, 3));
	return SHOWN;
}

/* ------- sockets ------- */

static enum shown socket_made(struct showing *showing, unsigned index)
{
	uint64_t value = arg_of(showing, index);

	if (index != 2)
		return SHOWN_USUALLY;
	switch ((int)arg_of(showing, 0)) {
	case AF_INET:
	case AF_INET6:
		show_values(showing, VALUES_IP_PROTOCOL, value);
		return SHOWN;
	case AF_NETLINK:
		show_values(showing, VALUES_NETLINK, value);
		return SHOWN;
	default:
		return SHOWN_USUALLY;
	}
}

/* The address that a call is given. */
static enum shown to_address(struct showing *showing, unsigned index)
{
	unsigned place = is_call(showing, CALL_sendto) ? 4 : 1;

	if (index != place)
		return SHOWN_USUALLY;
	show_socket_address(showing, arg_of(showing, place),
			    arg_of(showing, place + 1));
	return SHOWN;
}

/* The address that it gives. */
static enum shown from_address(struct showing *showing, unsigned index)
{
	unsigned place = is_call(showing, CALL_recvfrom) ? 4 : 1;
	uint64_t addr = arg_of(showing, place);
	uint32_t size;

	if (index != place || !addr || !showing->leaves || showing->has_failed)
		return SHOWN_USUALLY;
	if (!read_guest(showing, arg_of(showing, place + 1), &size,
			sizeof(size)))
		size = 0;
	if (size > showing->call->kept[place + 1])
		size = (uint32_t)showing->call->kept[place + 1];
	show_socket_address(showing, addr, size);
	return SHOWN;
}

/* ------- signals ------- */

/* The frame that a handler leaves. */
static enum shown returned(struct showing *showing, unsigned index)
{
	const struct linux_abi *abi = abi_of(showing);
	uint64_t mask;

	(void)index;	/* the only one */
	if (!abi || !read_guest(showing, showing->call->sp + abi->frame_mask,
				&mask, sizeof(mask)))
		return SHOWN_NOT;
	fputs("{mask=", showing->out);
	show_signal_set(showing, mask);
	fputc('}', showing->out);
	return SHOWN;
}

/* ------- all of them ------- */

static special_argument *const specials[CALL_COUNT] = {
	[CALL_open] = special_opened,
	[CALL_openat] = special_opened,
	[CALL_mq_open] = special_opened,
	[CALL_pipe2] = special_made_flags,
	[CALL_dup3] = special_made_flags,
	[CALL_mknod] = special_made_node,
	[CALL_mknodat] = special_made_node,
	[CALL_faccessat2] = special_access_flags,
	[CALL_statx] = special_statx_flags,
	[CALL_getcwd] = special_filled_path,
	[CALL_readlink] = special_filled_path,
	[CALL_readlinkat] = special_filled_path,
	[CALL_getdents] = special_directory,
	[CALL_getdents64] = special_directory,
	[CALL_getrandom] = special_random_bytes,
	[CALL_fcntl] = special_file_control,
	[CALL_ioctl] = special_device_control,
	[CALL_mmap] = mapped,
	[CALL_mremap] = moved,
	[CALL_shmget] = system_v,
	[CALL_semget] = system_v,
	[CALL_msgget] = system_v,
	[CALL_msgsnd] = message_sent,
	[CALL_msgrcv] = message_received,
	[CALL_clone] = special_cloned,
	[CALL_clone3] = special_cloned_anew,
	[CALL_execve] = special_executed,
	[CALL_execveat] = special_executed,
	[CALL_wait4] = special_waited,
	[CALL_sched_setaffinity] = special_processors,
	[CALL_sched_getaffinity] = special_processors,
	[CALL_prctl] = special_process_control,
	[CALL_arch_prctl] = special_thread_pointer,
	[CALL_close_range] = special_closed_range,
	[CALL_futex] = special_futex,
	[CALL_select] = selected,
	[CALL_pselect6] = selected,
	[CALL_poll] = polled,
	[CALL_ppoll] = polled,
	[CALL_epoll_ctl] = epoll_changed,
	[CALL_socket] = socket_made,
	[CALL_socketpair] = socket_made,
	[CALL_connect] = to_address,
	[CALL_bind] = to_address,
	[CALL_sendto] = to_address,
	[CALL_accept] = from_address,
	[CALL_accept4] = from_address,
	[CALL_getsockname] = from_address,
	[CALL_getpeername] = from_address,
	[CALL_recvfrom] = from_address,
	[CALL_setsockopt] = show_socket_option,
	[CALL_getsockopt] = show_socket_option,
	[CALL_rt_sigreturn] = returned,
};

enum shown show_special(struct showing *showing, unsigned index)
{
	size_t number = linux_call_kind(showing->row);

	return specials[number] ? specials[number](showing, index) :
				  SHOWN_USUALLY;
}

/* ------- results ------- */

static bool gets_flags(const struct showing *showing)
{
	int command = (int)arg_of(showing, 1);

	return is_call(showing, CALL_fcntl) &&
	       (command == F_GETFL || command == F_GETFD);
}

/* By ipc(2), the address is where one more argument leads to. */
static bool show_attached(struct showing *showing)
{
	uint64_t addr;

	if (!is_call(showing, CALL_shmat) || showing->result ||
	    !read_word(showing, showing->call->args[3], &addr))
		return false;
	show_hex(showing, addr);
	return true;
}

bool show_special_result(struct showing *showing)
{
	if (!gets_flags(showing))
		return show_attached(showing);
	show_hex(showing, (uint64_t)showing->result);
	return true;
}

static void behind_fcntl(struct showing *showing)
{
	uint64_t flags = (uint64_t)showing->result;

	if (!gets_flags(showing) ||
	    (!flags && (int)arg_of(showing, 1) == F_GETFD))
		return;
	fputs(" (flags ", showing->out);
	show_values(showing, (int)arg_of(showing, 1) == F_GETFL ?
				     VALUES_OPEN : VALUES_FD_FLAGS, flags);
	fputc(')', showing->out);
}

static void put_left(struct showing *showing, const char *before,
		     unsigned index)
{
	if (!arg_of(showing, index))
		return;
	fprintf(showing->out, "%sleft ", before);
	show_struct(showing, showing->row->args[index].type,
		    arg_of(showing, index));
}

static void behind_select(struct showing *showing)
{
	static const char *const names[] = { "", "in ", "out ", "except " };
	const char *between = "";

	fputs(" (", showing->out);
	for (unsigned i = 1; i < 4; i++) {
		if (!has_descriptors(showing, arg_of(showing, i)))
			continue;
		fprintf(showing->out, "%s%s", between, names[i]);
		show_descriptors(showing, arg_of(showing, i));
		between = ", ";
	}
	put_left(showing, between, 4);
	fputc(')', showing->out);
}

static void behind_poll(struct showing *showing)
{
	uint64_t addr = arg_of(showing, 0);
	const char *between = " ([";
	struct pollfd found;

	for (unsigned i = 0; i < (unsigned)arg_of(showing, 1); i++) {
		if (!read_guest(showing, addr + i * sizeof(found), &found,
				sizeof(found)))
			break;
		if (!found.revents)
			continue;
		fprintf(showing->out, "%s{fd=", between);
		show_descriptor(showing, found.fd);
		fputs(", revents=", showing->out);
		show_values(showing, VALUES_POLL, (uint16_t)found.revents);
		fputc('}', showing->out);
		between = ", ";
	}
	if (*between != ',')
		return;
	fputc(']', showing->out);
	if (is_call(showing, CALL_ppoll))
		put_left(showing, ", ", 2);
	fputc(')', showing->out);
}

static bool gives_dumpable(const struct showing *showing)
{
	return is_call(showing, CALL_prctl) &&
	       (int)arg_of(showing, 0) == PR_GET_DUMPABLE;
}

static void behind_dumpable(struct showing *showing)
{
	fputs(" (", showing->out);
	show_values(showing, VALUES_DUMPABLE, (uint64_t)showing->result);
	fputc(')', showing->out);
}

static bool gives_value(const struct showing *showing)
{
	return showing->row &&
	       showing->row->args[CALL_RESULT].kind == ARG_VALUE;
}

static void behind_value(struct showing *showing)
{
	fputs(" (", showing->out);
	show_values(showing, showing->row->args[CALL_RESULT].values,
		    (uint64_t)showing->result);
	fputc(')', showing->out);
}

void show_behind(struct showing *showing)
{
	bool selects = is_call(showing, CALL_select) ||
		       is_call(showing, CALL_pselect6);
	bool polls = is_call(showing, CALL_poll) ||
		     is_call(showing, CALL_ppoll);

	if ((selects || polls) && !showing->result)
		fputs(" (Timeout)", showing->out);
	else if (selects)
		behind_select(showing);
	else if (polls)
		behind_poll(showing);
	else if (gives_dumpable(showing))
		behind_dumpable(showing);
	else if (gives_value(showing))
		behind_value(showing);
	else
		behind_fcntl(showing);
}
