/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * module_files.c - which builds modules are; files of theirs that are kept
 *
 * They are read when a module is mapped: what is on the disk later may be
 * another build, or nothing.
 */
#include "recorder/recorder_internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/elf_parts.h"

/* A choice: larger ones are hardly packed better. */
#define PIECE_SIZE (4u << 20)

/* One that is read. */
struct source {
	const char *path;
	int fd;
	uint64_t size;
	const struct elf_parts *parts;	/* of which what is loaded is left out;
					   NULL: nothing is */
};

/* False: it does not have so many bytes any more. */
static bool read_piece(const struct source *source, uint64_t at, size_t size,
		       struct output *out)
{
	uint8_t *bytes = output_space(out, size);
	size_t done = 0;

	while (bytes && done < size) {
		ssize_t got = pread(source->fd, bytes + done, size - done,
				    (off_t)(at + done));

		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	if (bytes && source->parts)
		elf_parts_blank(source->parts, bytes, at, size);
	return bytes != NULL;
}

/* If it cannot be read to its end, what was written of it counts for nothing. */
static int write_pieces(struct recorder *rec, const struct source *source,
			struct kept_file *out, struct failure *why)
{
	uint32_t number = ++rec->trace.kept_files;
	int rc = 0;

	for (uint64_t at = 0; at < source->size && !rc; at += PIECE_SIZE) {
		uint64_t left = source->size - at;
		bool is_last = left <= PIECE_SIZE;
		struct output piece = { 0 };

		if (!read_piece(source, at,
				is_last ? (size_t)left : PIECE_SIZE, &piece)) {
			output_release(&piece);
			return 0;
		}
		rc = sharing_write_piece(rec, number,
					 is_last ? source->path : NULL, &piece,
					 why);
	}
	*out = (struct kept_file){ source->size, 0, number };
	return rc;
}

static int keep(struct recorder *rec, struct source *source,
		struct kept_file *out, struct failure *why)
{
	struct stat status;
	int rc = 0;

	if (fstat(source->fd, &status) || !S_ISREG(status.st_mode) ||
	    !status.st_size || (uint64_t)status.st_size > KEPT_FILE_MOST)
		return 0;
	source->size = (uint64_t)status.st_size;
	if (sharing_find_file(rec, source->path, out))
		out->size = source->size;
	else
		rc = write_pieces(rec, source, out, why);
	return rc;
}

/* A file of the module; if it has debugging information, all of it. */
static int keep_named(struct recorder *rec, struct source source,
		      const char *module, struct kept_file *out,
		      struct failure *why)
{
	int rc;

	if (source.path)
		source.fd = open(source.path, O_RDONLY | O_CLOEXEC);
	if (source.fd >= 0 && rec->options->join_debug)
		source.fd = rec->options->join_debug(source.fd, source.path,
						     module);
	if (source.fd < 0)
		return 0;
	rc = keep(rec, &source, out, why);
	close(source.fd);
	return rc;
}

static int keep_all(struct recorder *rec, const char *path,
		    const struct elf_parts *parts,
		    struct kept_file files[MODULE_FILES], struct failure *why)
{
	struct source own = { path, -1, 0, parts }, of_debug = { .fd = -1 };
	struct source of_extra = { .fd = -1 };
	char *debug = NULL, *extra = NULL;
	int rc = keep_named(rec, own, path, &files[MODULE_FILE_OWN], why);

	if (rc)
		return rc;
	rec->options->debug_files(path, &debug, &extra);
	of_debug.path = debug;
	of_extra.path = extra;
	rc = keep_named(rec, of_debug, path, &files[MODULE_FILE_DEBUG], why);
	if (!rc)
		rc = keep_named(rec, of_extra, path,
				&files[MODULE_FILE_EXTRA], why);
	free(debug);
	free(extra);
	return rc;
}

/* Whatever cannot be read is not said of it. */
int module_files_add(struct recorder *rec, const char *path,
		     struct output *list, struct failure *why)
{
	struct module_files module = { .path = (char *)(uintptr_t)path };
	struct elf_parts parts;
	int rc = 0, fd;

	if (!path[0] || strlen(path) > REGION_NAME_MAX)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (!elf_parts(&parts, fd)) {
		module.build_id = parts.build_id;
		if (rec->options->debug_files && parts.has_sections)
			rc = keep_all(rec, path, &parts, module.files, why);
		module_files_encode(list, &module);
		elf_parts_release(&parts);
	}
	close(fd);
	return rc;
}

int module_files_write(struct recorder *rec, struct output *list,
		       struct failure *why)
{
	int rc;

	if (!list->size || list->error)
		return 0;
	rc = sharing_write_members(rec, why);
	if (rc)
		return rc;
	return trace_writer_chunk(rec->trace.writer, CHUNK_MODULE_FILES, 0,
				  rec->segment.number, 0, list, why);
}
