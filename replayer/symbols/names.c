/* SPDX-License-Identifier: GPL-2.0-or-later */
/* names.c - see names.h */
#include "replayer/symbols/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/array.h"
#include "formats/elf_symbols.h"
#include "formats/error.h"
#include "formats/nearest.h"
#include "replayer/recording/recording.h"
#include "replayer/symbols/debug_search.h"
#include "replayer/symbols/demangle.h"
#include "replayer/symbols/kernel_names.h"
#include "replayer/symbols/module_map.h"
#include "replayer/symbols/modules.h"
#include "replayer/symbols/parts.h"
#include "replayer/symbols/patterns.h"

#define ADDED_MOST 1024u	/* files of processes on a machine */

/* A change of what is mapped of modules. */
struct names_change {
	uint64_t time;
	struct part_change change;
};

struct placed_module {
	char *module;
	struct module_sections sections;
};

struct names {
	struct recording *recording;
	bool has_modules;
	struct modules modules;
	uint64_t moved;		/* a machine's kernel, from its link base */

	/* Of a machine: what a process has mapped, at one time. */
	struct names_asked asked;	/* of a machine */
	struct module_parts process;
	bool has_process;
	uint64_t process_time;
	struct module_parts lasting;	/* and the kernel, at all times */
	bool has_lasting;
	struct placed_module *placed;	/* ... their files' sections */
	size_t placed_count, placed_room;
	int *files;		/* of the modules that were added; or -1 */

	/* Of one segment: what is mapped at its start, and what changes. */
	bool has_segment;
	size_t segment;
	struct module_parts parts;
	struct names_change *changes;
	size_t change_count, change_room;

	/* As it is in a part of the segment. */
	bool has_map;
	uint64_t from, until;	/* times; not `until` itself */
	struct module_map map;
};

static int read_module(struct names *names, const struct trace_reader *reader,
		       size_t chunk, struct failure *why)
{
	uint8_t *bytes;
	size_t size;
	int rc = recording_symbols(names->recording, chunk, &bytes, &size, why);

	if (rc)
		return rc;
	rc = modules_add(&names->modules, bytes, size);
	free(bytes);
	if (rc)
		return trace_reader_damaged(reader, chunk, rc, "contents", why);
	return 0;
}

/* Without the names of one module, those of the others are there. */
static int tell_damage(const struct failure *damage)
{
	char *text;

	if (asprintf(&text, "%s: its names are missing", damage->text) < 0)
		return ERR_NO_MEMORY;
	debug_search_note(text);
	free(text);
	return 0;
}

/* A kernel that has no ELF file has symbols of its own, or none. */
static int read_kernel(struct names *names, struct failure *why)
{
	/* They stay where they are when programs are added. */
	struct symbols *symbols = calloc(ADDED_MOST + 1, sizeof(*symbols));
	struct kernel_image kernel;
	int rc = symbols ? kernel_names_read(symbols, &kernel,
					     names->recording, why) :
			   failed(why, ERR_NO_MEMORY, "out of memory");

	if (rc) {
		free(symbols);
		return rc == ERR_NOT_FOUND ? 0 : rc;
	}
	free(kernel.bytes);
	names->moved = kernel.base - kernel.linked;
	names->modules = (struct modules){ symbols, 1 };
	names->files = calloc(ADDED_MOST + 1, sizeof(*names->files));
	return names->files ? 0 : failed(why, ERR_NO_MEMORY, "out of memory");
}

static int read_modules(struct names *names, struct failure *why)
{
	const struct trace_reader *reader = recording_reader(names->recording);
	struct failure damage = { "out of memory" };
	int rc = 0;

	if (names->has_modules)
		return 0;
	for (size_t i = 0; i < trace_reader_count(reader) && !rc; i++)
		if (recording_is_symbols(names->recording, i)) {
			rc = read_module(names, reader, i, &damage);
			if (rc == ERR_CHECKSUM)
				rc = tell_damage(&damage);
			if (rc && why)
				*why = damage;
		}
	if (!rc && !names->modules.count &&
	    recording_is_machine(names->recording))
		rc = read_kernel(names, why);
	names->has_modules = !rc;
	return rc;
}

