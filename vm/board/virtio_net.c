/* SPDX-License-Identifier: GPL-2.0-or-later */
/* virtio_net.c - see virtio_net.h */
#include "vm/board/virtio_net.h"

#include <string.h>

enum { QUEUE_RECEIVE = 0, QUEUE_SEND = 1 };

#define FEATURE_ADDRESS (UINT64_C(1) << 5)

/* Before each frame: nothing is left to the device; one buffer has it all. */
#define HEADER_SIZE 12u
#define BUFFERS_AT 10u

#define ADDRESS_SIZE 6u

/* QEMU's. */
static const uint8_t address[ADDRESS_SIZE] = { 0x52, 0x54, 0x00,
					       0x12, 0x34, 0x56 };

static void config(const void *device, uint8_t *out)
{
	(void)device;
	memcpy(out, address, ADDRESS_SIZE);
}

static void give_frames(struct virtio *virtio)
{
	static const uint8_t header[HEADER_SIZE] = { [BUFFERS_AT] = 1 };
	struct virtio_net *net = virtio->device;
	struct virtio_request request;

	while (net->count && virtio_take(virtio, QUEUE_RECEIVE, &request)) {
		const struct virtio_net_frame *frame =
			&net->waiting[net->first];
		uint64_t stored = HEADER_SIZE + frame->size;

		/* What does not fit is lost. */
		if (request.to.size < stored)
			stored = 0;
		if (stored) {
			virtio_copy_to(virtio, &request, 0, header,
				       HEADER_SIZE);
			virtio_copy_to(virtio, &request, HEADER_SIZE,
				       frame->bytes, frame->size);
		}
		net->first = (net->first + 1) % VIRTIO_NET_WAITING;
		net->count--;
		virtio_finish(virtio, &request, stored);
	}
}

static void take_frames(struct virtio *virtio)
{
	const struct virtio_net *net = virtio->device;
	uint8_t frame[VIRTIO_NET_FRAME];
	struct virtio_request request;

	while (virtio_take(virtio, QUEUE_SEND, &request)) {
		size_t size = virtio_copy_from(virtio, &request, HEADER_SIZE,
					       frame, sizeof(frame));

		if (size)
			net->send(net->context, frame, size);
		virtio_finish(virtio, &request, 0);
	}
}

static void serve(struct virtio *virtio, unsigned queue)
{
	if (queue == QUEUE_RECEIVE)
		give_frames(virtio);
	else
		take_frames(virtio);
}

const struct virtio_model virtio_net = {
	.kind = VIRTIO_NET, .queues = 2, .waits = 1u << QUEUE_RECEIVE,
	.config_size = ADDRESS_SIZE,
	.features = FEATURE_ADDRESS, .config = config, .serve = serve,
};

void virtio_net_receive(struct virtio *virtio, const uint8_t *frame,
			size_t size)
{
	struct virtio_net *net = virtio->device;
	struct virtio_net_frame *at =
		&net->waiting[(net->first + net->count) % VIRTIO_NET_WAITING];

	if (size > VIRTIO_NET_FRAME || net->count == VIRTIO_NET_WAITING)
		return;
	memcpy(at->bytes, frame, size);
	at->size = (uint16_t)size;
	net->count++;
	virtio_notify(virtio, QUEUE_RECEIVE);
}
