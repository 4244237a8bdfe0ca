/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * module_sources.c - see module_sources.h
 *
 * Source: gdb's manual, "Debugging Information in Separate Files".
 */
#include "replayer/symbols/module_sources.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>
#include <libelf.h>

#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "replayer/symbols/debug_search.h"
#include "replayer/symbols/lines.h"
#include "replayer/symbols/names.h"

static struct recording *recording_of(struct lines *lines)
{
	return names_recording(lines_names(lines));
}

static int take_kept(struct module_source *out, const struct kept_file *kept)
{
	*out = (struct module_source){ .kept = kept, .fd = -1 };
	return 0;
}

/* Both are taken over. */
static int take_file(struct module_source *out, char *path, int fd)
{
	*out = (struct module_source){ .path = path, .fd = fd };
	return 0;
}

void module_source_release(struct module_source *source)
{
	if (source->fd >= 0)
		close(source->fd);
	free(source->path);
	*source = (struct module_source){ .fd = -1 };
}

/* ------- files of this machine ------- */

static bool read_build_id(int fd, struct build_id *out)
{
	const void *bytes;
	ssize_t size;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	size = elf ? dwelf_elf_gnu_build_id(elf, &bytes) : 0;
	out->size = size > 0 && size <= (ssize_t)BUILD_ID_MOST ?
			    (size_t)size : 0;
	memcpy(out->bytes, out->size ? bytes : "", out->size);
	elf_end(elf);
	return out->size;
}

static bool is_same(const struct build_id *a, const struct build_id *b)
{
	return a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

/* Not one that would have it wait. */
static int open_regular(const char *path, struct stat *status)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0 || (!fstat(fd, status) && S_ISREG(status->st_mode)))
		return fd;
	close(fd);
	return -1;
}

/* What there is of a module: opened, if it is the one that was recorded. */
struct look {
	const struct module_files *module;
	bool is_there;		/* something is, */
	struct build_id found;	/* of this build */
};

static int open_build(struct look *look, const char *path)
{
	const struct module_files *module = look->module;
	uint64_t size = module->files[MODULE_FILE_OWN].size;
	struct stat status;
	int fd = open_regular(path, &status);

	look->is_there = fd >= 0;
	if (fd < 0)
		return -1;
	read_build_id(fd, &look->found);
	if (is_same(&look->found, &module->build_id) &&
	    (!size || (uint64_t)status.st_size == size))
		return fd;
	close(fd);
	return -1;
}

static int not_there(const struct look *look, struct failure *why)
{
	char is[BUILD_ID_TEXT], was[BUILD_ID_TEXT];
	const char *path = look->module->path;

	if (!look->is_there)
		return failed(why, ERR_NOT_FOUND, "'%s' is not on this machine,"
			      " and the recording has not kept it", path);
	return failed(why, ERR_NOT_FOUND, "'%s' is not the file that was"
		      " recorded: %sbuild id %s%sinstead of %s", path,
		      look->found.size ? "" : "no ",
		      build_id_text(is, &look->found),
		      look->found.size ? " " : "",
		      build_id_text(was, &look->module->build_id));
}

/* ------- a module's own ------- */

static int find_moved(struct module_source *out, const struct look *first,
		      struct failure *why)
{
	struct look look = { .module = first->module };

	for (unsigned i = 0;; i++) {
		char *path = debug_search_module(look.module->path, i);
		int fd = path ? open_build(&look, path) : -1;

		if (fd >= 0)
			return take_file(out, path, fd);
		if (!path)
			return not_there(first, why);
		free(path);
	}
}

/* Nothing but its symbols tells which build it was. */
static int find_by_symbols(struct module_source *out, struct lines *lines,
			   const char *path, struct failure *why)
{
	const char *found = lines_module_path(lines, path);
	struct stat status;
	int fd = found ? open_regular(found, &status) : -1;
	char *copy = fd >= 0 ? strdup(found) : NULL;

	if (copy)
		return take_file(out, copy, fd);
	if (fd >= 0)
		close(fd);
	return failed(why, ERR_NOT_FOUND, "'%s' is not on this machine as it"
		      " was recorded, and the recording has not kept it", path);
}

