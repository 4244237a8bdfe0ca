/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * files.c - files of the program, read by a debugger
 *
 * Only those that the recording names can be read: what was mapped, programs,
 * and what /proc would say of the process.
 *
 * Source: "Debugging with GDB", appendix E.8, File-I/O.
 */
#include "debugger/server_internal.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "debugger/wire.h"

/* Errors of the protocol. */
enum { FILE_NOT_THERE = 2, FILE_BAD = 9, FILE_DENIED = 13, FILE_INVALID = 22 };

#define READ_FIRST 512u
#define FILES (sizeof(((struct server *)NULL)->files) / sizeof(struct open_file))

static void reply_error(struct server *server, unsigned error)
{
	reply(server, "F-1,%x", error);
}

/* ------- which files ------- */

struct file_search {
	const char *path;
	bool is_found;
};

static int is_mapped_file(void *context, const struct cprec_mapping *mapping)
{
	struct file_search *search = context;

	search->is_found |= !strcmp(mapping->name, search->path);
	return search->is_found;
}

static int is_program(void *context, const struct cprec_program *program)
{
	struct file_search *search = context;

	search->is_found |= !strcmp(program->path, search->path);
	return search->is_found;
}

static bool is_named(struct server *server, const char *path)
{
	struct file_search search = { .path = path };

	if (*path != '/')
		return false;
	cprec_each_mapping(server->cursor, is_mapped_file, &search, NULL);
	if (!search.is_found)
		cprec_each_program(server->recording, is_program, &search,
				   NULL);
	return search.is_found;
}

/* ------- what /proc says ------- */

static int add_mapping(void *context, const struct cprec_mapping *mapping)
{
	struct text *out = context;

	text_add(out, "%08" PRIx64 "-%08" PRIx64 " %c%c%c%c %08" PRIx64
		 " 00:00 0 %s\n", mapping->start, mapping->end,
		 mapping->protection & CPREC_MAY_READ ? 'r' : '-',
		 mapping->protection & CPREC_MAY_WRITE ? 'w' : '-',
		 mapping->protection & CPREC_MAY_EXECUTE ? 'x' : '-',
		 mapping->is_shared ? 's' : 'p', mapping->offset,
		 mapping->name);
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
		return !cprec_each_mapping(server->cursor, add_mapping, out,
					   NULL);
	return !strcmp(path, "cmdline") && make_cmdline(server, out);
}

/* ------- requests ------- */

static struct open_file *file_of(struct server *server, const char **args)
{
	uint64_t number;

	if (!text_read_hex(args, &number) || number >= FILES ||
	    !server->files[number].is_used)
		return NULL;
	return &server->files[number];
}

static struct open_file *free_file(struct server *server)
{
	for (size_t i = 0; i < FILES; i++)
		if (!server->files[i].is_used)
			return &server->files[i];
	return NULL;
}

/* "PATH,FLAGS,MODE" */
static void open_path(struct server *server, const char *path, bool reads)
{
	struct open_file *file = free_file(server);
	struct stat about;

	if (!file || !reads) {
		reply_error(server, FILE_DENIED);
		return;
	}
	*file = (struct open_file){ .fd = -1 };
	if (!make_proc_file(server, path, &file->text)) {
		file->fd = is_named(server, path) ?
				   open(path, O_RDONLY | O_CLOEXEC |
						      O_NONBLOCK) : -1;
		if (file->fd < 0 || fstat(file->fd, &about) ||
		    !S_ISREG(about.st_mode)) {
			if (file->fd >= 0)
				close(file->fd);
			reply_error(server, FILE_NOT_THERE);
			return;
		}
	}
	file->is_used = true;
	reply(server, "F%zx", (size_t)(file - server->files));
}

