/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parts.c - see parts.h */
#include "replayer/symbols/parts.h"

#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"

bool part_change_of(struct part_change *out, const struct packet *packet,
		    const struct modules *modules)
{
	if (packet->kind != PACKET_MAP && packet->kind != PACKET_UNMAP &&
	    packet->kind != PACKET_MOVE)
		return false;
	*out = (struct part_change){
		.kind = packet->kind, .addr = packet->addr,
		.target = packet->target, .size = packet->size,
		.offset = packet->offset, .module = MODULE_NONE,
	};
	if (packet->kind == PACKET_MAP && packet->name_size)
		out->module = modules_find(modules, packet->name,
					   packet->name_size);
	return true;
}

int module_parts_add(struct module_parts *parts,
		     const struct module_part *part)
{
	int rc = array_room(parts->list, parts->count, parts->room);

	if (!rc)
		parts->list[parts->count++] = *part;
	return rc;
}

/*
 * Takes what lies between `start` and `end` out of the part with this number,
 * and puts it into `*cut`.  What is left may be one piece, two or none; then
 * the last part of the list takes its place.
 */
static int cut_part(struct module_parts *parts, size_t number,
		    guest_addr start, guest_addr end, struct module_part *cut)
{
	struct module_part *part = &parts->list[number];
	struct module_part before = *part, after = *part;
	bool has_before = part->start < start, has_after = end < part->end;

	*cut = *part;
	if (has_before) {
		before.end = cut->start = start;
		cut->offset += start - part->start;
	}
	if (has_after) {
		after.start = cut->end = end;
		after.offset += end - part->start;
	}
	if (has_before)
		*part = before;
	else if (has_after)
		*part = after;
	else
		*part = parts->list[--parts->count];
	return has_before && has_after ? module_parts_add(parts, &after) : 0;
}

/* Takes a range out of all parts; what was there goes to `out`, if not NULL. */
static int take_range(struct module_parts *parts, guest_addr start,
		      uint64_t size, struct module_parts *out, bool *any)
{
	guest_addr end = start + size;
	int rc = 0;

	/* From the back: what replaces a part, or is added, was looked at, or
	 * is outside the range. */
	for (size_t i = parts->count; i-- > 0 && !rc;) {
		struct module_part cut;

		if (parts->list[i].end <= start || end <= parts->list[i].start)
			continue;
		*any = true;
		rc = cut_part(parts, i, start, end, &cut);
		if (!rc && out)
			rc = module_parts_add(out, &cut);
	}
	return rc;
}

static int move_range(struct module_parts *parts,
		      const struct part_change *change, bool *any)
{
	struct module_parts moved = { 0 };
	int rc = take_range(parts, change->addr, change->size, &moved, any);

	if (!rc)
		rc = take_range(parts, change->target, change->size, NULL, any);
	for (size_t i = 0; i < moved.count && !rc; i++) {
		struct module_part part = moved.list[i];

		part.start += change->target - change->addr;
		part.end += change->target - change->addr;
		rc = module_parts_add(parts, &part);
	}
	module_parts_release(&moved);
	return rc;
}

int module_parts_change(struct module_parts *parts,
			const struct part_change *change, bool *any)
{
	struct module_part part = {
		.start = change->addr, .end = change->addr + change->size,
		.offset = change->offset, .module = change->module,
	};
	int rc;

	*any = false;
	if (change->kind == PACKET_MOVE)
		return move_range(parts, change, any);
	rc = take_range(parts, change->addr, change->size, NULL, any);
	if (rc || change->module == MODULE_NONE)
		return rc;
	*any = true;
	return module_parts_add(parts, &part);
}

int module_parts_copy(struct module_parts *to, const struct module_parts *from)
{
	int rc = array_reserve(to->list, from->count, to->room);

	if (rc)
		return rc;
	to->count = from->count;
	if (from->count)
		memcpy(to->list, from->list,
		       from->count * sizeof(*from->list));
	return 0;
}

void module_parts_release(struct module_parts *parts)
{
	free(parts->list);
	*parts = (struct module_parts){ 0 };
}
