/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doubtful.c - doubtful pages: their contents are in the streams */
#include "replayer/replayer_internal.h"

#include <inttypes.h>

#include "formats/array.h"
#include "formats/error.h"

/* It is still doubtful: the guest has not seen it. */
static void remember_peek(struct replayer *rep, uint64_t page, uint64_t doubt)
{
	if (array_room(rep->peeked, rep->peeked_count, rep->peeked_room)) {
		replayer_broken(rep, ERR_NO_MEMORY, "out of memory");
		return;
	}
	rep->peeked[rep->peeked_count++] = (struct peeked){ page, doubt };
}

/* A guest that goes its own way touches others than the program did. */
static void divert(struct replayer *rep, uint64_t page, uint8_t *bytes)
{
	struct failure why;
	int rc = rep->diversion->contents(rep->diversion->context, page, bytes,
					  &why);

	if (!rc)
		return;
	replayer_broken(rep, rc, "%s", why.text);
	if (vm_is_running(rep->vm))
		vm_interrupt(rep->vm);
}

void doubtful_resolve(void *context, uint64_t page, uint64_t doubt,
		      uint8_t *bytes)
{
	struct replayer *rep = context;
	const struct script_touch *touch =
		script_find_touch(&rep->script, page, doubt);
	struct failure why;
	int rc;

	if (rep->giving)
		return;
	if (!touch && rep->diversion) {
		divert(rep, page, bytes);
		return;
	}
	if (!touch && !rep->running) {
		remember_peek(rep, page, doubt);
		return;
	}
	if (!touch) {
		replayer_broken(rep, ERR_DIVERGED,
		       "the replay diverged near t=%" PRIu64 ": it touched "
		       "page 0x%" PRIx64 ", whose contents the program never "
		       "saw", vm_steps(rep->vm), page << GUEST_PAGE_SHIFT);
		return;
	}
	rc = script_touch_contents(touch, rep->recording, bytes, &why);
	if (rc)
		replayer_broken(rep, rc, "%s", why.text);
}

void doubtful_forget_peeks(struct replayer *rep)
{
	for (size_t i = 0; i < rep->peeked_count; i++)
		memory_restore_doubt(rep->memory,
				     rep->peeked[i].page << GUEST_PAGE_SHIFT,
				     GUEST_PAGE, rep->peeked[i].doubt);
	rep->peeked_count = 0;
}

/*
 * Whether an effect before this one of the event has replaced what was there.
 */
static bool is_new(const struct replayer *rep, const struct script_event *event,
		   size_t number, guest_addr addr)
{
	const struct script_effect *effects =
		rep->script.effects + event->first;

	for (size_t i = 0; i < number; i++) {
		const struct packet *packet = &effects[i].packet;

		if ((packet->kind == PACKET_MAP ||
		     packet->kind == PACKET_CLEAR) &&
		    addr - packet->addr < packet->size)
			return true;
	}
	return false;
}

/* What the kernel has looked at meanwhile is known, too. */
static void settle(struct replayer *rep, guest_addr addr)
{
	uint64_t page = addr >> GUEST_PAGE_SHIFT;
	uint64_t doubt = memory_page_doubt(rep->memory, page);
	uint8_t byte;

	if (doubt && script_find_touch(&rep->script, page, doubt))
		memory_look(rep->memory, addr, &byte, 1);
}

int doubtful_begin(struct replayer *rep, const struct script_event *event,
		   size_t number)
{
	const struct packet *packet =
		&rep->script.effects[event->first + number].packet;
	const struct region *region =
		memory_region_at(rep->memory, packet->addr);

	/* Nothing has been executed of a file that was just mapped. */
	if (region && region->kind == REGION_FILE &&
	    is_new(rep, event, number, packet->addr))
		return memory_restore_doubt(rep->memory, packet->addr,
					    packet->size, packet->number);
	if (rep->alone || !region || region->kind != REGION_SHARED ||
	    is_new(rep, event, number, packet->addr))
		return memory_set_doubtful(rep->memory, packet->addr,
					   packet->size, packet->number);
	for (uint64_t i = 0; i < packet->size; i += GUEST_PAGE) {
		/* Hostile: it may go on for ever. */
		if (!memory_region_at(rep->memory, packet->addr + i))
			break;
		settle(rep, packet->addr + i);
	}
	return memory_doubt_kept(rep->memory, packet->addr, packet->size,
				 packet->number);
}

int doubtful_touch_rest(struct replayer *rep, struct failure *why)
{
	for (size_t i = 0; i < rep->script.touch_room; i++) {
		const struct script_touch *touch = &rep->script.touches[i];
		uint8_t byte;

		if (touch->page != SCRIPT_NO_PAGE &&
		    memory_page_doubt(rep->memory, touch->page) == touch->doubt)
			memory_look(rep->memory,
				    touch->page << GUEST_PAGE_SHIFT, &byte, 1);
	}
	return rep->error ? failed(why, rep->error, "%s", rep->why.text) : 0;
}

void doubtful_anew(struct replayer *rep, const struct key_frame *frame)
{
	for (size_t i = 0; i < frame->doubt_count; i++) {
		const struct doubt_range *range = &frame->doubts[i];

		for (uint64_t j = 0; j < range->count; j++)
			if (memory_page_doubt(rep->memory, range->page + j) !=
			    range->number)
				memory_doubt_kept(
					rep->memory,
					(range->page + j) << GUEST_PAGE_SHIFT,
					GUEST_PAGE, range->number);
	}
	memory_set_doubt(rep->memory, frame->doubt);
}
