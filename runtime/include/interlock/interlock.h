/* Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
 *
 * The C ABI: what a program in any language links. C11 and C++17.
 *
 * Status. Every function that can fail returns an ilk_status; ilk_message() has the sentence that goes with the calling
 * thread's last failure. Outputs are written only on ILK_OK. No exception leaves the library, and it neither prints nor
 * ends the process.
 * Structs. Each begins with its size, which the caller sets: `ilk_layer layer = {.size = sizeof layer, …}`. Everything
 * else that is 0 takes a default. A program built with an older header may give a shorter struct, one built with a
 * newer header a longer one, as long as the fields that this library does not know are 0 (else ILK_UNSUPPORTED).
 * Ownership. Handles are the caller's until it closes or destroys them; NULL is closed without an error. A handle keeps
 * alive what it was made of, so they may be closed in any order. Inputs are copied and need not outlive the call,
 * except where a comment says so. Callbacks and their `user` must live as long as the handle that was given them.
 * Threads. Any thread may call any function, several at a time, also with the same handle, except that a handle may not
 * be in use while it is closed, and that calls for one rank of an operation may not overlap. Callbacks may come from
 * any thread that is in a call; they must not throw. */
#ifndef INTERLOCK_INTERLOCK_H
#define INTERLOCK_INTERLOCK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ILK_API __attribute__((visibility("default")))

/** Counts changes that a program must be built again for; additions do not change it. */
#define ILK_ABI 1
/** The library's ILK_ABI, and its version as text: "0.1.0". Never fail. */
ILK_API uint32_t ilk_abi(void);
ILK_API const char *ilk_version(void);

typedef int32_t ilk_status;
enum {
  ILK_OK = 0,
  ILK_BAD_INPUT = 1,    /**< what was asked for cannot be; the message says what would do */
  ILK_UNSUPPORTED = 2,  /**< the target, driver, device or this library lacks something */
  ILK_NOT_FOUND = 3,    /**< a file, library or device is missing */
  ILK_COMPILE = 4,      /**< the compiler refused the kernel */
  ILK_DEVICE = 5,       /**< the driver, the emulator or the system reported a failure */
  ILK_TIMEOUT = 6,      /**< a bounded wait ran out */
  ILK_NOT_PREPARED = 7, /**< the cache is frozen and does not hold this kernel */
  ILK_INTERNAL = 8      /**< out of memory, or a broken promise of the library itself */
};

/** The calling thread's last failure as one sentence; "" before the first. The text is valid until the thread's next
 * failure. */
ILK_API const char *ilk_message(void);

/** Frees a text that a function returned through a `char **`. NULL is nothing. */
ILK_API void ilk_text_free(char *text);

/* ---- Drivers: devices, memory, streams, graphs ---- */

typedef struct ilk_driver ilk_driver;
/** Numbers that a driver gives out; never used twice by one driver. */
typedef uint64_t ilk_stream, ilk_graph, ilk_address;

enum { ILK_DRIVER_ANY = 0, ILK_DRIVER_CUDA = 1, ILK_DRIVER_EMULATOR = 2, ILK_DRIVER_HIP = 3 };

/** Where the library's own device memory comes from: an engine's pool. Addresses are multiples of 256 and reachable
 * from every device of the driver. Windows that other devices or processes map may come from the driver all the same.
 * Both are called from the thread of the call that needs memory or gives it back. */
typedef struct ilk_allocator {
  size_t size;
  void *user;
  ilk_status (*allocate)(void *user, uint32_t device, size_t bytes, ilk_address *address);
  void (*release)(void *user, ilk_address address);
} ilk_allocator;

