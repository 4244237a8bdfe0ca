/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sysroot.c - files of another system, for programs that are made for it
 *
 * What such a program opens or looks at is looked for under a folder first, and
 * then where it says.  What it makes, renames or removes is where it says.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "vm/linux/host/host.h"
#include "vm/linux/process.h"

void sysroot_redirect(const struct linux_process *process,
		      const struct linux_abi *abi, char *path)
{
	char there[PATH_MAX];
	int size;

	if (!process->sysroot || !abi->package || path[0] != '/')
		return;
	size = snprintf(there, sizeof(there), "%s%s", process->sysroot, path);
	if (size < (int)sizeof(there) && !access(there, F_OK))
		memcpy(path, there, (size_t)size + 1);
}
