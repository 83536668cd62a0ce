// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "compiler/Disassembly/Instructions.h"

#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrDesc.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>

#include <mutex>

namespace interlock::disassembly {
namespace {

void initialiseLLVM() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  });
}

} // namespace

struct Instructions::Parts {
  llvm::MCTargetOptions options;
  std::unique_ptr<const llvm::MCRegisterInfo> registers;
  std::unique_ptr<const llvm::MCAsmInfo> syntax;
  std::unique_ptr<const llvm::MCInstrInfo> instructions;
  std::unique_ptr<const llvm::MCSubtargetInfo> chip;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<const llvm::MCDisassembler> decoder;
  std::unique_ptr<llvm::MCInstPrinter> printer;
};

Instructions::Instructions(std::unique_ptr<Parts> parts) : parts(std::move(parts)) {}
Instructions::~Instructions() = default;

Result<std::unique_ptr<Instructions>> Instructions::create(const Processor &chip, unsigned lanes) {
  initialiseLLVM();
  llvm::Triple triple("amdgcn-amd-amdhsa");
  std::string error;
  const llvm::Target *backEnd = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backEnd)
    return makeError(Code::internal, fmt::format("expected the AMDGPU back end in this build, got: {}", error));
  auto made = std::make_unique<Parts>();
  made->registers.reset(backEnd->createMCRegInfo(triple));
  made->syntax.reset(backEnd->createMCAsmInfo(*made->registers, triple, made->options));
  made->instructions.reset(backEnd->createMCInstrInfo());
  std::string features = lanes == 32 ? "+wavefrontsize32,-wavefrontsize64" : "+wavefrontsize64,-wavefrontsize32";
  made->chip.reset(backEnd->createMCSubtargetInfo(triple, std::string(chip.name), features));
  made->context = std::make_unique<llvm::MCContext>(triple, made->syntax.get(), made->registers.get(), made->chip.get(),
                                                    nullptr, &made->options);
  made->decoder.reset(backEnd->createMCDisassembler(*made->chip, *made->context));
  made->printer.reset(
      backEnd->createMCInstPrinter(triple, /*SyntaxVariant=*/0, *made->syntax, *made->instructions, *made->registers));
  if (!made->decoder || !made->printer)
    return makeError(Code::internal, "expected the AMDGPU disassembler in this build, got none");
  return std::unique_ptr<Instructions>(new Instructions(std::move(made)));
}

std::vector<Line> Instructions::decode(std::string_view bytes, uint64_t address) const {
  std::vector<Line> lines;
  llvm::ArrayRef<uint8_t> rest(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
  while (!rest.empty()) {
    Line line{.address = address};
    llvm::MCInst instruction;
    uint64_t size = 0;
    auto status = parts->decoder->getInstruction(instruction, size, rest, address, llvm::nulls());
    if (status == llvm::MCDisassembler::Fail || size == 0 || size > rest.size()) {
      line.size = unsigned(std::min<size_t>(4, rest.size()));
      uint32_t word = 0;
      for (unsigned i = 0; i < line.size; ++i)
        word |= uint32_t(rest[i]) << 8 * i;
      line.text = fmt::format(".long {:#x}", word);
    } else {
      line.size = unsigned(size);
      llvm::raw_string_ostream stream(line.text);
      parts->printer->printInst(&instruction, address, "", *parts->chip, stream);
      line.text.erase(0, line.text.find_first_not_of(" \t"));
      const llvm::MCInstrDesc &kind = parts->instructions->get(instruction.getOpcode());
      for (unsigned i = 0; i < kind.getNumOperands() && i < instruction.getNumOperands(); ++i)
        if (kind.operands()[i].OperandType == llvm::MCOI::OPERAND_PCREL && instruction.getOperand(i).isImm())
          line.branch = address + size + 4 * int64_t(int16_t(instruction.getOperand(i).getImm()));
    }
    rest = rest.drop_front(line.size);
    address += line.size;
    lines.push_back(std::move(line));
  }
  return lines;
}

} // namespace interlock::disassembly