typedef struct ilk_driver_options {
  size_t size;
  int32_t kind;                   /**< ANY: CUDA, else HIP, and the emulator where there is no GPU */
  const char *target;             /**< of the emulator: a chip such as "sm_90a", which is the default */
  uint32_t devices;               /**< of the emulator; 0: 1 */
  uint32_t residency;             /**< of the emulator: CTAs that a device runs side by side; 0: 132 */
  uint64_t seed;                  /**< of the emulator's scheduler */
  const ilk_allocator *allocator; /**< or NULL; copied */
  uint64_t max_modules;           /**< kernels kept loaded that nobody holds; 0: 256 */
  uint64_t max_module_bytes;      /**< of their texts and binaries; 0: 256 MiB */
  uint32_t cached_windows; /**< of HIP; not 0: windows in memory that caches keep, which is faster for their owner,
                            * but what a peer writes while a kernel runs may go unseen: only for ranks that
                            * share one GPU */
} ilk_driver_options;

typedef struct ilk_device_info {
  size_t size;
  char name[128];
  char target[32]; /**< the chip that kernels are generated for */
  uint32_t multiprocessors;
  uint32_t max_ptx_isa;    /**< 10*major+minor; 0: no limit is known */
  uint32_t driver_version; /**< 0 for the emulator */
} ilk_device_info;

/** `options` may be NULL. */
ILK_API ilk_status ilk_driver_open(const ilk_driver_options *options, ilk_driver **driver);
ILK_API void ilk_driver_close(ilk_driver *driver);
ILK_API ilk_status ilk_driver_device_count(const ilk_driver *driver, uint32_t *count);
ILK_API ilk_status ilk_driver_device_info(const ilk_driver *driver, uint32_t device, ilk_device_info *info);
/** Uninitialised device memory, the caller's to release. It does not come from the driver's allocator callback. */
ILK_API ilk_status ilk_driver_allocate(ilk_driver *driver, uint32_t device, size_t bytes, ilk_address *address);
ILK_API ilk_status ilk_driver_release(ilk_driver *driver, ilk_address address);
ILK_API ilk_status ilk_driver_stream_create(ilk_driver *driver, uint32_t device, ilk_stream *stream);
/** Waits for what is enqueued. */
ILK_API ilk_status ilk_driver_stream_destroy(ilk_driver *driver, ilk_stream stream);
/** Waits, and returns the first error of anything that ran. */
ILK_API ilk_status ilk_driver_synchronize(ilk_driver *driver, ilk_stream stream);
/** Asynchronous on the stream; host memory must live, and stay as it is, until the stream is synchronised. */
ILK_API ilk_status ilk_driver_copy_in(ilk_driver *driver, ilk_stream stream, ilk_address to, const void *from,
                                      size_t bytes);
ILK_API ilk_status ilk_driver_copy_out(ilk_driver *driver, ilk_stream stream, void *to, ilk_address from, size_t bytes);
ILK_API ilk_status ilk_driver_copy(ilk_driver *driver, ilk_stream stream, ilk_address to, ilk_address from,
                                   size_t bytes);
ILK_API ilk_status ilk_driver_fill(ilk_driver *driver, ilk_stream stream, ilk_address to, uint8_t value, size_t bytes);
/** What the stream is given between the two calls becomes a graph instead of running. It keeps its kernels loaded. */
ILK_API ilk_status ilk_driver_begin_capture(ilk_driver *driver, ilk_stream stream);
ILK_API ilk_status ilk_driver_end_capture(ilk_driver *driver, ilk_stream stream, ilk_graph *graph);
ILK_API ilk_status ilk_driver_launch_graph(ilk_driver *driver, ilk_stream stream, ilk_graph graph);
ILK_API ilk_status ilk_driver_destroy_graph(ilk_driver *driver, ilk_graph graph);

/* ---- The kernel cache ---- */

typedef struct ilk_cache ilk_cache;

typedef struct ilk_cache_options {
  size_t size;
  const char *directory;     /**< of the disk cache, made if it is missing; NULL or "": memory only */
  uint64_t max_bytes;        /**< of the disk cache; 0: 1 GiB */
  uint64_t max_files;        /**< 0: 10,000 */
  uint64_t memory_entries;   /**< kernels kept in memory; 0: 4,096 */
  uint32_t read_only;        /**< not 0: nothing in the directory is changed */
  uint32_t frozen;           /**< not 0: as if ilk_cache_freeze were called at once */
  const char *compiler_path; /**< of libinterlock_compiler.so; NULL: beside libinterlock.so, in ../lib, or by name */
  const char *template_dir;  /**< overrides the compiler's templates; NULL: none */
  void (*log)(void *user, const char *sentence); /**< is told every downgrade, once; or NULL */
  void *user;
  /** For a profiler: kernels name lines of their expanded MLIR, which is written into this folder when they are
   * compiled, and should stay. NULL: they name none. */
  const char *line_folder;
} ilk_cache_options;

