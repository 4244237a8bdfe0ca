/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_recording.c - recordings put in order: written here, then opened */
#include <inttypes.h>
#include <sys/stat.h>
#include <time.h>

#include "tests/unit/recording_sample.h"

/* ------- writing ------- */

/* Three segments at 0, 100 and 250; the end is 300. */
static void write_small(bool summary)
{
	struct page_ref first[] = { { 0x403, 1 }, { 0x500, 2 } };
	struct page_ref second[] = { { 0x403, 3 } };
	struct page_ref third[] = { { 0x500, 0 } };
	struct trace_writer *writer = start();

	put_meta(writer);
	put_pages(writer, 1, 2);
	put_key_frame(writer, 0, 0, first, COUNT(first));
	put_symbols(writer, "/lib/libx.so", 0, 0, 0x1008, "counter");
	put_symbols(writer, "/bin/prog", 0x401000, 0x1000, 0x402010, "counter");
	put_reads(writer, 0, "ab");
	put_mappings(writer, 0);
	put_pages(writer, 3, 1);
	put_reads(writer, 0, "cd");
	put_event(writer, 0, 70);
	put_key_frame(writer, 1, 100, second, COUNT(second));
	put_event(writer, 1, 150);
	put_key_frame(writer, 2, 250, third, COUNT(third));
	put_event(writer, 2, 50);
	if (summary)
		put_summary(writer, 300);
	finish(writer);
}

/* ------- opening ------- */

static void segments_and_times(void **state)
{
	static const size_t segment_at[][2] = {
		{ 0, 0 }, { 99, 0 }, { 100, 1 }, { 249, 1 }, { 250, 2 },
		{ 299, 2 }, { 300, 2 },
	};
	struct recording *recording;

	(void)state;
	write_small(true);
	recording = reopen();
	assert_int_equal(recording_segments(recording), 3);
	assert_int_equal(recording_time(recording, 2), 250);
	assert_int_equal(recording_time(recording, 3), 300);
	assert_int_equal(recording_end(recording), 300);
	assert_int_equal(recording_summary(recording)->exit_code, 3);
	assert_string_equal(recording_meta(recording)->path, "/bin/prog");
	for (size_t i = 0; i < COUNT(segment_at); i++)
		assert_int_equal(recording_segment_at(recording,
						      segment_at[i][0]),
				 segment_at[i][1]);
	recording_close(recording);
}

static void parts_are_joined(void **state)
{
	struct recording *recording;
	struct failure why;
	uint8_t *bytes;
	size_t size;

	(void)state;
	write_small(true);
	recording = reopen();
	assert_int_equal(recording_stream(recording, 0, 0, CHUNK_READS, &bytes,
					  &size, &why), 0);
	assert_int_equal(size, 4);
	assert_memory_equal(bytes, "abcd", 4);
	free(bytes);
	assert_int_equal(recording_stream(recording, 1, 0, CHUNK_READS, &bytes,
					  &size, &why), 0);
	assert_int_equal(size, 0);
	free(bytes);
	recording_close(recording);
}

static void snapshots_by_segment(void **state)
{
	static const uint64_t expected[][3] = {	/* segment, page, id */
		{ 2, 0x403, 3 }, { 0, 0x403, 1 }, { 1, 0x403, 3 },
		{ 0, 0x500, 2 }, { 1, 0x500, 2 }, { 2, 0x500, 0 },
		{ 2, 0x777, 0 },
	};
	uint8_t bytes[GUEST_PAGE];
	struct recording *recording;
	struct failure why;
	uint64_t id;

	(void)state;
	write_small(true);
	recording = reopen();
	for (size_t i = 0; i < COUNT(expected); i++) {
		assert_int_equal(recording_snapshot(recording, expected[i][0],
						    expected[i][1], &id, &why),
				 0);
		assert_int_equal(id, expected[i][2]);
		assert_int_equal(recording_page(recording, id, bytes, &why), 0);
		assert_int_equal(bytes[0], id);
		assert_int_equal(bytes[GUEST_PAGE - 1], id);
	}
	assert_int_equal(recording_page(recording, 4, bytes, &why),
			 ERR_CORRUPT);
	recording_close(recording);
}

