/* SPDX-License-Identifier: GPL-2.0-or-later */
/* virt.c - see virt.h */
#include "vm/board/virt.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "vm/board/gic.h"
#include "vm/board/start_file.h"
#include "vm/board/pl011.h"
#include "vm/board/pl031.h"
#include "vm/board/psci.h"
#include "vm/board/user_net.h"
#include "vm/board/virt_tree.h"
#include "vm/board/virtio_block.h"
#include "vm/board/virtio_console.h"
#include "vm/board/virtio_entropy.h"
#include "vm/board/virtio_net.h"

#define ALIGNMENT (UINT64_C(2) << 20)	/* of kernels */
#define APPEND_ROOM 2048u	/* that arm64's Linux has for its command line */

struct virt {
	struct virt_options options;
	struct start_file kernel, initrd;
	struct board *board;
	struct gic gic;
	struct pl011 console;
	struct pl031 clock;
	struct disk disks[VIRT_DRIVES];
	struct virtio_net card;
	struct user_net *network;
	struct user_net_calls network_calls;
	struct virtio_console terminal;
	struct virtio virtio[VIRT_VIRTIO_COUNT];
	unsigned virtio_count;
	struct virtio *card_virtio, *terminal_virtio;	/* or NULL */
	struct virtio_memory memory;
	struct region regions[VIRT_DEVICES + 1];
};

/* A region of device registers. */
struct device {
	const char *name;
	uint64_t start, size;
	uint64_t (*read)(void *device, uint64_t offset, unsigned size);
	void (*write)(void *device, uint64_t offset, unsigned size,
		      uint64_t value);
	size_t at;		/* in struct virt */
};

static uint64_t read_virtio(void *device, uint64_t offset, unsigned size)
{
	struct virtio *virtio = device;

	return virtio_read(&virtio[offset / VIRT_VIRTIO_SIZE],
			   offset % VIRT_VIRTIO_SIZE, size);
}

static void write_virtio(void *device, uint64_t offset, unsigned size,
			 uint64_t value)
{
	struct virtio *virtio = device;

	(void)size;
	virtio_write(&virtio[offset / VIRT_VIRTIO_SIZE],
		     offset % VIRT_VIRTIO_SIZE, value);
}

/* Sorted by address; all below RAM. */
static const struct device devices[VIRT_DEVICES] = {
	{ "gic distributor", VIRT_GIC_DISTRIBUTOR, VIRT_GIC_SIZE,
	  gic_distributor_read, gic_distributor_write,
	  offsetof(struct virt, gic) },
	{ "gic processor", VIRT_GIC_PROCESSOR, VIRT_GIC_SIZE,
	  gic_processor_read, gic_processor_write, offsetof(struct virt, gic) },
	{ "console pl011", VIRT_CONSOLE, VIRT_DEVICE_SIZE, pl011_read,
	  pl011_write, offsetof(struct virt, console) },
	{ "clock pl031", VIRT_CLOCK, VIRT_DEVICE_SIZE, pl031_read, pl031_write,
	  offsetof(struct virt, clock) },
	{ "virtio", VIRT_VIRTIO, VIRT_VIRTIO_COUNT * VIRT_VIRTIO_SIZE,
	  read_virtio, write_virtio, offsetof(struct virt, virtio) },
};

/* ------- as a world ------- */

/* The device at an address; NULL: none is there. */
static const struct device *find(uint64_t addr)
{
	for (size_t i = 0; i < VIRT_DEVICES; i++)
		if (addr - devices[i].start < devices[i].size)
			return &devices[i];
	return NULL;
}

uint64_t virt_read(struct virt *virt, uint64_t addr, unsigned size)
{
	const struct device *device = find(addr);
	uint64_t value;

	if (!device)
		return 0;
	value = device->read((uint8_t *)virt + device->at,
			     addr - device->start, size);
	/* An interrupt may have been acknowledged, a byte taken. */
	board_look_soon(virt->board);
	return value;
}

void virt_write(struct virt *virt, uint64_t addr, unsigned size, uint64_t value)
{
	const struct device *device = find(addr);

	if (!device)
		return;
	device->write((uint8_t *)virt + device->at, addr - device->start, size,
		      value);
	if (virt_has_work(virt))
		board_pause(virt->board);
	else
		board_look_soon(virt->board);
}

static void set_lines(struct virt *virt)
{
	gic_set_line(&virt->gic, VIRT_IRQ_TIMER,
		     board_timer_is_up(virt->board, BOARD_TIMER_VIRTUAL));
	gic_set_line(&virt->gic, VIRT_IRQ_TIMER_PHYSICAL,
		     board_timer_is_up(virt->board, BOARD_TIMER_PHYSICAL));
	gic_set_line(&virt->gic, GIC_SHARED + VIRT_SPI_CONSOLE,
		     pl011_interrupts(&virt->console));
	for (unsigned i = 0; i < virt->virtio_count; i++)
		gic_set_line(&virt->gic, GIC_SHARED + VIRT_SPI_VIRTIO + i,
			     virtio_interrupts(&virt->virtio[i]));
}

