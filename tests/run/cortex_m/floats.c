/* SPDX-License-Identifier: GPL-2.0-or-later */
/* floats.c - firmware that computes with floating point, also in handlers */
#include "firmware.h"

static volatile float inside;
static volatile uint32_t control_inside[2], lazy[2], slot[2], address, back;

static uint32_t get_control(void)
{
	uint32_t value;

	__asm__ volatile("mrs %0, control" : "=r"(value));
	return value;
}

/* The frame has room for S0: at first, something else is there. */
__attribute__((used)) static void look(uint32_t value)
{
	back = value;
	control_inside[0] = get_control();
	lazy[0] = FPCCR & 1;
	address = FPCAR;
	slot[0] = lazy[0] ? REG(address) : 0;
	inside = inside * 2.0f;
	control_inside[1] = get_control();
	lazy[1] = FPCCR & 1;
	slot[1] = REG(address);
}

__attribute__((naked)) void nmi(void)
{
	__asm__ volatile("mov r0, lr\nb look");
}

static float interrupted(float value)
{
	float result;
	uint32_t status;

	__asm__ volatile(
		"vmov s0, %[value]\n"
		"vmov s15, %[value]\n"
		"vmov s16, %[value]\n"
		"sub sp, #256\n"
		"mov r1, sp\n"
		"mov r2, #64\n"
		"mvn r3, #0\n"
		"1: str r3, [r1], #4\n"
		"subs r2, #1\n"
		"bne 1b\n"
		"add sp, #256\n"
		"vcmp.f32 s0, s0\n"
		"str %[nmi], [%[icsr]]\n"
		"dsb\nisb\n"
		"vmrs %[status], fpscr\n"
		"vadd.f32 s0, s0, s15\n"
		"vadd.f32 %[result], s0, s16\n"
		: [result] "=t"(result), [status] "=&r"(status)
		: [value] "r"(value), [nmi] "r"(1u << 31), [icsr] "r"(&ICSR)
		: "s0", "s15", "s16", "r1", "r2", "r3", "memory", "cc");
	say_value("status of floats", status);
	return result;
}

/* It saves registers of its own: only now it may. */
__attribute__((noinline)) static void compute(void)
{
	float result;

	inside = 1.5f;
	result = interrupted(2.25f);
	say_value("three times", (uint32_t)(result * 100.0f));
	say_value("inside", (uint32_t)(inside * 100.0f));
	say_value("exc_return", back);
	say_value("control", control_inside[0]);
	say_value("and later", control_inside[1]);
	say_value("lazy", lazy[0]);
	say_value("and later", lazy[1]);
	say_value("in the frame", slot[0]);
	say_value("and later", slot[1]);
	say_value("control outside", get_control());
	FPCCR &= ~(1u << 30);
	result = interrupted(4.5f);
	say_value("not lazy", lazy[0]);
	say_value("three times", (uint32_t)(result * 100.0f));
}

void test_floats(void)
{
	if (!has_float())
		return;
	say_value("without access", CPACR >> 20 & 15);
	__asm__ volatile("vmov s0, %0" :: "r"(0));
	CPACR |= 0xf << 20;
	barrier();
	compute();
}
