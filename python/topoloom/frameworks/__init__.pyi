# SPDX-License-Identifier: BSD-3-Clause
from topoloom.frameworks.deepspeed import DeepSpeedJob as DeepSpeedJob
from topoloom.frameworks.device_mesh import DeviceMeshJob as DeviceMeshJob
from topoloom.frameworks.megatron import (
    MegatronJob as MegatronJob,
    make_megatron_job as make_megatron_job,
)
