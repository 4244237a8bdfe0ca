/* SPDX-License-Identifier: GPL-2.0-or-later */
/* virt.c - see virt.h */
#include "vm/board/virt_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "vm/board/given_tree.h"

#define ALIGNMENT (UINT64_C(2) << 20)	/* of kernels */
#define APPEND_ROOM 2048u	/* that arm64's Linux has for its command line */

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

/* Sorted by address; all below RAM; virtio is the last one. */
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
	{ VIRT_VIRTIO_NAME, VIRT_VIRTIO, VIRT_VIRTIO_COUNT * VIRT_VIRTIO_SIZE,
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
	virt->gic.present = board_core(virt->board);
	value = device->read((uint8_t *)virt + device->at,
			     addr - device->start, size);
	/* An interrupt may have been acknowledged, a byte taken. */
	board_look_soon(virt->board);
	return value;
}

void virt_write_device(struct virt *virt, uint64_t addr, unsigned size,
		       uint64_t value)
{
	const struct device *device = find(addr);

	virt->gic.present = board_core(virt->board);
	if (device)
		device->write((uint8_t *)virt + device->at,
			      addr - device->start, size, value);
}

void virt_write(struct virt *virt, uint64_t addr, unsigned size, uint64_t value)
{
	virt_write_device(virt, addr, size, value);
	if (virt_has_work(virt))
		board_pause(virt->board);
	else
		board_look_soon(virt->board);
}

static void set_own_lines(struct virt *virt, unsigned core)
{
	gic_set_own_line(&virt->gic, core, VIRT_IRQ_TIMER,
			 board_timer_is_up(virt->board, core,
					   BOARD_TIMER_VIRTUAL));
	gic_set_own_line(&virt->gic, core, VIRT_IRQ_TIMER_PHYSICAL,
			 board_timer_is_up(virt->board, core,
					   BOARD_TIMER_PHYSICAL));
}

void virt_set_lines(struct virt *virt)
{
	for (unsigned i = 0; i < virt->gic.count; i++)
		set_own_lines(virt, i);
	gic_set_line(&virt->gic, GIC_SHARED + VIRT_SPI_CONSOLE,
		     pl011_interrupts(&virt->console));
	for (unsigned i = 0; i < virt->virtio_count; i++)
		gic_set_line(&virt->gic, GIC_SHARED + VIRT_SPI_VIRTIO + i,
			     virtio_interrupts(&virt->virtio[i]));
}

bool virt_interrupts(struct virt *virt)
{
	virt_set_lines(virt);
	return gic_interrupts(&virt->gic, board_core(virt->board));
}

bool virt_wakes(struct virt *virt, unsigned core)
{
	virt_set_lines(virt);
	return gic_wakes(&virt->gic, core);
}

unsigned virt_cores(const struct virt *virt)
{
	return virt->options.cores;
}

bool virt_is_on(const struct virt *virt, unsigned core)
{
	return virt->psci.processors[core].is_on;
}

bool virt_begins(struct virt *virt, unsigned core, uint64_t *entry,
		 uint64_t *context)
{
	struct psci_processor *processor = &virt->psci.processors[core];
	bool begins = processor->starts;

	*entry = processor->entry;
	*context = processor->context;
	processor->starts = false;
	return begins;
}

uint64_t virt_next(const struct virt *virt)
{
	return board_timer_next(virt->board);
}

enum virt_call virt_called(struct virt *virt, uint64_t *x0)
{
	uint64_t arguments[PSCI_ARGUMENTS];

	for (unsigned i = 0; i < PSCI_ARGUMENTS; i++)
		arguments[i] = board_reg(virt->board, ARM64_X0 + i);
	switch (psci_call(&virt->psci, board_core(virt->board), arguments,
			  x0)) {
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
	}
	return rc;
}

