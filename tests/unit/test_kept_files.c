/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_kept_files.c - files that a recording keeps, here or in a member's */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/error.h"
#include "formats/member.h"
#include "replayer/recording/recording.h"
#include "tests/unit/table.h"

#define FIRST "t.cpr"
#define CHILD "t.cpr.d/7.cpr"

/* The first file's: one of two pieces, with a hole, and one of a byte. */
#define PIECE 20000u
#define SIZE (2 * PIECE)

static uint8_t content_at(size_t at)
{
	return at < 8192 || at >= 16384 ? (uint8_t)(at % 251 + 1) : 0;
}

static struct trace_writer *start(const char *path)
{
	struct trace_header header = {
		.arch = ARCH_X86_64, .id = { 1 }, .features = FEATURE_MEMBERS,
	};
	struct trace_writer *writer;
	struct failure why;

	unlink(path);
	assert_int_equal(trace_writer_open(&writer, path, &header, 1, &why), 0);
	return writer;
}

static void put(struct trace_writer *writer, enum chunk_kind kind,
		uint64_t first, struct output *content)
{
	struct failure why;

	assert_int_equal(trace_writer_chunk(writer, kind, 0, 0, first, content,
					    &why), 0);
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
	put(writer, CHUNK_META, 0, &out);
}

static void put_piece(struct trace_writer *writer, uint64_t number,
		      size_t from, size_t to)
{
	struct output out = { 0 };

	for (size_t at = from; at < to; at++)
		output_uint(&out, content_at(at), 1);
	put(writer, CHUNK_PIECE, number, &out);
}

static void put_module(struct trace_writer *writer, const char *path,
		       struct kept_file file)
{
	const struct module_files module = {
		.path = (char *)(uintptr_t)path,
		.build_id = { { 0xab }, 1 },
		.files = { file },
	};
	struct output out = { 0 };

	module_files_encode(&out, &module);
	put(writer, CHUNK_MODULE_FILES, 0, &out);
}

static void finish(struct trace_writer *writer)
{
	struct region region = { 0x1000, 0x2000, MAY_READ, REGION_ANON, 0, "" };
	struct key_frame frame = {
		.tid = 7, .cache_entries = 16384, .regions = &region,
		.region_count = 1,
	};
	struct output out = { 0 };
	struct failure why;

	key_frame_encode(&out, reg_table(ARCH_X86_64), &frame);
	put(writer, CHUNK_KEY_FRAME, 0, &out);
	assert_int_equal(trace_writer_finish(writer, &why), 0);
	trace_writer_close(writer);
}

/* What each module's file is said to be. */
static const struct kept_file whole = { SIZE, 0, 1 };
static const struct kept_file byte = { 1, 0, 2 };
static const struct kept_file elsewhere = { SIZE, 1, 1 };

static void make_files(const struct kept_file *of_child)
{
	struct trace_writer *writer = start(FIRST);
	const struct member first = { .name = { 6, 0 }, .run = { 1 } };
	struct output out = { 0 };

	put_meta(writer, 1);
	put_piece(writer, 1, 0, PIECE);
	put_piece(writer, 1, PIECE, SIZE);
	put_piece(writer, 2, 0, 1);
	put_module(writer, "/a", whole);
	put_module(writer, "/b", byte);
	put_module(writer, "/a", byte);
	finish(writer);
	writer = start(CHILD);
	put_meta(writer, 2);
	member_encode(&out, &first);
	put(writer, CHUNK_MEMBER, 1, &out);
	put_module(writer, "/a", *of_child);
	finish(writer);
}

static struct recording *open_at(const char *path)
{
	struct recording *recording;
	struct failure why;

	if (recording_open(&recording, path, &why))
		fail_msg("%s", why.text);
	return recording;
}

static const struct module_files *find(struct recording *recording,
				       const char *path)
{
	const struct module_list *modules;
	struct failure why;

	if (recording_modules(recording, &modules, &why))
		fail_msg("%s", why.text);
	return module_files_find(modules, path);
}

