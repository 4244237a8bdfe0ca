/* SPDX-License-Identifier: GPL-2.0-or-later */
/* calls.c - see calls.h: the rows of calls.inc, as data */
#include <errno.h>

#include "formats/registers.h"
#include "vm/linux/abi/abi.h"
#include "vm/linux/abi/calls.h"
#include "vm/linux/abi/structs.h"

#define NOTHING { ARG_NONE, 0, 0, 0 }
#define INT { ARG_INT, 0, 0, 0 }
#define SIZE { ARG_SIZE, 0, 0, 0 }
#define OFFSET { ARG_OFFSET, 0, 0, 0 }
#define ADDRESS { ARG_ADDRESS, 0, 0, 0 }
#define MODE { ARG_MODE, 0, 0, 0 }
#define PID { ARG_PID, 0, 0, 0 }
#define UID { ARG_UID, 0, 0, 0 }
#define GID { ARG_GID, 0, 0, 0 }
#define SIGNAL { ARG_SIGNAL, 0, 0, 0 }
#define VALUE(kind) { ARG_VALUE, 0, 0, VALUES_##kind }
#define FLAGS(kind) { ARG_FLAGS, 0, 0, VALUES_##kind }
#define BITS { ARG_BITS, 0, 0, 0 }
#define FD { ARG_FD, 0, 0, 0 }
#define DIR { ARG_DIR, 0, 0, 0 }
#define ANY_FD { ARG_ANY_FD, 0, 0, 0 }
#define PATH { ARG_PATH, 0, 0, 0 }
#define FOLLOWED { ARG_PATH_FOLLOWED, 0, 0, 0 }
#define FOLLOWED_IF(flags) { ARG_PATH_FOLLOWED, flags, 0, 0 }
#define IN(type) { ARG_IN, 0, S_##type, 0 }
#define OUT(type) { ARG_OUT, 0, S_##type, 0 }
#define OUT_EINTR(type) { ARG_OUT_EINTR, 0, S_##type, 0 }
#define INOUT(type) { ARG_INOUT, 0, S_##type, 0 }
#define INOUT_EINTR(type) { ARG_INOUT_EINTR, 0, S_##type, 0 }
#define BYTES_IN(length) { ARG_BYTES_IN, length, 0, 0 }
#define BYTES_OUT(room) { ARG_BYTES_OUT, room, 0, 0 }
#define BYTES_INOUT(room) { ARG_BYTES_INOUT, room, 0, 0 }
#define ARRAY_IN(type, count) { ARG_ARRAY_IN, count, S_##type, 0 }
#define ARRAY_OUT(type, count) { ARG_ARRAY_OUT, count, S_##type, 0 }
#define ARRAY_INOUT(type, count) { ARG_ARRAY_INOUT, count, S_##type, 0 }
#define COUNTED_OUT(length) { ARG_COUNTED_OUT, length, 0, 0 }
#define LENGTH { ARG_LENGTH, 0, 0, 0 }
#define MASK { ARG_MASK, 0, S_SIGSET, 0 }
#define VECTOR_IN(count) { ARG_VECTOR_IN, count, S_IOVEC, 0 }
#define VECTOR_OUT(count) { ARG_VECTOR_OUT, count, S_IOVEC, 0 }
#define MESSAGE_IN { ARG_MESSAGE_IN, 0, S_MSGHDR, 0 }
#define MESSAGE_OUT { ARG_MESSAGE_OUT, 0, S_MSGHDR, 0 }
#define MESSAGES_IN(count) { ARG_MESSAGES_IN, count, S_MMSGHDR, 0 }
#define MESSAGES_OUT(count) { ARG_MESSAGES_OUT, count, S_MMSGHDR, 0 }
#define STRINGS { ARG_STRINGS, 0, 0, 0 }
#define WORD { ARG_WORD, 0, S_INT, 0 }
#define POINTER { ARG_POINTER, 0, 0, 0 }
#define POINTER_TO(type) { ARG_POINTER, 0, S_##type, 0 }
#define GIVES(kind) [CALL_RESULT] = { ARG_##kind, 0, 0, 0 }
#define GIVES_VALUE(kind) [CALL_RESULT] = { ARG_VALUE, 0, 0, VALUES_##kind }

