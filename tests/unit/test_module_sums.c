/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_module_sums.c - checksums of modules from and to bytes, and of files */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/error.h"
#include "formats/module_sums.h"
#include "tests/unit/table.h"

struct row {
	const char *name;
	int expected;
	size_t count;		/* of items */
	size_t length;
	uint8_t bytes[32];
};

#define SUM 1, 2, 3, 4, 5, 6, 7, 8

static const struct row rows[] = {
	{ "nothing", 0, 0, 0, { 0 } },
	{ "an item", 0, 1, 11, { 1, 'm', 9, SUM } },
	{ "two items", 0, 2, 22, { 1, 'm', 9, SUM, 1, 'n', 1, SUM } },
	{ "of no bytes", ERR_CORRUPT, 0, 11, { 1, 'm', 0, SUM } },
	{ "no path", ERR_CORRUPT, 0, 10, { 0, 9, SUM } },
	{ "a path with a NUL", ERR_CORRUPT, 0, 11, { 1, 0, 9, SUM } },
	{ "a path of 4097 bytes", ERR_CORRUPT, 0, 6,
	  { 0x81, 0x20, 'm', 'm', 'm', 'm' } },
	{ "the second of two is bad", ERR_CORRUPT, 0, 22,
	  { 1, 'm', 9, SUM, 1, 'n', 0, SUM } },
	{ "a checksum that is cut off", ERR_TRUNCATED, 0, 10,
	  { 1, 'm', 9, 1, 2, 3, 4, 5, 6, 7 } },
};

static void sums_row(void **state)
{
	const struct row *row = *state;
	struct module_sums sums = { 0 };
	struct output out = { 0 };

	assert_int_equal(module_sums_decode(&sums, row->bytes, row->length),
			 row->expected);
	assert_int_equal(sums.count, row->count);
	for (size_t i = 0; i < sums.count; i++)
		module_sum_encode(&out, sums.list[i].path, &sums.list[i].sum);
	if (!row->expected) {
		assert_int_equal(out.size, row->length);
		assert_true(!out.size ||
			    !memcmp(out.bytes, row->bytes, row->length));
	}
	module_sums_release(&sums);
	output_release(&out);
}

/* Another file was mapped under the name. */
static void several_of_a_path(void **state)
{
	static const uint8_t bytes[] = {
		1, 'm', 9, SUM, 1, 'n', 9, SUM, 1, 'm', 9, SUM, 1, 'n', 8, SUM,
	};
	struct module_sums sums = { 0 };
	struct module_sum sum;

	(void)state;
	assert_int_equal(module_sums_decode(&sums, bytes, sizeof(bytes)), 0);
	assert_true(module_sums_find(&sums, "m", &sum));
	assert_int_equal(sum.size, 9);
	assert_int_equal(sum.sum, 0x0807060504030201);
	assert_false(module_sums_find(&sums, "n", &sum));
	assert_false(module_sums_find(&sums, "mm", &sum));
	module_sums_release(&sums);
}

/* ------- files ------- */

#define PAGE 4096u

static const Elf64_Phdr headers[] = {
	{ .p_type = PT_LOAD, .p_flags = PF_R, .p_offset = 0, .p_filesz = 100 },
	{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = PAGE,
	  .p_filesz = PAGE + 1 },
	{ .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_offset = 4 * PAGE,
	  .p_filesz = 2 * PAGE },
	{ .p_type = PT_GNU_RELRO, .p_flags = PF_R, .p_offset = 5 * PAGE + 8,
	  .p_filesz = 8 },
	{ .p_type = PT_LOAD, .p_flags = PF_R, .p_offset = 7 * PAGE,
	  .p_filesz = UINT64_MAX },
	{ .p_type = PT_NOTE, .p_offset = 6 * PAGE, .p_filesz = 4 },
	{ .p_type = PT_LOAD, .p_flags = PF_R, .p_offset = UINT64_MAX,
	  .p_filesz = 9 },
};

#define FILE_SIZE (7 * PAGE + 100)

static int make_file(void)
{
	const Elf64_Ehdr file = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
		.e_phoff = sizeof(file), .e_phentsize = sizeof(headers[0]),
		.e_phnum = sizeof(headers) / sizeof(headers[0]),
	};
	int fd = memfd_create("module", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, FILE_SIZE), 0);
	assert_int_equal(pwrite(fd, &file, sizeof(file), 0), sizeof(file));
	assert_int_equal(pwrite(fd, headers, sizeof(headers), sizeof(file)),
			 sizeof(headers));
	return fd;
}

static void parts_of_a_file(void **state)
{
	struct fixed_parts parts;
	struct module_sum before, after;
	int fd = make_file();

	(void)state;
	assert_int_equal(fixed_parts_find(&parts, fd), 0);
	assert_int_equal(parts.count, 3);
	assert_int_equal(parts.list[0].start, 0);
	assert_int_equal(parts.list[0].end, 3 * PAGE);
	assert_int_equal(parts.list[1].start, 5 * PAGE);
	assert_int_equal(parts.list[1].end, 6 * PAGE);
	assert_int_equal(parts.list[2].start, 7 * PAGE);
	assert_int_equal(parts.list[2].end, FILE_SIZE);
	assert_int_equal(fixed_parts_at(&parts, 5 * PAGE + 1), PAGE - 1);
	assert_int_equal(fixed_parts_at(&parts, 4 * PAGE), 0);
	assert_int_equal(fixed_parts_sum(&before, &parts, fd), 0);
	assert_int_equal(before.size, 4 * PAGE + 100);
	/* Elsewhere, then in the last byte. */
	assert_int_equal(pwrite(fd, "x", 1, 4 * PAGE), 1);
	assert_int_equal(fixed_parts_sum(&after, &parts, fd), 0);
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(pwrite(fd, "x", 1, FILE_SIZE - 1), 1);
	assert_int_equal(fixed_parts_sum(&after, &parts, fd), 0);
	assert_true(before.sum != after.sum);
	assert_int_equal(ftruncate(fd, FILE_SIZE - 1), 0);
	assert_int_equal(fixed_parts_sum(&after, &parts, fd), ERR_TRUNCATED);
	close(fd);
}

static void no_files(void **state)
{
	struct fixed_parts parts;
	int fd = make_file(), pipes[2];

	(void)state;
	assert_int_equal(pwrite(fd, "x", 1, 1), 1);
	assert_int_equal(fixed_parts_find(&parts, fd), ERR_CORRUPT);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(fixed_parts_find(&parts, fd), ERR_CORRUPT);
	close(fd);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(fixed_parts_find(&parts, pipes[0]), ERR_CORRUPT);
	close(pipes[0]);
	close(pipes[1]);
	assert_int_equal(fixed_parts_find(&parts, -1), ERR_SYSTEM);
}

/* Little of a file must not take much memory. */
static void content_above_4_mib(void **state)
{
	size_t size = (4u << 20) + 1;
	uint8_t *bytes = calloc(size, 1);
	struct module_sums sums = { 0 };

	(void)state;
	assert_non_null(bytes);
	assert_int_equal(module_sums_decode(&sums, bytes, size), ERR_CORRUPT);
	free(bytes);
}

int main(void)
{
	static struct test_list tests;

	add_rows(&tests, rows, sums_row);
	add_test(&tests, "several of a path", several_of_a_path, NULL);
	add_test(&tests, "parts of a file", parts_of_a_file, NULL);
	add_test(&tests, "no files", no_files, NULL);
	add_test(&tests, "content above 4 MiB", content_above_4_mib, NULL);
	return run_list("module_sums", &tests);
}