static void symbols_of_modules(void **state)
{
	struct recording *recording;
	struct names *names;
	uint64_t addr, size;
	struct failure why;
	char text[100];

	(void)state;
	write_small(true);
	recording = reopen();
	assert_int_equal(names_create(&names, recording, &why), 0);
	assert_int_equal(names_find(names, 0, "counter", &addr, &size, &why),
			 0);
	assert_int_equal(addr, 0x402010);
	assert_int_equal(size, 8);
	assert_true(names_of(names, 0, 0x402010, text, 100));
	assert_string_equal(text, "counter");
	assert_false(names_of(names, 0, 0x402018, text, 100));
	assert_false(names_of(names, 0, 1, text, 100));
	names_destroy(names);
	recording_close(recording);
}

/* The library is mapped by the segment, not in its key frame. */
static void symbols_by_time(void **state)
{
	static const uint64_t times[] = { 0, 9, 10, 19, 20, 99, 10, 100, 300 };
	struct recording *recording;
	struct names *names;
	uint64_t addr, size;
	struct failure why;
	char text[100];

	(void)state;
	write_small(true);
	recording = reopen();
	assert_int_equal(names_create(&names, recording, &why), 0);
	for (size_t i = 0; i < COUNT(times); i++) {
		uint64_t t = times[i];
		bool mapped = 10 <= t && t < 20;

		assert_int_equal(names_find(names, t, "libx.so!counter", &addr,
					    &size, &why),
				 mapped ? 0 : ERR_NOT_FOUND);
		if (mapped)
			assert_true(addr == LIBRARY + 0x1008);
		assert_int_equal(names_of(names, t, LIBRARY + 0x100a, text,
					  100), mapped);
		if (mapped)
			assert_string_equal(text, "libx.so!counter+0x2");
	}
	names_destroy(names);
	recording_close(recording);
}

static void mapped_by_time(void **state)
{
	static const struct {
		uint64_t t, addr;
		bool mapped;
	} expected[] = {
		{ 0, 0x401000, true }, { 0, 0x404000, false },
		{ 9, LIBRARY, false }, { 10, LIBRARY, true },
		{ 19, LIBRARY + 0x1fff, true }, { 19, LIBRARY + 0x2000, false },
		{ 20, LIBRARY, false }, { 29, 0x403000, true },
		{ 30, 0x403000, false }, { 30, 0x500000, true },
	};
	struct recording *recording;
	struct failure why;
	bool mapped;

	(void)state;
	write_small(true);
	recording = reopen();
	for (size_t i = 0; i < COUNT(expected); i++) {
		const struct position at = { expected[i].t, 0 };

		assert_int_equal(recording_is_mapped(recording, &at,
						     expected[i].addr, &mapped,
						     &why), 0);
		assert_int_equal(mapped, expected[i].mapped);
	}
	recording_close(recording);
}

/* ------- recordings that end early ------- */

static void every_cut_opens_or_is_truncated(void **state)
{
	struct recording *recording;
	uint64_t before = 300;
	struct failure why;
	struct stat status;

	(void)state;
	write_small(true);
	assert_int_equal(stat(path, &status), 0);
	for (off_t size = status.st_size; size-- > 0;) {
		int rc;

		assert_int_equal(truncate(path, size), 0);
		rc = recording_open(&recording, path, &why);
		if (rc) {
			assert_int_equal(rc, ERR_TRUNCATED);
			before = 0;
			continue;
		}
		/* The end only ever comes nearer. */
		assert_true(recording_end(recording) <= before);
		before = recording_end(recording);
		recording_close(recording);
	}
	assert_int_equal(before, 0);
}

static void end_from_the_events(void **state)
{
	struct recording *recording;

	(void)state;
	write_small(false);
	recording = reopen();
	assert_null(recording_summary(recording));
	assert_int_equal(recording_end(recording), 300);
	recording_close(recording);
}

/* The last part's page was lost: what touches it does not count. */
static void end_before_a_lost_page(void **state)
{
	struct packet packets[] = {
		{ .kind = PACKET_SYSCALL, .steps = 5 },
		{ .kind = PACKET_DOUBT, .addr = 0x403000, .size = 0x1000,
		  .number = 1 },
		{ .kind = PACKET_TOUCH, .addr = 0x403000, .number = 1,
		  .source = TOUCH_STORED, .page_id = 1 },
		{ .kind = PACKET_SYSCALL, .steps = 6 },
	};
	struct trace_writer *writer = start();
	struct packet_state packet_state = { 0 };
	struct recording *recording;
	struct output out = { 0 };

	(void)state;
	put_meta(writer);
	put_key_frame(writer, 0, 0, NULL, 0);
	for (size_t i = 0; i < COUNT(packets); i++)
		packet_encode(&out, &packet_state, &packets[i]);
	put(writer, CHUNK_EVENTS, 0, 0, &out);
	finish(writer);
	recording = reopen();
	assert_int_equal(recording_end(recording), 5);
	recording_close(recording);
}