static int find_own(struct module_source *out, struct lines *lines,
		    const struct module_files *module, struct failure *why)
{
	const struct kept_file *kept = &module->files[MODULE_FILE_OWN];
	struct look look = { .module = module };
	char *path;
	int fd = -1;

	if (module->build_id.size)
		fd = open_build(&look, module->path);
	if (fd >= 0) {
		path = strdup(module->path);
		if (path)
			return take_file(out, path, fd);
		close(fd);
		return failed(why, ERR_NO_MEMORY, "out of memory");
	}
	if (kept->size)
		return take_kept(out, kept);
	return module->build_id.size ?
		       find_moved(out, &look, why) :
		       find_by_symbols(out, lines, module->path, why);
}

/* ------- what goes with it ------- */

/* Of what is here, if that has a build id or is the module. */
static int find_debug_here(struct module_source *out, struct lines *lines,
			   const struct module_files *module)
{
	struct module_source own;
	char *debug = NULL, *extra = NULL;
	struct stat status;
	int fd = -1;

	if (module->build_id.size)
		fd = debug_search_build_id(&module->build_id, module->path,
					   &debug);
	if (fd >= 0)
		return take_file(out, debug, fd);
	if (find_own(&own, lines, module, NULL))
		return ERR_NOT_FOUND;
	if (!own.kept)
		debug_search_files(own.path, &debug, &extra);
	module_source_release(&own);
	free(extra);
	fd = debug ? open_regular(debug, &status) : -1;
	if (fd >= 0)
		return take_file(out, debug, fd);
	free(debug);
	return ERR_NOT_FOUND;
}

static int find_debug(struct module_source *out, struct lines *lines,
		      const struct module_files *module, struct failure *why)
{
	const struct kept_file *kept = &module->files[MODULE_FILE_DEBUG];

	if (kept->size)
		return take_kept(out, kept);
	if (!find_debug_here(out, lines, module))
		return 0;
	return failed(why, ERR_NOT_FOUND, "there is no file with debugging"
		      " information of '%s'", module->path);
}

/* ------- by build id ------- */

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns what is behind them. */
static const char *take_digits(const char *at, size_t most,
			       struct build_id *out)
{
	for (; out->size < most && digit(at[0]) >= 0 && digit(at[1]) >= 0;
	     at += 2)
		out->bytes[out->size++] =
			(uint8_t)(digit(at[0]) << 4 | digit(at[1]));
	return at;
}

/* "DIR/.build-id/ab/cdef[.debug]" */
static bool take_build_id(const char *name, struct build_id *out,
			  bool *is_debug)
{
	static const char folder[] = "/.build-id/";
	const char *at = strstr(name, folder);

	out->size = 0;
	if (!at)
		return false;
	at = take_digits(at + sizeof(folder) - 1, 1, out);
	if (*at++ != '/')
		return false;
	at = take_digits(at, BUILD_ID_MOST, out);
	*is_debug = !strcmp(at, ".debug");
	return out->size > 1 && (*is_debug || !*at);
}

/* A file that several refer to has a build id of its own. */
static bool is_extra(struct recording *recording, const struct kept_file *kept,
		     const struct build_id *wanted)
{
	struct build_id found = { .size = 0 };
	int fd = kept->size ? memfd_create("cprec kept", MFD_CLOEXEC) : -1;

	if (fd < 0)
		return false;
	if (!recording_kept_file(recording, kept, fd, NULL))
		read_build_id(fd, &found);
	close(fd);
	return is_same(&found, wanted);
}

static int find_by_build_id(struct module_source *out, struct lines *lines,
			    const struct module_list *modules,
			    const struct build_id *wanted, bool is_debug,
			    struct failure *why)
{
	for (size_t i = 0; i < modules->count; i++)
		if (is_same(&modules->list[i].build_id, wanted))
			return is_debug ? find_debug(out, lines,
						     &modules->list[i], why) :
					  find_own(out, lines,
						   &modules->list[i], why);
	for (size_t i = 0; i < modules->count && is_debug; i++) {
		const struct kept_file *kept =
			&modules->list[i].files[MODULE_FILE_EXTRA];

		if (is_extra(recording_of(lines), kept, wanted))
			return take_kept(out, kept);
	}
	return failed(why, ERR_NOT_FOUND, "nothing that was recorded has this"
		      " build id");
}

/* ------- by link ------- */