/* ------- what is mapped in a segment ------- */

static void forget_segment(struct names *names)
{
	names->has_segment = false;
	module_parts_release(&names->parts);
	free(names->changes);
	names->changes = NULL;
	names->change_count = names->change_room = 0;
}

/* A machine's own are where they say that they are, at all times. */
static int take_all(struct names *names)
{
	const size_t own = names->files ? 1 : names->modules.count;
	int rc = module_parts_copy(&names->parts, &names->process);

	for (size_t i = 0; i < names->lasting.count && !rc; i++)
		rc = module_parts_add(&names->parts, &names->lasting.list[i]);
	for (size_t i = 0; i < own && !rc; i++) {
		const struct symbols *symbols = &names->modules.list[i];
		const struct module_part part = {
			.start = symbols->link_base + names->moved,
			.end = symbols->link_end + names->moved,
			.offset = symbols->base_offset, .module = i,
		};

		rc = module_parts_add(&names->parts, &part);
	}
	return rc;
}

/* What is mapped at the start of the segment. */
static int take_regions(struct names *names, const struct key_frame *frame)
{
	int rc = 0;

	if (recording_is_machine(names->recording))
		return take_all(names);
	for (size_t i = 0; i < frame->region_count && !rc; i++) {
		const struct region *region = &frame->regions[i];
		struct module_part part = {
			.start = region->start, .end = region->end,
			.offset = region->offset,
			.module = modules_find(&names->modules, region->name,
					       strlen(region->name)),
		};

		if (part.module != MODULE_NONE)
			rc = module_parts_add(&names->parts, &part);
	}
	return rc;
}

static int add_change(struct names *names, uint64_t time,
		      const struct part_change *change)
{
	if (array_room(names->changes, names->change_count,
			names->change_room))
		return ERR_NO_MEMORY;
	names->changes[names->change_count++] =
		(struct names_change){ time, *change };
	return 0;
}

struct change_search {
	struct names *names;
	struct module_parts parts;	/* as of the packet */
};

/* Most mappings are not of modules: only those that are, or replace some. */
static int follow(void *context, const struct packet_place *place,
		  const struct packet *packet)
{
	struct change_search *search = context;
	struct names *names = search->names;
	struct part_change change;
	bool any;
	int rc;

	if (place->is_told ||
	    !part_change_of(&change, packet, &names->modules))
		return 0;
	rc = module_parts_change(&search->parts, &change, &any);
	return rc || !any ? rc : add_change(names, place->time, &change);
}

static int find_changes(struct names *names, size_t segment,
			struct failure *why)
{
	struct change_search search = { .names = names };
	int rc = module_parts_copy(&search.parts, &names->parts);

	if (!rc)
		rc = recording_each_packet(names->recording, segment, follow,
					   &search, why);
	module_parts_release(&search.parts);
	return rc == ERR_NO_MEMORY ? failed(why, rc, "out of memory") : rc;
}

static int read_segment(struct names *names, size_t segment,
			struct failure *why)
{
	struct key_frame frame;
	int rc;

	if (names->has_segment && names->segment == segment)
		return 0;
	forget_segment(names);
	names->has_map = false;
	rc = read_modules(names, why);
	if (!rc)
		rc = recording_key_frame(names->recording, segment, &frame,
					 why);
	if (rc)
		return rc;
	if (take_regions(names, &frame))
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
	key_frame_release(&frame);
	if (!rc)
		rc = find_changes(names, segment, why);
	names->has_segment = !rc;
	names->segment = segment;
	return rc;
}

/* ------- what is mapped at a time ------- */

/* The newest program at `t`, by its path. */
static int find_program(const struct names *names, uint64_t t, size_t *module,
			struct failure *why)
{
	const struct recording_program *list;
	size_t count;
	int rc;

	if (recording_is_machine(names->recording)) {
		*module = names->modules.count ? 0 : MODULE_NONE;
		return 0;
	}
	rc = recording_programs(names->recording, &list, &count, why);
	if (rc)
		return rc;
	while (count > 1 && list[count - 1].time > t)
		count--;
	*module = modules_find(&names->modules, list[count - 1].image.path,
			       strlen(list[count - 1].image.path));
	return 0;
}

