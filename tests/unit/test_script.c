/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_script.c - a segment's streams, unpacked */
#include <stdlib.h>
#include <string.h>

#include "cache/prediction.h"
#include "formats/error.h"
#include "replayer/script.h"
#include "tests/unit/table.h"

#define ENTRIES 16384u
#define A 0x5000u
#define B 0x9000u

static struct cache cache;
static struct script script;

static int start(void **state)
{
	(void)state;
	return cache_init(&cache, ENTRIES);
}

static int end(void **state)
{
	(void)state;
	script_release(&script);
	cache_release(&cache);
	return 0;
}

/* Adds a stream; takes the bytes over. */
static int read_bytes(uint32_t stream, uint8_t *bytes, size_t size,
		      const struct output *reads)
{
	struct packet_stream packets = {
		.path = "test", .stream = stream, .bytes = bytes,
		.in = { bytes, bytes + size, 0 }, .state = { .doubt = 5 },
	};
	struct script_reads told = {
		.cache = &cache,
		.bytes = reads ? reads->bytes : NULL,
		.size = reads ? reads->size : 0,
	};

	return script_add(&script, &packets, stream == 0, &told, NULL);
}

/* Reads packets as a segment whose key frame has doubt 5. */
static int read_packets(const struct packet *packets, size_t count,
			const struct output *reads)
{
	struct packet_state state = { .doubt = 5 };
	struct output out = { 0 };

	for (size_t i = 0; i < count; i++)
		packet_encode(&out, &state, &packets[i]);
	output_uint(&out, 0, 1);	/* there are bytes even if no packets */
	assert_int_equal(out.error, 0);
	return read_bytes(0, out.bytes, out.size - 1, reads);
}

static const struct packet syscall_packet = {
	.kind = PACKET_SYSCALL, .steps = 10, .number = 1,
};

struct row {
	const char *name;
	struct packet packets[4];
	int rc;
	size_t events, effects;
};

#define SYSCALL { .kind = PACKET_SYSCALL, .steps = 10, .number = 1 }
#define TOUCH(at, of) { .kind = PACKET_TOUCH, .addr = at, .number = of, \
			.source = TOUCH_STORED, .page_id = 3 }

static const struct row rows[] = {
	{ "nothing", { { 0 } }, 0, 0, 0 },
	{ "an event", { SYSCALL }, 0, 1, 0 },
	{ "an effect of nothing",
	  { { .kind = PACKET_UNMAP, .addr = A, .size = 4096 } },
	  ERR_CORRUPT, 0, 0 },
	{ "a register of nothing",
	  { { .kind = PACKET_REG, .number = 1, .size = 1,
	      .value = (const uint8_t *)"x" } }, ERR_CORRUPT, 0, 0 },
	{ "a touch before any event", { TOUCH(A, 5), SYSCALL }, 0, 1, 0 },
	{ "a touch is no effect",
	  { SYSCALL, TOUCH(A, 5),
	    { .kind = PACKET_CLEAR, .addr = A, .size = 4096 } }, 0, 1, 1 },
	{ "the same touch twice", { TOUCH(A, 5), TOUCH(A, 5) },
	  ERR_CORRUPT, 0, 0 },
	{ "a page of two doubts", { TOUCH(A, 5), TOUCH(A, 4) }, 0, 0, 0 },
	{ "two pages of one doubt", { TOUCH(A, 5), TOUCH(B, 5) }, 0, 0, 0 },
	{ "times that wrap around",
	  { SYSCALL, { .kind = PACKET_SIGNAL, .steps = UINT64_MAX - 5,
		       .number = 1 } }, ERR_CORRUPT, 1, 0 },
	{ "more contents than there can be",
	  { SYSCALL, { .kind = PACKET_WRITE, .addr = A,
		       .size = UINT64_C(1) << 40 } }, ERR_CORRUPT, 1, 1 },
};

static void row_test(void **state)
{
	const struct row *row = *state;
	size_t count = 0;

	while (count < COUNT(row->packets) && row->packets[count].kind)
		count++;
	assert_int_equal(read_packets(row->packets, count, NULL), row->rc);
	if (row->rc)
		return;
	assert_int_equal(script.event_count, row->events);
	assert_int_equal(script.effect_count, row->effects);
}

