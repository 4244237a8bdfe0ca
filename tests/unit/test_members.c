/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_members.c - pages and symbols that are in files of other processes */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/error.h"
#include "formats/member.h"
#include "formats/page_items.h"
#include "formats/symbols.h"
#include "replayer/recording/recording.h"
#include "tests/unit/table.h"

#define FIRST "t.cpr"
#define CHILD "t.cpr.d/7.cpr"
#define OTHER "t.cpr.d/8-2.cpr"

/* Pages that the first file has; the child has as many, and one. */
enum { PAGES = 1000 };

/* What is to be wrong with one of the files. */
struct sample {
	uint8_t id, run;	/* of the first file */
	uint32_t member;	/* that the child's pages are of */
	uint64_t more;		/* that their ids are too high by */
	uint64_t symbols;	/* offset of the first file's, added to */
	bool is_elsewhere;	/* what the first file has */
};

/* ------- files ------- */

static struct trace_writer *start(const char *path, uint8_t id)
{
	struct trace_header header = {
		.arch = ARCH_X86_64, .id = { id }, .features = FEATURE_MEMBERS,
	};
	struct trace_writer *writer;
	struct failure why;

	unlink(path);
	assert_int_equal(trace_writer_open(&writer, path, &header, 1, &why), 0);
	return writer;
}

static void put(struct trace_writer *writer, enum chunk_kind kind,
		uint32_t stream, uint64_t first, struct output *content)
{
	struct failure why;

	assert_int_equal(trace_writer_chunk(writer, kind, stream, 0, first,
					    content, &why), 0);
}

static void put_meta(struct trace_writer *writer, uint8_t run)
{
	char *argv[] = { NULL };
	struct meta meta = {
		.argv = argv, .path = (char[]){ "/p" },
		.directory = (char[]){ "/" }, .host = (char[]){ "" },
		.made_by = (char[]){ "" }, .cache_entries = 16384,
		.processor = *processor_of(ARCH_X86_64), .run = { run },
	};
	struct output out = { 0 };

	meta_encode(&out, &meta);
	put(writer, CHUNK_META, 0, 0, &out);
}

static void put_member(struct trace_writer *writer, uint32_t number,
		       uint32_t pid, uint32_t turn, uint8_t run)
{
	const struct member member = { .name = { pid, turn }, .run = { run } };
	struct output out = { 0 };

	member_encode(&out, &member);
	put(writer, CHUNK_MEMBER, 0, number, &out);
}

static void put_key_frame(struct trace_writer *writer)
{
	struct region region = { 0x1000, 0x2000, MAY_READ, REGION_ANON, 0, "" };
	struct key_frame frame = {
		.tid = 7, .cache_entries = 16384, .regions = &region,
		.region_count = 1,
	};
	struct summary_thread thread = { 7, 1 };
	struct summary summary = {
		.time = 1, .threads = &thread, .thread_count = 1,
	};
	struct output out = { 0 };

	key_frame_encode(&out, reg_table(ARCH_X86_64), &frame);
	put(writer, CHUNK_KEY_FRAME, 0, 0, &out);
	summary_encode(&out, &summary);
	put(writer, CHUNK_SUMMARY, 0, 0, &out);
}

static void put_batch(struct trace_writer *writer, struct page_batch *batch,
		      uint64_t next)
{
	uint32_t count = batch->count;

	if (!count)
		return;
	page_batch_end(batch);
	put(writer, CHUNK_PAGES, count, next - count, &batch->pages);
}

static const uint8_t *content(uint64_t id)
{
	static uint8_t page[GUEST_PAGE];

	for (unsigned at = 0; at < GUEST_PAGE; at += 8)
		memcpy(page + at, &id, sizeof(id));
	return page;
}

