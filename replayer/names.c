/* SPDX-License-Identifier: GPL-2.0-or-later */
/* names.c - see names.h */
#include "replayer/names.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/packets.h"
#include "replayer/recording.h"

static int read_module(struct names *names, const struct trace_reader *reader,
		       size_t chunk, struct failure *why)
{
	uint8_t *bytes;
	int rc = trace_reader_chunk(reader, chunk, &bytes, why);

	if (rc)
		return rc;
	rc = modules_add(&names->modules, bytes,
			 trace_reader_info(reader, chunk)->size);
	free(bytes);
	if (rc)
		return trace_reader_damaged(reader, chunk, rc, "contents", why);
	return 0;
}

static int read_modules(struct names *names, struct recording *recording,
			struct failure *why)
{
	const struct trace_reader *reader = recording_reader(recording);
	int rc = 0;

	if (names->has_modules)
		return 0;
	names->modules.program = recording_meta(recording)->path;
	for (size_t i = 0; i < trace_reader_count(reader) && !rc; i++)
		if (trace_reader_info(reader, i)->kind == CHUNK_SYMBOLS)
			rc = read_module(names, reader, i, why);
	names->has_modules = !rc;
	return rc;
}

/* Modules that the segment itself maps, after its key frame. */
static int map_from_packet(void *context, const struct packet_place *place,
			   const struct packet *packet)
{
	struct names *names = context;

	if (packet->kind == PACKET_MAP && !place->is_told)
		module_map_region(&names->map, &names->modules, packet->name,
				  packet->name_size, packet->addr,
				  packet->offset);
	return 0;
}

static int make_map(struct names *names, struct recording *recording,
		    size_t segment, const struct key_frame *frame,
		    struct failure *why)
{
	struct module_map *map = &names->map;

	if (module_map_init(map, &names->modules))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	for (size_t i = 0; i < frame->region_count; i++) {
		const struct region *region = &frame->regions[i];

		module_map_region(map, &names->modules, region->name,
				  strlen(region->name), region->start,
				  region->offset);
	}
	if (map->mapped == map->count)
		return 0;
	return recording_each_packet(recording, segment, map_from_packet,
				     names, why);
}

static int map_modules(struct names *names, struct recording *recording,
		       size_t segment, struct failure *why)
{
	struct key_frame frame;
	int rc;

	if (names->map.places && names->segment == segment)
		return 0;
	module_map_release(&names->map);
	rc = read_modules(names, recording, why);
	if (!rc)
		rc = recording_key_frame(recording, segment, &frame, why);
	if (rc)
		return rc;
	rc = make_map(names, recording, segment, &frame, why);
	key_frame_release(&frame);
	if (rc)
		module_map_release(&names->map);
	names->segment = segment;
	return rc;
}

int names_find(struct names *names, struct recording *recording,
	       size_t segment, const char *name, uint64_t *addr,
	       uint64_t *size, struct failure *why)
{
	int rc = map_modules(names, recording, segment, why);

	if (rc)
		return rc;
	rc = module_map_find(&names->map, &names->modules, name, addr, size);
	if (rc)
		return failed(why, ERR_NOT_FOUND,
			      "cannot find a symbol '%s' in '%s' (thread-local"
			      " ones have no single address and are not in it)",
			      name,
			      trace_reader_path(recording_reader(recording)));
	return 0;
}

bool names_of(struct names *names, struct recording *recording, size_t segment,
	      uint64_t addr, char *text, size_t room)
{
	return !map_modules(names, recording, segment, NULL) &&
	       module_map_name(&names->map, &names->modules, addr, text, room);
}

const struct symbols *names_module(struct names *names,
				   struct recording *recording, size_t segment,
				   uint64_t addr, uint64_t *bias)
{
	if (map_modules(names, recording, segment, NULL))
		return NULL;
	return module_map_at(&names->map, &names->modules, addr, bias);
}

const struct symbols *names_mapped(struct names *names,
				   struct recording *recording, size_t segment,
				   size_t number, uint64_t *bias)
{
	if (map_modules(names, recording, segment, NULL))
		return NULL;
	for (size_t i = 0; i < names->map.count; i++) {
		if (!names->map.places[i].mapped || number--)
			continue;
		*bias = names->map.places[i].bias;
		return &names->modules.list[i];
	}
	return NULL;
}

void names_release(struct names *names)
{
	module_map_release(&names->map);
	modules_release(&names->modules);
}