/* Follows the changes up to `t`; how long it stays so is noted. */
static int map_parts(struct names *names, uint64_t t)
{
	struct module_parts parts = { 0 };
	int rc = module_parts_copy(&parts, &names->parts);
	size_t i = 0;
	bool any;

	for (; i < names->change_count && names->changes[i].time <= t && !rc;
	     i++) {
		names->from = names->changes[i].time;
		rc = module_parts_change(&parts, &names->changes[i].change,
					 &any);
	}
	if (i < names->change_count)
		names->until = names->changes[i].time;
	if (!rc)
		rc = module_map_init(&names->map, &names->modules, &parts);
	module_parts_release(&parts);
	return rc;
}

static int map_modules(struct names *names, uint64_t t, struct failure *why)
{
	size_t segment = recording_segment_at(names->recording, t);
	int rc = read_segment(names, segment, why);

	if (rc || (names->has_map && names->from <= t && t < names->until))
		return rc;
	module_map_release(&names->map);
	names->has_map = false;
	names->from = recording_time(names->recording, segment);
	names->until = UINT64_MAX;
	if (map_parts(names, t))
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
	if (!rc)
		rc = find_program(names, t, &names->map.program, why);
	names->has_map = !rc;
	return rc;
}

/* ------- processes on a machine ------- */

void names_ask(struct names *names, const struct names_asked *asked)
{
	names->asked = asked ? *asked : (struct names_asked){ NULL };
}

size_t names_add_file(struct names *names, const char *path, int fd)
{
	size_t module = names->modules.count;

	if (!names->files || module > ADDED_MOST ||
	    elf_symbols(&names->modules.list[module], path, fd)) {
		close(fd);
		return MODULE_NONE;
	}
	names->files[module] = fd;
	names->modules.count++;
	return module;
}

int names_add_lasting(struct names *names, struct symbols *symbols)
{
	const struct module_part part = {
		.start = symbols->link_base, .end = symbols->link_end,
		.module = names->modules.count,
	};

	if (!names->files || part.module > ADDED_MOST ||
	    module_parts_add(&names->lasting, &part)) {
		symbols_release(symbols);
		return ERR_NO_MEMORY;
	}
	names->files[part.module] = -1;
	names->modules.list[names->modules.count++] = *symbols;
	return 0;
}

void module_sections_release(struct module_sections *sections)
{
	for (size_t i = 0; i < sections->count; i++)
		free(sections->list[i].name);
	free(sections->list);
	*sections = (struct module_sections){ 0 };
}

int names_add_sections(struct names *names, const char *module,
		       struct module_sections *sections)
{
	char *name = strdup(module);

	if (!name || array_room(names->placed, names->placed_count,
				names->placed_room)) {
		free(name);
		module_sections_release(sections);
		return ERR_NO_MEMORY;
	}
	names->placed[names->placed_count++] =
		(struct placed_module){ name, *sections };
	return 0;
}

const struct module_sections *names_sections(const struct names *names,
					     const char *module)
{
	static const struct module_sections none;

	for (size_t i = 0; i < names->placed_count; i++)
		if (!strcmp(names->placed[i].module, module))
			return &names->placed[i].sections;
	return &none;
}

static bool is_lasting(const struct names *names,
		       const struct symbols *symbols)
{
	for (size_t i = 0; i < names->lasting.count; i++)
		if (symbols == &names->modules.list[names->lasting.list[i]
							    .module])
			return true;
	return false;
}

const struct symbols *names_lasting(const struct names *names,
				    const struct symbols *symbols,
				    size_t number)
{
	if (!is_lasting(names, symbols))
		return NULL;
	for (size_t i = 0; i < names->lasting.count; i++) {
		const struct symbols *piece =
			&names->modules.list[names->lasting.list[i].module];

		if (!strcmp(piece->path, symbols->path) && !number--)
			return piece;
	}
	return NULL;
}

const struct symbols *names_kernel(const struct names *names)
{
	return names->files ? &names->modules.list[0] : NULL;
}

