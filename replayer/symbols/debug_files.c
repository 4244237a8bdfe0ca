/* SPDX-License-Identifier: GPL-2.0-or-later */
/* debug_files.c - see debug_files.h */
#include "replayer/symbols/debug_files.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/array.h"
#include "formats/family_path.h"
#include "replayer/recording/recording.h"
#include "replayer/symbols/debug_search.h"
#include "replayer/symbols/file_symbols.h"
#include "replayer/symbols/kernel_object.h"
#include "replayer/symbols/names.h"
#include "replayer/symbols/split_join.h"

#define PIECES_MOST 16u		/* of memory that a kernel's module is in */

struct debug_file {
	const struct symbols *symbols;
	struct recording *recording;
	const struct module_files *recorded;	/* NULL: nothing is known */
	Dwfl *session;
	Dwfl_Module *module;	/* NULL: there is no such file */
	Dwarf *extra;		/* to its debugging information, if kept */
	int extra_fd;
	struct kernel_object object;	/* of a kernel's module */
	char *object_path;
	int object_fd;
};

/* ------- what the recording keeps ------- */

static bool is_kept(const struct debug_file *file, enum module_file which)
{
	return file->recorded && file->recorded->files[which].size;
}

/* In memory: no other process can change what is read there. */
static int open_kept(const struct debug_file *file, enum module_file which)
{
	int fd = is_kept(file, which) ? memfd_create("cprec kept", MFD_CLOEXEC) :
					-1;

	if (fd >= 0 && recording_kept_file(file->recording,
					   &file->recorded->files[which], fd,
					   NULL)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* The folder of the recording, or of its family's first one; NULL: none. */
static char *recording_folder(const struct debug_file *file)
{
	struct family_path path;
	char *folder = NULL, *slash;

	if (family_path_find(&path, recording_file_path(file->recording)))
		return NULL;
	slash = strrchr(path.first, '/');
	folder = slash ? strndup(path.first, (size_t)(slash - path.first)) :
			 strdup(".");
	family_path_release(&path);
	return folder;
}

/* With the units that were split from it. */
static int join(const struct debug_file *file, int fd, const char *path)
{
	char *folder = recording_folder(file);
	const struct debug_place place = {
		.file = path ? path : file->symbols->path,
		.module = file->symbols->path,
		.recording = folder,
	};

	fd = split_join(fd, &place);
	free(folder);
	return fd;
}

static char *search_path;

static int find_debuginfo(Dwfl_Module *module, void **data, const char *name,
			  Dwarf_Addr base, const char *path, const char *link,
			  GElf_Word crc, char **found)
{
	const struct debug_file *file = *data;
	int fd = open_kept(file, MODULE_FILE_DEBUG);

	search_path = debug_search_path();
	if (fd < 0)
		fd = debug_search_open(module, data, name, base, path, link,
				       crc, found);
	return fd < 0 ? fd : join(file, fd, *found);
}

/* Never asks servers for what is not on this machine. */
static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &search_path,
};

/* ------- whether it is the one ------- */

/* So many symbols are looked at to tell whether a file is the one. */
#define SAMPLES 64u

/* Whether the file has the symbols that were recorded. */
static bool has_symbols(Dwfl_Module *module, const struct symbols *symbols)
{
	size_t step = symbols->count / SAMPLES + 1;
	struct symbol_tables tables = { 0 };
	size_t looked = 0, same = 0;

	for (size_t i = 0; i < symbols->count; i += step) {
		const struct symbol *symbol = &symbols->list[i];
		GElf_Off offset;
		GElf_Sym found;
		const char *name;

		if (symbol->type != SYMBOL_FUNCTION)
			continue;
		looked++;
		name = file_symbol_at(&tables, module, symbol->addr, &offset,
				      &found);
		same += name && offset == 0;
	}
	symbol_tables_release(&tables);
	return same * 10 >= looked * 9;
}

static void read_build_id(Dwfl_Module *module, struct build_id *out)
{
	const uint8_t *bytes;
	GElf_Addr ignored;
	int size = dwfl_module_build_id(module, &bytes, &ignored);

	out->size = size > 0 && size <= (int)BUILD_ID_MOST ? (size_t)size : 0;
	if (out->size)
		memcpy(out->bytes, bytes, out->size);
}

static bool has_build_id(const struct debug_file *file)
{
	return file->recorded && file->recorded->build_id.size;
}

/* Another version of it would name the wrong lines. */
static bool is_same(const struct debug_file *file,
		    const struct build_id *found)
{
	const struct build_id *wanted;

	if (!has_build_id(file))
		return has_symbols(file->module, file->symbols);
	wanted = &file->recorded->build_id;
	return found->size == wanted->size &&
	       !memcmp(found->bytes, wanted->bytes, wanted->size);
}

/* ------- opening ------- */

/* Once for all threads, which may open files at the same time. */
static void find_search_path(void)
{
	search_path = debug_search_path();
}

static pthread_once_t has_search_path = PTHREAD_ONCE_INIT;

/* `fd` is taken over. */
static bool begin(struct debug_file *file, const char *path, int fd)
{
	void **data;

	pthread_once(&has_search_path, find_search_path);
	fd = join(file, fd, path);
	file->session = dwfl_begin(&callbacks);
	if (file->session)
		file->module = dwfl_report_elf(file->session, path, path, fd,
					       0, true);
	if (!file->module) {
		close(fd);
		return false;
	}
	dwfl_module_info(file->module, &data, NULL, NULL, NULL, NULL, NULL,
			 NULL);
	*data = file;
	return !dwfl_report_end(file->session, NULL, NULL);
}

static void end(struct debug_file *file)
{
	if (file->session)
		dwfl_end(file->session);
	file->session = NULL;
	file->module = NULL;
}

/* What its debugging information refers to, which libdw would look for. */
static void add_extra(struct debug_file *file)
{
	Dwarf_Addr bias;
	Dwarf *dwarf;

	file->extra_fd = open_kept(file, MODULE_FILE_EXTRA);
	if (file->extra_fd < 0)
		return;
	dwarf = dwfl_module_getdwarf(file->module, &bias);
	file->extra = dwarf_begin(file->extra_fd, DWARF_C_READ);
	if (dwarf && file->extra)
		dwarf_setalt(dwarf, file->extra);
}

static bool begin_kept(struct debug_file *file)
{
	int fd = open_kept(file, MODULE_FILE_OWN);

	if (fd < 0)
		return false;
	if (!begin(file, file->symbols->path, fd)) {
		end(file);
		return false;
	}
	add_extra(file);
	return true;
}

/* Not one that would have it wait. */
static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;

	if (fd < 0 || (!fstat(fd, &status) && S_ISREG(status.st_mode)))
		return fd;
	close(fd);
	return -1;
}

