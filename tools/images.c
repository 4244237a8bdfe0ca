/* SPDX-License-Identifier: GPL-2.0-or-later */
/* images.c - see images.h */
#include "tools/images.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "formats/packet.h"
#include "replayer/packets.h"
#include "replayer/recording.h"

#define STACK_NAME "[stack]"

static int add_image(struct images *images, uint64_t time, const char *path,
		     size_t size, struct failure *why)
{
	struct image *more = reallocarray(images->list, images->count + 1,
					  sizeof(*more));
	char *copy = strndup(path, size);

	if (more)
		images->list = more;
	if (!more || !copy) {
		free(copy);
		return failed(why, ERR_NO_MEMORY, "out of memory");
	}
	images->list[images->count++] = (struct image) { time, copy };
	return 0;
}

struct search {
	struct images *images;
	struct failure *why;
	bool has_stack;		/* among the effects of the present event */
};

static bool is_stack(const struct packet *packet)
{
	return packet->kind == PACKET_MAP &&
	       packet->name_size == strlen(STACK_NAME) &&
	       !memcmp(packet->name, STACK_NAME, packet->name_size);
}

static bool is_file(const struct packet *packet)
{
	return packet->kind == PACKET_MAP && packet->region == REGION_FILE;
}

/* The new stack and the file are effects of one event. */
static int look_at(void *context, const struct packet_place *place,
		   const struct packet *packet)
{
	struct search *search = context;

	if (packet_is_event(packet->kind)) {
		search->has_stack = false;
	} else if (is_stack(packet)) {
		search->has_stack = true;
	} else if (search->has_stack && is_file(packet)) {
		search->has_stack = false;
		return add_image(search->images, place->time, packet->name,
				 packet->name_size, search->why);
	}
	return 0;
}

int images_find(struct images *out, struct recording *recording,
		struct failure *why)
{
	struct search search = { .images = out, .why = why };
	const char *path = recording_meta(recording)->path;
	int rc;

	*out = (struct images) { 0 };
	rc = add_image(out, 0, path, strlen(path), why);
	for (size_t i = 0; i < recording_segments(recording) && !rc; i++)
		rc = recording_each_packet(recording, i, look_at, &search,
					   why);
	if (rc)
		images_release(out);
	return rc;
}

void images_release(struct images *images)
{
	for (size_t i = 0; i < images->count; i++)
		free(images->list[i].path);
	free(images->list);
	*images = (struct images) { 0 };
}
