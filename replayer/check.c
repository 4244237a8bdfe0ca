/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check.c - does the replay equal the recording, and if not, since when? */
#include "replayer/replayer_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/error.h"

/* At most so many of one page, so that others are seen too. */
#define DIFFERENCES_OF_PAGE 64

static void add(struct differences *out, const struct difference *difference)
{
	if (out->count < DIFFERENCES_MOST)
		out->list[out->count++] = *difference;
}

static uint64_t take_part(const struct reg_info *info,
			  const struct reg_file *file, unsigned part)
{
	uint64_t value = 0;

	for (unsigned i = info->size; i-- > part;)
		if (i - part < 8)
			value = value << 8 | file->bytes[info->offset + i];
	return value;
}

/* Compares the registers of one thread with those of its key frame. */
static int check_registers(struct replayer *rep, uint32_t stream,
			   const struct key_frame *frame,
			   struct differences *out, struct failure *why)
{
	struct reg_file now;
	int rc = replayer_thread_registers(rep, stream, &now, why);

	for (unsigned reg = 0; reg < rep->regs->count && !rc; reg++) {
		const struct reg_info *info = &rep->regs->regs[reg];

		for (unsigned part = 0; part < info->size; part += 8) {
			struct difference difference = {
				.is_register = true, .reg = reg, .part = part,
				.stream = stream,
				.expected = take_part(info, &frame->regs, part),
				.found = take_part(info, &now, part),
			};

			if (difference.expected != difference.found)
				add(out, &difference);
		}
	}
	return rc;
}

/* A thread that goes on from the segment before has a key frame here. */
static int check_thread(struct replayer *rep, size_t segment, uint32_t stream,
			struct differences *out, struct failure *why)
{
	struct key_frame frame;
	int rc;

	if (!recording_has_frame(rep->recording, segment, stream) ||
	    !rep->threads[stream].vm)
		return 0;
	rc = recording_thread_frame(rep->recording, segment, stream, &frame,
				    why);
	if (rc)
		return rc;
	/* Formerly there were frames of threads that an exec had ended. */
	if (frame.time == recording_time(rep->recording, segment) &&
	    !recording_was_replaced(rep->recording, stream, frame.time))
		rc = check_registers(rep, stream, &frame, out, why);
	key_frame_release(&frame);
	return rc;
}

static int check_others(struct replayer *rep, size_t segment,
			struct differences *out, struct failure *why)
{
	size_t count;
	const uint32_t *streams =
		recording_streams(rep->recording, segment, &count);
	int rc = 0;

	for (size_t i = 1; i < count && !rc; i++)
		rc = check_thread(rep, segment, streams[i], out, why);
	return rc;
}

static int check_page(struct replayer *rep, const struct page_ref *ref,
		      struct differences *out, struct failure *why)
{
	uint8_t expected[GUEST_PAGE], found[GUEST_PAGE], known[GUEST_PAGE];
	uint64_t addr = ref->page << GUEST_PAGE_SHIFT;
	unsigned count = 0;
	int rc;

	if (memory_page_doubt(rep->memory, ref->page))
		return 0;
	memset(found, 0, sizeof(found));
	rc = recording_page(rep->recording, ref->id, expected, why);
	if (!rc)
		rc = replayer_read(rep, addr, found, known, GUEST_PAGE, why);
	if (rc || !memcmp(expected, found, GUEST_PAGE))
		return rc;
	for (size_t i = 0; i < GUEST_PAGE && count < DIFFERENCES_OF_PAGE;
	     i += 8) {
		struct difference difference = { .addr = addr + i };

		if (!memcmp(expected + i, found + i, 8))
			continue;
		memcpy(&difference.expected, expected + i, 8);
		memcpy(&difference.found, found + i, 8);
		add(out, &difference);
		count++;
	}
	return 0;
}

static const char *difference_name(struct replayer *rep,
				   const struct difference *difference,
				   char *text, size_t room)
{
	char thread[32];

	if (!difference->is_register)
		snprintf(text, room, "8 bytes at 0x%" PRIx64, difference->addr);
	else
		snprintf(text, room, "register %s%s%s",
			 rep->regs->regs[difference->reg].name,
			 difference->part ? " (upper half)" : "",
			 turns_name(rep, difference->stream, thread,
				    sizeof(thread)));
	return text;
}

int replayer_check(struct replayer *rep, size_t segment,
		   struct differences *out, struct failure *why)
{
	struct key_frame frame = { 0 };
	char name[64];
	int rc = recording_key_frame(rep->recording, segment, &frame, why);

	out->count = 0;
	if (!rc)
		rc = check_registers(rep, rep->stream, &frame, out, why);
	if (!rc)
		rc = check_others(rep, segment, out, why);
	for (size_t i = 0; i < frame.page_count && !rc; i++)
		rc = check_page(rep, &frame.pages[i], out, why);
	if (!rc && out->count)
		rc = failed(why, ERR_DIVERGED,
			    "the replay diverged before t=%" PRIu64
			    ": %s: expected 0x%" PRIx64 ", found 0x%" PRIx64,
			    frame.time,
			    difference_name(rep, &out->list[0], name,
					    sizeof(name)),
			    out->list[0].expected, out->list[0].found);
	key_frame_release(&frame);
	return rc;
}

