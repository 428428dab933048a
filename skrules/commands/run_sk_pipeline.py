"""`skrules run-sk-pipeline`: from assets to compared operators and a wheel, by the published stages."""

from __future__ import annotations

import argparse
import os

from skrules.pipeline import request


def declare(parser: argparse.ArgumentParser) -> None:
    request.declare(parser)


def run(options: argparse.Namespace) -> int:
    asked = request.read(options, os.environ)
    from skrules.pipeline.run import run_pipeline

    return run_pipeline(asked, os.environ)
