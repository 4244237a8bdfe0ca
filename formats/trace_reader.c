/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace_reader.c - reads trace files; see trace_file.h */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "formats/error.h"
#include "formats/packed.h"
#include "formats/trace_lock.h"
#include "formats/trace_reader_internal.h"

/* ------- saying what is wrong ------- */

static int no_memory(struct failure *why)
{
	return failed(why, ERR_NO_MEMORY, "out of memory");
}

int reader_damaged(const struct trace_reader *reader, int code,
		   const char *what, uint64_t offset, const char *field,
		   struct failure *why)
{
	if (code == ERR_NO_MEMORY)
		return no_memory(why);
	return failed(why, (enum error)code,
		      "'%s': %s at byte %" PRIu64 " is damaged (%s)",
		      reader->path, what, offset, field);
}

/* ------- bytes of the file ------- */

int reader_bytes(const struct trace_reader *reader, void *bytes, size_t size,
		 uint64_t offset, struct failure *why)
{
	uint8_t *to = bytes;

	while (size) {
		ssize_t got = pread(reader->fd, to, size,
				    (off_t)(reader->base + offset));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return failed(why, ERR_SYSTEM, "cannot read '%s': %s",
				      reader->path, strerror(errno));
		if (got == 0)
			return failed(why, ERR_TRUNCATED,
				      "'%s' has become shorter", reader->path);
		to += got;
		size -= (size_t)got;
		offset += (uint64_t)got;
	}
	return 0;
}

/* Makes the unpacker ready for a chunk of that many bytes in the file. */
static int prepare(struct unpacker *unpacker, size_t size)
{
	if (!unpacker->context)
		unpacker->context = ZSTD_createDCtx();
	if (unpacker->room < size) {
		free(unpacker->stored);
		unpacker->stored = malloc(size);
		unpacker->room = unpacker->stored ? size : 0;
	}
	return unpacker->context && unpacker->stored ? 0 : ERR_NO_MEMORY;
}

void unpacker_release(struct unpacker *unpacker)
{
	free(unpacker->stored);
	ZSTD_freeDCtx(unpacker->context);
	*unpacker = (struct unpacker){ 0 };
}

static int unpack(const struct trace_reader *reader,
		  const struct chunk_info *info, uint64_t checksum,
		  const struct unpacker *unpacker, uint8_t *content,
		  struct failure *why)
{
	const uint8_t *stored = unpacker->stored + CHUNK_HEADER_SIZE;
	const char *what = chunk_kind_name(info->kind);
	size_t size;

	if (trace_checksum(stored, info->stored_size) != checksum)
		return reader_damaged(reader, ERR_CHECKSUM, what, info->offset,
				      "checksum of its content", why);
	if (info->stored_size == info->size) {
		memcpy(content, stored, info->size);
		return 0;
	}
	size = ZSTD_decompressDCtx(unpacker->context, content, info->size,
				   stored, info->stored_size);
	if (ZSTD_isError(size))
		return reader_damaged(reader, ERR_CORRUPT, what, info->offset,
				      ZSTD_getErrorName(size), why);
	if (size != info->size)
		return reader_damaged(reader, ERR_CORRUPT, what, info->offset,
				      "size of its content", why);
	return 0;
}

static bool is_same(const struct chunk_info *a, const struct chunk_info *b)
{
	return a->kind == b->kind && a->stream == b->stream &&
	       a->segment == b->segment && a->stored_size == b->stored_size &&
	       a->size == b->size && a->first == b->first;
}

static int unpack_into(const struct trace_reader *reader,
		       const struct chunk_info *info,
		       struct unpacker *unpacker, uint8_t *to,
		       struct failure *why)
{
	size_t size = CHUNK_HEADER_SIZE + (size_t)info->stored_size;
	struct chunk_info found = { 0 };
	uint64_t checksum;
	int rc;

