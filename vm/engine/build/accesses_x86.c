/* SPDX-License-Identifier: GPL-2.0-or-later */
/* accesses_x86.c - x86-64: what is replaced so that accesses are logged */
#include "vm/engine/build/accesses.h"
#include "vm/engine/build/vectors.h"

extern op1_fn tcg_gen_op1_x86_64;
extern op3_fn tcg_gen_op3_x86_64;
extern op6_fn tcg_gen_op6_x86_64;
extern new_fn tcg_temp_new_internal_x86_64;
extern free_fn tcg_temp_free_internal_x86_64;
extern find_block_fn tcg_tb_lookup_x86_64;
extern restore_fn cpu_restore_state_x86_64;
extern leave_fn cpu_loop_exit_x86_64;

/* The engine says here, too, that an instruction begins. */
REPLACES(op2_fn, tcg_gen_op2_x86_64);
void tcg_gen_op2_x86_64(void *context, int op, uintptr_t a, uintptr_t b)
{
	accesses_insn(op, a);
	vectors_note(op, a, b);
	engine_tcg_gen_op2_x86_64(context, op, a, b);
}

const struct generator generator_x86 = {
	.op1 = tcg_gen_op1_x86_64,
	.op2 = engine_tcg_gen_op2_x86_64,
	.op3 = tcg_gen_op3_x86_64,
	.op6 = tcg_gen_op6_x86_64,
	.new = tcg_temp_new_internal_x86_64,
	.free = tcg_temp_free_internal_x86_64,
	.find_block = tcg_tb_lookup_x86_64,
	.restore = cpu_restore_state_x86_64,
	.leave = cpu_loop_exit_x86_64,
};

DEFINE_EMIT(tcg_emit_op_x86_64)
DEFINE_ASK(check_exit_request_x86_64)

REPLACES(call_fn, tcg_gen_callN_x86_64);
void tcg_gen_callN_x86_64(void *context, void *function, void *result,
			  int count, void **arguments)
{
	if (vectors_generate(context, function, result, arguments))
		return;
	accesses_call(context);
	engine_tcg_gen_callN_x86_64(context, function, result, count,
				    arguments);
}

DEFINE_LOAD(tcg_gen_qemu_ld_i32_x86_64, OP_STORE_32_OF_32, (void)0)
DEFINE_LOAD(tcg_gen_qemu_ld_i64_x86_64, OP_STORE_64, (void)0)
DEFINE_STORE(tcg_gen_qemu_st_i32_x86_64, OP_STORE_32_OF_32, halves_note_store())
DEFINE_STORE(tcg_gen_qemu_st_i64_x86_64, OP_STORE_64, halves_note_store())

DEFINE_READ(uint32_t, cpu_lduw_data_ra_x86_64, 1)
DEFINE_READ(uint32_t, cpu_ldl_data_ra_x86_64, 2)
DEFINE_READ(uint64_t, cpu_ldq_data_ra_x86_64, 3)
DEFINE_WRITE(uint32_t, cpu_stb_data_ra_x86_64, 0)
DEFINE_WRITE(uint32_t, cpu_stw_data_ra_x86_64, 1)
DEFINE_WRITE(uint32_t, cpu_stl_data_ra_x86_64, 2)
DEFINE_WRITE(uint64_t, cpu_stq_data_ra_x86_64, 3)
