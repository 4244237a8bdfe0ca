/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_state.c - devices that changed read what they wrote before */
#include <string.h>

#include "formats/bytes.h"
#include "tests/unit/table.h"
#include "vm/board/state.h"

struct before {
	uint32_t control;
	uint16_t level, gone;
	bool on[3];
	struct { uint8_t a; uint64_t b; } pairs[2];
};

static void name_before(struct before *device, struct state *state)
{
	state_device(state, "device", 1);
	STATE_NUMBER(state, device->control, UINT32_MAX);
	STATE_NUMBER(state, device->level, UINT16_MAX);
	STATE_NUMBER(state, device->gone, UINT16_MAX);
	STATE_ARRAY(state, device->on, 1);
	STATE_MEMBERS(state, device->pairs, a, UINT8_MAX);
	STATE_MEMBERS(state, device->pairs, b, UINT64_MAX);
}

/* Wider, narrower, longer, without one and with another. */
struct after {
	uint64_t control, added;
	uint8_t level;
	bool on[5];
	struct { uint64_t b; uint16_t a; } pairs[1];
};

static void name_after(struct after *device, struct state *state)
{
	state_device(state, "device", 1);
	STATE_NUMBER(state, device->added, UINT64_MAX);
	STATE_MEMBERS(state, device->pairs, a, UINT16_MAX);
	STATE_MEMBERS(state, device->pairs, b, UINT64_MAX);
	STATE_NUMBER(state, device->control, UINT64_MAX);
	STATE_ARRAY(state, device->on, 1);
	STATE_NUMBER(state, device->level, UINT8_MAX);
}

static struct before sample(void)
{
	return (struct before){
		.control = 0x12345678, .level = 200, .gone = 3,
		.on = { true, false, true },
		.pairs = { { 9, UINT64_C(1) << 60 }, { 8, 7 } },
	};
}

static void write_sample(struct before device, struct output *out)
{
	struct state state = state_to(out);

	name_before(&device, &state);
	assert_int_equal(out->error, 0);
}

static void the_same_device(void **unused)
{
	struct before read = { 0 }, device = sample();
	struct output out = { 0 }, again = { 0 };
	struct state state;

	(void)unused;
	write_sample(device, &out);
	state = state_from(out.bytes, out.size);
	name_before(&read, &state);
	assert_false(state.damaged);
	write_sample(read, &again);
	assert_int_equal(out.size, again.size);
	assert_memory_equal(out.bytes, again.bytes, out.size);
	assert_int_equal(read.pairs[0].b, device.pairs[0].b);
	assert_true(read.on[2]);
	output_release(&out);
	output_release(&again);
}

static void another_device(void **unused)
{
	struct after read = { .added = 5, .on = { [4] = true } };
	struct output out = { 0 };
	struct state state;

	(void)unused;
	write_sample(sample(), &out);
	state = state_from(out.bytes, out.size);
	name_after(&read, &state);
	assert_false(state.damaged);
	assert_int_equal(read.control, 0x12345678);
	assert_int_equal(read.level, 200);
	assert_int_equal(read.added, 5);
	assert_true(read.on[0] && !read.on[1] && read.on[2] && !read.on[3] &&
		    read.on[4]);
	assert_int_equal(read.pairs[0].a, 9);
	assert_int_equal(read.pairs[0].b, UINT64_C(1) << 60);
	output_release(&out);
}

/* Another number of the same name is another device. */
static void another_number(void **unused)
{
	struct before read = { 0 };
	struct output out = { 0 };
	struct state state;

	(void)unused;
	write_sample(sample(), &out);
	state = state_from(out.bytes, out.size);
	state_device(&state, "device", 2);
	STATE_NUMBER(&state, read.control, UINT32_MAX);
	assert_false(state.damaged);
	assert_int_equal(read.control, 0);
	output_release(&out);
}

static void too_large(void **unused)
{
	struct before device = sample();
	struct after read = { 0 };
	struct output out = { 0 };
	struct state state;

	(void)unused;
	device.level = 256;
	write_sample(device, &out);
	state = state_from(out.bytes, out.size);
	name_after(&read, &state);
	assert_true(state.damaged);
	assert_int_equal(read.level, 0);
	output_release(&out);
}

/* Any prefix that is not whole, and any wrong byte, is met without harm. */
static void hostile_bytes(void **unused)
{
	struct output out = { 0 };
	unsigned damaged = 0;

	(void)unused;
	write_sample(sample(), &out);
	for (size_t size = 0; size < out.size; size++) {
		struct before read = sample();
		struct state state = state_from(out.bytes, size);

		damaged += state.damaged;
		name_before(&read, &state);
	}
	/* What is left is whole in six places: between the parts. */
	assert_int_equal(damaged, out.size - 6);
	for (size_t i = 0; i < out.size * 255; i++) {
		struct before read = sample();
		struct state state;

		out.bytes[i / 255] = (uint8_t)(out.bytes[i / 255] + 1);
		state = state_from(out.bytes, out.size);
		name_before(&read, &state);
		for (unsigned j = 0; j < 3; j++)
			assert_true(*(const uint8_t *)&read.on[j] <= 1);
		if (i % 255 == 254)
			out.bytes[i / 255] = (uint8_t)(out.bytes[i / 255] + 1);
	}
	output_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_device),
		cmocka_unit_test(another_device),
		cmocka_unit_test(another_number),
		cmocka_unit_test(too_large),
		cmocka_unit_test(hostile_bytes),
	};

	return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
