/* SPDX-License-Identifier: GPL-2.0-or-later */
/* virtio.c - see virtio.h */
#include "vm/board/virtio.h"

#include <string.h>

#include "formats/bytes.h"
#include "vm/board/state.h"

enum {
	MAGIC = 0x000, VERSION = 0x004, KIND = 0x008, VENDOR = 0x00c,
	FEATURES = 0x010, FEATURES_WORD = 0x014, DRIVER_FEATURES = 0x020,
	DRIVER_WORD = 0x024, QUEUE = 0x030, QUEUE_MOST = 0x034,
	QUEUE_SIZE = 0x038, QUEUE_READY = 0x044, QUEUE_NOTIFY = 0x050,
	INTERRUPTS = 0x060, INTERRUPTS_SEEN = 0x064, STATUS = 0x070,
	QUEUE_TABLE = 0x080, QUEUE_AVAILABLE = 0x090, QUEUE_USED = 0x0a0,
	SHARED_LENGTH = 0x0b0, SHARED_END = 0x0c0, CONFIG = 0x100,
};

#define MAGIC_VALUE 0x74726976u		/* "virt" */
#define VERSION_VALUE 2u
#define VENDOR_VALUE 0x554d4551u	/* as QEMU's */

#define FEATURE_VERSION_1 (UINT64_C(1) << 32)
#define STATUS_FEATURES_OK 8u
#define STATUS_NEEDS_RESET 64u

#define INTERRUPT_USED 1u
#define INTERRUPT_CONFIG 2u

/* Of the available ring: its driver wants no interrupts. */
#define AVAILABLE_IS_POLLED 1u

/* Descriptors. */
#define DESCRIPTOR_SIZE 16u
#define HAS_NEXT 1u
#define IS_WRITTEN 2u

/* ------- registers ------- */

static uint64_t offered(const struct virtio *virtio)
{
	return virtio->model->features | FEATURE_VERSION_1;
}

static uint64_t read_config(const struct virtio *virtio, uint64_t offset,
			    unsigned size)
{
	uint8_t bytes[VIRTIO_CONFIG_MOST + sizeof(uint64_t)] = { 0 };
	uint64_t value = 0;

	if (offset >= virtio->model->config_size)
		return 0;
	virtio->model->config(virtio->device, bytes);
	for (unsigned i = size; i-- > 0;)
		value = value << 8 | bytes[offset + i];
	return value;
}

static struct virtio_queue *queue_of(struct virtio *virtio)
{
	return virtio->queue < virtio->model->queues ?
		       &virtio->queues[virtio->queue] : NULL;
}

static uint64_t read_register(struct virtio *virtio, uint64_t offset)
{
	const struct virtio_queue *queue = queue_of(virtio);

	switch (offset) {
	case KIND:
		return virtio->model->kind;
	case FEATURES:
		return virtio->features_word > 1 ? 0 :
		       (uint32_t)(offered(virtio) >>
				  32 * virtio->features_word);
	case QUEUE_MOST:
		return queue ? VIRTIO_QUEUE_SIZE : 0;
	case QUEUE_READY:
		return queue && queue->ready;
	case INTERRUPTS:
		return virtio->interrupts;
	case STATUS:
		return virtio->status;
	default:
		/* There is no memory of its own: -1 says so. */
		return offset >= SHARED_LENGTH && offset < SHARED_END ?
			       UINT32_MAX : 0;
	}
}

uint64_t virtio_read(struct virtio *virtio, uint64_t offset, unsigned size)
{
	switch (offset) {
	case MAGIC:
		return MAGIC_VALUE;
	case VERSION:
		return VERSION_VALUE;
	case VENDOR:
		return VENDOR_VALUE;
	}
	if (!virtio->model)
		return 0;
	return offset >= CONFIG ? read_config(virtio, offset - CONFIG, size) :
				  read_register(virtio, offset);
}

static void set_word(uint64_t *number, uint64_t offset, uint32_t value)
{
	unsigned shift = offset & 4 ? 32 : 0;

	*number = (*number & ~((uint64_t)UINT32_MAX << shift)) |
		  (uint64_t)value << shift;
}