enum found { FOUND_NOTHING, FOUND_ANOTHER, FOUND_IT };

/* `*build_id` is that of a file that is another one. */
static enum found begin_at(struct debug_file *file, const char *path,
			   struct build_id *build_id)
{
	enum found found = FOUND_NOTHING;
	int fd = open_regular(path);

	if (fd >= 0 && begin(file, path, fd)) {
		read_build_id(file->module, build_id);
		found = is_same(file, build_id) ? FOUND_IT : FOUND_ANOTHER;
	}
	if (found != FOUND_IT)
		end(file);
	return found;
}

static void tell_other_build(const struct debug_file *file,
			     const struct build_id *found)
{
	char is[BUILD_ID_TEXT], was[BUILD_ID_TEXT], *text;

	if (asprintf(&text, "'%s' is not the file that was recorded:"
		     " %sbuild id %s%sinstead of %s", file->symbols->path,
		     found->size ? "" : "no ", build_id_text(is, found),
		     found->size ? " " : "",
		     build_id_text(was, &file->recorded->build_id)) < 0)
		return;
	debug_search_note(text);
	free(text);
}

/* Of a process on a machine. */
static bool begin_own(struct debug_file *file, const struct names *names)
{
	int fd = names_file(names, file->symbols);

	if (fd >= 0)
		fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return false;
	if (!begin(file, file->symbols->path, fd))
		end(file);
	return true;
}

/* ------- modules of a machine's kernel ------- */

static int find_object(Dwfl_Module *module, void **data, const char *name,
		       Dwarf_Addr base, char **path, Elf **elf)
{
	const struct debug_file *file = *data;

	(void)module;
	(void)name;
	(void)base;
	(void)elf;
	*path = strdup(file->object_path);
	return fcntl(file->object_fd, F_DUPFD_CLOEXEC, 0);
}

static int find_section(Dwfl_Module *module, void **data, const char *name,
			Dwarf_Addr base, const char *section, GElf_Word number,
			const GElf_Shdr *header, Dwarf_Addr *out)
{
	const struct debug_file *file = *data;

	(void)module;
	(void)name;
	(void)base;
	(void)section;
	(void)header;
	*out = number < file->object.count ? file->object.sections[number] :
					     OBJECT_NOWHERE;
	return 0;
}

static const Dwfl_Callbacks object_callbacks = {
	.find_elf = find_object,
	.find_debuginfo = find_debuginfo,
	.section_address = find_section,
	.debuginfo_path = &search_path,
};

static bool begin_object(struct debug_file *file,
			 const struct kernel_pieces *pieces)
{
	uint64_t start = UINT64_MAX, end_addr = 0;
	void **data;

	for (size_t i = 0; i < pieces->count; i++) {
		if (pieces->list[i]->link_base < start)
			start = pieces->list[i]->link_base;
		if (pieces->list[i]->link_end > end_addr)
			end_addr = pieces->list[i]->link_end;
	}
	pthread_once(&has_search_path, find_search_path);
	file->session = dwfl_begin(&object_callbacks);
	if (file->session)
		file->module = dwfl_report_module(file->session,
						  file->symbols->path, start,
						  end_addr);
	if (!file->module)
		return false;
	dwfl_module_info(file->module, &data, NULL, NULL, NULL, NULL, NULL,
			 NULL);
	*data = file;
	return !dwfl_report_end(file->session, NULL, NULL) &&
	       has_symbols(file->module, file->symbols);
}

