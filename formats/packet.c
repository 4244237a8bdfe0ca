/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet.c - see packet.h; one table drives encoding and decoding */
#include "formats/packet.h"

#include <assert.h>
#include <string.h>

#include "formats/error.h"
#include "formats/registers.h"

/* How members of a packet are coded. */
enum field {
	FIELD_END,
	FIELD_STEPS,		/* varint */
	FIELD_NUMBER,		/* varint */
	FIELD_RESULT,		/* signed varint */
	FIELD_NEW_DOUBT,	/* varint: number - newest doubt */
	FIELD_OLD_DOUBT,	/* varint: newest doubt - number */
	FIELD_ADDR,		/* signed varint: addr - address before */
	FIELD_PAGE,		/* the same in pages */
	FIELD_TARGET,		/* signed varint: target - addr, in pages */
	FIELD_SIZE,		/* varint */
	FIELD_PAGES,		/* varint: size in pages */
	FIELD_VALUE,		/* `size` bytes */
	FIELD_PROT,		/* byte */
	FIELD_REGION,		/* byte; and if it is REGION_ALIAS, signed varint: */
				/* target - addr, in pages */
	FIELD_OFFSET,		/* varint, in pages */
	FIELD_NAME,		/* varint size, bytes */
	FIELD_SOURCE,		/* byte; and if it is TOUCH_STORED, */
				/* signed varint: page_id - the one before */
	FIELD_SLICES,		/* varint */
	FIELD_SKIPPED,		/* varint */
	FIELD_DOUBTS,		/* varint */
};

#define FIELDS_MAX 8

struct shape {
	const char *name;
	uint8_t fields[FIELDS_MAX];
};

static const struct shape shapes[] = {
	[PACKET_SYSCALL] = { "SYSCALL",
		{ FIELD_STEPS, FIELD_NUMBER, FIELD_RESULT } },
	[PACKET_SIGNAL]  = { "SIGNAL", { FIELD_STEPS, FIELD_NUMBER } },
	[PACKET_VALUE]   = { "VALUE", { FIELD_STEPS } },
	[PACKET_EXIT]    = { "EXIT", { FIELD_STEPS, FIELD_RESULT } },
	[PACKET_FAULT]   = { "FAULT", { FIELD_STEPS, FIELD_NUMBER } },
	[PACKET_SLICE]   = { "SLICE",
		{ FIELD_STEPS, FIELD_SLICES, FIELD_SKIPPED, FIELD_DOUBTS } },
	[PACKET_GIVE_WAY] = { "GIVE_WAY", { FIELD_STEPS } },
	[PACKET_RETURN]  = { "RETURN", { FIELD_NUMBER, FIELD_RESULT } },
	[PACKET_INTERRUPT] = { "INTERRUPT", { FIELD_STEPS, FIELD_NUMBER } },
	[PACKET_DMA]     = { "DMA", { FIELD_STEPS } },
	[PACKET_FIXED_CALL] = { "FIXED_CALL",
		{ FIELD_STEPS, FIELD_NUMBER, FIELD_RESULT } },
	[PACKET_REG]     = { "REG", { FIELD_NUMBER, FIELD_SIZE, FIELD_VALUE } },
	[PACKET_WRITE]   = { "WRITE", { FIELD_ADDR, FIELD_SIZE } },
	[PACKET_MAP]     = { "MAP",
		{ FIELD_PAGE, FIELD_PAGES, FIELD_PROT, FIELD_REGION,
		  FIELD_OFFSET, FIELD_NAME } },
	[PACKET_UNMAP]   = { "UNMAP", { FIELD_PAGE, FIELD_PAGES } },
	[PACKET_PROTECT] = { "PROTECT",
		{ FIELD_PAGE, FIELD_PAGES, FIELD_PROT } },
	[PACKET_MOVE]    = { "MOVE",
		{ FIELD_PAGE, FIELD_TARGET, FIELD_PAGES } },
	[PACKET_CLEAR]   = { "CLEAR", { FIELD_PAGE, FIELD_PAGES } },
	[PACKET_DOUBT]   = { "DOUBT",
		{ FIELD_NEW_DOUBT, FIELD_PAGE, FIELD_PAGES } },
	[PACKET_OUTPUT]  = { "OUTPUT",
		{ FIELD_NUMBER, FIELD_ADDR, FIELD_SIZE } },
	[PACKET_STORED]  = { "STORED", { FIELD_PAGE, FIELD_SOURCE } },
	[PACKET_TOUCH]   = { "TOUCH",
		{ FIELD_OLD_DOUBT, FIELD_PAGE, FIELD_SOURCE } },
	[PACKET_SEEN]    = { "SEEN", { FIELD_ADDR, FIELD_SIZE } },
	[PACKET_SEEN_PAGE] = { "SEEN_PAGE", { FIELD_PAGE, FIELD_SOURCE } },
};

