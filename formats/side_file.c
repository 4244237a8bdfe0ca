/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * side_file.c - see side_file.h
 *
 * Records are only ever appended, each in one write, while the file is locked.
 * What is behind the last whole one was cut off while it was written, or is
 * damaged: the next who appends does so in its place.
 */
#include "formats/side_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "formats/array.h"
#include "formats/error.h"
#include "formats/meta.h"
#include "formats/trace_layout.h"

#define MAGIC "\x89" "cpidx\r\n"
#define MAGIC_SIZE 8
#define VERSION 1u
#define HEADER_SIZE 64u
#define RECORD_MAGIC UINT32_C(0x64697063)	/* "cpid" */
#define RECORD_SIZE 56u
#define CHECK_SIZE 8u

/* Higher levels take several times as long for a tenth less. */
#define LEVEL 3

struct side_file {
	char *path;
	uint8_t header[HEADER_SIZE];	/* of one of this recording */
	int fd;			/* -1: there is none, or not of use */
	bool is_foreign;	/* there is one that is to be replaced */
	bool keeps, cannot_keep;
	uint64_t end;		/* of the records that are known */
	struct side_record *list;	/* sorted */
	size_t count, room;
	char note[512];
	bool has_note;
	ZSTD_CCtx *packer;
	ZSTD_DCtx *unpacker;
	struct output bytes;	/* of a record that is written or read */
};

static void say(struct side_file *side, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The first thing that went wrong is told. */
static void say(struct side_file *side, const char *format, ...)
{
	va_list values;

	if (side->has_note)
		return;
	va_start(values, format);
	vsnprintf(side->note, sizeof(side->note), format, values);
	va_end(values);
	side->has_note = true;
}

const char *side_file_note(struct side_file *side)
{
	if (!side->has_note)
		return NULL;
	side->has_note = false;
	return side->note;
}

/* ------- the header ------- */

static void make_header(struct side_file *side, const struct meta *meta)
{
	struct output out = { side->header, 0, HEADER_SIZE, 0 };

	output_bytes(&out, MAGIC, MAGIC_SIZE);
	output_uint(&out, VERSION, 4);
	output_uint(&out, 0, 4);
	output_bytes(&out, meta->run, RUN_ID_SIZE);
	output_uint(&out, meta->started, 8);
	while (out.size < HEADER_SIZE - CHECK_SIZE)
		output_uint(&out, 0, 1);
	output_uint(&out, trace_checksum(side->header, out.size), CHECK_SIZE);
}

/* ------- reading ------- */

static bool read_all(int fd, void *bytes, size_t size, uint64_t offset)
{
	size_t done = 0;
	ssize_t got = 1;

	while (done < size && got > 0) {
		got = pread(fd, (char *)bytes + done, size - done,
			    (off_t)(offset + done));
		if (got < 0 && errno == EINTR)
			got = 1;
		else if (got > 0)
			done += (size_t)got;
	}
	return done == size;
}

static int compare(const struct side_record *a, const struct side_record *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->segment != b->segment)
		return a->segment < b->segment ? -1 : 1;
	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	return 0;
}

/* The first record that is not before this one. */
static size_t lower_bound(const struct side_file *side,
			  const struct side_record *key)
{
	size_t first = 0, last = side->count;

	while (first < last) {
		size_t middle = first + (last - first) / 2;

		if (compare(&side->list[middle], key) < 0)
			first = middle + 1;
		else
			last = middle;
	}
	return first;
}

/* A later record takes the place of one before. */
static int insert(struct side_file *side, const struct side_record *record)
{
	size_t at = lower_bound(side, record);

	if (at < side->count && !compare(&side->list[at], record)) {
		side->list[at] = *record;
		return 0;
	}
	if (array_room(side->list, side->count, side->room))
		return ERR_NO_MEMORY;
	memmove(&side->list[at + 1], &side->list[at],
		(side->count - at) * sizeof(*side->list));
	side->list[at] = *record;
	side->count++;
	return 0;
}

