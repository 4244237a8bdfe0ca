/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live_machine.c - see live_machine.h */
#include "tools/live_machine.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "formats/key_frame.h"
#include "formats/meta.h"
#include "replayer/machine.h"
#include "replayer/session/session.h"
#include "tools/commands.h"
#include "tools/machine_console.h"
#include "tools/messages.h"
#include "tools/programs.h"

static void on_block(void *context, unsigned disk, uint64_t block,
		     const uint8_t bytes[GUEST_PAGE])
{
	machine_live_block(context, disk, block, bytes);
}

/*
 * Devices begin as they were at the nearest key frame, which `*at` becomes; a
 * recording whose key frames do not say that, at the start.
 */
static int begin(struct machine_live *live, struct recording *recording,
		 const struct position *to, struct position *at,
		 struct failure *why)
{
	struct segment_position place;
	uint8_t *state = NULL;
	size_t size;
	int rc = recording_place(recording, to, &place, why);

	*at = (struct position){ 0 };
	for (; !rc; place.segment--) {
		rc = recording_devices(recording, place.segment, &state, &size,
				       why);
		if (state || !place.segment)
			break;
	}
	if (rc || !state)
		return rc;
	at->time = recording_time(recording, place.segment);
	rc = recording_events_before(recording, place.segment, &at->events,
				     why);
	if (!rc)
		rc = machine_live_begin(live, state, size, why);
	if (!rc)
		rc = recording_disks(recording, place.segment, on_block, live,
				     why);
	free(state);
	return rc;
}

/* From there on, they follow the replay. */
static int go_there(struct machine_live *live, struct machine_replay *replay,
		    struct recording *recording, const struct position *to,
		    struct failure *why)
{
	const struct board_follower follower = machine_live_follower(live);
	struct position at;
	int rc = begin(live, recording, to, &at, why);

	if (!rc)
		rc = machine_replay_seek(replay, &at, false, why);
	machine_replay_follow(replay, &follower);
	if (!rc)
		rc = machine_replay_seek(replay, to, true, why);
	return rc ? rc : machine_replay_take_stores(replay, why);
}

static int go_on(struct machine_live *live, struct machine_replay *replay,
		 struct recording *recording, const struct position *to,
		 struct machine_ending *ending, struct failure *why)
{
	char text[POSITION_TEXT];
	int rc = go_there(live, replay, recording, to, why);

	if (rc)
		return rc;
	say_note("from t=%s on, the machine is not the recording",
		 position_text(text, to));
	machine_console_open();
	rc = machine_live_run(live, machine_replay_stop(replay), ending, why);
	machine_console_close();
	return rc;
}

/* The name of what has the virtio devices; "" if there are none. */
static const char *devices_of(const struct key_frame *frame)
{
	for (size_t i = 0; i < frame->region_count; i++)
		if (!strncmp(frame->regions[i].name, VIRT_VIRTIO_NAME,
			     strlen(VIRT_VIRTIO_NAME)))
			return frame->regions[i].name;
	return "";
}

static int run(struct recording *recording, const char *at,
	       struct machine_options *options, struct machine_ending *ending,
	       struct failure *why)
{
	struct machine_replay *replay = NULL;
	struct machine_live *live = NULL;
	struct key_frame frame = { 0 };
	const struct meta *meta = recording_meta(recording);
	struct position to;
	bool is_time;
	int rc = place_position(&to, &is_time, recording, at, why);

	if (!rc)
		rc = recording_key_frame(recording, 0, &frame, why);
	if (!rc)
		rc = machine_replay_create(&replay, recording, why);
	if (rc)
		goto end;
	options->live.kind = live_of(recording_reg_table(recording)->arch,
				     meta->processor.model);
	if (!options->live.kind) {
		rc = failed(why, ERR_INPUT, "no machine has this recording's"
			    " processor, '%s'", meta->processor.model);
		goto end;
	}
	options->live.virt.devices = devices_of(&frame);
	options->live.virt.model = meta->processor.model;
	options->live.virt.clock = options->live.mps2.clock = meta->started;
	machine_console_set(options);
	rc = machine_live_create(&live, options,
				 machine_replay_followed(replay), why);
	if (!rc)
		rc = go_on(live, replay, recording, &to, ending, why);
end:
	machine_live_destroy(live);
	key_frame_release(&frame);
	machine_replay_destroy(replay);
	return rc;
}

int live_machine_run(const char *path, const char *at,
		     struct machine_options *options)
{
	struct machine_ending ending = { 0 };
	struct recording *recording;
	struct failure why;
	int rc = recording_open(&recording, path, &why);

	if (rc)
		return program_not_run(ERR_SYSTEM, &why);
	if (recording_is_machine(recording))
		rc = run(recording, at, options, &ending, &why);
	else
		rc = failed(&why, ERR_INPUT, "'%s' is the recording of a"
			    " program: only a machine can go on from there",
			    path);
	recording_close(recording);
	if (rc)
		return program_not_run(ERR_SYSTEM, &why);
	machine_say_end(&ending);
	return machine_status(&ending);
}
