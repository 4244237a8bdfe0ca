/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_packed.c - packed files: what is found in them, and damaged ones */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/error.h"
#include "formats/family_path.h"
#include "formats/packed.h"
#include "formats/trace_file.h"
#include "formats/trace_glance.h"
#include "tests/unit/table.h"

#define NAME "x.cpr"

static const uint8_t id[16] = { 1, 2, 3 };
static char first_name[] = "", second_name[] = "12-2.cpr";
static struct packed_member members[] = {
	{ first_name, 0, 5, { 1700000000, 7 } },
	{ second_name, 0, 3, { -1, 0 } },
};

/* The directory, and the beginning of the trailer. */
static const uint8_t expected_end[] = {
	2,						/* count */
	0, 5, 0x80, 0xc4, 0x9f, 0xd5, 0x0c, 7,		/* the first */
	8, '1', '2', '-', '2', '.', 'c', 'p', 'r', 3, 1, 0,
	72, 0, 0, 0, 0, 0, 0, 0,			/* the trailer */
};

static void write_file(const void *bytes, size_t size)
{
	FILE *file = fopen(NAME, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

/* Header, "first", "two", directory, trailer. */
static struct output make(void)
{
	const struct packed packed = { .list = members, .count = 2 };
	uint8_t header[PACKED_HEADER_SIZE];
	struct output out = { 0 }, end = { 0 };

	packed_header_encode(header, id);
	output_bytes(&out, header, sizeof(header));
	output_bytes(&out, "firsttwo", 8);
	packed_end_encode(&end, &packed);
	assert_memory_equal(end.bytes, expected_end, sizeof(expected_end));
	output_bytes(&out, end.bytes, end.size);
	output_release(&end);
	assert_int_equal(out.error, 0);
	return out;
}

static int read_packed(struct packed *packed)
{
	int fd = open(NAME, O_RDONLY), rc = packed_read(packed, fd, NAME, NULL);

	close(fd);
	return rc;
}

static void all_comes_back(void **state)
{
	struct output out = make();
	struct packed packed;

	(void)state;
	write_file(out.bytes, out.size);
	output_release(&out);
	assert_true(packed_is_at(NAME));
	assert_int_equal(read_packed(&packed), 0);
	assert_memory_equal(packed.id, id, sizeof(id));
	assert_int_equal(packed.count, 2);
	assert_int_equal(packed.list[1].offset, 64 + 5);
	for (size_t i = 0; i < 2; i++) {
		assert_string_equal(packed.list[i].name, members[i].name);
		assert_int_equal(packed.list[i].size, members[i].size);
		assert_int_equal(packed.list[i].changed.tv_sec,
				 members[i].changed.tv_sec);
	}
	assert_ptr_equal(packed_find(&packed, second_name), &packed.list[1]);
	assert_null(packed_find(&packed, "12.cpr"));
	packed_release(&packed);
}

/* One byte is another, or the rest is missing: never more than a refusal. */
static void all_damage_is_found(void **state)
{
	struct output out = make();
	struct packed packed;

	(void)state;
	for (size_t i = 0; i < out.size; i++) {
		bool is_content = 64 <= i && i < 64 + 8;
		int rc;

		out.bytes[i] ^= 0x41;
		write_file(out.bytes, out.size);
		out.bytes[i] ^= 0x41;
		rc = read_packed(&packed);
		assert_int_equal(!rc, is_content);
		packed_release(&packed);
		write_file(out.bytes, i);
		assert_int_not_equal(read_packed(&packed), 0);
		packed_release(&packed);
	}
	output_release(&out);
}

static void paths(void **state)
{
	struct output out = make();
	struct trace_glance glance;
	struct trace_reader *reader;
	struct family_path found;
	struct failure why;
	const char *name;
	char *packed;

	(void)state;
	write_file(out.bytes, out.size);
	output_release(&out);
	packed = packed_of(NAME "/12.cpr", &name);
	assert_string_equal(packed, NAME);
	assert_string_equal(name, "12.cpr");
	free(packed);
	assert_null(packed_of(NAME, &name));
	assert_null(packed_of(NAME "/", &name));
	assert_null(packed_of("/dev/null/12.cpr", &name));
	assert_int_equal(family_path_find(&found, NAME "/12-2.cpr"), 0);
	assert_true(found.is_packed && found.is_member);
	assert_string_equal(found.first, NAME);
	assert_string_equal(found.folder, NAME);
	assert_int_equal(found.member.pid, 12);
	assert_int_equal(found.member.turn, 2);
	family_path_release(&found);
	assert_int_equal(family_path_find(&found, NAME), 0);
	assert_true(found.is_packed && !found.is_member);
	family_path_release(&found);
	assert_int_equal(trace_glance(&glance, AT_FDCWD, NAME, true, NULL), 0);
	assert_true(glance.is_packed);
	assert_memory_equal(glance.id, id, sizeof(id));
	assert_int_equal(trace_reader_open(&reader, NAME "/1.cpr", &why),
			 ERR_SYSTEM);
	assert_string_equal(why.text, "cannot open 'x.cpr/1.cpr': No such file"
				      " or directory");
	assert_int_equal(trace_reader_open(&reader, NAME "/12-2.cpr", &why),
			 ERR_CORRUPT);
	assert_string_equal(why.text, "'x.cpr/12-2.cpr' is not a cprec recording");
}

int main(void)
{
	char folder[] = "/tmp/cprec-packed-XXXXXX";
	struct test_list list = { 0 };
	int status;

	if (!mkdtemp(folder) || chdir(folder))
		return 1;
	add_test(&list, "all comes back", all_comes_back, NULL);
	add_test(&list, "all damage is found", all_damage_is_found, NULL);
	add_test(&list, "paths", paths, NULL);
	status = run_list("packed", &list);
	unlink(NAME);
	return chdir("/") || rmdir(folder) || status;
}
