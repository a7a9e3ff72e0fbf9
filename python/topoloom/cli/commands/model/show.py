# SPDX-License-Identifier: BSD-3-Clause
"""`topoloom model show`: show the costs of messages in a network model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from topoloom.cli.options.files import AsJson, Figure, output_option
from topoloom.cli.options.messages import ModelName


def command(
    model: ModelName,
    output: Annotated[
        Path | None,
        output_option("Write the costs as lines of a machine file."),
    ] = None,
    figure: Figure = None,
    as_json: AsJson = False,
) -> None:
    """Show the size ranges and costs of a network model.

    A message of a size range takes alpha + bytes * beta. 'topoloom list models' lists
    the included models with their sources.

    \b
    Examples:
      topoloom model show slingshot
      topoloom model show model.toml --figure model.svg
      topoloom model show hdr -o costs.txt
    """
    from topoloom.cli.console import print_facts, print_json
    from topoloom.cli.output.model import print_model
    from topoloom.model.model_names import load_model

    file = load_model(model)
    if figure is not None:
        from topoloom.figure import draw_model

        draw_model(figure, file)
    if output is not None:
        from topoloom.model.message_lines import format_model
        from topoloom.support.files import write_text

        write_text(output, format_model(file.model))
    if as_json:
        print_json({"name": file.name or model, **file.document()})
        return
    facts = [(key, getattr(file, key)) for key in ("summary", "source", "date")]
    print_facts([fact for fact in facts if fact[1]], file.name or model)
    print_model(file.model)
    if file.model.inside is not None:
        print_model(file.model.inside, " inside a node")
