/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loader.c - execve(2): where the program, its interpreter and stack go */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "formats/error.h"
#include "vm/linux/abi/abi.h"
#include "vm/linux/host/host.h"
#include "vm/linux/limits/limits.h"
#include "vm/linux/linux.h"
#include "vm/linux/load/image_internal.h"
#include "vm/linux/load/load_internal.h"
#include "vm/linux/load/stack_internal.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/process.h"

#define STACK_MOST (UINT64_C(8) << 20)

static uint64_t random_below(uint64_t limit)
{
	uint64_t value = 0;

	while (getrandom(&value, sizeof(value), 0) != sizeof(value))
		continue;
	return value % limit;
}

/* Pages by which an address is moved: none without randomization. */
static uint64_t random_pages(bool aslr, unsigned bits)
{
	return aslr ? random_below(UINT64_C(1) << bits) << GUEST_PAGE_SHIFT : 0;
}

/*
 * Where addresses end, and where in them programs without one of their own go:
 * as on Linux, or as far as memory reaches.
 */
static guest_addr settle_end(struct linux_process *process)
{
	const struct linux_abi *abi = process->abi;
	struct layout *layout = &process->space->layout;
	guest_addr reach = memory_reach(process->memory);

	layout->pie_base = abi->pie_base;
	if (abi->user_end <= reach)
		return abi->user_end;
	layout->pie_base = reach / 3 * 2 & ~(guest_addr)(GUEST_PAGE - 1);
	return reach - GUEST_PAGE;
}

static int map_stack(struct linux_process *process, bool aslr,
		     bool executable, struct failure *why)
{
	const struct linux_abi *abi = process->abi;
	struct layout *layout = &process->space->layout;
	uint64_t limit = limit_of(process, LIMIT_STACK), size = STACK_MOST;
	guest_addr end;
	struct region region = {
		.prot = MAY_READ | MAY_WRITE | (executable ? MAY_EXEC : 0),
		.kind = REGION_ANON,
		.name = "[stack]",
	};

	if (limit < size)
		size = page_up(limit + 1) + (128 << 10);
	end = settle_end(process);
	layout->stack_top = end - random_pages(aslr, abi->stack_bits);
	layout->stack_bottom = layout->stack_top - size;
	layout->mmap_top = end - abi->mmap_gap -
			   random_pages(aslr, abi->mmap_bits);
	if (aslr)	/* keep clear of the stack wherever it went */
		layout->mmap_top -= abi->mmap_gap_random;
	region.start = layout->stack_bottom;
	region.end = layout->stack_top;
	return memory_map(process->memory, &region, -1, why);
}

/* Whether the limits of memory leave room for it. */
static int check_room(struct linux_process *process, const struct image *image,
		      struct failure *why)
{
	if (limits_allow(process, image->high - image->low,
			 image_data_size(image)))
		return 0;
	return failed(why, ERR_INPUT,
		      "cannot run '%s': its limit of memory is too low",
		      image->path);
}

/* Maps a file that goes anywhere at the top of the mappings. */
static int map_high(struct linux_process *process, struct image *image,
		    struct failure *why)
{
	uint64_t size = image->high - image->low;
	guest_addr start = memory_find_gap(process->memory,
					   size + image->alignment,
					   process->space->layout.pie_base,
					   process->space->layout.mmap_top);

	if (!start)
		return failed(why, ERR_NO_MEMORY,
			      "cannot run '%s': no room in guest memory",
			      image->path);
	start = (start + image->alignment) & ~(image->alignment - 1);
	return image_map(image, process->memory, start - image->low, why);
}

static int map_program(struct linux_process *process, struct image *image,
		       bool aslr, struct failure *why)
{
	struct layout *layout = &process->space->layout;
	uint64_t bias = 0;
	int rc = check_room(process, image, why);

	if (rc)
		return rc;
	if (image->is_relative && !image->interpreter) {
		/* A static PIE is loaded like an interpreter. */
		layout->brk_start = layout->pie_base + GUEST_PAGE;
		rc = map_high(process, image, why);
	} else {
		if (image->is_relative) {
			bias = layout->pie_base +
			       random_pages(aslr, process->abi->pie_bits);
			bias -= image->low;
			bias &= ~(image->alignment - 1);
		}
		rc = image_map(image, process->memory, bias, why);
		layout->brk_start = page_up(image_end(image));
	}
	layout->brk_start += random_pages(aslr, process->abi->heap_bits);
	layout->brk = layout->brk_start;
	return rc;
}

/* Where code and data are, as Linux has it for proc(5). */
static void note_segments(struct layout *layout, const struct image *image)
{
	layout->code_start = UINT64_MAX;
	for (int i = 0; i < image->header.e_phnum; i++) {
		const Elf64_Phdr *segment = &image->segments[i];
		guest_addr start = segment->p_vaddr + image->bias;
		guest_addr end = start + segment->p_filesz;
		bool is_code = segment->p_flags & PF_X;

		if (segment->p_type != PT_LOAD)
			continue;
		if (is_code && start < layout->code_start)
			layout->code_start = start;
		if (is_code && end > layout->code_end)
			layout->code_end = end;
		if (start > layout->data_start)
			layout->data_start = start;
		if (end > layout->data_end)
			layout->data_end = end;
	}
	if (!layout->code_end)
		layout->code_start = 0;
}

