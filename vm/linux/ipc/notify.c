/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * notify.c - mq_notify(2): who is told of a message in a queue
 *
 * Source: Linux, ipc/mqueue.c.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>

#include "vm/linux/abi/structs.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/host/host.h"
#include "vm/linux/ipc/ipc.h"
#include "vm/linux/process.h"

/* What the kernel sends to the C library's socket for SIGEV_THREAD. */
#define COOKIE_BYTES 32

int64_t sys_mq_notify(struct linux_process *process,
		      const struct linux_call *row, const uint64_t *arg)
{
	struct sigevent event;
	uint8_t cookie[COOKIE_BYTES];

	if (!arg[1])
		return host_call(process, row->host, arg[0], 0);
	if (struct_in(process, S_SIGEVENT, &event, arg[1]))
		return -EFAULT;
	if (event.sigev_notify == SIGEV_THREAD) {
		guest_addr from = host_pointer(event.sigev_value.sival_ptr);

		if (copy_in(process, cookie, from, sizeof(cookie)))
			return -EFAULT;
		if (is_hidden(event.sigev_signo))	/* the socket */
			return -EBADF;
		event.sigev_value.sival_ptr = cookie;
	}
	return host_call(process, row->host, arg[0], host_pointer(&event));
}
