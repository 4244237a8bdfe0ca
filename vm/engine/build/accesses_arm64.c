/* SPDX-License-Identifier: GPL-2.0-or-later */
/* accesses_arm64.c - AArch64: what is replaced so that accesses are logged */
#include "vm/engine/build/accesses.h"

extern op1_fn tcg_gen_op1_aarch64;
extern op2_fn tcg_gen_op2_aarch64;
extern op6_fn tcg_gen_op6_aarch64;
extern new_fn tcg_temp_new_internal_aarch64;
extern free_fn tcg_temp_free_internal_aarch64;
extern find_block_fn tcg_tb_lookup_aarch64;
extern restore_fn cpu_restore_state_aarch64;
extern leave_fn cpu_loop_exit_aarch64;

/* The engine says here, too, that an instruction begins. */
REPLACES(op3_fn, tcg_gen_op3_aarch64);
void tcg_gen_op3_aarch64(void *context, int op, uintptr_t a, uintptr_t b,
			 uintptr_t c)
{
	accesses_insn(op, a);
	engine_tcg_gen_op3_aarch64(context, op, a, b, c);
}

const struct generator generator_arm64 = {
	.op1 = tcg_gen_op1_aarch64,
	.op2 = tcg_gen_op2_aarch64,
	.op3 = engine_tcg_gen_op3_aarch64,
	.op6 = tcg_gen_op6_aarch64,
	.new = tcg_temp_new_internal_aarch64,
	.free = tcg_temp_free_internal_aarch64,
	.find_block = tcg_tb_lookup_aarch64,
	.restore = cpu_restore_state_aarch64,
	.leave = cpu_loop_exit_aarch64,
};

DEFINE_EMIT(tcg_emit_op_aarch64)
DEFINE_ASK(check_exit_request_aarch64)
DEFINE_CALL(tcg_gen_callN_aarch64)

/* Values of 32 bits are 64 wide, too. */
DEFINE_LOAD(tcg_gen_qemu_ld_i64_aarch64, OP_STORE_64,
	    access = ordered_access(access))
DEFINE_STORE(tcg_gen_qemu_st_i64_aarch64, OP_STORE_64,
	     access = ordered_access(access))

/* ------- functions that access memory by themselves ------- */

#define WORD 8u			/* bytes of a record: wide ones come in parts */
#define WORD_LOG 3u

static void note(guest_addr addr, unsigned kind, uint64_t value)
{
	*accesses_note(addr, WORD_LOG, kind) = value;
}

/* DC ZVA: clears a block of 64 bytes. */
#define CLEARED 64u

typedef void clear_fn(void *state, uint64_t addr);
REPLACES(clear_fn, helper_dc_zva_aarch64);
void helper_dc_zva_aarch64(void *state, uint64_t addr)
{
	for (unsigned at = 0; at < CLEARED; at += WORD)
		note((addr & ~(uint64_t)(CLEARED - 1)) + at,
		     ENGINE_LOG_WRITES, 0);
	engine_helper_dc_zva_aarch64(state, addr);
}

/* STXP of two words; 0: it was done. */
typedef uint64_t pair_fn(void *state, uint64_t addr, uint64_t low,
			 uint64_t high);
REPLACES(pair_fn, helper_paired_cmpxchg64_le_aarch64);
uint64_t helper_paired_cmpxchg64_le_aarch64(void *state, uint64_t addr,
					    uint64_t low, uint64_t high)
{
	uint64_t failed = engine_helper_paired_cmpxchg64_le_aarch64(
		state, addr, low, high);

	if (!failed) {
		note(addr, ENGINE_LOG_WRITES, low);
		note(addr + WORD, ENGINE_LOG_WRITES, high);
	}
	return failed;
}
