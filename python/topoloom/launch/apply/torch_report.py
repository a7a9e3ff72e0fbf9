# SPDX-License-Identifier: BSD-3-Clause
"""Reports the host and GPU of a PyTorch rank; runs in the user's Python.

`topoloom.support.site_injection` runs a copy of this file before the program starts.
The copy imports only the standard library. If environment variables identify the
process as a rank, the copy writes the file rank-N at the start. At the end it writes
rank-N.used, with the GPU that PyTorch used. The first process of a host writes the
UUIDs of its GPUs to gpus-HOST.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

REPORTS = "TOPOLOOM_TORCH_RANKS"
#: Environment variables that list the visible GPUs.
VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
#: Environment variables for rank and local rank: torchrun first, then launchers.
RANK_VARIABLES = (
    ("RANK", "LOCAL_RANK"),
    ("SLURM_PROCID", "SLURM_LOCALID"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK"),
    ("PMI_RANK", "MPI_LOCALRANKID"),
    ("PMI_RANK", "PALS_LOCAL_RANKID"),
)
TOOLS = ("nvidia-smi", "-L"), ("rocminfo",)


def write_report(folder: str) -> None:
    """Write the host and visible GPUs of this process, if it is a rank."""
    for names in RANK_VARIABLES:
        rank, local = (os.environ.get(name, "") for name in names)
        if re.fullmatch("[0-9]+ [0-9]+", f"{rank} {local}"):
            break
    else:
        return
    # Without torchrun's variables, this may be torchrun itself, which starts the ranks.
    is_rank = names[0] == "RANK"
    hosts = (os.environ.get(name) for name in ("SLURMD_NODENAME", "NODE_NAME"))
    host = next(filter(None, hosts), None) or socket.gethostname()
    path = Path(folder) / f"{'rank' if is_rank else 'task'}-{rank}"
    about = {"host": host, "local": int(local)}
    about |= {"by_torchrun": "GROUP_RANK" in os.environ}
    about |= {name: os.environ[name] for name in VISIBLE if name in os.environ}
    write_atomically(path, json.dumps(about))
    atexit.register(write_used_gpu, path)
    write_gpu_list(path.with_name("gpus-" + host.replace("/", "_")))


def write_atomically(path: Path, text: str) -> None:
    """Write a file atomically, because child processes of a rank also write it."""
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def write_gpu_list(path: Path) -> None:
    """Write the UUIDs of the host's GPUs, once per host."""
    tool = next((one for one in TOOLS if shutil.which(one[0])), None)
    if tool is None:
        return
    try:
        os.close(os.open(f"{path}.asked", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    # Make all GPUs visible, and prevent reports by a tool written in Python.
    hidden = {*VISIBLE, REPORTS, "PYTHONPATH"}
    clean = {name: text for name, text in os.environ.items() if name not in hidden}
    try:
        found = subprocess.run(
            tool,
            capture_output=True,
            text=True,
            timeout=60,
            env=clean,
            encoding="utf-8",
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired):
        return
    write_atomically(path, found.stdout)


def write_used_gpu(path: Path) -> None:
    """Write the GPU that PyTorch has used, if any."""
    torch = sys.modules.get("torch")
    try:
        if torch is None or not torch.cuda.is_initialized():
            return
        device = torch.cuda.current_device()
        uuid = getattr(torch.cuda.get_device_properties(device), "uuid", "")
        used = json.dumps({"device": device, "uuid": str(uuid)})
        write_atomically(path.with_name(path.name + ".used"), used)
    except Exception:  # a driver error must not change the job's exit status
        return


if __name__ == "topoloom_injected" and REPORTS in os.environ:
    with contextlib.suppress(OSError):
        write_report(os.environ[REPORTS])