typedef struct ilk_cache_counters {
  size_t size;
  uint64_t memory_hits, disk_hits;
  uint64_t misses; /**< compiled + failed + refused */
  uint64_t compiled, failed;
  uint64_t refused;  /**< because the cache was frozen */
  uint64_t repaired; /**< damaged entries that were replaced */
} ilk_cache_counters;

/** A directory that cannot be used leaves a cache in memory, and a note; so this fails for bad options only. `options`
 * may be NULL. */
ILK_API ilk_status ilk_cache_open(const ilk_cache_options *options, ilk_cache **cache);
ILK_API void ilk_cache_close(ilk_cache *cache);
/** From here on a kernel that is neither in memory nor on disk is ILK_NOT_PREPARED, at once. */
ILK_API ilk_status ilk_cache_freeze(ilk_cache *cache);
ILK_API ilk_status ilk_cache_thaw(ilk_cache *cache);
ILK_API ilk_status ilk_cache_get_counters(const ilk_cache *cache, ilk_cache_counters *counters);
/** Everything that a cache says of itself, as a JSON object: directory, read_only, frozen, counters, misses (spec, key,
 * reason, failure, ms; the last 256) and notes. The caller frees it with ilk_text_free. */
ILK_API ilk_status ilk_cache_report(const ilk_cache *cache, char **json);

/* ---- Layers and their operations ---- */

enum { /* element types; 0 is bf16 for rows, and for combined rows the type of the rows, or bf16 for fp8 */
       ILK_DTYPE_DEFAULT = 0,
       ILK_F32 = 1,
       ILK_F16 = 2,
       ILK_BF16 = 3,
       ILK_F8E4M3FN = 4,
       ILK_F8E4M3FNUZ = 5,
       ILK_F8E5M2 = 6
};

typedef struct ilk_layer {
  size_t size;
  uint32_t ranks;        /**< of the expert-parallel group, 1 to 64 */
  uint32_t experts;      /**< rank r owns [r*ceil(E/R), min(E, (r+1)*ceil(E/R))) */
  uint32_t topk;         /**< experts per token, 1 to 32 */
  uint32_t hidden;       /**< elements per token row; the row must be whole 16-byte packets */
  int32_t dtype;         /**< dispatched rows */
  int32_t combine_dtype; /**< rows that combine reads and writes */
  uint32_t scale_bytes;  /**< of quantisation scales that travel with each token */
  uint32_t max_tokens;   /**< most tokens that one rank dispatches at a time */
  uint32_t capacity;     /**< rows that one rank accepts from each source; 0: max_tokens */
  uint32_t expert_rows;  /**< not 0: combine's input has a row per (token, expert) */
  /* Since the third version: */
  uint32_t own_in_place; /**< not 0: rows that a rank dispatches lie at ilk_operation_own_rows, and none is copied */
} ilk_layer;

enum { ILK_GRID_STRIDE = 0, ILK_CLAIMED = 1, ILK_CLC = 2 };
enum { ILK_WAIT_CHEAPEST = 0, ILK_WAIT_RELAXED_FENCE = 1, ILK_WAIT_ACQUIRE = 2 };
enum { ILK_DISPATCH = 0, ILK_COMBINE = 1 };

/** 0 takes the default for the layer and the device. */
typedef struct ilk_geometry {
  uint32_t grid, block_threads, tile_tokens;
} ilk_geometry;

enum { ILK_KERNELS_GENERATED = 0, ILK_KERNELS_FROM_SOURCE = 1 /**< CUDA C++ by NVRTC, HIP C++ by hiprtc */ };

