/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack.c - see stack_internal.h; in the order of Linux's create_elf_tables()
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <unistd.h>

#include "formats/error.h"
#include "vm/linux/abi/abi.h"
#include "vm/linux/load/image_internal.h"
#include "vm/linux/load/load.h"
#include "vm/linux/load/stack_internal.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/process.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif
struct builder {
	struct linux_process *process;
	guest_addr sp;
	guest_addr limit;	/* the stack may not be filled further */
	int error;
};

static guest_addr put(struct builder *build, const void *bytes, size_t size)
{
	if (build->error)
		return 0;
	if (size > build->sp - build->limit) {
		build->error = ERR_INPUT;
		return 0;
	}
	build->sp -= size;
	build->error = memory_poke(build->process->memory, build->sp, bytes,
				   size);
	return build->sp;
}

static guest_addr put_string(struct builder *build, const char *text)
{
	return put(build, text, strlen(text) + 1);
}

static size_t count(char *const *vector)
{
	size_t entries = 0;

	while (vector && vector[entries])
		entries++;
	return entries;
}

/* The strings, last one first; `at` gets their addresses. */
static void put_strings(struct builder *build, char *const *vector,
			size_t entries, uint64_t *at)
{
	while (entries-- > 0)
		at[entries] = put_string(build, vector[entries]);
}

struct auxiliary {
	uint64_t at[48];
	size_t entries;
};

/* Makes words of the guest's of some of 8 bytes; returns how many bytes. */
static size_t pack(uint8_t *to, const uint64_t *from, size_t count,
		   unsigned word)
{
	for (size_t i = 0; i < count; i++)
		memmove(to + i * word, &from[i], word);
	return count * word;
}

static void add(struct auxiliary *aux, uint64_t type, uint64_t value)
{
	aux->at[aux->entries++] = type;
	aux->at[aux->entries++] = value;
}

static void fill_auxiliary(struct layout *layout, const struct linux_abi *abi,
			   const struct image *image, guest_addr base,
			   guest_addr name, guest_addr machine,
			   guest_addr bytes)
{
	struct auxiliary aux = { .entries = 0 };

	add(&aux, AT_MINSIGSTKSZ, abi->frame_most);
	add(&aux, AT_HWCAP, abi->hwcap);
	add(&aux, AT_PAGESZ, GUEST_PAGE);
	add(&aux, AT_CLKTCK, 100);
	add(&aux, AT_PHDR, image_headers(image));
	add(&aux, AT_PHENT, image->header.e_phentsize);
	add(&aux, AT_PHNUM, image->header.e_phnum);
	add(&aux, AT_BASE, base);
	add(&aux, AT_FLAGS, 0);
	add(&aux, AT_ENTRY, image->header.e_entry + image->bias);
	add(&aux, AT_UID, getuid());
	add(&aux, AT_EUID, geteuid());
	add(&aux, AT_GID, getgid());
	add(&aux, AT_EGID, getegid());
	add(&aux, AT_SECURE, 0);
	add(&aux, AT_RANDOM, bytes);
	add(&aux, AT_HWCAP2, abi->hwcap2);
	add(&aux, AT_EXECFN, name);
	add(&aux, AT_PLATFORM, machine);
	add(&aux, AT_NULL, 0);
	layout->auxv_bytes = pack(layout->auxv, aux.at, aux.entries,
				  abi->word);
}

/* argc, argv, envp and the auxiliary vector, from `words` up. */
static void put_vectors(struct builder *build, uint64_t *words, size_t count)
{
	const struct layout *layout = &build->process->space->layout;
	unsigned word = build->process->abi->word;
	size_t size = count * word;

	build->sp = (build->sp - size - layout->auxv_bytes) & ~UINT64_C(15);
	build->sp += size + layout->auxv_bytes;
	put(build, layout->auxv, layout->auxv_bytes);
	/* In place: a word is no larger. */
	pack((uint8_t *)words, words, count, word);
	put(build, words, size);
}

int stack_fill(struct linux_process *process, const struct program *program,
	       char *const *envp, const struct image *image, guest_addr base,
	       struct failure *why)
{
	struct layout *layout = &process->space->layout;
	uint64_t room = layout->stack_top - layout->stack_bottom;
	struct builder build = {
		.process = process,
		.sp = layout->stack_top - 8,
		.limit = layout->stack_top - room / 2,
	};
	size_t argc = program->argc, envc = count(envp);
	uint64_t *words = calloc(argc + envc + 3, sizeof(*words));
	uint8_t random[16];
	guest_addr name, machine, bytes;

	if (!words)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	while (getrandom(random, sizeof(random), 0) != sizeof(random))
		continue;
	words[0] = argc;
	name = put_string(&build, program->typed);
	layout->env_end = name;
	put_strings(&build, envp, envc, words + argc + 2);
	layout->args_end = build.sp;
	put_strings(&build, program->argv, argc, words + 1);
	layout->args_start = build.sp;
	build.sp &= ~UINT64_C(15);
	machine = put_string(&build, process->abi->machine);
	bytes = put(&build, random, sizeof(random));
	fill_auxiliary(layout, process->abi, image, base, name, machine, bytes);
	put_vectors(&build, words, argc + envc + 3);
	free(words);
	layout->sp = build.sp;
	if (build.error == ERR_INPUT)
		return failed(why, ERR_INPUT,
			      "cannot run '%s': its arguments and environment "
			      "are too long",
			      program->typed);
	if (build.error)
		return failed(why, ERR_SYSTEM, "cannot fill in the stack");
	return 0;
}
