# SPDX-License-Identifier: BSD-3-Clause
"""Process groups and collectives of the PyTorch stub."""

import os

import torch

_groups = []


class ProcessGroup:
    """The ranks of a group."""

    def __init__(self, ranks):
        self.group_name, self.ranks = str(len(_groups)), list(ranks)
        _groups.append(self)

    @staticmethod
    def unbox(group):
        """Return this object unchanged."""
        return group


def init_process_group(backend=None, rank=-1, world_size=-1, store=None):
    assert (store is not None) == (backend == "fake")
    world = world_size if world_size > 0 else int(os.environ["WORLD_SIZE"])
    _groups.clear()
    group = ProcessGroup(range(world))
    group.rank = rank if rank >= 0 else int(os.environ["RANK"])


def new_group(ranks=None, timeout=None, backend=None):
    assert not backend
    group = ProcessGroup(ranks)
    return group if get_rank() in ranks else None


def split_group(parent_pg=None, split_ranks=None):
    raise RuntimeError("needs a GPU")


def destroy_process_group(group=None):
    if group is None:
        _groups.clear()


def get_rank():
    return _groups[0].rank


def get_world_size():
    return len(_groups[0].ranks)


def get_process_group_ranks(group):
    return group.ranks


def _find_group_and_root(group, rank):
    group = group or _groups[0]
    return group, group.ranks.index(rank)


def all_reduce(tensor, group=None):
    return torch.ops.c10d.allreduce_.default([tensor], group or _groups[0], None)


def broadcast(tensor, src, group=None):
    group, root = _find_group_and_root(group, src)
    torch.ops.c10d.broadcast_.default([tensor], group, root, 0)


def all_gather_into_tensor(output_tensor, input_tensor, group=None):
    torch.ops.c10d._allgather_base_.default(
        output_tensor, input_tensor, group or _groups[0]
    )


def all_to_all_single(
    output_tensor, input_tensor, output_split_sizes=(), input_split_sizes=(), group=None
):
    group = group or _groups[0]
    torch.ops.c10d.alltoall_base_.default(
        output_tensor, input_tensor, group, output_split_sizes, input_split_sizes
    )


def send(tensor, dst, group=None):
    group, place = _find_group_and_root(group, dst)
    torch.ops.c10d.send.default([tensor], group, place, 0)


def recv(tensor, src, group=None):
    group, place = _find_group_and_root(group, src)
    torch.ops.c10d.recv_.default([tensor], group, place, 0)


def barrier():
    torch.ops.c10d.barrier.default(torch.Tensor(1), _groups[0], [])