static bool decode_record(const uint8_t bytes[RECORD_SIZE],
			  struct side_record *out)
{
	struct input in = { bytes, bytes + RECORD_SIZE, 0 };
	uint64_t magic = input_uint(&in, 4);

	out->kind = (enum side_kind)input_uint(&in, 4);
	out->segment = input_uint(&in, 8);
	out->place = input_uint(&in, 8);
	out->stored = input_uint(&in, 8);
	out->size = input_uint(&in, 8);
	out->check = input_uint(&in, 8);
	return magic == RECORD_MAGIC && out->stored <= SIDE_CONTENT_MAX &&
	       out->size <= SIDE_CONTENT_MAX &&
	       input_uint(&in, CHECK_SIZE) ==
		       trace_checksum(bytes, RECORD_SIZE - CHECK_SIZE);
}

/*
 * Takes what has been appended since it was looked at.  False without memory;
 * `*whole` is whether it ends with a whole record.
 */
static bool scan(struct side_file *side, bool *whole)
{
	uint8_t bytes[RECORD_SIZE];
	struct side_record record;
	struct stat stat;
	uint64_t size;

	*whole = false;
	if (fstat(side->fd, &stat))
		return true;
	size = (uint64_t)stat.st_size;
	while (side->end + RECORD_SIZE <= size) {
		if (!read_all(side->fd, bytes, RECORD_SIZE, side->end) ||
		    !decode_record(bytes, &record) ||
		    record.stored > size - side->end - RECORD_SIZE)
			return true;
		record.offset = side->end + RECORD_SIZE;
		if (insert(side, &record))
			return false;
		side->end = record.offset + record.stored;
	}
	*whole = side->end == size;
	return true;
}

/* Opens the file that is there, if it is of use. */
static int open_file(struct side_file *side)
{
	uint8_t header[HEADER_SIZE];
	bool whole;

	side->fd = open(side->path, O_RDWR | O_CLOEXEC);
	if (side->fd < 0 && (errno == EACCES || errno == EROFS))
		side->fd = open(side->path, O_RDONLY | O_CLOEXEC);
	if (side->fd < 0) {
		if (errno != ENOENT && errno != ENOTDIR)
			say(side, "cannot open '%s': %s", side->path,
			    strerror(errno));
		return 0;
	}
	if (!read_all(side->fd, header, HEADER_SIZE, 0) ||
	    memcmp(header, side->header, HEADER_SIZE) != 0) {
		if (!side->is_foreign)
			say(side, "'%s' is damaged or of another recording; it"
			    " is made anew", side->path);
		close(side->fd);
		side->fd = -1;
		side->is_foreign = true;
		return 0;
	}
	side->is_foreign = false;
	side->end = HEADER_SIZE;
	if (!scan(side, &whole))
		return ERR_NO_MEMORY;
	if (!whole)
		say(side, "'%s' is damaged; what is missing is made anew",
		    side->path);
	return 0;
}

int side_file_open(struct side_file **out, const struct meta *meta,
		   const char *path, struct failure *why)
{
	struct side_file *side = calloc(1, sizeof(*side));

	if (!side)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	side->fd = -1;
	side->keeps = true;
	side->path = strdup(path);
	side->packer = ZSTD_createCCtx();
	side->unpacker = ZSTD_createDCtx();
	make_header(side, meta);
	if (!side->path || !side->packer || !side->unpacker ||
	    open_file(side)) {
		side_file_close(side);
		return failed(why, ERR_NO_MEMORY, "out of memory");
	}
	*out = side;
	return 0;
}

void side_file_close(struct side_file *side)
{
	if (!side)
		return;
	if (side->fd >= 0)
		close(side->fd);
	ZSTD_freeCCtx(side->packer);
	ZSTD_freeDCtx(side->unpacker);
	output_release(&side->bytes);
	free(side->list);
	free(side->path);
	free(side);
}

