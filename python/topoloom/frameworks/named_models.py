# SPDX-License-Identifier: BSD-3-Clause
"""Transformer models by name, as their published configurations describe them."""

from __future__ import annotations

from dataclasses import replace

from topoloom.frameworks.transformer_model import Model

# DeepSeek-AI, DeepSeek-V3 technical report, arXiv:2412.19437; R1 has the same layers.
_DEEPSEEK_V3 = Model(
    layers=61,
    hidden=7168,
    heads=128,
    kv_heads=128,
    head_size=128,
    ffn=2048,
    experts=256,
    active=8,
    shared=2048,
    dense_layers=3,
    dense_ffn=18432,
    vocabulary=129280,
    kv_rank=512,
    q_rank=1536,
    rope_size=64,
    value_size=128,
    predicted=1,
    expert_groups=8,
    active_groups=4,
)

MODELS = {
    # Grattafiori et al., The Llama 3 herd of models, arXiv:2407.21783.
    "Llama 3.1 8B": Model(32, 4096, 32, 8, 128, 14336, vocabulary=128256),
    "Llama 3.1 70B": Model(80, 8192, 64, 8, 128, 28672, vocabulary=128256),
    "Llama 3.1 405B": Model(126, 16384, 128, 8, 128, 53248, vocabulary=128256),
    # Meta, The Llama 4 herd, 2025; the text part.
    "Llama 4 Scout": Model(
        *(48, 5120, 40, 8, 128, 8192, 16, 1), shared=8192, vocabulary=202048
    ),
    "Llama 4 Maverick": Model(
        *(48, 5120, 40, 8, 128, 8192, 128, 1),
        shared=8192,
        dense_layers=24,
        dense_ffn=16384,
        vocabulary=202048,
    ),
    # Yang et al., Qwen3 technical report, arXiv:2505.09388.
    "Qwen3-32B": Model(64, 5120, 64, 8, 128, 25600, vocabulary=151936),
    "Qwen3-30B-A3B": Model(48, 2048, 32, 4, 128, 768, 128, 8, vocabulary=151936),
    "Qwen3-235B-A22B": Model(94, 4096, 64, 4, 128, 1536, 128, 8, vocabulary=151936),
    "DeepSeek-V3": _DEEPSEEK_V3,
    "DeepSeek-R1": _DEEPSEEK_V3,
    # Kimi Team, Kimi K2: open agentic intelligence, arXiv:2507.20534.
    "Kimi K2": replace(
        _DEEPSEEK_V3,
        heads=64,
        kv_heads=64,
        experts=384,
        dense_layers=1,
        vocabulary=163840,
        predicted=0,
        expert_groups=0,
        active_groups=0,
    ),
    # GLM-4.5 Team, GLM-4.5, arXiv:2508.06471.
    "GLM-4.5": Model(
        *(92, 5120, 96, 8, 128, 1536, 160, 8),
        shared=1536,
        dense_layers=3,
        dense_ffn=12288,
        vocabulary=151552,
        predicted=1,
    ),
    "GLM-4.5-Air": Model(
        *(46, 4096, 96, 8, 128, 1408, 128, 8),
        shared=1408,
        dense_layers=1,
        dense_ffn=10944,
        vocabulary=151552,
        predicted=1,
    ),
    # OpenAI, gpt-oss-120b and gpt-oss-20b model card, arXiv:2508.10925.
    "gpt-oss-20b": Model(24, 2880, 64, 8, 64, 2880, 32, 4, vocabulary=201088),
    "gpt-oss-120b": Model(36, 2880, 64, 8, 64, 2880, 128, 4, vocabulary=201088),
    # Jiang et al., Mixtral of experts, arXiv:2401.04088.
    "Mixtral 8x7B": Model(32, 4096, 32, 8, 128, 14336, 8, 2, vocabulary=32000),
    "Mixtral 8x22B": Model(56, 6144, 48, 8, 128, 16384, 8, 2, vocabulary=32768),
}