void names_add_part(struct names *names, const struct module_part *part)
{
	module_parts_add(&names->process, part);
}

int names_file(const struct names *names, const struct symbols *symbols)
{
	const struct symbols *first = names->modules.list;

	return names->files && symbols > first &&
	       symbols < first + names->modules.count ?
		       names->files[symbols - first] : -1;
}

/* What the kernel has besides itself, when it is first asked for. */
static int map_lasting(struct names *names, uint64_t t, uint64_t addr,
		       struct failure *why)
{
	const struct names_asked *asked = &names->asked;
	uint64_t bias;

	if (names->has_lasting || !asked->add_lasting || !names->files ||
	    (addr && module_map_at(&names->map, &names->modules, addr, &bias)))
		return 0;
	names->has_lasting = true;
	asked->add_lasting(asked->context);
	forget_segment(names);
	return map_modules(names, t, why);
}

/* Has it shown what is mapped at `t` in the lower half, if that is asked for. */
static int map_at(struct names *names, uint64_t t, uint64_t addr,
		  struct failure *why)
{
	const struct names_asked *asked = &names->asked;
	int rc = map_modules(names, t, why);

	if (!rc && addr >> 63)
		rc = map_lasting(names, t, addr, why);
	if (rc || !asked->show || !names->files || addr >> 63 ||
	    (names->has_process && names->process_time == t))
		return rc;
	names->process_time = t;
	if (names->has_process && asked->is_same(asked->context, t))
		return 0;
	module_parts_release(&names->process);
	asked->show(asked->context, t);
	names->has_process = true;
	forget_segment(names);
	return map_modules(names, t, why);
}

static int map_any(struct names *names, uint64_t t, struct failure *why)
{
	return map_at(names, t, 0, why);
}

static int map_all(struct names *names, uint64_t t, struct failure *why)
{
	int rc = map_any(names, t, why);

	return rc ? rc : map_lasting(names, t, 0, why);
}

void names_complete(struct names *names, uint64_t t)
{
	map_all(names, t, NULL);
}

/* ------- answers ------- */

static const char *path_of(const struct names *names)
{
	return trace_reader_path(recording_reader(names->recording));
}

/* As people write them, without arguments. */
static void offer_module(struct nearest *nearest,
			 const struct symbols *symbols)
{
	for (size_t i = 0; i < symbols->count; i++) {
		char *plain = demangle(symbols->list[i].name);

		if (plain)
			plain[symbol_name_size(plain)] = '\0';
		nearest_offer(nearest, plain ? plain : symbols->list[i].name);
		free(plain);
	}
}

void names_offer(struct names *names, uint64_t t, bool own,
		 struct nearest *nearest)
{
	const struct module_map *map = &names->map;

	if (map_all(names, t, NULL))
		return;
	for (size_t i = 0; i < map->count; i++)
		if (map->places[i].mapped && own == (i == map->program))
			offer_module(nearest, &names->modules.list[i]);
}

/* All that are called so, with their arguments, in one module. */
static void list_plain(const struct symbols *symbols, const char *wanted,
		       char *text, size_t room)
{
	size_t used = strlen(text);

	for (size_t i = 0; i < symbols->count; i++) {
		const char *name = symbols->list[i].name;
		char *plain = demangle_may_be(name, wanted) ? demangle(name) :
							      NULL;

		if (plain && demangle_is(plain, wanted) &&
		    !strstr(text, plain) && strlen(plain) + 8 < room - used)
			used += (size_t)snprintf(text + used, room - used,
						 "%s'%s'", used ? ", " : "",
						 plain);
		free(plain);
	}
}

static int several(const struct names *names, const char *name,
		   struct failure *why)
{
	const struct module_map *map = &names->map;
	const char *mark = strchr(name, '!');
	char text[sizeof(why->text) / 2] = "";

	for (size_t i = 0; i < map->count; i++)
		if (map->places[i].mapped)
			list_plain(&names->modules.list[i],
				   mark ? mark + 1 : name, text, sizeof(text));
	return failed(why, ERR_INPUT, "cannot tell which '%.80s' is meant: %s",
		      name, text);
}

