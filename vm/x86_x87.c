/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86_x87.c - arithmetic of x87, computed by the host
 *
 * The engine executes an instruction in parts: it loads a second operand into
 * FT0, computes, and pops; a push comes before the load.  An operand in FT0
 * that came from memory stays as it was there, because the instruction of the
 * host that computes with it is to see the same.
 *
 * Flags of the host's unit stay raised as long as the guest's are; so they
 * need not be cleared each time.
 *
 * Source: Intel 64 SDM volume 1, 8.1.3 (C1), 8.3.8 (constants), 8.5.1 (stack
 * faults), table 8-10 (masked responses); volume 2, FXAM, FBLD, FBSTP.
 */
#include "vm/x86_exact.h"

#include <string.h>

#include "vm/vm_internal.h"

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

static const struct extended indefinite = { UINT64_C(0xc000000000000000),
					    0xffff };

/* Offsets in the engine's state. */
static struct {
	size_t raised;
	size_t top;		/* 4 bytes: which register is ST(0) */
	size_t status, control;	/* 2 bytes each; status without the top */
	size_t empty;		/* a byte per register */
	size_t registers;	/* 16 bytes each */
	size_t conditions;	/* flags of comparisons, where the engine puts
				   them if they are all that it has */
} at;

/* The second operand of the instruction under way. */
static struct {
	enum { OPERAND_REGISTER, OPERAND_SINGLE, OPERAND_DOUBLE } kind;
	bool is_empty;
	struct extended value;
	uint32_t single;
	uint64_t wide;
} second;

/* Of the instruction under way: it has pushed, onto a register in use. */
static bool has_pushed, has_overflown;

static unsigned host_flags;	/* that may be raised in the host's unit */

bool x87_find(struct vm *vm)
{
	const uint64_t start = CONTROL_HOST, invalid = 1, carry = 3;
	const uint64_t first_in_use = 0xfffc;

	at.raised = (size_t)(vm->x87.raised - vm->state);
	at.top = exact_offset(vm, UC_X86_REG_FPSW, 1u << STATUS_TOP_AT, 0);
	at.status = exact_offset(vm, UC_X86_REG_FPSW, invalid, 0);
	at.control = exact_offset(vm, UC_X86_REG_FPCW, start ^ 1, 0);
	at.empty = exact_offset(vm, UC_X86_REG_FPTAG, first_in_use, 0);
	at.registers = exact_offset(vm, UC_X86_REG_FP0, 1, 0);
	/* The first is the flags themselves. */
	at.conditions = exact_offset(vm, UC_X86_REG_RFLAGS, carry, 0);
	at.conditions = exact_offset(vm, UC_X86_REG_RFLAGS, carry,
				     at.conditions);
	return at.conditions && at.top > at.conditions &&
	       at.status > at.top && at.control > at.status &&
	       at.empty > at.control && at.registers > at.empty &&
	       at.raised > at.registers + (size_t)8 * 16;
}

void x87_run(void)
{
	__asm__ volatile("fnclex");
	host_flags = 0;
	has_pushed = has_overflown = false;
}

/* ------- the guest's unit ------- */

static inline uint16_t word_at(const uint8_t *state, size_t offset)
{
	uint16_t word;

	memcpy(&word, state + offset, sizeof(word));
	return word;
}

static inline unsigned number_of(const uint8_t *state, unsigned index)
{
	return (word_at(state, at.top) + index) & 7;
}

static inline struct extended *st(uint8_t *state, unsigned index)
{
	return (struct extended *)(state + at.registers +
				   (size_t)16 * number_of(state, index));
}

static inline bool is_empty(const uint8_t *state, unsigned index)
{
	return state[at.empty + number_of(state, index)];
}

static inline void put(uint8_t *state, unsigned index,
		       const struct extended *value)
{
	*st(state, index) = *value;
	state[at.empty + number_of(state, index)] = 0;
}

/* Whether the register that becomes ST(0) was in use. */
static bool push(uint8_t *state)
{
	uint32_t top = number_of(state, 7);
	bool overflows = !state[at.empty + top];

	memcpy(state + at.top, &top, sizeof(top));
	state[at.empty + top] = 0;
	return overflows;
}

