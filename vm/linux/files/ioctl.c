/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ioctl.c - device requests, by a table of what their arguments point at
 *
 * A request that is not in the table may hold pointers, which would be the
 * host's; it is refused as a device refuses what it does not know.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "vm/linux/abi/calls.h"
#include "vm/linux/files/files.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/host/host.h"
#include "vm/linux/kernel.h"
#include "vm/linux/process.h"

enum {
	VALUE = 0,	/* no pointer */
	READS = 1,	/* the kernel reads the structure */
	FILLS = 2,	/* it fills it in */
};

struct request {
	uint32_t number;
	uint16_t size;
	uint16_t use;
};

#define TERMIOS 36	/* the kernel's, not the C library's */
#define TERMIOS2 44
#define WINSIZE 8
#define IFREQ 40

static const struct request requests[] = {
	{ 0x5401 /* TCGETS */, TERMIOS, FILLS },
	{ 0x5402 /* TCSETS */, TERMIOS, READS },
	{ 0x5403 /* TCSETSW */, TERMIOS, READS },
	{ 0x5404 /* TCSETSF */, TERMIOS, READS },
	{ 0x802c542a /* TCGETS2 */, TERMIOS2, FILLS },
	{ 0x402c542b /* TCSETS2 */, TERMIOS2, READS },
	{ 0x402c542c /* TCSETSW2 */, TERMIOS2, READS },
	{ 0x402c542d /* TCSETSF2 */, TERMIOS2, READS },
	{ TCSBRK, 0, VALUE },
	{ TCSBRKP, 0, VALUE },
	{ TCXONC, 0, VALUE },
	{ TCFLSH, 0, VALUE },
	{ TIOCEXCL, 0, VALUE },
	{ TIOCNXCL, 0, VALUE },
	{ TIOCSCTTY, 0, VALUE },
	{ TIOCNOTTY, 0, VALUE },
	{ TIOCSBRK, 0, VALUE },
	{ TIOCCBRK, 0, VALUE },
	{ TIOCCONS, 0, VALUE },
	{ TIOCGPTPEER, 0, VALUE },
	{ TIOCGPGRP, 4, FILLS },
	{ TIOCSPGRP, 4, READS },
	{ TIOCGSID, 4, FILLS },
	{ TIOCOUTQ, 4, FILLS },
	{ TIOCINQ, 4, FILLS },
	{ TIOCSTI, 1, READS },
	{ TIOCGWINSZ, WINSIZE, FILLS },
	{ TIOCSWINSZ, WINSIZE, READS },
	{ TIOCMGET, 4, FILLS },
	{ TIOCMSET, 4, READS },
	{ TIOCMBIS, 4, READS },
	{ TIOCMBIC, 4, READS },
	{ TIOCGETD, 4, FILLS },
	{ TIOCSETD, 4, READS },
	{ TIOCGPTN, 4, FILLS },
	{ TIOCSPTLCK, 4, READS },
	{ TIOCPKT, 4, READS },
	{ TIOCGPKT, 4, FILLS },
	{ TIOCGPTLCK, 4, FILLS },
	{ TIOCGEXCL, 4, FILLS },
	{ FIONBIO, 4, READS },
	{ FIOASYNC, 4, READS },
	{ FIOCLEX, 0, VALUE },
	{ FIONCLEX, 0, VALUE },
	{ FIOQSIZE, 8, FILLS },
	{ FIGETBSZ, 4, FILLS },
	{ FS_IOC_GETFLAGS, 4, FILLS },	/* in spite of the "long" in it */
	{ FS_IOC_SETFLAGS, 4, READS },
	{ FS_IOC_GETVERSION, 4, FILLS },
	{ FS_IOC_FSGETXATTR, 28, FILLS },
	{ FS_IOC_FSSETXATTR, 28, READS },
	{ FICLONE, 0, VALUE },
	{ FICLONERANGE, 32, READS },
	{ BLKGETSIZE, 8, FILLS },
	{ BLKGETSIZE64, 8, FILLS },
	{ BLKSSZGET, 4, FILLS },
	{ BLKBSZGET, 4, FILLS },
	{ BLKROGET, 4, FILLS },
	{ SIOCATMARK, 4, FILLS },
	{ SIOCGPGRP, 4, FILLS },
	{ SIOCSPGRP, 4, READS },
	{ SIOCGIFNAME, IFREQ, READS | FILLS },
	{ SIOCGIFFLAGS, IFREQ, READS | FILLS },
	{ SIOCGIFADDR, IFREQ, READS | FILLS },
	{ SIOCGIFDSTADDR, IFREQ, READS | FILLS },
	{ SIOCGIFBRDADDR, IFREQ, READS | FILLS },
	{ SIOCGIFNETMASK, IFREQ, READS | FILLS },
	{ SIOCGIFMETRIC, IFREQ, READS | FILLS },
	{ SIOCGIFMTU, IFREQ, READS | FILLS },
	{ SIOCGIFHWADDR, IFREQ, READS | FILLS },
	{ SIOCGIFINDEX, IFREQ, READS | FILLS },
	{ SIOCGIFTXQLEN, IFREQ, READS | FILLS },
};

static const struct request *find_request(uint32_t number)
{
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		if (requests[i].number == number)
			return &requests[i];
	return NULL;
}

int64_t sys_ioctl(struct linux_process *process, const struct linux_call *row,
		  const uint64_t *arg)
{
	const struct request *request = find_request((uint32_t)arg[1]);
	void *copy = process->thread->bounce[2];
	int64_t result;

	(void)row;
	if (!request)
		return fcntl((int)arg[0], F_GETFD) < 0 ? -EBADF : -ENOTTY;
	if (request->use == VALUE)
		return host_call(process, SYS_ioctl, arg[0], arg[1], arg[2]);
	memset(copy, 0, request->size);
	if (request->use & READS &&
	    copy_in(process, copy, arg[2], request->size))
		copy = (void *)(uintptr_t)BAD_POINTER;
	result = host_call(process, SYS_ioctl, arg[0], arg[1],
			   host_pointer(copy));
	if (result >= 0 && request->use & FILLS &&
	    copy_out(process, arg[2], copy, request->size))
		return -EFAULT;
	return result;
}