typedef struct ilk_operation_options {
  size_t size;
  ilk_geometry dispatch, combine;
  int32_t schedule;
  uint32_t cluster; /**< CTAs per cluster; 0: 1 */
  int32_t wait;
  int32_t kernels;     /**< where they come from; ilk_enumerate knows the generated ones only */
  uint64_t timeout_ns; /**< bound of every wait inside a kernel; 0: 10 s */
  /* Rows packed by expert, since the second version: */
  uint32_t packing;           /**< not 0: the convert calls work, and take kernels and memory */
  uint32_t pack_alignment;    /**< each expert's rows begin at a multiple of it; 0: 1 */
  uint32_t packed_rows;       /**< that there is room for, a multiple of the alignment; 0: as many as can be needed */
  uint32_t pack_zero_padding; /**< not 0: rows between two experts' become zeros */
} ilk_operation_options;

/** Device pointers; with no tokens all of them may be 0. `ids` must stay as they are until this step's combine has run.
 */
typedef struct ilk_dispatch_arguments {
  size_t size;
  ilk_address x;       /**< [tokens][hidden] of dtype */
  ilk_address scales;  /**< [tokens][scale_bytes], or 0 */
  ilk_address ids;     /**< i32 [tokens][topk]: global experts, -1 is masked */
  ilk_address weights; /**< f32 [tokens][topk] */
  uint32_t tokens;
  uint32_t reserved; /**< 0 */
} ilk_dispatch_arguments;

typedef struct ilk_combine_arguments {
  size_t size;
  ilk_address out;         /**< [tokens][hidden] of combine_dtype */
  ilk_address out_weights; /**< f32 [tokens][topk], or 0 */
  ilk_address weights;     /**< f32 [tokens][topk] that rows are multiplied by, or 0 for a plain sum */
  uint32_t tokens;         /**< the dispatch's */
  uint32_t reserved;       /**< 0 */
} ilk_combine_arguments;

/** Where a dispatch left its rows, and where combine takes its input from. Source s's rows start at row
 * s*rows_per_source; min(counts[s], rows_per_source) of them are there. */
typedef struct ilk_landed {
  size_t size;
  ilk_address rows;   /**< [ranks][rows_per_source], row_stride bytes apart */
  ilk_address meta;   /**< [ranks][rows_per_source], meta_stride bytes apart; i32 expert ids at the start */
  ilk_address counts; /**< u32 [ranks] */
  ilk_address
      expert_out; /**< [ranks][rows_per_source][topk with expert_rows, else 1], combine_row_stride bytes apart */
  uint64_t rows_per_source, row_stride, meta_stride, combine_row_stride;
  uint64_t meta_weights, meta_token, meta_scales; /**< offsets in a meta row */
  /* Since the third version: */
  ilk_address absent; /**< u64 [2]: ranks that were lost or left out, a bit each: their counts are older */
} ilk_landed;

typedef struct ilk_result {
  size_t size;
  uint64_t number;                      /**< operations of this rank so far, this one included */
  uint64_t lost;                        /**< bit per rank that was given up on */
  uint32_t overflow, peer_lost, bad_id; /**< 0 or 1 */
  uint32_t dropped;                     /**< (token, rank) pairs that this rank could not send */
  uint32_t received, wanted;            /**< dispatch: rows that landed here, and that were to */
} ilk_result;

/** Device pointers of rows packed by expert, written by ilk_operation_convert_dispatch_output. Received rows are
 * counted source by source, each source's in its token order, which is also the order of an expert's rows. */
typedef struct ilk_packed {
  size_t size;
  ilk_address counts;   /**< u32 [local experts]: rows of each */
  ilk_address offsets;  /**< u32 [local experts + 1]: where each one's rows begin; the last: all rows */
  ilk_address sources;  /**< i32 [packed rows]: the received row that lies there, -1 for padding */
  ilk_address slot_map; /**< i32 [received][topk]: the packed row, -1 for experts of other ranks and without room */
  ilk_address weights;  /**< f32 [received][topk] */
  ilk_address landed;   /**< i32 [received]: the landing row */
  uint64_t capacity;    /**< packed rows that there is room for */
} ilk_packed;

