/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * files.c - files of the program, read by a debugger
 *
 * Only files of the recorded program can be read, which the recording has or of
 * which this machine has the same build, and what /proc would say of the
 * process.
 *
 * Source: "Debugging with GDB", appendix E.8, File-I/O.
 */
#include "debugger/server_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "debugger/wire.h"

/* Errors of the protocol. */
enum { FILE_NOT_THERE = 2, FILE_UNREADABLE = 5, FILE_BAD = 9, FILE_DENIED = 13,
       FILE_INVALID = 22, FILE_TOO_MANY = 24 };

/* A debugger has one open for each library, and one for what goes with it. */
#define FILES_MOST 65536u

struct open_file {
	bool is_used;
	struct cprec_file *file;	/* NULL: */
	struct text text;		/* these bytes, */
	uint64_t size;			/* and zeros, if that is more */
	uint32_t name;			/* a number for its path */
	uint64_t next, piece;		/* where the last piece ended; its size */
};

static void reply_error(struct server *server, unsigned error)
{
	reply(server, "F-1,%x", error);
}

/* FNV-1a: debuggers ask by such a number whether two files are one. */
static uint32_t number_of(const char *path)
{
	uint32_t number = 0x811c9dc5;

	for (; *path; path++)
		number = (number ^ (uint8_t)*path) * 0x01000193;
	return number ? number : 1;
}

/* ------- what /proc says ------- */

static int add_mapping(void *context, const struct cprec_mapping *mapping)
{
	struct text *out = context;
	uint32_t number = *mapping->name == '/' ? number_of(mapping->name) : 0;

	/* Of what has no number, a debugger takes nothing for a file. */
	text_add(out, "%08" PRIx64 "-%08" PRIx64 " %c%c%c%c %08" PRIx64
		 " 00:00 %" PRIu32 " %s\n", mapping->start, mapping->end,
		 mapping->protection & CPREC_MAY_READ ? 'r' : '-',
		 mapping->protection & CPREC_MAY_WRITE ? 'w' : '-',
		 mapping->protection & CPREC_MAY_EXECUTE ? 'x' : '-',
		 mapping->is_shared ? 's' : 'p', mapping->offset,
		 number, mapping->name);
	return 0;
}

static bool make_cmdline(struct server *server, struct text *out)
{
	const struct cprec_info *info;

	if (cprec_describe(server->recording, &info, NULL))
		return false;
	for (const char *const *arg = info->argv; *arg; arg++)
		text_add_bytes(out, *arg, strlen(*arg) + 1);
	return true;
}

/* False: there is no such file. */
static bool make_proc_file(struct server *server, const char *path,
			   struct text *out)
{
	char name[64];
	int size = snprintf(name, sizeof(name), "/proc/%" PRIu32 "/",
			    server->pid);

	if (strncmp(path, name, size))
		return false;
	path += size;
	if (!strncmp(path, "task/", 5))
		path = strchr(path + 5, '/') ? strchr(path + 5, '/') + 1 : "";
	if (!strcmp(path, "maps"))
		return !state_each_mapping(server, add_mapping, out);
	return !strcmp(path, "cmdline") && make_cmdline(server, out);
}

/* ------- opening ------- */

static struct open_file *file_of(struct server *server, const char **args)
{
	uint64_t number;

	if (!text_read_hex(args, &number) || number >= server->file_count ||
	    !server->files[number].is_used)
		return NULL;
	return &server->files[number];
}

static struct open_file *free_file(struct server *server)
{
	size_t count = server->file_count, more = count + 16;
	struct open_file *files;

	for (size_t i = 0; i < count; i++)
		if (!server->files[i].is_used)
			return &server->files[i];
	if (more > FILES_MOST)
		return NULL;
	files = reallocarray(server->files, more, sizeof(*files));
	if (!files)
		return NULL;
	memset(files + count, 0, (more - count) * sizeof(*files));
	server->files = files;
	server->file_count = more;
	return &files[count];
}

