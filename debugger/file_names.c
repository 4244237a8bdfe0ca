/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file_names.c - which file of the recording a debugger means by a name
 *
 * The recording names files as the kernel did, without symbolic links.  The
 * dynamic linker's list, the program's header and whoever executed it may have
 * other names for them: what is mapped where they say tells which file it is.
 */
#include "debugger/server_internal.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct library_name {
	struct library_name *next;
	uint64_t addr;		/* something of it is mapped here */
	char path[];
};

void library_names_add(struct server *server, const char *path, uint64_t addr)
{
	size_t size = strlen(path) + 1;
	struct library_name *name = malloc(sizeof(*name) + size);

	if (!name)
		return;
	name->next = server->library_names;
	name->addr = addr;
	memcpy(name->path, path, size);
	server->library_names = name;
}

void library_names_release(struct server *server)
{
	while (server->library_names) {
		struct library_name *next = server->library_names->next;

		free(server->library_names);
		server->library_names = next;
	}
}

/* ------- what is mapped ------- */

struct mapped_search {
	uint64_t addr;
	char *name;
};

static int take_name(void *context, const struct cprec_mapping *mapping)
{
	struct mapped_search *search = context;

	if (search->addr < mapping->start || mapping->end <= search->addr)
		return 0;
	if (*mapping->name == '/')
		search->name = strdup(mapping->name);
	return 1;
}

/* The file that is mapped there, to be freed; NULL: none is. */
static char *file_at(struct server *server, uint64_t addr)
{
	struct mapped_search search = { .addr = addr };

	if (addr)
		state_each_mapping(server, take_name, &search);
	return search.name;
}

char *program_file_name(struct server *server, const char *path, uint64_t addr)
{
	char *mapped = file_at(server, addr);
	struct stat named, wanted;

	if (mapped && !stat(mapped, &wanted) &&
	    (stat(path, &named) || named.st_dev != wanted.st_dev ||
	     named.st_ino != wanted.st_ino))
		return mapped;
	free(mapped);
	return strdup(path);
}

static bool is_program(struct server *server, const char *path)
{
	struct text its = { 0 };
	struct program_found found = { .path = &its };
	bool same = !find_program_at(server,
				     cprec_cursor_position(server->cursor),
				     &found, NULL) &&
		    its.bytes && !strcmp(its.bytes, path);

	text_release(&its);
	return same;
}

/* Where something of it is; 0: no such name is known. */
static uint64_t addr_of(struct server *server, const char *path)
{
	const struct library_name *name = server->library_names;

	while (name && strcmp(name->path, path) != 0)
		name = name->next;
	if (name)
		return name->addr;
	if (is_program(server, path))
		return program_auxv(server, AT_ENTRY);
	return program_is_interpreter(server, path) ?
		       program_auxv(server, AT_BASE) : 0;
}

/* ------- which it is ------- */

static int is_module(void *context, const struct cprec_module *module)
{
	return !strcmp(module->path, context);
}

static int open_named(struct server *server, const char *path,
		      struct cprec_file **out, struct cprec_failure *why)
{
	int rc = cprec_file_open(out, server->recording, path, why);

	if (rc && server->note &&
	    cprec_each_module(server->recording, is_module,
			      (void *)(uintptr_t)path, NULL) == 1)
		server->note(why->text);
	return rc;
}

int program_file_open(struct server *server, const char *path,
		      struct cprec_file **out, struct cprec_failure *why)
{
	int rc = open_named(server, path, out, why);
	char *mapped;

	if (rc != CPREC_NOT_FOUND)
		return rc;
	mapped = file_at(server, addr_of(server, path));
	if (mapped && strcmp(mapped, path) != 0)
		rc = open_named(server, mapped, out, why);
	free(mapped);
	return rc;
}

char *program_file_mapped(struct server *server, const char *path)
{
	return file_at(server, addr_of(server, path));
}

/* ------- all of them ------- */

struct listing {
	struct cprec_recording *recording;
	struct text *out;
};

static int tell_module(void *context, const struct cprec_module *module)
{
	const struct listing *listing = context;
	struct cprec_failure why;
	struct cprec_file *file;
	const char *path;

	if (cprec_file_open(&file, listing->recording, module->path, &why)) {
		text_add(listing->out, "- %s: %s\n", module->path, why.text);
		return 0;
	}
	path = cprec_file_describe(file)->path;
	if (!path)
		text_add(listing->out, "+ %s: in the recording\n",
			 module->path);
	else
		text_add(listing->out, "+ %s: %s on this machine\n",
			 module->path,
			 strcmp(path, module->path) ? path : "the same");
	cprec_file_close(file);
	return 0;
}

int files_tell(struct server *server, const char *args, struct text *out,
	       struct cprec_failure *why)
{
	struct listing listing = { server->recording, out };

	(void)args;
	return cprec_each_module(server->recording, tell_module, &listing,
				 why);
}
