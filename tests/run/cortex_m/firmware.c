/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * firmware.c - what a Cortex-M is tested with: exceptions, faults, masks,
 * timers.  It says what it found on the first UART, the same on any processor.
 */
#include "firmware.h"

volatile unsigned order_count;
char order[64];

static void note(char c)
{
	if (order_count < sizeof(order) - 1)
		order[order_count++] = c;
}

static void say_order(const char *what)
{
	say(what);
	order[order_count] = 0;
	say(": ");
	say(order);
	say("\n");
	order_count = 0;
}

/* ------- interrupts by software ------- */

/* What the handlers of interrupts 24 to 27 do. */
static void (*volatile actions[4])(void);

static void handle(unsigned i)
{
	note((char)('a' + i));
	if (actions[i])
		actions[i]();
	note((char)('A' + i));
}

HANDLER(irq24) { handle(0); }
HANDLER(irq25) { handle(1); }
HANDLER(irq26) { handle(2); }
HANDLER(irq27) { handle(3); }
HANDLER(pendsv) { note('p'); }

static void pend(unsigned irq)
{
	NVIC_ISPR = 1u << irq;
	barrier();
}

static void pend_24(void) { pend(24); }
static void pend_25(void) { pend(25); }
static void pend_both(void) { NVIC_ISPR = 3u << 24; barrier(); }
static void pend_all(void)
{
	ICSR = ICSR_PENDSVSET;
	NVIC_ISPR = 0xbu << 24;	/* but its own */
	barrier();
}

static void set_priorities(unsigned a, unsigned b, unsigned c, unsigned d)
{
	NVIC_IPR(24) = (uint8_t)a;
	NVIC_IPR(25) = (uint8_t)b;
	NVIC_IPR(26) = (uint8_t)c;
	NVIC_IPR(27) = (uint8_t)d;
}

static void test_priorities(void)
{
	NVIC_ISER = 0xfu << 24;
	SHPR(14) = 0xe0;
	set_priorities(0x20, 0x40, 0x60, 0x80);
	actions[1] = pend_24;
	pend(25);
	say_order("a higher one preempts");
	actions[1] = NULL;
	actions[0] = pend_25;
	pend(24);
	say_order("a lower one waits");
	actions[0] = NULL;
	actions[2] = pend_all;
	pend(26);
	say_order("all at once");
	set_priorities(0x40, 0x40, 0x40, 0x40);
	actions[2] = pend_both;
	pend(26);
	say_order("of the same priority");
	actions[2] = NULL;
	/* One bit of preemption: the rest only chooses. */
	AIRCR = AIRCR_KEY | 6 << 8;
	set_priorities(0x60, 0x20, 0x40, 0x80);
	actions[2] = pend_both;
	actions[3] = pend_both;
	pend(26);
	say_order("subpriorities choose");
	pend(27);
	say_order("another group preempts");
	actions[2] = actions[3] = NULL;
	AIRCR = AIRCR_KEY;
}

static void test_masks(void)
{
	set_priorities(0x20, 0x40, 0x60, 0x80);
	__asm__ volatile("cpsid i");
	pend_both();
	say_value("pending", NVIC_ISPR >> 24);
	note('-');
	__asm__ volatile("cpsie i");
	barrier();
	say_order("primask");
	set_basepri(0x40);
	pend_both();
	note('-');
	set_basepri(0);
	barrier();
	say_order("basepri");
	__asm__ volatile("cpsid f");
	pend_both();
	note('-');
	__asm__ volatile("cpsie f");
	barrier();
	say_order("faultmask");
	__asm__ volatile("cpsid i");
	pend(24);
	NVIC_ICPR = 1u << 24;
	__asm__ volatile("cpsie i");
	say_order("taken back");
	NVIC_ICER = 1u << 24;
	pend(24);
	note('-');
	NVIC_ISER = 1u << 24;
	barrier();
	say_order("enabled later");
}

static uint32_t in_handler[4];

static void look(void)
{
	in_handler[0] = ICSR & 0x1ff;
	in_handler[1] = NVIC_IABR >> 24;
	in_handler[2] = get_ipsr();
	in_handler[3] = ICSR >> 11 & 1;
}

static void test_state(void)
{
	actions[0] = look;
	pend(24);
	actions[0] = NULL;
	say_value("active", in_handler[0]);
	say_value("active bits", in_handler[1]);
	say_value("ipsr", in_handler[2]);
	say_value("returns to base", in_handler[3]);
	say_value("ipsr in thread", get_ipsr());
	order_count = 0;
}

/* ------- calls ------- */