bool virt_interrupts(struct virt *virt)
{
	set_lines(virt);
	return gic_interrupts(&virt->gic);
}

bool virt_wakes(struct virt *virt)
{
	set_lines(virt);
	return gic_wakes(&virt->gic);
}

uint64_t virt_next(const struct virt *virt)
{
	return board_timer_next(virt->board);
}

enum virt_call virt_called(struct virt *virt, uint64_t *x0)
{
	uint64_t function = board_reg(virt->board, ARM64_X0);
	uint64_t argument = board_reg(virt->board, ARM64_X0 + 1);

	switch (psci_call(function, argument, x0)) {
	case PSCI_OFF:
		return VIRT_OFF;
	case PSCI_RESET:
		return VIRT_RESET;
	default:
		return VIRT_GOES_ON;
	}
}

size_t virt_room(const struct virt *virt)
{
	return virt->terminal_virtio ? virtio_console_room(&virt->terminal) :
				       pl011_room(&virt->console);
}

void virt_type(struct virt *virt, const uint8_t *bytes, size_t count)
{
	if (virt->terminal_virtio)
		virtio_console_type(virt->terminal_virtio, bytes, count);
	else
		pl011_receive(&virt->console, bytes, count);
}

/* ------- devices that use memory ------- */

static const uint8_t *guest_bytes(void *context, uint64_t addr, uint64_t size)
{
	const struct virt *virt = context;

	return board_bytes(virt->board, addr, size);
}

/* Page by page. */
static void guest_store(void *context, uint64_t addr, const void *bytes,
			 size_t size)
{
	struct virt *virt = context;

	board_load(virt->board, addr, bytes, size);
	virt->options.stored(virt->options.context, addr, size);
}

bool virt_has_work(const struct virt *virt)
{
	for (unsigned i = 0; i < virt->virtio_count; i++)
		if (virt->virtio[i].notified)
			return true;
	return false;
}

void virt_work(struct virt *virt)
{
	while (virt_has_work(virt))
		for (unsigned i = 0; i < virt->virtio_count; i++)
			virtio_serve(&virt->virtio[i]);
}

static struct virtio *add_virtio(struct virt *virt,
				 const struct virtio_model *model,
				 void *device)
{
	struct virtio *virtio = &virt->virtio[virt->virtio_count++];

	*virtio = (struct virtio){
		.model = model, .device = device, .memory = &virt->memory,
	};
	return virtio;
}

static int open_drives(struct virt *virt, struct failure *why)
{
	const struct virt_options *options = &virt->options;
	int rc = 0;

	for (unsigned i = 0; i < options->drive_count && !rc; i++) {
		struct disk *disk = &virt->disks[i];

		disk->warn = options->warn;
		disk->context = options->context;
		rc = disk_open(disk, &options->drives[i], why);
		add_virtio(virt, options->drives[i].readonly ?
				 &virtio_block_readonly : &virtio_block, disk);
	}
	return rc;
}

/* ------- the network ------- */

static void on_receive(void *context, const uint8_t *frame, size_t size)
{
	const struct virt *virt = context;

	virtio_net_receive(virt->card_virtio, frame, size);
}

static void on_send(void *context, const uint8_t *frame, size_t size)
{
	const struct virt *virt = context;

	user_net_send(virt->network, frame, size);
}

#define NANOSECONDS UINT64_C(1000000000)

static uint64_t nanoseconds(void *context)
{
	const struct virt *virt = context;

	return virt->board ? board_ticks(virt->board) *
			     (NANOSECONDS /
			      board_ticks_per_second(virt->board)) : 0;
}

static int make_network(struct virt *virt, struct failure *why)
{
	virt->card.send = on_send;
	virt->card.context = virt;
	virt->card_virtio = add_virtio(virt, &virtio_net, &virt->card);
	virt->network_calls = (struct user_net_calls){
		.receive = on_receive, .now = nanoseconds, .context = virt,
	};
	return user_net_create(&virt->network, &virt->network_calls, why);
}

size_t virt_sockets(struct virt *virt, struct pollfd *out, size_t room,
		    uint64_t *wait)
{
	return virt->network ? user_net_sockets(virt->network, out, room,
						wait) : 0;
}

void virt_found(struct virt *virt, const struct pollfd *found, size_t count)
{
	if (virt->network)
		user_net_found(virt->network, found, count);
}

/* Disks come first, so that their names are theirs, whatever else is there. */
static int make_virtio(struct virt *virt, struct failure *why)
{
	int rc = open_drives(virt, why);

	if (!rc && virt->options.network)
		rc = make_network(virt, why);
	add_virtio(virt, &virtio_entropy, NULL);
	virt->terminal.out = virt->options.said;
	virt->terminal.context = virt->options.context;
	if (virt->options.has_virtio_console)
		virt->terminal_virtio =
			add_virtio(virt, &virtio_console, &virt->terminal);
	return rc;
}

