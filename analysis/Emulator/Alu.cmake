# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
# Arithmetic, apart from the machine so that it can be tested alone.
interlock_add_library(InterlockAlu
  SOURCES Alu.cpp AluBits.cpp AluCompare.cpp AluConvert.cpp AluFloat.cpp AluInteger.cpp FloatFormat.cpp
  LINK InterlockPTX)