void virtio_reset(struct virtio *virtio)
{
	*virtio = (struct virtio){
		.model = virtio->model, .device = virtio->device,
		.memory = virtio->memory,
	};
}

static void set_status(struct virtio *virtio, uint32_t status)
{
	if (!status) {
		virtio_reset(virtio);
		return;
	}
	/* Drivers of before version 1, and what was not offered, are refused. */
	if (virtio->features & ~offered(virtio) ||
	    !(virtio->features & FEATURE_VERSION_1))
		status &= ~STATUS_FEATURES_OK;
	virtio->status = status | (virtio->status & STATUS_NEEDS_RESET);
}

static void write_queue(struct virtio_queue *queue, uint64_t offset,
			uint32_t value)
{
	switch (offset) {
	case QUEUE_SIZE:
		if (value <= VIRTIO_QUEUE_SIZE && !(value & (value - 1)))
			queue->size = value;
		break;
	case QUEUE_READY:
		queue->ready = value & 1;
		if (!queue->ready)
			queue->next = 0;
		break;
	case QUEUE_TABLE:
	case QUEUE_TABLE + 4:
		set_word(&queue->table, offset, value);
		break;
	case QUEUE_AVAILABLE:
	case QUEUE_AVAILABLE + 4:
		set_word(&queue->available, offset, value);
		break;
	case QUEUE_USED:
	case QUEUE_USED + 4:
		set_word(&queue->used, offset, value);
		break;
	}
}

static void write_register(struct virtio *virtio, uint64_t offset,
			   uint32_t value)
{
	struct virtio_queue *queue = queue_of(virtio);

	switch (offset) {
	case FEATURES_WORD:
		virtio->features_word = value;
		break;
	case DRIVER_WORD:
		virtio->driver_word = value;
		break;
	case DRIVER_FEATURES:
		if (virtio->driver_word < 2)
			set_word(&virtio->features, 4 * virtio->driver_word,
				 value);
		break;
	case QUEUE:
		virtio->queue = value;
		break;
	case QUEUE_NOTIFY:
		if (value < virtio->model->queues)
			virtio_notify(virtio, value);
		break;
	case INTERRUPTS_SEEN:
		virtio->interrupts &= ~value;
		break;
	case STATUS:
		set_status(virtio, value);
		break;
	default:
		if (queue)
			write_queue(queue, offset, value);
	}
}

void virtio_write(struct virtio *virtio, uint64_t offset, uint64_t value)
{
	if (virtio->model && offset < CONFIG)
		write_register(virtio, offset, (uint32_t)value);
}

bool virtio_interrupts(const struct virtio *virtio)
{
	return virtio->interrupts;
}

/* ------- queues ------- */

/* The guest broke a rule: nothing is done any more. */
static void give_up_on(struct virtio *virtio)
{
	virtio->status |= STATUS_NEEDS_RESET;
	virtio->interrupts |= INTERRUPT_CONFIG;
}

static const uint8_t *bytes_at(const struct virtio *virtio, uint64_t addr,
			       uint64_t size)
{
	return virtio->memory->bytes(virtio->memory->context, addr, size);
}

static bool get(struct virtio *virtio, uint64_t addr, unsigned size,
		uint64_t *out)
{
	const uint8_t *bytes = bytes_at(virtio, addr, size);
	struct input in = { bytes, bytes + size, 0 };

	if (!bytes) {
		give_up_on(virtio);
		return false;
	}
	*out = input_uint(&in, size);
	return true;
}

static void store(struct virtio *virtio, uint64_t addr, const void *bytes,
		  size_t size)
{
	virtio->memory->store(virtio->memory->context, addr, bytes, size);
}

static bool add_piece(struct virtio *virtio, struct virtio_pieces *pieces,
		      uint64_t addr, uint64_t size)
{
	if (pieces->count == VIRTIO_QUEUE_SIZE || !bytes_at(virtio, addr, size))
		return false;
	pieces->list[pieces->count++] =
		(struct virtio_piece){ addr, (uint32_t)size };
	pieces->size += size;
	return true;
}

