/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_trace_file.c - trace files: written and read, and a full disk */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "formats/trace_lock.h"
#include "tests/unit/trace_sample.h"

/* ------- good files ------- */

static void all_comes_back(void **state)
{
	struct trace_reader *reader;
	struct stat status;

	(void)state;
	make_recording(true);
	assert_int_equal(trace_reader_open(&reader, path, NULL), 0);
	assert_header(reader);
	assert_true(trace_reader_is_complete(reader));
	assert_string_equal(trace_reader_path(reader), path);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(trace_reader_size(reader), status.st_size);
	assert_int_equal(trace_reader_count(reader), COUNT(chunks));
	for (size_t i = 0; i < COUNT(chunks); i++)
		assert_chunk(reader, i);
	trace_reader_close(reader);
}

static void packs_what_gets_smaller(void **state)
{
	struct trace_reader *reader;

	(void)state;
	make_recording(true);
	assert_int_equal(trace_reader_open(&reader, path, NULL), 0);
	for (size_t i = 0; i < COUNT(chunks); i++) {
		const struct chunk_info *info = trace_reader_info(reader, i);

		if (chunks[i].size > 100 && chunks[i].period < 100)
			assert_true(info->stored_size < info->size / 2);
		if (chunks[i].period > 100)
			assert_int_equal(info->stored_size, info->size);
	}
	trace_reader_close(reader);
}

static void without_a_footer(void **state)
{
	struct trace_reader *reader;

	(void)state;
	make_recording(false);
	assert_int_equal(trace_reader_open(&reader, path, NULL), 0);
	assert_header(reader);
	assert_false(trace_reader_is_complete(reader));
	assert_int_equal(trace_reader_count(reader), COUNT(chunks));
	for (size_t i = 0; i < COUNT(chunks); i++)
		assert_chunk(reader, i);
	trace_reader_close(reader);
}

static void counts_its_bytes(void **state)
{
	struct trace_writer *writer;
	uint64_t sum = TRACE_HEADER_SIZE;
	struct stat status;

	(void)state;
	unlink(path);
	assert_int_equal(trace_writer_open(&writer, path, &header, 1, NULL), 0);
	for (size_t i = 0; i < COUNT(chunks); i++)
		assert_int_equal(put_chunk(writer, &chunks[i], NULL), 0);
	assert_int_equal(trace_writer_finish(writer, NULL), 0);
	assert_int_equal(trace_writer_bytes(writer, CHUNK_META),
			 CHUNK_HEADER_SIZE + 21);
	for (unsigned kind = 0; kind < CHUNK_KINDS; kind++)
		if (chunk_kind_is_known(kind))
			sum += trace_writer_bytes(writer,
						  (enum chunk_kind)kind);
	trace_writer_close(writer);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(sum, status.st_size);
}

/* Each chunk is in the file before the next is begun. */
static void readable_while_it_grows(void **state)
{
	struct trace_writer *writer;
	struct trace_reader *reader;
	size_t count = 0;

	(void)state;
	unlink(path);
	assert_int_equal(trace_writer_open(&writer, path, &header, 1, NULL), 0);
	for (size_t i = 0; i < COUNT(chunks); i++) {
		assert_int_equal(put_chunk(writer, &chunks[i], NULL), 0);
		for (count = 0; count < i + 1;) {
			assert_int_equal(trace_reader_open(&reader, path, NULL),
					 0);
			assert_false(trace_reader_is_complete(reader));
			count = trace_reader_count(reader);
			if (count)
				assert_chunk(reader, count - 1);
			trace_reader_close(reader);
		}
		assert_int_equal(count, i + 1);
	}
	trace_writer_close(writer);
}

static void more_than_may_wait(void **state)
{
	struct trace_writer *writer;
	struct trace_reader *reader;

	(void)state;
	unlink(path);
	assert_int_equal(trace_writer_open(&writer, path, &header, 1, NULL), 0);
	for (unsigned i = 0; i < 6; i++) {
		struct output content = { 0 };

		memset(output_space(&content, 24u << 20), (int)i, 24u << 20);
		assert_int_equal(trace_writer_chunk(writer, CHUNK_READS, 1, i,
						    0, &content, NULL), 0);
	}
	assert_int_equal(trace_writer_finish(writer, NULL), 0);
	trace_writer_close(writer);
	assert_int_equal(trace_reader_open(&reader, path, NULL), 0);
	assert_int_equal(trace_reader_count(reader), 6);
	for (unsigned i = 0; i < 6; i++) {
		uint8_t *bytes;

		assert_int_equal(trace_reader_chunk(reader, i, &bytes, NULL),
				 0);
		assert_int_equal(bytes[0], i);
		assert_int_equal(bytes[(24u << 20) - 1], i);
		free(bytes);
	}
	trace_reader_close(reader);
}

