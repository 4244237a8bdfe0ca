/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_paths.c - what the files are called that a machine's kernel has open
 *
 * Source: Linux, fs/d_path.c; names that are made when they are asked for,
 * fs/pipe.c, net/socket.c and fs/anon_inodes.c.
 */
#include "replayer/session/kernel_internal.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define NAMES_MOST 256u		/* in a path */
#define DESCRIPTORS_MOST 65536	/* a choice */
#define TYPE_NAME 16u		/* of a kind of file systems */

enum place {
	FILE_ENTRY, FILE_MOUNT, FILE_NODE, ENTRY_PARENT, ENTRY_NAME,
	ENTRY_LENGTH, MOUNT_ROOT, MOUNT_OWN, MOUNT_PARENT, MOUNT_POINT,
	NODE_NUMBER, NODE_SYSTEM, SYSTEM_TYPE, TYPE_CALLED, TASK_FILES,
	FILES_TABLE, TABLE_SIZE, TABLE_LIST, PLACES
};

static const struct kernel_place places[PLACES] = {
	[FILE_ENTRY] = { "file", "f_path.dentry" },
	[FILE_MOUNT] = { "file", "f_path.mnt" },
	[FILE_NODE] = { "file", "f_inode" },
	[ENTRY_PARENT] = { "dentry", "d_parent" },
	[ENTRY_NAME] = { "dentry", "d_name.name" },
	[ENTRY_LENGTH] = { "dentry", "d_name.len" },
	[MOUNT_ROOT] = { "vfsmount", "mnt_root" },
	[MOUNT_OWN] = { "mount", "mnt" },
	[MOUNT_PARENT] = { "mount", "mnt_parent" },
	[MOUNT_POINT] = { "mount", "mnt_mountpoint" },
	[NODE_NUMBER] = { "inode", "i_ino" },
	[NODE_SYSTEM] = { "inode", "i_sb" },
	[SYSTEM_TYPE] = { "super_block", "s_type" },
	[TYPE_CALLED] = { "file_system_type", "name" },
	[TASK_FILES] = { "task_struct", "files" },
	[FILES_TABLE] = { "files_struct", "fdt" },
	[TABLE_SIZE] = { "fdtable", "max_fds" },
	[TABLE_LIST] = { "fdtable", "fd" },
};

/* File systems without names, and what their files are called. */
static const struct {
	const char *type, *format;
} nameless[] = {
	{ "pipefs", "pipe:[%" PRIu64 "]" },
	{ "sockfs", "socket:[%" PRIu64 "]" },
};

/* Its places are looked for once. */
static const uint32_t *find_places(struct kernel *kernel)
{
	_Static_assert(PLACES <= KERNEL_PATH_PLACES, "places");
	if (!kernel->has_paths)
		kernel->has_paths = kernel_places(kernel, places, PLACES,
						  kernel->paths);
	return kernel->has_paths ? kernel->paths : NULL;
}

/* In front of what is there; false: there is no room, or nothing. */
static bool put_name(struct kernel *kernel, uint64_t entry, char *path,
		     size_t *at)
{
	const uint32_t *places_at = kernel->paths;
	uint64_t name = kernel_pointer(kernel, entry + places_at[ENTRY_NAME]);
	size_t length = kernel_number(kernel, entry + places_at[ENTRY_LENGTH],
				      4);

	if (!length || length > 255 || length + 1 > *at ||
	    !kernel_read(kernel, name, path + *at - length, length))
		return false;
	*at -= length + 1;
	path[*at] = '/';
	return true;
}

const char *kernel_path(struct kernel *kernel, uint64_t file,
			char path[PATH_MAX])
{
	const uint32_t *at = find_places(kernel);
	size_t begin = PATH_MAX - 1;
	uint64_t entry, mount;

	path[begin] = '\0';
	if (!at)
		return path + begin;
	entry = kernel_pointer(kernel, file + at[FILE_ENTRY]);
	mount = kernel_pointer(kernel, file + at[FILE_MOUNT]) - at[MOUNT_OWN];
	for (unsigned i = 0; i < NAMES_MOST; i++) {
		uint64_t up = kernel_pointer(kernel, entry + at[ENTRY_PARENT]);
		uint64_t above = kernel_pointer(kernel, mount +
							at[MOUNT_PARENT]);

		if (entry == kernel_pointer(kernel, mount + at[MOUNT_OWN] +
						    at[MOUNT_ROOT]) &&
		    above && above != mount) {
			entry = kernel_pointer(kernel, mount +
						       at[MOUNT_POINT]);
			mount = above;
		} else if (!up || up == entry ||
			   !put_name(kernel, entry, path, &begin)) {
			break;
		} else {
			entry = up;
		}
	}
	return path + begin;
}

/* What a file is called that is in no folder. */
static const char *name_nameless(struct kernel *kernel, uint64_t file,
				 char path[PATH_MAX])
{
	const uint32_t *at = kernel->paths;
	uint64_t node = kernel_pointer(kernel, file + at[FILE_NODE]);
	uint64_t system = kernel_pointer(kernel, node + at[NODE_SYSTEM]);
	uint64_t type = kernel_pointer(kernel, system + at[SYSTEM_TYPE]);
	uint64_t entry = kernel_pointer(kernel, file + at[FILE_ENTRY]);
	uint64_t number = kernel_number(kernel, node + at[NODE_NUMBER], 8);
	char name[TYPE_NAME] = "";
	size_t begin = PATH_MAX - 1;

	kernel_read(kernel, kernel_pointer(kernel, type + at[TYPE_CALLED]),
		    name, sizeof(name) - 1);
	for (size_t i = 0; i < sizeof(nameless) / sizeof(nameless[0]); i++)
		if (!strcmp(name, nameless[i].type)) {
			snprintf(path, PATH_MAX, nameless[i].format, number);
			return path;
		}
	path[begin] = '\0';
	if (strcmp(name, "anon_inodefs") ||
	    !put_name(kernel, entry, path, &begin))
		return NULL;
	memcpy(path, "anon_inode:", strlen("anon_inode:"));
	memmove(path + strlen("anon_inode:"), path + begin + 1,
		PATH_MAX - begin - 1);
	return path;
}

const char *kernel_descriptor(struct kernel *kernel, uint64_t task,
			      int descriptor, char path[PATH_MAX])
{
	const uint32_t *at = find_places(kernel);
	uint64_t table, list, file;
	const char *name;

	if (!at || descriptor < 0 || descriptor >= DESCRIPTORS_MOST)
		return NULL;
	table = kernel_pointer(kernel, kernel_pointer(kernel, task +
			       at[TASK_FILES]) + at[FILES_TABLE]);
	list = kernel_pointer(kernel, table + at[TABLE_LIST]);
	if ((uint64_t)descriptor >= kernel_number(kernel, table +
						  at[TABLE_SIZE], 4))
		return NULL;
	file = kernel_pointer(kernel, list + 8 * (uint64_t)descriptor);
	if (!file)
		return NULL;
	name = name_nameless(kernel, file, path);
	if (!name)
		name = kernel_path(kernel, file, path);
	return *name ? name : "/";
}
