/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_effects.c - what happens to the guest, as packets */
#include "recorder/recorder_internal.h"

#include <string.h>

#include "formats/array.h"

/* The rest of the recording would be wrong: remembers why, once. */
static void broken(struct recorder *rec, int code, const char *what)
{
	if (!rec->error)
		rec->error = failed(&rec->why, code, "%s", what);
}

void effects_out_of_memory(struct recorder *rec)
{
	broken(rec, ERR_NO_MEMORY, "out of memory while recording");
}

void effect(struct recorder *rec, const struct packet *packet)
{
	struct stream *stream = rec->stream;
	struct output *out = stream->in_event ? &stream->effects :
						&stream->events;

	if (!rec->started)
		return;
	packet_encode(out, &stream->state, packet);
	if (out->error)
		effects_out_of_memory(rec);
}

void event_begin(struct recorder *rec)
{
	rec->stream->in_event = true;
	rec->stream->has_left = false;
	output_clear(&rec->stream->effects);
}

void event_end(struct recorder *rec, struct packet *packet)
{
	struct stream *stream = rec->stream;
	uint64_t now = stream_steps(rec);

	stream->in_event = false;
	if (!rec->started)
		return;
	packet->steps = now - stream->event_steps;
	stream->event_steps = now;
	packet_encode(&stream->events, &stream->state, packet);
	output_bytes(&stream->events, stream->effects.bytes,
		     stream->effects.size);
	if (stream->events.error)
		effects_out_of_memory(rec);
	rec->flush.events++;
}

void effect_registers(struct recorder *rec, const struct reg_file *before)
{
	struct reg_file now;

	vm_registers(rec->vm, &now);
	for (unsigned reg = 0; reg < rec->regs->count; reg++) {
		const struct reg_info *info = &rec->regs->regs[reg];
		struct packet packet = { .kind = PACKET_REG, .number = reg,
					 .size = info->size };

		if (before && !memcmp(now.bytes + info->offset,
				      before->bytes + info->offset, info->size))
			continue;
		packet.value = now.bytes + info->offset;
		effect(rec, &packet);
	}
}

/* ------- touches ------- */

static struct page_touch *add_touch(struct recorder *rec, uint64_t page,
				    unsigned how)
{
	struct page_touch *touch;

	if (rec->trace.unrecorded)
		return NULL;
	if (array_room(rec->touched.list, rec->touched.count,
		       rec->touched.room)) {
		effects_out_of_memory(rec);
		return NULL;
	}
	touch = &rec->touched.list[rec->touched.count++];
	*touch = (struct page_touch){ .page = page, .how = how };
	return touch;
}

void effects_mark_page(void *context, uint64_t page)
{
	add_touch(context, page, PAGE_WAS_WRITTEN);
}

static void on_first_read(void *context, uint64_t page)
{
	add_touch(context, page, PAGE_WAS_READ);
}

/*
 * Steps of the segment before the present block; 0 also where the block began
 * before the segment did.
 */
static uint64_t time_of_write(const struct recorder *rec)
{
	uint64_t time = vm_steps_at_block(rec->vm);

	return time > rec->segment.start ? time - rec->segment.start : 0;
}

static void on_first_write(void *context, uint64_t page)
{
	struct recorder *rec = context;
	struct page_touch *touch = add_touch(rec, page, PAGE_WAS_WRITTEN);

	rec->touched.written++;
	if (touch && rec->started)
		touch->write_time = time_of_write(rec);
}

/* Whether other processes may write to the page again and again. */
static bool is_shared(struct recorder *rec, guest_addr addr)
{
	const struct region *region = memory_region_at(rec->memory, addr);

	return region && region->kind == REGION_SHARED &&
	       (region->prot & MAY_WRITE || addr >= COMMON_START);
}

/*
 * The prediction step for a page: a content that is stored already is only
 * named; if the cache knows most of it, the read stream says the rest, as it
 * does for pages that are shared and so will come again a little changed;
 * else it is stored.
 */
