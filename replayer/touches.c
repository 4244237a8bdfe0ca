/* SPDX-License-Identifier: GPL-2.0-or-later */
/* touches.c - see touches.h */
#include "replayer/touches.h"

#include <stdlib.h>

#include "cache/cache.h"
#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "replayer/script.h"

struct touches {
	struct recording *recording;
	bool has_script;
	size_t segment;		/* of the script */
	struct script script;
	struct cache cache;
};

int touches_create(struct touches **out, struct recording *recording,
		   struct failure *why)
{
	struct touches *touches = calloc(1, sizeof(*touches));

	if (!touches)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	touches->recording = recording;
	*out = touches;
	return 0;
}

void touches_destroy(struct touches *touches)
{
	if (!touches)
		return;
	script_release(&touches->script);
	cache_release(&touches->cache);
	free(touches);
}

static int load(struct touches *touches, size_t segment, struct failure *why)
{
	struct key_frame frame = { 0 };
	int rc;

	if (touches->has_script && touches->segment == segment)
		return 0;
	script_release(&touches->script);
	rc = recording_key_frame(touches->recording, segment, &frame, why);
	if (!rc)
		rc = script_load(&touches->script, touches->recording, segment,
				 &frame, &touches->cache, why);
	key_frame_release(&frame);
	touches->has_script = !rc;
	touches->segment = segment;
	return rc;
}

int touches_contents(struct touches *touches, size_t segment,
		     const struct page_touch *touch, uint8_t bytes[GUEST_PAGE],
		     struct failure *why)
{
	struct recording *recording = touches->recording;
	const struct script_touch *found;
	int rc;

	if (touch->resolved_id)
		return recording_page(recording, touch->resolved_id, bytes,
				      why);
	rc = load(touches, segment, why);
	if (rc)
		return rc;
	found = script_find_touch(&touches->script, touch->page, touch->doubt);
	if (found)
		return script_touch_contents(found, recording, bytes, why);
	return failed(why, ERR_CORRUPT,
		      "'%s': the index of segment %zu names a touch that its "
		      "stream does not have",
		      trace_reader_path(recording_reader(recording)), segment);
}