/* Every second one is a patch of that before it. */
static void put_pages(struct trace_writer *writer, bool is_elsewhere)
{
	struct page_batch batch = { 0 };
	struct page_patch patch;
	uint8_t before[GUEST_PAGE];

	for (uint64_t id = 1; id <= PAGES; id++) {
		if (is_elsewhere)
			page_batch_add_place(&batch,
					     &(struct page_place){ 1, id });
		else if (id % 2)
			page_batch_add(&batch, content(id));
		else if (page_patch_make(&patch, before, content(id),
					 PAGE_WORDS))
			page_batch_add_patch(&batch, &patch, 1);
		memcpy(before, content(id), sizeof(before));
		if (page_batch_is_full(&batch))
			put_batch(writer, &batch, id + 1);
	}
	put_batch(writer, &batch, PAGES + 1);
}

static void put_symbols(struct trace_writer *writer)
{
	struct symbol symbol = { 0x10, 8, SYMBOL_FUNCTION, "f" };
	struct symbols symbols = {
		.path = (char[]){ "/p" }, .link_end = 0x100, .list = &symbol,
		.count = 1,
	};
	struct output out = { 0 };

	symbols_encode(&out, &symbols);
	put(writer, CHUNK_SYMBOLS, 0, 0, &out);
}

static void finish(struct trace_writer *writer)
{
	struct failure why;

	assert_int_equal(trace_writer_finish(writer, &why), 0);
	trace_writer_close(writer);
}

static void make_first(const struct sample *sample)
{
	struct trace_writer *writer = start(FIRST, sample->id);

	put_meta(writer, sample->run);
	if (sample->is_elsewhere)
		put_member(writer, 1, 7, 1, 2);
	put_pages(writer, sample->is_elsewhere);
	put_symbols(writer);
	put_key_frame(writer);
	finish(writer);
}

/* Where the symbols of the first file are. */
static uint64_t symbols_offset(void)
{
	struct trace_reader *reader;
	uint64_t offset = 0;

	assert_int_equal(trace_reader_open(&reader, FIRST, NULL), 0);
	for (size_t i = 0; i < trace_reader_count(reader); i++)
		if (trace_reader_info(reader, i)->kind == CHUNK_SYMBOLS)
			offset = trace_reader_info(reader, i)->offset;
	trace_reader_close(reader);
	return offset;
}

/* Its pages are the first file's, backwards; the last is a patch. */
static void put_places(struct trace_writer *writer, const struct sample *sample)
{
	struct page_batch batch = { 0 };
	struct page_patch patch;
	uint8_t base[GUEST_PAGE], page[GUEST_PAGE];

	for (uint64_t id = 1; id <= PAGES; id++) {
		struct page_place place = { sample->member,
					    PAGES + 1 - id + sample->more };

		page_batch_add_place(&batch, &place);
		if (page_batch_is_full(&batch))
			put_batch(writer, &batch, id + 1);
	}
	memcpy(base, content(1), sizeof(base));
	memcpy(page, base, sizeof(page));
	page[100] = 0x55;
	assert_true(page_patch_make(&patch, base, page, PAGE_WORDS));
	page_batch_add_patch(&batch, &patch, 1);
	put_batch(writer, &batch, PAGES + 2);
}

static void make_child(const struct sample *sample)
{
	const struct symbols_at at = {
		.member = 1, .offset = symbols_offset() + sample->symbols,
	};
	struct trace_writer *writer = start(CHILD, 1);
	struct output out = { 0 };

	put_meta(writer, 2);
	put_member(writer, 1, 6, 0, 1);
	put_places(writer, sample);
	symbols_at_encode(&out, &at);
	put(writer, CHUNK_SYMBOLS_AT, 0, 0, &out);
	put_key_frame(writer);
	finish(writer);
}

static const struct sample good = { .id = 1, .run = 1, .member = 1 };

static struct recording *open_at(const char *path)
{
	struct recording *recording;
	struct failure why;

	if (recording_open(&recording, path, &why))
		fail_msg("%s", why.text);
	return recording;
}

/* ------- tests ------- */

static void check_pages(struct recording *recording)
{
	uint8_t page[GUEST_PAGE];
	struct failure why;

	for (uint64_t id = 1; id <= PAGES; id += 7) {
		if (recording_page(recording, id, page, &why))
			fail_msg("%s", why.text);
		assert_memory_equal(page, content(PAGES + 1 - id), GUEST_PAGE);
	}
	assert_int_equal(recording_page(recording, PAGES + 1, page, &why), 0);
	assert_int_equal(page[100], 0x55);
	page[100] = content(1)[100];
	assert_memory_equal(page, content(1), GUEST_PAGE);
}