static void on_open(struct server *server, const char *args)
{
	size_t size = strcspn(args, ",");
	char *path = text_from_hex(args, size);
	uint64_t flags;

	args += size;
	if (!path || *args++ != ',' || !text_read_hex(&args, &flags))
		reply_error(server, FILE_INVALID);
	else
		open_path(server, path, !(flags & 3));
	free(path);
}

static ssize_t read_part(const struct open_file *file, char *bytes,
			 uint64_t size, uint64_t offset)
{
	const struct text *text = &file->text;
	uint64_t left = offset < text->size ? text->size - offset : 0;

	if (file->fd >= 0)
		return pread(file->fd, bytes, size, offset);
	if (left > size)
		left = size;
	if (left)
		memcpy(bytes, text->bytes + offset, left);
	return left;
}

/*
 * How many bytes to tell.  gdb asks for as many as fit into a message, whatever
 * it wants, and takes a system call for each of them where it has started the
 * server.  So it gets little, and twice as much each time that it reads on.
 */
static uint64_t choose_size(struct open_file *file, uint64_t size,
			    uint64_t offset)
{
	file->most = offset == file->next && offset ? 2 * file->most :
						      READ_FIRST;
	/* Escaped, a byte is two. */
	if (file->most > WIRE_MESSAGE_MOST / 2 - 32)
		file->most = WIRE_MESSAGE_MOST / 2 - 32;
	return size < file->most ? size : file->most;
}

/* "FD,SIZE,OFFSET" */
static void on_pread(struct server *server, const char *args)
{
	struct open_file *file = file_of(server, &args);
	uint64_t size, offset;
	ssize_t done = -1;
	char *bytes;

	if (!file || *args++ != ',' || !text_read_hex(&args, &size) ||
	    *args++ != ',' || !text_read_hex(&args, &offset) ||
	    offset > INT64_MAX) {
		reply_error(server, FILE_BAD);
		return;
	}
	size = choose_size(file, size, offset);
	bytes = malloc(size + 1);
	if (bytes)
		done = read_part(file, bytes, size, offset);
	if (done < 0) {
		reply_error(server, FILE_INVALID);
	} else {
		file->next = offset + done;
		text_add(&server->reply, "F%zx;", done);
		text_add_bytes(&server->reply, bytes, done);
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
	if (file->fd >= 0)
		close(file->fd);
	text_release(&file->text);
	file->is_used = false;
	reply(server, "F0");
}

static void put_big(uint8_t **to, uint64_t value, unsigned size)
{
	while (size--)
		*(*to)++ = value >> 8 * size;
}

/* The protocol's own layout, the highest byte first. */
static void on_fstat(struct server *server, const char *args)
{
	const struct open_file *file = file_of(server, &args);
	uint8_t bytes[64] = { 0 }, *to = bytes;
	struct stat about = { .st_mode = S_IFREG | 0444 };

	if (!file) {
		reply_error(server, FILE_BAD);
		return;
	}
	about.st_size = file->text.size;
	if (file->fd >= 0)
		fstat(file->fd, &about);
	put_big(&to, 0, 4);
	put_big(&to, about.st_ino, 4);
	put_big(&to, about.st_mode, 4);
	put_big(&to, 1, 4);
	put_big(&to, 0, 12);
	put_big(&to, about.st_size, 8);
	put_big(&to, 4096, 8);
	put_big(&to, (about.st_size + 511) / 512, 8);
	put_big(&to, about.st_mtime, 4);
	put_big(&to, about.st_mtime, 4);
	put_big(&to, about.st_mtime, 4);
	text_add(&server->reply, "F%zx;", sizeof(bytes));
	text_add_bytes(&server->reply, bytes, sizeof(bytes));
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
	char *path = text_from_hex(args, strlen(args));
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
	{ "fstat:", on_fstat }, { "readlink:", on_readlink },
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
	for (size_t i = 0; i < FILES; i++) {
		struct open_file *file = &server->files[i];

		if (file->is_used && file->fd >= 0)
			close(file->fd);
		text_release(&file->text);
	}
}