	if (prepare(unpacker, size))
		return no_memory(why);
	rc = reader_bytes(reader, unpacker->stored, size, info->offset, why);
	if (rc)
		return rc;
	rc = chunk_header_decode(&found, &checksum, unpacker->stored);
	if (!rc && !is_same(&found, info))
		rc = ERR_CORRUPT;
	if (rc)
		return reader_damaged(reader, rc, chunk_kind_name(info->kind),
				      info->offset, reader_header_problem(rc),
				      why);
	return unpack(reader, info, checksum, unpacker, to, why);
}

int reader_chunk(const struct trace_reader *reader,
		 const struct chunk_info *info, uint8_t **out,
		 struct failure *why)
{
	uint8_t *content = malloc((size_t)info->size + 1);
	struct unpacker unpacker = { 0 };
	int rc;

	if (!content)
		return no_memory(why);
	rc = unpack_into(reader, info, &unpacker, content, why);
	unpacker_release(&unpacker);
	if (rc)
		free(content);
	else
		*out = content;
	return rc;
}

/* ------- opening ------- */

/* Of a packed file, the part that is this recording: "" is the first one. */
static int find_part(struct trace_reader *reader, const char *name,
		     struct failure *why)
{
	const struct packed_member *member;
	struct packed packed;
	int rc = packed_read(&packed, reader->fd, reader->path, why);

	if (rc)
		return rc;
	member = packed_find(&packed, name);
	if (member) {
		reader->base = member->offset;
		reader->size = member->size;
	} else {
		rc = failed(why, ERR_SYSTEM, "cannot open '%s': %s",
			    reader->path, strerror(ENOENT));
	}
	packed_release(&packed);
	return rc;
}

/* A path like "x.cpr/12.cpr" may lead into a packed file. */
static int open_path(const char *path, const char **name)
{
	/* Without O_NONBLOCK a named pipe would wait for a writer. */
	const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
	int fd = open(path, flags);
	char *packed;

	*name = "";
	if (fd >= 0 || errno != ENOTDIR)
		return fd;
	packed = packed_of(path, name);
	if (packed)
		fd = open(packed, flags);
	else
		errno = ENOTDIR;
	free(packed);
	return fd;
}

static int open_file(struct trace_reader *reader, struct failure *why)
{
	struct stat status;
	const char *name;

	reader->fd = open_path(reader->path, &name);
	if (reader->fd < 0 || fstat(reader->fd, &status))
		return failed(why, ERR_SYSTEM, "cannot open '%s': %s",
			      reader->path, strerror(errno));
	if (!S_ISREG(status.st_mode))
		return failed(why, ERR_CORRUPT,
			      "'%s' is not a cprec recording: it is not a"
			      " regular file",
			      reader->path);
	/* In this order: what is whole when the lock has gone is all. */
	reader->is_growing = trace_is_locked(reader->fd);
	if (fstat(reader->fd, &status))
		return failed(why, ERR_SYSTEM, "cannot read '%s': %s",
			      reader->path, strerror(errno));
	reader->size = (uint64_t)status.st_size;
	if (*name || packed_is_open(reader->fd))
		return find_part(reader, name, why);
	return 0;
}

/* A file that is sound, but not for this build. */
static int not_for_us(const struct trace_reader *reader, uint32_t oldest,
		      struct failure *why)
{
	uint32_t features = reader->header.features & ~(uint32_t)FEATURES_KNOWN;
	uint32_t first = features & -features;
	const char *name = trace_feature_name(first);

	if (oldest > TRACE_VERSION)
		return failed(why, ERR_VERSION,
			      "'%s' needs a reader of version %u, this is %u",
			      reader->path, oldest, TRACE_VERSION);
	if (reader->header.version < TRACE_OLDEST)
		return failed(why, ERR_VERSION,
			      "'%s' was made by an older cprec, in version %u of"
			      " the format; this one reads %u and newer: record"
			      " again",
			      reader->path, reader->header.version,
			      TRACE_OLDEST);
	if (name)
		return failed(why, ERR_VERSION,
			      "'%s' needs %s, which this cprec cannot read",
			      reader->path, name);
	return failed(why, ERR_VERSION,
		      "'%s' needs a feature that this cprec does not know (%#x)",
		      reader->path, first);
}

