/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whatever the bytes are, packet_decode() stays in bounds (the sanitizers
 * watch), returns a documented code, and either moves forward or stays put.
 * What it accepts is encoded again to the same bytes.
 */
#include "tests/fuzz/fuzz.h"

#include "formats/packet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, data + size, 0 };
	struct packet_state state = { 0x10234, 5, 7, 2 };
	struct packet_state again_state = state;
	struct output again = { 0 };

	for (;;) {
		const uint8_t *before = in.at;
		struct packet_state state_before = state;
		struct packet packet;
		int rc = packet_decode(&in, &state, &packet);

		if (rc) {
			assert(rc == ERR_TRUNCATED || rc == ERR_CORRUPT);
			assert(in.at == before);
			assert(!memcmp(&state, &state_before, sizeof(state)));
			break;
		}
		assert(in.at > before);
		assert(packet_name(packet.kind));
		packet_encode(&again, &again_state, &packet);
		assert(!memcmp(&state, &again_state, sizeof(state)));
	}
	assert_same(&again, data, (size_t)(in.at - data));
	return 0;
}
