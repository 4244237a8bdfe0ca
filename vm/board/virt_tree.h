/* SPDX-License-Identifier: GPL-2.0-or-later */
/* virt_tree.h - where things are in the machine "virt", and its device tree */
#ifndef CPREC_VM_BOARD_VIRT_TREE_H
#define CPREC_VM_BOARD_VIRT_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "formats/bytes.h"
#include "vm/board/virt.h"

#define VIRT_DEVICES 5u

#define VIRT_GIC_DISTRIBUTOR UINT64_C(0x08000000)
#define VIRT_GIC_PROCESSOR UINT64_C(0x08010000)
#define VIRT_GIC_SIZE UINT64_C(0x10000)
#define VIRT_CONSOLE UINT64_C(0x09000000)
#define VIRT_CLOCK UINT64_C(0x09010000)
#define VIRT_DEVICE_SIZE UINT64_C(0x1000)
#define VIRT_VIRTIO UINT64_C(0x0a000000)
#define VIRT_VIRTIO_SIZE UINT64_C(0x200)	/* of each */
#define VIRT_VIRTIO_COUNT 32u
#define VIRT_RAM UINT64_C(0x40000000)

/* Interrupts of the processor's own, and shared ones, from GIC_SHARED on. */
#define VIRT_PPI_SECURE 13u
#define VIRT_PPI_PHYSICAL 14u
#define VIRT_PPI_VIRTUAL 11u
#define VIRT_PPI_HIGHER 10u
#define VIRT_IRQ_TIMER (16u + VIRT_PPI_VIRTUAL)
#define VIRT_IRQ_TIMER_PHYSICAL (16u + VIRT_PPI_PHYSICAL)
#define VIRT_SPI_CONSOLE 1u
#define VIRT_SPI_CLOCK 2u
#define VIRT_SPI_VIRTIO 16u	/* of the first one */

struct device_tree;

struct virt_tree {
	const struct virt_options *options;
	const struct region *regions;	/* what is there */
	size_t region_count;
	uint64_t initrd, initrd_size;	/* 0: there is none */
	unsigned virtio;		/* so many devices */
};

/* ERR_NO_MEMORY. */
int virt_tree_make(struct output *out, const struct virt_tree *about);

/* Where the initial file system is, if there is one: in the node "chosen". */
void virt_tree_initrd(struct device_tree *tree, const struct virt_tree *about);

#endif
