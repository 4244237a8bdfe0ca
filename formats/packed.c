/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packed.c - see packed.h */
#include "formats/packed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/array.h"
#include "formats/error.h"
#include "formats/trace_layout.h"

#define TRAILER_MAGIC "\x89" "cppke\r\n"
#define ID_SIZE 16
#define CHECKSUM_SIZE 8
#define MEMBER_LEAST 4		/* bytes of one in the directory */
#define SECOND 1000000000

/* ------- the directory ------- */

static void put_directory(struct output *out, const struct packed *packed)
{
	output_varint(out, packed->count);
	for (size_t i = 0; i < packed->count; i++) {
		const struct packed_member *member = &packed->list[i];

		output_text(out, member->name, strlen(member->name));
		output_varint(out, member->size);
		output_signed(out, member->changed.tv_sec);
		output_varint(out, (uint64_t)member->changed.tv_nsec);
	}
}

/* A name in a folder; only the first has none. */
static bool is_name(const char *name, bool is_first)
{
	if (is_first)
		return !*name;
	return *name && !strchr(name, '/') && strcmp(name, ".") != 0 &&
	       strcmp(name, "..") != 0;
}

static int take_member(struct input *in, struct packed *out, uint64_t offset,
		       uint64_t end)
{
	struct packed_member *member;
	const char *name;
	size_t size;

	if (array_room(out->list, out->count, out->room))
		return ERR_NO_MEMORY;
	member = &out->list[out->count];
	*member = (struct packed_member){ .offset = offset };
	name = input_text(in, PACKED_NAME_MAX, &size);
	member->size = input_count(in, end - offset);
	member->changed.tv_sec = input_signed(in);
	member->changed.tv_nsec = (long)input_count(in, SECOND - 1);
	if (in->error)
		return in->error;
	member->name = strndup(size ? name : "", size);
	if (!member->name)
		return ERR_NO_MEMORY;
	out->count++;
	return is_name(member->name, out->count == 1) ? 0 : ERR_CORRUPT;
}

