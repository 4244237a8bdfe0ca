/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kernel_programs.c - see kernel_programs.h */
#include "replayer/session/kernel_programs.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/session/kernel_internal.h"
#include "replayer/session/kernel_modules.h"

/* A file that was looked for. */
struct program_file {
	uint64_t structure;	/* of the kernel's, that has it open */
	char *path;
	size_t module;		/* of the names, or MODULE_NONE */
};

struct kernel_programs {
	struct query *query;
	struct names *names;
	struct kernel *kernel;	/* made when first needed */
	bool has_none;		/* there is no such kernel */
	struct machine_view seen;	/* when something was shown last, */
	uint64_t table;		/* of this process; 0: of the present one */
	struct program_file *files;
	size_t count, room;
};

/* ------- a file ------- */

static bool is_page_same(int a, int b, uint64_t page)
{
	uint8_t of_a[GUEST_PAGE], of_b[GUEST_PAGE];
	off_t at = (off_t)(page << GUEST_PAGE_SHIFT);
	ssize_t size = pread(a, of_a, sizeof(of_a), at);

	return size > 0 && pread(b, of_b, sizeof(of_b), at) == size &&
	       !memcmp(of_a, of_b, (size_t)size);
}

static bool is_same(int candidate, int kept, uint64_t size, const uint8_t *has)
{
	struct stat status;

	if (fstat(candidate, &status) || !S_ISREG(status.st_mode) ||
	    (uint64_t)status.st_size != size)
		return false;
	for (uint64_t i = 0; i < (size + GUEST_PAGE - 1) >> GUEST_PAGE_SHIFT;
	     i++)
		if (has[i] && !is_page_same(candidate, kept, i))
			return false;
	return true;
}

static int find_in_folders(const char *path, int kept, uint64_t size,
			   const uint8_t *has)
{
	for (unsigned i = 0;; i++) {
		char *name = debug_search_module(path, i);
		int fd = name ? open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK |
				     O_NOCTTY) : -1;

		if (fd >= 0 && is_same(fd, kept, size, has)) {
			free(name);
			return fd;
		}
		if (fd >= 0)
			close(fd);
		if (!name)
			return -1;
		free(name);
	}
}

static size_t open_file(struct kernel_programs *programs,
			const struct kernel_mapping *mapping)
{
	uint64_t size;
	uint8_t *has;
	size_t lacks;
	int fd = kernel_file_bytes(programs->kernel, mapping->file, &size,
				   &has, &lacks);

	if (fd < 0)
		return MODULE_NONE;
	if (lacks) {
		int found = find_in_folders(mapping->name, fd, size, has);

		close(fd);
		fd = found;
	}
	free(has);
	return fd < 0 ? MODULE_NONE :
			names_add_file(programs->names, mapping->name, fd);
}

/* What was not found stays so: folders do not change. */
static size_t find_file(struct kernel_programs *programs,
			const struct kernel_mapping *mapping)
{
	struct program_file *file = programs->files;

	for (size_t i = 0; i < programs->count; i++, file++)
		if (file->structure == mapping->file &&
		    !strcmp(file->path, mapping->name))
			return file->module;
	if (array_room(programs->files, programs->count, programs->room))
		return MODULE_NONE;
	file = &programs->files[programs->count];
	file->path = strdup(mapping->name);
	if (!file->path)
		return MODULE_NONE;
	file->structure = mapping->file;
	file->module = open_file(programs, mapping);
	programs->count++;
	return file->module;
}

/* ------- a process ------- */

static int take_mapping(void *context, const struct kernel_mapping *mapping)
{
	struct kernel_programs *programs = context;
	struct module_part part = {
		mapping->start, mapping->end, mapping->offset, MODULE_NONE,
	};

	if (mapping->file && mapping->name[0])
		part.module = find_file(programs, mapping);
	if (part.module != MODULE_NONE)
		names_add_part(programs->names, &part);
	return 0;
}

/* Where the replay stands elsewhere, nothing is known. */
static bool stands_at(const struct kernel_programs *programs, uint64_t t)
{
	struct replayer *replayer = programs->query->replayer;

	return replayer && replayer_position(replayer).time == t;
}

static void look(const struct query *query, struct machine_view *out)
{
	const struct address_space *space = &query->space;

	replayer_machine(query->replayer, space->has_core ? space->core :
			 replayer_stream(query->replayer), out);
}

static void show(void *context, uint64_t t)
{
	struct kernel_programs *programs = context;
	const struct address_space space = programs->query->space;

	programs->seen = (struct machine_view){ 0 };
	if (programs->has_none || space.is_physical || !stands_at(programs, t))
		return;
	if (!programs->kernel &&
	    kernel_create(&programs->kernel, programs->query, NULL)) {
		programs->has_none = true;
		return;
	}
	if (!kernel_stay(programs->kernel, NULL))
		kernel_each_in(programs->kernel,
			       kernel_memory(programs->kernel, &space),
			       take_mapping, programs);
	kernel_leave(programs->kernel);
	look(programs->query, &programs->seen);
	programs->table = space.table;
}

/* While a program executes, it maps nothing. */
static bool stays(void *context, uint64_t t)
{
	const struct kernel_programs *programs = context;
	const struct query *query = programs->query;
	struct machine_view view = { 0 };

	if (query->space.is_physical || !stands_at(programs, t))
		return false;
	look(query, &view);
	return kernel_is_same_stay(&view, &programs->seen) &&
	       query->space.table == programs->table;
}

/* Without them, addresses have no names. */
static void add_lasting(void *context)
{
	struct kernel_programs *programs = context;

	kernel_modules_add(programs->query, programs->names, NULL);
}

int kernel_programs_create(struct kernel_programs **out, struct query *query,
			   struct names *names, struct failure *why)
{
	struct kernel_programs *programs = calloc(1, sizeof(*programs));
	const struct names_asked asked = { show, stays, add_lasting, programs };

	if (!programs)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	programs->query = query;
	programs->names = names;
	if (recording_is_machine(query->recording))
		names_ask(names, &asked);
	*out = programs;
	return 0;
}

void kernel_programs_destroy(struct kernel_programs *programs)
{
	if (!programs)
		return;
	names_ask(programs->names, NULL);
	kernel_destroy(programs->kernel);
	for (size_t i = 0; i < programs->count; i++)
		free(programs->files[i].path);
	free(programs->files);
	free(programs);
}
