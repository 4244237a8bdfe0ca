/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checksums of modules (chunks of kind 137): what is accepted is encoded again to
 * the same bytes; what is not leaves those that were there before.  The same
 * bytes as an ELF file: its parts are in order, apart, and inside it.
 */
#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#include "formats/module_sums.h"

static void check_sums(const uint8_t *data, size_t size)
{
	static const uint8_t before[] = { 1, 'm', 1, 0, 0, 0, 0, 0, 0, 0, 0 };
	struct module_sums sums = { 0 };
	struct output again = { 0 };
	int rc;

	assert(!module_sums_decode(&sums, before, sizeof(before)));
	rc = module_sums_decode(&sums, data, size);
	assert(!rc || (is_documented(rc) && sums.count == 1));
	for (size_t i = 1; i < sums.count; i++)
		module_sum_encode(&again, sums.list[i].path, &sums.list[i].sum);
	if (!rc)
		assert_same(&again, data, size);
	else
		output_release(&again);
	module_sums_release(&sums);
}

static void check_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("module", MFD_CLOEXEC);
	struct fixed_parts parts;
	struct module_sum sum;
	uint64_t all = 0;

	assert(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	if (!fixed_parts_find(&parts, fd)) {
		for (size_t i = 0; i < parts.count; i++) {
			assert(parts.list[i].start < parts.list[i].end);
			assert(parts.list[i].end <= size);
			assert(!i || parts.list[i - 1].end <
					     parts.list[i].start);
			all += parts.list[i].end - parts.list[i].start;
		}
		assert(!all == !!fixed_parts_sum(&sum, &parts, fd));
		assert(!all || sum.size == all);
	}
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_sums(data, size);
	check_file(data, size);
	return 0;
}
