/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_gic.c - an interrupt controller with several processors
 *
 * Source: ARM Generic Interrupt Controller, architecture version 2.0
 * (IHI 0048B), chapters 3 and 4.
 */
#include "tests/unit/table.h"
#include "vm/board/gic.h"

enum {
	CTLR = 0x000, TYPER = 0x004, ISENABLER = 0x100, ICENABLER = 0x180,
	ISPENDR = 0x200, PRIORITY = 0x400, TARGETS = 0x800, ICFGR = 0xc00,
	SGIR = 0xf00, CPENDSGIR = 0xf10, SPENDSGIR = 0xf20,
};
enum { C_CTLR = 0x00, C_PMR = 0x04, C_IAR = 0x0c, C_EOIR = 0x10, C_RPR = 0x14,
       C_HPPIR = 0x18 };

#define COUNT_OF 4u
#define SPURIOUS 1023u
#define TIMER 27u
#define LINE 40u

static uint64_t read(struct gic *gic, unsigned processor, unsigned offset)
{
	gic->present = processor;
	return gic_distributor_read(gic, offset, 4);
}

static void write(struct gic *gic, unsigned processor, unsigned offset,
		  uint32_t value)
{
	gic->present = processor;
	gic_distributor_write(gic, offset, 4, value);
}

static uint64_t own(struct gic *gic, unsigned processor, unsigned offset)
{
	gic->present = processor;
	return gic_processor_read(gic, offset, 4);
}

static void set_own(struct gic *gic, unsigned processor, unsigned offset,
		    uint32_t value)
{
	gic->present = processor;
	gic_processor_write(gic, offset, 4, value);
}

/* As Linux begins: all of a processor's own are on, with one priority. */
static void begin(struct gic *gic)
{
	gic_init(gic, COUNT_OF);
	write(gic, 0, CTLR, 1);
	for (unsigned i = 0; i < COUNT_OF; i++) {
		write(gic, i, ISENABLER, 0xffff | 1u << TIMER);
		for (unsigned j = 0; j < 32; j += 4)
			write(gic, i, PRIORITY + j, 0xa0a0a0a0);
		set_own(gic, i, C_PMR, 0xf0);
		set_own(gic, i, C_CTLR, 1);
	}
	write(gic, 0, PRIORITY + LINE, 0xa0);
	write(gic, 0, ISENABLER + LINE / 32 * 4, 1u << LINE % 32);
}

static unsigned interrupted(const struct gic *gic)
{
	unsigned processors = 0;

	for (unsigned i = 0; i < COUNT_OF; i++)
		processors |= (unsigned)gic_interrupts(gic, i) << i;
	return processors;
}

static void who_is_there(void **unused)
{
	struct gic gic;

	(void)unused;
	begin(&gic);
	assert_int_equal(read(&gic, 2, TYPER), 3 << 5 | 2);
	for (unsigned i = 0; i < COUNT_OF; i++)
		assert_int_equal(read(&gic, i, TARGETS), 0x01010101 << i);
	gic_init(&gic, 1);
	assert_int_equal(read(&gic, 0, TYPER), 2);
}

struct send_row {
	const char *name;
	uint32_t value;
	unsigned sender, interrupted;
};

static const struct send_row send_rows[] = {
	{ "to one of a list", 1 << 17 | 5, 0, 2 },
	{ "to all of a list", 0xd << 16 | 5, 1, 0xd },
	{ "to itself by a list", 1 << 18 | 5, 2, 4 },
	{ "to those that are there", 0xff << 16 | 5, 0, 0xf },
	{ "to all others", 1 << 24 | 5, 3, 7 },
	{ "to itself", 2 << 24 | 0xff << 16 | 5, 1, 2 },
	{ "to nobody", 5, 0, 0 },
};

static void send_one(void **state)
{
	const struct send_row *row = *state;
	struct gic gic;

	begin(&gic);
	write(&gic, row->sender, SGIR, row->value);
	assert_int_equal(interrupted(&gic), row->interrupted);
	for (unsigned i = 0; i < COUNT_OF; i++) {
		uint32_t expected = row->interrupted >> i & 1 ?
			row->sender << 10 | 5 : SPURIOUS;

		assert_int_equal(own(&gic, i, C_HPPIR), expected);
		assert_int_equal(own(&gic, i, C_IAR), expected);
		assert_int_equal(own(&gic, i, C_IAR), SPURIOUS);
		set_own(&gic, i, C_EOIR, expected);
		assert_int_equal(own(&gic, i, C_RPR), 0xff);
	}
	assert_int_equal(interrupted(&gic), 0);
}

