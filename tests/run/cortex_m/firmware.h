/* SPDX-License-Identifier: GPL-2.0-or-later */
/* firmware.h - registers, and what tests of firmware share; see start.c */
#ifndef FIRMWARE_H
#define FIRMWARE_H

#include <stddef.h>
#include <stdint.h>

#define REG(addr) (*(volatile uint32_t *)(addr))
#define REG8(addr) (*(volatile uint8_t *)(addr))

#define SYST_CSR REG(0xe000e010)
#define SYST_RVR REG(0xe000e014)
#define SYST_CVR REG(0xe000e018)
#define NVIC_ISER REG(0xe000e100)
#define NVIC_ICER REG(0xe000e180)
#define NVIC_ISPR REG(0xe000e200)
#define NVIC_ICPR REG(0xe000e280)
#define NVIC_IABR REG(0xe000e300)
#define NVIC_IPR(n) REG8(0xe000e400 + (n))
#define CPUID REG(0xe000ed00)
#define ICSR REG(0xe000ed04)
#define ICSR_PENDSVSET (1u << 28)
#define AIRCR REG(0xe000ed0c)
#define AIRCR_KEY 0x05fa0000
#define CCR REG(0xe000ed14)
#define CCR_UNALIGN_TRP 8u
#define CCR_DIV_0_TRP 16u
#define SHPR(n) REG8(0xe000ed14 + (n))
#define SHCSR REG(0xe000ed24)
#define CFSR REG(0xe000ed28)
#define HFSR REG(0xe000ed2c)
#define BFAR REG(0xe000ed38)
#define CPACR REG(0xe000ed88)
#define FPCCR REG(0xe000ef34)
#define FPCAR REG(0xe000ef38)

#define TIMER0_CTRL REG(0x40000000)
#define TIMER0_VALUE REG(0x40000004)
#define TIMER0_RELOAD REG(0x40000008)
#define TIMER0_INTCLEAR REG(0x4000000c)
#define DUAL_LOAD1 REG(0x40002000)
#define DUAL_CONTROL1 REG(0x40002008)
#define DUAL_CLEAR1 REG(0x4000200c)

#define GPIO0_OUT REG(0x40010004)
#define DOG_LOAD REG(0x40008000)
#define DOG_CONTROL REG(0x40008008)

#define UART(n) ((n) == 4 ? 0x40009000 : 0x40004000 + 0x1000 * (n))
#define UART_DATA(n) REG(UART(n))
#define UART_STATE(n) REG(UART(n) + 4)
#define UART_CTRL(n) REG(UART(n) + 8)
#define UART_INT(n) REG(UART(n) + 12)
#define UART_BAUD(n) REG(UART(n) + 16)

/* Handlers are functions as others are. */
#define HANDLER(name) void name(void)

static inline void barrier(void)
{
	__asm__ volatile("dsb\nisb" ::: "memory");
}

static inline void set_basepri(uint32_t value)
{
	__asm__ volatile("msr basepri, %0" :: "r"(value) : "memory");
}

static inline uint32_t get_ipsr(void)
{
	uint32_t value;

	__asm__ volatile("mrs %0, ipsr" : "=r"(value));
	return value;
}

static inline uint32_t get_psp(void)
{
	uint32_t value;

	__asm__ volatile("mrs %0, psp" : "=r"(value));
	return value;
}

static inline uint32_t insn_size(uint32_t pc)
{
	return *(uint16_t *)pc >> 11 >= 0x1d ? 4 : 2;
}

static inline int has_bit_band(void)
{
	return (CPUID >> 4 & 0xfff) != 0xc27;
}

static inline int has_float(void)
{
	return (CPUID >> 4 & 0xfff) != 0xc23;
}

void say(const char *text);
void say_value(const char *what, uint32_t value);
void leave(uint32_t status);

uint32_t svc1(uint32_t value);
uint32_t svc2(uint32_t value);
extern volatile uint32_t process_frame_xpsr, process_return;

void test_floats(void);
int main(void);

#endif
