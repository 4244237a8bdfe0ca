/* SPDX-License-Identifier: GPL-2.0-or-later */
/* virtio_block.c - see virtio_block.h */
#include "vm/board/virtio_block.h"

#include <stdio.h>
#include <string.h>

#include "formats/bytes.h"

#define FEATURE_PIECES (UINT64_C(1) << 2)	/* how many a request has */
#define FEATURE_READONLY (UINT64_C(1) << 5)
#define FEATURE_FLUSH (UINT64_C(1) << 9)

enum { TYPE_IN = 0, TYPE_OUT = 1, TYPE_FLUSH = 4, TYPE_NAME = 8 };
enum { DONE = 0, FAILED = 1, UNSUPPORTED = 2 };

#define HEADER_SIZE 16u
#define NAME_SIZE 20u

/* At once; a multiple of sectors. */
#define CHUNK 32768u

/* Capacity; and pieces at 12: head and status take one each. */
#define CONFIG_SIZE 16u
#define PIECES_AT 12u

static void put(uint8_t *out, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		out[i] = (uint8_t)(value >> 8 * i);
}

static void config(const void *device, uint8_t *out)
{
	const struct disk *disk = device;

	put(out, disk->sectors, 8);
	put(out + PIECES_AT, VIRTIO_QUEUE_SIZE - 2, 4);
}

/* Bytes between head and status: data of a read, of a write. */
static uint64_t data_size(const struct virtio_request *request, uint32_t type)
{
	return type == TYPE_OUT ? request->from.size - HEADER_SIZE :
				  request->to.size - 1;
}

static unsigned read_sectors(struct virtio *virtio,
			     const struct virtio_request *request,
			     uint64_t sector, uint64_t *stored)
{
	uint8_t bytes[CHUNK];
	uint64_t size = data_size(request, TYPE_IN);

	while (*stored < size) {
		size_t part = size - *stored < CHUNK ?
				      (size_t)(size - *stored) : CHUNK;

		if (!disk_read(virtio->device, sector + *stored / DISK_SECTOR,
			       bytes, part))
			return FAILED;
		virtio_copy_to(virtio, request, *stored, bytes, part);
		*stored += part;
	}
	return DONE;
}

static unsigned write_sectors(struct virtio *virtio,
			      const struct virtio_request *request,
			      uint64_t sector)
{
	uint8_t bytes[CHUNK];
	uint64_t size = data_size(request, TYPE_OUT);

	for (uint64_t done = 0; done < size;) {
		size_t part = size - done < CHUNK ? (size_t)(size - done) :
						    CHUNK;

		virtio_copy_from(virtio, request, HEADER_SIZE + done, bytes,
				 part);
		if (!disk_write(virtio->device, sector + done / DISK_SECTOR,
				bytes, part))
			return FAILED;
		done += part;
	}
	return DONE;
}

static unsigned give_name(struct virtio *virtio,
			  const struct virtio_request *request,
			  uint64_t *stored)
{
	static const uint8_t name[NAME_SIZE] = "cprec";
	uint64_t size = data_size(request, TYPE_NAME);

	*stored = virtio_copy_to(virtio, request, 0, name,
				 size < NAME_SIZE ? size : NAME_SIZE);
	return DONE;
}

static bool has_succeeded(struct virtio *virtio,
			  const struct virtio_request *request)
{
	uint8_t status = FAILED;

	virtio_look_at(virtio, request, request->to.size - 1, &status, 1);
	return status == DONE;
}

static unsigned do_request(struct virtio *virtio,
			   const struct virtio_request *request,
			   uint64_t *stored)
{
	uint8_t header[HEADER_SIZE];
	struct input in = { header, header + HEADER_SIZE, 0 };
	uint64_t type, sector;

	virtio_copy_from(virtio, request, 0, header, HEADER_SIZE);
	type = input_uint(&in, 4);
	input_uint(&in, 4);
	sector = input_uint(&in, 8);
	switch (type) {
	case TYPE_IN:
		return read_sectors(virtio, request, sector, stored);
	case TYPE_OUT:
		return write_sectors(virtio, request, sector);
	case TYPE_FLUSH:
		return disk_flush(virtio->device) ? DONE : FAILED;
	case TYPE_NAME:
		return give_name(virtio, request, stored);
	default:
		return UNSUPPORTED;
	}
}

static void serve(struct virtio *virtio, unsigned queue)
{
	struct virtio_request request;

	while (virtio_take(virtio, queue, &request)) {
		uint64_t stored = 0;
		uint8_t status = FAILED;

		/* Without room for a status nobody can be told anything. */
		if (request.from.size >= HEADER_SIZE && request.to.size) {
			status = (uint8_t)do_request(virtio, &request,
						     &stored);
			virtio_copy_to(virtio, &request, request.to.size - 1,
				       &status, 1);
			stored++;
		}
		virtio_finish(virtio, &request, stored);
	}
}

/*
 * What was written is on the disk again; what was read was there, whatever is
 * there now.
 */
static void follow(struct virtio *virtio, const struct virtio_request *request)
{
	uint8_t bytes[DISK_SECTOR], header[HEADER_SIZE];
	struct input in = { header, header + HEADER_SIZE, 0 };
	uint64_t type, sector, size, done = 0;

	virtio_copy_from(virtio, request, 0, header, HEADER_SIZE);
	type = input_uint(&in, 4);
	input_uint(&in, 4);
	sector = input_uint(&in, 8);
	if ((type != TYPE_IN && type != TYPE_OUT) || !request->to.size ||
	    request->from.size < HEADER_SIZE || !has_succeeded(virtio, request))
		return;
	size = data_size(request, (uint32_t)type);
	for (; done + DISK_SECTOR <= size; done += DISK_SECTOR) {
		if (type == TYPE_OUT)
			virtio_copy_from(virtio, request, HEADER_SIZE + done,
					 bytes, DISK_SECTOR);
		else
			virtio_look_at(virtio, request, done, bytes,
				       DISK_SECTOR);
		disk_follow(virtio->device, sector++, bytes);
	}
}

#define MODEL(more)                                                            \
	{                                                                      \
		.kind = VIRTIO_BLOCK, .queues = 1, .config_size = CONFIG_SIZE, \
		.features = FEATURE_PIECES | FEATURE_FLUSH | (more),           \
		.config = config, .serve = serve, .follow = follow                              \
	}

const struct virtio_model virtio_block = MODEL(0);
const struct virtio_model virtio_block_readonly = MODEL(FEATURE_READONLY);
