/* SPDX-License-Identifier: GPL-2.0-or-later */
/* race_guest.c - see race_guest.h */
#include "replayer/races/race_guest.h"

#include <stddef.h>

#include "formats/jump_stubs.h"
#include "formats/stacks.h"
#include "replayer/races/race_internal.h"

/* ------- structures ------- */

#define LAYOUT_64                                                             \
	{ .lock_writer = 24, .file_size = 224, .file_buffer = 56,             \
	  .file_lock = 136, .file_lock_size = 16, .file_wide = 160,           \
	  .file_wide_size = 352 }

/* Numbers of 64 bits are aligned to 4 bytes on i386, and to 8 on ARM. */
static const struct race_layout layouts[] = {
	[ARCH_X86_64] = LAYOUT_64,
	[ARCH_AARCH64] = LAYOUT_64,
	[ARCH_I386] = {
		.lock_writer = 28, .file_size = 152, .file_buffer = 28,
		.file_lock = 72, .file_lock_size = 12, .file_wide = 88,
		.file_wide_size = 200,
	},
	[ARCH_ARM] = {
		.lock_writer = 28, .file_size = 160, .file_buffer = 28,
		.file_lock = 72, .file_lock_size = 12, .file_wide = 92,
		.file_wide_size = 200,
	},
};

const struct race_layout *race_layout(const struct race_replay *replay)
{
	return &layouts[race_regs(replay)->arch];
}

/* ------- words ------- */

unsigned race_word_size(const struct race_replay *replay)
{
	return reg_word(race_regs(replay));
}

bool race_read_word(struct race_replay *replay, uint64_t addr, uint64_t *out)
{
	uint64_t word = 0;	/* little-endian: the rest stays 0 */

	if (!race_peek(replay, addr, &word, race_word_size(replay)))
		return false;
	*out = word;
	return true;
}

/* ------- calls of functions ------- */

uint64_t race_argument(struct race_replay *replay, unsigned index)
{
	const struct reg_table *regs = race_regs(replay);
	uint64_t at = race_reg(replay, regs->sp) + regs->arg_stack;
	uint64_t word = 0;

	if (index < regs->arg_count)
		return race_reg(replay, regs->args[index]);
	index -= regs->arg_count;
	race_read_word(replay, at + (uint64_t)index * race_word_size(replay),
		       &word);
	return word;
}

static const struct stack_table *stacks(const struct race_replay *replay)
{
	return stack_table(race_regs(replay)->arch);
}

bool race_has_link(const struct race_replay *replay)
{
	return stacks(replay)->has_link_register;
}

uint64_t race_return_address(struct race_replay *replay)
{
	const struct reg_table *regs = race_regs(replay);
	uint64_t word = 0;

	if (race_has_link(replay))
		return reg_code(regs, race_reg(replay,
					       stacks(replay)->link_register));
	race_read_word(replay, race_reg(replay, regs->sp), &word);
	return word;
}

/* ------- code ------- */

bool race_returns(struct race_replay *replay, uint64_t pc)
{
	return vm_lead(race_vm(replay), pc).way == VM_WAY_RETURN;
}

bool race_jumps(struct race_replay *replay, uint64_t pc)
{
	struct vm_lead lead = vm_lead(race_vm(replay), pc);

	return lead.way == VM_WAY_OTHER && lead.jumps;
}

uint64_t race_behind_stub(struct race_replay *replay, uint64_t pc)
{
	uint8_t code[JUMP_STUB_MOST];
	struct jump_stub stub = { .code = code, .addr = pc };
	uint64_t slot, target;

	stub.size = memory_code_of_page(race_memory(replay), pc, code,
					sizeof(code));
	if (!jump_stub_slot(race_regs(replay)->arch, &stub, &slot) ||
	    !race_read_word(replay, slot, &target))
		return pc;
	return reg_code(race_regs(replay), target);
}