/* Contents are predicted in the order of the packets, by their addresses. */
static void prediction_in_order(void **state)
{
	const struct packet packets[] = {
		{ .kind = PACKET_SYSCALL, .steps = 7, .number = 0 },
		{ .kind = PACKET_WRITE, .addr = A + 8, .size = 8 },
		{ .kind = PACKET_TOUCH, .addr = B, .number = 5,
		  .source = TOUCH_READS },
		{ .kind = PACKET_SYSCALL, .steps = 0, .number = 0 },
		{ .kind = PACKET_WRITE, .addr = A + 8, .size = 8 },
		{ .kind = PACKET_WRITE, .addr = A + 10, .size = 4 },
	};
	struct prediction_writer writer;
	struct cache sent;
	uint8_t page[GUEST_PAGE] = { 1, 2, 3 };
	const struct script_touch *touch;

	(void)state;
	page[GUEST_PAGE - 1] = 9;
	assert_int_equal(cache_init(&sent, ENTRIES), 0);
	prediction_writer_init(&writer, &sent);
	prediction_record(&writer, A + 8, "abcdefgh", 8);
	prediction_record(&writer, B, page, GUEST_PAGE);
	prediction_record(&writer, A + 8, "abcdefgh", 8);
	prediction_record(&writer, A + 10, "wxyz", 4);
	prediction_finish(&writer);
	assert_int_equal(read_packets(packets, COUNT(packets),
				      &writer.stream), 0);
	assert_int_equal(script.event_count, 2);
	assert_int_equal(script.events[0].time, 7);
	assert_int_equal(script.events[1].time, 7);
	assert_int_equal(script.events[0].count, 1);
	assert_int_equal(script.events[1].first, 1);
	assert_int_equal(script.events[1].count, 2);
	assert_memory_equal(script.effects[0].contents, "abcdefgh", 8);
	assert_memory_equal(script.effects[1].contents, "abcdefgh", 8);
	assert_memory_equal(script.effects[2].contents, "wxyz", 4);
	touch = script_find_touch(&script, B / GUEST_PAGE, 5);
	assert_non_null(touch);
	assert_memory_equal(touch->contents, page, GUEST_PAGE);
	/* Both sides end with the same cache. */
	assert_memory_equal(cache.words, sent.words, ENTRIES * 8);
	prediction_writer_release(&writer);
	cache_release(&sent);
}

static void reads_that_end_early(void **state)
{
	const struct packet packets[] = {
		syscall_packet,
		{ .kind = PACKET_WRITE, .addr = A, .size = 16 },
	};
	struct output reads = { 0 };

	(void)state;
	output_bytes(&reads, "\0\2abcdefgh", 10);	/* the second is missing */
	assert_int_equal(read_packets(packets, 2, &reads), ERR_TRUNCATED);
	output_release(&reads);
}

/* Every prefix of the packets is a script or an error. */
static void cut_streams(void **state)
{
	const struct packet packets[] = {
		syscall_packet,
		{ .kind = PACKET_MAP, .addr = A, .size = 8192, .prot = 3,
		  .region = REGION_FILE, .offset = 4096, .name = "/bin/x",
		  .name_size = 6 },
		{ .kind = PACKET_DOUBT, .addr = A, .size = 8192, .number = 6 },
		TOUCH(A, 6),
		{ .kind = PACKET_EXIT, .steps = 3 },
	};
	struct packet_state packet_state = { .doubt = 5 };
	struct output out = { 0 };
	size_t whole = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(packets); i++)
		packet_encode(&out, &packet_state, &packets[i]);
	for (size_t size = 0; size <= out.size; size++) {
		uint8_t *bytes = malloc(size + 1);
		int rc;

		memcpy(bytes, out.bytes, size);
		rc = read_bytes(0, bytes, size, NULL);
		assert_true(!rc || rc == ERR_TRUNCATED || rc == ERR_CORRUPT);
		whole += !rc;
		script_release(&script);
	}
	assert_int_equal(whole, COUNT(packets) + 1);
	output_release(&out);
}

static void many_touches(void **state)
{
	enum { MANY = 5000 };
	static struct packet packets[MANY];

	(void)state;
	for (unsigned i = 0; i < MANY; i++)
		packets[i] = (struct packet)TOUCH((i * 7919u % MANY) * 4096u,
						  1 + i % 5);
	for (unsigned i = 0; i < MANY; i++)
		packets[i].page_id = i;
	assert_int_equal(read_packets(packets, MANY, NULL), 0);
	assert_int_equal(script.touch_count, MANY);
	for (unsigned i = 0; i < MANY; i++) {
		const struct script_touch *touch = script_find_touch(
			&script, i * 7919u % MANY, 1 + i % 5);

		assert_non_null(touch);
		assert_null(touch->contents);
		assert_int_equal(touch->id, i);
		assert_null(script_find_touch(&script, i * 7919u % MANY, 6));
	}
	assert_null(script_find_touch(&script, MANY, 1));
}

/* ------- several threads ------- */

static int add_thread(uint32_t stream, const struct packet *packets,
		      size_t count, const struct output *reads)
{
	struct packet_state state = { .doubt = 5 };
	struct output out = { 0 };

	for (size_t i = 0; i < count; i++)
		packet_encode(&out, &state, &packets[i]);
	assert_int_equal(out.error, 0);
	return read_bytes(stream, out.bytes, out.size, reads);
}

