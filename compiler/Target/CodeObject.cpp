// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "compiler/Target/CodeObject.h"

#include "compiler/Target/AMDGCN.h"

#include "lld/Common/Driver.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>

#include <signal.h>
#include <stdlib.h>

LLD_HAS_DRIVER(elf)

namespace interlock::target {
namespace {

void gather(const llvm::SMDiagnostic &diagnostic, void *errors) {
  llvm::raw_string_ostream stream(*static_cast<std::string *>(errors));
  diagnostic.print(nullptr, stream, /*ShowColors=*/false);
}

/// A directory that only this process can enter, removed with everything in it.
class PrivateDirectory {
public:
  PrivateDirectory() {
    std::error_code error;
    path = (std::filesystem::temp_directory_path(error) / "interlock-XXXXXX").string();
    made = !error && mkdtemp(path.data());
  }
  ~PrivateDirectory() {
    std::error_code error;
    if (made)
      std::filesystem::remove_all(path, error);
  }
  PrivateDirectory(const PrivateDirectory &) = delete;
  PrivateDirectory &operator=(const PrivateDirectory &) = delete;

  std::string path;
  bool made = false;
};

/// lld's driver takes the process's signals to recover from a crash of its own: whoever had them has them back.
class SignalsKept {
public:
  SignalsKept() {
    for (int signal = 1; signal < NSIG; ++signal)
      sigaction(signal, nullptr, &before[signal]);
  }
  ~SignalsKept() {
    for (int signal = 1; signal < NSIG; ++signal) {
      struct sigaction now = {};
      if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler != before[signal].sa_handler)
        sigaction(signal, &before[signal], nullptr);
    }
  }
  SignalsKept(const SignalsKept &) = delete;
  SignalsKept &operator=(const SignalsKept &) = delete;

private:
  struct sigaction before[NSIG] = {};
};

} // namespace

Result<std::string> assembleObject(const std::string &assembly, const TargetInfo &target) {
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = amdgcnMachine(target, error);
  if (!machine)
    return makeError(Code::internal, fmt::format("expected the AMDGPU back end in this build, got: {}", error));
  const llvm::Target &backEnd = machine->getTarget();
  const llvm::Triple &triple = machine->getTargetTriple();
  const llvm::MCTargetOptions &options = machine->Options.MCOptions;

  std::string complaints;
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(assembly, "<assembly>"), llvm::SMLoc());
  sources.setDiagHandler(gather, &complaints);
  llvm::MCContext context(triple, machine->getMCAsmInfo(), machine->getMCRegisterInfo(), machine->getMCSubtargetInfo(),
                          &sources, &options);
  std::unique_ptr<llvm::MCObjectFileInfo> sections(backEnd.createMCObjectFileInfo(context, /*PIC=*/true));
  context.setObjectFileInfo(sections.get());

  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  const llvm::MCSubtargetInfo &chip = *machine->getMCSubtargetInfo();
  std::unique_ptr<llvm::MCAsmBackend> fixups(backEnd.createMCAsmBackend(chip, *machine->getMCRegisterInfo(), options));
  std::unique_ptr<llvm::MCObjectWriter> writer = fixups->createObjectWriter(stream);
  std::unique_ptr<llvm::MCCodeEmitter> encoder(backEnd.createMCCodeEmitter(*machine->getMCInstrInfo(), context));
  std::unique_ptr<llvm::MCStreamer> streamer(
      backEnd.createMCObjectStreamer(triple, context, std::move(fixups), std::move(writer), std::move(encoder), chip));
  std::unique_ptr<llvm::MCAsmParser> parser(
      llvm::createMCAsmParser(sources, context, *streamer, *machine->getMCAsmInfo()));
  std::unique_ptr<llvm::MCTargetAsmParser> dialect(
      backEnd.createMCAsmParser(chip, *parser, *machine->getMCInstrInfo(), options));
  parser->setTargetParser(*dialect);
  if (parser->Run(/*NoInitialTextSection=*/true))
    return makeError(Code::compile, fmt::format("the assembler refused the text for {}: {}", target.name, complaints));
  return std::string(bytes);
}