/* What a status word of the host says: flags, C1, and the codes in `codes`. */
static inline void show(uint8_t *state, unsigned found, unsigned codes)
{
	unsigned shown = RAISED_DENORMAL | STATUS_C1 | codes;
	uint16_t status = word_at(state, at.status);

	status &= (uint16_t)~(STATUS_C1 | codes);
	status |= (uint16_t)(found & shown);
	memcpy(state + at.status, &status, sizeof(status));
	state[at.raised] |= found & RAISED_ALL & ~RAISED_DENORMAL;
}

static void stack_fault(uint8_t *state, bool is_overflow)
{
	uint16_t status = word_at(state, at.status) | STATUS_STACK;

	memcpy(state + at.status, &status, sizeof(status));
	show(state, RAISED_INVALID | (is_overflow ? STATUS_C1 : 0), 0);
}

/* ------- the host's unit ------- */

static inline unsigned flags_of(const uint8_t *state)
{
	return (state[at.raised] & (RAISED_ALL & ~RAISED_DENORMAL)) |
	       (word_at(state, at.status) & RAISED_DENORMAL);
}

/* The host rounds as the guest; returns what host_end() is to know. */
static inline unsigned host_begin(const uint8_t *state)
{
	uint16_t control = (word_at(state, at.control) & CONTROL_MODE) |
			   (CONTROL_HOST & ~CONTROL_MODE);

	if (host_flags & ~flags_of(state))
		x87_run();
	if (control != CONTROL_HOST)
		__asm__ volatile("fldcw %0" : : "m"(control));
	return control;
}

