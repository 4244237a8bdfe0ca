/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace_layout.c - see trace_layout.h */
#include "formats/trace_layout.h"

#include <assert.h>
#include <string.h>
#include <xxhash.h>

#include "formats/error.h"
#include "formats/registers.h"

#define CHECKSUM_SIZE 8
#define CHUNK_MAGIC "chnk"
#define CHUNK_MAGIC_SIZE 4
#define TRAILER_MAGIC "\x89" "cpend\r\n"
#define TRAILER_MAGIC_SIZE 8

uint64_t trace_checksum(const void *bytes, size_t size)
{
	return XXH64(bytes, size, 0);
}

/* ------- fixed-size parts: fields, zeros, and a checksum at the end ------- */

/* Puts values one after the other; the caller knows that they fit. */
struct cursor {
	uint8_t *at;
};

static void put_uint(struct cursor *to, uint64_t value, unsigned width)
{
	for (unsigned i = 0; i < width; i++)
		*to->at++ = (uint8_t)(value >> 8 * i);
}

static void put_bytes(struct cursor *to, const void *bytes, size_t size)
{
	memcpy(to->at, bytes, size);
	to->at += size;
}

/* Ends a part of `size` bytes. */
static void seal(uint8_t *bytes, size_t size)
{
	struct cursor to = { bytes + size - CHECKSUM_SIZE };

	put_uint(&to, trace_checksum(bytes, size - CHECKSUM_SIZE),
		 CHECKSUM_SIZE);
}

static bool is_sealed(const uint8_t *bytes, size_t size)
{
	struct input in = { bytes + size - CHECKSUM_SIZE, bytes + size, 0 };

	return input_uint(&in, CHECKSUM_SIZE) ==
	       trace_checksum(bytes, size - CHECKSUM_SIZE);
}

static bool has_magic(struct input *in, const char *magic, size_t size)
{
	const uint8_t *bytes = input_bytes(in, size);

	return bytes && !memcmp(bytes, magic, size);
}

/* Whether all bytes are zero from here up to the checksum that ends `in`. */
static bool is_reserved_zero(struct input *in)
{
	while (input_left(in) > CHECKSUM_SIZE)
		if (input_uint(in, 1))
			return false;
	return true;
}

/* ------- the header of the file ------- */

/* A machine's has what machines need, and no other has. */
static bool is_of_its_kind(const struct trace_header *header)
{
	uint32_t has = header->features & (FEATURES_OF_MACHINES |
					   FEATURE_CORES);

	if (!arch_is_machine(header->arch))
		return !has;
	return (has | FEATURE_CORES) ==
	       (uint32_t)(FEATURES_OF_MACHINES | FEATURE_CORES);
}

void trace_header_encode(uint8_t bytes[TRACE_HEADER_SIZE],
			 const struct trace_header *header)
{
	struct cursor to = { bytes };

	assert(!(header->features & ~(uint32_t)FEATURES_KNOWN));
	assert(is_of_its_kind(header));
	memset(bytes, 0, TRACE_HEADER_SIZE);
	put_bytes(&to, TRACE_MAGIC, TRACE_MAGIC_SIZE);
	put_uint(&to, TRACE_VERSION, 4);
	put_uint(&to, TRACE_OLDEST_READER, 4);
	put_uint(&to, header->arch, 4);
	put_bytes(&to, header->id, sizeof(header->id));
	put_uint(&to, header->features, 4);
	seal(bytes, TRACE_HEADER_SIZE);
}

int trace_header_decode(struct trace_header *out, uint32_t *oldest,
			const uint8_t bytes[TRACE_HEADER_SIZE])
{
	struct input in = { bytes, bytes + TRACE_HEADER_SIZE, 0 };
	uint64_t version;

	if (!has_magic(&in, TRACE_MAGIC, TRACE_MAGIC_SIZE))
		return ERR_CORRUPT;
	if (!is_sealed(bytes, TRACE_HEADER_SIZE))
		return ERR_CHECKSUM;
	version = input_uint(&in, 4);
	*oldest = (uint32_t)input_uint(&in, 4);
	out->version = (uint32_t)version;
	if (*oldest > TRACE_VERSION)
		return ERR_VERSION;
	if (version < *oldest || *oldest < 1)
		return ERR_CORRUPT;
	if (version < TRACE_OLDEST)
		return ERR_VERSION;
	out->arch = (uint32_t)input_uint(&in, 4);
	memcpy(out->id, input_bytes(&in, sizeof(out->id)), sizeof(out->id));
	out->features = (uint32_t)input_uint(&in, 4);
	if (!is_reserved_zero(&in))
		return ERR_CORRUPT;
	if (out->features & ~(uint32_t)FEATURES_KNOWN)
		return ERR_VERSION;
	return is_of_its_kind(out) ? 0 : ERR_CORRUPT;
}

const char *trace_feature_name(uint32_t feature)
{
	switch (feature) {
	case FEATURE_PARALLEL:
		return "threads that run in parallel";
	case FEATURE_DEVICES:
		return "interrupts and devices";
	case FEATURE_PHYSICAL:
		return "physical addresses";
	case FEATURE_RING:
		return "generations of a ring";
	case FEATURE_MEMBERS:
		return "pages that other processes have stored";
	default:
		return NULL;
	}
}

/* ------- the header of a chunk ------- */

