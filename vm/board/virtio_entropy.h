/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virtio_entropy.h - random numbers of the host
 *
 * Source: Virtual I/O Device (VIRTIO) Version 1.2, section 5.4.
 */
#ifndef CPREC_VM_BOARD_VIRTIO_ENTROPY_H
#define CPREC_VM_BOARD_VIRTIO_ENTROPY_H

#include "vm/board/virtio.h"

extern const struct virtio_model virtio_entropy;

#endif
