/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mps2.c - see mps2.h */
#include "vm/board/mps2.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "vm/board/cortex_m.h"
#include "vm/board/mps2_internal.h"

/* In ticks of the board: 25 MHz, and SysTick's other clock of 1 MHz. */
#define CYCLE 40u
#define REFERENCE_CYCLE 1000u

#define TEXT_MOST 160u

/* Interrupts. */
enum { IRQ_TIMER = 8, IRQ_DUAL = 10, IRQ_OVERRUN = 12 };
static const uint8_t uart_irqs[MPS2_UARTS] = { 0, 2, 4, 18, 20 };
static const uint8_t gpio_irqs[MPS2_GPIOS] = { 6, 7, 16, 17 };

/* What one board has, and another has not. */
struct mps2_board {
	const char *model;
	uint32_t cpuid, id;
	struct board_ram rams[BOARD_RAMS_MOST];
	unsigned ram_count;
};

#define MIB(n) (UINT64_C(n) << 20)
#define KIB(n) (UINT64_C(n) << 10)

#define SMALL_RAMS                                                             \
	{ { 0, MIB(4) }, { 0x01000000, KIB(16) }, { 0x20000000, MIB(4) },      \
	  { 0x21000000, MIB(16) } }

static const struct mps2_board an385 = {
	"cortex-m3", 0x410fc231, 0x41043850, SMALL_RAMS, 4,
};
static const struct mps2_board an386 = {
	"cortex-m4", 0x410fc240, 0x41043860, SMALL_RAMS, 4,
};
static const struct mps2_board an500 = {
	"cortex-m7", 0x411fc272, 0x41045000,
	{ { 0, MIB(4) }, { 0x20000000, MIB(4) }, { 0x60000000, MIB(16) } }, 3,
};

static uint64_t now(const struct mps2 *mps2)
{
	return board_ticks(mps2->board);
}

/* ------- devices, for the table ------- */

static uint64_t timer_read(struct mps2 *mps2, unsigned i, uint64_t offset)
{
	return cmsdk_timer_read(&mps2->timers[i], offset, now(mps2), CYCLE);
}

static void timer_write(struct mps2 *mps2, unsigned i, uint64_t offset,
			uint32_t value)
{
	cmsdk_timer_write(&mps2->timers[i], offset, value, now(mps2), CYCLE);
}

static uint64_t dual_read(struct mps2 *mps2, unsigned i, uint64_t offset)
{
	(void)i;
	return cmsdk_dual_read(&mps2->dual, offset, now(mps2), CYCLE);
}

static void dual_write(struct mps2 *mps2, unsigned i, uint64_t offset,
		       uint32_t value)
{
	(void)i;
	cmsdk_dual_write(&mps2->dual, offset, value, now(mps2), CYCLE);
}

static uint64_t dog_read(struct mps2 *mps2, unsigned i, uint64_t offset)
{
	(void)i;
	return cmsdk_watchdog_read(&mps2->dog, offset, now(mps2), CYCLE);
}

static void dog_write(struct mps2 *mps2, unsigned i, uint64_t offset,
		      uint32_t value)
{
	(void)i;
	cmsdk_watchdog_write(&mps2->dog, offset, value, now(mps2), CYCLE);
}

static uint64_t uart_read(struct mps2 *mps2, unsigned i, uint64_t offset)
{
	return cmsdk_uart_read(&mps2->uarts[i], offset);
}

static void uart_write(struct mps2 *mps2, unsigned i, uint64_t offset,
		       uint32_t value)
{
	cmsdk_uart_write(&mps2->uarts[i], offset, value);
}

static uint64_t gpio_read(struct mps2 *mps2, unsigned i, uint64_t offset)
{
	return cmsdk_gpio_read(&mps2->gpios[i], offset);
}

static void gpio_write(struct mps2 *mps2, unsigned i, uint64_t offset,
		       uint32_t value)
{
	cmsdk_gpio_write(&mps2->gpios[i], offset, value);
}

/* ------- registers of the FPGA ------- */

enum {
	FPGA_LEDS = 0, FPGA_BUTTONS = 8, FPGA_SECONDS = 0x10,
	FPGA_CENTISECONDS = 0x14, FPGA_CYCLES = 0x18, FPGA_PRESCALE = 0x1c,
	FPGA_SWITCHES = 0x28, FPGA_MISC = 0x4c,
};

