"""Memory for other nodes, as CUDA makes it: fabric_memory.py export, or import HANDLE.

Needs libcuda alone. `export` prints the handle in hex and keeps the memory until its input ends. Of what CUDA refuses the error's
name is printed, such as CUDA_ERROR_NOT_PERMITTED.
"""

import ctypes
import sys

CU_MEM_ALLOCATION_TYPE_PINNED = 1
CU_MEM_HANDLE_TYPE_FABRIC = 8
CU_MEM_LOCATION_TYPE_DEVICE = 1
SIZE = 2 << 20  # of bytes: the least that is given

cuda = ctypes.CDLL("libcuda.so.1")


class Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


# CUmemAllocationProp of cuda.h.
class Properties(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("handle_types", ctypes.c_int), ("location", Location), ("windows", ctypes.c_void_p),
                ("flags", ctypes.c_ubyte * 8)]


def call(name: str, *arguments) -> None:
    result = getattr(cuda, name)(*arguments)
    if result == 0:
        return
    text = ctypes.c_char_p()
    cuda.cuGetErrorName(result, ctypes.byref(text))
    print((text.value or b"?").decode(), flush=True)
    sys.exit(0)


def start() -> None:
    call("cuInit", 0)
    device, context = ctypes.c_int(), ctypes.c_void_p()
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)


def export() -> None:
    wanted = Properties(CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_HANDLE_TYPE_FABRIC, Location(CU_MEM_LOCATION_TYPE_DEVICE, 0))
    memory, handle = ctypes.c_ulonglong(), (ctypes.c_ubyte * 64)()
    call("cuMemCreate", ctypes.byref(memory), ctypes.c_size_t(SIZE), ctypes.byref(wanted), ctypes.c_ulonglong(0))
    call("cuMemExportToShareableHandle", handle, memory, CU_MEM_HANDLE_TYPE_FABRIC, ctypes.c_ulonglong(0))
    print(bytes(handle).hex(), flush=True)
    sys.stdin.read()


def import_from(handle: str) -> None:
    memory = ctypes.c_ulonglong()
    call("cuMemImportFromShareableHandle", ctypes.byref(memory), (ctypes.c_ubyte * 64)(*bytes.fromhex(handle)), CU_MEM_HANDLE_TYPE_FABRIC)
    print("imported", flush=True)


start()
if sys.argv[1] == "export":
    export()
else:
    import_from(sys.argv[2])
