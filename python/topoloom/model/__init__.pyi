# SPDX-License-Identifier: BSD-3-Clause
from topoloom._core import (
    MessageCosts as MessageCosts,
    NetworkModel as NetworkModel,
)
from topoloom.model.fit import (
    Fit as Fit,
    fit_model as fit_model,
)
from topoloom.model.fitted_files import (
    FittedModel as FittedModel,
    MessageTime as MessageTime,
    fit_file as fit_file,
    load_pair_curves as load_pair_curves,
    predict_times as predict_times,
)
from topoloom.model.model_names import load_model as load_model
from topoloom.model.model_toml import ModelFile as ModelFile