/* ------- recordings that make no sense ------- */

static void without_meta(struct trace_writer *writer)
{
	put_key_frame(writer, 0, 0, NULL, 0);
}

static void with_two_metas(struct trace_writer *writer)
{
	put_meta(writer);
	put_meta(writer);
}

static void with_a_gap(struct trace_writer *writer)
{
	put_meta(writer);
	put_key_frame(writer, 0, 0, NULL, 0);
	put_key_frame(writer, 2, 10, NULL, 0);
}

static void with_times_that_fall(struct trace_writer *writer)
{
	put_meta(writer);
	put_key_frame(writer, 0, 10, NULL, 0);
	put_key_frame(writer, 1, 10, NULL, 0);
}

static void with_events_too_early(struct trace_writer *writer)
{
	put_meta(writer);
	put_event(writer, 0, 1);
}

static void with_pages_twice(struct trace_writer *writer)
{
	put_meta(writer);
	put_pages(writer, 1, 2);
	put_pages(writer, 2, 1);
}

static void with_an_end_too_early(struct trace_writer *writer)
{
	put_meta(writer);
	put_key_frame(writer, 0, 0, NULL, 0);
	put_key_frame(writer, 1, 10, NULL, 0);
	put_summary(writer, 9);
}

static void with_no_key_frame(struct trace_writer *writer)
{
	put_meta(writer);
	put_summary(writer, 9);
}

/* All pages as of a segment, as the lists up to there have them. */
static void put_snapshot(struct trace_writer *writer, unsigned segment,
			 unsigned pages)
{
	struct page_ref *list = calloc(pages, sizeof(*list));
	struct output out = { 0 };

	for (unsigned page = 0; page < pages; page++)
		list[page] = (struct page_ref) {
			0x1000 + page,
			(page % 50 ? 0 : segment) * 1000000 + page + 1,
		};
	page_refs_encode(&out, list, pages);
	put(writer, CHUNK_SNAPSHOT, segment, 0, &out);
	free(list);
}

static void with_two_snapshots(struct trace_writer *writer)
{
	put_meta(writer);
	put_key_frame(writer, 0, 0, NULL, 0);
	put_snapshot(writer, 0, 0);
	put_snapshot(writer, 0, 0);
	put_summary(writer, 9);
}

static void with_a_snapshot_too_early(struct trace_writer *writer)
{
	put_meta(writer);
	put_key_frame(writer, 0, 0, NULL, 0);
	put_snapshot(writer, 1, 0);
	put_key_frame(writer, 1, 5, NULL, 0);
	put_summary(writer, 9);
}

struct bad_row {
	const char *name;
	void (*write)(struct trace_writer *writer);
};

static const struct bad_row bad_rows[] = {
	{ "no description", without_meta },
	{ "two descriptions", with_two_metas },
	{ "a segment missing", with_a_gap },
	{ "key frames out of order", with_times_that_fall },
	{ "events before a key frame", with_events_too_early },
	{ "pages twice", with_pages_twice },
	{ "end before the last key frame", with_an_end_too_early },
	{ "no key frame", with_no_key_frame },
	{ "two snapshots of a segment", with_two_snapshots },
	{ "a snapshot too early", with_a_snapshot_too_early },
};

static void open_bad(void **state)
{
	const struct bad_row *row = *state;
	struct trace_writer *writer = start();
	struct recording *recording;
	struct failure why;

	row->write(writer);
	finish(writer);
	assert_int_equal(recording_open(&recording, path, &why), ERR_CORRUPT);
	assert_non_null(strstr(why.text, path));
}

/* ------- many pages, many segments ------- */

