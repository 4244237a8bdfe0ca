/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virt.h - the machine "virt": its devices, and what it starts with
 *
 * All addresses and interrupts are those of QEMU's machine of this name.  It is
 * the world (board.h) of a live machine; a replay never needs it.
 *
 * Units:      as in board.h.
 * Ownership:  virt_destroy() ends it, and not the board.
 * Errors:     ERR_INPUT (a file is no good), ERR_SYSTEM, ERR_NO_MEMORY.
 */
#ifndef CPREC_VM_BOARD_VIRT_H
#define CPREC_VM_BOARD_VIRT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/region.h"
#include "vm/board/board.h"
#include "vm/board/disk.h"

struct failure;
struct pollfd;
struct virt;

#define VIRT_SEED 64u		/* bytes, for the kernel's random numbers */
#define VIRT_DRIVES 16u
#define VIRT_VIRTIO_NAME "virtio"	/* how the name of a region begins */

struct virt_options {
	const char *model;	/* of the processor */
	const char *kernel;	/* paths; the next two may be NULL, and `kernel`
				   of a machine that goes on */
	const char *initrd, *tree;	/* and the user's device tree */
	const char *devices;	/* of a machine that goes on: the name of the
				   region of virtio */
	const char *append;	/* the kernel's command line */
	unsigned cores;		/* 1 to BOARD_CORES_MOST */
	uint64_t memory;	/* bytes */
	uint64_t clock;		/* seconds since 1970, when it starts */
	uint8_t seed[VIRT_SEED];

	struct disk_options drives[VIRT_DRIVES];
	unsigned drive_count;
	bool network;		/* user_net.h */
	bool has_virtio_console;	/* what is typed goes there */

	/* What is written to the console. */
	void (*out)(void *context, uint8_t byte);

	/* The same of the virtio console; they are in memory. */
	void (*said)(void *context, uint64_t addr, const uint8_t *bytes,
		     size_t size);

	/* A device has changed memory. */
	void (*stored)(void *context, uint64_t addr, size_t size);

	/* Something is not as it should be. */
	void (*warn)(void *context, const char *text);
	void *context;
};

#define VIRT_MEMORY_LEAST (UINT64_C(16) << 20)
#define VIRT_MEMORY_MOST (UINT64_C(64) << 30)
#define VIRT_MEMORY_UNIT (UINT64_C(1) << 20)

int virt_create(struct virt **out, const struct virt_options *options,
		struct failure *why);
void virt_destroy(struct virt *virt);

struct board_ram virt_ram(const struct virt *virt);

/* Puts everything into the board's memory, and the processor to its start;
 * devices are as before that. */
void virt_start(struct virt *virt, struct board *board);
void virt_reset(struct virt *virt);

/*
 * Or it goes on where a recording is: its devices, which begin as at the start,
 * follow it on the way there, with this board; then they are another's.  What a
 * device answered; what it was told; memory was changed by devices, or the
 * present core `begins`; the firmware is called.
 */
void virt_connect(struct virt *virt, struct board *board);
void virt_follow_read(struct virt *virt, uint64_t addr, uint64_t value);
void virt_follow_write(struct virt *virt, uint64_t addr, unsigned size,
		       uint64_t value);
void virt_follow_stores(struct virt *virt, bool begins);
void virt_follow_call(struct virt *virt);

/*
 * Or they begin as at a key frame: their state, and blocks of disks that were
 * written before it (disk.h).
 */
struct state;
void virt_state(struct virt *virt, struct state *state);
unsigned virt_disks(const struct virt *virt);
bool virt_next_written(struct virt *virt, unsigned disk, uint64_t *block,
		    uint8_t bytes[GUEST_PAGE]);
void virt_follow_block(struct virt *virt, unsigned disk, uint64_t block,
		       const uint8_t bytes[GUEST_PAGE]);

/* RAM and devices, sorted by address.  Names say what is there. */
const struct region *virt_regions(const struct virt *virt, size_t *count);

/* ------- as a world ------- */

uint64_t virt_read(struct virt *virt, uint64_t addr, unsigned size);
void virt_write(struct virt *virt, uint64_t addr, unsigned size,
		uint64_t value);

/* Whether the present core is to be interrupted; one is to go on behind a
 * WFI. */
bool virt_interrupts(struct virt *virt);
bool virt_wakes(struct virt *virt, unsigned core);

unsigned virt_cores(const struct virt *virt);

/* Whether a core is switched on; whether it was, and has done nothing since:
 * from now on, it does, at `*entry` with that in x0. */
bool virt_is_on(const struct virt *virt, unsigned core);
bool virt_begins(struct virt *virt, unsigned core, uint64_t *entry,
		 uint64_t *context);

/* The tick at which that changes by itself; UINT64_MAX: never. */
uint64_t virt_next(const struct virt *virt);

/* Behind an HVC or SMC: sets x0, unless the machine ends; the core may be
 * switched off. */
enum virt_call { VIRT_GOES_ON, VIRT_OFF, VIRT_RESET };
enum virt_call virt_called(struct virt *virt, uint64_t *x0);

/*
 * Devices do what they have been asked for: their use of memory.  Not while the
 * board runs, which pauses for it.
 */
bool virt_has_work(const struct virt *virt);
void virt_work(struct virt *virt);

/* What is typed: how much there is room for. */
size_t virt_room(const struct virt *virt);
void virt_type(struct virt *virt, const uint8_t *bytes, size_t count);

/*
 * The network's connections, of which there are `room` at most: what is to be
 * waited for, and not longer than that, in microseconds.  Then what of it was
 * found.
 */
size_t virt_sockets(struct virt *virt, struct pollfd *out, size_t room,
		    uint64_t *wait);
void virt_found(struct virt *virt, const struct pollfd *found, size_t count);

#endif
