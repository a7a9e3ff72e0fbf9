# SPDX-License-Identifier: BSD-3-Clause
from topoloom.frameworks.deepspeed import DeepSpeedJob as DeepSpeedJob
from topoloom.frameworks.device_mesh import DeviceMeshJob as DeviceMeshJob
from topoloom.frameworks.megatron import (
    MegatronJob as MegatronJob,
    make_megatron_job as make_megatron_job,
)
from topoloom.frameworks.training_layout import (
    LayoutStep as LayoutStep,
    parse_layout as parse_layout,
)
from topoloom.frameworks.training_step import parse_step as parse_step
