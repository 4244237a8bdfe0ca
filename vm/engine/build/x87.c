/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x87.c - loads, stores and other moves of x87, done by the host
 *
 * Where the engine executes an instruction in parts, a push comes first.
 *
 * Source: Intel 64 SDM volume 1, 8.3.8 (constants), 8.5.1 (stack faults), table
 * 8-10 (masked responses); volume 2, FBLD, FBSTP, FISTTP.
 */
#include "vm/engine/build/x87.h"

/* Whether the register that becomes ST(0) was in use. */
static bool push(uint8_t *state)
{
	uint32_t top = number_of(state, 7);
	bool overflows = !state[layout.x87.empty + top];

	memcpy(state + layout.x87.top, &top, sizeof(top));
	state[layout.x87.empty + top] = 0;
	return overflows;
}

/* Of the instruction under way: it has pushed, onto a register in use. */
static _Thread_local bool has_pushed, has_overflown;

/* ------- moves ------- */

plain_fn helper_fpush_x86_64;
void helper_fpush_x86_64(uint8_t *state)
{
	has_overflown = push(state);
	has_pushed = true;
}

/* What was pushed, behind the push; C1 says if it was too much. */
static void load(uint8_t *state, const struct extended *value, bool overflows)
{
	has_pushed = false;
	if (overflows)
		x87_stack_fault(state, true);
	else
		show(state, 0, 0);
	put(state, 0, overflows ? &x87_indefinite : value);
}

/* FLD of a register, or FCMOV. */
index_fn helper_fmov_ST0_STN_x86_64;
void helper_fmov_ST0_STN_x86_64(uint8_t *state, int index)
{
	if (has_pushed && has_overflown) {
		load(state, &x87_indefinite, true);
	} else if (has_pushed ? index == 0 || is_empty(state, (unsigned)index) :
				is_empty(state, (unsigned)index) ||
					is_empty(state, 0)) {
		x87_stack_fault(state, false);
		put(state, 0, &x87_indefinite);
	} else {
		load(state, st(state, (unsigned)index), false);
	}
	has_pushed = false;
}

index_fn helper_fmov_STN_ST0_x86_64;
void helper_fmov_STN_ST0_x86_64(uint8_t *state, int index)
{
	if (is_empty(state, 0)) {
		x87_stack_fault(state, false);
		put(state, (unsigned)index, &x87_indefinite);
	} else {
		show(state, 0, 0);
		put(state, (unsigned)index, st(state, 0));
	}
}

