/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sysroot.c - files of another system, for programs that are made for it
 *
 * What such a program opens or looks at is looked for under a folder first, and
 * then where it says.  What it makes, renames or removes is where it says, and
 * so are the directories that it goes to: they have their names.  Where this
 * machine's libraries are, its own cache says, which is never another system's.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "vm/linux/host/host.h"
#include "vm/linux/process.h"

#define LIBRARY_CACHE "/etc/ld.so.cache"

/* `flags`: whether a link without a target is there, too. */
static bool redirect(const struct linux_process *process,
		     const struct linux_abi *abi, char *path, int flags)
{
	char there[PATH_MAX];
	int size;

	if (!process->sysroot || !abi->package || path[0] != '/')
		return false;
	size = snprintf(there, sizeof(there), "%s%s", process->sysroot, path);
	if (size >= (int)sizeof(there))
		return false;
	if (strcmp(path, LIBRARY_CACHE) &&
	    faccessat(AT_FDCWD, there, F_OK, flags))
		return false;
	memcpy(path, there, (size_t)size + 1);
	return true;
}

void sysroot_redirect(const struct linux_process *process,
		      const struct linux_abi *abi, char *path)
{
	redirect(process, abi, path, 0);
}

bool sysroot_redirect_link(const struct linux_process *process, char *path)
{
	return redirect(process, process->abi, path, AT_SYMLINK_NOFOLLOW);
}