#define SECOND UINT64_C(1000000000)

static uint64_t fpga_read(struct mps2 *mps2, unsigned i, uint64_t offset)
{
	(void)i;
	switch (offset) {
	case FPGA_LEDS:
		return mps2->leds;
	case FPGA_SECONDS:
		return (uint32_t)(now(mps2) / SECOND);
	case FPGA_CENTISECONDS:
		return (uint32_t)(now(mps2) / (SECOND / 100));
	case FPGA_CYCLES:
		return (uint32_t)(now(mps2) / CYCLE);
	case FPGA_PRESCALE:
		return mps2->prescale;
	case FPGA_MISC:
		return mps2->misc;
	default:
		return 0;	/* no button is pressed */
	}
}

static void fpga_write(struct mps2 *mps2, unsigned i, uint64_t offset,
		       uint32_t value)
{
	(void)i;
	if (offset == FPGA_LEDS)
		mps2->leds = value & 3;
	else if (offset == FPGA_PRESCALE)
		mps2->prescale = value;
	else if (offset == FPGA_MISC)
		mps2->misc = value;
}

enum { SCC_LEDS = 4, SCC_SWITCHES = 0xc, SCC_REVISION = 0x10, SCC_AID = 0xff8,
       SCC_ID = 0xffc };

static uint64_t scc_read(struct mps2 *mps2, unsigned i, uint64_t offset)
{
	(void)i;
	switch (offset) {
	case SCC_LEDS:
		return mps2->switches;
	case SCC_REVISION:
		return 2;
	case SCC_AID:
		return 0x00200008;
	case SCC_ID:
		return mps2->kind->id;
	default:
		return 0;
	}
}

static void scc_write(struct mps2 *mps2, unsigned i, uint64_t offset,
		      uint32_t value)
{
	(void)i;
	if (offset == SCC_LEDS)
		mps2->switches = value & 0xff;
}

static uint64_t space_read(struct mps2 *mps2, unsigned i, uint64_t offset)
{
	(void)i;
	return nvic_read(&mps2->nvic, offset, 4);
}

static void space_write(struct mps2 *mps2, unsigned i, uint64_t offset,
			 uint32_t value)
{
	(void)i;
	nvic_write(&mps2->nvic, offset, 4, value);
}

/* ------- the table ------- */

struct device {
	const char *name;
	uint32_t start;
	unsigned number;	/* of its kind */
	uint64_t (*read)(struct mps2 *mps2, unsigned number, uint64_t offset);
	void (*write)(struct mps2 *mps2, unsigned number, uint64_t offset,
		      uint32_t value);
};

#define DEVICE_SIZE 0x1000u

/* Sorted by address; only the console takes what is typed. */
static const struct device devices[] = {
	{ "timer0", 0x40000000, 0, timer_read, timer_write },
	{ "timer1", 0x40001000, 1, timer_read, timer_write },
	{ "dual timer", 0x40002000, 0, dual_read, dual_write },
	{ "console uart0", 0x40004000, 0, uart_read, uart_write },
	{ "uart1", 0x40005000, 1, uart_read, uart_write },
	{ "uart2", 0x40006000, 2, uart_read, uart_write },
	{ "uart3", 0x40007000, 3, uart_read, uart_write },
	{ "watchdog", 0x40008000, 0, dog_read, dog_write },
	{ "uart4", 0x40009000, 4, uart_read, uart_write },
	{ "gpio0", 0x40010000, 0, gpio_read, gpio_write },
	{ "gpio1", 0x40011000, 1, gpio_read, gpio_write },
	{ "gpio2", 0x40012000, 2, gpio_read, gpio_write },
	{ "gpio3", 0x40013000, 3, gpio_read, gpio_write },
	{ "fpga", 0x40028000, 0, fpga_read, fpga_write },
	{ "system control", 0x4002f000, 0, scc_read, scc_write },
	{ "system control space", NVIC_BASE, 0, space_read, space_write },
};

#define DEVICES (sizeof(devices) / sizeof(devices[0]))