/* 0, or an error of the protocol. */
static unsigned open_path(struct server *server, const char *path,
			  struct open_file *out)
{
	struct cprec_failure why;
	int rc;

	*out = (struct open_file){ .name = number_of(path) };
	if (make_proc_file(server, path, &out->text))
		return 0;
	text_release(&out->text);
	rc = *path == '/' && !kernel_file_is(server, path) ?
		     program_file_open(server, path, &out->file, &why) :
			    CPREC_NOT_FOUND;
	if (!rc)
		return 0;
	if (rc != CPREC_NOT_FOUND)
		return FILE_UNREADABLE;
	return *path == '/' && program_file_make(server, path, &out->text, &out->size) ?
		       0 : FILE_NOT_THERE;
}

static void close_file(struct open_file *file)
{
	cprec_file_close(file->file);
	text_release(&file->text);
	*file = (struct open_file){ 0 };
}

/* NULL: it is none; so is one with a NUL in it. */
static char *take_path(const char *digits, size_t size)
{
	char *path = text_from_hex(digits, size);

	if (path && strlen(path) == size / 2)
		return path;
	free(path);
	return NULL;
}

/* "PATH,FLAGS,MODE" */
static void on_open(struct server *server, const char *args)
{
	size_t size = strcspn(args, ",");
	char *path = take_path(args, size);
	struct open_file *file = free_file(server);
	unsigned error = 0;
	uint64_t flags;

	args += size;
	if (!path || *args++ != ',' || !text_read_hex(&args, &flags))
		error = FILE_INVALID;
	else if (flags & 3)
		error = FILE_DENIED;
	else if (!file)
		error = FILE_TOO_MANY;
	else
		error = open_path(server, path, file);
	free(path);
	if (error) {
		reply_error(server, error);
		return;
	}
	file->is_used = true;
	reply(server, "F%zx", (size_t)(file - server->files));
}

/* ------- reading ------- */

static uint64_t size_of(const struct open_file *file)
{
	if (file->file)
		return cprec_file_describe(file->file)->length;
	return file->size > file->text.size ? file->size : file->text.size;
}

static bool read_part(const struct open_file *file, char *bytes, uint64_t size,
		      uint64_t offset, uint64_t *done)
{
	const struct text *text = &file->text;
	uint64_t left = offset < text->size ? text->size - offset : 0;
	uint64_t all = size_of(file);

	if (file->file)
		return !cprec_file_read(file->file, offset, bytes, size, done,
					NULL);
	*done = offset < all ? all - offset : 0;
	if (*done > size)
		*done = size;
	if (left > *done)
		left = *done;
	if (left)
		memcpy(bytes, text->bytes + offset, left);
	memset(bytes + left, 0, *done - left);
	return true;
}

/*
 * Debuggers read ahead as much as a message has, and look at a few bytes of
 * that: so pieces are small until somebody reads on.
 */
#define PIECE_LEAST UINT64_C(1024)

static uint64_t piece_at(struct open_file *file, uint64_t offset,
			 uint64_t wanted)
{
	/* Escaped, a byte is two. */
	const uint64_t most = WIRE_MESSAGE_MOST / 2 - 32;
	bool reads_on = file->piece && offset == file->next;

	file->piece = reads_on ? 2 * file->piece : PIECE_LEAST;
	if (file->piece > most)
		file->piece = most;
	return wanted < file->piece ? wanted : file->piece;
}

/* "FD,SIZE,OFFSET" */
static void on_pread(struct server *server, const char *args)
{
	struct open_file *file = file_of(server, &args);
	uint64_t size, offset, done;
	char *bytes;

	if (!file || *args++ != ',' || !text_read_hex(&args, &size) ||
	    *args++ != ',' || !text_read_hex(&args, &offset) ||
	    offset > INT64_MAX) {
		reply_error(server, FILE_BAD);
		return;
	}
	size = piece_at(file, offset, size);
	bytes = malloc(size + 1);
	if (!bytes || !read_part(file, bytes, size, offset, &done)) {
		reply_error(server, FILE_UNREADABLE);
	} else {
		text_add(&server->reply, "F%" PRIx64 ";", done);
		text_add_bytes(&server->reply, bytes, done);
		file->next = offset + done;
	}
	free(bytes);
}

