/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check.c - does the replay equal the recording, and if not, since when? */
#include "replayer/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/error.h"

static int check_registers(struct replayer *rep, const struct key_frame *frame,
			   struct difference *difference)
{
	struct reg_file now;

	vm_registers(rep->vm, &now);
	for (unsigned reg = 0; reg < rep->regs->count; reg++) {
		const struct reg_info *info = &rep->regs->regs[reg];

		if (!memcmp(now.bytes + info->offset,
			    frame->regs.bytes + info->offset, info->size))
			continue;
		*difference = (struct difference){
			.is_register = true,
			.reg = reg,
			.expected = reg_get(rep->regs, &frame->regs, reg),
			.found = reg_get(rep->regs, &now, reg),
		};
		return ERR_DIVERGED;
	}
	return 0;
}

static int check_page(struct replayer *rep, const struct page_ref *ref,
		      struct difference *difference, struct failure *why)
{
	uint8_t expected[GUEST_PAGE], found[GUEST_PAGE], known[GUEST_PAGE];
	uint64_t addr = ref->page << GUEST_PAGE_SHIFT;
	size_t i = 0;
	int rc;

	if (memory_page_doubt(rep->memory, ref->page))
		return 0;
	memset(found, 0, sizeof(found));
	rc = recording_page(rep->recording, ref->id, expected, why);
	if (!rc)
		rc = replayer_read(rep, addr, found, known, GUEST_PAGE, why);
	if (rc || !memcmp(expected, found, GUEST_PAGE))
		return rc;
	while (expected[i] == found[i])
		i++;
	*difference = (struct difference){
		.addr = addr + i, .expected = expected[i], .found = found[i],
	};
	return ERR_DIVERGED;
}

static const char *difference_name(const struct replayer *rep,
				   const struct difference *difference,
				   char *text, size_t room)
{
	if (difference->is_register)
		snprintf(text, room, "register %s",
			 rep->regs->regs[difference->reg].name);
	else
		snprintf(text, room, "byte at 0x%" PRIx64, difference->addr);
	return text;
}

int replayer_check(struct replayer *rep, size_t segment,
		   struct difference *difference, struct failure *why)
{
	struct key_frame frame = { 0 };
	char name[64];
	int rc = recording_key_frame(rep->recording, segment, &frame, why);

	memset(difference, 0, sizeof(*difference));
	if (!rc)
		rc = check_registers(rep, &frame, difference);
	for (size_t i = 0; i < frame.page_count && !rc; i++)
		rc = check_page(rep, &frame.pages[i], difference, why);
	if (rc == ERR_DIVERGED)
		failed(why, rc, "the replay diverged before t=%" PRIu64
		       ": %s: expected 0x%" PRIx64 ", found 0x%" PRIx64,
		       frame.time,
		       difference_name(rep, difference, name, sizeof(name)),
		       difference->expected, difference->found);
	key_frame_release(&frame);
	return rc;
}

/* Who gave the place its last value. */
struct culprit {
	struct replayer *rep;
	const struct difference *difference;
	uint64_t value;		/* that it has now */
	uint64_t steps;		/* before the instruction seen last */
	guest_addr pc;		/* of that instruction */
	uint64_t last_time;	/* of the last change */
	guest_addr last_pc;
	bool any, changed;
};

static uint64_t present_value(const struct culprit *culprit)
{
	struct replayer *rep = culprit->rep;
	const struct difference *difference = culprit->difference;
	struct reg_file file;
	const uint8_t *page;

	if (!difference->is_register) {
		page = memory_peek(rep->memory,
				   difference->addr >> GUEST_PAGE_SHIFT);
		return page ? page[difference->addr % GUEST_PAGE] : 0;
	}
	if (rep->regs->regs[difference->reg].size <= 8)
		return vm_reg(rep->vm, difference->reg);
	vm_registers(rep->vm, &file);
	return reg_get(rep->regs, &file, difference->reg);
}

static void look_again(struct culprit *culprit)
{
	uint64_t value = present_value(culprit);

	if (culprit->any && value != culprit->value) {
		culprit->changed = true;
		culprit->last_time = culprit->steps;
		culprit->last_pc = culprit->pc;
	}
	culprit->value = value;
	culprit->any = true;
}

static void on_instruction(void *context, uint64_t steps, guest_addr pc)
{
	struct culprit *culprit = context;

	look_again(culprit);
	culprit->steps = steps;
	culprit->pc = pc;
}

int replayer_explain(struct replayer *rep, size_t segment,
		     const struct difference *difference, struct failure *why)
{
	struct culprit culprit = { .rep = rep, .difference = difference };
	uint64_t start = recording_time(rep->recording, segment - 1);
	uint64_t end = recording_time(rep->recording, segment);
	char text[96], name[64];
	unsigned size;
	int rc;

	vm_destroy(rep->vm);
	rep->vm = NULL;
	rep->loaded = false;
	rc = replayer_make_vm(rep, why);
	if (!rc)
		rc = vm_trace(rep->vm, on_instruction, &culprit, why);
	if (!rc)
		rc = replayer_seek(rep, start, why);
	if (!rc)
		rc = replayer_seek(rep, end, why);
	if (rc)
		return rc;
	look_again(&culprit);
	difference_name(rep, difference, name, sizeof(name));
	if (!culprit.changed)
		return failed(why, ERR_DIVERGED,
			      "the replay diverged before t=%" PRIu64
			      ": %s: expected 0x%" PRIx64 ", found 0x%" PRIx64
			      ", and nothing wrote it since t=%" PRIu64,
			      end, name, difference->expected,
			      difference->found, start);
	vm_disassemble(rep->vm, culprit.last_pc, text, sizeof(text), &size);
	return failed(why, ERR_DIVERGED,
		      "the replay diverged at t=%" PRIu64 ", 0x%" PRIx64
		      " (%s): %s: expected 0x%" PRIx64 ", found 0x%" PRIx64,
		      culprit.last_time, culprit.last_pc, text, name,
		      difference->expected, difference->found);
}