/* Follows a chain of descriptors. */
static bool read_chain(struct virtio *virtio, const struct virtio_queue *queue,
		       struct virtio_request *out)
{
	uint64_t number = out->head, addr, size, flags, at;

	for (uint32_t left = queue->size; left; left--) {
		at = queue->table + number * DESCRIPTOR_SIZE;
		if (number >= queue->size || !get(virtio, at, 8, &addr) ||
		    !get(virtio, at + 8, 4, &size) ||
		    !get(virtio, at + 12, 2, &flags) ||
		    !get(virtio, at + 14, 2, &number) ||
		    !add_piece(virtio, flags & IS_WRITTEN ? &out->to :
							    &out->from,
			       addr, size))
			return false;
		if (!(flags & HAS_NEXT))
			return true;
	}
	return false;
}

bool virtio_take(struct virtio *virtio, unsigned number,
		 struct virtio_request *out)
{
	struct virtio_queue *queue = &virtio->queues[number];
	uint64_t newest, head;

	if (!queue->ready || !queue->size ||
	    virtio->status & STATUS_NEEDS_RESET ||
	    !get(virtio, queue->available + 2, 2, &newest) ||
	    newest == queue->next ||
	    !get(virtio, queue->available + 4 +
			 2 * (queue->next % queue->size), 2, &head))
		return false;
	out->queue = number;
	out->head = (uint16_t)head;
	out->from.count = out->to.count = 0;
	out->from.size = out->to.size = 0;
	queue->next++;
	if (read_chain(virtio, queue, out))
		return true;
	give_up_on(virtio);
	return false;
}

void virtio_finish(struct virtio *virtio, const struct virtio_request *request,
		   uint64_t stored)
{
	const struct virtio_queue *queue = &virtio->queues[request->queue];
	struct { uint32_t head, stored; } done = { request->head,
						   (uint32_t)stored };
	uint64_t used, flags, at;
	uint16_t next;

	if (!get(virtio, queue->used + 2, 2, &used) ||
	    !get(virtio, queue->available, 2, &flags))
		return;
	at = queue->used + 4 + sizeof(done) * (used % queue->size);
	if (!bytes_at(virtio, at, sizeof(done))) {
		give_up_on(virtio);
		return;
	}
	next = (uint16_t)(used + 1);
	store(virtio, at, &done, sizeof(done));
	store(virtio, queue->used + 2, &next, sizeof(next));
	if (!(flags & AVAILABLE_IS_POLLED))
		virtio->interrupts |= INTERRUPT_USED;
}

const uint8_t *virtio_bytes(const struct virtio *virtio,
			    const struct virtio_piece *piece)
{
	return bytes_at(virtio, piece->addr, piece->size);
}

/* The next part of pieces that [offset, offset + size) has. */
static bool next_part(const struct virtio_pieces *pieces, uint64_t offset,
		      size_t size, struct virtio_piece *out)
{
	unsigned i = 0;

	while (i < pieces->count && offset >= pieces->list[i].size)
		offset -= pieces->list[i++].size;
	if (i == pieces->count || !size)
		return false;
	*out = pieces->list[i];
	out->addr += offset;
	out->size -= (uint32_t)offset;
	if (out->size > size)
		out->size = (uint32_t)size;
	return true;
}

static size_t copy(const struct virtio *virtio,
		   const struct virtio_pieces *pieces, uint64_t offset,
		   void *bytes, size_t size)
{
	struct virtio_piece part;
	size_t done = 0;

	while (next_part(pieces, offset + done, size - done, &part)) {
		memcpy((uint8_t *)bytes + done,
		       bytes_at(virtio, part.addr, part.size), part.size);
		done += part.size;
	}
	return done;
}

size_t virtio_copy_from(struct virtio *virtio,
			const struct virtio_request *request, uint64_t offset,
			void *bytes, size_t size)
{
	return copy(virtio, &request->from, offset, bytes, size);
}