void side_file_keep(struct side_file *side, bool keeps)
{
	side->keeps = keeps;
}

uint64_t side_file_size(const struct side_file *side)
{
	return side->fd < 0 ? 0 : side->end;
}

/* ------- records ------- */

/* Takes what others have written meanwhile. */
static void look_again(struct side_file *side)
{
	bool whole;

	if (side->fd >= 0)
		scan(side, &whole);
	else if (!side->cannot_keep)
		open_file(side);	/* another process may have made it */
}

static const struct side_record *find(const struct side_file *side,
				      const struct side_record *key)
{
	size_t at = lower_bound(side, key);

	return at < side->count && !compare(&side->list[at], key) ?
		       &side->list[at] : NULL;
}

const struct side_record *side_file_find(struct side_file *side,
					 enum side_kind kind, uint64_t segment,
					 uint64_t place)
{
	const struct side_record key = {
		.kind = kind, .segment = segment, .place = place,
	};
	const struct side_record *found = find(side, &key);

	if (found)
		return found;
	look_again(side);
	return find(side, &key);
}

const struct side_record *side_file_before(struct side_file *side,
					   enum side_kind kind,
					   uint64_t segment, uint64_t place)
{
	const struct side_record key = {
		.kind = kind, .segment = segment, .place = place,
	};
	size_t at = lower_bound(side, &key);

	if (at < side->count && !compare(&side->list[at], &key))
		return &side->list[at];
	if (!at || side->list[at - 1].kind != kind ||
	    side->list[at - 1].segment != segment)
		return NULL;
	return &side->list[at - 1];
}

const struct side_record *side_file_records(struct side_file *side,
					    size_t *count)
{
	look_again(side);
	*count = side->count;
	return side->list;
}

static void forget(struct side_file *side, const struct side_record *record)
{
	size_t at = (size_t)(record - side->list);

	memmove(&side->list[at], &side->list[at + 1],
		(--side->count - at) * sizeof(*side->list));
}

static bool unpack(struct side_file *side, const struct side_record *record,
		   struct output *out)
{
	uint8_t *stored, *content;

	output_clear(&side->bytes);
	stored = output_space(&side->bytes, record->stored);
	content = output_space(out, record->size);
	return stored && content &&
	       read_all(side->fd, stored, record->stored, record->offset) &&
	       trace_checksum(stored, record->stored) == record->check &&
	       ZSTD_decompressDCtx(side->unpacker, content, record->size,
				   stored, record->stored) == record->size;
}

bool side_file_read(struct side_file *side, const struct side_record *record,
		    struct output *out)
{
	if (unpack(side, record, out))
		return true;
	say(side, "'%s' is damaged; what is missing is made anew", side->path);
	forget(side, record);
	return false;
}

/* ------- writing ------- */

static bool cannot_keep(struct side_file *side, int error)
{
	say(side, "cannot keep what was found in '%s': %s", side->path,
	    strerror(error));
	side->cannot_keep = true;
	return false;
}

/* Whether the path still leads to an open file. */
static bool is_at(int fd, const char *path)
{
	struct stat open, there;

	return !fstat(fd, &open) && !stat(path, &there) &&
	       open.st_dev == there.st_dev && open.st_ino == there.st_ino;
}

/*
 * Replaces the file of another recording by the new file at `path`, while the old
 * one is locked.  If another process has replaced it already, that file stays.
 * Returns an error number.
 */