/* A place that ends up wrong, and who gave it its last value. */
struct place {
	bool seen;
	uint64_t value;		/* that it has now */
	bool changed;
	uint64_t time;		/* of the last change */
	guest_addr pc;
};

struct culprit {
	struct replayer *rep;
	const struct differences *found;
	struct place places[DIFFERENCES_MOST];
	uint64_t steps;		/* before the instruction seen last */
	guest_addr pc;		/* of that instruction */
};

static uint64_t present_value(const struct culprit *culprit,
			      const struct difference *difference)
{
	struct replayer *rep = culprit->rep;
	const struct reg_info *info = &rep->regs->regs[difference->reg];
	struct reg_file file;
	const uint8_t *page;
	uint64_t word = 0;

	if (!difference->is_register) {
		page = memory_peek(rep->memory,
				   difference->addr >> GUEST_PAGE_SHIFT);
		if (page)
			memcpy(&word, page + difference->addr % GUEST_PAGE, 8);
		return word;
	}
	if (info->size <= 8)
		return vm_reg(rep->vm, difference->reg);
	vm_registers(rep->vm, &file);
	return take_part(info, &file, difference->part);
}

static void look_again(struct culprit *culprit)
{
	for (size_t i = 0; i < culprit->found->count; i++) {
		const struct difference *difference = &culprit->found->list[i];
		struct place *place = &culprit->places[i];
		uint64_t value;

		/* The registers of others do not change meanwhile. */
		if (difference->is_register &&
		    difference->stream != culprit->rep->stream)
			continue;
		value = present_value(culprit, difference);
		/* Every instruction gives the program counter its value. */
		if (place->seen && (value != place->value ||
		    (difference->is_register &&
		     difference->reg == culprit->rep->regs->pc))) {
			place->changed = true;
			place->time = culprit->steps;
			place->pc = culprit->pc;
		}
		place->value = value;
		place->seen = true;
	}
}

static void on_instruction(void *context, uint64_t steps, guest_addr pc)
{
	struct culprit *culprit = context;

	look_again(culprit);
	culprit->steps = steps;
	culprit->pc = pc;
}

/* What a thread gets when its turn comes is a late result of its call. */
static void on_turn(void *context, bool after)
{
	struct culprit *culprit = context;
	struct replayer *rep = culprit->rep;

	if (!after) {
		look_again(culprit);
		return;
	}
	culprit->steps = vm_steps(rep->vm);
	culprit->pc = vm_reg(rep->vm, rep->regs->pc) -
		      rep->threads[rep->stream].pending_size;
}

/* The place that was wrong first; one that nobody wrote, if there is none. */
static size_t first_place(const struct culprit *culprit)
{
	size_t first = 0;

	for (size_t i = 1; i < culprit->found->count; i++) {
		const struct place *best = &culprit->places[first];
		const struct place *place = &culprit->places[i];

		if (place->changed &&
		    (!best->changed || place->time < best->time))
			first = i;
	}
	return first;
}

static int describe(struct culprit *culprit, uint64_t start, uint64_t end,
		    struct failure *why)
{
	struct replayer *rep = culprit->rep;
	size_t first = first_place(culprit);
	const struct place *place = &culprit->places[first];
	const struct difference *difference = &culprit->found->list[first];
	char text[96], name[64];
	unsigned size;

	difference_name(rep, difference, name, sizeof(name));
	if (!place->changed)
		return failed(why, ERR_DIVERGED,
			      "the replay diverged before t=%" PRIu64
			      ": %s: expected 0x%" PRIx64 ", found 0x%" PRIx64
			      ", and nothing wrote it since t=%" PRIu64,
			      end, name, difference->expected,
			      difference->found, start);
	vm_disassemble(rep->vm, place->pc, text, sizeof(text), &size);
	return failed(why, ERR_DIVERGED,
		      "the replay diverged at t=%" PRIu64 ", 0x%" PRIx64
		      " (%s): %s: expected 0x%" PRIx64 ", found 0x%" PRIx64,
		      place->time, place->pc, text, name,
		      difference->expected, difference->found);
}

/* Executes the segment before the key frame, with somebody who watches. */
static int follow(struct replayer *rep, size_t segment,
		  const struct replay_observer *observer, struct failure *why)
{
	const struct segment_position first = {
		segment - 1, recording_time(rep->recording, segment - 1), 0,
	};
	bool in_order = rep->in_order;
	int rc;

	rep->loaded = rep->in_order = false;
	rc = replayer_observe(rep, observer, why);
	if (!rc)
		rc = replayer_go(rep, &first, why);
	if (!rc)
		rc = replayer_seek_frame(rep, segment, why);
	replayer_unobserve(rep, observer);
	rep->in_order = in_order;
	return rc;
}

int replayer_explain(struct replayer *rep, size_t segment,
		     const struct differences *found, struct failure *why)
{
	struct culprit culprit = { .rep = rep, .found = found };
	const struct replay_observer observer = {
		.guest = { .instruction = on_instruction,
			   .code = VM_EVERYWHERE, .context = &culprit },
		.turn = on_turn, .context = &culprit,
	};
	int rc = follow(rep, segment, &observer, why);

	if (rc)
		return rc;
	look_again(&culprit);
	return describe(&culprit, recording_time(rep->recording, segment - 1),
			recording_time(rep->recording, segment), why);
}
