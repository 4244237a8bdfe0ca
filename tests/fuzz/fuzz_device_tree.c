/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Device trees of users'.  What is accepted is written as a tree that is
 * accepted again, as the same bytes.
 */
#include "tests/fuzz/fuzz.h"

#include "vm/board/given_tree.h"

static int make(struct output *out, const uint8_t *data, size_t size)
{
	const struct virt_options options = {
		.append = "words", .cores = 2, .memory = 16u << 20,
	};
	const struct region ram = {
		.start = VIRT_RAM, .end = VIRT_RAM + options.memory,
	};
	const struct virt_tree about = {
		.options = &options, .regions = &ram, .region_count = 1,
		.initrd = VIRT_RAM, .initrd_size = 1,
	};
	const struct start_file file = {
		.path = "tree", .bytes = (uint8_t *)(uintptr_t)data,
		.size = size,
	};
	struct tree_absent absent;

	return given_tree_make(out, &absent, &about, &file, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct output once = { 0 }, again = { 0 };
	int rc = make(&once, data, size);

	assert(!rc || rc == ERR_INPUT);
	if (!rc) {
		assert(!make(&again, once.bytes, once.size));
		assert_same(&again, once.bytes, once.size);
	}
	output_release(&once);
	return 0;
}