/* Two threads that take turns at 10, 14 and 21. */
static void turns_in_order(void **state)
{
	static const struct packet first[] = {
		{ .kind = PACKET_SYSCALL, .steps = 7, .number = 100 },
		{ .kind = PACKET_CLEAR, .addr = A, .size = 4096 },
		{ .kind = PACKET_SLICE, .steps = 3, .slices = 2,
		  .skipped = 4, .doubts = 2 },
		{ .kind = PACKET_RETURN, .number = 101 },
		{ .kind = PACKET_DOUBT, .addr = A, .size = 4096,
		  .number = 8 },
		{ .kind = PACKET_SIGNAL, .steps = 6, .number = 14 },
	};
	static const struct packet second[] = {
		{ .kind = PACKET_SLICE, .slices = 1, .skipped = 10 },
		TOUCH(B, 5),
		{ .kind = PACKET_SYSCALL, .steps = 1, .number = 200 },
		{ .kind = PACKET_UNMAP, .addr = B, .size = 4096 },
		{ .kind = PACKET_UNMAP, .addr = A, .size = 8192 },
		{ .kind = PACKET_SLICE, .steps = 3, .slices = 2, .skipped = 7,
		  .doubts = 3 },
		{ .kind = PACKET_EXIT, .steps = 5, .result = 0 },
	};
	static const struct {
		uint32_t stream;
		enum packet_kind kind;
		uint64_t time, effects;
	} expected[] = {
		{ 0, PACKET_SYSCALL, 7, 1 }, { 1, PACKET_SLICE, 10, 0 },
		{ 1, PACKET_SYSCALL, 11, 2 }, { 0, PACKET_SLICE, 14, 0 },
		{ 0, PACKET_RETURN, 14, 1 }, { 0, PACKET_SIGNAL, 20, 0 },
		{ 1, PACKET_SLICE, 21, 0 }, { 1, PACKET_EXIT, 26, 0 },
	};

	(void)state;
	assert_int_equal(add_thread(0, first, COUNT(first), NULL), 0);
	assert_int_equal(add_thread(1, second, COUNT(second), NULL), 0);
	assert_int_equal(script_order(&script, false), 0);
	assert_int_equal(script.event_count, COUNT(expected));
	for (size_t i = 0; i < COUNT(expected); i++) {
		const struct script_event *event = &script.events[i];

		assert_int_equal(event->stream, expected[i].stream);
		assert_int_equal(event->packet.kind, expected[i].kind);
		assert_int_equal(event->time, expected[i].time);
		assert_int_equal(event->count, expected[i].effects);
	}
	assert_int_equal(script.effects[script.events[2].first].packet.kind,
			 PACKET_UNMAP);
	/* Touches of all streams are one set. */
	assert_non_null(script_find_touch(&script, B / GUEST_PAGE, 5));
}

static void touch_in_two_streams(void **state)
{
	static const struct packet first[] = { TOUCH(A, 5) };
	static const struct packet second[] = {
		{ .kind = PACKET_SLICE, .slices = 1 }, TOUCH(A, 5),
	};

	(void)state;
	assert_int_equal(add_thread(0, first, COUNT(first), NULL), 0);
	assert_int_equal(add_thread(1, second, COUNT(second), NULL),
			 ERR_CORRUPT);
}

/* An effect before its stream's first event belongs to no other stream. */
static void effect_before_a_slice(void **state)
{
	static const struct packet second[] = {
		{ .kind = PACKET_CLEAR, .addr = A, .size = 4096 },
		{ .kind = PACKET_SLICE, .slices = 1 },
	};

	(void)state;
	assert_int_equal(add_thread(0, &syscall_packet, 1, NULL), 0);
	assert_int_equal(add_thread(1, second, COUNT(second), NULL),
			 ERR_CORRUPT);
}

static void no_touches(void **state)
{
	(void)state;
	assert_int_equal(read_packets(&syscall_packet, 1, NULL), 0);
	assert_null(script_find_touch(&script, 0, 0));
}

int main(void)
{
	static struct test_list list;

	add_rows(&list, rows, row_test);
	add_test(&list, "prediction in order", prediction_in_order, NULL);
	add_test(&list, "reads that end early", reads_that_end_early, NULL);
	add_test(&list, "cut streams", cut_streams, NULL);
	add_test(&list, "many touches", many_touches, NULL);
	add_test(&list, "no touches", no_touches, NULL);
	add_test(&list, "turns in order", turns_in_order, NULL);
	add_test(&list, "a touch in two streams", touch_in_two_streams, NULL);
	add_test(&list, "an effect before a slice", effect_before_a_slice,
		 NULL);
	for (size_t i = 0; i < list.count; i++) {
		list.tests[i].setup_func = start;
		list.tests[i].teardown_func = end;
	}
	return run_list("script", &list);
}
