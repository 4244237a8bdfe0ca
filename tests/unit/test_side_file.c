/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_side_file.c - side files: shared, cut, flipped, of others, without room */
#include "formats/side_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "formats/family_path.h"
#include "tests/unit/recording_sample.h"

static char *side_path;

static struct recording *open_recording(uint32_t parent)
{
	struct trace_writer *writer = start();
	struct recording *recording;
	struct failure why;

	put_meta_of(writer, parent);
	put_key_frame(writer, 0, 0, NULL, 0);
	put_event(writer, 0, 70);
	put_summary(writer, 100);
	finish(writer);
	assert_int_equal(recording_open(&recording, path, &why), 0);
	return recording;
}

static struct side_file *open_side(const struct recording *recording)
{
	struct side_file *side;
	struct failure why;

	assert_int_equal(side_file_open(&side, recording_meta(recording),
					side_path, &why), 0);
	return side;
}

/* What is kept: some bytes that the segment and place tell. */
static void make(uint8_t *content, size_t size, uint64_t seed)
{
	for (size_t i = 0; i < size; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		content[i] = (uint8_t)(seed >> 40);
	}
}

enum { SIZE = 300 };

static void add(struct side_file *side, uint64_t segment, uint64_t place)
{
	uint8_t content[SIZE];

	make(content, SIZE, segment << 8 | place);
	assert_true(side_file_add(side, SIDE_POINT, segment, place, content,
				  SIZE));
}

/* Whether it is there; then, as it was. */
static bool has(struct side_file *side, uint64_t segment, uint64_t place)
{
	const struct side_record *record =
		side_file_find(side, SIDE_POINT, segment, place);
	struct output out = { 0 };
	uint8_t content[SIZE];
	bool is_there = record && side_file_read(side, record, &out);

	make(content, SIZE, segment << 8 | place);
	if (is_there) {
		assert_int_equal(out.size, SIZE);
		assert_memory_equal(out.bytes, content, SIZE);
	}
	output_release(&out);
	return is_there;
}

static void kept_and_found(void **state)
{
	struct recording *recording = open_recording(0);
	struct side_file *side = open_side(recording);

	(void)state;
	unlink(side_path);
	for (uint64_t segment = 5; segment--;)
		for (uint64_t place = 0; place < 20; place += 5)
			add(side, segment, place);
	assert_false(has(side, 2, 6));
	side_file_close(side);
	side = open_side(recording);
	assert_null(side_file_note(side));
	for (uint64_t segment = 0; segment < 5; segment++)
		for (uint64_t place = 0; place < 20; place++)
			assert_int_equal(has(side, segment, place),
					 place % 5 == 0);
	assert_int_equal(side_file_before(side, SIDE_POINT, 3, 14)->place, 10);
	assert_int_equal(side_file_before(side, SIDE_POINT, 3, 15)->place, 15);
	assert_int_equal(side_file_before(side, SIDE_POINT, 3, 99)->place, 15);
	assert_null(side_file_before(side, SIDE_WRITES, 3, 99));
	assert_null(side_file_before(side, SIDE_POINT, 7, 99));
	side_file_close(side);
	recording_close(recording);
}

static void two_at_once(void **state)
{
	struct recording *recording = open_recording(0);
	struct side_file *one, *other;

	(void)state;
	unlink(side_path);
	one = open_side(recording);
	other = open_side(recording);
	for (uint64_t i = 0; i < 10; i++) {
		add(one, i, 1);
		assert_true(has(other, i, 1));
		add(other, i, 2);
		assert_true(has(one, i, 2));
	}
	/* Whoever has it open goes on when it is deleted. */
	unlink(side_path);
	add(one, 99, 1);
	assert_true(has(other, 99, 1));
	side_file_close(one);
	side_file_close(other);
	recording_close(recording);
}

static void resize(uint64_t size)
{
	assert_int_equal(truncate(side_path, (off_t)size), 0);
}

static void cut_anywhere(void **state)
{
	struct recording *recording = open_recording(0);
	struct side_file *side;
	struct stat status;

	(void)state;
	for (off_t cut = 0;; cut += 13) {
		unlink(side_path);
		side = open_side(recording);
		for (uint64_t i = 0; i < 4; i++)
			add(side, i, 0);
		side_file_close(side);
		assert_int_equal(stat(side_path, &status), 0);
		if (cut >= status.st_size)
			break;
		resize((uint64_t)cut);
		side = open_side(recording);
		for (uint64_t i = 0; i < 4; i++)
			if (!has(side, i, 0))
				add(side, i, 0);
		side_file_close(side);
		side = open_side(recording);
		assert_null(side_file_note(side));
		for (uint64_t i = 0; i < 4; i++)
			assert_true(has(side, i, 0));
		side_file_close(side);
	}
	recording_close(recording);
}

static void flip(off_t at)
{
	int fd = open(side_path, O_RDWR);
	uint8_t byte;

	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte ^= 0x10;
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}

