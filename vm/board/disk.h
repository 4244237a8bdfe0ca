/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * disk.h - an image of a disk, as it is, byte by byte
 *
 * What is written goes into the image; of a snapshot, into a file without a
 * name, which ends with the machine.
 *
 * Units:      sectors have 512 bytes.
 * Ownership:  disk_close() closes; a zeroed structure is no disk.
 * Errors:     ERR_INPUT (the image is no good), ERR_SYSTEM, ERR_NO_MEMORY.
 *             Later errors are told once, by `warn`, and the guest has them.
 */
#ifndef CPREC_VM_BOARD_DISK_H
#define CPREC_VM_BOARD_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/region.h"

struct failure;

#define DISK_SECTOR 512u

struct disk_options {
	const char *path;
	bool readonly;
	bool snapshot;		/* the image stays as it is */
};

struct disk {
	const struct disk_options *options;
	int image, changes;	/* files */
	uint64_t sectors;
	uint8_t *changed;	/* of a snapshot: a bit for each sector */
	uint8_t *written;	/* a bit for each block: disk_next_written() */
	bool is_open, warned;
	void (*warn)(void *context, const char *text);
	void *context;
};

/* `warn` and `context` are set. */
int disk_open(struct disk *disk, const struct disk_options *options,
	      struct failure *why);
void disk_close(struct disk *disk);

/* Whole sectors; false: it failed. */
bool disk_read(struct disk *disk, uint64_t sector, void *bytes, size_t size);
bool disk_write(struct disk *disk, uint64_t sector, const void *bytes,
		size_t size);
bool disk_flush(struct disk *disk);

/* Of a snapshot: what a sector was found to be. */
void disk_follow(struct disk *disk, uint64_t sector,
		 const uint8_t bytes[DISK_SECTOR]);

/*
 * Blocks have as many bytes as pages.  The first one from `*block` on that was
 * written, and has not been asked for since: its contents, with zeros behind the
 * disk's end.  And the way back.
 */
bool disk_next_written(struct disk *disk, uint64_t *block,
		    uint8_t bytes[GUEST_PAGE]);
void disk_follow_block(struct disk *disk, uint64_t block,
		       const uint8_t bytes[GUEST_PAGE]);

#endif
