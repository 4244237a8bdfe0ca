/* SPDX-License-Identifier: GPL-2.0-or-later */
/* copy_bytes.c - see copy_bytes.h */
#include "tools/copy_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/error.h"

#define PIECE (1u << 20)	/* bytes at a time */

static int cannot_write(const char *path, struct failure *why)
{
	return failed(why, ERR_SYSTEM, "cannot write '%s': %s", path,
		      strerror(errno));
}

int write_bytes(int to, const char *to_path, const void *bytes, size_t size,
		struct failure *why)
{
	const uint8_t *at = bytes;

	while (size) {
		ssize_t written = write(to, at, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return cannot_write(to_path, why);
		at += written;
		size -= (size_t)written;
	}
	return 0;
}

/* Reads some; there must be some. */
static int read_piece(const struct bytes_source *from, uint64_t done,
		      uint8_t *piece, size_t *size, struct failure *why)
{
	uint64_t left = from->size - done;
	size_t wanted = left < PIECE ? (size_t)left : PIECE;
	ssize_t got;

	do {
		got = pread(from->fd, piece, wanted,
			    (off_t)(from->offset + done));
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return failed(why, ERR_SYSTEM, "cannot read '%s': %s",
			      from->path, strerror(errno));
	if (!got)
		return failed(why, ERR_TRUNCATED, "'%s' has become shorter",
			      from->path);
	*size = (size_t)got;
	return 0;
}

int copy_bytes(int to, const char *to_path, const struct bytes_source *from,
	       struct failure *why)
{
	uint8_t *piece = malloc(PIECE);
	uint64_t done = 0;
	size_t size = 0;
	int rc = 0;

	if (!piece)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	while (done < from->size && !rc) {
		rc = read_piece(from, done, piece, &size, why);
		if (!rc)
			rc = write_bytes(to, to_path, piece, size, why);
		done += size;
	}
	free(piece);
	return rc;
}

int copy_file(const char *to, const struct bytes_source *from,
	      const struct timespec *changed, struct failure *why)
{
	const struct timespec times[2] = { *changed, *changed };
	int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int rc;

	if (fd < 0)
		return failed(why, ERR_SYSTEM, "cannot create '%s': %s", to,
			      strerror(errno));
	rc = copy_bytes(fd, to, from, why);
	/* Without its time, it is still all there. */
	if (!rc && futimens(fd, times) && errno == EIO)
		rc = cannot_write(to, why);
	if (close(fd) && !rc)
		rc = cannot_write(to, why);
	if (rc)
		unlink(to);
	return rc;
}
