/* SPDX-License-Identifier: GPL-2.0-or-later */
/* replay_effects.c - what an event does to the guest */
#include "replayer/replayer_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"

static int map_as_recorded(struct replayer *rep, const struct packet *packet,
			   struct failure *why)
{
	struct region region = {
		.start = packet->addr,
		.end = packet->addr + packet->size,
		.prot = packet->prot,
		.kind = packet->region,
		.offset = packet->offset,
		.common = packet->target,
	};
	char *name = strndup((const char *)packet->name, packet->name_size);
	int rc;

	if (!name)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	region.name = name;
	rc = memory_map(rep->memory, &region, -1, why);
	free(name);
	return rc;
}

static int apply_effect(struct replayer *rep, const struct script_event *event,
			size_t number, struct failure *why)
{
	const struct script_effect *effect =
		&rep->script.effects[event->first + number];
	const struct packet *packet = &effect->packet;
	struct memory *memory = rep->memory;
	int rc = 0;

	switch (packet->kind) {
	case PACKET_WRITE:
		rc = memory_poke(memory, packet->addr, effect->contents,
				 packet->size);
		break;
	case PACKET_MAP:
		return map_as_recorded(rep, packet, why);
	case PACKET_UNMAP:
		rc = memory_unmap(memory, packet->addr, packet->size);
		break;
	case PACKET_PROTECT:
		rc = memory_protect(memory, packet->addr, packet->size,
				    packet->prot);
		break;
	case PACKET_MOVE:
		rc = memory_move(memory, packet->addr, packet->target,
				 packet->size);
		break;
	case PACKET_CLEAR:
		rc = memory_clear(memory, packet->addr, packet->size);
		break;
	case PACKET_DOUBT:
		rc = doubtful_begin(rep, event, number);
		break;
	case PACKET_OUTPUT:
		observers_output(rep, packet);
		break;
	default:
		break;		/* PACKET_REG: after the others, together */
	}
	if (rc)
		return failed(why, ERR_DIVERGED,
			      "the replay diverged at t=%" PRIu64 ": %s at 0x%"
			      PRIx64 " is not possible", vm_steps(rep->vm),
			      packet_name(packet->kind), packet->addr);
	return 0;
}

int effects_remap(struct replayer *rep, const struct script_event *event,
		  struct failure *why)
{
	int rc = 0;

	for (size_t i = 0; i < event->count && !rc; i++) {
		switch (rep->script.effects[event->first + i].packet.kind) {
		case PACKET_MAP:
		case PACKET_UNMAP:
		case PACKET_PROTECT:
		case PACKET_MOVE:
		case PACKET_CLEAR:
		case PACKET_DOUBT:
			rc = apply_effect(rep, event, i, why);
			break;
		default:
			break;
		}
	}
	return rc;
}

/* Registers change together: reading and writing all of them is slow. */
static void apply_registers(struct replayer *rep,
			    const struct script_event *event)
{
	const struct script_effect *effects;
	struct reg_file file;
	bool any = false;

	if (!event->count)
		return;
	effects = rep->script.effects + event->first;
	for (size_t i = 0; i < event->count; i++)
		any |= effects[i].packet.kind == PACKET_REG;
	if (!any)
		return;
	vm_registers(rep->vm, &file);
	for (size_t i = 0; i < event->count; i++) {
		const struct packet *packet = &effects[i].packet;
		const struct reg_info *info;

		if (packet->kind != PACKET_REG ||
		    packet->number >= rep->regs->count)
			continue;
		info = &rep->regs->regs[packet->number];
		if (packet->size == info->size)
			memcpy(file.bytes + info->offset, packet->value,
			       info->size);
	}
	vm_set_registers(rep->vm, &file);
}

/* What others have changed by the beginning of a turn; see alone.c. */
static int apply_seen(struct replayer *rep, size_t event, struct failure *why)
{
	const struct script *script = &rep->script;
	uint8_t bytes[GUEST_PAGE];
	int rc = 0;

	for (; rep->next_seen < script->seen_count && !rc; rep->next_seen++) {
		const struct script_seen *seen =
			&script->seen[rep->next_seen];

		if (seen->event != event)
			break;
		rc = script_seen_contents(seen, rep->recording, bytes, why);
		rep->giving = seen->size == GUEST_PAGE;
		if (!rc && memory_poke(rep->memory, seen->addr, bytes,
				       seen->size))
			rc = failed(why, ERR_DIVERGED,
				    "the replay diverged: memory at 0x%" PRIx64
				    ", which another thread changed, is not "
				    "mapped", seen->addr);
		rep->giving = false;
	}
	return rc;
}

int effects_apply(struct replayer *rep, const struct script_event *event,
		  struct failure *why)
{
	int rc = 0;

	observers_event(rep, event, false);
	/* The thread stands somewhere else now, perhaps at a breakpoint. */
	rep->passes = false;
	switch (event->packet.kind) {
	case PACKET_SYSCALL:
	case PACKET_RETURN:
	case PACKET_FIXED_CALL:
		rep->threads[rep->stream].pending = PENDING_NONE;
		vm_set_reg(rep->vm, rep->regs->result,
			   (uint64_t)event->packet.result);
		break;
	case PACKET_FAULT:
		rep->threads[rep->stream].pending = PENDING_NONE;
		break;
	case PACKET_EXIT:
		rep->threads[rep->stream].has_ended = true;
		break;
	case PACKET_SLICE:
		rc = turns_switch(rep, rep->segment, event->stream, why);
		if (!rc)
			vm_thread_resumes(rep->vm);
		break;
	case PACKET_GIVE_WAY:
		vm_thread_resumes(rep->vm);
		break;
	default:
		break;
	}
	for (size_t i = 0; i < event->count && !rc; i++)
		rc = apply_effect(rep, event, i, why);
	if (!rc && rep->alone && event->packet.kind == PACKET_SLICE)
		rc = apply_seen(rep, rep->next, why);
	if (!rc)
		apply_registers(rep, event);
	rep->next++;
	if (!rc)
		observers_event(rep, event, true);
	return rc;
}
