/* Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
 *
 * The C boundary between the runtime and libinterlock_compiler.so, which the runtime dlopens on a cache miss. The
 * plugin exports these functions and nothing else; LLVM and MLIR are static and hidden inside it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bumped whenever a struct or a meaning below changes; the loader refuses another value. */
#define ILK_COMPILER_ABI 4

typedef struct ilk_compiler_request {
  size_t size;      /**< sizeof(ilk_compiler_request) of the caller */
  const char *spec; /**< canonicalForm() of the KernelSpec; NULL if there is a module */
  size_t spec_size;
  const char *module; /**< MLIR text of a module with one stage or kernel in place of a spec, or NULL */
  size_t module_size;
  const char *module_file;  /**< its name in messages, or NULL */
  const char *template_dir; /**< directory that overrides the embedded templates, or NULL */
  const char *parts;     /**< comma-separated names of the parts wanted, of stages, expanded, verified, lowered, llvm,
                            ptx and cubin (NVIDIA chips), asm and hsaco (AMD chips) and meta */
  const char *line_file; /**< file that the caller will write `expanded` to, which the lines in ptx and cubin are of; or
                            NULL: they have no lines */
} ilk_compiler_request;

typedef struct ilk_compiler_output ilk_compiler_output;

/** ILK_COMPILER_ABI that the plugin was built with. */
uint32_t ilk_compiler_abi(void);
/** What the cache key needs to know of the plugin: `digest`, `templates` (digest of the embedded templates), `llvm` and
 * `assembler` (nvJitLink's build, or `none`), as a JSON object. Valid until the process ends. */
const char *ilk_compiler_identity(void);
/** Compiles. Returns 0, or non-zero with the reason in ilk_compiler_output_error; `*out` is set in both cases. Any
 * thread may call it, several at a time. */
int32_t ilk_compiler_compile(const ilk_compiler_request *request, ilk_compiler_output **out);

typedef struct ilk_compiler_disassembly {
  size_t size;        /**< sizeof(ilk_compiler_disassembly) of the caller */
  const char *object; /**< any bytes: a code object for AMD GPUs (ELF), an offload bundle, a program with one inside */
  size_t object_size;
  const char *chip; /**< "gfx90a": the code objects for that chip alone; NULL: all */
} ilk_compiler_disassembly;

/** Code objects as assembly, which LLVM's assembler and analysis/AMDGCN read. Returns as ilk_compiler_compile does; the
 * parts are `asm`, the text of the first code object, and `objects`, a JSON array of objects with `target`
 * ("amdgcn-amd-amdhsa--gfx90a:xnack-") and `asm`, one for each in their order. Any thread may call it, several at a
 * time. */
int32_t ilk_compiler_disassemble(const ilk_compiler_disassembly *request, ilk_compiler_output **out);

/** A part's bytes, owned by `out`; NULL if the part was not asked for or could not be made (then meta's `remarks` says
 * why). */
const char *ilk_compiler_output_part(const ilk_compiler_output *out, const char *name, size_t *size);
/** The diagnostics, ended by a zero byte; empty on success. */
const char *ilk_compiler_output_error(const ilk_compiler_output *out);
void ilk_compiler_output_free(ilk_compiler_output *out);

/* The part `meta` is a JSON object:
 *   entry (string), target (string), ptx_isa (string, "8.6"), block_threads, cluster, shared_bytes (numbers),
 *   cooperative (bool), launch_mode (string: the name of a LaunchMode; left out where it was not derived),
 *   launch_waits (array of objects of strings: the waits that decided, each with operation, at, mode and because),
 * remarks (array of strings: each downgrade, said once), findings (array of objects), timings_ms (object: step name to
 * milliseconds), assembler (string)
 * For an AMD chip there is no ptx_isa, and in its place code_object (its version) and what its metadata says:
 * descriptor (string, the symbol of the kernel descriptor), vgprs, agprs, sgprs, vgpr_spills, sgpr_spills,
 * scratch_bytes, wave_width (numbers), kernarg (object: bytes, align, arguments: array of offset, bytes and kind) */

#ifdef __cplusplus
}
#endif