static int read_header(struct trace_reader *reader, struct failure *why)
{
	uint8_t bytes[TRACE_HEADER_SIZE] = { 0 };
	bool is_whole = reader->size >= sizeof(bytes);
	size_t size = is_whole ? sizeof(bytes) : (size_t)reader->size;
	size_t magic = size < TRACE_MAGIC_SIZE ? size : TRACE_MAGIC_SIZE;
	uint32_t oldest = 0;
	int rc = reader_bytes(reader, bytes, size, 0, why);

	if (rc)
		return rc;
	if (memcmp(bytes, TRACE_MAGIC, magic) != 0)
		return failed(why, ERR_CORRUPT, "'%s' is not a cprec recording",
			      reader->path);
	if (!is_whole)
		return failed(why, ERR_TRUNCATED, "'%s' %s", reader->path,
			      reader->is_growing ?
				      "is still being written: there is"
				      " nothing in it yet" :
				      "ends in its header");
	rc = trace_header_decode(&reader->header, &oldest, bytes);
	if (rc == ERR_VERSION)
		return not_for_us(reader, oldest, why);
	if (rc)
		return reader_damaged(reader, rc, "header", 0,
				      rc == ERR_CHECKSUM ? "checksum"
							 : "version,"
							   " features or"
							   " reserved bytes",
				      why);
	return 0;
}

int trace_reader_open(struct trace_reader **out, const char *path,
		      struct failure *why)
{
	struct trace_reader *reader = calloc(1, sizeof(*reader));
	int rc;

	if (!reader)
		return no_memory(why);
	reader->fd = -1;
	reader->path = strdup(path);
	if (!reader->path) {
		rc = no_memory(why);
		goto undo;
	}
	rc = open_file(reader, why);
	if (!rc)
		rc = read_header(reader, why);
	if (!rc)
		rc = reader_find_chunks(reader, why);
	if (rc)
		goto undo;
	*out = reader;
	return 0;

undo:
	trace_reader_close(reader);
	return rc;
}

/* Also ends a reader that trace_reader_open() left half made. */
void trace_reader_close(struct trace_reader *reader)
{
	if (!reader)
		return;
	if (reader->fd >= 0)
		close(reader->fd);
	free(reader->infos);
	free(reader->note);
	free(reader->path);
	free(reader);
}

/* ------- what was found ------- */

const char *trace_reader_path(const struct trace_reader *reader)
{
	return reader->path;
}

const struct trace_header *trace_reader_header(const struct trace_reader *r)
{
	return &r->header;
}

uint64_t trace_reader_size(const struct trace_reader *reader)
{
	return reader->size;
}

bool trace_reader_is_growing(const struct trace_reader *reader)
{
	return reader->is_growing && !reader->is_complete;
}

bool trace_reader_is_complete(const struct trace_reader *reader)
{
	return reader->is_complete;
}

const char *trace_reader_note(const struct trace_reader *reader)
{
	return reader->note;
}

size_t trace_reader_count(const struct trace_reader *reader)
{
	return reader->count;
}

const struct chunk_info *trace_reader_info(const struct trace_reader *reader,
					   size_t index)
{
	assert(index < reader->count);
	return &reader->infos[index];
}

int trace_reader_chunk(const struct trace_reader *reader, size_t index,
		       uint8_t **out, struct failure *why)
{
	return reader_chunk(reader, trace_reader_info(reader, index), out, why);
}

int trace_reader_unpack(const struct trace_reader *reader, size_t index,
			struct unpacker *unpacker, uint8_t *to,
			struct failure *why)
{
	return unpack_into(reader, trace_reader_info(reader, index), unpacker,
			   to, why);
}

int trace_reader_damaged(const struct trace_reader *reader, size_t index,
			 int code, const char *field, struct failure *why)
{
	const struct chunk_info *info = trace_reader_info(reader, index);

	return reader_damaged(reader, code, chunk_kind_name(info->kind),
			      info->offset, field, why);
}
