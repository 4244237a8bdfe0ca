/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kept_files.c - see kept_files.h */
#include "replayer/recording/kept_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/error.h"
#include "formats/region.h"
#include "replayer/recording/chunks.h"
#include "replayer/recording/recording_data.h"

/* ------- modules ------- */

/* Reads all chunks of a kind. */
static int read_chunks(struct recording *recording, enum chunk_kind kind,
		       int (*take)(struct recording *recording,
				   const uint8_t *bytes, size_t size),
		       struct failure *why)
{
	const struct trace_reader *reader = recording->reader;
	size_t count = trace_reader_count(reader);

	for (size_t i = 0; i < count; i++) {
		uint8_t *bytes;
		int rc;

		if (trace_reader_info(reader, i)->kind != kind)
			continue;
		rc = trace_reader_chunk(reader, i, &bytes, why);
		if (rc)
			return rc;
		rc = take(recording, bytes, trace_reader_info(reader, i)->size);
		free(bytes);
		if (rc)
			return recording_damaged(recording, (uint32_t)i, rc,
						 "contents", why);
	}
	return 0;
}

static int take_modules(struct recording *recording, const uint8_t *bytes,
			size_t size)
{
	return module_files_decode(&recording->modules, bytes, size);
}

int recording_modules(struct recording *recording,
		      const struct module_list **out, struct failure *why)
{
	int rc;

	*out = &recording->modules;
	if (recording->has_modules)
		return 0;
	module_files_release(&recording->modules);
	rc = read_chunks(recording, CHUNK_MODULE_FILES, take_modules, why);
	recording->has_modules = !rc;
	return rc;
}

static int take_sums(struct recording *recording, const uint8_t *bytes,
		     size_t size)
{
	return module_sums_decode(&recording->sums, bytes, size);
}

int recording_module_sum(struct recording *recording, const char *path,
			 struct module_sum *out, struct failure *why)
{
	int rc = 0;

	if (!recording->has_sums) {
		module_sums_release(&recording->sums);
		rc = read_chunks(recording, CHUNK_MODULE_SUMS, take_sums, why);
		recording->has_sums = !rc;
	}
	if (rc || module_sums_find(&recording->sums, path, out))
		return rc;
	return failed(why, ERR_NOT_FOUND, "the recording does not say what"
		      " '%s' held", path);
}

/* ------- pieces ------- */

static int find_reader(struct recording *recording,
		       const struct kept_file *file,
		       const struct trace_reader **out, struct failure *why)
{
	struct member_file *member;
	int rc = 0;

	*out = recording->reader;
	if (!file->member)
		return 0;
	rc = members_open(&recording->members, file->member, &member, why);
	if (!rc)
		*out = member->reader;
	return rc;
}

static bool is_piece(const struct chunk_info *info,
		     const struct kept_file *file)
{
	return info->kind == CHUNK_PIECE && info->first == file->number;
}

/* Whether its pieces have the size that it is said to have. */
static int check_size(const struct trace_reader *reader,
		      const struct kept_file *file, struct failure *why)
{
	uint64_t size = 0;

	for (size_t i = 0; i < trace_reader_count(reader); i++)
		if (is_piece(trace_reader_info(reader, i), file))
			size += trace_reader_info(reader, i)->size;
	if (size == file->size)
		return 0;
	return failed(why, ERR_CORRUPT, "'%s' has %" PRIu64 " bytes of kept"
		      " file %" PRIu32 ", not %" PRIu64,
		      trace_reader_path(reader), size, file->number,
		      file->size);
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
	return !bytes[0] && !memcmp(bytes, bytes + 1, size - 1);
}

/* What is left out stays a hole. */
static int write_at(int fd, const uint8_t *bytes, size_t size, uint64_t at,
		    struct failure *why)
{
	for (size_t done = 0; done < size;) {
		size_t left = size - done;
		size_t part = left < GUEST_PAGE ? left : GUEST_PAGE;
		ssize_t wrote = (ssize_t)part;

		if (!is_zero(bytes + done, part))
			wrote = pwrite(fd, bytes + done, part,
				       (off_t)(at + done));
		if (wrote <= 0)
			return failed(why, ERR_SYSTEM,
				      "cannot unpack a kept file: %s",
				      strerror(errno));
		done += (size_t)wrote;
	}
	return 0;
}

static int write_piece(const struct trace_reader *reader, size_t chunk, int fd,
		       uint64_t *at, struct failure *why)
{
	size_t size = trace_reader_info(reader, chunk)->size;
	uint8_t *bytes;
	int rc = trace_reader_chunk(reader, chunk, &bytes, why);

	if (rc)
		return rc;
	rc = write_at(fd, bytes, size, *at, why);
	free(bytes);
	*at += size;
	return rc;
}

int recording_kept_file(struct recording *recording,
			const struct kept_file *file, int fd,
			struct failure *why)
{
	const struct trace_reader *reader;
	uint64_t at = 0;
	int rc = find_reader(recording, file, &reader, why);

	if (!rc)
		rc = check_size(reader, file, why);
	if (!rc && ftruncate(fd, (off_t)file->size))
		rc = failed(why, ERR_SYSTEM, "cannot unpack a kept file: %s",
			    strerror(errno));
	for (size_t i = 0; !rc && i < trace_reader_count(reader); i++)
		if (is_piece(trace_reader_info(reader, i), file))
			rc = write_piece(reader, i, fd, &at, why);
	return rc;
}

int recording_kept_pieces(struct recording *recording,
			  const struct kept_file *file,
			  const struct trace_reader **out,
			  int (*visit)(void *context, size_t chunk,
				       size_t size),
			  void *context, struct failure *why)
{
	int rc = find_reader(recording, file, out, why);

	if (!rc)
		rc = check_size(*out, file, why);
	for (size_t i = 0; !rc && i < trace_reader_count(*out); i++) {
		const struct chunk_info *info = trace_reader_info(*out, i);

		/* An empty one has nothing to read. */
		if (is_piece(info, file) && info->size)
			rc = visit(context, i, info->size);
	}
	return rc;
}

int recording_kept_bytes(struct recording *recording,
			 const struct kept_file *file, uint64_t *bytes,
			 struct failure *why)
{
	const struct trace_reader *reader;
	int rc = find_reader(recording, file, &reader, why);

	*bytes = 0;
	for (size_t i = 0; !rc && i < trace_reader_count(reader); i++)
		if (is_piece(trace_reader_info(reader, i), file))
			*bytes += trace_reader_info(reader, i)->stored_size;
	return rc;
}

uint32_t recording_kept_by(const struct recording *recording,
			   const struct kept_file *file)
{
	if (!file->member || file->member > recording->members.count)
		return 0;
	return recording->members.list[file->member - 1].member.name.pid;
}
