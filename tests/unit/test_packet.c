/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_packet.c - packets from and to bytes */
#include <string.h>

#include "formats/error.h"
#include "formats/packet.h"
#include "tests/unit/table.h"

#define MAX9 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff

/* Every row starts here: address 0x10234, doubt 5, page id 7, slice 2. */
static const struct packet_state start = { 0x10234, 5, 7, 2 };

struct row {
	const char *name;
	int expected;		/* what packet_decode() must return */
	size_t length;
	uint8_t bytes[48];
	struct packet packet;	/* what it must find, but for pointers */
};

static const struct row rows[] = {
	{ "SYSCALL", 0, 4, { 1, 9, 60, 3 },
	  { PACKET_SYSCALL, .steps = 9, .number = 60, .result = -2 } },
	{ "SYSCALL of any number", 0, 22,
	  { 1, MAX9, 1, MAX9, 1, 0 },
	  { PACKET_SYSCALL, .steps = UINT64_MAX, .number = UINT64_MAX } },
	{ "SIGNAL", 0, 3, { 2, 0, 11 }, { PACKET_SIGNAL, .number = 11 } },
	{ "VALUE", 0, 3, { 3, 0x80, 1 }, { PACKET_VALUE, .steps = 128 } },
	{ "EXIT with a status", 0, 4, { 4, 2, 0xfe, 3 },
	  { PACKET_EXIT, .steps = 2, .result = 255 } },
	{ "EXIT by a signal", 0, 3, { 4, 2, 17 },
	  { PACKET_EXIT, .steps = 2, .result = -9 } },
	{ "FAULT", 0, 3, { 5, 6, 11 },
	  { PACKET_FAULT, .steps = 6, .number = 11 } },
	{ "SLICE", 0, 6, { 6, 9, 3, 0x80, 1, 2 },
	  { PACKET_SLICE, .steps = 9, .slices = 3, .skipped = 128,
	    .doubts = 2 } },
	{ "SLICE of the greatest numbers", 0, 41,
	  { 6, MAX9, 1, 0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1,
	    MAX9, 1, 0xfa, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1 },
	  { PACKET_SLICE, .steps = UINT64_MAX, .slices = UINT64_MAX - 2,
	    .skipped = UINT64_MAX, .doubts = UINT64_MAX - 5 } },
	{ "GIVE_WAY", 0, 3, { 7, 0x80, 1 },
	  { PACKET_GIVE_WAY, .steps = 128 } },
	{ "RETURN", 0, 4, { 8, 1, 0x80, 1 },
	  { PACKET_RETURN, .number = 1, .result = 64 } },
	{ "INTERRUPT", 0, 3, { 10, 9, 0 },
	  { PACKET_INTERRUPT, .steps = 9 } },
	{ "INTERRUPT by number", 0, 3, { 10, 9, 15 },
	  { PACKET_INTERRUPT, .steps = 9, .number = 15 } },
	{ "DMA", 0, 3, { 12, 0x80, 1 },
	  { PACKET_DMA, .steps = 128 } },
	{ "FIXED_CALL", 0, 4, { 13, 9, 96, 3 },
	  { PACKET_FIXED_CALL, .steps = 9, .number = 96, .result = -2 } },
	{ "REG", 0, 5, { 16, 3, 2, 0xaa, 0xbb },
	  { PACKET_REG, .number = 3, .size = 2 } },
	{ "REG of 16 bytes", 0, 19,
	  { 16, 40, 16, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 },
	  { PACKET_REG, .number = 40, .size = 16 } },
	{ "WRITE", 0, 3, { 17, 7, 16 },
	  { PACKET_WRITE, .addr = 0x10230, .size = 16 } },
	{ "MAP without a name", 0, 7, { 18, 4, 2, 3, 0, 0, 0 },
	  { PACKET_MAP, .addr = 0x12000, .size = 0x2000, .prot = 3 } },
	{ "MAP of a file", 0, 9, { 18, 2, 1, 5, 1, 3, 2, '/', 'a' },
	  { PACKET_MAP, .addr = 0x11000, .size = 0x1000, .prot = 5,
	    .region = REGION_FILE, .offset = 0x3000, .name_size = 2 } },
	{ "MAP of common pages", 0, 14,
	  { 18, 4, 2, 3, 3, 0xde, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7, 1, 0 },
	  { PACKET_MAP, .addr = 0x12000, .size = 0x2000, .prot = 3,
	    .region = REGION_SHARED, .target = COMMON_START + 0x1000,
	    .offset = 0x1000 } },
	{ "UNMAP", 0, 3, { 19, 1, 1 },
	  { PACKET_UNMAP, .addr = 0xf000, .size = 0x1000 } },
	{ "UNMAP of the first page", 0, 3, { 19, 31, 1 },
	  { PACKET_UNMAP, .addr = 0, .size = 0x1000 } },
	{ "PROTECT", 0, 4, { 20, 0, 2, 0 },
	  { PACKET_PROTECT, .addr = 0x10000, .size = 0x2000 } },
	{ "MOVE", 0, 4, { 21, 0, 4, 2 },
	  { PACKET_MOVE, .addr = 0x10000, .target = 0x12000, .size = 0x2000 } },
	{ "CLEAR", 0, 3, { 22, 0, 1 },
	  { PACKET_CLEAR, .addr = 0x10000, .size = 0x1000 } },
	{ "DOUBT", 0, 4, { 23, 1, 0, 3 },
	  { PACKET_DOUBT, .number = 6, .addr = 0x10000, .size = 0x3000 } },
	{ "DOUBT under the number before", 0, 4, { 23, 0, 0, 3 },
	  { PACKET_DOUBT, .number = 5, .addr = 0x10000, .size = 0x3000 } },
	{ "OUTPUT", 0, 4, { 24, 1, 0, 5 },
	  { PACKET_OUTPUT, .number = 1, .addr = 0x10234, .size = 5 } },
	{ "STORED", 0, 4, { 25, 2, 0, 4 },
	  { PACKET_STORED, .addr = 0x11000, .page_id = 9 } },
	{ "TOUCH of a stored page", 0, 5, { 32, 0, 2, 0, 4 },
	  { PACKET_TOUCH, .number = 5, .addr = 0x11000, .page_id = 9 } },
	{ "TOUCH of the page of zeros", 0, 5, { 32, 4, 2, 0, 13 },
	  { PACKET_TOUCH, .number = 1, .addr = 0x11000, .page_id = 0 } },
	{ "TOUCH from the read stream", 0, 4, { 32, 1, 2, 1 },
	  { PACKET_TOUCH, .number = 4, .addr = 0x11000,
	    .source = TOUCH_READS } },

	{ "SEEN", 0, 3, { 33, 7, 16 },
	  { PACKET_SEEN, .addr = 0x10230, .size = 16 } },
	{ "SEEN up to the end of its page", 0, 4, { 33, 0, 0xcc, 0x1b },
	  { PACKET_SEEN, .addr = 0x10234, .size = 0xdcc } },
	{ "SEEN_PAGE that is stored", 0, 4, { 34, 2, 0, 4 },
	  { PACKET_SEEN_PAGE, .addr = 0x11000, .page_id = 9 } },
	{ "SEEN_PAGE from the read stream", 0, 3, { 34, 2, 1 },
	  { PACKET_SEEN_PAGE, .addr = 0x11000, .source = TOUCH_READS } },

	{ "nothing", ERR_TRUNCATED, 0, { 0 } },
	{ "kind zero", ERR_CORRUPT, 1, { 0 } },
	{ "reserved kind 9, SEQUENCE", ERR_CORRUPT, 3, { 9, 0, 1 } },
	{ "an INTERRUPT of number 512", ERR_CORRUPT, 4, { 10, 0, 0x80, 4 } },
	{ "reserved kind 11, DEVICE", ERR_CORRUPT, 5, { 11, 0, 0, 1, 0 } },
	{ "kind between", ERR_CORRUPT, 3, { 14, 0, 0 } },
	{ "kind above", ERR_CORRUPT, 3, { 35, 0, 0 } },
	{ "kind 255", ERR_CORRUPT, 3, { 255, 0, 0 } },
	{ "SYSCALL with steps in a longer form", ERR_CORRUPT, 5,
	  { 1, 0x80, 0, 1, 1 } },
	{ "SIGNAL 0", ERR_CORRUPT, 3, { 2, 0, 0 } },
	{ "FAULT 0", ERR_CORRUPT, 3, { 5, 0, 0 } },
	{ "SIGNAL 256", ERR_CORRUPT, 4, { 2, 0, 0x80, 2 } },
	{ "EXIT with status 256", ERR_CORRUPT, 4, { 4, 2, 0x80, 4 } },
	{ "EXIT by signal 256", ERR_CORRUPT, 4, { 4, 2, 0xff, 3 } },
	{ "SLICE number as before", ERR_CORRUPT, 5, { 6, 0, 0, 1, 1 } },
	{ "SLICE with a number of 2^64", ERR_CORRUPT, 14,
	  { 6, 0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1,
	    0, 0 } },
	{ "SLICE with a doubt of 2^64", ERR_CORRUPT, 14,
	  { 6, 0, 1, 0,
	    0xfb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1 } },
	{ "REG without bytes", ERR_CORRUPT, 3, { 16, 0, 0 } },
	{ "REG of 17 bytes", ERR_CORRUPT, 20, { 16, 0, 17 } },
	{ "REG of 2^64 - 1 bytes", ERR_CORRUPT, 12, { 16, 0, MAX9, 1 } },
	{ "REG number 1024", ERR_CORRUPT, 5, { 16, 0x80, 8, 1, 0 } },
	{ "WRITE of nothing", ERR_CORRUPT, 3, { 17, 0, 0 } },
	{ "WRITE at 2^57", ERR_CORRUPT, 11,
	  { 17, 0x98, 0xf7, 0xfb, 0xff, 0xff, 0xff, 0xff, 0xff, 3, 1 } },
	{ "WRITE up to 2^64", ERR_CORRUPT, 12, { 17, 0, MAX9, 1 } },
	{ "MAP of no pages", ERR_CORRUPT, 7, { 18, 4, 0, 3, 0, 0, 0 } },
	{ "MAP of 2^57 bytes", ERR_CORRUPT, 13,
	  { 18, 4, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 8, 3, 0, 0, 0 } },
	{ "MAP below 0", ERR_CORRUPT, 7, { 18, 33, 1, 3, 0, 0, 0 } },
	{ "MAP with protection 8", ERR_CORRUPT, 7, { 18, 4, 1, 8, 0, 0, 0 } },
	{ "MAP of region kind 4", ERR_CORRUPT, 7, { 18, 4, 1, 1, 4, 0, 0 } },
	{ "MAP of common pages at page 0", ERR_CORRUPT, 8,
	  { 18, 4, 1, 1, 3, 35, 0, 0 } },
	{ "MAP of common pages below 2^56", ERR_CORRUPT, 14,
	  { 18, 4, 2, 3, 3, 0xda, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7, 1, 0 } },
	{ "MAP of common pages past 2^57", ERR_CORRUPT, 14,
	  { 18, 4, 2, 3, 3, 0xda, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf, 1, 0 } },
	{ "MAP of zeros with an offset", ERR_CORRUPT, 7,
	  { 18, 4, 1, 1, 0, 1, 0 } },
	{ "MAP at offset 2^63", ERR_CORRUPT, 14,
	  { 18, 4, 1, 1, 1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 4, 0 } },
	{ "MAP with a NUL in its name", ERR_CORRUPT, 9,
	  { 18, 2, 1, 5, 1, 3, 2, 'a', 0 } },
	{ "MAP with a name of 4097 bytes", ERR_CORRUPT, 9,
	  { 18, 2, 1, 5, 1, 3, 0x81, 0x20, 'a' } },
	{ "PROTECT with protection 8", ERR_CORRUPT, 4, { 20, 0, 2, 8 } },
	{ "MOVE onto itself", ERR_CORRUPT, 4, { 21, 0, 2, 2 } },
	{ "MOVE to the same place", ERR_CORRUPT, 4, { 21, 0, 0, 1 } },
	{ "MOVE to below 0", ERR_CORRUPT, 4, { 21, 0, 33, 1 } },
	{ "DOUBT with a number of 2^64", ERR_CORRUPT, 13,
	  { 23, 0xfb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1,
	    0, 1 } },
	{ "OUTPUT to descriptor 0", ERR_CORRUPT, 4, { 24, 0, 0, 5 } },
	{ "OUTPUT to descriptor 3", ERR_CORRUPT, 4, { 24, 3, 0, 5 } },
	{ "OUTPUT of nothing", ERR_CORRUPT, 4, { 24, 1, 0, 0 } },
	{ "TOUCH of doubt 0", ERR_CORRUPT, 5, { 32, 5, 2, 0, 4 } },
	{ "TOUCH of a doubt below 0", ERR_CORRUPT, 5, { 32, 6, 2, 0, 4 } },
	{ "TOUCH from source 2", ERR_CORRUPT, 4, { 32, 0, 2, 2 } },
	{ "SEEN of nothing", ERR_CORRUPT, 3, { 33, 0, 0 } },
	{ "SEEN beyond its page", ERR_CORRUPT, 4, { 33, 0, 0xcd, 0x1b } },
	{ "SEEN of 2^64 - 1 bytes", ERR_CORRUPT, 12, { 33, 0, MAX9, 1 } },
	{ "SEEN_PAGE from source 2", ERR_CORRUPT, 3, { 34, 2, 2 } },
	{ "SEEN_PAGE -1", ERR_CORRUPT, 4, { 34, 35, 0, 4 } },
	{ "TOUCH of page -1", ERR_CORRUPT, 5, { 32, 0, 2, 0, 15 } },
};

