/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sources.c - see sources.h */
#include "replayer/session/sources.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/error.h"
#include "replayer/symbols/symbols.h"

#define SIZE_MOST (64u << 20)	/* of a file of source code */

/* ------- where it is ------- */

/* Takes "FOLDER/FILE", if there is such a file. */
static bool try_in(struct source *out, const char *folder, size_t size,
		   const char *file)
{
	struct stat about;
	char *path;

	if (asprintf(&path, "%.*s%s%s", (int)size, folder, size ? "/" : "",
		     file) < 0)
		return false;
	if (stat(path, &about) || !S_ISREG(about.st_mode)) {
		free(path);
		return false;
	}
	out->path = path;
	out->changed = about.st_mtim;
	return true;
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool try_folders(struct source *out, const char *folders,
			const char *file)
{
	const char *at = folders ? folders : "";

	while (*at) {
		size_t size = strcspn(at, ":");

		if (size && (try_in(out, at, size, file + (*file == '/')) ||
			     try_in(out, at, size, name_of(file))))
			return true;
		at += size + (at[size] == ':');
	}
	return false;
}

static bool find(struct source *out, const struct source_line *line,
		 const char *folders)
{
	const char *file = line->file;
	const char *directory = line->directory ? line->directory : "";

	if (try_folders(out, folders, file))
		return true;
	if (*file == '/')
		return try_in(out, "", 0, file) ||
		       try_in(out, "", 0, name_of(file));
	return (*directory && try_in(out, directory, strlen(directory),
				     file)) ||
	       try_in(out, "", 0, file) || try_in(out, "", 0, name_of(file));
}

/* ------- what is in it ------- */

static int read_text(struct source *out, struct failure *why)
{
	FILE *in = fopen(out->path, "r");
	size_t room = 0;

	if (!in)
		return failed(why, ERR_SYSTEM, "cannot open '%s': %s",
			      out->path, strerror(errno));
	do {
		char *text;

		room = room ? 2 * room : 65536;
		text = realloc(out->text, room);
		if (!text) {
			fclose(in);
			return failed(why, ERR_NO_MEMORY, "out of memory");
		}
		out->text = text;
		out->size += fread(text + out->size, 1, room - out->size, in);
	} while (out->size == room && room < SIZE_MOST);
	fclose(in);
	return 0;
}

static int cut(struct source *out, struct failure *why)
{
	size_t count = 0, start = 0;

	for (size_t i = 0; i < out->size; i++)
		count += out->text[i] == '\n';
	out->lines = calloc(count + 1, sizeof(*out->lines));
	if (!out->lines)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	while (start < out->size) {
		const char *end = memchr(out->text + start, '\n',
					 out->size - start);

		out->lines[out->count++] = out->text + start;
		start = end ? (size_t)(end - out->text) + 1 : out->size;
	}
	return 0;
}

static int not_there(const struct source_line *line, struct failure *why)
{
	if (!line->directory || *line->file == '/')
		return failed(why, ERR_NOT_FOUND, "there is no '%s' here;"
			      " --source-dir=DIR says where it is",
			      line->file);
	return failed(why, ERR_NOT_FOUND, "there is no '%s' here, nor in '%s';"
		      " --source-dir=DIR says where it is", line->file,
		      line->directory);
}

int source_open(struct source *out, const struct source_line *line,
		const char *folders, struct failure *why)
{
	int rc;

	*out = (struct source) { 0 };
	if (!find(out, line, folders))
		return not_there(line, why);
	rc = read_text(out, why);
	return rc ? rc : cut(out, why);
}

void source_close(struct source *source)
{
	free(source->path);
	free(source->text);
	free(source->lines);
	*source = (struct source) { 0 };
}

const char *source_text(const struct source *source, size_t line, size_t *size)
{
	const char *start = source->lines[line - 1];
	size_t left = (size_t)(source->text + source->size - start);
	const char *end = memchr(start, '\n', left);

	*size = end ? (size_t)(end - start) : left;
	if (*size && start[*size - 1] == '\r')
		--*size;
	return start;
}
