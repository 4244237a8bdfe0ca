/* SPDX-License-Identifier: GPL-2.0-or-later */
/* program_start.c - see program_start.h */
#include "replayer/session/program_start.h"

#include <elf.h>

#include "formats/registers.h"
#include "replayer/replayer.h"
#include "replayer/session/known_memory.h"
#include "vm/vm.h"

/* Of arguments, variables and entries: more are no start of a program. */
#define WORDS_MOST 65536u

struct words {
	struct replayer *replayer;
	uint64_t at;
	unsigned size;		/* of each */
	unsigned count;		/* that were read */
};

static bool next_word(struct words *words, uint64_t *out)
{
	*out = 0;
	if (words->count++ >= WORDS_MOST ||
	    !known_memory_read(words->replayer, words->at, out, words->size))
		return false;
	words->at += words->size;
	return true;
}

static bool skip_list(struct words *words)
{
	uint64_t word;

	do
		if (!next_word(words, &word))
			return false;
	while (word);
	return true;
}

static bool read_auxiliary(struct words *words, struct program_start *out)
{
	uint64_t type, value;

	do {
		if (!next_word(words, &type) || !next_word(words, &value))
			return false;
		if (type == AT_EXECFN) {
			out->name = value;
		} else if (type == AT_UID) {
			out->has_uid = true;
			out->uid = (uint32_t)value;
		} else if (type == AT_EUID) {
			out->euid = (uint32_t)value;
		} else if (type == AT_GID) {
			out->gid = (uint32_t)value;
		} else if (type == AT_EGID) {
			out->egid = (uint32_t)value;
		}
	} while (type != AT_NULL);
	return true;
}

bool program_start_read(struct replayer *replayer, const struct reg_table *regs,
			struct program_start *out)
{
	struct words words = {
		.replayer = replayer, .size = reg_word(regs),
		.at = replayer_reg(replayer, regs->sp),
	};
	uint64_t count;

	*out = (struct program_start) { 0 };
	if (!next_word(&words, &count) || count >= WORDS_MOST)
		return false;
	out->argv = words.at;
	words.at += count * words.size;
	if (!next_word(&words, &count) || count)
		return false;
	out->envp = words.at;
	return skip_list(&words) && read_auxiliary(&words, out);
}