static const struct device *find(uint64_t addr)
{
	for (size_t i = 0; i < DEVICES; i++)
		if (addr - devices[i].start < DEVICE_SIZE)
			return &devices[i];
	return NULL;
}

/* ------- what is nowhere ------- */

static void tell(struct mps2 *mps2, uint64_t addr, bool writes)
{
	uint64_t key = (addr & ~UINT64_C(3)) | writes;
	char text[TEXT_MOST];

	for (unsigned i = 0; i < mps2->told_count; i++)
		if (mps2->told[i] == key)
			return;
	if (mps2->told_count == MPS2_TOLD_MOST)
		return;
	mps2->told[mps2->told_count++] = key;
	snprintf(text, sizeof(text), "the firmware %s 0x%llx, where this"
		 " machine has no device, near 0x%llx",
		 writes ? "writes to" : "reads", (unsigned long long)addr,
		 (unsigned long long)board_reg(mps2->board, CM_PC));
	mps2->options.warn(mps2->options.context, text);
}

/* ------- access ------- */

static uint64_t part_of(uint64_t word, uint64_t addr, unsigned size)
{
	return word >> 8 * (addr & 3) & (UINT64_MAX >> (64 - 8 * size));
}

bool mps2_read_device(struct mps2 *mps2, uint64_t addr, unsigned size,
		      uint64_t *value)
{
	const struct device *device = find(addr);
	const struct device_register *own =
		device_registers_find(&mps2->registers, addr);
	uint64_t word = own ? own->value : 0;

	if (device)
		word = device->read(mps2, device->number,
				    (addr - device->start) & ~UINT64_C(3));
	*value = part_of(word, addr, size);
	return device || own;
}

/* Bytes of a register that a file describes. */
static void write_own(struct device_register *own, uint64_t addr, unsigned size,
		      uint64_t value)
{
	uint32_t mask = (uint32_t)(UINT64_MAX >> (64 - 8 * size))
			<< 8 * (addr & 3);

	if (!own->is_read_only)
		own->value = (own->value & ~mask) |
			     ((uint32_t)value << 8 * (addr & 3) & mask);
}

bool mps2_write_device(struct mps2 *mps2, uint64_t addr, unsigned size,
		       uint64_t value)
{
	const struct device *device = find(addr);
	struct device_register *own =
		device_registers_find(&mps2->registers, addr);

	if (device)
		device->write(mps2, device->number, addr - device->start,
			      (uint32_t)value);
	else if (own)
		write_own(own, addr, size, value);
	return device || own;
}

struct cmsdk_uart *mps2_uart(struct mps2 *mps2, uint64_t addr)
{
	const struct device *device = find(addr);

	return device && device->read == uart_read ?
		       &mps2->uarts[device->number] : NULL;
}

struct cmsdk_uart *mps2_uart_of(struct mps2 *mps2, unsigned number)
{
	for (unsigned i = 0; i < MPS2_UARTS; i++)
		if (number == (unsigned)CM_IRQ + uart_irqs[i])
			return &mps2->uarts[i];
	return NULL;
}

/* ------- as a live machine ------- */

static uint64_t live_read(void *live, uint64_t addr, unsigned size)
{
	struct mps2 *mps2 = live;
	uint64_t value;

	board_look_soon(mps2->board);
	if (!mps2_read_device(mps2, addr, size, &value))
		tell(mps2, addr, false);
	return value;
}

static void live_write(void *live, uint64_t addr, unsigned size, uint64_t value)
{
	struct mps2 *mps2 = live;

	board_look_soon(mps2->board);
	if (!mps2_write_device(mps2, addr, size, value))
		tell(mps2, addr, true);
}

static void set_uart_lines(struct mps2 *mps2)
{
	bool overran = false;

	for (unsigned i = 0; i < MPS2_UARTS; i++) {
		const struct cmsdk_uart *uart = &mps2->uarts[i];

		nvic_set_line(&mps2->nvic, uart_irqs[i], uart->received);
		nvic_set_line(&mps2->nvic, uart_irqs[i] + 1u, uart->sent);
		overran |= uart->overran && uart->control & 0x20;
	}
	nvic_set_line(&mps2->nvic, IRQ_OVERRUN, overran);
}