static void pages(void **state)
{
	struct recording *recording;

	(void)state;
	make_first(&good);
	make_child(&good);
	recording = open_at(CHILD);
	check_pages(recording);
	recording_close(recording);
}

static void all_at_once(void **state)
{
	struct page_want *list = calloc(PAGES + 1, sizeof(*list));
	uint8_t *bytes = malloc((PAGES + 1) * GUEST_PAGE);
	struct recording *recording;
	struct failure why;

	(void)state;
	make_first(&good);
	make_child(&good);
	recording = open_at(CHILD);
	for (size_t i = 0; i <= PAGES; i++)
		list[i] = (struct page_want){ i + 1, bytes + i * GUEST_PAGE };
	assert_int_equal(recording_read_pages(recording, list, PAGES + 1, &why),
			 0);
	for (size_t i = 0; i < PAGES; i++)
		assert_memory_equal(bytes + i * GUEST_PAGE, content(PAGES - i),
				    GUEST_PAGE);
	assert_int_equal(bytes[PAGES * GUEST_PAGE + 100], 0x55);
	recording_close(recording);
	free(list);
	free(bytes);
}

/* Both are moved, and get another name. */
static void moved(void **state)
{
	struct recording *recording;

	(void)state;
	make_first(&good);
	make_child(&good);
	assert_int_equal(mkdir("far", 0700) || rename(FIRST, "far/x") ||
				 rename(FIRST ".d", "far/x.d"), 0);
	recording = open_at("far/x.d/7.cpr");
	check_pages(recording);
	recording_close(recording);
	assert_int_equal(rename("far/x", FIRST) ||
				 rename("far/x.d", FIRST ".d") || rmdir("far"),
			 0);
}

static int read_symbols(struct recording *recording, struct symbols *out,
			struct failure *why)
{
	const struct trace_reader *reader = recording_reader(recording);
	uint8_t *bytes;
	size_t size;
	int rc = ERR_NOT_FOUND;

	for (size_t i = 0; i < trace_reader_count(reader); i++)
		if (recording_is_symbols(recording, i))
			rc = recording_symbols(recording, i, &bytes, &size,
					       why);
	if (rc)
		return rc;
	rc = symbols_decode(out, bytes, size);
	free(bytes);
	return rc;
}

static void symbols(void **state)
{
	struct recording *recording;
	struct symbols found;
	struct failure why;

	(void)state;
	make_first(&good);
	make_child(&good);
	recording = open_at(CHILD);
	assert_int_equal(read_symbols(recording, &found, &why), 0);
	assert_string_equal(found.list[0].name, "f");
	symbols_release(&found);
	recording_close(recording);
}

struct bad_row {
	const char *name;
	struct sample sample;
	int expected;
	const char *message;
};

static const struct bad_row bad_rows[] = {
	{ "of another family", { 9, 1, 1 }, ERR_CORRUPT,
	  "'" CHILD "' needs '" FIRST "', of process 6: it is of another"
	  " program" },
	{ "of another run", { 1, 9, 1 }, ERR_CORRUPT,
	  "'" CHILD "' needs '" FIRST "', of process 6: it is of another"
	  " process" },
	{ "of a process that is not named", { 1, 1, 2 }, ERR_CORRUPT,
	  "'" CHILD "' names process 2 of 1" },
	{ "a page that is not there", { 1, 1, 1, .more = 1 }, ERR_CORRUPT,
	  "'" FIRST "' names page 1001, but has only 1000" },
	{ "a page that is elsewhere there, too",
	  { 1, 1, 1, .is_elsewhere = true }, ERR_CORRUPT,
	  "'" FIRST "': page 1000 is not stored there" },
};