/* One note, and what can be read is right; then it is mended. */
static void flipped_anywhere(void **state)
{
	struct recording *recording = open_recording(0);
	struct side_file *side;
	struct stat status;
	off_t end = 1;

	(void)state;
	for (off_t at = 0; at < end; at += 7) {
		bool was_noted;
		unsigned left = 0;

		unlink(side_path);
		side = open_side(recording);
		for (uint64_t i = 0; i < 3; i++)
			add(side, i, 0);
		side_file_close(side);
		assert_int_equal(stat(side_path, &status), 0);
		end = status.st_size;
		flip(at);
		side = open_side(recording);
		for (uint64_t i = 0; i < 3; i++)
			left += has(side, i, 0);
		was_noted = side_file_note(side) != NULL;
		assert_true(was_noted && left < 3);
		assert_null(side_file_note(side));
		for (uint64_t i = 0; i < 3; i++)
			if (!has(side, i, 0))
				add(side, i, 0);
		side_file_close(side);
		side = open_side(recording);
		for (uint64_t i = 0; i < 3; i++)
			assert_true(has(side, i, 0));
		side_file_close(side);
	}
	recording_close(recording);
}

static void of_another_recording(void **state)
{
	struct recording *recording = open_recording(0), *other;
	struct side_file *side;
	struct meta *meta;

	(void)state;
	unlink(side_path);
	side = open_side(recording);
	add(side, 1, 1);
	side_file_close(side);
	other = open_recording(0);
	meta = (struct meta *)recording_meta(other);
	meta->run[3] ^= 1;
	side = open_side(other);
	assert_non_null(side_file_note(side));
	assert_false(has(side, 1, 1));
	add(side, 2, 2);
	assert_true(has(side, 2, 2));
	side_file_close(side);
	side = open_side(other);
	assert_null(side_file_note(side));
	assert_true(has(side, 2, 2));
	side_file_close(side);
	recording_close(other);
	recording_close(recording);
}

/* Two replace the file of another recording: the second one keeps the file of
 * the first. */
static void two_in_place_of_another(void **state)
{
	struct recording *recording = open_recording(0), *other;
	struct side_file *side, *first, *second;

	(void)state;
	unlink(side_path);
	side = open_side(recording);
	add(side, 1, 1);
	side_file_close(side);
	other = open_recording(0);
	((struct meta *)recording_meta(other))->run[3] ^= 1;
	first = open_side(other);
	second = open_side(other);
	add(first, 2, 2);
	add(second, 3, 3);
	assert_true(has(first, 3, 3));
	assert_true(has(second, 2, 2));
	side_file_close(first);
	side_file_close(second);
	side = open_side(other);
	assert_true(has(side, 2, 2));
	assert_true(has(side, 3, 3));
	assert_false(has(side, 1, 1));
	side_file_close(side);
	recording_close(other);
	recording_close(recording);
}

/* No room for more: one note, and what was kept before stays. */
static void without_room(void **state)
{
	struct recording *recording = open_recording(0);
	const struct rlimit little = { 2000, RLIM_INFINITY };
	struct rlimit before;
	struct side_file *side;
	uint8_t content[4000];

	(void)state;
	unlink(side_path);
	side = open_side(recording);
	add(side, 1, 1);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
	make(content, sizeof(content), 1);
	assert_false(side_file_add(side, SIDE_POINT, 2, 2, content,
				   sizeof(content)));
	assert_non_null(side_file_note(side));
	assert_false(side_file_may_add(side));
	assert_false(side_file_add(side, SIDE_POINT, 2, 2, content,
				   sizeof(content)));
	assert_null(side_file_note(side));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_true(has(side, 1, 1));
	side_file_close(side);
	side = open_side(recording);
	assert_null(side_file_note(side));
	assert_true(has(side, 1, 1));
	assert_false(has(side, 2, 2));
	side_file_close(side);
	recording_close(recording);
}

static void where_it_cannot_be(void **state)
{
	struct recording *recording = open_recording(0);
	struct side_file *side;
	struct failure why;
	uint8_t content[SIZE] = { 0 };

	(void)state;
	assert_int_equal(side_file_open(&side, recording_meta(recording),
					"/proc/nowhere/x.idx", &why), 0);
	assert_null(side_file_note(side));
	assert_false(has(side, 1, 1));
	assert_false(side_file_add(side, SIDE_POINT, 1, 1, content, SIZE));
	assert_non_null(side_file_note(side));
	side_file_close(side);
	recording_close(recording);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(kept_and_found),
		cmocka_unit_test(two_at_once),
		cmocka_unit_test(two_in_place_of_another),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(flipped_anywhere),
		cmocka_unit_test(of_another_recording),
		cmocka_unit_test(without_room),
		cmocka_unit_test(where_it_cannot_be),
	};
	int status;

	if (!make_path())
		return 1;
	side_path = family_side_file(path, NULL);
	if (!side_path)
		return 1;
	status = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(side_path);
	free(side_path);
	unlink(path);
	return status;
}