/* More was typed than one register holds. */
static void feed_console(struct mps2 *mps2)
{
	struct cmsdk_uart *uart = &mps2->uarts[0];
	struct semihosting *typed = &mps2->semihosting;
	uint8_t byte;

	if (uart->control & 2 && !uart->has_byte &&
	    semihosting_take(typed, &byte, 1))
		cmsdk_uart_receive(uart, byte);
}

void mps2_set_lines(struct mps2 *mps2)
{
	bool barked = mps2->dog.interrupts;

	feed_console(mps2);
	for (unsigned i = 0; i < MPS2_TIMERS; i++) {
		cmsdk_timer_look(&mps2->timers[i], now(mps2), CYCLE);
		nvic_set_line(&mps2->nvic, IRQ_TIMER + i,
			      mps2->timers[i].interrupts);
	}
	cmsdk_dual_look(&mps2->dual, now(mps2), CYCLE);
	nvic_set_line(&mps2->nvic, IRQ_DUAL, cmsdk_dual_interrupts(&mps2->dual));
	cmsdk_watchdog_look(&mps2->dog, now(mps2), CYCLE);
	if (mps2->dog.interrupts && !barked)
		nvic_raise_nmi(&mps2->nvic);
	for (unsigned i = 0; i < MPS2_GPIOS; i++)
		nvic_set_line(&mps2->nvic, gpio_irqs[i],
			      mps2->gpios[i].status);
	set_uart_lines(mps2);
	nvic_sample(&mps2->nvic);
}

static bool live_interrupts(void *live, unsigned *number)
{
	struct mps2 *mps2 = live;

	mps2_set_lines(mps2);
	return nvic_interrupts(&mps2->nvic, number);
}

static void live_taken(void *live, unsigned number)
{
	struct mps2 *mps2 = live;

	nvic_taken(&mps2->nvic, number);
}