static void chunk_above_the_limit(void **state)
{
	struct trace_writer *writer;
	struct output content = { 0 };
	struct failure why;

	(void)state;
	unlink(path);
	assert_int_equal(trace_writer_open(&writer, path, &header, 1, NULL), 0);
	assert_non_null(output_space(&content, TRACE_CHUNK_MAX + 1));
	assert_int_equal(trace_writer_chunk(writer, CHUNK_SYMBOLS, 0, 0, 0,
					    &content, &why), ERR_INPUT);
	assert_null(content.bytes);
	/* The writer is as it was. */
	assert_int_equal(put_chunk(writer, &chunks[0], NULL), 0);
	assert_int_equal(trace_writer_finish(writer, NULL), 0);
	trace_writer_close(writer);
}

static void descriptor_is_out_of_the_way(void **state)
{
	struct trace_writer *writer;
	int next = dup(0);

	(void)state;
	close(next);
	unlink(path);
	assert_int_equal(trace_writer_open(&writer, path, &header, 1, NULL), 0);
	assert_int_equal(dup(0), next);
	close(next);
	trace_writer_close(writer);
	trace_writer_close(NULL);
}

/* ------- a writer that cannot write ------- */

static void file_that_exists(void **state)
{
	struct trace_writer *writer = NULL;
	struct failure why;
	size_t size;
	uint8_t *bytes;

	(void)state;
	save("precious", 8);
	assert_int_equal(trace_writer_open(&writer, path, &header, 3, &why),
			 ERR_SYSTEM);
	assert_null(writer);
	assert_non_null(strstr(why.text, "cannot create"));
	assert_non_null(strstr(why.text, "File exists"));
	bytes = load(&size);
	assert_int_equal(size, 8);
	assert_memory_equal(bytes, "precious", 8);
	free(bytes);
}

static void limit_file_size(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Whatever fits is there and readable, and the error says what happened. */
static void check_limit(size_t limit)
{
	struct trace_reader *reader;
	struct failure why = { "" };
	size_t size;
	uint8_t *bytes;
	int rc;

	unlink(path);
	limit_file_size(limit);
	rc = write_recording(true, &why);
	limit_file_size(RLIM_INFINITY);
	if (rc != ERR_SYSTEM || !strstr(why.text, "cannot write '") ||
	    !strstr(why.text, "File too large"))
		fail_msg("limit of %zu bytes: %d %s", limit, rc, why.text);
	if (limit < TRACE_HEADER_SIZE) {
		assert_int_equal(access(path, F_OK), -1);
		return;
	}
	bytes = load(&size);
	assert_int_equal(size, limit);
	free(bytes);
	assert_int_equal(trace_reader_open(&reader, path, &why), 0);
	assert_false(trace_reader_is_complete(reader));
	for (size_t i = 0; i < trace_reader_count(reader); i++)
		assert_chunk(reader, i);
	trace_reader_close(reader);
}

static void fails_after_every_byte(void **state)
{
	size_t size;

	(void)state;
	make_recording(true);
	free(load(&size));
	for (size_t limit = 0; limit < size; limit++)
		check_limit(limit);
	/* And not after the last. */
	unlink(path);
	limit_file_size(size);
	assert_int_equal(write_recording(true, NULL), 0);
	limit_file_size(RLIM_INFINITY);
	assert_int_equal(read_everything(NULL), 0);
}

/* What the thread met comes back from the next call, and does not block. */
static void error_stays(void **state)
{
	struct trace_writer *writer;
	struct failure why;
	int rc = 0;

	(void)state;
	unlink(path);
	limit_file_size(1000);
	assert_int_equal(trace_writer_open(&writer, path, &header, 1, NULL), 0);
	for (unsigned i = 0; i < 1000 && !rc; i++) {
		rc = put_chunk(writer, &chunks[0], &why);
		usleep(100);
	}
	assert_int_equal(rc, ERR_SYSTEM);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(put_chunk(writer, &chunks[2], &why),
				 ERR_SYSTEM);
	limit_file_size(RLIM_INFINITY);
	assert_int_equal(trace_writer_finish(writer, &why), ERR_SYSTEM);
	assert_non_null(strstr(why.text, "File too large"));
	assert_true(trace_writer_bytes(writer, CHUNK_META) < 1000);
	trace_writer_close(writer);
}

/* What has been told of, and where the file ended then. */
struct told {
	size_t count;
	uint64_t end;		/* of the newest chunk */
	bool is_there;		/* each was in the file when it was told of */
};

static void on_written(void *context, const struct chunk_info *info,
		       const void *note)
{
	struct told *told = context;
	struct stat status;

	told->is_there &= *(const size_t *)note == told->count++;
	told->end = info->offset + CHUNK_HEADER_SIZE + info->stored_size;
	told->is_there &= !stat(path, &status) &&
			  (uint64_t)status.st_size >= told->end;
}

static int put_noted(struct trace_writer *writer, size_t number)
{
	size_t *note = malloc(sizeof(*note));
	struct output out = { 0 };

	assert_non_null(note);
	*note = number;
	output_bytes(&out, "0123456789", 10);
	return trace_writer_noted(writer, CHUNK_READS, 1, 0, 0, &out, note,
				  NULL);
}

/* Nobody is told of a chunk that is not in the file. */
static void told_when_written(void **state)
{
	struct told told = { .is_there = true };
	struct trace_writer *writer;

	(void)state;
	unlink(path);
	assert_int_equal(trace_writer_open(&writer, path, &header, 1, NULL), 0);
	trace_writer_watch(writer, on_written, &told);
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(put_noted(writer, i), 0);
	trace_writer_pause(writer);
	assert_int_equal(told.count, 10);
	assert_true(told.is_there);
	assert_true(trace_writer_is_sound(writer));
	/* One more has room, and a part of the next. */
	limit_file_size(told.end + CHUNK_HEADER_SIZE + 15);
	assert_int_equal(trace_writer_resume(writer, NULL), 0);
	for (size_t i = 10; i < 20; i++)
		put_noted(writer, i);
	trace_writer_pause(writer);
	limit_file_size(RLIM_INFINITY);
	assert_int_equal(told.count, 11);
	assert_true(told.is_there);
	assert_false(trace_writer_is_sound(writer));
	trace_writer_close(writer);
}

/* The first bytes are packed better; all can be read. */
static void packed_at_first(void **state)
{
	uint8_t bytes[20000 + 1], *found;
	uint32_t next = 1;
	struct trace_writer *writer;
	struct trace_reader *reader;

	(void)state;
	for (unsigned i = 0; i + 5 < sizeof(bytes); i += 5) {
		next = next * 1103515245 + 12345;
		snprintf((char *)bytes + i, 6, "%05u", next >> 16 & 1023);
	}
	unlink(path);
	assert_int_equal(trace_writer_open(&writer, path, &header, 1, NULL), 0);
	trace_writer_pack_first(writer, 19, 2 * sizeof(bytes));
	for (unsigned i = 0; i < 4; i++) {
		struct output out = { 0 };

		output_bytes(&out, bytes, sizeof(bytes));
		assert_int_equal(trace_writer_chunk(writer, CHUNK_READS, 1, 0,
						    0, &out, NULL), 0);
	}
	assert_int_equal(trace_writer_finish(writer, NULL), 0);
	trace_writer_close(writer);
	assert_int_equal(trace_reader_open(&reader, path, NULL), 0);
	assert_int_equal(trace_reader_count(reader), 4);
	assert_true(trace_reader_info(reader, 0)->stored_size <
		    trace_reader_info(reader, 3)->stored_size);
	assert_int_equal(trace_reader_info(reader, 2)->stored_size,
			 trace_reader_info(reader, 3)->stored_size);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(trace_reader_chunk(reader, i, &found, NULL),
				 0);
		assert_memory_equal(found, bytes, sizeof(bytes));
		free(found);
	}
	trace_reader_close(reader);
}

