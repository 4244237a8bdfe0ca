/* SPDX-License-Identifier: GPL-2.0-or-later */
/* virt_live.c - the machine "virt" as a kind of live machine */
#include "vm/board/live.h"

static const char *model(const struct live_options *options)
{
	return options->virt.model;
}

static const char *image(const struct live_options *options)
{
	return options->virt.kernel;
}

static int create(void **out, const struct live_options *options,
		  struct failure *why)
{
	struct virt_options own = options->virt;
	struct virt *virt;
	int rc;

	own.out = options->out;
	own.said = options->said;
	own.stored = options->stored;
	own.warn = options->warn;
	own.context = options->context;
	rc = virt_create(&virt, &own, why);
	if (!rc)
		*out = virt;
	return rc;
}

static void destroy(void *live)
{
	virt_destroy(live);
}

static unsigned rams(const void *live, struct board_ram *out)
{
	*out = virt_ram(live);
	return 1;
}

static int start(void *live, struct board *board, struct failure *why)
{
	(void)why;
	virt_start(live, board);
	return 0;
}

static void reset(void *live)
{
	virt_reset(live);
}

static const struct region *regions(const void *live, size_t *count)
{
	return virt_regions(live, count);
}

static uint64_t read(void *live, uint64_t addr, unsigned size)
{
	return virt_read(live, addr, size);
}

static void write(void *live, uint64_t addr, unsigned size, uint64_t value)
{
	virt_write(live, addr, size, value);
}

static bool interrupts(void *live, unsigned *number)
{
	*number = 0;
	return virt_interrupts(live);
}

static unsigned cores(const void *live)
{
	return virt_cores(live);
}

static bool is_on(const void *live, unsigned core)
{
	return virt_is_on(live, core);
}

static bool begins(void *live, unsigned core, uint64_t *entry,
		   uint64_t *context)
{
	return virt_begins(live, core, entry, context);
}

static bool wakes(void *live, unsigned core)
{
	return virt_wakes(live, core);
}

static uint64_t next(void *live)
{
	return virt_next(live);
}

static void work(void *live)
{
	if (virt_has_work(live))
		virt_work(live);
}

static void called(void *live, bool closed, struct live_answer *answer)
{
	enum virt_call call = virt_called(live, &answer->value);

	(void)closed;
	answer->ends = call != VIRT_GOES_ON;
	answer->end = call == VIRT_RESET ? MACHINE_RESET : MACHINE_OFF;
}

static size_t room(const void *live)
{
	return virt_room(live);
}

static void type(void *live, const uint8_t *bytes, size_t count)
{
	virt_type(live, bytes, count);
}

static size_t sockets(void *live, struct pollfd *out, size_t most,
		      uint64_t *wait)
{
	return virt_sockets(live, out, most, wait);
}

static void found(void *live, const struct pollfd *polled, size_t count)
{
	virt_found(live, polled, count);
}

static void connect(void *live, struct board *board)
{
	virt_connect(live, board);
}

static void follow_read(void *live, uint64_t addr, uint64_t value)
{
	virt_follow_read(live, addr, value);
}

static void follow_write(void *live, uint64_t addr, unsigned size,
			 uint64_t value)
{
	virt_follow_write(live, addr, size, value);
}

static void follow_stores(void *live, bool begins)
{
	virt_follow_stores(live, begins);
}

/* The result is computed again. */
static void follow_call(void *live, uint64_t result, const uint64_t *error)
{
	(void)result;
	(void)error;
	virt_follow_call(live);
}

static void state(void *live, struct state *state)
{
	virt_state(live, state);
}

static unsigned disks(const void *live)
{
	return virt_disks(live);
}

static bool next_written(void *live, unsigned disk, uint64_t *block,
		      uint8_t bytes[GUEST_PAGE])
{
	return virt_next_written(live, disk, block, bytes);
}

static void follow_block(void *live, unsigned disk, uint64_t block,
			 const uint8_t bytes[GUEST_PAGE])
{
	virt_follow_block(live, disk, block, bytes);
}

const struct live_kind live_virt = {
	.name = "virt",
	.arch = ARCH_AARCH64_MACHINE,
	.model = model, .image = image,
	.create = create, .destroy = destroy,
	.rams = rams, .start = start, .reset = reset, .regions = regions,
	.read = read, .write = write,
	.cores = cores, .is_on = is_on, .begins = begins,
	.interrupts = interrupts, .wakes = wakes, .next = next,
	.work = work, .called = called, .room = room, .type = type,
	.sockets = sockets, .found = found, .connect = connect,
	.follow_read = follow_read, .follow_write = follow_write,
	.follow_stores = follow_stores, .follow_call = follow_call,
	.state = state, .disks = disks, .next_written = next_written,
	.follow_block = follow_block,
};