size_t virtio_look_at(struct virtio *virtio,
		      const struct virtio_request *request, uint64_t offset,
		      void *bytes, size_t size)
{
	return copy(virtio, &request->to, offset, bytes, size);
}

size_t virtio_copy_to(struct virtio *virtio,
		      const struct virtio_request *request, uint64_t offset,
		      const void *bytes, size_t size)
{
	struct virtio_piece part;
	size_t done = 0;

	while (next_part(&request->to, offset + done, size - done, &part)) {
		store(virtio, part.addr, (const uint8_t *)bytes + done,
		      part.size);
		done += part.size;
	}
	return done;
}

/* ------- what a device does ------- */

void virtio_notify(struct virtio *virtio, unsigned queue)
{
	virtio->notified |= 1u << queue;
}

void virtio_serve(struct virtio *virtio)
{
	uint32_t notified = virtio->notified;

	virtio->notified = 0;
	for (unsigned i = 0; i < VIRTIO_QUEUES; i++)
		if (notified >> i & 1 && virtio->queues[i].ready)
			virtio->model->serve(virtio, i);
}

/* Requests are served in order, and all that was taken is. */
static void follow_queue(struct virtio *virtio, unsigned number)
{
	struct virtio_queue *queue = &virtio->queues[number];
	struct virtio_request request;
	uint64_t used, flags;

	while (queue->ready && get(virtio, queue->used + 2, 2, &used) &&
	       used != queue->next &&
	       virtio_take(virtio, number, &request)) {
		if (virtio->model->follow)
			virtio->model->follow(virtio, &request);
		if (get(virtio, queue->available, 2, &flags) &&
		    !(flags & AVAILABLE_IS_POLLED))
			virtio->interrupts |= INTERRUPT_USED;
	}
}

/* A request that nothing shows is done was served if it broke a rule. */
static void follow_broken(struct virtio *virtio, unsigned number)
{
	struct virtio_queue *queue = &virtio->queues[number];
	const uint16_t next = queue->next;
	struct virtio_request request;

	if (virtio_take(virtio, number, &request))
		queue->next = next;
}

void virtio_follow(struct virtio *virtio)
{
	const uint32_t served = virtio->notified & ~virtio->model->waits;

	virtio->notified = 0;
	for (unsigned i = 0; i < virtio->model->queues; i++) {
		follow_queue(virtio, i);
		if (served >> i & 1)
			follow_broken(virtio, i);
	}
}

/* What came from outside found a request that broke a rule. */
void virtio_follow_read(struct virtio *virtio, uint64_t offset, uint64_t value)
{
	if (!(offset == STATUS && value & STATUS_NEEDS_RESET) &&
	    !(offset == INTERRUPTS && value & INTERRUPT_CONFIG))
		return;
	for (unsigned i = 0; i < virtio->model->queues; i++)
		follow_broken(virtio, i);
}

void virtio_state(struct virtio *virtio, unsigned number, struct state *state)
{
	state_device(state, "virtio", number);
	STATE_NUMBER(state, virtio->status, UINT32_MAX);
	STATE_NUMBER(state, virtio->interrupts, UINT32_MAX);
	STATE_NUMBER(state, virtio->queue, UINT32_MAX);
	STATE_NUMBER(state, virtio->features_word, UINT32_MAX);
	STATE_NUMBER(state, virtio->driver_word, UINT32_MAX);
	STATE_NUMBER(state, virtio->features, UINT64_MAX);
	STATE_NUMBER(state, virtio->notified, (1u << VIRTIO_QUEUES) - 1);
	STATE_MEMBERS(state, virtio->queues, ready, 1);
	STATE_MEMBERS(state, virtio->queues, size, VIRTIO_QUEUE_SIZE);
	STATE_MEMBERS(state, virtio->queues, table, UINT64_MAX);
	STATE_MEMBERS(state, virtio->queues, available, UINT64_MAX);
	STATE_MEMBERS(state, virtio->queues, used, UINT64_MAX);
	STATE_MEMBERS(state, virtio->queues, next, UINT16_MAX);
}