static void on_close(struct server *server, const char *args)
{
	struct open_file *file = file_of(server, &args);

	if (!file) {
		reply_error(server, FILE_BAD);
		return;
	}
	close_file(file);
	reply(server, "F0");
}

/* ------- what files are ------- */

static void put_big(uint8_t **to, uint64_t value, unsigned size)
{
	while (size--)
		*(*to)++ = value >> 8 * size;
}

/* The protocol's own layout, the highest byte first. */
static void reply_status(struct server *server, const struct open_file *file)
{
	uint8_t bytes[64] = { 0 }, *to = bytes;
	uint64_t size = size_of(file), changed = 0;

	if (file->file)
		changed = cprec_file_describe(file->file)->changed;
	put_big(&to, 0, 4);
	put_big(&to, file->name, 4);
	put_big(&to, S_IFREG | 0444, 4);
	put_big(&to, 1, 4);
	put_big(&to, 0, 12);
	put_big(&to, size, 8);
	put_big(&to, 4096, 8);
	put_big(&to, (size + 511) / 512, 8);
	put_big(&to, changed, 4);
	put_big(&to, changed, 4);
	put_big(&to, changed, 4);
	text_add(&server->reply, "F%zx;", sizeof(bytes));
	text_add_bytes(&server->reply, bytes, sizeof(bytes));
}

static void on_fstat(struct server *server, const char *args)
{
	const struct open_file *file = file_of(server, &args);

	if (file)
		reply_status(server, file);
	else
		reply_error(server, FILE_BAD);
}

static void on_stat(struct server *server, const char *args)
{
	char *path = take_path(args, strlen(args));
	struct open_file file = { 0 };
	unsigned error = path ? open_path(server, path, &file) : FILE_INVALID;

	if (error)
		reply_error(server, error);
	else
		reply_status(server, &file);
	close_file(&file);
	free(path);
}

static const char *link_of(struct server *server, const char *path)
{
	const struct cprec_info *info;
	char name[64];
	int size = snprintf(name, sizeof(name), "/proc/%" PRIu32 "/",
			    server->pid);

	if (strncmp(path, name, size) ||
	    cprec_describe(server->recording, &info, NULL))
		return NULL;
	return !strcmp(path + size, "exe") ? info->program :
	       !strcmp(path + size, "cwd") ? info->directory : NULL;
}

static void on_readlink(struct server *server, const char *args)
{
	char *path = take_path(args, strlen(args));
	const char *target = path ? link_of(server, path) : NULL;

	if (target) {
		text_add(&server->reply, "F%zx;", strlen(target));
		text_add_bytes(&server->reply, target, strlen(target));
	} else {
		reply_error(server, FILE_INVALID);
	}
	free(path);
}

static void on_namespace(struct server *server, const char *args)
{
	(void)args;	/* all of them see what the recording has */
	reply(server, "F0");
}

static const struct {
	const char *name;
	void (*run)(struct server *server, const char *args);
} requests[] = {
	{ "setfs:", on_namespace }, { "open:", on_open },
	{ "pread:", on_pread }, { "close:", on_close },
	{ "fstat:", on_fstat }, { "stat:", on_stat },
	{ "readlink:", on_readlink },
};

void on_file(struct server *server, const char *args)
{
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		size_t size = strlen(requests[i].name);

		if (!strncmp(args, requests[i].name, size)) {
			requests[i].run(server, args + size);
			return;
		}
	}
}

void open_files_release(struct server *server)
{
	for (size_t i = 0; i < server->file_count; i++)
		close_file(&server->files[i]);
	free(server->files);
}
