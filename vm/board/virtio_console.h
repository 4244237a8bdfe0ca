/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virtio_console.h - a console by virtio, with one port
 *
 * Source: Virtual I/O Device (VIRTIO) Version 1.2, section 5.3.
 */
#ifndef CPREC_VM_BOARD_VIRTIO_CONSOLE_H
#define CPREC_VM_BOARD_VIRTIO_CONSOLE_H

#include "vm/board/virtio.h"

#define VIRTIO_CONSOLE_ROOM 4096u

struct virtio_console {
	uint8_t typed[VIRTIO_CONSOLE_ROOM];
	size_t count;

	/* Bytes that the guest writes; in its memory they are at `addr`. */
	void (*out)(void *context, uint64_t addr, const uint8_t *bytes,
		    size_t size);
	void *context;
};

extern const struct virtio_model virtio_console;

/* How many bytes there is room for; they come in. */
size_t virtio_console_room(const struct virtio_console *console);
void virtio_console_type(struct virtio *virtio, const uint8_t *bytes,
			 size_t count);

#endif
