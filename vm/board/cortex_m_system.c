/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cortex_m_system.c - what ARMv7-M does with addresses that are not RAM
 *
 * Some are registers of its own (the system control space), some are bits of
 * others, most are devices.  What is written to its own is kept here, also in a
 * replay; all reads ask the world.  Where nothing can be, an access fails.
 *
 * Source: ARMv7-M Architecture Reference Manual, B3.1 (the address map), B3.2.2
 * (registers); Cortex-M3 Technical Reference Manual, 3.7 (bit-banding).
 */
#include "vm/board/cortex_m.h"

#define SYSTEM_SPACE 0xe000e000u
#define SPACE_SIZE 0x1000u

/* Offsets in it. */
#define PRIORITIES_AT 0x400u	/* of interrupts, a byte each */
#define ICSR_AT 0xd04u
#define VTOR_AT 0xd08u
#define AIRCR_AT 0xd0cu
#define SCR_AT 0xd10u
#define CCR_AT 0xd14u
#define HANDLERS_AT 0xd18u	/* priorities of exceptions from 4 on */
#define SHCSR_AT 0xd24u
#define CFSR_AT 0xd28u
#define CPACR_AT 0xd88u

#define AIRCR_KEY 0x05fau
#define AIRCR_GROUP 0x700u
#define VTOR_BITS 0xffffff80u
#define SHCSR_ENABLES 0x70000u
#define CPACR_FLOAT 0xf00000u
#define CCR_BITS 0x31bu

/* ------- its registers ------- */

static void set_priorities(struct board *board, unsigned first, unsigned size,
			   uint64_t value)
{
	for (unsigned i = 0; i < size && first + i < CM_EXCEPTIONS; i++)
		board->cortex_m->priorities[first + i] =
			value >> 8 * i & CM_PRIORITY_BITS;
}

/* What translations depend on. */
static void set_and_drop(struct board *board, unsigned reg, uint32_t value)
{
	if (*cm_system(board, reg) == value)
		return;
	*cm_system(board, reg) = value;
	engine_align_all(board->engine,
			 *cm_system(board, CM_CCR) & CCR_UNALIGN_TRP);
	board->drops_all = true;
}

/* Active bits are those of exceptions 4 to 6, 11, 12, 14 and 15. */
static void set_handlers(struct board *board, uint32_t value)
{
	static const struct {
		uint8_t bit, exception;
	} bits[] = {
		{ 0, 4 }, { 1, 5 }, { 3, 6 }, { 7, 11 }, { 8, 12 },
		{ 10, 14 }, { 11, 15 },
	};
	uint64_t *active = &board->cortex_m->active;

	*cm_system(board, CM_SHCSR) = value & SHCSR_ENABLES;
	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		uint64_t one = UINT64_C(1) << bits[i].exception;

		*active = value >> bits[i].bit & 1 ? *active | one :
						     *active & ~one;
	}
}

static void set_group(struct board *board, uint32_t value)
{
	if (value >> 16 == AIRCR_KEY)
		*cm_system(board, CM_AIRCR) = value & AIRCR_GROUP;
}

static void set_float(struct board *board, unsigned offset, uint32_t value)
{
	if (!board->cortex_m->has_float)
		return;
	switch (offset) {
	case CPACR_AT:
		set_and_drop(board, CM_CPACR, value & CPACR_FLOAT);
		break;
	case 0xf34:
		*cm_system(board, CM_FPCCR) = value & 0xc000017b;
		break;
	case 0xf38:
		*cm_system(board, CM_FPCAR) = value & ~7u;
		break;
	case 0xf3c:
		*cm_system(board, CM_FPDSCR) = value & 0x07c00000;
		break;
	}
}

static void set_word(struct board *board, unsigned offset, uint32_t value)
{
	switch (offset) {
	case VTOR_AT:
		*cm_system(board, CM_VTOR) = value & VTOR_BITS;
		break;
	case AIRCR_AT:
		set_group(board, value);
		break;
	case SCR_AT:
		*cm_system(board, CM_SCR) = value & 0x16;
		break;
	case CCR_AT:
		set_and_drop(board, CM_CCR, value & CCR_BITS);
		break;
	case SHCSR_AT:
		set_handlers(board, value);
		break;
	case 0xd2c:		/* one clears */
		*cm_system(board, CM_HFSR) &= ~value;
		break;
	case 0xd30:
		*cm_system(board, CM_DFSR) &= ~value;
		break;
	case 0xd34:
		*cm_system(board, CM_MMFAR) = value;
		break;
	case 0xd38:
		*cm_system(board, CM_BFAR) = value;
		break;
	case 0xd3c:
		*cm_system(board, CM_AFSR) &= ~value;
		break;
	default:
		set_float(board, offset, value);
	}
}