static int replace(const struct side_file *side, const char *path)
{
	uint8_t header[HEADER_SIZE];
	int fd, error = 0;

	for (;;) {
		fd = open(side->path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			break;
		flock(fd, LOCK_EX);
		if (is_at(fd, side->path))
			break;
		close(fd);
	}
	if ((fd < 0 || !read_all(fd, header, sizeof(header), 0) ||
	     memcmp(header, side->header, sizeof(header))) &&
	    rename(path, side->path))
		error = errno;
	if (fd >= 0)
		close(fd);
	return error;
}

/* A new file with nothing but a header, in the place of what is there. */
static bool make_file(struct side_file *side)
{
	char *path = NULL;
	int fd, error;

	if (asprintf(&path, "%s.XXXXXX", side->path) < 0)
		return cannot_keep(side, ENOMEM);
	fd = mkostemp(path, O_CLOEXEC);
	error = fd < 0 ? errno : 0;
	if (!error &&
	    pwrite(fd, side->header, HEADER_SIZE, 0) != (ssize_t)HEADER_SIZE)
		error = errno ? errno : ENOSPC;
	/* Somebody else may have made one meanwhile: it is as good. */
	if (!error && !side->is_foreign && link(path, side->path) &&
	    errno != EEXIST)
		error = errno;
	if (!error && side->is_foreign)
		error = replace(side, path);
	if (fd >= 0) {
		unlink(path);	/* fails if it was renamed */
		close(fd);
	}
	free(path);
	side->is_foreign = false;
	if (error)
		return cannot_keep(side, error);
	if (open_file(side))
		return cannot_keep(side, ENOMEM);
	return side->fd >= 0;
}

/* The whole record, ready to be written. */
static bool pack(struct side_file *side, struct side_record *record,
		 const uint8_t *content)
{
	struct output *out = &side->bytes;
	size_t room = ZSTD_compressBound(record->size), size;
	uint8_t *bytes;

	output_clear(out);
	bytes = output_space(out, RECORD_SIZE + room);
	if (!bytes)
		return false;
	size = ZSTD_compressCCtx(side->packer, bytes + RECORD_SIZE, room,
				 content, record->size, LEVEL);
	if (ZSTD_isError(size))
		return false;
	record->stored = size;
	record->check = trace_checksum(bytes + RECORD_SIZE, size);
	output_clear(out);
	output_uint(out, RECORD_MAGIC, 4);
	output_uint(out, record->kind, 4);
	output_uint(out, record->segment, 8);
	output_uint(out, record->place, 8);
	output_uint(out, record->stored, 8);
	output_uint(out, record->size, 8);
	output_uint(out, record->check, 8);
	output_uint(out, trace_checksum(bytes, out->size), CHECK_SIZE);
	return output_space(out, size) && !out->error;
}

/* With the lock: behind the last whole record. */
static bool append(struct side_file *side)
{
	uint64_t size = side->bytes.size;
	ssize_t put;
	bool whole;

	if (!scan(side, &whole))
		return cannot_keep(side, ENOMEM);
	if (!whole && ftruncate(side->fd, (off_t)side->end))
		return cannot_keep(side, errno);
	put = pwrite(side->fd, side->bytes.bytes, size, (off_t)side->end);
	if (put == (ssize_t)size)
		return true;
	cannot_keep(side, put < 0 ? errno : ENOSPC);
	if (ftruncate(side->fd, (off_t)side->end))
		return false;	/* what is there is not whole: no harm */
	return false;
}

bool side_file_may_add(const struct side_file *side)
{
	return side->keeps && !side->cannot_keep;
}

bool side_file_add(struct side_file *side, enum side_kind kind,
		   uint64_t segment, uint64_t place, const uint8_t *content,
		   size_t size)
{
	struct side_record record = {
		.kind = kind, .segment = segment, .place = place, .size = size,
	};
	bool done;

	if (!side_file_may_add(side) || size > SIDE_CONTENT_MAX)
		return false;
	if (side->fd < 0 && !make_file(side))
		return false;
	if (!pack(side, &record, content))
		return cannot_keep(side, ENOMEM);
	flock(side->fd, LOCK_EX);
	done = append(side);
	flock(side->fd, LOCK_UN);
	if (!done)
		return false;
	record.offset = side->end + RECORD_SIZE;
	side->end = record.offset + record.stored;
	return !insert(side, &record) || cannot_keep(side, ENOMEM);
}
