/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_devices.c - devices of a machine that follow a recording
 *
 * usage: machine_devices FILE NUMBER LAST [DRIVE...]
 *
 * From what a key frame says of them to another one; they must be what that one
 * says, and each in between.  LAST is its number, or "-": the newest.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/bytes.h"
#include "recorder/machine.h"
#include "replayer/machine.h"
#include "tests/run/check.h"

static struct recording *recording;
static struct machine_replay *replay;

/* Behind what a device stored at its time, before it. */
static void go(size_t segment, bool in_order)
{
	struct position to = { recording_time(recording, segment), 0 };

	check(recording_events_before(recording, segment, &to.events, &why));
	check(machine_replay_seek(replay, &to, in_order, &why));
}

static const char *name_of_virtio(const struct key_frame *frame)
{
	for (size_t i = 0; i < frame->region_count; i++)
		if (!strncmp(frame->regions[i].name, VIRT_VIRTIO_NAME,
			     strlen(VIRT_VIRTIO_NAME)))
			return frame->regions[i].name;
	return "";
}

/* Devices as they begin; those of a key frame that says more. */
static struct machine_live *make_live(struct machine_options *options,
				      size_t segment)
{
	const struct meta *meta = recording_meta(recording);
	struct machine_live *live;
	struct key_frame frame;
	uint8_t *bytes;
	size_t size;

	check(recording_key_frame(recording, 0, &frame, &why));
	options->live.kind = live_of(recording_reg_table(recording)->arch,
				     meta->processor.model);
	options->live.virt.devices = name_of_virtio(&frame);
	options->live.virt.clock = meta->started;
	check(machine_live_create(&live, options,
				  machine_replay_followed(replay), &why));
	check(recording_devices(recording, segment, &bytes, &size, &why));
	if (!bytes)
		check(failed(&why, ERR_CORRUPT, "a key frame without devices"));
	check(machine_live_begin(live, bytes, size, &why));
	free(bytes);
	key_frame_release(&frame);
	return live;
}

/* Says which part of a state of so many bytes is the first that differs. */
static int differs(size_t segment, const uint8_t *then, const uint8_t *now,
		   size_t most)
{
	struct input in = { then, then + most, 0 };

	while (input_left(&in)) {
		const uint8_t *part = in.at;
		size_t name_size, size;
		const char *name = input_text(&in, most, &name_size);

		size = input_uint(&in, 1);
		input_bytes(&in, size * input_varint(&in));
		if (in.error || memcmp(part, now + (part - then),
				       (size_t)(in.at - part)))
			return failed(&why, ERR_DIVERGED, "other devices at key"
				      " frame %zu: %.*s", segment,
				      (int)name_size, name);
	}
	return failed(&why, ERR_DIVERGED, "more or fewer devices at key frame"
		      " %zu", segment);
}

static void compare(struct machine_live *live, size_t segment)
{
	struct output now = { 0 };
	uint8_t *then;
	size_t size;

	machine_live_state(live, &now);
	check(recording_devices(recording, segment, &then, &size, &why));
	if (!then)
		check(failed(&why, ERR_CORRUPT, "a key frame without devices"));
	if (size != now.size || memcmp(then, now.bytes, size))
		check(differs(segment, then, now.bytes,
			      size < now.size ? size : now.size));
	free(then);
	output_release(&now);
}

static void follow(size_t segment, size_t last, char **drives, unsigned count)
{
	struct machine_options options = { 0 };
	struct board_follower follower;
	struct machine_live *live;

	for (unsigned i = 0; i < count && i < VIRT_DRIVES; i++)
		options.live.virt.drives[options.live.virt.drive_count++]
			.path = drives[i];
	live = make_live(&options, segment);
	go(segment, false);
	follower = machine_live_follower(live);
	machine_replay_follow(replay, &follower);
	for (size_t i = segment + 1; i <= last; i++) {
		go(i, true);
		compare(live, i);
	}
	machine_live_destroy(live);
}

int main(int argc, char **argv)
{
	size_t last;

	if (argc < 4)
		return 2;
	check(recording_open(&recording, argv[1], &why));
	check(machine_replay_create(&replay, recording, &why));
	last = argv[3][0] == '-' ? recording_segments(recording) - 1 :
				   (size_t)atoi(argv[3]);
	follow((size_t)atoi(argv[2]), last, argv + 4, (unsigned)argc - 4);
	machine_replay_destroy(replay);
	recording_close(recording);
	return 0;
}
