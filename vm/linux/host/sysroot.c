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
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vm/linux/host/host.h"
#include "vm/linux/linux.h"
#include "vm/linux/process.h"

#define LIBRARY_CACHE "/etc/ld.so.cache"

static const char *sysroot_name(const struct linux_options *options)
{
	static const char name[] = "QEMU_LD_PREFIX=";
	const size_t size = sizeof(name) - 1;

	if (options->sysroot)
		return options->sysroot;
	for (char *const *at = options->envp; at && *at; at++)
		if (!strncmp(*at, name, size) && (*at)[size])
			return *at + size;
	return NULL;
}

char *sysroot_find(const struct linux_options *options)
{
	const char *name = sysroot_name(options);

	return name ? realpath(name, NULL) : NULL;
}

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