static void write_system(struct board *board, unsigned offset, unsigned size,
			 uint64_t value)
{
	if (offset - PRIORITIES_AT < CM_EXCEPTIONS - CM_IRQ)
		set_priorities(board, CM_IRQ + offset - PRIORITIES_AT, size,
			       value);
	else if (offset - HANDLERS_AT < CM_IRQ - CM_MEM_FAULT)
		set_priorities(board, CM_MEM_FAULT + offset - HANDLERS_AT, size,
			       value);
	else if (offset - CFSR_AT < 4)
		*cm_system(board, CM_CFSR) &=
			~((uint32_t)value << 8 * (offset - CFSR_AT));
	else if (size == 4)
		set_word(board, offset, (uint32_t)value);
}

/* ------- bits of memory ------- */

#define BITS_SIZE 0x2000000u
#define RAM_BITS 0x22000000u
#define DEVICE_BITS 0x42000000u
#define BITS_FROM 0x02000000u	/* below the bits is what they are of */

/* The byte of RAM that a bit is in; NULL: none is there. */
static uint8_t *bit_of_ram(const struct board *board, uint32_t addr)
{
	return ram_at(&board->ram, RAM_BITS - BITS_FROM +
		      (addr - RAM_BITS) / 32, 1);
}

static bool is_bit(const struct board *board, uint32_t addr, uint32_t first)
{
	return board->cortex_m->has_bit_band && addr - first < BITS_SIZE;
}

static uint64_t read_device(struct board *board, uint64_t addr, unsigned size)
{
	return board->world->read(board->world->context, addr, size);
}

static uint32_t device_word(uint32_t addr)
{
	return (DEVICE_BITS - BITS_FROM + (addr - DEVICE_BITS) / 32) & ~3u;
}

/* ------- addresses ------- */

/* The peripherals, external devices, and the private bus. */
static bool is_device(uint32_t addr)
{
	return (addr >= 0x40000000 && addr < 0x60000000) ||
	       (addr >= 0xa0000000 && addr < 0xe0100000);
}

uint64_t cm_read(void *context, uint64_t addr, unsigned size)
{
	struct board *board = context;
	uint32_t at = (uint32_t)addr;

	if (is_bit(board, at, RAM_BITS) && bit_of_ram(board, at))
		return *bit_of_ram(board, at) >> (at / 4 & 7) & 1;
	if (is_bit(board, at, DEVICE_BITS))
		return read_device(board, device_word(at), 4) >>
		       (at / 4 & 31) & 1;
	if (!is_device(at))
		engine_fail_access(board->engine, addr);
	return read_device(board, addr, size);
}

static void write_device(struct board *board, uint64_t addr, unsigned size,
			 uint64_t value)
{
	if (addr - SYSTEM_SPACE < SPACE_SIZE) {
		write_system(board, (unsigned)(addr - SYSTEM_SPACE), size,
			     value);
		board_look_soon(board);
	}
	board->world->write(board->world->context, addr, size, value);
}

void cm_write(void *context, uint64_t addr, unsigned size, uint64_t value)
{
	struct board *board = context;
	uint32_t at = (uint32_t)addr;
	uint8_t *byte;
	uint64_t word;

	if (is_bit(board, at, RAM_BITS) && bit_of_ram(board, at)) {
		byte = bit_of_ram(board, at);
		*byte = (uint8_t)((*byte & ~(1u << (at / 4 & 7))) |
				  (value & 1) << (at / 4 & 7));
	} else if (is_bit(board, at, DEVICE_BITS)) {
		word = read_device(board, device_word(at), 4);
		word &= ~(UINT64_C(1) << (at / 4 & 31));
		write_device(board, device_word(at), 4,
			     word | (value & 1) << (at / 4 & 31));
	} else if (!is_device(at)) {
		engine_fail_access(board->engine, addr);
	} else {
		write_device(board, addr, size, value);
	}
}
