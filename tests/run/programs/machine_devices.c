/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_devices.c - a kernel of its own, which uses its machine's devices
 *
 * It reads code from the first disk and executes it, over and over in one
 * place; writes and reads back; breaks rules; asks for entropy, and for the
 * address of its router; talks on the virtio console.  Between what it asks and
 * the next it lingers, for key frames are there.  It says a line of each;
 * power goes off at its end.  No page tables; interrupts only wake it.  With
 * -DASKS, it only reads and writes the first disk, when something is typed.
 *
 * Sector 8 n of the first disk has code that returns n; so does the first
 * sector of it.  The second disk cannot be written.
 */
#include "machine_head.h"

#define VIRTIO UINT64_C(0x0a000000)
#define DEVICES 32
#define INTERRUPT 48

enum { KIND_NET = 1, KIND_BLOCK, KIND_CONSOLE, KIND_ENTROPY };
enum {
	MAGIC = 0, VERSION = 4, KIND = 8, DRIVER_FEATURES = 0x20,
	DRIVER_WORD = 0x24, QUEUE = 0x30, SIZE = 0x38, READY = 0x44,
	NOTIFY = 0x50, INTERRUPTS = 0x60, SEEN = 0x64, STATUS = 0x70,
	TABLE = 0x80, AVAILABLE = 0x90, USED = 0xa0,
};

#define CODES 40
#define QUEUE_SIZE 8
#define SECTOR 512
#define PAGE 4096


struct queue {
	struct {
		uint64_t addr;
		uint32_t size;
		uint16_t flags, next;
	} table[QUEUE_SIZE];
	struct {
		uint16_t flags, index, ring[QUEUE_SIZE], event;
	} available;
	struct {
		uint16_t flags, index;
		struct {
			uint32_t head, size;
		} ring[QUEUE_SIZE];
	} used __attribute__((aligned(8)));
} __attribute__((aligned(16)));

struct device {
	uint64_t at;
	unsigned number;
	struct queue *queues;	/* two */
};

static struct queue queues[DEVICES][2];
static uint8_t code[PAGE] __attribute__((aligned(PAGE)));
static uint8_t data[2 * PAGE] __attribute__((aligned(PAGE)));
static uint8_t back[2 * PAGE] __attribute__((aligned(PAGE)));

/* ------- the processor, and its console ------- */

static volatile uint32_t *reg(uint64_t addr)
{
	return (volatile uint32_t *)addr;
}

static void print(const char *text)
{
	while (*text)
		*reg(UART) = (uint8_t)*text++;
}

static void say(const char *what, bool is_so)
{
	print(what);
	print(is_so ? "\n" : ": wrong\n");
}

static void barrier(void)
{
	asm volatile("dsb sy" ::: "memory");
}

/* For more than 20,000 instructions. */
static void linger(void)
{
	for (unsigned i = 0; i < 12000; i++)
		asm volatile("" ::: "memory");
}

/* ------- queues ------- */

static void start_queue(const struct device *device, unsigned number)
{
	struct queue *queue = &device->queues[number];
	uint64_t at = device->at;

	*reg(at + QUEUE) = number;
	*reg(at + SIZE) = QUEUE_SIZE;
	*reg(at + TABLE) = (uint32_t)(uint64_t)queue->table;
	*reg(at + AVAILABLE) = (uint32_t)(uint64_t)&queue->available;
	*reg(at + USED) = (uint32_t)(uint64_t)&queue->used;
	*reg(at + READY) = 1;
	queue->available.index = queue->used.index = 0;
}

static void start_device(const struct device *device)
{
	uint64_t at = device->at;

	*reg(at + STATUS) = 0;
	*reg(at + STATUS) = 3;
	*reg(at + DRIVER_WORD) = 1;
	*reg(at + DRIVER_FEATURES) = 1;
	*reg(at + STATUS) = 11;
	start_queue(device, 0);
	start_queue(device, 1);
	*reg(at + STATUS) = 15;
}