static void bad_row(void **state)
{
	const struct bad_row *row = *state;
	struct recording *recording;
	struct page_want list[PAGES];
	uint8_t *bytes = malloc(PAGES * GUEST_PAGE);
	struct failure why = { "" };

	make_first(&row->sample);
	make_child(&row->sample);
	recording = open_at(CHILD);
	assert_int_equal(recording_page(recording, 1, bytes, &why),
			 row->expected);
	assert_string_equal(why.text, row->message);
	for (size_t i = 0; i < PAGES; i++)
		list[i] = (struct page_want){ i + 1, bytes + i * GUEST_PAGE };
	assert_int_equal(recording_read_pages(recording, list, PAGES, &why),
			 row->expected);
	recording_close(recording);
	free(bytes);
}

static void not_there(void **state)
{
	struct recording *recording;
	uint8_t page[GUEST_PAGE];
	struct failure why;

	(void)state;
	make_first(&good);
	make_child(&good);
	unlink(FIRST);
	recording = open_at(CHILD);
	assert_int_equal(recording_page(recording, 1, page, &why), ERR_SYSTEM);
	assert_string_equal(why.text, "'" CHILD "' needs '" FIRST
			    "', of process 6: cannot open '" FIRST
			    "': No such file or directory");
	recording_close(recording);
	assert_int_equal(rename(CHILD, "child.cpr"), 0);
	recording = open_at("child.cpr");
	assert_int_equal(recording_page(recording, 1, page, &why), ERR_CORRUPT);
	assert_string_equal(why.text, "'child.cpr' needs the recording of"
			    " process 6, and is not in the folder of its"
			    " family");
	recording_close(recording);
	unlink("child.cpr");
}

static void no_symbols_there(void **state)
{
	struct sample sample = good;
	struct recording *recording;
	struct symbols found;
	struct failure why;

	(void)state;
	make_first(&good);
	sample.symbols = 1;
	make_child(&sample);
	recording = open_at(CHILD);
	assert_int_equal(read_symbols(recording, &found, &why), ERR_CORRUPT);
	assert_non_null(strstr(why.text, "which are not there"));
	recording_close(recording);
}

/* One that says that it is itself the other has nothing of its own there. */
static void itself(void **state)
{
	struct trace_writer *writer = start(OTHER, 1);
	struct sample sample = good;
	struct recording *recording;
	uint8_t page[GUEST_PAGE];
	struct failure why;

	(void)state;
	make_first(&good);
	put_meta(writer, 2);
	put_member(writer, 1, 8, 2, 2);
	put_places(writer, &sample);
	put_key_frame(writer);
	finish(writer);
	recording = open_at(OTHER);
	assert_int_equal(recording_page(recording, 1, page, &why), ERR_CORRUPT);
	assert_string_equal(why.text,
			    "'" OTHER "': page 1000 is not stored there");
	recording_close(recording);
	unlink(OTHER);
}

/* Numbers count from 1. */
static void wrong_number(void **state)
{
	struct trace_writer *writer = start(OTHER, 1);
	struct recording *recording;
	struct failure why;

	(void)state;
	put_meta(writer, 2);
	put_member(writer, 2, 8, 2, 2);
	put_key_frame(writer);
	finish(writer);
	assert_int_equal(recording_open(&recording, OTHER, &why), ERR_CORRUPT);
	assert_non_null(strstr(why.text, "name of another process at byte"));
	unlink(OTHER);
}

int main(void)
{
	char place[] = "/tmp/cprec-members-XXXXXX";
	struct test_list list = { 0 };
	int status;

	if (!mkdtemp(place) || chdir(place) || mkdir(FIRST ".d", 0700))
		return 1;
	add_test(&list, "pages", pages, NULL);
	add_test(&list, "all at once", all_at_once, NULL);
	add_test(&list, "moved", moved, NULL);
	add_test(&list, "symbols", symbols, NULL);
	add_rows(&list, bad_rows, bad_row);
	add_test(&list, "not there", not_there, NULL);
	add_test(&list, "no symbols there", no_symbols_there, NULL);
	add_test(&list, "itself", itself, NULL);
	add_test(&list, "a wrong number", wrong_number, NULL);
	status = run_list("members", &list);
	unlink(FIRST);
	unlink(CHILD);
	rmdir(FIRST ".d");
	return chdir("/") || rmdir(place) || status;
}