static void end_object(struct debug_file *file)
{
	end(file);
	kernel_object_release(&file->object);
	free(file->object_path);
	file->object_path = NULL;
	if (file->object_fd >= 0)
		close(file->object_fd);
	file->object_fd = -1;
}

struct object_visit {
	struct debug_file *file;
	const struct kernel_pieces *pieces;
	char *other;		/* one that is another build */
};

static bool try_object(void *context, const char *path)
{
	struct object_visit *visit = context;
	struct debug_file *file = visit->file;

	file->object_fd = open_regular(path);
	if (file->object_fd < 0)
		return false;
	file->object_path = strdup(path);
	if (file->object_path &&
	    kernel_object_place(&file->object, file->object_fd,
				visit->pieces) &&
	    begin_object(file, visit->pieces))
		return true;
	if (!visit->other && kernel_object_is_called(path, file->symbols->path))
		visit->other = strdup(path);
	end_object(file);
	return false;
}

static void tell_other_object(const struct debug_file *file, const char *path)
{
	char *text;

	if (asprintf(&text, "'%s' is not the module '%s' that was recorded: its"
		     " symbols are others", path, file->symbols->path) < 0)
		return;
	debug_search_note(text);
	free(text);
}

/* "6.1.0-50-arm64": it is in the name of the kernel's file. */
static const char *release_of(const struct names *names)
{
	const struct symbols *kernel = names_kernel(names);
	const char *dash = kernel ? strchr(kernel->path, '-') : NULL;

	return dash ? dash + 1 : "";
}

/* Whether it is one; its file may be there. */
static bool open_object(struct debug_file *file, const struct names *names)
{
	const struct symbols *list[PIECES_MOST];
	struct kernel_pieces pieces = {
		list, 0, names_sections(names, file->symbols->path),
	};
	struct object_visit visit = { file, &pieces, NULL };

	while (pieces.count < PIECES_MOST &&
	       (list[pieces.count] = names_lasting(names, file->symbols,
						   pieces.count)))
		pieces.count++;
	if (!pieces.count)
		return false;
	if (!kernel_object_search(file->symbols->path, release_of(names),
				  try_object, &visit) && visit.other)
		tell_other_object(file, visit.other);
	free(visit.other);
	return true;
}

static void open_file(struct debug_file *file, const struct names *names)
{
	const char *path = file->symbols->path;
	struct build_id there, ignored;
	enum found first, found;

	if (open_object(file, names) || begin_own(file, names) ||
	    begin_kept(file))
		return;
	found = first = begin_at(file, path, &there);
	for (unsigned i = 0; found != FOUND_IT; i++) {
		char *other = debug_search_module(path, i);

		if (!other)
			break;
		found = begin_at(file, other, &ignored);
		free(other);
	}
	if (found != FOUND_IT && first == FOUND_ANOTHER && has_build_id(file))
		tell_other_build(file, &there);
}

static struct debug_file *make_file(const struct debug_files *files,
				    const struct symbols *symbols)
{
	struct recording *recording = files->recording;
	struct debug_file *file = calloc(1, sizeof(*file));
	const struct module_list *modules;

	if (!file)
		return NULL;
	file->symbols = symbols;
	file->recording = recording;
	file->extra_fd = file->object_fd = -1;
	if (!recording_modules(recording, &modules, NULL))
		file->recorded = module_files_find(modules, symbols->path);
	open_file(file, files->names);
	return file;
}

/* Of a module that is in several pieces of memory, the first has its file. */
static const struct symbols *whole_of(const struct debug_files *files,
				      const struct symbols *symbols)
{
	const struct symbols *first = names_lasting(files->names, symbols, 0);

	return first ? first : symbols;
}

Dwfl_Module *debug_files_find(struct debug_files *files,
			      const struct symbols *symbols)
{
	struct debug_file *file;

	symbols = whole_of(files, symbols);
	for (size_t i = 0; i < files->count; i++)
		if (files->list[i]->symbols == symbols)
			return files->list[i]->module;
	if (array_room(files->list, files->count, files->room))
		return NULL;
	file = make_file(files, symbols);
	if (!file)
		return NULL;
	files->list[files->count++] = file;
	return file->module;
}

Dwarf *debug_files_dwarf(struct debug_files *files,
			 const struct symbols *symbols, uint64_t *bias)
{
	Dwfl_Module *module = whole_of(files, symbols) == symbols ?
		debug_files_find(files, symbols) : NULL;
	Dwarf_Addr found = 0;
	Dwarf *dwarf = module ? dwfl_module_getdwarf(module, &found) : NULL;

	*bias = found;
	return dwarf;
}

void debug_files_release(struct debug_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		struct debug_file *file = files->list[i];

		end_object(file);
		dwarf_end(file->extra);
		if (file->extra_fd >= 0)
			close(file->extra_fd);
		free(file);
	}
	free(files->list);
	*files = (struct debug_files){ 0 };
}