/* Whether `name` is "[ABOVE]FOLDER/LINK" or "FOLDER/.debug/LINK". */
static bool is_beside(const char *name, const char *module, const char *link)
{
	size_t folder = (size_t)(strrchr(module, '/') + 1 - module);
	size_t size = strlen(name), of_link = strlen(link);
	size_t rest;

	if (size < of_link + folder || strcmp(name + size - of_link, link))
		return false;
	rest = size - of_link;
	if (rest > 7 && !memcmp(name + rest - 7, ".debug/", 7) &&
	    rest - 7 == folder)
		return !memcmp(name, module, folder);
	return !memcmp(name + rest - folder, module, folder);
}

/* Before its file is opened to look. */
static bool may_be_beside(const char *name, const char *module)
{
	const char *last = strrchr(name, '/');

	return last && strchr(module, '/') &&
	       is_beside(name, module, last + 1);
}

static bool names_link(struct lines *lines, const struct module_files *module,
		       const char *name)
{
	const char *link = NULL;
	struct module_source own;
	GElf_Word crc;
	bool good;
	Elf *elf;

	if (find_own(&own, lines, module, NULL))
		return false;
	if (own.kept)
		own.fd = memfd_create("cprec kept", MFD_CLOEXEC);
	if (own.kept && own.fd >= 0 &&
	    recording_kept_file(recording_of(lines), own.kept, own.fd, NULL)) {
		module_source_release(&own);
		return false;
	}
	elf_version(EV_CURRENT);
	elf = elf_begin(own.fd, ELF_C_READ_MMAP, NULL);
	if (elf)
		link = dwelf_elf_gnu_debuglink(elf, &crc);
	good = link && *link && is_beside(name, module->path, link);
	elf_end(elf);
	module_source_release(&own);
	return good;
}

static int find_by_link(struct module_source *out, struct lines *lines,
			const struct module_list *modules, const char *name,
			struct failure *why)
{
	for (size_t i = 0; i < modules->count; i++) {
		const struct module_files *module = &modules->list[i];

		if (!module->build_id.size &&
		    may_be_beside(name, module->path) &&
		    names_link(lines, module, name))
			return find_debug(out, lines, module, why);
	}
	return failed(why, ERR_NOT_FOUND, "'%s' is no file of the recorded"
		      " program", name);
}

int module_source_find(struct module_source *out, struct lines *lines,
		       const char *name, struct failure *why)
{
	const struct module_list *modules;
	const struct module_files *module;
	struct build_id wanted;
	bool is_debug;
	int rc = recording_modules(recording_of(lines), &modules, why);

	if (rc)
		return rc;
	if (take_build_id(name, &wanted, &is_debug))
		return find_by_build_id(out, lines, modules, &wanted, is_debug,
					why);
	module = module_files_find(modules, name);
	if (module)
		return find_own(out, lines, module, why);
	/* Older recordings have no list. */
	if (!modules->count && names_at_path(lines_names(lines), name))
		return find_by_symbols(out, lines, name, why);
	return find_by_link(out, lines, modules, name, why);
}

/* ------- all of them ------- */

/* Where debuggers look for debugging information. */
static bool is_looked_at(const char *path, const char *module)
{
	static const char folder[] = "/usr/lib/debug/";
	const char *name = strrchr(module, '/');

	return !strncmp(path, folder, sizeof(folder) - 1) ||
	       (name && !strncmp(path, module, (size_t)(name - module) + 1));
}

static bool is_here(struct lines *lines, const struct module_files *module)
{
	struct module_source own, debug;
	bool is_its_own, is_found;

	if (find_own(&own, lines, module, NULL))
		return false;
	is_its_own = !own.kept && !strcmp(own.path, module->path);
	module_source_release(&own);
	if (!is_its_own)
		return false;
	if (find_debug_here(&debug, lines, module))
		return !module->files[MODULE_FILE_DEBUG].size;
	is_found = is_looked_at(debug.path, module->path);
	module_source_release(&debug);
	return is_found;
}

bool module_sources_are_here(struct lines *lines)
{
	const struct module_list *modules;

	if (recording_modules(recording_of(lines), &modules, NULL))
		return false;
	for (size_t i = 0; i < modules->count; i++)
		if (!is_here(lines, &modules->list[i]))
			return false;
	return modules->count;
}
