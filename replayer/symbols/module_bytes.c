/* SPDX-License-Identifier: GPL-2.0-or-later */
/* module_bytes.c - see module_bytes.h */
#include "replayer/symbols/module_bytes.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/error.h"
#include "formats/file_status.h"
#include "formats/region.h"
#include "replayer/recording/recording.h"
#include "replayer/symbols/debug_search.h"

struct opened_module {
	struct opened_module *next;
	char *path;		/* as the recording has it */
	int fd;			/* of a file with these parts; -1 */
	struct stat status;	/* when that was found out */
	struct fixed_parts parts;
};

/* ------- which file it is ------- */

static bool is_unchanged(const struct opened_module *file)
{
	struct stat now;

	return file->fd >= 0 && !fstat(file->fd, &now) &&
	       is_unchanged_file(&now, &file->status);
}

static void close_file(struct opened_module *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

static bool try_file(struct opened_module *file, const char *path,
		     const struct module_sum *wanted)
{
	struct module_sum found;

	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (file->fd >= 0 && !fstat(file->fd, &file->status) &&
	    !fixed_parts_find(&file->parts, file->fd) &&
	    !fixed_parts_sum(&found, &file->parts, file->fd) &&
	    found.size == wanted->size && found.sum == wanted->sum &&
	    is_unchanged(file))
		return true;
	close_file(file);
	return false;
}

static bool find_file(struct opened_module *file, const struct module_sum *wanted)
{
	bool is_found = try_file(file, file->path, wanted), has_more = true;

	for (unsigned i = 0; !is_found && has_more; i++) {
		char *path = debug_search_module(file->path, i);

		has_more = path;
		is_found = path && try_file(file, path, wanted);
		free(path);
	}
	return is_found;
}

static struct opened_module *add_file(struct module_bytes *bytes,
				    const char *path)
{
	struct opened_module *file = calloc(1, sizeof(*file));
	char *copy = strdup(path);

	if (!file || !copy) {
		free(file);
		free(copy);
		return NULL;
	}
	file->path = copy;
	file->fd = -1;
	file->next = bytes->first;
	bytes->first = file;
	return file;
}

static int open_file(struct module_bytes *bytes, struct recording *recording,
		     const char *path, struct opened_module **out,
		     struct failure *why)
{
	struct opened_module *file = bytes->first;
	struct module_sum sum;
	int rc;

	while (file && strcmp(file->path, path) != 0)
		file = file->next;
	if (!file)
		file = add_file(bytes, path);
	if (!file)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	*out = file;
	if (is_unchanged(file))
		return 0;
	close_file(file);
	rc = recording_module_sum(recording, path, &sum, why);
	if (rc || find_file(file, &sum))
		return rc;
	return failed(why, ERR_NOT_FOUND, "'%s' is not on this machine as it"
		      " was recorded", path);
}

/* ------- reading ------- */

/* The rest of the file's last page, as kernels map it. */
static uint64_t zeros_behind(const struct opened_module *file, uint64_t end)
{
	return end == (uint64_t)file->status.st_size ?
		       -end % GUEST_PAGE : 0;
}

int module_bytes_read(struct module_bytes *bytes, struct recording *recording,
		      const char *path, uint64_t offset, uint8_t *out,
		      size_t *size, struct failure *why)
{
	struct opened_module *file = NULL;
	uint64_t left, zeros;
	size_t part;
	int rc = open_file(bytes, recording, path, &file, why);

	if (rc)
		return rc;
	left = fixed_parts_at(&file->parts, offset);
	if (!left)
		return failed(why, ERR_NOT_FOUND, "it may have been written");
	zeros = zeros_behind(file, offset + left);
	if (*size > left + zeros)
		*size = (size_t)(left + zeros);
	part = *size < left ? *size : (size_t)left;
	memset(out + part, 0, *size - part);
	if (pread(file->fd, out, part, (off_t)offset) != (ssize_t)part ||
	    !is_unchanged(file))
		return failed(why, ERR_NOT_FOUND, "'%s' is changing", path);
	return 0;
}

void module_bytes_release(struct module_bytes *bytes)
{
	while (bytes->first) {
		struct opened_module *file = bytes->first;

		bytes->first = file->next;
		close_file(file);
		free(file->path);
		free(file);
	}
}