int names_find(struct names *names, uint64_t t, const char *name,
	       uint64_t *addr, uint64_t *size, struct failure *why)
{
	int rc = map_any(names, t, why);
	size_t lacks;

	if (rc)
		return rc;
	rc = module_map_find(&names->map, &names->modules, name, addr, size);
	if (rc == ERR_NOT_FOUND && !map_all(names, t, why))
		rc = module_map_find(&names->map, &names->modules, name, addr,
				     size);
	lacks = rc ? module_map_lacks(&names->map, &names->modules, name) : 0;
	if (lacks)
		return failed(why, ERR_NOT_FOUND,
			      "cannot find '%s': no program or library '%.*s' is"
			      " mapped at t=%" PRIu64 " in '%s'",
			      name, (int)lacks, name, t, path_of(names));
	if (rc == ERR_INPUT)
		return several(names, name, why);
	if (rc)
		return failed(why, ERR_NOT_FOUND,
			      "cannot find a symbol '%s' in '%s'", name,
			      path_of(names));
	return 0;
}

int names_check(struct names *names, uint64_t t, struct failure *why)
{
	return map_any(names, t, why);
}

bool names_of(struct names *names, uint64_t t, uint64_t addr, char *text,
	      size_t room)
{
	return !map_at(names, t, addr, NULL) &&
	       module_map_name(&names->map, &names->modules, addr, text, room);
}

const struct symbols *names_module(struct names *names, uint64_t t,
				   uint64_t addr, uint64_t *bias)
{
	if (map_at(names, t, addr, NULL))
		return NULL;
	return module_map_at(&names->map, &names->modules, addr, bias);
}

const struct symbols *names_at_path(struct names *names, const char *path)
{
	if (read_modules(names, NULL))
		return NULL;
	for (size_t i = 0; i < names->modules.count; i++)
		if (!strcmp(names->modules.list[i].path, path))
			return &names->modules.list[i];
	return NULL;
}

int names_until(struct names *names, uint64_t t, uint64_t *until,
		struct failure *why)
{
	int rc = map_any(names, t, why);
	uint64_t end;

	if (rc)
		return rc;
	end = recording_time(names->recording, names->segment + 1);
	*until = names->until < end ? names->until : end;
	return 0;
}

int names_program(struct names *names, uint64_t t, const struct symbols **out,
		  struct failure *why)
{
	int rc = map_any(names, t, why);

	*out = NULL;
	if (!rc && names->map.program != MODULE_NONE)
		*out = &names->modules.list[names->map.program];
	return rc;
}

const struct symbols *names_own(struct names *names, uint64_t t,
				uint64_t *bias)
{
	size_t program;

	if (map_any(names, t, NULL))
		return NULL;
	program = names->map.program;
	if (program == MODULE_NONE || !names->map.places[program].mapped)
		return NULL;
	*bias = names->map.places[program].bias;
	return &names->modules.list[program];
}

const struct symbols *names_mapped(struct names *names, uint64_t t,
				   size_t number, uint64_t *bias)
{
	if (map_any(names, t, NULL))
		return NULL;
	for (size_t i = 0; i < names->map.count; i++) {
		if (!names->map.places[i].mapped || number--)
			continue;
		*bias = names->map.places[i].bias;
		return &names->modules.list[i];
	}
	return NULL;
}

/* ------- making one ------- */

int names_create(struct names **out, struct recording *recording,
		 struct failure *why)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	(*out)->recording = recording;
	return 0;
}

struct recording *names_recording(const struct names *names)
{
	return names->recording;
}

void names_destroy(struct names *names)
{
	if (!names)
		return;
	forget_segment(names);
	module_map_release(&names->map);
	module_parts_release(&names->process);
	module_parts_release(&names->lasting);
	for (size_t i = 1; names->files && i < names->modules.count; i++)
		if (names->files[i] >= 0)
			close(names->files[i]);
	for (size_t i = 0; i < names->placed_count; i++) {
		module_sections_release(&names->placed[i].sections);
		free(names->placed[i].module);
	}
	free(names->placed);
	free(names->files);
	modules_release(&names->modules);
	free(names);
}