/* The number'th device of a kind. */
static bool find(uint32_t kind, unsigned number, struct device *out)
{
	for (unsigned i = 0; i < DEVICES; i++) {
		out->at = VIRTIO + 0x200 * i;
		out->number = i;
		out->queues = queues[i];
		if (*reg(out->at + KIND) != kind || number--)
			continue;
		start_device(out);
		*reg(GICD + 0x100 + (INTERRUPT + i) / 32 * 4) =
			1u << (INTERRUPT + i) % 32;
		return *reg(out->at + MAGIC) == 0x74726976 &&
		       *reg(out->at + VERSION) == 2 &&
		       *reg(out->at + STATUS) == 15;
	}
	return false;
}

static void describe(struct queue *queue, unsigned i, const volatile void *addr,
		     uint32_t size, unsigned flags)
{
	queue->table[i].addr = (uint64_t)addr;
	queue->table[i].size = size;
	queue->table[i].flags = (uint16_t)flags;
	queue->table[i].next = (uint16_t)(i + 1);
}

static void notify(const struct device *device, unsigned number)
{
	struct queue *queue = &device->queues[number];

	queue->available.ring[queue->available.index % QUEUE_SIZE] = 0;
	barrier();
	queue->available.index++;
	barrier();
	*reg(device->at + NOTIFY) = number;
}

/* Until it has used what it got: an interrupt says so. */
static uint32_t wait_for(const struct device *device, unsigned number)
{
	struct queue *queue = &device->queues[number];
	volatile uint16_t *index = &queue->used.index;
	uint32_t interrupt;

	while (*index != queue->available.index)
		asm volatile("wfi" ::: "memory");
	barrier();
	*reg(device->at + SEEN) = *reg(device->at + INTERRUPTS);
	interrupt = *reg(GICC + 0xc);
	*reg(GICC + 0x10) = interrupt;
	if ((interrupt & 0x3ff) != INTERRUPT + device->number)
		print("another interrupt\n");
	return queue->used.ring[(uint16_t)(*index - 1) % QUEUE_SIZE].size;
}

/* ------- disks ------- */

static unsigned transfer(const struct device *disk, uint32_t type,
			 uint64_t sector, volatile void *bytes, uint32_t size)
{
	static struct {
		uint32_t type, zero;
		uint64_t sector;
	} header;
	static volatile uint8_t status;
	struct queue *queue = &disk->queues[0];

	header.type = type;
	header.sector = sector;
	status = 0xff;
	describe(queue, 0, &header, sizeof(header), 1);
	describe(queue, 1, bytes, size / 2, type ? 1 : 3);
	describe(queue, 2, (volatile uint8_t *)bytes + size / 2,
		 size - size / 2, type ? 1 : 3);
	describe(queue, 3, &status, 1, 2);
	notify(disk, 0);
	wait_for(disk, 0);
	return status;
}

static bool execute_read_code(const struct device *disk)
{
	unsigned (*function)(void) = (unsigned (*)(void))(uint64_t)code;
	unsigned sum = 0;

	for (unsigned i = 0; i < CODES; i++) {
		if (transfer(disk, 0, 8 * i, code, i % 2 ? SECTOR : PAGE))
			return false;
		asm volatile("ic ivau, %0; dsb sy; isb" :: "r"(code)
			     : "memory");
		sum += function();
	}
	return sum == CODES * (CODES - 1) / 2;
}

static bool write_and_read(const struct device *disk)
{
	unsigned wrong = 0;

	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + i / PAGE);
	if (transfer(disk, 1, 1000, data, sizeof(data)) ||
	    transfer(disk, 0, 1000, back, sizeof(back)))
		return false;
	for (unsigned i = 0; i < sizeof(data); i++)
		wrong += data[i] != back[i];
	return !wrong;
}

static void use_disks(void)
{
	struct device disk, readonly;

	say("disk", find(KIND_BLOCK, 0, &disk));
	say("code", execute_read_code(&disk));
	say("written", write_and_read(&disk));
	say("behind its end", transfer(&disk, 0, 1 << 20, data, PAGE) == 1);
	say("unknown", transfer(&disk, 77, 0, data, PAGE) == 2);
	say("readonly", find(KIND_BLOCK, 1, &readonly) &&
	    !transfer(&readonly, 0, 0, back, SECTOR) &&
	    transfer(&readonly, 1, 0, data, SECTOR) == 1);
}

/* ------- other devices ------- */