typedef struct ilk_packing_result {
  size_t size;
  uint32_t overflow; /**< 0 or 1: not all rows had room */
  uint32_t received; /**< rows that came from all sources */
  uint32_t rows;     /**< packed rows, padding among them */
  uint32_t wanted;   /**< the same, had there been room */
  uint32_t dropped;  /**< (row, expert) pairs without room */
  uint32_t reserved; /**< 0 */
} ilk_packing_result;

typedef struct ilk_operation ilk_operation;
typedef struct ilk_routing ilk_routing;

/** Gets both kernels from the cache, loads them and allocates the windows of all ranks; rank r runs on device
 * r % device_count. `options` may be NULL. */
ILK_API ilk_status ilk_operation_create(ilk_driver *driver, ilk_cache *cache, const ilk_layer *layer,
                                        const ilk_operation_options *options, ilk_operation **operation);

/** A process's place in a group whose ranks run in several processes of one host. Every rank of the layer belongs to
 * exactly one process. */
typedef struct ilk_group {
  size_t size;
  uint32_t process, processes; /**< number of this one, and how many there are */
  const uint32_t *ranks;       /**< that this process runs */
  const uint32_t *devices;     /**< on which device of its driver each of them runs; NULL: all on device 0 */
  size_t rank_count;
  /** The bootstrap, called while an operation is created, by all processes equally often: gives `bytes` to every
   * process and calls `take` once for what each of them gave, in the order of their numbers, this one included. When a
   * process is gone it must return another status than ILK_OK to the others, in bounded time. MPI_Allgatherv would do.
   */
  ilk_status (*allgather)(void *user, const void *bytes, size_t size,
                          void (*take)(void *sink, const void *bytes, size_t size), void *sink);
  void *user;
  /** Instead of the callback: a Unix socket that process 0 makes and where the others meet it. */
  const char *socket;
  uint64_t timeout_ms; /**< of the meeting at the socket, and of each exchange; 0: 120,000 */
} ilk_group;

/** The group's own ranks. All processes call it with the same layer; it returns when all are ready, and a failure of
 * one is one in all of them. */
ILK_API ilk_status ilk_operation_create_in_group(ilk_driver *driver, ilk_cache *cache, const ilk_layer *layer,
                                                 const ilk_group *group, const ilk_operation_options *options,
                                                 ilk_operation **operation);
/** What was launched must have run. Waits for the operation's devices, which ends captures that are under way there. */
ILK_API void ilk_operation_destroy(ilk_operation *operation);
/** Where a rank runs; UINT32_MAX where another process runs it. */
ILK_API ilk_status ilk_operation_device(const ilk_operation *operation, uint32_t rank, uint32_t *device);
/** Starts a step of a rank, asynchronously. The routing handle is the caller's to destroy, and combine takes it once;
 * two steps of a rank may be in flight. */
ILK_API ilk_status ilk_operation_dispatch(ilk_operation *operation, uint32_t rank, ilk_stream stream,
                                          const ilk_dispatch_arguments *arguments, ilk_routing **routing);
/** Ends a step, asynchronously. */
ILK_API ilk_status ilk_operation_combine(ilk_operation *operation, uint32_t rank, ilk_stream stream,
                                         ilk_routing *routing, const ilk_combine_arguments *arguments);
/** Packs what the step's dispatch left by local expert, asynchronously and on the device: `rows` are [packed
 * rows][hidden] of dtype, `scales` [packed rows][scale_bytes] or 0. */
ILK_API ilk_status ilk_operation_convert_dispatch_output(ilk_operation *operation, uint32_t rank, ilk_stream stream,
                                                         const ilk_routing *routing, ilk_address rows,
                                                         ilk_address scales);
/** The way back, before the step's combine: reduces packed rows of combine_dtype to what combine gathers, times the
 * tokens' weights if `weighted` is not 0; combine then takes a plain sum. */
ILK_API ilk_status ilk_operation_convert_combine_input(ilk_operation *operation, uint32_t rank, ilk_stream stream,
                                                       const ilk_routing *routing, ilk_address rows, uint32_t weighted);