/* One number from two senders is taken twice, the lowest sender first. */
static void two_senders(void **unused)
{
	struct gic gic;

	(void)unused;
	begin(&gic);
	write(&gic, 3, SGIR, 1 << 16 | 7);
	write(&gic, 1, SGIR, 1 << 16 | 7);
	write(&gic, 1, SGIR, 1 << 16 | 7);
	assert_int_equal(read(&gic, 0, SPENDSGIR + 4), 0xau << 24);
	assert_int_equal(read(&gic, 1, SPENDSGIR + 4), 0);
	assert_int_equal(own(&gic, 0, C_IAR), 1 << 10 | 7);
	/* It is active: the other one waits. */
	assert_int_equal(own(&gic, 0, C_IAR), SPURIOUS);
	set_own(&gic, 0, C_EOIR, 1 << 10 | 7);
	assert_int_equal(own(&gic, 0, C_IAR), 3 << 10 | 7);
	set_own(&gic, 0, C_EOIR, 3 << 10 | 7);
	assert_int_equal(interrupted(&gic), 0);
	write(&gic, 2, SPENDSGIR + 4, 0x3u << 24);
	write(&gic, 2, CPENDSGIR + 4, 0x1u << 24);
	assert_int_equal(own(&gic, 2, C_IAR), 1 << 10 | 7);
	/* Not by the registers of all others. */
	write(&gic, 2, ISPENDR, 1 << 3);
	assert_int_equal(interrupted(&gic), 0);
}

static void own_lines(void **unused)
{
	struct gic gic;

	(void)unused;
	begin(&gic);
	gic_set_own_line(&gic, 2, TIMER, true);
	assert_int_equal(interrupted(&gic), 4);
	assert_int_equal(own(&gic, 1, C_IAR), SPURIOUS);
	assert_int_equal(own(&gic, 2, C_IAR), TIMER);
	/* Another one's is its own, while this one is active. */
	gic_set_own_line(&gic, 0, TIMER, true);
	assert_int_equal(interrupted(&gic), 1);
	write(&gic, 0, ICENABLER, 1u << TIMER);
	assert_int_equal(interrupted(&gic), 0);
	assert_int_equal(read(&gic, 2, ISENABLER) >> TIMER & 1, 1);
	assert_int_equal(read(&gic, 0, ISENABLER) >> TIMER & 1, 0);
	/* It is not to be interrupted, but it wakes up. */
	set_own(&gic, 2, C_EOIR, TIMER);
	set_own(&gic, 2, C_PMR, 0x10);
	assert_false(gic_interrupts(&gic, 2));
	assert_true(gic_wakes(&gic, 2));
	assert_false(gic_wakes(&gic, 0));
}

static void shared_lines(void **unused)
{
	struct gic gic;

	(void)unused;
	begin(&gic);
	gic_set_line(&gic, LINE, true);
	assert_int_equal(interrupted(&gic), 1);
	write(&gic, 0, TARGETS + LINE, 0xfc);
	assert_int_equal(read(&gic, 3, TARGETS + LINE), 0x0c);
	assert_int_equal(interrupted(&gic), 0xc);
	/* One takes it. */
	assert_int_equal(own(&gic, 3, C_IAR), LINE);
	assert_int_equal(own(&gic, 2, C_IAR), SPURIOUS);
	assert_int_equal(own(&gic, 3, C_RPR), 0xa0);
	assert_int_equal(own(&gic, 2, C_RPR), 0xff);
	gic_set_line(&gic, LINE, false);
	set_own(&gic, 3, C_EOIR, LINE);
	assert_int_equal(interrupted(&gic), 0);
	/* Where a processor's own go, nobody can say. */
	write(&gic, 1, TARGETS + 16, 0x0f0f0f0f);
	assert_int_equal(read(&gic, 1, TARGETS + 16), 0x02020202);
}

/* Who follows a recording is told what was read. */
static void followed(void **unused)
{
	struct gic gic;

	(void)unused;
	begin(&gic);
	write(&gic, 2, SGIR, 1 << 16 | 4);
	gic.present = 0;
	gic_follow(&gic, 2 << 10 | 4);
	assert_int_equal(interrupted(&gic), 0);
	assert_int_equal(own(&gic, 0, C_RPR), 0xa0);
	gic_follow(&gic, SPURIOUS);
	set_own(&gic, 0, C_EOIR, 2 << 10 | 4);
	assert_int_equal(own(&gic, 0, C_RPR), 0xff);
	assert_int_equal(read(&gic, 0, SPENDSGIR + 4), 0);
}

int main(void)
{
	struct test_list list = { 0 };

	for (size_t i = 0; i < COUNT(send_rows); i++)
		add_test(&list, send_rows[i].name, send_one, &send_rows[i]);
	add_test(&list, "who is there", who_is_there, NULL);
	add_test(&list, "two senders", two_senders, NULL);
	add_test(&list, "lines of processors", own_lines, NULL);
	add_test(&list, "shared lines", shared_lines, NULL);
	add_test(&list, "followed", followed, NULL);
	return run_list("gic", &list);
}
