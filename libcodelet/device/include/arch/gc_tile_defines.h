/* Constants of the tile, for C, C++ and assembly: contexts, memory, control registers.
 *
 * Names and numbers are those of public codelets and tools (ipu_assembly_support, the constants of
 * Saghetti0/graphcore-ipu-research). __builtin_ipu_get and _put take the number of a control
 * register. From 256 on a register belongs to a worker's floating-point unit, and
 * __builtin_ipu_uget and _uput take its number minus 256 (`& CSR_UPPER_MASK`). populus/builtins.h
 * says which registers have an effect.
 */
#ifndef POPULUS_GC_TILE_DEFINES_H
#define POPULUS_GC_TILE_DEFINES_H

#define CTXT_WORKERS 6
#define CTXT_TOTAL 7

#if defined(__IPU_ARCH_VERSION__) && __IPU_ARCH_VERSION__ < 2
#define TMEM_REGION0_BASE_ADDR 0x40000
#define TMEM_REGION0_SIZE 0x80
#define TMEM_REGION1_SIZE 0x80
#else
#define TMEM_REGION0_BASE_ADDR 0x4c000
#define TMEM_REGION0_SIZE 0xd0
#define TMEM_REGION1_SIZE 0x1a0
#endif
#define TMEM_BASE_ADDR TMEM_REGION0_BASE_ADDR
#define TMEM_ELEMSIZE 0x4000
#define TMEM_REGION0_INTERLEAVE_FACTOR 1
#define TMEM_REGION1_INTERLEAVE_FACTOR 2
#define TMEM_BYTE_MAX_ADDRESS_WIDTH 21
#define TMEM_FULL_ADDRESS_MASK 0x1fffff

#define TFPU_AMP_UNITS_PER_SET 8
#define TFPU_AACC_PER_AMP_UNIT 2
#define TFPU_NUM_ACCUM 16
#define TFPU_FP32_TRUE 0xffffffff
#define TFPU_FP32_FALSE 0
#define TFPU_FP16_TRUE 0xffff
#define TFPU_FP16_FALSE 0

#define TEXCH_SYNCZONE_RECV 0
#define TEXCH_SYNCZONE_ANS 1
#define TEXCH_SYNCZONE_LOCAL 2
#define TEXCH_SYNCZONE_INTERNAL 3

#define CSR_UPPER_MASK 0xff

/* The supervisor's */
#define CSR_S_SSR__INDEX 0x1
#define CSR_S_CR__INDEX 0x2
#define CSR_S_TILE_ID__INDEX 0x3
#define CSR_S_FP_ICTL__INDEX 0x20
#define CSR_S_FP_ICTL__INV__SHIFT 0
#define CSR_S_FP_ICTL__INV__MASK 0x1
#define CSR_S_FP_ICTL__DIV0__SHIFT 1
#define CSR_S_FP_ICTL__DIV0__MASK 0x1
#define CSR_S_FP_ICTL__OFLO__SHIFT 2
#define CSR_S_FP_ICTL__OFLO__MASK 0x1
#define CSR_S_FP_ICTL__ESR__SHIFT 19
#define CSR_S_FP_ICTL__ESR__MASK 0x1
#define CSR_S_FP_ICTL__NANOO__SHIFT 20
#define CSR_S_FP_ICTL__NANOO__MASK 0x1
#define CSR_S_CCCSLOAD__INDEX 0x50
#define CSR_S_SCOUNT_L__INDEX 0x60
#define CSR_S_SCOUNT_U__INDEX 0x61

/* A worker's */
#define CSR_W_WSR__INDEX 0x1
#define CSR_W_WSR__CTXTID_M1__SHIFT 0
#define CSR_W_WSR__CTXTID_M1__MASK 0x7
#define CSR_W_VERTEX_BASE__INDEX 0x2
#define CSR_W_WORKER_BASE__INDEX 0x3
#define CSR_W_REPEAT_COUNT__INDEX 0x4
#if defined(__IPU_ARCH_VERSION__) && __IPU_ARCH_VERSION__ < 2
#define CSR_W_REPEAT_COUNT__VALUE__MASK 0xfff
#else
#define CSR_W_REPEAT_COUNT__VALUE__MASK 0xffff
#endif
#define CSR_W_COUNT_L__INDEX 0x60
#define CSR_W_COUNT_U__INDEX 0x61
#define CSR_W_FP_STS__INDEX 0x100
#define CSR_W_FP_CLR__INDEX 0x101
#define CSR_W_FP_CLR__ZAACC__SHIFT 3
#define CSR_W_FP_CLR__ZAACC__MASK 0x1
#define CSR_W_FP_CTL__INDEX 0x102
#define CSR_W_FP_CTL__INV__SHIFT 0
#define CSR_W_FP_CTL__INV__MASK 0x1
#define CSR_W_FP_CTL__DIV0__SHIFT 1
#define CSR_W_FP_CTL__DIV0__MASK 0x1
#define CSR_W_FP_CTL__OFLO__SHIFT 2
#define CSR_W_FP_CTL__OFLO__MASK 0x1
#define CSR_W_FP_CTL__ESR__SHIFT 19
#define CSR_W_FP_CTL__ESR__MASK 0x1
#define CSR_W_FP_CTL__NANOO__SHIFT 20
#define CSR_W_FP_CTL__NANOO__MASK 0x1
#define CSR_W_PRNG_0_0__INDEX 0x103
#define CSR_W_PRNG_0_1__INDEX 0x104
#define CSR_W_PRNG_1_0__INDEX 0x105
#define CSR_W_PRNG_1_1__INDEX 0x106
#define CSR_W_TAS__INDEX 0x108

#endif