ILK_API ilk_status ilk_operation_packed(const ilk_operation *operation, const ilk_routing *routing, ilk_packed *packed);
/** Waits for the stream and reads what the step's packing left. */
ILK_API ilk_status ilk_operation_packing_result(const ilk_operation *operation, const ilk_routing *routing,
                                                ilk_stream stream, ilk_packing_result *result);
/** Gives the step up, if it was not combined. May come after the operation is destroyed. */
ILK_API void ilk_routing_destroy(ilk_routing *routing);
ILK_API ilk_status ilk_operation_landed(const ilk_operation *operation, const ilk_routing *routing, ilk_landed *landed);
/** With the layer's own_in_place: where the rows that a rank dispatches in steps that use this landing buffer must lie;
 * a rank's step n (from 0) uses buffer n % 2. Whatever reads the rows of an earlier step must precede on the stream
 * what writes these. */
ILK_API ilk_status ilk_operation_own_rows(const ilk_operation *operation, uint32_t rank, uint32_t buffer,
                                          ilk_address *rows);
/** Waits for the stream and reads what the rank's last dispatch or combine left. */
ILK_API ilk_status ilk_operation_result(const ilk_operation *operation, uint32_t rank, ilk_stream stream, int32_t kind,
                                        ilk_result *result);
/** Leaves ranks out (a bit each) in what is enqueued after this; every live rank must be given the same mask. */
ILK_API ilk_status ilk_operation_leave_out(ilk_operation *operation, uint32_t rank, ilk_stream stream, uint64_t dead);
ILK_API ilk_status ilk_operation_forget_lost(ilk_operation *operation, uint32_t rank, ilk_stream stream);

/* ---- Preparing kernels, without a device ---- */

typedef struct ilk_device_shape {
  size_t size;
  const char *target;        /**< NULL: "sm_90a" */
  uint32_t multiprocessors;  /**< 0: 132 */
  uint32_t ranks_per_device; /**< 0: 1 */
} ilk_device_shape;

/** Each layer on each device with each choice of options. The elements of an array all have the size that the first one
 * states. No devices or no options: the default one. */
typedef struct ilk_deployment {
  size_t size;
  const ilk_layer *layers;
  size_t layer_count;
  const ilk_device_shape *devices;
  size_t device_count;
  const ilk_operation_options *options;
  size_t option_count;
} ilk_deployment;

typedef struct ilk_prewarm_options {
  size_t size;
  uint32_t threads; /**< 0: one per core */
  int32_t kernels;  /**< ILK_KERNELS_GENERATED, or ILK_KERNELS_FROM_SOURCE as operations will ask for */
  void (*progress)(void *user, uint64_t done, uint64_t of, uint64_t failed); /**< or NULL; calls do not overlap */
  void *user;
} ilk_prewarm_options;

typedef struct ilk_prewarm_report {
  size_t size;
  uint64_t compiled, cached, failed; /**< with `failed`, ilk_message() has the first failure */
} ilk_prewarm_report;

typedef struct ilk_archive_report {
  size_t size;
  uint64_t entries, bytes;
  uint64_t problems; /**< entries that were left out or are of another compiler; ilk_message() has the first reason */
} ilk_archive_report;

/** Every kernel that ilk_operation_create asks a cache for in this deployment, as a list in text form. The caller frees
 * it with ilk_text_free. */
ILK_API ilk_status ilk_enumerate(const ilk_deployment *deployment, char **kernels);
/** Gets every kernel of such a list into the cache. One that fails does not stop the others and is no failure of the
 * call. `options` and `report` may be NULL. */
ILK_API ilk_status ilk_cache_prewarm(ilk_cache *cache, const char *kernels, const ilk_prewarm_options *options,
                                     ilk_prewarm_report *report);
/** One file with every entry of the disk cache, and back. An archive that is not whole, or of another version, changes
 * nothing. `report` may be NULL. */