static const struct shape *find_shape(uint64_t kind)
{
	if (kind >= sizeof(shapes) / sizeof(shapes[0]) || !shapes[kind].name)
		return NULL;
	return &shapes[kind];
}

const char *packet_name(unsigned kind)
{
	const struct shape *shape = find_shape(kind);

	return shape ? shape->name : NULL;
}

static bool has_field(const struct packet *packet, enum field field)
{
	const uint8_t *fields = shapes[packet->kind].fields;

	for (size_t i = 0; i < FIELDS_MAX && fields[i]; i++)
		if (fields[i] == field)
			return true;
	return false;
}

/* ------- what the specification allows ------- */

static bool is_page_aligned(uint64_t value)
{
	return value % GUEST_PAGE == 0;
}

static bool is_range(guest_addr addr, uint64_t size)
{
	return addr < GUEST_ADDR_END && size >= 1 &&
	       size <= GUEST_ADDR_END - addr;
}

static bool is_number(const struct packet *packet)
{
	switch (packet->kind) {
	case PACKET_SIGNAL:
	case PACKET_FAULT:
		return 1 <= packet->number && packet->number <= 255;
	case PACKET_REG:
		return packet->number < PACKET_REG_END;
	case PACKET_INTERRUPT:
		return packet->number < PACKET_INTERRUPT_END;
	case PACKET_OUTPUT:
		return packet->number == 1 || packet->number == 2;
	case PACKET_DOUBT:
	case PACKET_TOUCH:
		return packet->number >= 1;
	default:
		return true;
	}
}

/* Common pages are no program's, and no aliases. */
static bool is_alias(const struct packet *packet)
{
	return packet->region == REGION_SHARED &&
	       packet->addr + packet->size <= COMMON_START &&
	       packet->target >= COMMON_START &&
	       is_page_aligned(packet->target) &&
	       is_range(packet->target, packet->size);
}

static bool is_map(const struct packet *packet)
{
	if (packet->region > REGION_SHARED)
		return false;
	if (packet->target && !is_alias(packet))
		return false;
	if (!is_page_aligned(packet->offset) ||
	    packet->offset >= REGION_OFFSET_END)
		return false;
	if (packet->region == REGION_ANON && packet->offset)
		return false;
	return packet->name_size <= REGION_NAME_MAX &&
	       (packet->name_size == 0 ||
		!memchr(packet->name, 0, packet->name_size));
}

static bool is_move(const struct packet *packet)
{
	return is_page_aligned(packet->target) &&
	       is_range(packet->target, packet->size) &&
	       (packet->target >= packet->addr + packet->size ||
		packet->addr >= packet->target + packet->size);
}

static bool is_touch(const struct packet *packet)
{
	if (packet->source == TOUCH_STORED)
		return packet->page_id < PAGE_ID_END;
	return packet->source == TOUCH_READS;
}

/* Whether all members are in range; the same for both directions. */
static bool is_valid(const struct packet *packet)
{
	if (!is_number(packet))
		return false;
	if (packet->kind == PACKET_EXIT &&
	    (packet->result < -255 || packet->result > 255))
		return false;
	if (packet->kind == PACKET_SLICE && packet->slices < 1)
		return false;
	if (packet->kind == PACKET_RETURN && packet->steps)
		return false;
	if (packet->kind == PACKET_REG &&
	    (packet->size < 1 || packet->size > PACKET_REG_SIZE_MAX))
		return false;
	if ((has_field(packet, FIELD_ADDR) || has_field(packet, FIELD_PAGES)) &&
	    !is_range(packet->addr, packet->size))
		return false;
	if (has_field(packet, FIELD_PAGES) && !is_page_aligned(packet->size))
		return false;
	if (has_field(packet, FIELD_PAGE) &&
	    (!is_page_aligned(packet->addr) || packet->addr >= GUEST_ADDR_END))
		return false;
	if (has_field(packet, FIELD_PROT) &&
	    packet->prot > (MAY_READ | MAY_WRITE | MAY_EXEC))
		return false;
	if (packet->kind == PACKET_MAP)
		return is_map(packet);
	if (packet->kind == PACKET_MOVE)
		return is_move(packet);
	if (packet->kind == PACKET_SEEN)
		return packet->addr % GUEST_PAGE + packet->size <= GUEST_PAGE;
	return !has_field(packet, FIELD_SOURCE) || is_touch(packet);
}