static void assert_packet(const struct packet *found,
			  const struct packet *expected)
{
	struct packet plain = *found;

	plain.value = NULL;
	plain.name = NULL;
	assert_memory_equal(&plain, expected, sizeof(plain));
}

static void decode_row(void **state)
{
	const struct row *row = *state;
	struct input in = { row->bytes, row->bytes + row->length, 0 };
	struct packet_state after = start;
	struct packet packet;

	assert_int_equal(packet_decode(&in, &after, &packet), row->expected);
	/* All of a good packet is taken, and nothing of a bad one. */
	assert_int_equal(input_left(&in), row->expected ? row->length : 0);
	assert_int_equal(in.error, 0);
	if (row->expected)
		assert_memory_equal(&after, &start, sizeof(after));
	else
		assert_packet(&packet, &row->packet);
}

static void encode_gives_the_same(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows) && !rows[i].expected; i++) {
		const struct row *row = &rows[i];
		struct input in = { row->bytes, row->bytes + row->length, 0 };
		struct packet_state decoded = start;
		struct packet_state encoded = start;
		struct output out = { 0 };
		struct packet packet;

		assert_int_equal(packet_decode(&in, &decoded, &packet), 0);
		packet_encode(&out, &encoded, &packet);
		assert_int_equal(out.error, 0);
		assert_int_equal(out.size, row->length);
		assert_memory_equal(out.bytes, row->bytes, row->length);
		assert_memory_equal(&decoded, &encoded, sizeof(decoded));
		output_release(&out);
	}
}