static uint64_t microseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Asked for in such an order: on, back, across snapshots, and everywhere. */
static void snapshots_say_all_pages(void **state)
{
	enum { SEGMENTS = 100, PAGES = 700 };
	static const unsigned with_all[] = { 0, 30, 31, 77 };
	static const unsigned order[] = { 99, 50, 51, 29, 30, 0, 77, 76, 31, 99 };
	struct trace_writer *writer = start();
	struct page_ref *pages = calloc(PAGES, sizeof(*pages));
	struct recording *recording;
	struct failure why;
	unsigned next = 0;

	(void)state;
	put_meta(writer);
	for (unsigned i = 0; i < SEGMENTS; i++) {
		unsigned count = 0;

		for (unsigned page = 0; page < PAGES; page += i ? 50 : 1)
			pages[count++] = (struct page_ref) {
				0x1000 + page, 1000000 * i + page + 1,
			};
		put_key_frame(writer, i, i * 1000, pages, count);
		if (next < COUNT(with_all) && i == with_all[next]) {
			put_snapshot(writer, i, PAGES);
			next++;
		}
	}
	put_summary(writer, SEGMENTS * 1000);
	finish(writer);
	free(pages);
	recording = reopen();
	for (size_t i = 0; i < COUNT(order) + SEGMENTS; i++) {
		unsigned segment = i < COUNT(order) ? order[i] :
				   (unsigned)((i - COUNT(order)) * 37 % SEGMENTS);

		for (unsigned page = 0; page <= PAGES; page += 7) {
			uint64_t from = page % 50 ? 0 : segment;
			uint64_t id;

			assert_int_equal(recording_snapshot(recording, segment,
							    0x1000 + page, &id,
							    &why), 0);
			assert_int_equal(id, page == PAGES ? 0 :
					     from * 1000000 + page + 1);
		}
	}
	recording_close(recording);
}

static void large_recording(void **state)
{
	enum { SEGMENTS = 300, PAGES = 700, PARTS = 330 };
	struct trace_writer *writer = start();
	uint64_t id, opened = microseconds();
	struct page_ref *pages = calloc(PAGES, sizeof(*pages));
	struct recording *recording;
	struct failure why;

	(void)state;
	put_meta(writer);
	for (unsigned i = 0; i < SEGMENTS; i++) {
		/* Every page of the first, then a few in each. */
		unsigned step = i ? 50 : 1, count = 0;

		for (unsigned page = 0; page < PAGES; page += step)
			pages[count++] = (struct page_ref) {
				0x1000 + page, 1000000 * i + page,
			};
		put_key_frame(writer, i, i * 1000, pages, count);
		for (unsigned part = 0; part < PARTS; part++)
			put_event(writer, i, 1);
	}
	put_summary(writer, SEGMENTS * 1000);
	finish(writer);
	free(pages);
	opened = microseconds();
	recording = reopen();
	print_message("# opened in %" PRIu64 " us\n", microseconds() - opened);
	for (unsigned segment = SEGMENTS; segment-- > 0;) {
		for (unsigned page = 0; page < PAGES; page++) {
			uint64_t from = page % 50 ? 0 : segment;

			assert_int_equal(recording_snapshot(recording, segment,
							    0x1000 + page, &id,
							    &why), 0);
			assert_int_equal(id, from * 1000000 + page);
		}
	}
	recording_close(recording);
}

/* More pages than are kept unpacked. */
static void pages_leave_and_come_back(void **state)
{
	enum { CHUNKS = 1100 };
	uint8_t bytes[GUEST_PAGE];
	struct trace_writer *writer = start();
	struct recording *recording;
	struct failure why;

	(void)state;
	put_meta(writer);
	put_key_frame(writer, 0, 0, NULL, 0);
	for (unsigned i = 0; i < CHUNKS; i++)
		put_pages(writer, 1 + 16 * i, i == CHUNKS - 1 ? 3 : 16);
	put_summary(writer, 1);
	finish(writer);
	recording = reopen();
	for (unsigned turn = 0; turn < 3; turn++) {
		for (unsigned id = 1; id <= 16 * (CHUNKS - 1) + 3; id += 5) {
			assert_int_equal(recording_page(recording, id, bytes,
							&why), 0);
			assert_int_equal(bytes[100], id & 0xff);
		}
	}
	assert_int_equal(recording_page(recording, 16 * (CHUNKS - 1) + 4, bytes,
					&why), ERR_CORRUPT);
	recording_close(recording);
}

