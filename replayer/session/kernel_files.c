/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_files.c - what a machine's kernel keeps of files in memory
 *
 * Source: Linux, include/linux/xarray.h: a tree of nodes with 64 slots, each of
 * them for 2^shift pages.  The lowest two bits of a pointer to a node are 2.
 */
#include "replayer/session/kernel_internal.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "replayer/replayer.h"

#define SLOTS 64u
#define SLOT_SHIFT 6
#define SHIFT_MOST 48u
#define FILE_MOST (UINT64_C(256) << 20)

enum place {
	FILE_NODE, FILE_PAGES, NODE_SIZE, PAGES_ROOT, TREE_SHIFT, TREE_SLOTS,
	PAGE_INDEX, TASK_AREA, AREA_ADDR, AREA_PAGES, PLACES
};

static const struct kernel_place places[PLACES] = {
	[FILE_NODE] = { "file", "f_inode" },
	[FILE_PAGES] = { "file", "f_mapping" },
	[NODE_SIZE] = { "inode", "i_size" },
	[PAGES_ROOT] = { "address_space", "i_pages.xa_head" },
	[TREE_SHIFT] = { "xa_node", "shift" },
	[TREE_SLOTS] = { "xa_node", "slots" },
	[PAGE_INDEX] = { "page", "index" },
	[TASK_AREA] = { "task_struct", "stack_vm_area" },
	[AREA_ADDR] = { "vm_struct", "addr" },
	[AREA_PAGES] = { "vm_struct", "pages" },
};

struct file {
	struct kernel *kernel;
	uint32_t at[PLACES];
	uint32_t page_size;	/* of the structure of a page */
	int fd;
	uint64_t pages;
	uint8_t *has;
	size_t count;		/* of pages that are there */
};

/* ------- pages ------- */

struct stack_search {
	struct file *file;
	uint64_t pages;
};

/*
 * The structures of all pages are in one row.  Of the stack of a process, the
 * kernel knows the structures of its pages, and the page tables where they are.
 */
static int look_at_stack(void *context, const struct kernel_process *process)
{
	struct stack_search *search = context;
	struct file *file = search->file;
	struct kernel *kernel = file->kernel;
	uint64_t area = kernel_pointer(kernel, process->task +
					       file->at[TASK_AREA]);
	uint64_t list = kernel_pointer(kernel, area + file->at[AREA_PAGES]);
	uint64_t page = kernel_pointer(kernel, list);
	uint64_t place = replayer_home(kernel->replayer, kernel_pointer(
				kernel, area + file->at[AREA_ADDR]));

	if (!area || !page || place == HOME_NONE)
		return 0;
	search->pages = page - (place >> GUEST_PAGE_SHIFT) * file->page_size;
	return 1;
}

static bool find_pages(struct file *file)
{
	struct stack_search search = { .file = file };
	struct kernel *kernel = file->kernel;

	if (!kernel->pages) {
		kernel_each_here(kernel, look_at_stack, &search, NULL);
		kernel->pages = search.pages;
	}
	return kernel->pages;
}

static void take_page(struct file *file, uint64_t page, uint64_t index)
{
	struct kernel *kernel = file->kernel;
	const struct address_space physical = { .is_physical = true };
	uint64_t place;
	uint8_t bytes[GUEST_PAGE], known[GUEST_PAGE];

	/* A large one begins with its first. */
	page += (index - kernel_number(kernel, page + file->at[PAGE_INDEX],
				       8)) * file->page_size;
	place = (page - kernel->pages) / file->page_size << GUEST_PAGE_SHIFT;
	replayer_use_space(kernel->replayer, &physical);
	if (index < file->pages && !file->has[index] &&
	    !replayer_read(kernel->replayer, place, bytes, known,
			   sizeof(bytes), NULL) && known[0] &&
	    pwrite(file->fd, bytes, sizeof(bytes),
		   (off_t)(index << GUEST_PAGE_SHIFT)) == sizeof(bytes)) {
		file->has[index] = 1;
		file->count++;
	}
	kernel_stay(kernel, NULL);
}

/* ------- the tree ------- */

/* A slot that belongs to one before it. */
static bool is_sibling(uint64_t pointer)
{
	return (pointer & 3) == 2 && pointer >> 2 < SLOTS - 1;
}

static void take_tree(struct file *file, uint64_t pointer, uint64_t from,
		      unsigned above)
{
	struct kernel *kernel = file->kernel;
	const uint64_t node = pointer - 2;
	const unsigned shift = (unsigned)kernel_number(
		kernel, node + file->at[TREE_SHIFT], 1);
	const uint64_t slots = node + file->at[TREE_SLOTS];

	if (shift >= above || shift > SHIFT_MOST)
		return;
	for (unsigned i = 0; i < SLOTS; i++) {
		uint64_t index = from + ((uint64_t)i << shift);
		uint64_t slot = kernel_pointer(kernel, slots + 8 * i);

		if (index >= file->pages)
			break;
		if (is_sibling(slot))
			slot = kernel_pointer(kernel, slots +
						      8 * (slot >> 2));
		if (kernel_is_node(slot) && shift)
			take_tree(file, slot, index, shift);
		else if (slot && !(slot & 3))
			for (uint64_t j = 0; j < UINT64_C(1) << shift &&
					     index + j < file->pages; j++)
				take_page(file, slot, index + j);
	}
}

static void take_all(struct file *file, uint64_t structure)
{
	struct kernel *kernel = file->kernel;
	uint64_t pages = kernel_pointer(kernel, structure +
						file->at[FILE_PAGES]);
	uint64_t root = kernel_pointer(kernel, pages + file->at[PAGES_ROOT]);

	if (kernel_is_node(root))
		take_tree(file, root, 0, SHIFT_MOST + 1);
	else if (root && !(root & 3))
		take_page(file, root, 0);
}

int kernel_file_bytes(struct kernel *kernel, uint64_t structure,
		      uint64_t *size, uint8_t **has, size_t *lacks)
{
	struct file file = { .kernel = kernel, .fd = -1 };

	if (kernel_places(kernel, places, PLACES, file.at) < PLACES ||
	    btf_size(&kernel->btf, "page", &file.page_size) ||
	    !find_pages(&file))
		return -1;
	*size = kernel_number(kernel, kernel_pointer(
			kernel, structure + file.at[FILE_NODE]) +
			file.at[NODE_SIZE], 8);
	if (!*size || *size > FILE_MOST)
		return -1;
	file.pages = (*size + GUEST_PAGE - 1) >> GUEST_PAGE_SHIFT;
	file.has = calloc(file.pages, 1);
	file.fd = memfd_create("cprec guest", MFD_CLOEXEC);
	if (file.has && file.fd >= 0)
		take_all(&file, structure);
	if (!file.count || ftruncate(file.fd, (off_t)*size)) {
		if (file.fd >= 0)
			close(file.fd);
		free(file.has);
		return -1;
	}
	*has = file.has;
	*lacks = file.pages - file.count;
	return file.fd;
}