uint32_t svc_handle(uint32_t *frame)
{
	uint8_t number = ((uint8_t *)frame[6])[-2];

	note((char)('0' + number));
	frame[0] = frame[0] * 10 + number;
	return 0;
}

static void test_calls(void)
{
	say_value("a call returns", svc1(4));
	say_value("another one", svc2(5));
	say_order("calls");
}

/* On the process stack, and without privileges. */
static uint32_t process_stack[64] __attribute__((aligned(8)));

static void test_process(void)
{
	uint32_t result = 0, control, aligned, frame_bit;

	__asm__ volatile(
		"msr psp, %[top]\n"
		"mov r2, #3\n"
		"msr control, r2\n"
		"isb\n"
		"mov r0, #7\n"
		"svc #3\n"
		"mov %[result], r0\n"
		"mrs %[control], control\n"
		"mov r0, #0\n"
		"svc #9\n"		/* privileges again */
		"mrs r2, control\n"
		"bic r2, #3\n"
		"msr control, r2\n"
		"isb\n"
		: [result] "=&r"(result), [control] "=&r"(control)
		: [top] "r"(process_stack + 63)
		: "r0", "r1", "r2", "r3", "r12", "lr", "memory", "cc");
	aligned = get_psp() % 8;
	frame_bit = process_frame_xpsr >> 9 & 1;
	say_value("from the process stack", result);
	say_value("control there", control & 3);
	say_value("its frame was aligned", frame_bit);
	say_value("and is gone", aligned);
	say_value("exc_return", process_return & 0xff);
	say_order("process");
}

/* ------- faults ------- */

volatile uint32_t fault_count, fault_skip;

void fault_handle(uint32_t *frame, uint32_t number)
{
	fault_count++;
	say_value("  fault", number);
	say_value("  cfsr", CFSR);
	if (number == 3)
		say_value("  hfsr", HFSR);
	if (CFSR & 0x8000)
		say_value("  bfar", BFAR);
	CFSR = CFSR;
	HFSR = HFSR;
	frame[7] |= 1u << 24;
	frame[6] = fault_skip ? fault_skip : frame[6] + insn_size(frame[6]);
	fault_skip = 0;
}

static void faults(void)
{
	say("undefined");
	__asm__ volatile("udf #5");
	say("\nwide and undefined");
	__asm__ volatile("udf.w #5");
	say("\nno coprocessor");
	__asm__ volatile(".short 0xee07, 0x0f15");	/* mcr p15 */
	say("\na load from nowhere");
	__asm__ volatile("ldr r0, [%0]" :: "r"(0x90000010) : "r0", "memory");
	say("\na store to nowhere");
	__asm__ volatile("mov r1, #5\nstr r1, [%0]" :: "r"(0x90000020)
			 : "r1", "memory");
	say("\na list that is not aligned");
	__asm__ volatile("ldm %0, {r1, r2}" :: "r"(0x20000002)
			 : "r1", "r2", "memory");
	say("\na pair that is not aligned");
	__asm__ volatile("ldrd r2, r3, [%0]" :: "r"(0x20000002)
			 : "r2", "r3", "memory");
	say("\nnot Thumb");
	__asm__ volatile("adr r1, 1f\nstr r1, [%1]\nbx %0\n.align 2\n1:"
			 :: "r"((uint32_t)faults & ~1u), "r"(&fault_skip)
			 : "r1", "memory");
	say("\n");
}

static void test_faults(void)
{
	SHCSR = 0x70000;
	say("faults of their own\n");
	faults();
	SHCSR = 0;
	say("as HardFault\n");
	faults();
	SHCSR = 0x70000;
	say_value("faults", fault_count);
}

static uint32_t divide(uint32_t a, uint32_t b)
{
	uint32_t result = 77;

	__asm__ volatile("udiv %0, %1, %2" : "=r"(result) : "r"(a), "r"(b));
	return result;
}

static uint32_t load_unaligned(void)
{
	static const uint32_t words[2] = { 0x44332211, 0x88776655 };
	uint32_t result = 77;

	__asm__ volatile("ldr %0, [%1, #1]" : "+r"(result) : "r"(words));
	return result;
}

