/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bookmarks.c - see bookmarks.h */
#include "formats/bookmarks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/array.h"
#include "formats/error.h"
#include "formats/family_path.h"
#include "formats/meta.h"

#define FILE_MAX (BOOKMARKS_MAX * (2 * BOOKMARK_TEXT_MAX + 200u))

static int no_memory(struct failure *why)
{
	return failed(why, ERR_NO_MEMORY, "out of memory");
}

/* ------- names and texts ------- */

bool bookmark_name_is_good(const char *name)
{
	static const char *const others[] = { "start", "end", "main",
					      "output" };
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
	size_t size = strlen(name);

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(name, others[i]))
			return false;
	return size && size < BOOKMARK_NAME_ROOM &&
	       !strchr("0123456789", *name) && strspn(name, letters) == size;
}

/* Nothing that a terminal would obey. */
bool bookmark_text_is_good(const char *text)
{
	const char *at = text;

	while ((unsigned char)*at >= ' ' && *at != '\x7f')
		at++;
	return !*at && at - text <= (int)BOOKMARK_TEXT_MAX;
}

/* ------- the list ------- */

void bookmarks_release(struct bookmarks *bookmarks)
{
	for (size_t i = 0; i < bookmarks->count; i++)
		free(bookmarks->list[i].text);
	free(bookmarks->list);
	*bookmarks = (struct bookmarks){ 0 };
}

struct bookmark *bookmarks_find(const struct bookmarks *bookmarks,
				const char *name)
{
	for (size_t i = 0; i < bookmarks->count; i++)
		if (!strcmp(bookmarks->list[i].name, name))
			return &bookmarks->list[i];
	return NULL;
}

void bookmarks_remove(struct bookmarks *bookmarks, struct bookmark *bookmark)
{
	size_t at = (size_t)(bookmark - bookmarks->list);

	free(bookmark->text);
	memmove(bookmark, bookmark + 1,
		(--bookmarks->count - at) * sizeof(*bookmark));
}

static int by_position(const void *left, const void *right)
{
	const struct bookmark *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->events != b->events)
		return a->events < b->events ? -1 : 1;
	return strcmp(a->name, b->name);
}

int bookmarks_set(struct bookmarks *bookmarks, const struct bookmark *bookmark,
		  struct failure *why)
{
	struct bookmark added = *bookmark, *old;

	old = bookmarks_find(bookmarks, bookmark->name);
	if (!old && bookmarks->count == BOOKMARKS_MAX)
		return failed(why, ERR_INPUT, "there are %u bookmarks already",
			      BOOKMARKS_MAX);
	added.text = strdup(bookmark->text);
	if (!added.text || array_room(bookmarks->list, bookmarks->count,
				      bookmarks->room)) {
		free(added.text);
		return no_memory(why);
	}
	old = bookmarks_find(bookmarks, bookmark->name);
	if (old)
		bookmarks_remove(bookmarks, old);
	bookmarks->list[bookmarks->count++] = added;
	qsort(bookmarks->list, bookmarks->count, sizeof(*bookmarks->list),
	      by_position);
	return 0;
}

/* ------- bytes ------- */

#define RUN_TEXT (2 * RUN_ID_SIZE + 1)

static void print_run(char text[RUN_TEXT], const uint8_t *run)
{
	for (size_t i = 0; i < RUN_ID_SIZE; i++)
		snprintf(text + 2 * i, 3, "%02x", run[i]);
}

/* What is left of a line. */
struct line {
	const char *at, *end;
};

static bool take(struct line *line, const char *word)
{
	size_t size = strlen(word);

	if ((size_t)(line->end - line->at) < size ||
	    memcmp(line->at, word, size) != 0)
		return false;
	line->at += size;
	return true;
}

/* A string up to its quote; only a quote and a backslash are escaped. */
static bool take_text(struct line *line, char *out, size_t room)
{
	size_t size = 0;

	for (;; line->at++) {
		if (line->at == line->end || !*line->at)
			return false;
		if (*line->at == '"')
			break;
		if (size + 1 == room)
			return false;
		if (*line->at == '\\') {
			line->at++;
			if (line->at == line->end || !strchr("\"\\", *line->at))
				return false;
		}
		out[size++] = *line->at;
	}
	out[size] = '\0';
	line->at++;
	return true;
}

static bool take_number(struct line *line, uint64_t most, uint64_t *out)
{
	const char *first = line->at;

	for (*out = 0; line->at < line->end && *line->at >= '0' &&
		       *line->at <= '9'; line->at++) {
		uint64_t digit = (uint64_t)(*line->at - '0');

		if (*out > (most - digit) / 10)
			return false;
		*out = *out * 10 + digit;
	}
	return line->at > first;
}

static bool take_bookmark(struct line *line, struct bookmark *out)
{
	uint64_t events = 0;

	if (!take(line, "{\"name\": \"") ||
	    !take_text(line, out->name, sizeof(out->name)) ||
	    !bookmark_name_is_good(out->name) || !take(line, ", \"at\": \"") ||
	    !take_number(line, UINT64_MAX, &out->time) ||
	    (take(line, ".") && !take_number(line, UINT32_MAX - 1, &events)) ||
	    !take(line, "\", \"text\": \""))
		return false;
	out->events = (uint32_t)events;
	return take_text(line, out->text, BOOKMARK_TEXT_MAX + 1) &&
	       bookmark_text_is_good(out->text) && take(line, "}") &&
	       line->at == line->end;
}

