/* SPDX-License-Identifier: GPL-2.0-or-later */
/* virtio_console.c - see virtio_console.h */
#include "vm/board/virtio_console.h"

#include <string.h>

enum { QUEUE_TYPED = 0, QUEUE_OUTPUT = 1 };

/* Columns, rows, ports: none of them is offered. */
#define CONFIG_SIZE 12u

static void config(const void *device, uint8_t *out)
{
	(void)device;
	memset(out, 0, CONFIG_SIZE);
}

static void give_typed(struct virtio *virtio)
{
	struct virtio_console *console = virtio->device;
	struct virtio_request request;

	while (console->count && virtio_take(virtio, QUEUE_TYPED, &request)) {
		size_t done = virtio_copy_to(virtio, &request, 0,
					     console->typed, console->count);

		console->count -= done;
		memmove(console->typed, console->typed + done, console->count);
		virtio_finish(virtio, &request, done);
	}
}

static void take_output(struct virtio *virtio)
{
	struct virtio_console *console = virtio->device;
	struct virtio_request request;

	while (virtio_take(virtio, QUEUE_OUTPUT, &request)) {
		for (unsigned i = 0; i < request.from.count; i++) {
			const struct virtio_piece *piece =
				&request.from.list[i];

			console->out(console->context, piece->addr,
				     virtio_bytes(virtio, piece), piece->size);
		}
		virtio_finish(virtio, &request, 0);
	}
}

static void serve(struct virtio *virtio, unsigned queue)
{
	if (queue == QUEUE_TYPED)
		give_typed(virtio);
	else
		take_output(virtio);
}

const struct virtio_model virtio_console = {
	.kind = VIRTIO_CONSOLE, .queues = 2, .waits = 1u << QUEUE_TYPED,
	.config_size = CONFIG_SIZE, .config = config, .serve = serve,
};

size_t virtio_console_room(const struct virtio_console *console)
{
	return VIRTIO_CONSOLE_ROOM - console->count;
}

void virtio_console_type(struct virtio *virtio, const uint8_t *bytes,
			 size_t count)
{
	struct virtio_console *console = virtio->device;

	memcpy(console->typed + console->count, bytes, count);
	console->count += count;
	virtio_notify(virtio, QUEUE_TYPED);
}
