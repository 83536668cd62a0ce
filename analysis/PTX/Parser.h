// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The parser behind read(): recursive descent over the tokens. The first error stops it: from then on every token
// looks like the end of the text, so that no loop needs a check of its own.
#pragma once

#include "analysis/PTX/Lexer.h"
#include "analysis/PTX/Reader.h"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

namespace interlock::ptx {

class Parser {
public:
  Parser(std::string_view text, std::string_view file) : file(file), lexer(module.own(text)) {}
  tl::expected<Module, ReadError> run();

private:
  // Tokens (Parser.cpp)
  const Token &peek(size_t ahead = 0);
  Token take();
  bool isPunct(std::string_view text, size_t ahead = 0);
  bool acceptPunct(std::string_view text);
  void expectPunct(std::string_view text, std::string_view after);
  bool isDotted(std::string_view text, size_t ahead = 0);
  std::string_view expectName(std::string_view what);
  uint64_t expectInteger(std::string_view what);
  void fail(const Location &at, std::string message);
  void failHere(std::string_view expected);
  bool failed() const { return error.has_value(); }
  /// From an opening bracket to its partner; false (and an error) if there is none.
  void skipBalanced();
  /// Over a directive that nothing here reads: to the end of its line, over its `;`, or over its block.
  void skipDirective();
  /// Notes a directive that is skipped, if it is one that nobody knows.
  void countDirective(std::string_view directive);

  // Constant expressions (Constant.cpp). Integer literals only; the value wraps at 64 bits.
  uint64_t constant(unsigned minPrecedence = 0);
  uint64_t constantUnary();

  // Declarations (Declarations.cpp)
  void moduleItem();
  void version();
  void target();
  void fileDirective();
  void locDirective();
  SourceLine inOwnFile(SourceLine at, SourceLine caller);
  void linked();
  void variables(Space space, Linkage linkage, std::vector<Variable> &into, bool inBody);
  void initializer(Variable &v, size_t level, uint64_t &at);
  void initialValue(Variable &v, uint64_t at);
  void dimensions(Variable &v);
  void registers();
  void functionDeclaration(bool entry, Linkage linkage, Location begin);
  void parameters(std::vector<Variable> &into, Function &fn);
  void functionDirectives(Function &fn);
  void skipHeaderDirective(std::string_view directive);
  std::array<uint32_t, 3> extent3();

  // Bodies (Body.cpp)
  void body(Function &fn);
  void statement(Function &fn);
  void label(Function &fn);
  void instruction(Function &fn);
  Operand operand(Function &fn, bool call, unsigned depth);
  Operand named(Function &fn);
  void listOf(Function &fn, Operand &into, std::string_view close, bool call, unsigned depth);
  void resolveLabels(Function &fn);
  void resolveName(Function &fn, Operand &o, uint32_t scope);

  // Scopes
  struct RegisterDecl {
    Type type = Type::none;
    uint8_t lanes = 1;
    uint64_t count = 0; ///< 0: exactly this name
    Location at;
    uint32_t index = ~0u; ///< in Function::registers, for exact names, once used
  };
  struct SymbolDecl {
    SymbolScope scope;
    uint32_t index;
  };
  /// What a scope declares.
  struct Names {
    std::unordered_map<std::string_view, RegisterDecl> registers, families;
    std::unordered_map<std::string_view, uint32_t> members; ///< of families, once used
    std::unordered_map<std::string_view, SymbolDecl> symbols;
    std::unordered_map<std::string_view, uint32_t> labels, tables;
  };
  struct Scope {
    uint32_t parent = ~0u;
    std::unique_ptr<Names> names; ///< null until something is declared: most blocks of inline assembly declare nothing
  };
  static constexpr size_t maxNesting = 256;
  uint32_t pushScope(uint32_t parent);
  /// Of the scope being read, to declare something in.
  Names &names();
  void declareSymbol(std::string_view name, SymbolScope scope, size_t index);
  std::optional<uint32_t> findRegister(Function &fn, std::string_view name);
  std::optional<uint32_t> findRegisterIn(Function &fn, Names &in, std::string_view name);
  const SymbolDecl *findSymbol(std::string_view name, uint32_t scope) const;

  std::string file;
  Module module;
  Lexer lexer;                ///< of the module's own copy of the text, so that what tokens say may be kept
  std::array<Token, 4> ahead; ///< a ring: the tokens that were lexed and not taken yet
  size_t firstAhead = 0, countAhead = 0;
  Token endToken;
  std::optional<ReadError> error;
  std::unordered_map<std::string_view, uint32_t> functionIndex; ///< by name
  SourceLine source;
  std::map<SourceLine, SourceLine> callers; ///< of the places that the function's `.loc` have named; line 0: none
  std::vector<Scope> scopes;                ///< 0 is the module's
  uint32_t scope = 0;
  std::vector<RegisterDecl *> usedModuleRegisters; ///< by the function being read
  std::vector<uint32_t> instructionScopes;         ///< of the function being read
  std::vector<uint32_t> tableScopes;
  std::vector<std::string_view> modScratch; ///< of the instruction being read
  std::vector<Operand> operandScratch;
  unsigned constantDepth = 0;
};

/// True if PTX defines a special register of that name (without `%`; `envreg0`, `pm3`, … included).
bool isSpecialRegister(std::string_view name);

} // namespace interlock::ptx