static inline void host_end(uint8_t *state, unsigned control, uint16_t found,
			    unsigned codes)
{
	uint16_t host = CONTROL_HOST;

	host_flags = found & RAISED_ALL;
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

/* ------- the second operand ------- */

typedef void plain_fn(uint8_t *state);
typedef void index_fn(uint8_t *state, int index);
typedef void single_fn(uint8_t *state, uint32_t value);
typedef void double_fn(uint8_t *state, uint64_t value);

/* The function's other self does it, if floating point is the engine's. */
#define LEAVE_TO_ENGINE(type, name, ...)                                       \
	do {                                                                   \
		if (!exact_is_on) {                                            \
			ENGINES(type, name)(__VA_ARGS__);                      \
			return;                                                \
		}                                                              \
	} while (0)

#define RETURN_ENGINES(type, name, ...)                                        \
	do {                                                                   \
		if (!exact_is_on)                                              \
			return ENGINES(type, name)(__VA_ARGS__);               \
	} while (0)

index_fn helper_fmov_FT0_STN_x86_64;
void helper_fmov_FT0_STN_x86_64(uint8_t *state, int index)
{
	LEAVE_TO_ENGINE(index_fn, helper_fmov_FT0_STN_x86_64, state, index);
	second.kind = OPERAND_REGISTER;
	second.is_empty = is_empty(state, (unsigned)index);
	second.value = *st(state, (unsigned)index);
}

single_fn helper_flds_FT0_x86_64;
void helper_flds_FT0_x86_64(uint8_t *state, uint32_t value)
{
	LEAVE_TO_ENGINE(single_fn, helper_flds_FT0_x86_64, state, value);
	second.kind = OPERAND_SINGLE;
	second.is_empty = false;
	second.single = value;
}

double_fn helper_fldl_FT0_x86_64;
void helper_fldl_FT0_x86_64(uint8_t *state, uint64_t value)
{
	LEAVE_TO_ENGINE(double_fn, helper_fldl_FT0_x86_64, state, value);
	second.kind = OPERAND_DOUBLE;
	second.is_empty = false;
	second.wide = value;
}

/* Integers are exact, and raise nothing. */
static struct extended from_integer(int64_t value)
{
	struct extended result;

	__asm__ volatile("fildll %1\n\tfstpt %0" : "=m"(result) : "m"(value));
	return result;
}

typedef void integer_fn(uint8_t *state, int32_t value);

integer_fn helper_fildl_FT0_x86_64;
void helper_fildl_FT0_x86_64(uint8_t *state, int32_t value)
{
	LEAVE_TO_ENGINE(integer_fn, helper_fildl_FT0_x86_64, state, value);
	second.kind = OPERAND_REGISTER;
	second.is_empty = false;
	second.value = from_integer(value);
}

plain_fn helper_fldz_FT0_x86_64;
void helper_fldz_FT0_x86_64(uint8_t *state)
{
	LEAVE_TO_ENGINE(plain_fn, helper_fldz_FT0_x86_64, state);
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
#define DEFINE_ARITHMETIC(name)                                                \
	static void name##_second(uint8_t *state, struct extended *a)          \
	{                                                                      \
		switch (second.kind) {                                         \
		case OPERAND_REGISTER:                                         \
			ON_HOST(state, 0, OF_REGISTERS(name), [r] "=m"(*a)     \
				: [a] "m"(*a), [b] "m"(second.value));         \
			break;                                                 \
		case OPERAND_SINGLE:                                           \
			ON_HOST(state, 0, OF_MEMORY(name##s), [r] "=m"(*a)     \
				: [a] "m"(*a), [b] "m"(second.single));        \
			break;                                                 \
		case OPERAND_DOUBLE:                                           \
			ON_HOST(state, 0, OF_MEMORY(name##l), [r] "=m"(*a)     \
				: [a] "m"(*a), [b] "m"(second.wide));          \
		}                                                              \
	}                                                                      \
									       \
	plain_fn helper_##name##_ST0_FT0_x86_64;                               \
	void helper_##name##_ST0_FT0_x86_64(uint8_t *state)                    \
	{                                                                      \
		LEAVE_TO_ENGINE(plain_fn, helper_##name##_ST0_FT0_x86_64,      \
				state);                                        \
		if (is_empty(state, 0) || second.is_empty) {                   \
			stack_fault(state, false);                             \
			put(state, 0, &indefinite);                            \
		} else {                                                       \
			name##_second(state, st(state, 0));                    \
		}                                                              \
	}                                                                      \
									       \
	index_fn helper_##name##_STN_ST0_x86_64;                               \
	void helper_##name##_STN_ST0_x86_64(uint8_t *state, int index)         \
	{                                                                      \
		struct extended *a, *b;                                        \
									       \
		LEAVE_TO_ENGINE(index_fn, helper_##name##_STN_ST0_x86_64,      \
				state, index);                                 \
		a = st(state, (unsigned)index);                                \
		b = st(state, 0);                                              \
		if (is_empty(state, 0) || is_empty(state, (unsigned)index)) {  \
			stack_fault(state, false);                             \
			put(state, (unsigned)index, &indefinite);              \
		} else {                                                       \
			ON_HOST(state, 0, OF_REGISTERS(name), [r] "=m"(*a)     \
				: [a] "m"(*a), [b] "m"(*b));                   \
		}                                                              \
	}

DEFINE_ARITHMETIC(fadd)
DEFINE_ARITHMETIC(fmul)
DEFINE_ARITHMETIC(fsub)
DEFINE_ARITHMETIC(fsubr)
DEFINE_ARITHMETIC(fdiv)
DEFINE_ARITHMETIC(fdivr)

/* `codes`: which the instruction sets. */
#define DEFINE_UNARY(name, text, codes)                                        \
	plain_fn helper_##name##_x86_64;                                       \
	void helper_##name##_x86_64(uint8_t *state)                            \
	{                                                                      \
		struct extended *a;                                            \
									       \
		LEAVE_TO_ENGINE(plain_fn, helper_##name##_x86_64, state);      \
		a = st(state, 0);                                              \
		if (is_empty(state, 0)) {                                      \
			stack_fault(state, false);                             \
			put(state, 0, &indefinite);                            \
		} else {                                                       \
			ON_HOST(state, codes, "fldt %[a]\n\t" text "\n\t"      \
				"fnstsw %[found]\n\tfstpt %[r]",               \
				[r] "=m"(*a) : [a] "m"(*a));                   \
		}                                                              \
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
		stack_fault(state, false);
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
	uint16_t status = word_at(state, at.status);

	status = (uint16_t)((status & ~STATUS_CODES) | codes);
	memcpy(state + at.status, &status, sizeof(status));
}

/* C0 goes to CF, C2 to PF, C3 to ZF; the engine has made room for them. */
static void put_conditions(uint8_t *state, unsigned codes)
{
	const uint64_t all = 0x45;
	uint64_t flags;

	memcpy(&flags, state + at.conditions, sizeof(flags));
	flags = (flags & ~all) | codes >> 8;
	memcpy(state + at.conditions, &flags, sizeof(flags));
}

#define DEFINE_COMPARE(name, quietly)                                          \
	plain_fn helper_##name##_ST0_FT0_x86_64;                               \
	void helper_##name##_ST0_FT0_x86_64(uint8_t *state)                    \
	{                                                                      \
		LEAVE_TO_ENGINE(plain_fn, helper_##name##_ST0_FT0_x86_64,      \
				state);                                        \
		put_codes(state, compare(state, quietly));                     \
	}

/* The engine's own brings the other flags to where they are to be. */
#define DEFINE_COMPARE_FLAGS(name, quietly)                                    \
	plain_fn helper_##name##_ST0_FT0_x86_64;                               \
	void helper_##name##_ST0_FT0_x86_64(uint8_t *state)                    \
	{                                                                      \
		uint8_t raised = state[at.raised];                             \
									       \
		ENGINES(plain_fn, helper_##name##_ST0_FT0_x86_64)(state);      \
		if (!exact_is_on)                                              \
			return;                                                \
		state[at.raised] = raised;                                     \
		put_conditions(state, compare(state, quietly));                \
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

	LEAVE_TO_ENGINE(plain_fn, helper_fxam_ST0_x86_64, state);
	a = st(state, 0);
	if (is_empty(state, 0))
		show(state, empty | (a->head >> 15 ? STATUS_C1 : 0),
		     STATUS_CODES);
	else
		ON_HOST(state, STATUS_CODES,
			"fldt %[a]\n\tfxam\n\tfnstsw %[found]\n\tfstp %%st",
			[a] "+m"(*(struct extended *)a) :);
}

/* ------- moves ------- */

plain_fn helper_fpush_x86_64;
void helper_fpush_x86_64(uint8_t *state)
{
	LEAVE_TO_ENGINE(plain_fn, helper_fpush_x86_64, state);
	has_overflown = push(state);
	has_pushed = true;
}

/* What was pushed, behind the push; C1 says if it was too much. */
static void load(uint8_t *state, const struct extended *value, bool overflows)
{
	has_pushed = false;
	if (overflows)
		stack_fault(state, true);
	else
		show(state, 0, 0);
	put(state, 0, overflows ? &indefinite : value);
}

/* FLD of a register, or FCMOV. */
index_fn helper_fmov_ST0_STN_x86_64;
void helper_fmov_ST0_STN_x86_64(uint8_t *state, int index)
{
	LEAVE_TO_ENGINE(index_fn, helper_fmov_ST0_STN_x86_64, state, index);
	if (has_pushed && has_overflown) {
		load(state, &indefinite, true);
	} else if (has_pushed ? index == 0 || is_empty(state, (unsigned)index) :
				is_empty(state, (unsigned)index) ||
					is_empty(state, 0)) {
		stack_fault(state, false);
		put(state, 0, &indefinite);
	} else {
		load(state, st(state, (unsigned)index), false);
	}
	has_pushed = false;
}

index_fn helper_fmov_STN_ST0_x86_64;
void helper_fmov_STN_ST0_x86_64(uint8_t *state, int index)
{
	LEAVE_TO_ENGINE(index_fn, helper_fmov_STN_ST0_x86_64, state, index);
	if (is_empty(state, 0)) {
		stack_fault(state, false);
		put(state, (unsigned)index, &indefinite);
	} else {
		show(state, 0, 0);
		put(state, (unsigned)index, st(state, 0));
	}
}

index_fn helper_fxchg_ST0_STN_x86_64;
void helper_fxchg_ST0_STN_x86_64(uint8_t *state, int index)
{
	struct extended first, other;

	LEAVE_TO_ENGINE(index_fn, helper_fxchg_ST0_STN_x86_64, state, index);
	first = is_empty(state, 0) ? indefinite : *st(state, 0);
	other = is_empty(state, (unsigned)index) ? indefinite :
						   *st(state, (unsigned)index);
	if (is_empty(state, 0) || is_empty(state, (unsigned)index))
		stack_fault(state, false);
	else
		show(state, 0, 0);
	put(state, 0, &other);
	put(state, (unsigned)index, &first);
}

/* ------- constants ------- */

/* Rounded as the guest rounds. */
#define DEFINE_CONSTANT(name)                                                  \
	plain_fn helper_##name##_ST0_x86_64;                                   \
	void helper_##name##_ST0_x86_64(uint8_t *state)                        \
	{                                                                      \
		struct extended value;                                         \
									       \
		LEAVE_TO_ENGINE(plain_fn, helper_##name##_ST0_x86_64, state);  \
		ON_HOST(state, 0,                                              \
			#name "\n\tfnstsw %[found]\n\tfstpt %[r]",             \
			[r] "=m"(value) :);                                    \
		load(state, &value, has_overflown);                            \
	}

DEFINE_CONSTANT(fld1)
DEFINE_CONSTANT(fldz)
DEFINE_CONSTANT(fldpi)
DEFINE_CONSTANT(fldl2e)
DEFINE_CONSTANT(fldl2t)
DEFINE_CONSTANT(fldlg2)
DEFINE_CONSTANT(fldln2)

/* ------- loads ------- */

/* Nothing of the value is looked at if there is no room for it. */
#define DEFINE_LOAD(name, fn, type, text)                                      \
	fn helper_##name##_ST0_x86_64;                                         \
	void helper_##name##_ST0_x86_64(uint8_t *state, type value)            \
	{                                                                      \
		struct extended wide;                                          \
									       \
		LEAVE_TO_ENGINE(fn, helper_##name##_ST0_x86_64, state, value); \
		if (push(state)) {                                             \
			load(state, &indefinite, true);                        \
			return;                                                \
		}                                                              \
		ON_HOST(state, 0, text " %[value]\n\tfnstsw %[found]\n\t"      \
			"fstpt %[r]", [r] "=m"(wide) : [value] "m"(value));    \
		put(state, 0, &wide);                                          \
	}

typedef void long_fn(uint8_t *state, int64_t value);

DEFINE_LOAD(flds, single_fn, uint32_t, "flds")
DEFINE_LOAD(fldl, double_fn, uint64_t, "fldl")
DEFINE_LOAD(fildl, integer_fn, int32_t, "fildl")
DEFINE_LOAD(fildll, long_fn, int64_t, "fildll")

/* The guest's memory; `ret` is where the translated code goes on. */
typedef uint64_t load_wide_fn(uint8_t *state, uint64_t addr, uintptr_t ret);
typedef uint32_t load_short_fn(uint8_t *state, uint64_t addr, uintptr_t ret);
typedef void store_wide_fn(uint8_t *state, uint64_t addr, uint64_t value,
			   uintptr_t ret);
typedef void store_short_fn(uint8_t *state, uint64_t addr, uint32_t value,
			    uintptr_t ret);

static struct extended fetch(uint8_t *state, uint64_t addr, uintptr_t ret)
{
	struct extended value;

	value.mantissa = ENGINES(load_wide_fn, cpu_ldq_data_ra_x86_64)(
		state, addr, ret);
	value.head = (uint16_t)ENGINES(load_short_fn, cpu_lduw_data_ra_x86_64)(
		state, addr + 8, ret);
	return value;
}

static void store(uint8_t *state, uint64_t addr, const struct extended *value,
		  uintptr_t ret)
{
	ENGINES(store_wide_fn, cpu_stq_data_ra_x86_64)
	(state, addr, value->mantissa, ret);
	ENGINES(store_short_fn, cpu_stw_data_ra_x86_64)
	(state, addr + 8, value->head, ret);
}

#define RETURNS_TO ((uintptr_t)__builtin_return_address(0))

double_fn helper_fldt_ST0_x86_64;
void helper_fldt_ST0_x86_64(uint8_t *state, uint64_t addr)
{
	struct extended value = fetch(state, addr, RETURNS_TO);

	if (!exact_is_on) {
		push(state);
		*st(state, 0) = value;
		return;
	}
	load(state, &value, push(state));
}

/* Two decimal digits a byte; what is no digit counts all the same. */
static struct extended from_decimal(const struct extended *decimal)
{
	struct extended result;
	uint8_t bytes[10];
	int64_t value = 0;

	memcpy(bytes, decimal, sizeof(bytes));
	for (unsigned i = 9; i-- > 0;)
		value = value * 100 + (bytes[i] >> 4) * 10 + (bytes[i] & 15);
	result = from_integer(value);
	result.head |= (uint16_t)((bytes[9] & 0x80) << 8);
	return result;
}

double_fn helper_fbld_ST0_x86_64;
void helper_fbld_ST0_x86_64(uint8_t *state, uint64_t addr)
{
	struct extended value = fetch(state, addr, RETURNS_TO);

	value = from_decimal(&value);
	if (!exact_is_on) {
		push(state);
		*st(state, 0) = value;
		return;
	}
	load(state, &value, push(state));
}

/* ------- stores ------- */

#define DEFINE_STORE(name, type, text, empty_value)                            \
	typedef type name##_fn(uint8_t *state);                                \
	name##_fn helper_##name##_ST0_x86_64;                                  \
	type helper_##name##_ST0_x86_64(uint8_t *state)                        \
	{                                                                      \
		const struct extended *a;                                      \
		type value;                                                    \
									       \
		RETURN_ENGINES(name##_fn, helper_##name##_ST0_x86_64, state);  \
		a = st(state, 0);                                              \
		if (is_empty(state, 0)) {                                      \
			stack_fault(state, false);                             \
			return empty_value;                                    \
		}                                                              \
		ON_HOST(state, 0,                                              \
			"fldt %[a]\n\t" text " %[r]\n\tfnstsw %[found]",       \
			[r] "=m"(value) : [a] "m"(*a));                        \
		return value;                                                  \
	}

DEFINE_STORE(fsts, uint32_t, "fstps", 0xffc00000u)
DEFINE_STORE(fstl, uint64_t, "fstpl", UINT64_C(0xfff8000000000000))
DEFINE_STORE(fistl, int32_t, "fistpl", INT32_MIN)
DEFINE_STORE(fistll, int64_t, "fistpll", INT64_MIN)

DEFINE_STORE(fisttl, int32_t, "fisttpl", INT32_MIN)
DEFINE_STORE(fisttll, int64_t, "fisttpll", INT64_MIN)

/* The engine takes more than is stored. */
#define DEFINE_SHORT_STORE(name, text)                                         \
	typedef int32_t name##_fn(uint8_t *state);                             \
	name##_fn helper_##name##_ST0_x86_64;                                  \
	int32_t helper_##name##_ST0_x86_64(uint8_t *state)                     \
	{                                                                      \
		const struct extended *a;                                      \
		int16_t value;                                                 \
									       \
		RETURN_ENGINES(name##_fn, helper_##name##_ST0_x86_64, state);  \
		a = st(state, 0);                                              \
		if (is_empty(state, 0)) {                                      \
			stack_fault(state, false);                             \
			return INT16_MIN;                                      \
		}                                                              \
		ON_HOST(state, 0,                                              \
			"fldt %[a]\n\t" text " %[r]\n\tfnstsw %[found]",       \
			[r] "=m"(value) : [a] "m"(*a));                        \
		return value;                                                  \
	}

DEFINE_SHORT_STORE(fist, "fistps")
DEFINE_SHORT_STORE(fistt, "fisttps")

double_fn helper_fstt_ST0_x86_64;
void helper_fstt_ST0_x86_64(uint8_t *state, uint64_t addr)
{
	bool faults = exact_is_on && is_empty(state, 0);

	store(state, addr, faults ? &indefinite : st(state, 0), RETURNS_TO);
	if (faults)
		stack_fault(state, false);
	else if (exact_is_on)
		show(state, 0, 0);
}

/* Packed decimal of what has no such form, and of an empty register. */
static const struct extended indefinite_decimal = {
	UINT64_C(0xc000000000000000), 0xffff
};

static struct extended to_decimal(uint8_t *state)
{
	const struct extended *a = st(state, 0);
	struct extended decimal;

	if (is_empty(state, 0)) {
		stack_fault(state, false);
		return indefinite_decimal;
	}
	ON_HOST(state, 0, "fldt %[a]\n\tfbstp %[r]\n\tfnstsw %[found]",
		[r] "=m"(decimal) : [a] "m"(*a));
	return decimal;
}

double_fn helper_fbst_ST0_x86_64;
void helper_fbst_ST0_x86_64(uint8_t *state, uint64_t addr)
{
	struct extended decimal;

	if (!exact_is_on) {
		/* It asks who called it. */
		ENGINES(double_fn, helper_fbst_ST0_x86_64)(state, addr);
		return;
	}
	decimal = to_decimal(state);
	store(state, addr, &decimal, RETURNS_TO);
}