static void give_page(struct recorder *rec, struct packet *packet,
		      const uint8_t *bytes)
{
	struct prediction_writer *reads = &rec->stream->reads;
	guest_addr addr = packet->addr;

	packet->page_id = 0;
	if (!page_store_has(&rec->pages, bytes, &packet->page_id) &&
	    rec->started &&
	    (is_shared(rec, addr) ||
	     prediction_would_hit(reads, addr, bytes, GUEST_PAGE) >
		     GUEST_PAGE / 8 / 2)) {
		packet->source = TOUCH_READS;
		prediction_record(reads, addr, bytes, GUEST_PAGE);
		return;
	}
	packet->source = TOUCH_STORED;
	if (page_store_add(&rec->pages, addr >> GUEST_PAGE_SHIFT, bytes,
			   &packet->page_id))
		effects_out_of_memory(rec);
}

static void write_pages(struct recorder *rec)
{
	if (segment_write_pages(rec, false, &rec->why) && !rec->error)
		rec->error = ERR_SYSTEM;
}

static void on_resolve(void *context, uint64_t page, uint64_t doubt,
		       uint8_t *bytes)
{
	struct recorder *rec = context;
	guest_addr addr = page << GUEST_PAGE_SHIFT;
	struct packet packet = { .kind = PACKET_TOUCH, .addr = addr,
				 .number = doubt };
	uint8_t seen[GUEST_PAGE];
	struct page_touch *touch;

	if (rec->trace.unrecorded)
		return;
	/* A shared page may change while it is looked at. */
	memcpy(seen, bytes, sizeof(seen));
	touch = add_touch(rec, page, PAGE_WAS_RESOLVED);
	rec->touched.written++;
	rec->touched.resolved++;
	give_page(rec, &packet, seen);
	if (touch) {
		touch->doubt = doubt;
		touch->resolved_id = packet.page_id;
	}
	effect(rec, &packet);
	write_pages(rec);
}

/* ------- what other threads have changed ------- */

#define WORD 8

/* The next bytes from `*at` on that differ, in words; false if none do. */
static bool next_change(const uint8_t *before, const uint8_t *now, size_t *at,
			size_t *size)
{
	size_t end;

	while (*at < GUEST_PAGE && !memcmp(before + *at, now + *at, WORD))
		*at += WORD;
	end = *at;
	while (end < GUEST_PAGE && memcmp(before + end, now + end, WORD))
		end += WORD;
	*size = end - *at;
	return *size;
}

static size_t count_changes(const uint8_t *before, const uint8_t *now)
{
	size_t at = 0, size, count = 0;

	for (; next_change(before, now, &at, &size); at += size)
		count++;
	return count;
}

/*
 * More changed ranges than this are recorded as a whole page.  A choice: as
 * many cost some 600 bytes, a page that compresses well not more.
 */
#define CHANGES_MOST 64

static void on_learned(void *context, uint64_t page, const uint8_t *before,
		       const uint8_t *now)
{
	struct recorder *rec = context;
	struct packet packet = { .addr = page << GUEST_PAGE_SHIFT };
	size_t at = 0, size;

	if (rec->trace.unrecorded || !rec->started)
		return;
	if (!before || count_changes(before, now) > CHANGES_MOST) {
		packet.kind = PACKET_SEEN_PAGE;
		give_page(rec, &packet, now);
		effect(rec, &packet);
		write_pages(rec);
		return;
	}
	packet.kind = PACKET_SEEN;
	for (; next_change(before, now, &at, &size); at += size) {
		packet.addr = (page << GUEST_PAGE_SHIFT) + at;
		packet.size = size;
		effect(rec, &packet);
		prediction_record(&rec->stream->reads, packet.addr, now + at,
				  size);
	}
}

/* ------- changes of the address space ------- */

static void add_fresh(struct recorder *rec, guest_addr addr, uint64_t size)
{
	if (rec->trace.unrecorded)
		return;
	if (array_room(rec->touched.fresh, rec->touched.fresh_count,
		       rec->touched.fresh_room)) {
		effects_out_of_memory(rec);
		return;
	}
	rec->touched.fresh[rec->touched.fresh_count++] = (struct range){
		addr >> GUEST_PAGE_SHIFT, size >> GUEST_PAGE_SHIFT
	};
}