Result<std::string> linkCodeObject(const std::string &object) {
  PrivateDirectory directory;
  if (!directory.made)
    return makeError(Code::notFound, "expected to make a temporary directory to link the code object in, could not: "
                                     "TMPDIR would have to name a directory that can be written");
  std::string from = directory.path + "/kernel.o", to = directory.path + "/kernel.hsaco";
  if (std::ofstream file(from, std::ios::binary); !(file << object) || !file.flush())
    return makeError(Code::notFound, fmt::format("expected to write {}, could not: is there room?", from));

  std::string messages;
  llvm::raw_string_ostream stream(messages);
  // A mapped output file would make LLVM take the process's signals, to remove the file if one comes.
  const char *arguments[] = {"ld.lld",      "-shared", "--no-undefined", "--no-mmap-output-file",
                             "--threads=1", "-o",      to.c_str(),       from.c_str()};
  static std::mutex oneAtATime;
  std::lock_guard<std::mutex> lock(oneAtATime);
  SignalsKept signals;
  lld::Result result = lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return makeError(Code::compile, fmt::format("lld refused to link the code object: {}", messages));
  std::ifstream file(to, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.empty() || file.bad())
    return makeError(Code::internal, fmt::format("expected to read what lld linked from {}, could not", to));
  return bytes;
}

namespace {

/// The metadata of an object file: a MessagePack document in a note.
Result<std::string> metadataNote(const std::string &object) {
  auto broken = [](llvm::Error error) {
    return makeError(Code::internal,
                     fmt::format("expected an ELF object of the assembler, got: {}", llvm::toString(std::move(error))));
  };
  auto file = llvm::object::ELFFile<llvm::object::ELF64LE>::create(object);
  if (!file)
    return broken(file.takeError());
  auto sections = file->sections();
  if (!sections)
    return broken(sections.takeError());
  for (const auto &section : *sections) {
    if (section.sh_type != llvm::ELF::SHT_NOTE)
      continue;
    llvm::Error error = llvm::Error::success();
    for (const auto &note : file->notes(section, error))
      if (note.getName() == "AMDGPU" && note.getType() == llvm::ELF::NT_AMDGPU_METADATA) {
        llvm::consumeError(std::move(error));
        return note.getDescAsStringRef(section.sh_addralign).str();
      }
    if (error)
      return broken(std::move(error));
  }
  return makeError(Code::internal, "expected metadata in the code object, got none");
}

nlohmann::json asJson(llvm::msgpack::DocNode &node) {
  using llvm::msgpack::Type;
  switch (node.getKind()) {
  case Type::Map: {
    nlohmann::json object = nlohmann::json::object();
    for (auto &[key, value] : node.getMap())
      object[key.isString() ? key.getString().str() : key.toString()] = asJson(value);
    return object;
  }
  case Type::Array: {
    nlohmann::json array = nlohmann::json::array();
    for (llvm::msgpack::DocNode &value : node.getArray())
      array.push_back(asJson(value));
    return array;
  }
  case Type::UInt:
    return node.getUInt();
  case Type::Int:
    return node.getInt();
  case Type::Boolean:
    return node.getBool();
  case Type::String:
    return node.getString().str();
  default:
    return nullptr;
  }
}

} // namespace

Result<nlohmann::json> describeKernel(const std::string &object) {
  ILK_ASSIGN_OR_RETURN(std::string note, metadataNote(object));
  llvm::msgpack::Document document;
  if (!document.readFromBlob(note, /*Multi=*/false))
    return makeError(Code::internal, "expected metadata of the code object in MessagePack, got something else");
  nlohmann::json all = asJson(document.getRoot());
  nlohmann::json kernels = all.value("amdhsa.kernels", nlohmann::json::array());
  if (kernels.size() != 1)
    return makeError(Code::internal, fmt::format("expected a code object with one kernel, got {}", kernels.size()));
  const nlohmann::json &kernel = kernels[0];
  auto number = [&](const char *field) { return kernel.value(field, uint64_t(0)); };
  nlohmann::json arguments = nlohmann::json::array();
  for (const nlohmann::json &argument : kernel.value(".args", nlohmann::json::array()))
    arguments.push_back({{"offset", argument.value(".offset", 0)},
                         {"bytes", argument.value(".size", 0)},
                         {"kind", argument.value(".value_kind", "")}});
  return nlohmann::json{{"entry", kernel.value(".name", "")},
                        {"descriptor", kernel.value(".symbol", "")},
                        {"shared_bytes", number(".group_segment_fixed_size")},
                        {"scratch_bytes", number(".private_segment_fixed_size")},
                        {"vgprs", number(".vgpr_count")},
                        {"agprs", number(".agpr_count")},
                        {"sgprs", number(".sgpr_count")},
                        {"vgpr_spills", number(".vgpr_spill_count")},
                        {"sgpr_spills", number(".sgpr_spill_count")},
                        {"wave_width", number(".wavefront_size")},
                        {"kernarg",
                         {{"bytes", number(".kernarg_segment_size")},
                          {"align", number(".kernarg_segment_align")},
                          {"arguments", arguments}}}};
}

} // namespace interlock::target