static void test_traps(void)
{
	say_value("by zero", divide(5, 0));
	say_value("unaligned", load_unaligned());
	CCR |= CCR_DIV_0_TRP | CCR_UNALIGN_TRP;
	barrier();
	say("by zero, trapped\n");
	divide(5, 0);
	say_value("not by zero", divide(35, 5));
	say("unaligned, trapped\n");
	say_value("unaligned", load_unaligned());
	/* Not executed: its condition is not met. */
	__asm__ volatile("cmp %0, %0\nit ne\nudivne %0, %0, %1"
			 :: "r"(4), "r"(0) : "cc");
	__asm__ volatile("cmp %0, %0\nit eq\nudiveq r1, %0, %1"
			 :: "r"(4), "r"(0) : "cc", "r1");
	CCR &= ~(CCR_DIV_0_TRP | CCR_UNALIGN_TRP);
	barrier();
	say_value("by zero", divide(5, 0));
	say_value("faults", fault_count);
}

/* ------- memory ------- */

static void test_bits(void)
{
	static volatile uint32_t word;
	volatile uint32_t *bit = (uint32_t *)(0x22000000 +
			((uint32_t)&word - 0x20000000) * 32);

	if (!has_bit_band())
		return;
	word = 0x80000001;
	say_value("bit 0", bit[0]);
	say_value("bit 1", bit[1]);
	say_value("bit 31", bit[31]);
	bit[4] = 1;
	bit[31] = 0;
	bit[0] = 0xfe;
	say_value("word", word);
}

static void test_exclusive(void)
{
	static volatile uint32_t word;
	uint32_t failed, again;

	__asm__ volatile("ldrex r1, [%1]\nstrex %0, r1, [%1]"
			 : "=&r"(failed) : "r"(&word) : "r1", "memory");
	__asm__ volatile("ldrex r1, [%1]\nsvc #1\nstrex %0, r1, [%1]"
			 : "=&r"(again) : "r"(&word)
			 : "r0", "r1", "r2", "r3", "r12", "memory");
	say_value("exclusive", failed);
	say_value("with an exception between", again);
	order_count = 0;
}

/* ------- timers ------- */

volatile unsigned ticks, timer_ticks, dual_ticks;

HANDLER(systick) { ticks++; }

HANDLER(timer0)
{
	TIMER0_INTCLEAR = 1;
	timer_ticks++;
}

HANDLER(dual)
{
	DUAL_CLEAR1 = 1;
	dual_ticks++;
}

static void test_timers(void)
{
	SYST_RVR = 1000;
	SYST_CVR = 0;
	SYST_CSR = 7;
	while (ticks < 5)
		__asm__ volatile("wfi");
	say_value("systick", ticks);
	SYST_CSR = 4;
	say_value("enabled", SYST_CSR & 3);
	TIMER0_RELOAD = TIMER0_VALUE = 5000;
	TIMER0_CTRL = 9;
	NVIC_ISER = 1 << 8;
	while (timer_ticks < 3)
		__asm__ volatile("wfi");
	TIMER0_CTRL = 0;
	say_value("timer", timer_ticks);
	DUAL_LOAD1 = 2000;
	DUAL_CONTROL1 = 0xe2;
	NVIC_ISER = 1 << 10;
	while (dual_ticks < 4)
		__asm__ volatile("wfi");
	DUAL_CONTROL1 = 0;
	say_value("dual timer", dual_ticks);
}

/* Interrupted very often, also within IT. */
__attribute__((noipa)) static uint32_t scramble(uint32_t count)
{
	uint32_t x = 1;

	while (count--) {
		x = x & 1 ? x >> 1 ^ 0xedb88320 : x >> 1;
		x = x > 0x80000000 ? x + count : x - count;
	}
	return x;
}

static void test_interrupted(void)
{
	uint32_t alone = scramble(20000), interrupted;

	ticks = 0;
	SYST_RVR = 3;
	SYST_CVR = 0;
	SYST_CSR = 7;
	interrupted = scramble(20000);
	SYST_CSR = 0;
	say_value("the same when interrupted", alone == interrupted);
	say_value("it was", ticks > 100);
}

/* ------- the serial line interrupts ------- */

volatile unsigned sent;

HANDLER(uart1_tx)
{
	UART_INT(1) = 1;
	sent++;
}

static void test_uarts(void)
{
	NVIC_ISER = 1 << 3;
	for (unsigned i = 1; i < 5; i++) {
		UART_BAUD(i) = 16;
		UART_CTRL(i) = i == 1 ? 5 : 1;
		UART_DATA(i) = '0' + i;
	}
	while (!sent)
		continue;
	say_value("sent", sent);
}

int main(void)
{
	SHCSR = 0x70000;
	test_priorities();
	test_masks();
	test_state();
	test_calls();
	test_process();
	test_faults();
	test_traps();
	test_bits();
	test_exclusive();
	test_timers();
	test_interrupted();
	test_uarts();
	test_floats();
	say("end\n");
	return 5;
}
