"""The program's own reader of plans: it takes what `write_plan` writes, and says what is wrong with anything else."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from skrules import resources

MAIN = """#include "compare_plan.h"
int main(int, char **argv) {
    try {
        for (const auto &one : skrules::readPlan(argv[1])) {
            std::printf("%s %s %u\\n", one.name.c_str(), one.entry.c_str(), one.blocks);
            if (one.superBlocks != 0) std::printf("super %u\\n", one.superBlocks);
            for (const auto &argument : one.arguments) {
                std::printf("%s %d value %zu:", argument.name.c_str(), static_cast<int>(argument.kind), argument.value.size());
                for (size_t i = 0; i < argument.tensors.size(); ++i) {
                    const auto &tensor = argument.tensors[i];
                    std::printf(" %s %d %llu [%s] %u", argument.label(i).c_str(), static_cast<int>(tensor.use),
                                static_cast<unsigned long long>(tensor.bytes), tensor.file.c_str(), tensor.dtype);
                    for (int64_t dim : tensor.dims) std::printf(" %lld", static_cast<long long>(dim));
                    std::printf(";");
                }
                std::printf("\\n");
            }
        }
    } catch (const std::exception &error) {
        std::printf("%s\\n", error.what());
    }
}
"""
GOOD = """skrules-plan 2
case a k 3
tensor x 12 in inputs/a.x.bin 10 2x3
list xs 2
item 2 out - 10 1
item 1 workspace - 2 -
scalar n 0100
list none 0
null o
end
"""


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("g++") is None:
        pytest.skip("no g++")
    folder = tmp_path_factory.mktemp("reader")
    (folder / "main.cpp").write_text(MAIN)
    includes = [f"-I{resources.templates() / name}" for name in ("compare", "binding")]
    command = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", *includes, "main.cpp", "-o", "reader"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "reader"


def said(reader: Path, tmp_path: Path, text: str) -> list[str]:
    plan = tmp_path / "plan.txt"
    plan.write_text(text)
    return subprocess.run([str(reader), str(plan)], capture_output=True, text=True, check=True).stdout.splitlines()


def test_a_plan(reader: Path, tmp_path: Path) -> None:
    assert said(reader, tmp_path, GOOD) == [
        "a k 3",
        "x 0 value 0: x 0 12 [inputs/a.x.bin] 10 2 3;",
        "xs 1 value 0: xs[0] 1 2 [] 10 1; xs[1] 3 1 [] 2;",
        "n 2 value 2:",
        "none 1 value 0:",
        "o 3 value 0:",
    ]


def test_the_blocks_of_a_super_kernel(reader: Path, tmp_path: Path) -> None:
    assert said(reader, tmp_path, GOOD.replace("case a k 3\n", "case a k 3\nsuper 8\n"))[:2] == ["a k 3", "super 8"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("plan 2", "plan 1", "plan.txt is not a plan of this version"),
        ("list xs 2", "list xs 1", "plan: a list is too long: item 1 workspace - 2 -"),
        ("list xs 2", "list xs 3", "plan: a list is too short before: scalar n 0100"),
        ("list none 0\nnull o\nend\n", "list none 1\n", "plan: a list is too short at the end"),
        ("list xs 2", "list xs", "plan: incomplete line: list xs"),
        ("list xs 2\n", "", "plan: a list is too long: item 2 out - 10 1"),
        (" 2x3", "", "plan: incomplete line: tensor x 12 in inputs/a.x.bin 10"),
        ("item 2 out", "item 2 in-out", "plan: unknown use of a tensor: in-out"),
        ("null o", "nul o", "plan: unknown line: nul o"),
        ("case a k 3\n", "", "plan: an argument before the first case"),
        ("case a k 3", "case a", "plan: incomplete line: case a"),
        ("case a k 3", "case a k 3\nsuper", "plan: incomplete line: super"),
    ],
)
def test_what_is_no_plan(reader: Path, tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    (line,) = said(reader, tmp_path, GOOD.replace(old, new, 1))
    assert line.endswith(message)


def test_no_plan_at_all(reader: Path) -> None:
    done = subprocess.run([str(reader), "/nonexistent/plan"], capture_output=True, text=True, check=True)
    assert done.stdout == "/nonexistent/plan is not a plan of this version\n"