enum { MANY = 16 * 99 + 3 };

static struct recording *with_many_pages(void)
{
	struct trace_writer *writer = start();

	put_meta(writer);
	put_key_frame(writer, 0, 0, NULL, 0);
	for (unsigned id = 1; id <= MANY; id += 16)
		put_pages(writer, id, id + 16 > MANY ? 3 : 16);
	put_summary(writer, 1);
	finish(writer);
	return reopen();
}

/* Wants `count` pages, each `step` after the one before, at their places. */
static void want(struct page_want *list, uint8_t *bytes, unsigned count,
		 unsigned step)
{
	memset(bytes, 0, (size_t)MANY * GUEST_PAGE);
	for (unsigned i = 0; i < count; i++)
		list[i] = (struct page_want){
			1 + i * step % MANY, bytes + (size_t)i * GUEST_PAGE,
		};
}

/* In order, which fills whole chunks in place; in another; and few. */
static void many_pages_at_once(void **state)
{
	static const struct {
		unsigned count, step;
	} asked[] = {
		{ MANY, 1 }, { MANY, 7 }, { MANY / 2, 2 }, { MANY, MANY },
		{ 100, 5 }, { 0, 1 },
	};
	uint8_t *bytes = malloc((size_t)MANY * GUEST_PAGE);
	struct page_want *list = malloc(MANY * sizeof(*list));
	struct recording *recording = with_many_pages();
	struct failure why;

	(void)state;
	for (size_t i = 0; i < COUNT(asked); i++) {
		want(list, bytes, asked[i].count, asked[i].step);
		assert_int_equal(recording_read_pages(recording, list,
						      asked[i].count, &why), 0);
		for (unsigned j = 0; j < asked[i].count; j++) {
			const uint8_t *page = bytes + (size_t)j * GUEST_PAGE;
			uint8_t id = (1 + j * asked[i].step % MANY) & 0xff;

			assert_int_equal(page[0], id);
			assert_int_equal(page[GUEST_PAGE - 1], id);
		}
	}
	want(list, bytes, MANY, 1);
	list[5].id = MANY + 1;
	assert_int_equal(recording_read_pages(recording, list, MANY, &why),
			 ERR_CORRUPT);
	assert_non_null(strstr(why.text, "names page 1588"));
	recording_close(recording);
	free(list);
	free(bytes);
}

/* Whichever thread finds it. */
static void many_pages_and_a_bad_one(void **state)
{
	uint8_t *bytes = malloc((size_t)MANY * GUEST_PAGE);
	struct page_want *list = malloc(MANY * sizeof(*list));
	struct recording *recording = with_many_pages();
	const struct trace_reader *reader = recording_reader(recording);
	size_t last = trace_reader_count(reader) - 2;
	FILE *file = fopen(path, "r+b");
	struct failure why;

	(void)state;
	assert_int_equal(trace_reader_info(reader, last)->kind, CHUNK_PAGES);
	assert_non_null(file);
	fseek(file, (long)trace_reader_info(reader, last)->offset, SEEK_SET);
	fputc('x', file);
	fclose(file);
	want(list, bytes, MANY, 1);
	assert_int_equal(recording_read_pages(recording, list, MANY, &why),
			 ERR_CHECKSUM);
	assert_non_null(strstr(why.text, "is damaged"));
	want(list, bytes, MANY - 3, 1);
	assert_int_equal(recording_read_pages(recording, list, MANY - 3, &why),
			 0);
	recording_close(recording);
	free(list);
	free(bytes);
}

/* ------- patches ------- */

static struct recording *with_patches(unsigned chunks, unsigned in_chunk)
{
	struct trace_writer *writer = start();

	put_meta(writer);
	put_key_frame(writer, 0, 0, NULL, 0);
	for (unsigned i = 0; i < chunks; i++)
		put_patches(writer, 1 + i * in_chunk, in_chunk);
	put_summary(writer, 1);
	finish(writer);
	return reopen();
}