/* What the packets after this one are coded against. */
static void advance(struct packet_state *state, const struct packet *packet)
{
	if (has_field(packet, FIELD_ADDR) || has_field(packet, FIELD_PAGE))
		state->addr = packet->addr;
	if (packet->kind == PACKET_DOUBT)
		state->doubt = packet->number;
	if (has_field(packet, FIELD_SOURCE) && packet->source == TOUCH_STORED)
		state->page_id = packet->page_id;
	if (packet->kind == PACKET_SLICE) {
		state->slice += packet->slices;
		state->doubt += packet->doubts;
	}
}

/* ------- encoding ------- */

static void put_difference(struct output *out, uint64_t value, uint64_t base)
{
	output_signed(out, (int64_t)(value - base));
}

static uint64_t page_of(guest_addr addr)
{
	return addr >> GUEST_PAGE_SHIFT;
}

static void put_source(struct output *out, const struct packet_state *state,
		       const struct packet *packet)
{
	output_uint(out, packet->source, 1);
	if (packet->source == TOUCH_STORED)
		put_difference(out, packet->page_id, state->page_id);
}

static void put_target(struct output *out, const struct packet *packet)
{
	put_difference(out, page_of(packet->target), page_of(packet->addr));
}

static void put_region(struct output *out, const struct packet *packet)
{
	output_uint(out, packet->target ? REGION_ALIAS : packet->region, 1);
	if (packet->target)
		put_target(out, packet);
}

static void put_field(struct output *out, const struct packet_state *state,
		      const struct packet *packet, enum field field)
{
	switch (field) {
	case FIELD_END:
		break;
	case FIELD_STEPS:
		output_varint(out, packet->steps);
		break;
	case FIELD_NUMBER:
		output_varint(out, packet->number);
		break;
	case FIELD_RESULT:
		output_signed(out, packet->result);
		break;
	case FIELD_NEW_DOUBT:
		assert(packet->number >= state->doubt);
		output_varint(out, packet->number - state->doubt);
		break;
	case FIELD_OLD_DOUBT:
		assert(packet->number <= state->doubt);
		output_varint(out, state->doubt - packet->number);
		break;
	case FIELD_ADDR:
		put_difference(out, packet->addr, state->addr);
		break;
	case FIELD_PAGE:
		put_difference(out, page_of(packet->addr),
			       page_of(state->addr));
		break;
	case FIELD_TARGET:
		put_target(out, packet);
		break;
	case FIELD_SIZE:
		output_varint(out, packet->size);
		break;
	case FIELD_PAGES:
		output_varint(out, page_of(packet->size));
		break;
	case FIELD_VALUE:
		output_bytes(out, packet->value, packet->size);
		break;
	case FIELD_PROT:
		output_uint(out, packet->prot, 1);
		break;
	case FIELD_REGION:
		put_region(out, packet);
		break;
	case FIELD_OFFSET:
		output_varint(out, page_of(packet->offset));
		break;
	case FIELD_NAME:
		output_text(out, packet->name, packet->name_size);
		break;
	case FIELD_SOURCE:
		put_source(out, state, packet);
		break;
	case FIELD_SLICES:
		assert(packet->slices <= UINT64_MAX - state->slice);
		output_varint(out, packet->slices);
		break;
	case FIELD_SKIPPED:
		output_varint(out, packet->skipped);
		break;
	case FIELD_DOUBTS:
		assert(packet->doubts <= UINT64_MAX - state->doubt);
		output_varint(out, packet->doubts);
		break;
	}
}

void packet_encode(struct output *out, struct packet_state *state,
		   const struct packet *packet)
{
	const struct shape *shape = find_shape(packet->kind);

	assert(shape && is_valid(packet));
	output_uint(out, packet->kind, 1);
	for (size_t i = 0; i < FIELDS_MAX && shape->fields[i]; i++)
		put_field(out, state, packet, shape->fields[i]);
	advance(state, packet);
}

/* ------- decoding ------- */

static uint64_t take_difference(struct input *in, uint64_t base)
{
	return base + (uint64_t)input_signed(in);
}

/* A number of pages below `end` bytes, as bytes. */
static uint64_t take_pages(struct input *in, uint64_t end)
{
	return input_count(in, page_of(end)) << GUEST_PAGE_SHIFT;
}

/* A page number, as an address. */
static guest_addr take_page(struct input *in, guest_addr base)
{
	uint64_t page = take_difference(in, page_of(base));

	if (in->error)
		return 0;
	if (page >= GUEST_PAGES) {
		in->error = ERR_CORRUPT;
		return 0;
	}
	return page << GUEST_PAGE_SHIFT;
}