/* What rows like others take from these. */
#define CALL(name, number, ...) HOST_##name = number, WAITS_##name = false,
#define WAIT(name, number, ...) HOST_##name = number, WAITS_##name = true,
#define CODE(name, number, ...) CALL(name, number)
#define WAIT_CODE(name, number, ...) WAIT(name, number)
#define REFUSED(name, number, ...) CALL(name, number)
enum {
#include "vm/linux/abi/calls.inc"
};
#undef CALL
#undef WAIT
#undef CODE
#undef WAIT_CODE
#undef REFUSED

#define ROW(call, number, ...)                                                 \
	[CALL_##call] = { .name = #call, .host = number,                       \
			  .like = CALL_##call, __VA_ARGS__ },
#define CALL(name, number, ...) \
	ROW(name, number, .args = { __VA_ARGS__ })
#define WAIT(name, number, ...) \
	ROW(name, number, .waits = true, .args = { __VA_ARGS__ })
#define CODE(name, number, function, ...) CALL(name, number, __VA_ARGS__)
#define WAIT_CODE(name, number, function, ...) WAIT(name, number, __VA_ARGS__)
#define REFUSED(name, number, error, ...) \
	ROW(name, number, .refusal = error, .args = { __VA_ARGS__ })

#define LIKE(call, other, ...)                                                 \
	[CALL_##call] = { .name = #call, .host = HOST_##other,                 \
			  .waits = WAITS_##other, .like = CALL_##other,        \
			  .args = { __VA_ARGS__ } },

const struct linux_call linux_calls[CALL_COUNT] = {
#include "vm/linux/abi/calls.inc"
#include "vm/linux/abi/calls_32.inc"
};

/* How calls order threads; source: manual pages, section 2. */
static const uint16_t orders[CALL_COUNT] = {
	[CALL_read] = ORDER_RECEIVES,
	[CALL_write] = ORDER_SENDS,
	[CALL_close] = ORDER_SENDS,
	[CALL_poll] = ORDER_RECEIVES_SOME,
	[CALL_rt_sigaction] = ORDER_SIGNALS,
	[CALL_rt_sigreturn] = ORDER_RETURNS,
	[CALL_sigreturn] = ORDER_RETURNS,
	[CALL_socketcall] = ORDER_SENDS | ORDER_RECEIVES,
	[CALL_ipc] = ORDER_SENDS | ORDER_RECEIVES,
	[CALL_pread64] = ORDER_RECEIVES,
	[CALL_pwrite64] = ORDER_SENDS,
	[CALL_readv] = ORDER_RECEIVES,
	[CALL_writev] = ORDER_SENDS,
	[CALL_select] = ORDER_RECEIVES_SOME,
	[CALL_alarm] = ORDER_TIMES,
	[CALL_setitimer] = ORDER_TIMES,
	[CALL_sendfile] = ORDER_SENDS | ORDER_RECEIVES,
	[CALL_connect] = ORDER_SENDS | ORDER_RECEIVES,
	[CALL_accept] = ORDER_RECEIVES,
	[CALL_sendto] = ORDER_SENDS,
	[CALL_recvfrom] = ORDER_RECEIVES,
	[CALL_sendmsg] = ORDER_SENDS,
	[CALL_recvmsg] = ORDER_RECEIVES,
	[CALL_shutdown] = ORDER_SENDS,
	[CALL_clone] = ORDER_CLONES,
	[CALL_exit] = ORDER_ENDS,
	[CALL_wait4] = ORDER_RECEIVES_SOME,
	[CALL_kill] = ORDER_SIGNALS,
	[CALL_semop] = ORDER_SENDS | ORDER_RECEIVES,
	[CALL_msgsnd] = ORDER_SENDS,
	[CALL_msgrcv] = ORDER_RECEIVES,
	[CALL_fcntl] = ORDER_SENDS | ORDER_RECEIVES,
	[CALL_flock] = ORDER_SENDS | ORDER_RECEIVES,
	[CALL_rt_sigtimedwait] = ORDER_WAITS_SIGNAL,
	[CALL_rt_sigqueueinfo] = ORDER_SIGNALS,
	[CALL_tkill] = ORDER_SIGNALS,
	[CALL_futex] = ORDER_FUTEX,
	[CALL_io_getevents] = ORDER_RECEIVES_SOME,
	[CALL_io_submit] = ORDER_SENDS,
	[CALL_semtimedop] = ORDER_SENDS | ORDER_RECEIVES,
	[CALL_timer_settime] = ORDER_TIMES,
	[CALL_epoll_wait] = ORDER_RECEIVES_SOME,
	[CALL_epoll_ctl] = ORDER_SENDS,
	[CALL_tgkill] = ORDER_SIGNALS,
	[CALL_mq_timedsend] = ORDER_SENDS,
	[CALL_mq_timedreceive] = ORDER_RECEIVES,
	[CALL_waitid] = ORDER_RECEIVES,
	[CALL_pselect6] = ORDER_RECEIVES_SOME,
	[CALL_ppoll] = ORDER_RECEIVES_SOME,
	[CALL_splice] = ORDER_SENDS | ORDER_RECEIVES,
	[CALL_tee] = ORDER_SENDS | ORDER_RECEIVES,
	[CALL_vmsplice] = ORDER_SENDS,
	[CALL_epoll_pwait] = ORDER_RECEIVES_SOME,
	[CALL_timerfd_settime] = ORDER_SENDS,
	[CALL_accept4] = ORDER_RECEIVES,
	[CALL_preadv] = ORDER_RECEIVES,
	[CALL_pwritev] = ORDER_SENDS,
	[CALL_rt_tgsigqueueinfo] = ORDER_SIGNALS,
	[CALL_recvmmsg] = ORDER_RECEIVES_SOME,
	[CALL_sendmmsg] = ORDER_SENDS,
	[CALL_preadv2] = ORDER_RECEIVES,
	[CALL_pwritev2] = ORDER_SENDS,
	[CALL_pidfd_send_signal] = ORDER_SIGNALS,
	[CALL_clone3] = ORDER_CLONES,
	[CALL_epoll_pwait2] = ORDER_RECEIVES_SOME,
};

const struct linux_call *linux_call_of(unsigned arch, uint64_t number)
{
	const struct linux_abi *abi = linux_abi(arch);

	return abi ? abi_call(abi, number) : NULL;
}

const struct guest_layout *linux_layout_of(unsigned arch,
					   enum guest_struct type)
{
	const struct linux_abi *abi = linux_abi(arch);

	return abi && abi->layouts[type].size ? &abi->layouts[type] : NULL;
}

const struct linux_call *linux_call_made(unsigned arch, uint64_t number,
					 uint64_t args[CALL_ARGS],
					 const struct linux_reader *reader)
{
	const struct linux_abi *abi = linux_abi(arch);
	const struct linux_call *call = linux_call_of(arch, number);

	if (!call)
		return NULL;
	abi_take_arguments(abi, number, args);
	if (abi->unfold)
		abi->unfold(reader, &call, args);
	return call;
}

struct linux_clone linux_clone_of(unsigned arch)
{
	const struct linux_abi *abi = linux_abi(arch);

	if (!abi)
		return (struct linux_clone) { 0 };
	return (struct linux_clone) { abi->clone_tls, abi->clone_tls_at };
}

unsigned linux_call_order(const struct linux_call *call)
{
	return orders[linux_call_kind(call)];
}

unsigned linux_call_arguments(const struct linux_call *call)
{
	unsigned count = 0;

	while (count < CALL_ARGS && call->args[count].kind != ARG_NONE)
		count++;
	return count;
}

bool arg_is_read(enum arg_kind kind)
{
	switch (kind) {
	case ARG_PATH:
	case ARG_PATH_FOLLOWED:
	case ARG_IN:
	case ARG_INOUT:
	case ARG_INOUT_EINTR:
	case ARG_BYTES_IN:
	case ARG_BYTES_INOUT:
	case ARG_ARRAY_IN:
	case ARG_ARRAY_INOUT:
	case ARG_LENGTH:
	case ARG_MASK:
	case ARG_VECTOR_IN:
	case ARG_MESSAGE_IN:
	case ARG_MESSAGES_IN:
	case ARG_STRINGS:
	case ARG_WORD:
		return true;
	default:
		return false;
	}
}

bool arg_is_written(enum arg_kind kind)
{
	switch (kind) {
	case ARG_OUT:
	case ARG_OUT_EINTR:
	case ARG_INOUT:
	case ARG_INOUT_EINTR:
	case ARG_BYTES_OUT:
	case ARG_BYTES_INOUT:
	case ARG_ARRAY_OUT:
	case ARG_ARRAY_INOUT:
	case ARG_COUNTED_OUT:
	case ARG_LENGTH:
	case ARG_VECTOR_OUT:
	case ARG_MESSAGE_OUT:
	case ARG_MESSAGES_OUT:
	case ARG_WORD:
		return true;
	default:
		return false;
	}
}

bool arg_is_marshalled(enum arg_kind kind)
{
	return kind < ARG_VECTOR_IN && kind != ARG_ANY_FD;
}