ILK_API ilk_status ilk_cache_export(const ilk_cache *cache, const char *file, ilk_archive_report *report);
ILK_API ilk_status ilk_cache_import(ilk_cache *cache, const char *file, ilk_archive_report *report);

/* ---- Kernels given as source: CUDA C++ for NVIDIA's chips, HIP C++ for AMD's ---- */

typedef struct ilk_source_header {
  size_t size;
  const char *name; /**< as it is included */
  const char *text;
} ilk_source_header;

/** Everything that decides what the kernel becomes, but the compiler. Nothing is read from files. */
typedef struct ilk_source_kernel {
  size_t size;
  const char *name;           /**< of the source in messages and `__FILE__`; NULL: "kernel.cu" */
  const char *source;         /**< its text */
  const char *entry;          /**< the kernel, as the source would name it */
  const char *target;         /**< NULL: "sm_90a" */
  const char *const *options; /**< as NVRTC or hiprtc takes them */
  size_t option_count;
  const ilk_source_header *headers; /**< all have the size that the first one states */
  size_t header_count;
  const char *contract;   /**< as scope-lint reads it from a contract file, with waivers; or NULL */
  const char *nvrtc_path; /**< of libnvrtc.so; NULL: as the loader finds it, or in the toolkit's usual place */
  /** Of ROCm's libhiprtc.so or, of ROCm 5, libamdhip64.so; NULL: as the loader finds it, or in /opt/rocm. It is never
   * loaded into this process: interlock-hiprtc, beside the library or in ../bin, runs it. */
  const char *hiprtc_path;
} ilk_source_kernel;

typedef struct ilk_kernel_facts {
  size_t size;
  uint32_t block_threads; /**< threads per CTA that it must be launched with; 0: the launch decides */
  uint32_t max_threads;   /**< most of them; 0: no bound is stated */
  uint32_t cluster;       /**< CTAs per cluster */
  uint32_t shared_bytes;  /**< static shared memory per CTA */
} ilk_kernel_facts;

enum { ILK_PART_TEXT = 0, ILK_PART_BINARY = 1, ILK_PART_META = 2 };

typedef struct ilk_kernel ilk_kernel;

/** From the cache, or compiled by NVRTC, judged by scope-lint and left there. ILK_COMPILE if the compiler refuses it or
 * if an access is not ordered: the message's first line says which and where. */
ILK_API ilk_status ilk_kernel_compile(ilk_cache *cache, const ilk_source_kernel *source, ilk_kernel **kernel);
ILK_API void ilk_kernel_destroy(ilk_kernel *kernel);
ILK_API ilk_status ilk_kernel_get_facts(const ilk_kernel *kernel, ilk_kernel_facts *facts);
/** PTX, cubin (of no bytes where there is none) or a JSON object with findings. Valid while the kernel is. */
ILK_API ilk_status ilk_kernel_get_part(const ilk_kernel *kernel, int32_t part, const void **bytes, size_t *size);

/** A kernel on a device: a number that the driver gives out. */
typedef uint64_t ilk_loaded;

typedef struct ilk_launch {
  size_t size;
  uint32_t grid, block; /**< CTAs, and threads of each; 0: 1, and what the kernel states */
  uint32_t cluster;     /**< CTAs per cluster; 0: what the kernel states */
  uint32_t dynamic_shared_bytes;
  const void *parameters; /**< the kernel's parameters, laid out as a C struct; copied */
  size_t parameter_bytes;
} ilk_launch;

ILK_API ilk_status ilk_driver_load(ilk_driver *driver, uint32_t device, const ilk_kernel *kernel, ilk_loaded *loaded);
/** Launches that are enqueued, and graphs that were captured, keep what they need of it. */
ILK_API ilk_status ilk_driver_unload(ilk_driver *driver, ilk_loaded loaded);
/** `kernel` is what was loaded. */
ILK_API ilk_status ilk_driver_launch(ilk_driver *driver, ilk_stream stream, const ilk_kernel *kernel, ilk_loaded loaded,
                                     const ilk_launch *launch);

#ifdef __cplusplus
}
#endif

#endif /* INTERLOCK_INTERLOCK_H */
