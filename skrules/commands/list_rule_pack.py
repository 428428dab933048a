"""`skrules list-rule-pack`: the rules of a pack, or the products that something is known of, as published."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from skrules.arch_file import load_archs
from skrules.commands.files import json_bytes
from skrules.validate.compat import MIX, SK_BIND, Compat, Product
from skrules.validate.compat_file import load_compat
from skrules.validate.registry import load_rules
from skrules.validate.rule import CATEGORIES


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rule-pack", choices=("all", *CATEGORIES), required=True, help="which pack")


def run(options: argparse.Namespace) -> int:
    document = {"chips": chips()} if options.rule_pack == "compat" else {"rules": rules(options.rule_pack)}
    sys.stdout.write(json_bytes(document).decode())
    return 0


def rules(pack: str) -> list[dict[str, str]]:
    """Return id, severity and description of the rules of a pack; `spec` is the published one."""
    return [
        {"id": rule.id, "severity": str(rule.severity), "description": rule.title}
        for rule in load_rules()
        if pack in ("all", rule.category)
    ]


def chips() -> list[dict[str, Any]]:
    """Return the products with the versions of CANN that something is known for, and what is known of all their chips."""
    archs = load_archs()
    compat = load_compat(archs)
    return [_chip(product, compat) for product in compat.products]


def _chip(product: Product, compat: Compat) -> dict[str, Any]:
    target = compat.target_of_arch(product.arch)
    verdicts = {
        feature: next(str(verdict) for each, verdict, _ in compat.answers(feature, target) if each is product)
        for feature in (SK_BIND, MIX)
    }
    return {
        "id": product.id,
        "cann_versions": list(compat.cann_versions(product.id)),
        "name": product.name,
        "arch": product.arch,
        "chips": list(product.chips),
        **{feature.replace("-", "_"): verdict for feature, verdict in verdicts.items()},
        "unsupported_acl_functions": sorted(
            fact.feature for fact in compat.facts.values() if fact.product == product.id and fact.feature.startswith("acl")
        ),
    }
