/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demo.c - FreeRTOS on a machine with a Cortex-M: tasks that send each other
 * numbers by a queue, a timer, and tasks in all states
 *
 * What it says depends on ticks, not on how fast instructions are.
 */
#include <stdint.h>

#include "FreeRTOS.h"
#include "queue.h"
#include "task.h"
#include "timers.h"

#define REG(addr) (*(volatile uint32_t *)(addr))
#define UART_DATA REG(0x40004000)
#define UART_CONTROL REG(0x40004008)
#define UART_DIVIDER REG(0x40004010)
#define CPACR REG(0xe000ed88)

#define NUMBERS 20

static QueueHandle_t numbers;
static volatile uint32_t rings, sum;
static TaskHandle_t deleted;

/* ------- the console, and the end ------- */

static void say(const char *text)
{
	while (*text)
		UART_DATA = (uint8_t)*text++;
}

static void say_number(const char *what, uint32_t value)
{
	char text[12];
	unsigned at = sizeof(text);

	text[--at] = 0;
	text[--at] = '\n';
	do {
		text[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	say(what);
	say(" ");
	say(text + at);
}

static void leave(uint32_t status)
{
	const uint32_t block[2] = { 0x20026, status };
	register uint32_t operation __asm__("r0") = 0x20;
	register const uint32_t *argument __asm__("r1") = block;

	__asm__ volatile("bkpt 0xab" : "+r"(operation) : "r"(argument)
			 : "memory");
	for (;;)
		continue;
}

void wrong(int line)
{
	say_number("wrong, line", (uint32_t)line);
	leave(1);
}

/* ------- what FreeRTOS says of tasks ------- */

#define TASKS_MOST 16

__attribute__((noinline)) static void report(void)
{
	static TaskStatus_t all[TASKS_MOST];
	UBaseType_t count = uxTaskGetSystemState(all, TASKS_MOST, NULL);

	for (UBaseType_t i = 0; i < count; i++) {
		say("task ");
		say(all[i].pcTaskName);
		say(",");
		say_number(" state", all[i].eCurrentState);
		say_number(" priority", all[i].uxCurrentPriority);
	}
}

/* ------- tasks ------- */

static void produce(void *unused)
{
	(void)unused;
	for (uint32_t i = 1; i <= NUMBERS; i++) {
		xQueueSend(numbers, &i, portMAX_DELAY);
		vTaskDelay(i % 3);
	}
	vTaskSuspend(NULL);
}

__attribute__((noinline)) static void take(uint32_t number)
{
	sum += number * number;
	if (number % 8 == 1)
		report();
	if (number % 5 == 0)
		say_number("sum", sum);
}

static void consume(void *unused)
{
	uint32_t number;

	(void)unused;
	while (xQueueReceive(numbers, &number, portMAX_DELAY) == pdTRUE) {
		take(number);
		if (number == NUMBERS)
			break;
	}
	vTaskDelay(100);
	report();
	say_number("rings", rings);
	leave(7);
}

/* It has what no other task may change. */
static void compute(void *unused)
{
#ifdef FLOATS
	float first = 0;
#else
	uint32_t first = 0;
#endif

	(void)unused;
	for (;;) {
#ifdef FLOATS
		float x = 1;

		for (int i = 1; i < 100; i++)
			x += 1000000.0f / (float)(i * i);
#else
		uint32_t x = 1;

		for (int i = 0; i < 500; i++)
			x = x & 1 ? x >> 1 ^ 0xedb88320 : x >> 1;
#endif
		if (first == 0)
			first = x;
		if (x != first)
			wrong(__LINE__);
	}
}

static void sleep(void *unused)
{
	(void)unused;
	vTaskSuspend(NULL);
	wrong(__LINE__);
}

static void wait(void *unused)
{
	(void)unused;
	ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
	wrong(__LINE__);
}

static void end(void *unused)
{
	(void)unused;
	vTaskDelay(5);
	vTaskDelete(NULL);
}

static void ring(TimerHandle_t timer)
{
	(void)timer;
	rings++;
	if (rings == 3)
		vTaskDelete(deleted);
}

/* ------- the start ------- */

extern uint32_t stack_top[], data_start[], data_end[], data_from[],
	bss_start[], bss_end[];

void svc(void);
void pendsv(void);
void systick(void);

static void fault(void)
{
	wrong(__LINE__);
}

static void make(TaskFunction_t function, const char *name, unsigned priority,
		 TaskHandle_t *out)
{
	if (xTaskCreate(function, name, 256, NULL, priority, out) != pdPASS)
		wrong(__LINE__);
}

static void start(void)
{
	for (uint32_t *to = data_start, *from = data_from; to < data_end;)
		*to++ = *from++;
	for (uint32_t *to = bss_start; to < bss_end;)
		*to++ = 0;
	UART_DIVIDER = 16;
	UART_CONTROL = 1;
	numbers = xQueueCreate(2, sizeof(uint32_t));
	make(produce, "produce", 2, NULL);
	make(consume, "consume", 3, NULL);
	make(compute, "compute", 1, NULL);
	make(sleep, "sleep", 3, NULL);
	make(wait, "wait", 3, NULL);
	make(end, "end", 2, NULL);
	make(sleep, "goes", 3, &deleted);
	xTimerStart(xTimerCreate("ring", 7, pdTRUE, NULL, ring), 0);
	vTaskStartScheduler();
	wrong(__LINE__);
}

__attribute__((section(".vectors"), used))
static void (*const vectors[48])(void) = {
	(void (*)(void))stack_top, start, fault, fault, fault, fault, fault,
	[11] = svc, [14] = pendsv, [15] = systick,
};
