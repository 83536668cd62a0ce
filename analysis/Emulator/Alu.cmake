# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
# Arithmetic, apart from the machine so that it can be tested alone.
interlock_add_library(InterlockAlu
  SOURCES Alu.cpp AluBits.cpp AluCompare.cpp AluConvert.cpp AluConvertPacked.cpp AluExtended.cpp AluFloat.cpp
          AluFloat64.cpp AluInteger.cpp FloatFormat.cpp
  LINK InterlockPTX)
# Sums that find their own rounding error must be compiled as written: no contraction into a fused product. Loops over
# lanes are worth vectorising.
target_compile_options(InterlockAlu PRIVATE -ffp-contract=off -ftree-vectorize -fvect-cost-model=dynamic)