/* ------- what it starts with ------- */

static uint64_t seconds(const void *context)
{
	const struct virt *virt = context;

	return board_ticks(virt->board) /
	       board_ticks_per_second(virt->board);
}

static uint64_t align(uint64_t addr)
{
	return (addr + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
}

/* The device tree is below the kernel. */
static uint64_t kernel_place(const struct virt *virt)
{
	return VIRT_RAM + ALIGNMENT + virt->kernel.offset;
}

static uint64_t initrd_place(const struct virt *virt)
{
	return align(kernel_place(virt) + virt->kernel.room);
}

static int check_append(const struct virt_options *options,
			struct failure *why)
{
	return strlen(options->append) < APPEND_ROOM ? 0 :
	       failed(why, ERR_INPUT, "the kernel's command line has more than"
		      " %u bytes", APPEND_ROOM - 1);
}

static int check_room(const struct virt *virt, struct failure *why)
{
	uint64_t end = VIRT_RAM + virt->options.memory;
	uint64_t first = initrd_place(virt);

	if (first <= end && virt->initrd.size <= end - first)
		return 0;
	return failed(why, ERR_INPUT, "%s '%s' does not fit into the %llu MiB"
		      " of the machine's memory%s",
		      virt->initrd.size ? "the initial file system" :
					  "the kernel",
		      virt->initrd.size ? virt->options.initrd :
					  virt->options.kernel,
		      (unsigned long long)virt->options.memory >> 20,
		      virt->initrd.size ? " beside the kernel" : "");
}

static int read_images(struct virt *virt, struct failure *why)
{
	const struct virt_options *options = &virt->options;
	int rc = start_file_kernel(&virt->kernel, options->kernel,
				   options->memory, why);

	if (!rc && options->initrd)
		rc = start_file_read(&virt->initrd, options->initrd,
				"the initial file system", options->memory,
				why);
	return rc ? rc : check_room(virt, why);
}

static void list_regions(struct virt *virt)
{
	for (size_t i = 0; i < VIRT_DEVICES; i++)
		virt->regions[i] = (struct region){
			.start = devices[i].start,
			.end = devices[i].start + devices[i].size,
			.prot = MAY_READ | MAY_WRITE,
			.kind = REGION_DEVICE,
			.name = devices[i].name,
		};
	virt->regions[VIRT_DEVICES] = (struct region){
		.start = VIRT_RAM,
		.end = VIRT_RAM + virt->options.memory,
		.prot = MAY_READ | MAY_WRITE | MAY_EXEC,
		.kind = REGION_ANON,
		.name = "ram",
	};
}

int virt_create(struct virt **out, const struct virt_options *options,
		struct failure *why)
{
	struct virt *virt = calloc(1, sizeof(*virt));
	int rc;

	if (!virt)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	virt->options = *options;
	virt->memory = (struct virtio_memory){ guest_bytes, guest_store,
					       virt };
	rc = check_append(options, why);
	if (!rc)
		rc = read_images(virt, why);
	if (!rc)
		rc = make_virtio(virt, why);
	if (rc) {
		virt_destroy(virt);
		return rc;
	}
	pl011_init(&virt->console, options->out, options->context);
	pl031_init(&virt->clock, options->clock, seconds, virt);
	list_regions(virt);
	*out = virt;
	return 0;
}

void virt_destroy(struct virt *virt)
{
	if (!virt)
		return;
	start_file_release(&virt->kernel);
	start_file_release(&virt->initrd);
	for (unsigned i = 0; i < VIRT_DRIVES; i++)
		disk_close(&virt->disks[i]);
	user_net_destroy(virt->network);
	free(virt);
}

struct board_ram virt_ram(const struct virt *virt)
{
	return (struct board_ram){ VIRT_RAM, virt->options.memory };
}

const struct region *virt_regions(const struct virt *virt, size_t *count)
{
	*count = VIRT_DEVICES + 1;
	return virt->regions;
}

int virt_start(struct virt *virt, struct board *board, struct failure *why)
{
	struct output tree = { 0 };
	struct virt_tree about = {
		.options = &virt->options,
		.initrd = initrd_place(virt),
		.initrd_size = virt->initrd.size,
		.virtio = virt->virtio_count,
	};

	if (virt_tree_make(&tree, &about)) {
		output_release(&tree);
		return failed(why, ERR_NO_MEMORY, "out of memory");
	}
	virt->board = board;
	board_load(board, VIRT_RAM, tree.bytes, tree.size);
	output_release(&tree);
	board_load(board, kernel_place(virt), virt->kernel.bytes,
		   virt->kernel.size);
	board_load(board, initrd_place(virt), virt->initrd.bytes,
		   virt->initrd.size);
	board_set_reg(board, ARM64_X0, VIRT_RAM);
	board_set_reg(board, ARM64_PC, kernel_place(virt));
	start_file_release(&virt->kernel);
	start_file_release(&virt->initrd);
	return 0;
}
