#include "abi.inc"