/* One after the other, backwards, and all at once. */
static void patches_make_pages(void **state)
{
	enum { EACH = PATCHES_MOST + 1, ALL = 300 * EACH };
	struct recording *recording = with_patches(300, EACH);
	uint8_t *bytes = malloc((size_t)ALL * GUEST_PAGE);
	struct page_want *list = malloc(ALL * sizeof(*list));
	struct failure why;

	(void)state;
	for (unsigned i = 0; i < ALL; i++)
		list[i] = (struct page_want){
			1 + i, bytes + (size_t)i * GUEST_PAGE,
		};
	for (unsigned round = 0; round < 2; round++) {
		memset(bytes, 0xee, (size_t)ALL * GUEST_PAGE);
		for (unsigned i = ALL; !round && i-- > 0;)
			assert_int_equal(recording_page(recording, 1 + i,
							list[i].to, &why), 0);
		if (round)
			assert_int_equal(recording_read_pages(
				recording, list, ALL, &why), 0);
		for (unsigned i = 0; i < ALL; i++) {
			const uint8_t *page = bytes + (size_t)i * GUEST_PAGE;

			assert_int_equal(page[0], (1 + i / EACH * EACH) & 0xff);
			assert_int_equal(page[GUEST_PAGE - 2], page[0]);
			assert_int_equal(page[GUEST_PAGE - 1], i % EACH);
		}
	}
	recording_close(recording);
	free(list);
	free(bytes);
}

static void too_many_patches(void **state)
{
	struct recording *recording = with_patches(1, PATCHES_MOST + 2);
	uint8_t page[GUEST_PAGE];
	struct failure why;

	(void)state;
	assert_int_equal(recording_page(recording, PATCHES_MOST + 1, page,
					&why), 0);
	assert_int_equal(page[GUEST_PAGE - 1], PATCHES_MOST);
	assert_int_equal(recording_page(recording, PATCHES_MOST + 2, page,
					&why), ERR_CORRUPT);
	assert_non_null(strstr(why.text, "page 17 is made of too many patches"));
	recording_close(recording);
}

/* How many pages a chunk has, its header says. */
static void a_wrong_number_of_pages(void **state)
{
	static const uint32_t wrong[] = { 0, 2, PAGE_ITEMS_MOST + 1 };

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct trace_writer *writer = start();
		struct page_batch batch = { 0 };
		uint8_t page[GUEST_PAGE] = { 1 };
		struct recording *recording = NULL;
		struct failure why;
		int rc;

		put_meta(writer);
		put_key_frame(writer, 0, 0, NULL, 0);
		page_batch_add(&batch, page);
		page_batch_end(&batch);
		assert_int_equal(trace_writer_chunk(writer, CHUNK_PAGES,
						    wrong[i], 0, 1,
						    &batch.pages, &why), 0);
		put_summary(writer, 1);
		finish(writer);
		rc = recording_open(&recording, path, &why);
		if (!rc)
			rc = recording_page(recording, 1, page, &why);
		assert_int_not_equal(rc, 0);
		assert_non_null(strstr(why.text, "is damaged"));
		if (recording)
			recording_close(recording);
	}
}

int main(void)
{
	struct test_list list = { 0 };
	int status;

	if (!make_path())
		return 1;
	add_test(&list, "segments and times", segments_and_times, NULL);
	add_test(&list, "parts are joined", parts_are_joined, NULL);
	add_test(&list, "patches make pages", patches_make_pages, NULL);
	add_test(&list, "too many patches", too_many_patches, NULL);
	add_test(&list, "a wrong number of pages", a_wrong_number_of_pages,
		 NULL);
	add_test(&list, "snapshots by segment", snapshots_by_segment, NULL);
	add_test(&list, "symbols of modules", symbols_of_modules, NULL);
	add_test(&list, "symbols by time", symbols_by_time, NULL);
	add_test(&list, "mapped by time", mapped_by_time, NULL);
	add_test(&list, "every cut opens or is truncated",
		 every_cut_opens_or_is_truncated, NULL);
	add_test(&list, "end from the events", end_from_the_events, NULL);
	add_test(&list, "end before a lost page", end_before_a_lost_page, NULL);
	add_rows(&list, bad_rows, open_bad);
	add_test(&list, "snapshots say all pages", snapshots_say_all_pages,
		 NULL);
	add_test(&list, "large recording", large_recording, NULL);
	add_test(&list, "pages leave and come back", pages_leave_and_come_back,
		 NULL);
	add_test(&list, "many pages at once", many_pages_at_once, NULL);
	add_test(&list, "many pages and a bad one", many_pages_and_a_bad_one,
		 NULL);
	status = run_list("recording", &list);
	unlink(path);
	return status;
}
