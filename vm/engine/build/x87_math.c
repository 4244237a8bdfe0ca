/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x87_math.c - arithmetic and comparisons of x87, computed by the host
 *
 * The engine executes an instruction in parts: it loads a second operand into
 * FT0, computes, and pops.  An operand in FT0 that came from memory stays as it
 * was there, because the instruction of the host that computes with it is to
 * see the same.
 *
 * Source: Intel 64 SDM volume 1, 8.1.3 (C1), 8.5.1 (stack faults), table 8-10
 * (masked responses); volume 2, FCOMI, FXAM.
 */
#include "vm/engine/build/x87.h"

_Thread_local unsigned x87_host_flags;
const struct extended x87_indefinite = { UINT64_C(0xc000000000000000),
					    0xffff };

void x87_clear(void)
{
	__asm__ volatile("fnclex");
	x87_host_flags = 0;
}

static void set_control(uint16_t control)
{
	__asm__ volatile("fldcw %0" : : "m"(control));
}

uint16_t x87_enter(void)
{
	uint16_t control;

	__asm__ volatile("fnstcw %0" : "=m"(control));
	if (control != CONTROL_HOST)
		set_control(CONTROL_HOST);
	x87_host_flags = RAISED_ALL;
	return control;
}

/* If they have exceptions, flags of the guest's must not raise one. */
void x87_leave(uint16_t control)
{
	if (control == CONTROL_HOST)
		return;
	x87_clear();
	set_control(control);
}

void x87_stack_fault(uint8_t *state, bool is_overflow)
{
	uint16_t status = word_at(state, layout.x87.status) | STATUS_STACK;

	memcpy(state + layout.x87.status, &status, sizeof(status));
	show(state, RAISED_INVALID | (is_overflow ? STATUS_C1 : 0), 0);
}

/* ------- the second operand ------- */

/* The second operand of the instruction under way. */
static _Thread_local struct {
	enum { OPERAND_REGISTER, OPERAND_SINGLE, OPERAND_DOUBLE } kind;
	bool is_empty;
	struct extended value;
	uint32_t single;
	uint64_t wide;
} second;

index_fn helper_fmov_FT0_STN_x86_64;
void helper_fmov_FT0_STN_x86_64(uint8_t *state, int index)
{
	second.kind = OPERAND_REGISTER;
	second.is_empty = is_empty(state, (unsigned)index);
	second.value = *st(state, (unsigned)index);
}

single_fn helper_flds_FT0_x86_64;
void helper_flds_FT0_x86_64(uint8_t *state, uint32_t value)
{
	(void)state;
	second.kind = OPERAND_SINGLE;
	second.is_empty = false;
	second.single = value;
}

double_fn helper_fldl_FT0_x86_64;
void helper_fldl_FT0_x86_64(uint8_t *state, uint64_t value)
{
	(void)state;
	second.kind = OPERAND_DOUBLE;
	second.is_empty = false;
	second.wide = value;
}

integer_fn helper_fildl_FT0_x86_64;
void helper_fildl_FT0_x86_64(uint8_t *state, int32_t value)
{
	(void)state;
	second.kind = OPERAND_REGISTER;
	second.is_empty = false;
	second.value = from_integer(value);
}

plain_fn helper_fldz_FT0_x86_64;
void helper_fldz_FT0_x86_64(uint8_t *state)
{
	(void)state;
	second.kind = OPERAND_REGISTER;
	second.is_empty = false;
	second.value = from_integer(0);
}

/* ------- arithmetic ------- */

#define OF_REGISTERS(name)                                                     \
	"fldt %[b]\n\tfldt %[a]\n\t" #name " %%st(1), %%st\n\t"                \
	"fnstsw %[found]\n\tfstpt %[r]\n\tfstp %%st"
#define OF_MEMORY(name)                                                        \
	"fldt %[a]\n\t" #name " %[b]\n\tfnstsw %[found]\n\tfstpt %[r]"

