/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virtio_block.h - a disk that the guest reads and writes by virtio
 *
 * Source: Virtual I/O Device (VIRTIO) Version 1.2, section 5.2.
 */
#ifndef CPREC_VM_BOARD_VIRTIO_BLOCK_H
#define CPREC_VM_BOARD_VIRTIO_BLOCK_H

#include "vm/board/disk.h"
#include "vm/board/virtio.h"

/* Of devices that are a struct disk. */
extern const struct virtio_model virtio_block, virtio_block_readonly;

#endif