void chunk_header_encode(uint8_t bytes[CHUNK_HEADER_SIZE],
			 const struct chunk_info *info, uint64_t checksum)
{
	struct cursor to = { bytes };

	memset(bytes, 0, CHUNK_HEADER_SIZE);
	put_bytes(&to, CHUNK_MAGIC, CHUNK_MAGIC_SIZE);
	put_uint(&to, info->kind, 1);
	put_uint(&to, 0, 3);
	put_uint(&to, info->stream, 4);
	put_uint(&to, info->segment, 4);
	put_uint(&to, info->stored_size, 4);
	put_uint(&to, info->size, 4);
	put_uint(&to, info->first, 8);
	put_uint(&to, checksum, 8);
	seal(bytes, CHUNK_HEADER_SIZE);
}

/* Content that did not become smaller is stored as it is. */
static bool are_sizes(const struct chunk_info *info)
{
	return info->size <= TRACE_CHUNK_MAX &&
	       info->stored_size <= info->size &&
	       (info->stored_size > 0 || info->size == 0);
}

int chunk_header_decode(struct chunk_info *out, uint64_t *checksum,
			const uint8_t bytes[CHUNK_HEADER_SIZE])
{
	struct input in = { bytes, bytes + CHUNK_HEADER_SIZE, 0 };
	bool is_chunk = has_magic(&in, CHUNK_MAGIC, CHUNK_MAGIC_SIZE);

	if (!is_sealed(bytes, CHUNK_HEADER_SIZE))
		return ERR_CHECKSUM;
	out->kind = (enum chunk_kind)input_uint(&in, 1);
	if (!is_chunk || input_uint(&in, 3))
		return ERR_CORRUPT;
	out->stream = (uint32_t)input_uint(&in, 4);
	out->segment = (uint32_t)input_uint(&in, 4);
	out->stored_size = (uint32_t)input_uint(&in, 4);
	out->size = (uint32_t)input_uint(&in, 4);
	out->first = input_uint(&in, 8);
	*checksum = input_uint(&in, 8);
	return are_sizes(out) ? 0 : ERR_CORRUPT;
}

/* ------- kinds ------- */

static const char *const kind_names[] = {
	[CHUNK_META] = "meta data",
	[CHUNK_KEY_FRAME] = "key frame",
	[CHUNK_EVENTS] = "event stream",
	[CHUNK_READS] = "read stream",
	[CHUNK_PAGES] = "group of pages",
	[CHUNK_INDEX] = "index",
	[CHUNK_SYMBOLS] = "symbol table",
	[CHUNK_SUMMARY] = "summary",
	[CHUNK_FOOTER] = "footer",
	[CHUNK_PROGRAM] = "program",
	[CHUNK_SNAPSHOT] = "snapshot",
	[CHUNK_MOMENTS] = "list of moments",
	[CHUNK_MEMBER] = "name of another process",
	[CHUNK_SYMBOLS_AT] = "place of symbols",
	[CHUNK_MODULE_FILES] = "list of modules",
	[CHUNK_PIECE] = "piece of a kept file",
	[CHUNK_DEVICES] = "state of devices",
	[CHUNK_DISK] = "list of blocks",
	[CHUNK_MODULE_SUMS] = "list of checksums",
};

bool chunk_kind_is_known(unsigned kind)
{
	return kind < CHUNK_KINDS && kind_names[kind];
}

bool chunk_kind_may_be_skipped(unsigned kind)
{
	return kind & CHUNK_MAY_BE_SKIPPED;
}

const char *chunk_kind_name(unsigned kind)
{
	return chunk_kind_is_known(kind) ? kind_names[kind] : "chunk";
}

/* ------- the end of the file ------- */

void trace_trailer_encode(uint8_t bytes[TRACE_TRAILER_SIZE],
			  uint64_t footer_offset)
{
	struct cursor to = { bytes };

	put_uint(&to, footer_offset, 8);
	put_bytes(&to, TRAILER_MAGIC, TRAILER_MAGIC_SIZE);
	seal(bytes, TRACE_TRAILER_SIZE);
}

int trace_trailer_decode(uint64_t *footer_offset,
			 const uint8_t bytes[TRACE_TRAILER_SIZE])
{
	struct input in = { bytes, bytes + TRACE_TRAILER_SIZE, 0 };

	*footer_offset = input_uint(&in, 8);
	if (!has_magic(&in, TRAILER_MAGIC, TRAILER_MAGIC_SIZE))
		return ERR_CORRUPT;
	return is_sealed(bytes, TRACE_TRAILER_SIZE) ? 0 : ERR_CHECKSUM;
}

void footer_line_encode(struct output *out, const struct chunk_info *info)
{
	output_uint(out, info->kind, 1);
	output_varint(out, info->stream);
	output_varint(out, info->segment);
	output_varint(out, info->stored_size);
	output_varint(out, info->size);
	output_varint(out, info->first);
}

int footer_line_decode(struct input *in, struct chunk_info *out)
{
	out->kind = (enum chunk_kind)input_uint(in, 1);
	out->stream = (uint32_t)input_count(in, UINT32_MAX);
	out->segment = (uint32_t)input_count(in, UINT32_MAX);
	out->stored_size = (uint32_t)input_count(in, TRACE_CHUNK_MAX);
	out->size = (uint32_t)input_count(in, TRACE_CHUNK_MAX);
	out->first = input_varint(in);
	if (in->error)
		return in->error;
	return are_sizes(out) ? 0 : ERR_CORRUPT;
}