static int by_name(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static int check_names(const struct packed *packed)
{
	const char **names = calloc(packed->count, sizeof(*names));
	bool is_double = false;

	if (!names)
		return ERR_NO_MEMORY;
	for (size_t i = 0; i < packed->count; i++)
		names[i] = packed->list[i].name;
	qsort(names, packed->count, sizeof(*names), by_name);
	for (size_t i = 1; i < packed->count; i++)
		is_double |= !strcmp(names[i - 1], names[i]);
	free(names);
	return is_double ? ERR_CORRUPT : 0;
}

int packed_directory_decode(struct packed *out, uint64_t end,
			    const uint8_t *bytes, size_t size)
{
	struct input in = { bytes, bytes + size, 0 };
	uint64_t count = input_count(&in, size / MEMBER_LEAST);
	uint64_t offset = PACKED_HEADER_SIZE;
	int rc = end < offset ? ERR_CORRUPT : in.error;

	for (uint64_t i = 0; i < count && !rc; i++) {
		rc = take_member(&in, out, offset, end);
		if (!rc)
			offset += out->list[i].size;
	}
	if (!rc && (!count || input_left(&in) || offset != end))
		rc = ERR_CORRUPT;
	if (!rc)
		rc = check_names(out);
	if (rc)
		packed_release(out);
	return rc;
}

void packed_release(struct packed *packed)
{
	for (size_t i = 0; i < packed->count; i++)
		free(packed->list[i].name);
	free(packed->list);
	*packed = (struct packed){ 0 };
}

const struct packed_member *packed_find(const struct packed *packed,
					const char *name)
{
	for (size_t i = 0; i < packed->count; i++)
		if (!strcmp(packed->list[i].name, name))
			return &packed->list[i];
	return NULL;
}

/* ------- header and trailer ------- */

/* Of the header, and of the trailer. */
enum { VERSION_AT = 8, OLDEST_AT = 12, ID_AT = 20, SEAL_AT = 56 };
enum { END_AT = 0, SUM_AT = 8, MAGIC_AT = 16, TRAILER_SEAL_AT = 24 };

static void put(uint8_t *to, uint64_t value, unsigned width)
{
	for (unsigned i = 0; i < width; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get(const uint8_t *from, unsigned width)
{
	struct input in = { from, from + width, 0 };

	return input_uint(&in, width);
}

void packed_header_encode(uint8_t bytes[PACKED_HEADER_SIZE],
			  const uint8_t id[16])
{
	memset(bytes, 0, PACKED_HEADER_SIZE);
	memcpy(bytes, PACKED_MAGIC, PACKED_MAGIC_SIZE);
	put(bytes + VERSION_AT, PACKED_VERSION, 4);
	put(bytes + OLDEST_AT, PACKED_VERSION, 4);
	memcpy(bytes + ID_AT, id, ID_SIZE);
	put(bytes + SEAL_AT, trace_checksum(bytes, SEAL_AT), 8);
}

void packed_end_encode(struct output *out, const struct packed *packed)
{
	uint8_t trailer[PACKED_TRAILER_SIZE];
	uint64_t end = PACKED_HEADER_SIZE;

	for (size_t i = 0; i < packed->count; i++)
		end += packed->list[i].size;
	put_directory(out, packed);
	if (out->error)
		return;
	put(trailer + END_AT, end, 8);
	put(trailer + SUM_AT, trace_checksum(out->bytes, out->size), 8);
	memcpy(trailer + MAGIC_AT, TRAILER_MAGIC, PACKED_MAGIC_SIZE);
	put(trailer + TRAILER_SEAL_AT, trace_checksum(trailer, TRAILER_SEAL_AT),
	    8);
	output_bytes(out, trailer, sizeof(trailer));
}

/* ------- reading ------- */

static int damaged(int code, const char *path, const char *what,
		   struct failure *why)
{
	if (code == ERR_NO_MEMORY)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	return failed(why, (enum error)code,
		      "'%s' is not whole: its %s is damaged", path, what);
}

static int read_bytes(int fd, const char *path, void *bytes, size_t size,
		      uint64_t offset, struct failure *why)
{
	uint8_t *to = bytes;

	while (size) {
		ssize_t got = pread(fd, to, size, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return failed(why, ERR_SYSTEM, "cannot read '%s': %s",
				      path, strerror(errno));
		if (!got)
			return failed(why, ERR_TRUNCATED,
				      "'%s' has become shorter", path);
		to += got;
		size -= (size_t)got;
		offset += (uint64_t)got;
	}
	return 0;
}

static int read_header(struct packed *out, int fd, const char *path,
		       struct failure *why)
{
	uint8_t bytes[PACKED_HEADER_SIZE];
	uint32_t version, oldest;
	int rc = read_bytes(fd, path, bytes, sizeof(bytes), 0, why);

	if (rc)
		return rc;
	if (get(bytes + SEAL_AT, 8) != trace_checksum(bytes, SEAL_AT))
		return damaged(ERR_CHECKSUM, path, "header", why);
	version = (uint32_t)get(bytes + VERSION_AT, 4);
	oldest = (uint32_t)get(bytes + OLDEST_AT, 4);
	if (oldest > PACKED_VERSION)
		return failed(why, ERR_VERSION, "'%s' needs a reader of version"
			      " %u of packed files, this is %u", path, oldest,
			      PACKED_VERSION);
	if (!oldest || version < oldest)
		return damaged(ERR_CORRUPT, path, "header", why);
	for (size_t i = OLDEST_AT + 4; i < SEAL_AT; i++)
		if (bytes[i] && (i < ID_AT || i >= ID_AT + ID_SIZE))
			return damaged(ERR_CORRUPT, path, "header", why);
	memcpy(out->id, bytes + ID_AT, ID_SIZE);
	return 0;
}

/* Where the directory begins, and its checksum. */
static int read_trailer(int fd, const char *path, uint64_t size, uint64_t *end,
			uint64_t *checksum, struct failure *why)
{
	uint8_t bytes[PACKED_TRAILER_SIZE];
	uint64_t at = size - sizeof(bytes);
	int rc = read_bytes(fd, path, bytes, sizeof(bytes), at, why);

	if (rc)
		return rc;
	if (memcmp(bytes + MAGIC_AT, TRAILER_MAGIC, PACKED_MAGIC_SIZE) != 0)
		return failed(why, ERR_TRUNCATED,
			      "'%s' is not whole: its end is missing", path);
	*end = get(bytes + END_AT, 8);
	*checksum = get(bytes + SUM_AT, 8);
	if (get(bytes + TRAILER_SEAL_AT, 8) !=
	    trace_checksum(bytes, TRAILER_SEAL_AT))
		return damaged(ERR_CHECKSUM, path, "trailer", why);
	if (*end < PACKED_HEADER_SIZE || *end > at ||
	    at - *end > PACKED_DIRECTORY_MAX)
		return damaged(ERR_CORRUPT, path, "trailer", why);
	return 0;
}

static int read_directory(struct packed *out, int fd, const char *path,
			  uint64_t file_size, struct failure *why)
{
	uint64_t end = 0, checksum = 0;
	uint8_t *bytes;
	size_t size;
	int rc = read_trailer(fd, path, file_size, &end, &checksum, why);

	if (rc)
		return rc;
	size = (size_t)(file_size - PACKED_TRAILER_SIZE - end);
	bytes = malloc(size + 1);
	if (!bytes)
		return damaged(ERR_NO_MEMORY, path, "directory", why);
	rc = read_bytes(fd, path, bytes, size, end, why);
	if (!rc && trace_checksum(bytes, size) != checksum)
		rc = damaged(ERR_CHECKSUM, path, "directory", why);
	else if (!rc) {
		rc = packed_directory_decode(out, end, bytes, size);
		rc = rc ? damaged(rc, path, "directory", why) : 0;
	}
	free(bytes);
	return rc;
}

int packed_read(struct packed *out, int fd, const char *path,
		struct failure *why)
{
	struct stat status;
	uint8_t id[ID_SIZE];
	int rc;

	*out = (struct packed){ 0 };
	if (fstat(fd, &status))
		return failed(why, ERR_SYSTEM, "cannot read '%s': %s", path,
			      strerror(errno));
	if (status.st_size < PACKED_HEADER_SIZE + PACKED_TRAILER_SIZE)
		return failed(why, ERR_TRUNCATED,
			      "'%s' is not whole: its end is missing", path);
	rc = read_header(out, fd, path, why);
	if (rc)
		return rc;
	memcpy(id, out->id, sizeof(id));
	rc = read_directory(out, fd, path, (uint64_t)status.st_size, why);
	memcpy(out->id, id, sizeof(id));
	return rc;
}

/* ------- paths ------- */

bool packed_is_open(int fd)
{
	char bytes[PACKED_MAGIC_SIZE];

	return pread(fd, bytes, sizeof(bytes), 0) == sizeof(bytes) &&
	       !memcmp(bytes, PACKED_MAGIC, sizeof(bytes));
}

bool packed_is_at(const char *path)
{
	struct stat status;
	bool is_one;
	int fd;

	if (stat(path, &status) || !S_ISREG(status.st_mode))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	is_one = packed_is_open(fd);
	close(fd);
	return is_one;
}

char *packed_of(const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');
	char *packed;

	if (!slash || slash == path || !slash[1])
		return NULL;
	packed = strndup(path, (size_t)(slash - path));
	if (packed && packed_is_at(packed)) {
		*name = slash + 1;
		return packed;
	}
	free(packed);
	return NULL;
}