static const char *package_of(const struct linux_abi *abi,
			      const char *interpreter)
{
	const struct linux_libraries *other = abi->others;

	while (other && other->interpreter &&
	       strcmp(other->interpreter, interpreter) != 0)
		other++;
	return other && other->interpreter ? other->package : abi->package;
}

/* Where it was looked for, and who may have it. */
static int no_interpreter(const struct linux_process *process,
			  const struct image *program, struct failure *why)
{
	const char *error = strerror(errno);
	const char *package = package_of(process->abi, program->interpreter);

	if (!package)
		return failed(why, ERR_INPUT,
			      "cannot run '%s': its interpreter '%s': %s",
			      program->path, program->interpreter, error);
	if (process->sysroot)
		return failed(why, ERR_INPUT,
			      "cannot run '%s': its interpreter '%s': %s, nor"
			      " is there '%s%s' (Debian's package %s has them)",
			      program->path, program->interpreter, error,
			      process->sysroot, program->interpreter, package);
	return failed(why, ERR_INPUT,
		      "cannot run '%s': its interpreter '%s': %s"
		      " (--sysroot=DIR says where the files of its system are;"
		      " Debian's package %s has them)",
		      program->path, program->interpreter, error, package);
}

/* `*path` is the caller's to free. */
static int load_interpreter(struct linux_process *process,
			    const struct image *program, struct image *image,
			    int *fd, char **path, struct failure *why)
{
	char wanted[PATH_MAX];
	int rc;

	snprintf(wanted, sizeof(wanted), "%s", program->interpreter);
	sysroot_redirect(process, process->abi, wanted);
	if (access(wanted, F_OK))
		return no_interpreter(process, program, why);
	*path = realpath(wanted, NULL);
	if (!*path)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = program_open(*path, fd, why);
	if (!rc)
		rc = image_read(image, process->abi, *fd, program->interpreter,
				*path, why);
	if (!rc)
		rc = check_room(process, image, why);
	if (rc)
		return rc;
	if (image->is_relative)
		return map_high(process, image, why);
	return image_map(image, process->memory, 0, why);
}

/* A page of the kernel's own code. */
static int map_code(struct linux_process *process, guest_addr start,
		    const char *name, const uint8_t *code, size_t size,
		    struct failure *why)
{
	const struct region region = {
		.start = start,
		.end = start + GUEST_PAGE,
		.prot = MAY_READ | MAY_EXEC,
		.kind = REGION_ANON,
		.name = name,
	};
	int rc = memory_map(process->memory, &region, -1, why);

	if (rc || !memory_poke(process->memory, start, code, size))
		return rc;
	return failed(why, ERR_SYSTEM, "cannot fill in a page of code");
}

/* Functions for programs, and what handlers return to, if it has them. */
static int map_kernel_code(struct linux_process *process, struct failure *why)
{
	const struct linux_abi *abi = process->abi;
	uint8_t page[GUEST_PAGE];
	int rc = 0;

	process->signal_page = 0;
	if (abi->helpers) {
		abi->fill_helpers(page);
		rc = map_code(process, abi->helpers, abi->helpers_name, page,
			      sizeof(page), why);
	}
	if (rc || !abi->signal_code)
		return rc;
	process->signal_page = memory_find_gap(process->memory, GUEST_PAGE,
					       process->space->layout.pie_base,
					       process->space->layout.mmap_top);
	return map_code(process, process->signal_page, "[sigpage]",
			abi->signal_code, abi->signal_code_size, why);
}

static int load(struct linux_process *process, const struct program *program,
		const struct linux_options *options, struct failure *why)
{
	struct image image = { 0 }, interpreter = { 0 };
	const struct image *first = &image;
	char *path = NULL;
	int fd = -1;
	int rc = image_read(&image, process->abi, program->fd, program->path,
			    process->program, why);

	if (!rc)
		rc = map_stack(process, options->aslr, image.exec_stack, why);
	if (!rc)
		rc = map_program(process, &image, options->aslr, why);
	if (!rc)
		note_segments(&process->space->layout, &image);
	if (!rc && image.interpreter) {
		rc = load_interpreter(process, &image, &interpreter, &fd,
				      &path, why);
		first = &interpreter;
	}
	if (!rc)
		rc = map_kernel_code(process, why);
	if (!rc)
		rc = stack_fill(process, program, options->envp, &image,
				interpreter.bias, why);
	if (!rc)
		process->abi->start(process->vm,
				    first->header.e_entry + first->bias,
				    process->space->layout.sp);
	if (fd >= 0)
		close(fd);
	free(path);
	image_release(&interpreter);
	image_release(&image);
	return rc;
}

int load_program(struct linux_process *process, const struct program *program,
		 const struct linux_options *options, struct failure *why)
{
	free(process->program);
	process->program = realpath(program->path, NULL);
	if (!process->program && errno == ENOENT)	/* it was deleted */
		process->program = strdup(program->path);
	if (!process->program)
		return failed(why, ERR_SYSTEM, "cannot resolve '%s': %s",
			      program->path, strerror(errno));
	title_show(program->typed, program->argv, options->envp);
	relatives_keep_exe(process, program->fd);
	return load(process, program, options, why);
}