static bool next_line(struct line *line, const char **bytes, const char *end)
{
	line->at = *bytes;
	line->end = line->at < end ?
			    memchr(line->at, '\n', (size_t)(end - line->at)) :
			    NULL;
	if (line->end)
		*bytes = line->end + 1;
	return line->end != NULL;
}

int bookmarks_decode(struct bookmarks *out, const uint8_t *run,
		     const char *bytes, size_t size)
{
	const char *end = bytes + size;
	char text[BOOKMARK_TEXT_MAX + 1], found[RUN_TEXT], wanted[RUN_TEXT];
	struct bookmark bookmark = { .text = text };
	struct line line;
	int rc = 0;

	*out = (struct bookmarks){ 0 };
	print_run(wanted, run);
	if (!next_line(&line, &bytes, end) ||
	    !take(&line, "{\"recording\": \"") ||
	    !take_text(&line, found, sizeof(found)) || !take(&line, "}") ||
	    line.at != line.end)
		return ERR_CORRUPT;
	/* What an earlier recording of this name has left. */
	if (strcmp(found, wanted) != 0)
		return 0;
	while (!rc && next_line(&line, &bytes, end))
		rc = take_bookmark(&line, &bookmark) &&
		     !bookmarks_find(out, bookmark.name) ?
			     bookmarks_set(out, &bookmark, NULL) : ERR_CORRUPT;
	if (!rc && bytes != end)
		rc = ERR_CORRUPT;
	if (rc)
		bookmarks_release(out);
	return rc == ERR_INPUT ? ERR_CORRUPT : rc;
}

static void write_text(FILE *file, const char *text)
{
	for (; *text; text++) {
		if (strchr("\"\\", *text))
			putc('\\', file);
		putc(*text, file);
	}
}

static void write_bookmark(FILE *file, const struct bookmark *bookmark)
{
	fprintf(file, "{\"name\": \"%s\", \"at\": \"%" PRIu64, bookmark->name,
		bookmark->time);
	if (bookmark->events)
		fprintf(file, ".%" PRIu32, bookmark->events);
	fputs("\", \"text\": \"", file);
	write_text(file, bookmark->text);
	fputs("\"}\n", file);
}

/* ------- files ------- */

static int cannot(const char *what, const char *path, struct failure *why)
{
	return failed(why, ERR_SYSTEM, "cannot %s '%s': %s", what, path,
		      strerror(errno));
}

/* All of a regular file; `*bytes` is NULL if there is none. */
static int read_file(const char *path, char **bytes, size_t *size,
		     struct failure *why)
{
	struct stat status;
	ssize_t got = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	*bytes = NULL;
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ?
			       0 : cannot("open", path, why);
	if (fstat(fd, &status) || !S_ISREG(status.st_mode) ||
	    status.st_size > (off_t)FILE_MAX) {
		close(fd);
		return failed(why, ERR_CORRUPT, "'%s' has no bookmarks", path);
	}
	*size = (size_t)status.st_size;
	*bytes = malloc(*size + 1);
	if (*bytes)
		got = read(fd, *bytes, *size);
	close(fd);
	if (!*bytes)
		return no_memory(why);
	if (got == (ssize_t)*size)
		return 0;
	free(*bytes);
	*bytes = NULL;
	return cannot("read", path, why);
}

int bookmarks_read(struct bookmarks *out, const char *recording,
		   const struct meta *meta, struct failure *why)
{
	char *path = family_bookmarks_file(recording), *bytes = NULL;
	size_t size;
	int rc = path ? read_file(path, &bytes, &size, why) : no_memory(why);

	*out = (struct bookmarks){ 0 };
	if (bytes) {
		rc = bookmarks_decode(out, meta->run, bytes, size);
		if (rc == ERR_CORRUPT)
			failed(why, rc, "'%s' has no bookmarks: it is damaged,"
			       " or was made by something else", path);
		else if (rc)
			no_memory(why);
	}
	free(bytes);
	free(path);
	return rc;
}

/* Whole, or not at all. */
static int replace(const char *path, const char *bytes, size_t size,
		   struct failure *why)
{
	char *made = NULL;
	int fd, rc = 0;

	if (asprintf(&made, "%s.XXXXXX", path) < 0)
		return no_memory(why);
	fd = mkostemp(made, O_CLOEXEC);
	errno = fd < 0 ? errno : ENOSPC;
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || fsync(fd) ||
	    rename(made, path)) {
		rc = cannot("write", path, why);
		if (fd >= 0)
			unlink(made);
	}
	if (fd >= 0)
		close(fd);
	free(made);
	return rc;
}

int bookmarks_write(const struct bookmarks *bookmarks, const char *recording,
		    const struct meta *meta, struct failure *why)
{
	char *path = family_bookmarks_file(recording), *bytes = NULL;
	char run[RUN_TEXT];
	size_t size = 0;
	FILE *file = path ? open_memstream(&bytes, &size) : NULL;
	int rc = file ? 0 : no_memory(why);

	if (!rc) {
		print_run(run, meta->run);
		fprintf(file, "{\"recording\": \"%s\"}\n", run);
		for (size_t i = 0; i < bookmarks->count; i++)
			write_bookmark(file, &bookmarks->list[i]);
		if (fclose(file))
			rc = no_memory(why);
	}
	if (!rc && bookmarks->count)
		rc = replace(path, bytes, size, why);
	else if (!rc && unlink(path) && errno != ENOENT)
		rc = cannot("remove", path, why);
	free(bytes);
	free(path);
	return rc;
}