index_fn helper_fxchg_ST0_STN_x86_64;
void helper_fxchg_ST0_STN_x86_64(uint8_t *state, int index)
{
	struct extended first, other;

	first = is_empty(state, 0) ? x87_indefinite : *st(state, 0);
	other = is_empty(state, (unsigned)index) ? x87_indefinite :
						   *st(state, (unsigned)index);
	if (is_empty(state, 0) || is_empty(state, (unsigned)index))
		x87_stack_fault(state, false);
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
#define DEFINE_LOAD(name, fn, type, text)                           \
	fn helper_##name##_ST0_x86_64;                              \
	void helper_##name##_ST0_x86_64(uint8_t *state, type value) \
	{                                                           \
		struct extended wide;                               \
                                                                    \
		if (push(state)) {                                  \
			load(state, &x87_indefinite, true);         \
			return;                                     \
		}                                                   \
		ON_HOST(state, 0,                                   \
			text " %[value]\n\tfnstsw %[found]\n\t"     \
			     "fstpt %[r]",                          \
			[r] "=m"(wide)                              \
			: [value] "m"(value));                      \
		put(state, 0, &wide);                               \
	}

typedef void long_fn(uint8_t *state, int64_t value);

DEFINE_LOAD(flds, single_fn, uint32_t, "flds")
DEFINE_LOAD(fldl, double_fn, uint64_t, "fldl")
DEFINE_LOAD(fildl, integer_fn, int32_t, "fildl")
DEFINE_LOAD(fildll, long_fn, int64_t, "fildll")

/* The guest's memory; `ret` is where the translated code goes on. */
uint64_t cpu_ldq_data_ra_x86_64(uint8_t *state, uint64_t addr, uintptr_t ret);
uint32_t cpu_lduw_data_ra_x86_64(uint8_t *state, uint64_t addr, uintptr_t ret);
void cpu_stq_data_ra_x86_64(uint8_t *state, uint64_t addr, uint64_t value,
			    uintptr_t ret);
void cpu_stw_data_ra_x86_64(uint8_t *state, uint64_t addr, uint32_t value,
			    uintptr_t ret);

static struct extended fetch(uint8_t *state, uint64_t addr, uintptr_t ret)
{
	struct extended value;

	value.mantissa = cpu_ldq_data_ra_x86_64(state, addr, ret);
	value.head = (uint16_t)cpu_lduw_data_ra_x86_64(state, addr + 8, ret);
	return value;
}

static void store(uint8_t *state, uint64_t addr, const struct extended *value,
		  uintptr_t ret)
{
	cpu_stq_data_ra_x86_64(state, addr, value->mantissa, ret);
	cpu_stw_data_ra_x86_64(state, addr + 8, value->head, ret);
}

#define RETURNS_TO ((uintptr_t)__builtin_return_address(0))

double_fn helper_fldt_ST0_x86_64;
void helper_fldt_ST0_x86_64(uint8_t *state, uint64_t addr)
{
	struct extended value = fetch(state, addr, RETURNS_TO);

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
	load(state, &value, push(state));
}

/* ------- stores ------- */

#define DEFINE_STORE(name, type, stored, text, empty_value)                    \
	typedef type name##_fn(uint8_t *state);                                \
	name##_fn helper_##name##_ST0_x86_64;                                  \
	type helper_##name##_ST0_x86_64(uint8_t *state)                        \
	{                                                                      \
		const struct extended *a;                                      \
		stored value;                                                  \
									       \
		a = st(state, 0);                                              \
		if (is_empty(state, 0)) {                                      \
			x87_stack_fault(state, false);                         \
			return empty_value;                                    \
		}                                                              \
		ON_HOST(state, 0,                                              \
			"fldt %[a]\n\t" text " %[r]\n\tfnstsw %[found]",       \
			[r] "=m"(value) : [a] "m"(*a));                        \
		return value;                                                  \
	}

DEFINE_STORE(fsts, uint32_t, uint32_t, "fstps", 0xffc00000u)
DEFINE_STORE(fstl, uint64_t, uint64_t, "fstpl", UINT64_C(0xfff8000000000000))
DEFINE_STORE(fistl, int32_t, int32_t, "fistpl", INT32_MIN)
DEFINE_STORE(fistll, int64_t, int64_t, "fistpll", INT64_MIN)
DEFINE_STORE(fisttl, int32_t, int32_t, "fisttpl", INT32_MIN)
DEFINE_STORE(fisttll, int64_t, int64_t, "fisttpll", INT64_MIN)

/* The engine takes more than is stored. */
DEFINE_STORE(fist, int32_t, int16_t, "fistps", INT16_MIN)
DEFINE_STORE(fistt, int32_t, int16_t, "fisttps", INT16_MIN)

double_fn helper_fstt_ST0_x86_64;
void helper_fstt_ST0_x86_64(uint8_t *state, uint64_t addr)
{
	bool faults = is_empty(state, 0);

	store(state, addr, faults ? &x87_indefinite : st(state, 0), RETURNS_TO);
	if (faults)
		x87_stack_fault(state, false);
	else
		show(state, 0, 0);
}

static struct extended to_decimal(uint8_t *state)
{
	const struct extended *a = st(state, 0);
	struct extended decimal;

	if (is_empty(state, 0)) {
		x87_stack_fault(state, false);
		return x87_indefinite;	/* in decimal, too */
	}
	ON_HOST(state, 0, "fldt %[a]\n\tfbstp %[r]\n\tfnstsw %[found]",
		[r] "=m"(decimal) : [a] "m"(*a));
	return decimal;
}

double_fn helper_fbst_ST0_x86_64;
void helper_fbst_ST0_x86_64(uint8_t *state, uint64_t addr)
{
	struct extended decimal;

	decimal = to_decimal(state);
	store(state, addr, &decimal, RETURNS_TO);
}

/* ------- the environment ------- */

#define ENVIRONMENT 28		/* bytes, of the form with 32 bits */
#define ENVIRONMENT_SHORT 14

typedef void environment_fn(uint8_t *state, uint64_t addr, int is_wide);

/*
 * What has no meaning is stored as ones.  Then all exceptions are masked, which
 * the engine leaves out; feholdexcept() counts on it.
 */
REPLACES(environment_fn, helper_fstenv_x86_64);
void helper_fstenv_x86_64(uint8_t *state, uint64_t addr, int is_wide)
{
	static const unsigned upper_halves[] = { 2, 6, 10, 26 };
	unsigned size = is_wide ? ENVIRONMENT : ENVIRONMENT_SHORT;
	uint16_t control = word_at(state, layout.x87.control) | RAISED_ALL;

	/* The engine's asks who called it: it must not fault. */
	cpu_stw_data_ra_x86_64(state, addr, 0, RETURNS_TO);
	cpu_stw_data_ra_x86_64(state, addr + size - 2, 0, RETURNS_TO);
	engine_helper_fstenv_x86_64(state, addr, is_wide);
	for (unsigned i = 0; is_wide && i < 4; i++)
		cpu_stw_data_ra_x86_64(state, addr + upper_halves[i],
				       UINT16_MAX, RETURNS_TO);
	memcpy(state + layout.x87.control, &control, sizeof(control));
}