static bool live_wakes(void *live, unsigned core)
{
	struct mps2 *mps2 = live;

	(void)core;
	mps2_set_lines(mps2);
	return nvic_wakes(&mps2->nvic);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t live_next(void *live)
{
	const struct mps2 *mps2 = live;
	uint64_t next = nvic_next(&mps2->nvic);

	for (unsigned i = 0; i < MPS2_TIMERS; i++)
		next = earlier(next, cmsdk_timer_next(&mps2->timers[i]));
	next = earlier(next, cmsdk_dual_next(&mps2->dual));
	return earlier(next, cmsdk_watchdog_next(&mps2->dog));
}

static bool live_ends(void *live, unsigned *end)
{
	const struct mps2 *mps2 = live;

	*end = MACHINE_RESET;
	return mps2->nvic.wants_reset || mps2->dog.resets;
}

static void live_called(void *live, bool closed, struct live_answer *answer)
{
	struct mps2 *mps2 = live;

	semihosting_call(&mps2->semihosting, closed, answer);
}

static size_t live_room(const void *live)
{
	const struct mps2 *mps2 = live;

	return semihosting_room(&mps2->semihosting);
}

static void live_type(void *live, const uint8_t *bytes, size_t count)
{
	struct mps2 *mps2 = live;

	semihosting_type(&mps2->semihosting, bytes, count);
	board_look_soon(mps2->board);
}

/* ------- making one ------- */

static int read_registers(struct mps2 *mps2, struct failure *why)
{
	const struct mps2_options *own = &mps2->options.mps2;
	int rc = 0;

	for (unsigned i = 0; i < own->device_file_count && !rc; i++)
		rc = device_registers_read(&mps2->registers,
					   own->device_files[i], why);
	for (size_t i = 0; i < mps2->registers.count && !rc; i++) {
		const struct device_register *one = &mps2->registers.list[i];
		uint32_t high = one->addr >> 28;

		if (find(one->addr) || !(high == 4 || high == 5 || high >= 10) ||
		    one->addr >= 0xe0000000)
			rc = failed(why, ERR_INPUT, "there can be no register"
				    " '%s' at 0x%x: the machine has something"
				    " there, or no devices", one->name,
				    one->addr);
	}
	return rc;
}

static int by_start(const void *left, const void *right)
{
	const struct region *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* A page of registers of a file's may be there already. */
static int add_region(struct mps2 *mps2, uint64_t start, uint64_t size,
		      const char *name, bool is_ram)
{
	for (size_t i = 0; i < mps2->region_count; i++)
		if (mps2->regions[i].start == start)
			return 0;
	if (array_reserve(mps2->regions, mps2->region_count + 1,
			  mps2->region_room))
		return ERR_NO_MEMORY;
	mps2->regions[mps2->region_count++] = (struct region){
		.start = start, .end = start + size,
		.prot = MAY_READ | MAY_WRITE | (is_ram ? MAY_EXEC : 0),
		.kind = is_ram ? REGION_ANON : REGION_DEVICE,
		.name = name,
	};
	return 0;
}

static int list_regions(struct mps2 *mps2, struct failure *why)
{
	const struct device_registers *own = &mps2->registers;
	int rc = 0;

	for (unsigned i = 0; i < mps2->kind->ram_count && !rc; i++)
		rc = add_region(mps2, mps2->kind->rams[i].base,
				mps2->kind->rams[i].size, "ram", true);
	for (size_t i = 0; i < DEVICES && !rc; i++)
		rc = add_region(mps2, devices[i].start, DEVICE_SIZE,
				devices[i].name, false);
	for (size_t i = 0; i < own->count && !rc; i++)
		rc = add_region(mps2, own->list[i].addr & ~(GUEST_PAGE - 1),
				GUEST_PAGE, own->list[i].name, false);
	if (rc)
		return failed(why, rc, "out of memory");
	qsort(mps2->regions, mps2->region_count, sizeof(*mps2->regions),
	      by_start);
	return 0;
}

/* What is sent on the other lines goes nowhere. */
static void no_byte(void *context, uint8_t byte)
{
	(void)context;
	(void)byte;
}

static void start_devices(struct mps2 *mps2)
{
	nvic_init(&mps2->nvic, mps2->board, mps2->kind->cpuid, CYCLE,
		  REFERENCE_CYCLE);
	for (unsigned i = 0; i < MPS2_UARTS; i++)
		mps2->uarts[i].out = no_byte;
	mps2->uarts[0].out = mps2->options.out;
	mps2->uarts[0].context = mps2->options.context;
	cmsdk_watchdog_init(&mps2->dog);
}

static void live_destroy(void *live)
{
	struct mps2 *mps2 = live;

	firmware_release(&mps2->firmware);
	device_registers_release(&mps2->registers);
	semihosting_release(&mps2->semihosting);
	free(mps2->regions);
	free(mps2);
}

/* Heap and stack of programs that ask: the RAM behind 0x20000000. */
static int start_semihosting(struct mps2 *mps2, struct failure *why)
{
	const struct mps2_options *options = &mps2->options.mps2;
	struct semihosting *own = &mps2->semihosting;
	uint64_t end = 0x20000000 + MIB(4);
	const char *append = options->append ? options->append : "";

	if (strlen(append) >= sizeof(own->command_line))
		return failed(why, ERR_INPUT, "the program's command line has"
			      " more than %zu bytes",
			      sizeof(own->command_line) - 1);
	memcpy(own->command_line, append, strlen(append));
	own->said = mps2->options.said;
	own->context = mps2->options.context;
	own->clock = options->clock;
	own->heap = 0;		/* behind the program's data */
	own->heap_end = end - MIB(1);
	own->stack = end;
	own->stack_end = end - MIB(1);
	return 0;
}

static int create(void **out, const struct mps2_board *kind,
		  const struct live_options *options, struct failure *why)
{
	struct mps2 *mps2 = calloc(1, sizeof(*mps2));
	int rc;

	if (!mps2)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	mps2->kind = kind;
	mps2->options = *options;
	start_devices(mps2);
	semihosting_init(&mps2->semihosting);
	rc = start_semihosting(mps2, why);
	if (!rc && options->mps2.firmware)
		rc = firmware_read(&mps2->firmware, options->mps2.firmware,
				   kind->rams, kind->ram_count, why);
	if (!rc)
		rc = read_registers(mps2, why);
	if (!rc)
		rc = list_regions(mps2, why);
	if (rc) {
		live_destroy(mps2);
		return rc;
	}
	*out = mps2;
	return 0;
}

static unsigned live_rams(const void *live, struct board_ram *out)
{
	const struct mps2 *mps2 = live;

	memcpy(out, mps2->kind->rams, sizeof(mps2->kind->rams));
	return mps2->kind->ram_count;
}

static const struct region *live_regions(const void *live, size_t *count)
{
	const struct mps2 *mps2 = live;

	*count = mps2->region_count;
	return mps2->regions;
}

/* ------- its start ------- */

/* As after a reset: the first two vectors; or, without any, ELF's entry. */
static int start_processor(struct mps2 *mps2, struct failure *why)
{
	uint32_t vectors[2];

	memcpy(vectors, board_bytes(mps2->board, 0, sizeof(vectors)),
	       sizeof(vectors));
	if (!vectors[0] && !vectors[1]) {
		if (!mps2->firmware.entry)
			return failed(why, ERR_INPUT, "'%s' has no vectors at"
				      " address 0, and no entry",
				      mps2->options.mps2.firmware);
		vectors[0] = (uint32_t)mps2->semihosting.stack;
		vectors[1] = (uint32_t)mps2->firmware.entry | 1;
	}
	board_set_reg(mps2->board, CM_XPSR, vectors[1] & 1 ? XPSR_THUMB : 0);
	board_set_reg(mps2->board, CM_MSP, vectors[0] & ~3u);
	board_set_reg(mps2->board, CM_LR, UINT32_MAX);
	board_set_reg(mps2->board, CM_PC, vectors[1] & ~1u);
	return 0;
}

static void load(void *context, uint64_t addr, const void *bytes, size_t size)
{
	struct mps2 *mps2 = context;

	board_load(mps2->board, addr, bytes, size);
	mps2->options.stored(mps2->options.context, addr, size);
}

static int live_start(void *live, struct board *board, struct failure *why)
{
	struct mps2 *mps2 = live;

	mps2_connect(mps2, board);
	firmware_load(&mps2->firmware, load, mps2);
	return start_processor(mps2, why);
}

/* Files that semihosting has open stay so, and what was typed is still there.
 */
void mps2_reset(void *live)
{
	struct mps2 *mps2 = live;

	memset(mps2->uarts, 0, sizeof(mps2->uarts));
	memset(mps2->timers, 0, sizeof(mps2->timers));
	memset(mps2->gpios, 0, sizeof(mps2->gpios));
	mps2->dual = (struct cmsdk_dual){ 0 };
	mps2->dog = (struct cmsdk_watchdog){ 0 };
	mps2->leds = mps2->switches = mps2->misc = mps2->prescale = 0;
	device_registers_reset(&mps2->registers);
	start_devices(mps2);
}

static const char *live_image(const struct live_options *options)
{
	return options->mps2.firmware;
}

#define MPS2_LIVE(board, own_name)                                             \
	static int create_##board(void **out,                                  \
				  const struct live_options *options,          \
				  struct failure *why)                         \
	{                                                                      \
		return create(out, &(board), options, why);                    \
	}                                                                      \
	static const char *model_##board(const struct live_options *options)   \
	{                                                                      \
		(void)options;                                                 \
		return (board).model;                                          \
	}                                                                      \
	const struct live_kind live_mps2_##board = {                           \
		.name = own_name,                                              \
		.arch = ARCH_CORTEX_M,                                         \
		.model = model_##board, .image = live_image,                   \
		.create = create_##board, .destroy = live_destroy,             \
		.rams = live_rams, .start = live_start, .reset = mps2_reset,   \
		.regions = live_regions,                                       \
		.read = live_read, .write = live_write,                        \
		.interrupts = live_interrupts, .taken = live_taken,            \
		.wakes = live_wakes, .next = live_next, .ends = live_ends,     \
		.called = live_called, .room = live_room, .type = live_type,   \
		.connect = mps2_connect,                                       \
		.follow_read = mps2_follow_read,                               \
		.follow_write = mps2_follow_write,                             \
		.follow_interrupt = mps2_follow_interrupt,                     \
		.follow_stores = mps2_follow_stores,                           \
		.follow_call = mps2_follow_call, .state = mps2_state,          \
	}

MPS2_LIVE(an385, "mps2-an385");
MPS2_LIVE(an386, "mps2-an386");
MPS2_LIVE(an500, "mps2-an500");