static void check_content(struct recording *recording,
			  const struct kept_file *file)
{
	int fd = memfd_create("kept", MFD_CLOEXEC);
	uint8_t *bytes = malloc(SIZE + 1);
	struct failure why;

	if (recording_kept_file(recording, file, fd, &why))
		fail_msg("%s", why.text);
	assert_int_equal(pread(fd, bytes, SIZE + 1, 0), file->size);
	for (size_t at = 0; at < file->size; at++)
		assert_int_equal(bytes[at], content_at(at));
	close(fd);
	free(bytes);
}

static void own(void **state)
{
	struct recording *recording;
	const struct module_files *module;
	uint64_t bytes;

	(void)state;
	make_files(&elsewhere);
	recording = open_at(FIRST);
	module = find(recording, "/a");
	assert_int_equal(module->build_id.bytes[0], 0xab);
	assert_int_equal(recording_kept_by(recording, &module->files[0]), 0);
	check_content(recording, &module->files[0]);
	check_content(recording, &find(recording, "/b")->files[0]);
	assert_null(find(recording, "/c"));
	assert_int_equal(recording_kept_bytes(recording,
					      &find(recording, "/b")->files[0],
					      &bytes, NULL), 0);
	assert_int_equal(bytes, 1);
	recording_close(recording);
}

static void of_a_member(void **state)
{
	struct recording *recording;
	const struct kept_file *file;

	(void)state;
	make_files(&elsewhere);
	recording = open_at(CHILD);
	file = &find(recording, "/a")->files[0];
	check_content(recording, file);
	assert_int_equal(recording_kept_by(recording, file), 6);
	recording_close(recording);
}

struct bad_row {
	const char *name;
	struct kept_file file;	/* that the child names */
	const char *message;
};

static const struct bad_row bad_rows[] = {
	{ "too large", { SIZE + 1, 1, 1 },
	  "'" FIRST "' has 40000 bytes of kept file 1, not 40001" },
	{ "too small", { SIZE - 1, 1, 1 },
	  "'" FIRST "' has 40000 bytes of kept file 1, not 39999" },
	{ "a number that is not there", { 1, 1, 3 },
	  "'" FIRST "' has 0 bytes of kept file 3, not 1" },
	{ "not there", { SIZE, 0, 1 },
	  "'" CHILD "' has 0 bytes of kept file 1, not 40000" },
	{ "a member that is not there", { SIZE, 2, 1 },
	  "'" CHILD "' names process 2 of 1" },
};

static void bad_row(void **state)
{
	const struct bad_row *row = *state;
	struct recording *recording;
	struct failure why = { "" };

	make_files(&row->file);
	recording = open_at(CHILD);
	assert_int_equal(recording_kept_file(recording,
					     &find(recording, "/a")->files[0],
					     -1, &why), ERR_CORRUPT);
	assert_string_equal(why.text, row->message);
	recording_close(recording);
}

static void no_modules(void **state)
{
	struct trace_writer *writer = start(FIRST);
	struct output out = { 0 };
	const struct module_list *modules;
	struct recording *recording;
	struct failure why = { "" };

	(void)state;
	put_meta(writer, 1);
	output_bytes(&out, "\1m", 2);
	put(writer, CHUNK_MODULE_FILES, 0, &out);
	finish(writer);
	recording = open_at(FIRST);
	assert_int_equal(recording_modules(recording, &modules, &why),
			 ERR_TRUNCATED);
	assert_non_null(strstr(why.text, "list of modules at byte"));
	recording_close(recording);
}

int main(void)
{
	char place[] = "/tmp/cprec-kept-XXXXXX";
	static struct test_list list;
	int status;

	if (!mkdtemp(place) || chdir(place) || mkdir(FIRST ".d", 0700))
		return 1;
	add_test(&list, "its own", own, NULL);
	add_test(&list, "of a member", of_a_member, NULL);
	add_rows(&list, bad_rows, bad_row);
	add_test(&list, "a damaged list", no_modules, NULL);
	status = run_list("kept_files", &list);
	unlink(FIRST);
	unlink(CHILD);
	rmdir(FIRST ".d");
	return chdir("/") || rmdir(place) || status;
}
