/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virt_internal.h - the machine "virt" as its own files see it
 *
 * virt.c makes it and is a live machine's world; virt_follow.c has its devices
 * follow a recording.
 */
#ifndef CPREC_VM_BOARD_VIRT_INTERNAL_H
#define CPREC_VM_BOARD_VIRT_INTERNAL_H

#include "vm/board/gic.h"
#include "vm/board/pl011.h"
#include "vm/board/pl031.h"
#include "vm/board/psci.h"
#include "vm/board/start_file.h"
#include "vm/board/state.h"
#include "vm/board/user_net.h"
#include "vm/board/virt.h"
#include "vm/board/virt_tree.h"
#include "vm/board/virtio_block.h"
#include "vm/board/virtio_console.h"
#include "vm/board/virtio_entropy.h"
#include "vm/board/virtio_net.h"

struct virt {
	struct virt_options options;
	struct start_file kernel, initrd;
	struct output tree;
	struct board *board;
	struct gic gic;
	struct psci psci;
	struct pl011 console;
	struct pl031 clock;
	struct disk disks[VIRT_DRIVES];
	unsigned disk_count;	/* that are a device */
	struct virtio_net card;
	struct user_net *network;
	struct user_net_calls network_calls;
	struct virtio_console terminal;
	struct virtio virtio[VIRT_VIRTIO_COUNT];
	unsigned virtio_count;
	struct virtio *card_virtio, *terminal_virtio;	/* or NULL */
	struct virtio_memory memory;
	char virtio_name[VIRT_VIRTIO_COUNT * 9u];	/* of its region */
	struct region regions[VIRT_DEVICES + 1];
};

/* Devices raise and lower their lines. */
void virt_set_lines(struct virt *virt);

/* Only the device changes. */
void virt_write_device(struct virt *virt, uint64_t addr, unsigned size,
		       uint64_t value);

#endif
