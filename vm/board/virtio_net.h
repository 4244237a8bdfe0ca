/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virtio_net.h - a network card by virtio
 *
 * Source: Virtual I/O Device (VIRTIO) Version 1.2, section 5.1.
 */
#ifndef CPREC_VM_BOARD_VIRTIO_NET_H
#define CPREC_VM_BOARD_VIRTIO_NET_H

#include "vm/board/virtio.h"

#define VIRTIO_NET_FRAME 1514u		/* bytes, without a checksum */
#define VIRTIO_NET_WAITING 256u		/* frames for the guest */

struct virtio_net {
	struct virtio_net_frame {
		uint16_t size;
		uint8_t bytes[VIRTIO_NET_FRAME];
	} waiting[VIRTIO_NET_WAITING];
	size_t first, count;

	/* The guest sends a frame. */
	void (*send)(void *context, const uint8_t *frame, size_t size);
	void *context;
};

extern const struct virtio_model virtio_net;

/* A frame comes; without room, it is lost, as they may be. */
void virtio_net_receive(struct virtio *virtio, const uint8_t *frame,
			size_t size);

#endif
