/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x87.h - the guest's unit of x87 and the host's, for those who compute
 *
 * Flags of the host's unit stay raised as long as the guest's are; so they
 * need not be cleared each time.
 */
#ifndef CPREC_VM_ENGINE_BUILD_X87_H
#define CPREC_VM_ENGINE_BUILD_X87_H

#include "vm/engine/build/exact.h"

#define CONTROL_HOST 0x37fu	/* all masked, to nearest, 64 bits */
#define CONTROL_MODE 0xf00u	/* rounding, precision */

#define STATUS_STACK 0x40u
#define STATUS_C1 0x200u
#define STATUS_CODES 0x4500u	/* C0, C2, C3 */
#define STATUS_TOP_AT 11

struct extended {
	uint64_t mantissa;
	uint16_t head;
} __attribute__((packed));

/* Flags that may be raised in the host's unit. */
extern _Thread_local unsigned x87_host_flags;

void x87_clear(void);

/* Others have used this thread's unit; the control word that they have set is
 * returned, for when they go on. */
uint16_t x87_enter(void);
void x87_leave(uint16_t control);

/* The masked response to an invalid operation. */
extern const struct extended x87_indefinite;

/* ------- the guest's unit ------- */

static inline uint16_t word_at(const uint8_t *state, size_t offset)
{
	uint16_t word;

	memcpy(&word, state + offset, sizeof(word));
	return word;
}

static inline unsigned number_of(const uint8_t *state, unsigned index)
{
	return (word_at(state, layout.x87.top) + index) & 7;
}

static inline struct extended *st(uint8_t *state, unsigned index)
{
	return (struct extended *)(state + layout.x87.registers +
				   (size_t)16 * number_of(state, index));
}

static inline bool is_empty(const uint8_t *state, unsigned index)
{
	return state[layout.x87.empty + number_of(state, index)];
}

static inline void put(uint8_t *state, unsigned index,
		       const struct extended *value)
{
	*st(state, index) = *value;
	state[layout.x87.empty + number_of(state, index)] = 0;
}

/* What a status word of the host says: flags, C1, and the codes in `codes`. */
static inline void show(uint8_t *state, unsigned found, unsigned codes)
{
	unsigned shown = RAISED_DENORMAL | STATUS_C1 | codes;
	uint16_t status = word_at(state, layout.x87.status);

	status &= (uint16_t)~(STATUS_C1 | codes);
	status |= (uint16_t)(found & shown);
	memcpy(state + layout.x87.status, &status, sizeof(status));
	state[layout.x87.raised] |= found & RAISED_ALL & ~RAISED_DENORMAL;
}

/* An empty register was wanted, or one in use was to be filled. */
void x87_stack_fault(uint8_t *state, bool is_overflow);

/* ------- the host's unit ------- */

static inline unsigned flags_of(const uint8_t *state)
{
	return (state[layout.x87.raised] & (RAISED_ALL & ~RAISED_DENORMAL)) |
	       (word_at(state, layout.x87.status) & RAISED_DENORMAL);
}

/* The host rounds as the guest; returns what host_end() is to know. */
static inline unsigned host_begin(const uint8_t *state)
{
	uint16_t control = (word_at(state, layout.x87.control) & CONTROL_MODE) |
			   (CONTROL_HOST & ~CONTROL_MODE);

	if (x87_host_flags & ~flags_of(state))
		x87_clear();
	if (control != CONTROL_HOST)
		__asm__ volatile("fldcw %0" : : "m"(control));
	return control;
}

static inline void host_end(uint8_t *state, unsigned control, uint16_t found,
			    unsigned codes)
{
	uint16_t host = CONTROL_HOST;

	x87_host_flags = found & RAISED_ALL;
	if (control != CONTROL_HOST)
		__asm__ volatile("fldcw %0" : : "m"(host));
	show(state, found, codes);
}

/* Instructions of the host's unit, which leave it empty. */
#define ON_HOST(state, codes, text, ...)                                       \
	do {                                                                   \
		unsigned control_ = host_begin(state);                         \
		uint16_t found_;                                               \
									       \
		__asm__ volatile(text : [found] "=a"(found_), __VA_ARGS__);    \
		host_end(state, control_, found_, codes);                      \
	} while (0)

/* ------- functions of the engine's ------- */

typedef void plain_fn(uint8_t *state);
typedef void index_fn(uint8_t *state, int index);
typedef void single_fn(uint8_t *state, uint32_t value);
typedef void double_fn(uint8_t *state, uint64_t value);
typedef void integer_fn(uint8_t *state, int32_t value);

/* Integers are exact, and raise nothing. */
static inline struct extended from_integer(int64_t value)
{
	struct extended result;

	__asm__ volatile("fildll %1\n\tfstpt %0" : "=m"(result) : "m"(value));
	return result;
}

#endif
