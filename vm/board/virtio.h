/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virtio.h - devices that share queues in memory with the guest: virtio-mmio
 *
 * The transport, version 2, and its queues; what a device does is its model's.
 * A device works only between two blocks of code: what the guest asks for
 * waits until virtio_serve().  Then it has the requests of its queues, finishes
 * each at once, or leaves it there for later.
 *
 * Source: Virtual I/O Device (VIRTIO) Version 1.2, sections 2.7 and 4.2.
 *
 * Units:      addresses are physical.
 * Errors:     a guest that breaks the rules gets a device that needs a reset.
 */
#ifndef CPREC_VM_BOARD_VIRTIO_H
#define CPREC_VM_BOARD_VIRTIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VIRTIO_QUEUES 2u	/* that a device has at most */
#define VIRTIO_QUEUE_SIZE 256u
#define VIRTIO_CONFIG_MOST 64u	/* bytes of what it says of itself */

/* Kinds of devices. */
enum {
	VIRTIO_NET = 1, VIRTIO_BLOCK = 2, VIRTIO_CONSOLE = 3,
	VIRTIO_ENTROPY = 4,
};

/* The guest's memory. */
struct virtio_memory {
	/* NULL: not all of it is RAM. */
	const uint8_t *(*bytes)(void *context, uint64_t addr, uint64_t size);
	void (*store)(void *context, uint64_t addr, const void *bytes,
		      size_t size);
	void *context;
};

struct state;
struct virtio;
struct virtio_request;

/* What is the same for all devices of a kind. */
struct virtio_model {
	uint32_t kind;
	uint64_t features;	/* beside VIRTIO_F_VERSION_1 */
	unsigned queues;
	uint32_t waits;		/* queues for what comes from outside: bits */
	size_t config_size;
	void (*config)(const void *device, uint8_t *out);

	/* There are requests in a queue, or what they wait for has come. */
	void (*serve)(struct virtio *virtio, unsigned queue);

	/* A request was served, says who recorded it.  May be NULL. */
	void (*follow)(struct virtio *virtio,
		       const struct virtio_request *request);
};

struct virtio_queue {
	bool ready;
	uint32_t size;
	uint64_t table, available, used;
	uint16_t next;		/* request that is taken next */
};

struct virtio {
	const struct virtio_model *model;	/* NULL: nothing is there */
	void *device;
	const struct virtio_memory *memory;
	uint32_t status, interrupts, queue, features_word, driver_word;
	uint64_t features;	/* that the driver takes */
	uint32_t notified;	/* queues: a bit each */
	struct virtio_queue queues[VIRTIO_QUEUES];
};

uint64_t virtio_read(struct virtio *virtio, uint64_t offset, unsigned size);
void virtio_write(struct virtio *virtio, uint64_t offset, uint64_t value);

/* As before its driver found it. */
void virtio_reset(struct virtio *virtio);

/* Whether it wants to interrupt. */
bool virtio_interrupts(const struct virtio *virtio);

/* Does what the guest has asked for. */
void virtio_serve(struct virtio *virtio);

/* Something came from outside: the queue is served with the next. */
void virtio_notify(struct virtio *virtio, unsigned queue);

/* It has done what it was asked for: what it stored is in memory already. */
void virtio_follow(struct virtio *virtio);
void virtio_follow_read(struct virtio *virtio, uint64_t offset, uint64_t value);

/* The transport's: a device has nothing besides but what comes from outside. */
void virtio_state(struct virtio *virtio, unsigned number, struct state *state);

/* ------- for models ------- */

/* Pieces of memory, one after the other. */
struct virtio_pieces {
	struct virtio_piece {
		uint64_t addr;
		uint32_t size;
	} list[VIRTIO_QUEUE_SIZE];
	unsigned count;
	uint64_t size;		/* of all */
};

struct virtio_request {
	unsigned queue;
	uint16_t head;
	struct virtio_pieces from, to;	/* the guest; to it */
};

/* Whether there is a request: it is taken. */
bool virtio_take(struct virtio *virtio, unsigned queue,
		 struct virtio_request *out);

/* It is done; so many bytes were stored. */
void virtio_finish(struct virtio *virtio, const struct virtio_request *request,
		   uint64_t stored);

/* The bytes of a piece. */
const uint8_t *virtio_bytes(const struct virtio *virtio,
			    const struct virtio_piece *piece);

/* Copies from and to the pieces, from an offset on; how much there is. */
size_t virtio_copy_from(struct virtio *virtio,
			const struct virtio_request *request, uint64_t offset,
			void *bytes, size_t size);
/* The same of what was stored there. */
size_t virtio_look_at(struct virtio *virtio,
		      const struct virtio_request *request, uint64_t offset,
		      void *bytes, size_t size);
size_t virtio_copy_to(struct virtio *virtio,
		      const struct virtio_request *request, uint64_t offset,
		      const void *bytes, size_t size);

#endif