static void use_entropy(void)
{
	struct device entropy;
	uint32_t size;

	say("entropy", find(KIND_ENTROPY, 0, &entropy));
	describe(&entropy.queues[0], 0, data, 32, 2);
	notify(&entropy, 0);
	size = wait_for(&entropy, 0);
	say("random", size == 32);
}

static bool needs_reset(const struct device *device)
{
	for (unsigned i = 0; i < 1000; i++)
		if (*reg(device->at + STATUS) & 64)
			return true;
	return false;
}

/* A chain without an end; one that is nowhere.  A reset mends it. */
static void break_rules(void)
{
	struct device entropy;

	find(KIND_ENTROPY, 0, &entropy);
	describe(&entropy.queues[0], 0, data, 32, 3);
	entropy.queues[0].table[0].next = 0;
	notify(&entropy, 0);
	linger();
	say("endless", needs_reset(&entropy));
	find(KIND_ENTROPY, 0, &entropy);
	describe(&entropy.queues[0], 0, (void *)0x100, 32, 2);
	notify(&entropy, 0);
	say("nowhere", needs_reset(&entropy));
	find(KIND_ENTROPY, 0, &entropy);
	say("mended", *reg(entropy.at + STATUS) == 15);
}

static void use_network(void)
{
	static const uint8_t request[12 + 42] = {
		[12] = 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0x52, 0x54, 0, 0x12, 0x34, 0x56, 8, 6,
		0, 1, 8, 0, 6, 4, 0, 1,
		0x52, 0x54, 0, 0x12, 0x34, 0x56, 10, 0, 2, 15,
		0, 0, 0, 0, 0, 0, 10, 0, 2, 2,
	};
	struct device card;

	if (!find(KIND_NET, 0, &card))
		return;
	describe(&card.queues[1], 0, request, sizeof(request), 0);
	describe(&card.queues[0], 0, data, sizeof(data), 3);
	card.queues[0].table[0].next = 0;
	notify(&card, 0);
	linger();
	say("frames wait", *reg(card.at + STATUS) == 15);
	notify(&card, 1);
	say("endless frames", needs_reset(&card));
	linger();
	find(KIND_NET, 0, &card);
	describe(&card.queues[0], 0, data, sizeof(data), 2);
	notify(&card, 0);
	notify(&card, 1);
	wait_for(&card, 0);
	say("the router's address", data[12 + 21] == 2 && data[12 + 31] == 2);
}

static void use_console(void)
{
	static const char text[] = "by virtio\n";
	struct device console;

	if (!find(KIND_CONSOLE, 0, &console))
		return;
	describe(&console.queues[1], 0, text, sizeof(text) - 1, 0);
	notify(&console, 1);
	wait_for(&console, 1);
	for (;;) {
		describe(&console.queues[0], 0, data, PAGE, 2);
		notify(&console, 0);
		describe(&console.queues[1], 0, data,
			 wait_for(&console, 0), 0);
		notify(&console, 1);
		wait_for(&console, 1);
		for (unsigned i = 0; i < PAGE && data[i]; i++)
			if (data[i] == '\n')
				return;
	}
}

static char typed(void)
{
	while (*reg(UART + 0x18) & 0x10)
		asm volatile("" ::: "memory");
	return (char)*reg(UART);
}

/* r: reads behind a megabyte of the first disk; w: writes there; e: ends. */
static void serve(void)
{
	struct device disk;

	find(KIND_BLOCK, 0, &disk);
	print("asks\n");
	for (;;)
		switch (typed()) {
		case 'r':
			print(transfer(&disk, 0, 2048, back, PAGE) ?
				      "not read\n" : "read\n");
			break;
		case 'w':
			print(transfer(&disk, 1, 2048, data, PAGE) ?
				      "not written\n" : "written\n");
			break;
		case 'e':
			return;
		}
}

static void use_all(void)
{
	use_disks();
	use_entropy();
	break_rules();
	use_network();
	use_console();
}

void main(void)
{
	*reg(GICD) = 1;
	*reg(GICC + 4) = 0xff;
	*reg(GICC) = 1;
#ifdef ASKS
	serve();
#else
	use_all();
#endif
	print("bye\n");
}
