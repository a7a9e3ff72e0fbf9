# SPDX-License-Identifier: BSD-3-Clause
"""A stub of PyTorch for tests: tensors have no data, operations do nothing.

It has the part of PyTorch's interface that the recorder uses, and moves no data.
"""

import os
from types import SimpleNamespace

__version__ = "0.1"


class Tensor:
    """A tensor with a size and no data."""

    def __init__(self, count, bytes=4):
        self.count, self.bytes = count, bytes

    def numel(self):
        """Count elements."""
        return self.count

    def element_size(self):
        """Return the bytes per element."""
        return self.bytes


class Operation:
    """An operation, which calls the kernel registered for it, or does nothing."""

    def __init__(self, names):
        arguments = [SimpleNamespace(name=name) for name in names.split()]
        self._schema = SimpleNamespace(arguments=arguments)
        self.kernel = self.redispatch

    def __call__(self, *args):
        """Call the registered kernel."""
        return self.kernel(7, *args)

    def redispatch(self, keyset, *args):
        """Accept a call from the registered kernel; do nothing."""
        assert keyset in (3, 7)
        assert len(args) == len(self._schema.arguments)


def _make_operation(names):
    return SimpleNamespace(default=Operation(names))


ops = SimpleNamespace(
    c10d=SimpleNamespace(
        allreduce_=_make_operation("tensors process_group reduce_op"),
        broadcast_=_make_operation("tensors process_group root_rank root_tensor"),
        _allgather_base_=_make_operation("output_tensor input_tensor process_group"),
        alltoall_base_=_make_operation(
            "output input process_group output_split_sizes input_split_sizes"
        ),
        send=_make_operation("tensors process_group dst tag"),
        recv_=_make_operation("tensors process_group src tag"),
        barrier=_make_operation("tensor process_group device_ids"),
    )
)


class Future:
    """Has a result."""

    def __init__(self, result):
        self.result = result

    def wait(self):
        """Return it."""
        return self.result


class CompilationUnit:
    """Executes TorchScript source as Python code."""

    def __init__(self, source):
        exec(f"from typing import List\n{source}", {"Tensor": Tensor}, self.__dict__)


jit = SimpleNamespace(CompilationUnit=CompilationUnit)
_C = SimpleNamespace(DispatchKey=SimpleNamespace(BackendSelect=4))
_C.fork = lambda function, *args: Future(function(*args))
_C._distributed_c10d = SimpleNamespace(
    _create_work_from_future=lambda future: SimpleNamespace(boxed=lambda: future)
)
if "OLD_TORCH" not in os.environ:
    _C._dispatch_keyset_full_after = lambda key: key - 1

from torch import distributed  # noqa: E402, F401