/* The next one; those that have no drive are counted. */
static void add_disk(struct virt *virt)
{
	unsigned number = virt->disk_count++ % VIRT_DRIVES;

	add_virtio(virt, virt->options.drives[number].readonly ?
				 &virtio_block_readonly : &virtio_block,
		   &virt->disks[number]);
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

	if (virt->network)
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

static void add_network(struct virt *virt)
{
	virt->card_virtio = add_virtio(virt, &virtio_net, &virt->card);
}

static void add_entropy(struct virt *virt)
{
	add_virtio(virt, &virtio_entropy, NULL);
}

static void add_terminal(struct virt *virt)
{
	virt->terminal_virtio = add_virtio(virt, &virtio_console,
					   &virt->terminal);
}

/* In this order, so that names of disks are theirs, whatever else is there. */
static const struct virtio_kind {
	const char *name;	/* in that of the region */
	void (*add)(struct virt *virt);
} kinds[] = {
	{ "disk", add_disk }, { "net", add_network },
	{ "entropy", add_entropy }, { "console", add_terminal },
};

enum { KIND_DISK, KIND_NET, KIND_ENTROPY, KIND_TERMINAL, KINDS };

static void add_kind(struct virt *virt, const struct virtio_kind *kind)
{
	size_t used = strlen(virt->virtio_name);

	kind->add(virt);
	snprintf(virt->virtio_name + used, sizeof(virt->virtio_name) - used,
		 " %s", kind->name);
}

static void add_all(struct virt *virt)
{
	const struct virt_options *options = &virt->options;
	const unsigned counts[KINDS] = {
		options->drive_count, options->network, 1,
		options->has_virtio_console,
	};

	for (unsigned kind = 0; kind < KINDS; kind++)
		for (unsigned i = 0; i < counts[kind]; i++)
			add_kind(virt, &kinds[kind]);
}

/* Those that the name of a region has. */
static void add_named(struct virt *virt, const char *name)
{
	while (*name && virt->virtio_count < VIRT_VIRTIO_COUNT) {
		size_t size = strcspn(name, " ");

		for (unsigned kind = 0; kind < KINDS; kind++)
			if (size == strlen(kinds[kind].name) &&
			    !strncmp(name, kinds[kind].name, size))
				add_kind(virt, &kinds[kind]);
		name += size + strspn(name + size, " ");
	}
}

static int add_devices(struct virt *virt, struct failure *why)
{
	unsigned drives = virt->options.drive_count;

	snprintf(virt->virtio_name, sizeof(virt->virtio_name), "%s",
		 VIRT_VIRTIO_NAME);
	if (virt->options.kernel)
		add_all(virt);
	else
		add_named(virt, virt->options.devices);
	if (virt->disk_count == drives)
		return 0;
	return failed(why, ERR_INPUT, "the machine has %u disk%s, and there"
		      " %s %u --drive", virt->disk_count,
		      virt->disk_count == 1 ? "" : "s",
		      drives == 1 ? "is" : "are", drives);
}

/* What virtio devices are connected with. */
static int make_outside(struct virt *virt, struct failure *why)
{
	int rc = open_drives(virt, why);

	virt->card.send = on_send;
	virt->card.context = virt;
	virt->terminal.out = virt->options.said;
	virt->terminal.context = virt->options.context;
	if (!rc && virt->options.network)
		rc = make_network(virt, why);
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

/* The user's, and that it does not fit to this machine. */
static int take_tree(struct virt *virt, const struct virt_tree *about,
		     struct failure *why)
{
	const struct virt_options *options = &virt->options;
	struct start_file file;
	struct tree_absent absent;
	char text[300], others[40] = "";
	int rc = start_file_read(&file, options->tree, "the device tree",
				 options->memory, why);

	if (rc)
		return rc;
	rc = given_tree_make(&virt->tree, &absent, about, &file, why);
	start_file_release(&file);
	if (!rc && virt->tree.size > ALIGNMENT)
		rc = failed(why, ERR_INPUT, "the device tree '%s' has more than"
			    " 2 MiB", options->tree);
	if (rc || !absent.count)
		return rc;
	if (absent.count > 1)
		snprintf(others, sizeof(others), " and %u more",
			 absent.count - 1);
	snprintf(text, sizeof(text), "the device tree '%.100s' has what the"
		 " machine does not: '%s'%s", options->tree, absent.first,
		 others);
	options->warn(options->context, text);
	return 0;
}

static int make_tree(struct virt *virt, struct failure *why)
{
	struct virt_tree about = {
		.options = &virt->options,
		.initrd = initrd_place(virt),
		.initrd_size = virt->initrd.size,
		.virtio = virt->virtio_count,
	};

	about.regions = virt_regions(virt, &about.region_count);
	if (virt->options.tree)
		return take_tree(virt, &about, why);
	return virt_tree_make(&virt->tree, &about) ?
		       failed(why, ERR_NO_MEMORY, "out of memory") : 0;
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
	virt->regions[VIRT_DEVICES - 1].name = virt->virtio_name;
	virt->regions[VIRT_DEVICES] = (struct region){
		.start = VIRT_RAM,
		.end = VIRT_RAM + virt->options.memory,
		.prot = MAY_READ | MAY_WRITE | MAY_EXEC,
		.kind = REGION_ANON,
		.name = "ram",
	};
}

/* The clock on the wall goes on. */
void virt_reset(struct virt *virt)
{
	gic_init(&virt->gic, virt->options.cores);
	psci_init(&virt->psci, virt->options.cores);
	pl011_init(&virt->console, virt->options.out, virt->options.context);
	for (unsigned i = 0; i < virt->virtio_count; i++)
		virtio_reset(&virt->virtio[i]);
}

int virt_create(struct virt **out, const struct virt_options *options,
		struct failure *why)
{
	struct virt *virt = calloc(1, sizeof(*virt));
	int rc = 0;

	if (!virt)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	virt->options = *options;
	virt->memory = (struct virtio_memory){ guest_bytes, guest_store,
					       virt };
	if (options->kernel)
		rc = check_append(options, why);
	if (!rc && options->kernel)
		rc = read_images(virt, why);
	if (!rc)
		rc = add_devices(virt, why);
	list_regions(virt);
	if (!rc && options->kernel)
		rc = make_tree(virt, why);
	if (!rc)
		rc = make_outside(virt, why);
	if (rc) {
		virt_destroy(virt);
		return rc;
	}
	virt_reset(virt);
	pl031_init(&virt->clock, options->clock, seconds, virt);
	*out = virt;
	return 0;
}

void virt_destroy(struct virt *virt)
{
	if (!virt)
		return;
	start_file_release(&virt->kernel);
	start_file_release(&virt->initrd);
	output_release(&virt->tree);
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

void virt_connect(struct virt *virt, struct board *board)
{
	virt->board = board;
}

void virt_start(struct virt *virt, struct board *board)
{
	virt->board = board;
	guest_store(virt, VIRT_RAM, virt->tree.bytes, virt->tree.size);
	guest_store(virt, kernel_place(virt), virt->kernel.bytes,
		    virt->kernel.size);
	guest_store(virt, initrd_place(virt), virt->initrd.bytes,
		    virt->initrd.size);
	board_set_reg(board, ARM64_X0, VIRT_RAM);
	board_set_reg(board, ARM64_PC, kernel_place(virt));
}