bool effects_own_page(const struct recorder *rec, uint64_t page)
{
	guest_addr addr = page << GUEST_PAGE_SHIFT;

	return memory_home(rec->memory, addr) == addr;
}

/* Pages whose contents changed without a write that a fault could show. */
static void mark_written(struct recorder *rec, guest_addr addr, uint64_t size)
{
	uint64_t time = rec->started ? time_of_write(rec) : 0;

	for (uint64_t i = 0; i < size >> GUEST_PAGE_SHIFT; i++) {
		uint64_t page = (addr >> GUEST_PAGE_SHIFT) + i;
		struct page_touch *touch = NULL;

		if (effects_own_page(rec, page))
			touch = add_touch(rec, page, PAGE_WAS_WRITTEN);
		if (touch)
			touch->write_time = time;
	}
}

static void on_mapped(void *context, const struct region *region)
{
	struct recorder *rec = context;
	struct packet packet = {
		.kind = PACKET_MAP,
		.addr = region->start,
		.size = region->end - region->start,
		.prot = region->prot,
		.region = region->kind,
		.target = region->common,
		.offset = region->offset,
		.name = region->name,
		.name_size = strlen(region->name),
	};

	streams_changed_space(rec, &packet);
	add_fresh(rec, packet.addr, packet.size);
	rec->trace.mapped_code |= region->kind == REGION_FILE &&
			    (region->prot & MAY_EXEC);
}

static void on_unmapped(void *context, guest_addr addr, uint64_t size)
{
	struct packet packet = { .kind = PACKET_UNMAP, .addr = addr,
				 .size = size };

	streams_changed_space(context, &packet);
}

static void on_protected(void *context, guest_addr addr, uint64_t size,
			 unsigned prot)
{
	struct packet packet = { .kind = PACKET_PROTECT, .addr = addr,
				 .size = size, .prot = prot };

	streams_changed_space(context, &packet);
}

static void on_moved(void *context, guest_addr from, guest_addr to,
		     uint64_t size)
{
	struct recorder *rec = context;
	struct packet packet = { .kind = PACKET_MOVE, .addr = from,
				 .target = to, .size = size };

	streams_changed_space(rec, &packet);
	add_fresh(rec, to, size);
	mark_written(rec, to, size);
}

static void on_cleared(void *context, guest_addr addr, uint64_t size)
{
	struct recorder *rec = context;
	struct packet packet = { .kind = PACKET_CLEAR, .addr = addr,
				 .size = size };

	streams_changed_space(rec, &packet);
	add_fresh(rec, addr, size);
}

static void on_doubted(void *context, guest_addr addr, uint64_t size,
		       uint64_t doubt)
{
	struct packet packet = { .kind = PACKET_DOUBT, .addr = addr,
				 .size = size, .number = doubt };

	effect(context, &packet);
}

static void on_wrote(void *context, guest_addr addr, uint64_t size)
{
	struct recorder *rec = context;
	struct packet packet = { .kind = PACKET_WRITE, .addr = addr,
				 .size = size };

	if (!rec->started)
		return;
	effect(rec, &packet);
	while (size) {
		uint64_t span = GUEST_PAGE - addr % GUEST_PAGE;
		const uint8_t *bytes =
			memory_peek(rec->memory, addr >> GUEST_PAGE_SHIFT);

		if (span > size)
			span = size;
		if (!bytes) {
			broken(rec, ERR_SYSTEM, "the kernel wrote to a page "
						"that cannot be read");
			return;
		}
		prediction_record(&rec->stream->reads, addr,
				  bytes + addr % GUEST_PAGE, span);
		addr += span;
		size -= span;
	}
}

struct memory_observer effects_observer(struct recorder *rec)
{
	return (struct memory_observer){
		.context = rec,
		.first_read = on_first_read,
		.first_write = on_first_write,
		.resolve = on_resolve,
		.mapped = on_mapped,
		.unmapped = on_unmapped,
		.protected = on_protected,
		.moved = on_moved,
		.cleared = on_cleared,
		.wrote = on_wrote,
		.doubted = on_doubted,
		.learned = on_learned,
	};
}