static bool is_locked(void)
{
	return trace_is_locked_at(AT_FDCWD, path);
}

/* By the writer, and not by those who look. */
static void locked_while_written(void **state)
{
	struct trace_writer *writer;
	int names;

	(void)state;
	unlink(path);
	assert_false(is_locked());
	assert_int_equal(trace_writer_open(&writer, path, &header, 1, NULL), 0);
	assert_true(is_locked());
	assert_true(is_locked());
	assert_int_equal(trace_writer_finish(writer, NULL), 0);
	assert_false(is_locked());
	trace_writer_close(writer);
	names = trace_lock_names(path);
	assert_true(names >= 0);
	close(names);
}

static void full_device(void **state)
{
	struct trace_writer *writer = NULL;
	struct failure why;

	(void)state;
	unlink(path);
	assert_int_equal(symlink("/dev/full", path), 0);
	/* O_EXCL does not follow it: the link counts as a file. */
	assert_int_equal(trace_writer_open(&writer, path, &header, 1, &why),
			 ERR_SYSTEM);
	unlink(path);
}

int main(void)
{
	static struct test_list list;

	/* The limits of file sizes are to be errors here. */
	signal(SIGXFSZ, SIG_IGN);
	add_test(&list, "packed at first", packed_at_first, NULL);
	add_test(&list, "told when written", told_when_written, NULL);
	add_test(&list, "locked while written", locked_while_written, NULL);
	add_test(&list, "all comes back", all_comes_back, NULL);
	add_test(&list, "packs what gets smaller", packs_what_gets_smaller,
		 NULL);
	add_test(&list, "without a footer", without_a_footer, NULL);
	add_test(&list, "counts its bytes", counts_its_bytes, NULL);
	add_test(&list, "readable while it grows", readable_while_it_grows,
		 NULL);
	add_test(&list, "more than may wait", more_than_may_wait, NULL);
	add_test(&list, "a chunk above the limit", chunk_above_the_limit,
		 NULL);
	add_test(&list, "the descriptor is out of the way",
		 descriptor_is_out_of_the_way, NULL);
	add_test(&list, "a file that exists", file_that_exists, NULL);
	add_test(&list, "a link to a full device", full_device, NULL);
	add_test(&list, "a writer that fails after every byte",
		 fails_after_every_byte, NULL);
	add_test(&list, "an error stays", error_stays, NULL);
	return _cmocka_run_group_tests("trace_file", list.tests, list.count,
				       make_directory, remove_directory);
}
