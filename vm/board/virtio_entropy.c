/* SPDX-License-Identifier: GPL-2.0-or-later */
/* virtio_entropy.c - see virtio_entropy.h */
#include "vm/board/virtio_entropy.h"

#include <sys/random.h>

/* All that a request gets; the system gives so much at once. */
#define BYTES_MOST 256u

static void serve(struct virtio *virtio, unsigned queue)
{
	struct virtio_request request;
	uint8_t bytes[BYTES_MOST];

	while (virtio_take(virtio, queue, &request)) {
		ssize_t count = getrandom(bytes, sizeof(bytes), 0);
		size_t stored = 0;

		if (count > 0)
			stored = virtio_copy_to(virtio, &request, 0, bytes,
						(size_t)count);
		virtio_finish(virtio, &request, stored);
	}
}

const struct virtio_model virtio_entropy = {
	.kind = VIRTIO_ENTROPY, .queues = 1, .serve = serve,
};