static uint64_t take_new_doubt(struct input *in, uint64_t newest)
{
	return newest + input_count(in, UINT64_MAX - newest);
}

static uint64_t take_old_doubt(struct input *in, uint64_t newest)
{
	return newest - input_count(in, newest);
}

static void take_value(struct input *in, struct packet *packet)
{
	if (packet->size > PACKET_REG_SIZE_MAX && !in->error)
		in->error = ERR_CORRUPT;
	packet->value = input_bytes(in, packet->size);
}

static void take_name(struct input *in, struct packet *packet)
{
	size_t size;

	packet->name = input_text(in, REGION_NAME_MAX, &size);
	packet->name_size = size;
}

static void take_source(struct input *in, const struct packet_state *state,
			struct packet *packet)
{
	packet->source = (enum touch_source)input_uint(in, 1);
	if (packet->source == TOUCH_STORED)
		packet->page_id = take_difference(in, state->page_id);
}

static void take_region(struct input *in, struct packet *packet)
{
	packet->region = (enum region_kind)input_uint(in, 1);
	if (packet->region != REGION_ALIAS)
		return;
	packet->region = REGION_SHARED;
	packet->target = take_page(in, packet->addr);
	if (!packet->target && !in->error)
		in->error = ERR_CORRUPT;
}

static void take_field(struct input *in, const struct packet_state *state,
		       struct packet *packet, enum field field)
{
	switch (field) {
	case FIELD_END:
		break;
	case FIELD_STEPS:
		packet->steps = input_varint(in);
		break;
	case FIELD_NUMBER:
		packet->number = input_varint(in);
		break;
	case FIELD_RESULT:
		packet->result = input_signed(in);
		break;
	case FIELD_NEW_DOUBT:
		packet->number = take_new_doubt(in, state->doubt);
		break;
	case FIELD_OLD_DOUBT:
		packet->number = take_old_doubt(in, state->doubt);
		break;
	case FIELD_ADDR:
		packet->addr = take_difference(in, state->addr);
		break;
	case FIELD_PAGE:
		packet->addr = take_page(in, state->addr);
		break;
	case FIELD_TARGET:
		packet->target = take_page(in, packet->addr);
		break;
	case FIELD_SIZE:
		packet->size = input_varint(in);
		break;
	case FIELD_PAGES:
		packet->size = take_pages(in, GUEST_ADDR_END);
		break;
	case FIELD_VALUE:
		take_value(in, packet);
		break;
	case FIELD_PROT:
		packet->prot = (unsigned)input_uint(in, 1);
		break;
	case FIELD_REGION:
		take_region(in, packet);
		break;
	case FIELD_OFFSET:
		packet->offset = take_pages(in, REGION_OFFSET_END);
		break;
	case FIELD_NAME:
		take_name(in, packet);
		break;
	case FIELD_SOURCE:
		take_source(in, state, packet);
		break;
	case FIELD_SLICES:
		packet->slices = input_count(in, UINT64_MAX - state->slice);
		break;
	case FIELD_SKIPPED:
		packet->skipped = input_varint(in);
		break;
	case FIELD_DOUBTS:
		packet->doubts = input_count(in, UINT64_MAX - state->doubt);
		break;
	}
}

int packet_decode(struct input *in, struct packet_state *state,
		  struct packet *out)
{
	struct input rest = *in;
	struct packet packet = { 0 };
	uint64_t kind = input_uint(&rest, 1);
	const struct shape *shape = find_shape(kind);

	if (rest.error)
		return rest.error;
	if (!shape)
		return ERR_CORRUPT;
	packet.kind = (enum packet_kind)kind;
	for (size_t i = 0; i < FIELDS_MAX && shape->fields[i]; i++)
		take_field(&rest, state, &packet, shape->fields[i]);
	if (rest.error)
		return rest.error;
	if (!is_valid(&packet))
		return ERR_CORRUPT;
	advance(state, &packet);
	*in = rest;
	*out = packet;
	return 0;
}

bool packet_changes(const struct packet *effect, bool target, guest_addr *addr,
		    uint64_t *size)
{
	*addr = effect->addr;
	*size = effect->size;
	switch (effect->kind) {
	case PACKET_STORED:
		*size = GUEST_PAGE;
		return !target;
	case PACKET_DOUBT:
		*addr &= ~(guest_addr)(GUEST_PAGE - 1);
		return !target;
	case PACKET_WRITE:
	case PACKET_MAP:
	case PACKET_UNMAP:
	case PACKET_CLEAR:
		return !target;
	case PACKET_MOVE:
		if (target)
			*addr = effect->target;
		return true;
	default:
		return false;
	}
}