static void every_prefix_is_truncated(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows) && !rows[i].expected; i++) {
		for (size_t n = 0; n < rows[i].length; n++) {
			struct input in = { rows[i].bytes, rows[i].bytes + n, 0 };
			struct packet_state after = start;
			struct packet packet;

			assert_int_equal(packet_decode(&in, &after, &packet),
					 ERR_TRUNCATED);
			assert_ptr_equal(in.at, rows[i].bytes);
		}
	}
}

static void bytes_borrowed(void **state)
{
	static const uint8_t reg[] = { 16, 3, 2, 0xaa, 0xbb };
	static const uint8_t map[] = { 18, 2, 1, 5, 1, 3, 2, '/', 'a' };
	struct input in = { reg, reg + sizeof(reg), 0 };
	struct packet_state after = start;
	struct packet packet;

	(void)state;
	assert_int_equal(packet_decode(&in, &after, &packet), 0);
	assert_ptr_equal(packet.value, reg + 3);
	in = (struct input){ map, map + sizeof(map), 0 };
	assert_int_equal(packet_decode(&in, &after, &packet), 0);
	assert_ptr_equal(packet.name, map + 7);
}

/* What packets are coded against moves with them. */
static void differences_follow(void **state)
{
	static const uint8_t bytes[] = {
		23, 1, 0, 1,		/* DOUBT 6 at 0x10000 */
		23, 2, 2, 1,		/* DOUBT 8 at 0x11000 */
		32, 2, 2, 0, 2,		/* TOUCH 6 at 0x12000, page 8 */
		32, 0, 0, 1,		/* TOUCH 8 at 0x12000, from reads */
		6, 1, 1, 5, 3,		/* SLICE: others made doubts 9 to 11 */
		32, 3, 0, 0, 2,		/* TOUCH 8 at 0x12000, page 9 */
		17, 1, 1,		/* WRITE at 0x11fff */
		21, 0, 8, 1,		/* MOVE from 0x11000 to 0x15000 */
		22, 2, 1,		/* CLEAR at 0x12000 */
	};
	static const guest_addr addrs[] = { 0x10000, 0x11000, 0x12000, 0x12000,
					    0, 0x12000, 0x11fff, 0x11000,
					    0x12000 };
	static const uint64_t numbers[] = { 6, 8, 6, 8, 0, 8, 0, 0, 0 };
	static const uint64_t ids[] = { 0, 0, 8, 0, 0, 9, 0, 0, 0 };
	struct input in = { bytes, bytes + sizeof(bytes), 0 };
	struct packet_state after = start;

	(void)state;
	for (size_t i = 0; i < COUNT(addrs); i++) {
		struct packet packet;

		assert_int_equal(packet_decode(&in, &after, &packet), 0);
		assert_int_equal(packet.addr, addrs[i]);
		assert_int_equal(packet.number, numbers[i]);
		assert_int_equal(packet.page_id, ids[i]);
	}
	assert_int_equal(input_left(&in), 0);
	assert_int_equal(after.slice, 3);
	assert_int_equal(after.doubt, 11);
}

static void names_of_kinds(void **state)
{
	unsigned known = 0;

	(void)state;
	for (unsigned kind = 0; kind < 1000; kind++)
		known += packet_name(kind) != NULL;
	assert_int_equal(known, 24);
	assert_string_equal(packet_name(PACKET_SYSCALL), "SYSCALL");
	assert_string_equal(packet_name(PACKET_TOUCH), "TOUCH");
	assert_null(packet_name(0));
	assert_true(packet_is_event(PACKET_EXIT));
	assert_false(packet_is_event(PACKET_REG));
	assert_false(packet_is_event(PACKET_TOUCH));
}

int main(void)
{
	static struct test_list list;

	add_rows(&list, rows, decode_row);
	add_test(&list, "encoding gives the same bytes", encode_gives_the_same,
		 NULL);
	add_test(&list, "every prefix of a good packet",
		 every_prefix_is_truncated, NULL);
	add_test(&list, "bytes are borrowed", bytes_borrowed, NULL);
	add_test(&list, "differences follow", differences_follow, NULL);
	add_test(&list, "names of kinds", names_of_kinds, NULL);
	return run_list("packet", &list);
}