/* ST(0) and the second operand into ST(0); ST(i) and ST(0) into ST(i). */
#define DEFINE_ARITHMETIC(name)                                               \
	static void name##_second(uint8_t *state, struct extended *a)         \
	{                                                                     \
		switch (second.kind) {                                        \
		case OPERAND_REGISTER:                                        \
			ON_HOST(state, 0, OF_REGISTERS(name), [r] "=m"(*a)    \
				: [a] "m"(*a), [b] "m"(second.value));        \
			break;                                                \
		case OPERAND_SINGLE:                                          \
			ON_HOST(state, 0, OF_MEMORY(name##s), [r] "=m"(*a)    \
				: [a] "m"(*a), [b] "m"(second.single));       \
			break;                                                \
		case OPERAND_DOUBLE:                                          \
			ON_HOST(state, 0, OF_MEMORY(name##l), [r] "=m"(*a)    \
				: [a] "m"(*a), [b] "m"(second.wide));         \
		}                                                             \
	}                                                                     \
                                                                              \
	plain_fn helper_##name##_ST0_FT0_x86_64;                              \
	void helper_##name##_ST0_FT0_x86_64(uint8_t *state)                   \
	{                                                                     \
		if (is_empty(state, 0) || second.is_empty) {                  \
			x87_stack_fault(state, false);                        \
			put(state, 0, &x87_indefinite);                       \
		} else {                                                      \
			name##_second(state, st(state, 0));                   \
		}                                                             \
	}                                                                     \
                                                                              \
	index_fn helper_##name##_STN_ST0_x86_64;                              \
	void helper_##name##_STN_ST0_x86_64(uint8_t *state, int index)        \
	{                                                                     \
		struct extended *a, *b;                                       \
                                                                              \
		a = st(state, (unsigned)index);                               \
		b = st(state, 0);                                             \
		if (is_empty(state, 0) || is_empty(state, (unsigned)index)) { \
			x87_stack_fault(state, false);                        \
			put(state, (unsigned)index, &x87_indefinite);         \
		} else {                                                      \
			ON_HOST(state, 0, OF_REGISTERS(name), [r] "=m"(*a)    \
				: [a] "m"(*a), [b] "m"(*b));                  \
		}                                                             \
	}

DEFINE_ARITHMETIC(fadd)
DEFINE_ARITHMETIC(fmul)
DEFINE_ARITHMETIC(fsub)
DEFINE_ARITHMETIC(fsubr)
DEFINE_ARITHMETIC(fdiv)
DEFINE_ARITHMETIC(fdivr)

/* `codes`: which the instruction sets. */
#define DEFINE_UNARY(name, text, codes)                          \
	plain_fn helper_##name##_x86_64;                         \
	void helper_##name##_x86_64(uint8_t *state)              \
	{                                                        \
		struct extended *a;                              \
                                                                 \
		a = st(state, 0);                                \
		if (is_empty(state, 0)) {                        \
			x87_stack_fault(state, false);           \
			put(state, 0, &x87_indefinite);          \
		} else {                                         \
			ON_HOST(state, codes,                    \
				"fldt %[a]\n\t" text "\n\t"      \
				"fnstsw %[found]\n\tfstpt %[r]", \
				[r] "=m"(*a)                     \
				: [a] "m"(*a));                  \
		}                                                \
	}

DEFINE_UNARY(fsqrt, "fsqrt", 0)
DEFINE_UNARY(frndint, "frndint", 0)
DEFINE_UNARY(fabs_ST0, "fabs", 0)
DEFINE_UNARY(fchs_ST0, "fchs", 0)

/* ------- comparisons ------- */

#define COMPARE_REGISTERS(name)                                                \
	"fldt %[b]\n\tfldt %[a]\n\t" name " %%st(1)\n\tfnstsw %[found]\n\t"    \
	"fstp %%st\n\tfstp %%st"
#define COMPARE_MEMORY(name)                                                   \
	"fldt %[a]\n\t" name " %[b]\n\tfnstsw %[found]\n\tfstp %%st"

/* Raises what the comparison raises; C3, C2 and C0 as it sets them. */
static unsigned compare(uint8_t *state, bool quietly)
{
	const struct extended *a = st(state, 0);
	unsigned control;
	uint16_t found;

	if (is_empty(state, 0) || second.is_empty) {
		x87_stack_fault(state, false);
		return STATUS_CODES;
	}
	control = host_begin(state);
	if (quietly)
		__asm__ volatile(COMPARE_REGISTERS("fucom")
				 : [found] "=a"(found)
				 : [a] "m"(*a), [b] "m"(second.value));
	else if (second.kind == OPERAND_REGISTER)
		__asm__ volatile(COMPARE_REGISTERS("fcom")
				 : [found] "=a"(found)
				 : [a] "m"(*a), [b] "m"(second.value));
	else if (second.kind == OPERAND_SINGLE)
		__asm__ volatile(COMPARE_MEMORY("fcoms")
				 : [found] "=a"(found)
				 : [a] "m"(*a), [b] "m"(second.single));
	else
		__asm__ volatile(COMPARE_MEMORY("fcoml")
				 : [found] "=a"(found)
				 : [a] "m"(*a), [b] "m"(second.wide));
	host_end(state, control, found, 0);
	return found & STATUS_CODES;
}

static void put_codes(uint8_t *state, unsigned codes)
{
	uint16_t status = word_at(state, layout.x87.status);

	status = (uint16_t)((status & ~STATUS_CODES) | codes);
	memcpy(state + layout.x87.status, &status, sizeof(status));
}

#define DEFINE_COMPARE(name, quietly)                                          \
	plain_fn helper_##name##_ST0_FT0_x86_64;                               \
	void helper_##name##_ST0_FT0_x86_64(uint8_t *state)                    \
	{                                                                      \
		put_codes(state, compare(state, quietly));                     \
	}

/* C0 goes to CF, C2 to PF, C3 to ZF. */
#define DEFINE_COMPARE_FLAGS(name, quietly)                                    \
	plain_fn helper_##name##_ST0_FT0_x86_64;                               \
	void helper_##name##_ST0_FT0_x86_64(uint8_t *state)                    \
	{                                                                      \
		exact_put_conditions(state, compare(state, quietly) >> 8);     \
	}

DEFINE_COMPARE(fcom, false)
DEFINE_COMPARE(fucom, true)
DEFINE_COMPARE_FLAGS(fcomi, false)
DEFINE_COMPARE_FLAGS(fucomi, true)

plain_fn helper_fxam_ST0_x86_64;
void helper_fxam_ST0_x86_64(uint8_t *state)
{
	const unsigned empty = 0x4100;
	const struct extended *a;

	a = st(state, 0);
	if (is_empty(state, 0))
		show(state, empty | (a->head >> 15 ? STATUS_C1 : 0),
		     STATUS_CODES);
	else
		ON_HOST(state, STATUS_CODES,
			"fldt %[a]\n\tfxam\n\tfnstsw %[found]\n\tfstp %%st",
			[a] "+m"(*(struct extended *)a) :);
}

