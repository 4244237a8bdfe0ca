/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image_internal.h - an ELF file, checked, and its segments mapped
 *
 * Everything in the file is doubted until image_read() has looked at it.
 *
 * Ownership:  image_release() frees what image_read() made; the descriptor
 *             and the names are borrowed.
 * Errors:     ERR_INPUT (not a program for this guest; damaged), ERR_SYSTEM,
 *             ERR_NO_MEMORY.
 */
#ifndef CPREC_VM_LINUX_LOAD_IMAGE_INTERNAL_H
#define CPREC_VM_LINUX_LOAD_IMAGE_INTERNAL_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

#include "formats/region.h"

struct failure;
struct linux_abi;
struct memory;

struct image {
	const struct linux_abi *abi;
	int fd;
	const char *path;	/* for messages */
	const char *name;	/* that the regions get */
	Elf64_Ehdr header;
	Elf64_Phdr *segments;
	uint64_t file_size;
	bool is_relative;	/* ET_DYN: goes anywhere */
	guest_addr low, high;	/* whole pages, without the bias */
	uint64_t alignment;	/* that the bias must have */
	uint64_t bias;		/* after image_map() */
	char *interpreter;	/* NULL if there is none */
	bool exec_stack;
};

int image_read(struct image *out, const struct linux_abi *abi, int fd,
	       const char *path, const char *name, struct failure *why);
void image_release(struct image *image);

/* Maps the segments at their addresses plus `bias`. */
int image_map(struct image *image, struct memory *memory, uint64_t bias,
	      struct failure *why);

/* Where the program headers are in guest memory; 0 if they are not. */
guest_addr image_headers(const struct image *image);

/* End of the last segment, not rounded. */
guest_addr image_end(const struct image *image);

/* How many bytes, in whole pages, will be writable. */
uint64_t image_data_size(const struct image *image);

#endif
