/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pack.c - see pack.h */
#include "tools/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/error.h"
#include "formats/family_files.h"
#include "formats/packed.h"
#include "tools/copy_bytes.h"
#include "tools/side_files.h"

static int cannot(const char *what, const char *path, struct failure *why)
{
	return failed(why, ERR_SYSTEM, "cannot %s '%s': %s", what, path,
		      strerror(errno));
}

static int no_memory(struct failure *why)
{
	return failed(why, ERR_NO_MEMORY, "out of memory");
}

/* What is made gets its name when all of it is there. */
static char *unfinished_name(const char *to)
{
	char *name;

	return asprintf(&name, "%s.%d~", to, (int)getpid()) < 0 ? NULL : name;
}

/* ------- packing ------- */

static int append(int to, const char *to_path, const struct family_file *file,
		  struct failure *why)
{
	struct bytes_source from = {
		.fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK),
		.path = file->path,
		.size = file->glance.size,
	};
	int rc;

	if (from.fd < 0)
		return cannot("open", file->path, why);
	rc = copy_bytes(to, to_path, &from, why);
	close(from.fd);
	return rc;
}

static int append_end(int to, const char *to_path,
		      const struct family_files *files, struct failure *why)
{
	struct packed packed = {
		.list = calloc(files->count, sizeof(*packed.list)),
		.count = files->count,
	};
	char none[] = "";
	struct output out = { 0 };
	int rc;

	if (!packed.list)
		return no_memory(why);
	for (size_t i = 0; i < files->count; i++) {
		const struct family_file *file = &files->list[i];

		packed.list[i] = (struct packed_member){
			.name = file->is_first ? none :
						 (char *)(uintptr_t)file->name,
			.size = file->glance.size,
			.changed = file->glance.changed,
		};
	}
	packed_end_encode(&out, &packed);
	rc = out.error ? no_memory(why) :
			 write_bytes(to, to_path, out.bytes, out.size, why);
	output_release(&out);
	free(packed.list);
	return rc;
}

static int write_packed(int fd, const char *path,
			const struct family_files *files, struct failure *why)
{
	uint8_t header[PACKED_HEADER_SIZE];
	int rc;

	packed_header_encode(header, files->list[0].glance.id);
	rc = write_bytes(fd, path, header, sizeof(header), why);
	for (size_t i = 0; i < files->count && !rc; i++)
		rc = append(fd, path, &files->list[i], why);
	if (!rc)
		rc = append_end(fd, path, files, why);
	if (!rc && fsync(fd) && errno == EIO)
		rc = cannot("write", path, why);
	return rc;
}

static int give_name(const char *from, const char *to, struct failure *why)
{
	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	if ((errno == EINVAL || errno == ENOSYS) && access(to, F_OK) &&
	    !rename(from, to))
		return 0;
	return cannot("create", to, why);
}

/* Beside the packed file, as they are beside the others. */
static void pack_bookmarks(const struct family_files *files, const char *to)
{
	for (size_t i = 0; i < files->count; i++) {
		const struct family_file *file = &files->list[i];
		char *path;

		if (asprintf(&path, "%s%s%s", to, file->is_first ? "" : "/",
			     file->is_first ? "" : file->name) < 0)
			return;
		side_file_copy(file->path, path);
		free(path);
	}
}

int pack_family(const struct family_files *files, const char *to,
		struct failure *why)
{
	char *path = unfinished_name(to);
	int fd, rc;

	if (!path)
		return no_memory(why);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0) {
		rc = cannot("create", path, why);
		free(path);
		return rc;
	}
	rc = write_packed(fd, path, files, why);
	if (close(fd) && !rc)
		rc = cannot("write", path, why);
	if (!rc)
		rc = give_name(path, to, why);
	if (rc)
		unlink(path);
	else
		pack_bookmarks(files, to);
	free(path);
	return rc;
}

/* ------- unpacking ------- */

/* All but the first one into the folder; how many, to be able to go back. */
static int unpack_others(int fd, const struct packed *packed, const char *path,
			 const char *folder, size_t *done, struct failure *why)
{
	int rc = 0;

	for (*done = 1; *done < packed->count && !rc; *done += !rc) {
		const struct packed_member *member = &packed->list[*done];
		struct bytes_source from = { fd, path, member->offset,
					     member->size };
		char *to;

		if (asprintf(&to, "%s/%s", folder, member->name) < 0)
			return no_memory(why);
		rc = copy_file(to, &from, &member->changed, why);
		free(to);
	}
	return rc;
}

static void remove_others(const struct packed *packed, const char *folder,
			  size_t done)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	for (size_t i = 1; fd >= 0 && i < done; i++)
		unlinkat(fd, packed->list[i].name, 0);
	if (fd >= 0)
		close(fd);
	rmdir(folder);
}

static int unpack_all(int fd, const struct packed *packed, const char *path,
		      const char *to, const char *folder, struct failure *why)
{
	const struct packed_member *first = &packed->list[0];
	struct bytes_source from = { fd, path, first->offset, first->size };
	size_t done = 1;
	int rc = 0;

	if (packed->count > 1 && mkdir(folder, 0700))
		return cannot("create", folder, why);
	if (packed->count > 1)
		rc = unpack_others(fd, packed, path, folder, &done, why);
	if (!rc)
		rc = copy_file(to, &from, &first->changed, why);
	if (rc && packed->count > 1)
		remove_others(packed, folder, done);
	return rc;
}

static void unpack_bookmarks(const struct family_files *files, const char *to,
			     const char *folder)
{
	for (size_t i = 0; i < files->count; i++) {
		const struct family_file *file = &files->list[i];
		char *path;

		if (file->is_first) {
			side_file_copy(file->path, to);
			continue;
		}
		if (asprintf(&path, "%s/%s", folder, file->name) < 0)
			return;
		side_file_copy(file->path, path);
		free(path);
	}
}

int unpack_family(const struct family_files *files, const char *to,
		  struct failure *why)
{
	struct packed packed = { 0 };
	char *folder = family_folder(to);
	struct stat status;
	int fd, rc;

	if (!folder)
		return no_memory(why);
	fd = open(files->first, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		rc = cannot("open", files->first, why);
	else if (!lstat(folder, &status))
		rc = failed(why, ERR_INPUT, "'%s' exists", folder);
	else
		rc = packed_read(&packed, fd, files->first, why);
	if (!rc)
		rc = unpack_all(fd, &packed, files->first, to, folder, why);
	if (!rc)
		unpack_bookmarks(files, to, folder);
	packed_release(&packed);
	if (fd >= 0)
		close(fd);
	free(folder);
	return rc;
}
