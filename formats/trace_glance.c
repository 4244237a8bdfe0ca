/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace_glance.c - see trace_glance.h */
#include "formats/trace_glance.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/error.h"
#include "formats/packed.h"
#include "formats/trace_layout.h"
#include "formats/trace_lock.h"

#define ID_OFFSET 20	/* in the header, of all versions */

static int cannot_open(const char *path, struct failure *why)
{
	return failed(why, ERR_SYSTEM, "cannot open '%s': %s", path,
		      strerror(errno));
}

static int no_recording(const char *path, const struct stat *status,
			struct failure *why)
{
	const char *more = "";

	if (S_ISDIR(status->st_mode))
		more = ": it is a folder";
	else if (S_ISLNK(status->st_mode))
		more = ": it is a symbolic link";
	else if (!S_ISREG(status->st_mode))
		more = ": it is not a regular file";
	return failed(why, ERR_CORRUPT, "'%s' is not a cprec recording%s", path,
		      more);
}

/* All magics are of one size. */
static bool begins_like(const uint8_t *bytes, size_t size, const char *magic)
{
	return !memcmp(bytes, magic,
		       size < TRACE_MAGIC_SIZE ? size : TRACE_MAGIC_SIZE);
}

/* The header of an open file; that of a packed one has the id there too. */
static int look_inside(struct trace_glance *out, int fd, const char *path,
		       const struct stat *status, struct failure *why)
{
	uint8_t bytes[TRACE_HEADER_SIZE];
	ssize_t got = pread(fd, bytes, sizeof(bytes), 0);
	size_t size = got > 0 ? (size_t)got : 0;

	if (got < 0)
		return failed(why, ERR_SYSTEM, "cannot read '%s': %s", path,
			      strerror(errno));
	out->is_packed = begins_like(bytes, size, PACKED_MAGIC);
	if (!out->is_packed && !begins_like(bytes, size, TRACE_MAGIC))
		return no_recording(path, status, why);
	if (size < sizeof(bytes))
		return failed(why, ERR_TRUNCATED, "'%s' ends in its header",
			      path);
	memcpy(out->id, bytes + ID_OFFSET, sizeof(out->id));
	return 0;
}

int trace_glance(struct trace_glance *out, int folder, const char *path,
		 bool follow, struct failure *why)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	struct stat status;
	int fd, rc;

	*out = (struct trace_glance){ 0 };
	if (fstatat(folder, path, &status, follow ? 0 : AT_SYMLINK_NOFOLLOW))
		return cannot_open(path, why);
	if (!S_ISREG(status.st_mode))
		return no_recording(path, &status, why);
	fd = openat(folder, path, follow ? flags : flags | O_NOFOLLOW);
	if (fd < 0)
		return cannot_open(path, why);
	out->size = (uint64_t)status.st_size;
	out->changed = status.st_mtim;
	out->device = status.st_dev;
	out->number = status.st_ino;
	rc = look_inside(out, fd, path, &status, why);
	out->is_locked = trace_is_locked(fd);
	close(fd);
	return rc;
}

bool trace_is_same_file(const struct trace_glance *a,
			const struct trace_glance *b)
{
	return a->device == b->device && a->number == b->number;
}

bool trace_is_same_family(const struct trace_glance *a,
			  const struct trace_glance *b)
{
	return !memcmp(a->id, b->id, sizeof(a->id));
}
