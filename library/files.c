/* SPDX-License-Identifier: GPL-2.0-or-later */
/* files.c - files of the recorded program */
#include "library/handles.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct cprec_file {
	struct cprec_recording *of;
	struct cprec_file *next;	/* of the same recording */
	struct module_source source;
	struct kept_parts parts;	/* if it is kept */
	struct cprec_file_info info;
};

PUBLIC int cprec_each_module(struct cprec_recording *handle,
			     int (*visit)(void *context,
					  const struct cprec_module *module),
			     void *context, struct cprec_failure *why)
{
	const struct module_list *modules = NULL;
	int rc = question_begin(handle, false, why);

	if (!rc)
		rc = recording_modules(handle->recording, &modules,
				       inner(why));
	for (size_t i = 0; !rc && i < modules->count; i++) {
		const struct module_files *files = &modules->list[i];
		char build_id[BUILD_ID_TEXT];
		const struct cprec_module module = {
			.path = files->path,
			.build_id = files->build_id.size ?
				build_id_text(build_id, &files->build_id) :
				NULL,
			.kept = files->files[MODULE_FILE_OWN].size,
			.kept_debug = files->files[MODULE_FILE_DEBUG].size,
		};

		rc = visit(context, &module);
	}
	return rc;
}

PUBLIC int cprec_each_module_symbol(
	struct cprec_recording *handle, const char *path,
	int (*visit)(void *context, const struct cprec_module_symbol *symbol),
	void *context, struct cprec_failure *why)
{
	const struct symbols *symbols;
	int rc = question_begin(handle, false, why);

	if (rc)
		return rc;
	symbols = names_at_path(lines_names(handle->lines), path);
	if (!symbols)
		return failed(inner(why), ERR_NOT_FOUND,
			      "there are no symbols of '%s'", path);
	for (size_t i = 0; i < symbols->count && !rc; i++) {
		const struct symbol *one = &symbols->list[i];
		const struct cprec_module_symbol symbol = {
			.addr = one->addr, .length = one->size,
			.kind = symbol_kind(one->type),
			.is_thumb = one->is_thumb, .name = one->name,
		};

		rc = visit(context, &symbol);
	}
	return rc;
}

/* ------- opening ------- */

static int open_source(struct cprec_file *file, struct failure *why)
{
	const struct kept_file *kept = file->source.kept;
	struct stat status;

	if (kept) {
		file->info.length = kept->size;
		return kept_parts_open(&file->parts, file->of->recording, kept,
				       why);
	}
	if (fstat(file->source.fd, &status))
		return failed(why, ERR_SYSTEM, "cannot read '%s': %s",
			      file->source.path, strerror(errno));
	file->info.length = (uint64_t)status.st_size;
	file->info.changed = status.st_mtime;
	file->info.path = file->source.path;
	return 0;
}

PUBLIC int cprec_file_open(struct cprec_file **out,
			   struct cprec_recording *handle, const char *name,
			   struct cprec_failure *why)
{
	struct cprec_file *file = NULL;
	struct module_source source;
	int rc = question_begin(handle, false, why);

	if (!rc)
		rc = module_source_find(&source, handle->lines, name,
					inner(why));
	if (rc)
		return rc;
	file = calloc(1, sizeof(*file));
	if (!file) {
		module_source_release(&source);
		return failed(inner(why), ERR_NO_MEMORY, "out of memory");
	}
	file->of = handle;
	file->source = source;
	file->next = handle->files;
	handle->files = file;
	rc = open_source(file, inner(why));
	if (rc)
		cprec_file_close(file);
	else
		*out = file;
	return rc;
}

PUBLIC void cprec_file_close(struct cprec_file *file)
{
	struct cprec_file **at;

	if (!file)
		return;
	for (at = &file->of->files; *at != file; at = &(*at)->next)
		;
	*at = file->next;
	kept_parts_release(&file->parts);
	module_source_release(&file->source);
	free(file);
}

void close_files(struct cprec_recording *handle)
{
	while (handle->files)
		cprec_file_close(handle->files);
	kept_pieces_release(&handle->pieces);
}

/* ------- reading ------- */

PUBLIC const struct cprec_file_info *
cprec_file_describe(struct cprec_file *file)
{
	return &file->info;
}

static int read_here(const struct cprec_file *file, uint64_t offset,
		     uint8_t *bytes, uint64_t length, uint64_t *done,
		     struct failure *why)
{
	while (*done < length) {
		ssize_t got = pread(file->source.fd, bytes + *done,
				    length - *done, (off_t)(offset + *done));

		if (!got)
			return 0;
		if (got < 0)
			return failed(why, ERR_SYSTEM, "cannot read '%s': %s",
				      file->source.path, strerror(errno));
		*done += (uint64_t)got;
	}
	return 0;
}

PUBLIC int cprec_file_read(struct cprec_file *file, uint64_t offset,
			   void *bytes, uint64_t length, uint64_t *done,
			   struct cprec_failure *why)
{
	struct cprec_recording *handle = file->of;
	int rc = question_begin(handle, false, why);

	*done = 0;
	if (rc || offset >= file->info.length)
		return rc;
	if (length > file->info.length - offset)
		length = file->info.length - offset;
	if (!file->source.kept)
		return read_here(file, offset, bytes, length, done,
				 inner(why));
	rc = kept_parts_read(&file->parts, &handle->pieces, offset, bytes,
			     length, inner(why));
	if (!rc)
		*done = length;
	return rc;
}
