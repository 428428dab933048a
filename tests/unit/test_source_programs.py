"""Which files hold a whole program."""

from __future__ import annotations

import pytest

from skrules.source.kernels import read
from skrules.source.programs import defines_main


@pytest.mark.parametrize(
    "text",
    [
        "int main() { return 0; }",
        "int32_t main(int32_t argc, char *argv[])\n{\n    return run(argc, argv);\n}\n",
        "int\nmain ( void ) {}",
        "auto main() -> int { return 0; }",
        "int main() noexcept(true) {}",
        "int main() try { return run(); } catch (...) { return 1; }",
        "[[gnu::cold]] int main(int, char **) __attribute__((used)) { }",
        'extern "C" { int helper(); int main() { return helper(); } }',
        'extern "C" int main() { return 0; }',
        "#ifdef TRY_OUT\nint main() { return 0; }\n#endif\n",
        "#if 0\n#else\nint main() {}\n#endif\n",
        "#define PROGRAM(body) int main() { body; return 0; }\nPROGRAM(run())\n",
        "namespace ops { void run() {} }\nstruct S { int x; };\nint main() { return 0; }",
        "int main(int n);\nint main(int n) { return n; }",
        "int ma\\\nin() { return 0; }",
    ],
)
def test_a_program(text: str) -> None:
    assert defines_main(read(text.encode(), "k.asc"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "int main();",
        "// int main() { return 0; }\n",
        'const char *help = "int main() {}";',
        "#if 0\nint main() { return 0; }\n#endif\n",
        "namespace trial { int main() { return 0; } }",
        "struct Trial { int main() { return 0; } };",
        "struct Trial { int main(); };\nint Trial::main() { return 0; }",
        "namespace trial { int main(); }\nint trial::main() { return 0; }",
        "void run() { trial.main(); if (main(1)) { } }",
        "int main_loop() { return 0; }\nint domain() { return 0; }",
        "int main = 0;",
        "#define PROGRAM() int main() { return 0; }\n",
        "#define main trial\nint main() { return 0; }",
        "namespace { int main() { return 0; } }",
    ],
)
def test_no_program(text: str) -> None:
    assert not defines_main(read(text.encode(), "k.asc"))
