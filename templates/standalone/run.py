#!/usr/bin/env python3
"""Runs the compare programs on their fixtures and says what is wrong. Python's own library is all it needs.

    python3 run.py [--build FOLDER] [--json FILE] [--timeout SECONDS]

Each case runs twice, plain and inside a super kernel, on buffers of its own. It has passed when both runs left the same bits,
every element was written, the SuperKernel function did run, and results are within the tolerance of the reference where the
fixture has one. Exit status: 0 all passed; 3 something failed or was not compared; 2 wrong command line, nothing was built.
"""

import argparse
import array
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ORDER = ("failed", "skipped-no-npu", "skipped-insufficient-runtime-spec", "passed")  # a whole is as good as its worst part
PLAIN_SENTINEL, SK_SENTINEL = 0xA5, 0x5A
# What the program calls the class of a scalar and its size in bytes.
SCALARS = {
    ("bool", 1): "bool",
    ("half", 2): "float16",
    ("bfloat16", 2): "bfloat16",
    ("float", 4): "float32",
    ("float", 8): "float64",
    **{("signed", size): f"int{8 * size}" for size in (1, 2, 4, 8)},
    **{("unsigned", size): f"uint{8 * size}" for size in (1, 2, 4, 8)},
}
# Codes of `struct`; bool as bytes, since a kernel may leave others than 0 and 1.
CODES = {
    "bool": "B",
    "int8": "b",
    "uint8": "B",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "uint64": "Q",
    "float16": "e",
    "float32": "f",
    "float64": "d",
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare adapted kernels with what they are adapted from.")
    parser.add_argument("--build", type=Path, default=HERE / "build", help="where CMake built (build)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the verdict there")
    parser.add_argument("--timeout", type=float, default=600, help="for each program, in seconds (600)")
    options = parser.parse_args()
    targets = json.loads((HERE / "targets.json").read_text())
    for name in targets:
        if not (options.build / name).is_file():
            parser.error(f"there is no {options.build / name}: cmake -B build && cmake --build build")
    verdicts = [
        verdict for name, folder in targets.items() for verdict in compare(options.build / name, HERE / folder, options.timeout)
    ]
    for each in verdicts:
        print(f"{each['status'].upper()} {each['entry']}{' ' + each['case'] if each['case'] else ''}")
        for line in (*each["messages"], *each["notes"]):
            print(f"    {line}")
    status = worst(verdicts)
    if options.json:
        options.json.write_text(json.dumps(document(status, verdicts), indent=2) + "\n")
    print(status.upper())
    return 0 if status == "passed" else 3


def worst(verdicts):
    found = {each["status"] for each in verdicts}
    return next((status for status in ORDER if status in found), "skipped-insufficient-runtime-spec")


def document(status, verdicts):
    entries = dict.fromkeys(each["entry"] for each in verdicts)
    own = {entry: [each for each in verdicts if each["entry"] == entry] for entry in entries}
    reasons = {entry: [text for each in found for text in (*each["messages"], *each["notes"])] for entry, found in own.items()}
    statuses = {entry: {"status": worst(found), "reason": "; ".join(reasons[entry])} for entry, found in own.items()}
    return {"backend": "standalone", "status": status, "statuses": statuses, "cases": verdicts}


def verdict(entry, case, status, messages=(), notes=()):
    return {"entry": entry, "case": case, "status": status, "messages": list(messages), "notes": list(notes)}


def compare(program, folder, timeout):
    """Return the verdicts on all cases of one program, and on its entries without a case."""
    fixture = json.loads((folder / "fixture.json").read_text())
    covered = {case["entry"] for case in fixture["cases"]}
    rest = [
        verdict(entry, "", "skipped-insufficient-runtime-spec", notes=["no fixture says what it is run on"])
        for entry in fixture["entries"]
        if entry not in covered
    ]
    if not fixture["cases"]:
        return rest
    problem = misfit(program, folder, fixture, timeout)
    if problem:
        return [verdict(case["entry"], case["name"], "failed", [problem]) for case in fixture["cases"]] + rest
    with tempfile.TemporaryDirectory() as out:
        lines, ending = run([str(program), str(folder / "plan.txt"), out], timeout)
        records = {}
        for line in lines:
            if line.startswith('{"case"'):
                record = json.loads(line)
                records.setdefault(record["case"], record)
        verdicts = [judge(case, records.get(case["name"]), ending, folder, Path(out)) for case in fixture["cases"]]
    if ending and len(records) == len(verdicts):
        verdicts.append(verdict(fixture["label"], "", "failed", [f"all cases ran, but the program {ending}"]))
    return verdicts + rest


def run(command, timeout):
    """Return a program's lines, and how it ended, "" when it ended well."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, timeout=timeout, check=False, env=os.environ)
    except subprocess.TimeoutExpired as error:
        return (error.stdout or b"").decode("utf-8", "replace").splitlines(), f"did not end within {timeout:g} s"
    except OSError as error:
        return [], f"cannot be started: {error.strerror}"
    return done.stdout.decode("utf-8", "replace").splitlines(), f"ended with status {done.returncode}" if done.returncode else ""


def misfit(program, folder, fixture, timeout):
    """Return how the fixtures do not fit the program's C++ types, "" when they do: these were not known when they were made."""
    lines, ending = run([str(program), "--describe"], timeout)
    if ending or not lines:
        return f"the program {ending or 'does not describe itself'}"
    types = {}
    for entry in json.loads(lines[-1])["entries"]:
        for each in entry["parameters"]:
            encoding = SCALARS.get((each["scalar"], each["size"]), "") if each["kind"] == "scalar" else "struct"
            types[entry["name"], each["name"]] = (encoding, each["size"])
    entry = ""
    for line in (folder / "plan.txt").read_text().splitlines():
        words = line.split()
        if words[0] == "case":
            entry = words[2]
        if words[0] not in ("scalar", "struct"):
            continue
        name, given = words[1], len(words[2]) // 2
        encoding, size = types[entry, name]
        if given != size:
            return f"'{name}' of {entry} has {given} bytes in the fixture, and {size} in C++"
        if encoding != fixture["entries"][entry][name]:
            return f"'{name}' of {entry} is {fixture['entries'][entry][name]} in the fixture, and {encoding or 'unknown'} in C++"
    return ""


def judge(case, record, ending, folder, out):
    entry, name = case["entry"], case["name"]
    if record is None:
        return verdict(entry, name, "failed", [f"the program {ending or 'said nothing of this case'}"])
    if record["status"] == "skipped-no-npu":
        return verdict(entry, name, "skipped-no-npu", notes=[record.get("error", "")])
    if record["status"] != "ran":
        return verdict(entry, name, "failed", [f"{record.get('stage', 'the run')} failed: {record.get('error', '')}"])
    messages, notes, compared = [], [], 0
    evidence = record.get("evidence", {})
    if evidence.get("twin_ran") is not True:
        messages.append(f"the SK function never ran: {evidence.get('detail', '')}")
    for output in case["outputs"]:
        try:
            count = judge_output(case, output, folder, out, messages)
        except OSError as error:
            messages.append(f"'{output['tensor']}': {error.strerror}: {error.filename}")
            continue
        compared += count
        if not output["expected"]:
            notes.append(f"'{output['tensor']}': no reference: only SK against plain was checked")
    if not compared:
        notes.append("no output element was compared")
    status = "failed" if messages else "passed" if compared else "skipped-insufficient-runtime-spec"
    return verdict(entry, name, status, messages, notes)


def judge_output(case, output, folder, out, messages):
    """Add what is wrong with one result to `messages`; return how many of its elements were compared."""
    title, dtype = f"'{output['tensor']}'", output["dtype"]
    elements = math.prod(output["shape"])
    plain, sk = ((out / f"{case['name']}.{output['tensor']}.{run}").read_bytes() for run in ("plain", "sk"))
    padding = (folder / output["padding"]).read_bytes() if output["padding"] else bytes(elements)
    width = width_of(dtype)
    if len(plain) != elements * width or len(sk) != elements * width:
        messages.append(f"{title}: the runs left {len(plain)} and {len(sk)} bytes, not {elements * width}")
        return 0
    skip = {at for at, is_padding in enumerate(padding) if is_padding}
    differing, unwritten = [], []
    if plain != sk:
        untouched = (bytes([PLAIN_SENTINEL]) * width, bytes([SK_SENTINEL]) * width) if output["sentinel"] else None
        for at in range(elements):
            pair = plain[at * width : (at + 1) * width], sk[at * width : (at + 1) * width]
            if pair == untouched:
                unwritten.append(at)
            elif pair[0] != pair[1]:
                differing.append(at)
    missing = [at for at in unwritten if at not in skip]
    if missing and not case["partial"]:
        messages.append(f"{title}: {len(missing)} of {elements} elements are never written, first {place(missing[0], output)}")
    if differing:
        first = differing[0]
        left, right = (data[first * width : (first + 1) * width][::-1].hex() for data in (plain, sk))
        what = f"the SK run differs from the plain run in {len(differing)} of {elements} elements"
        messages.append(f"{title}: {what}, first {place(first, output)}: plain 0x{left}, SK 0x{right}")
    if output["expected"]:
        expected = (folder / output["expected"]).read_bytes()
        for name, data in (("plain", plain), ("SK", sk)) if differing else (("plain", plain),):
            judge_numbers(f"{title}: the {name} run", output, data, expected, skip.union(unwritten), messages)
    return elements - len(skip)


def judge_numbers(title, output, data, expected, skip, messages):
    if data == expected:
        return
    actual, right = decode(data, output["dtype"]), decode(expected, output["dtype"])
    wrong = [
        at
        for at, left in enumerate(actual)
        if left != right[at] and at not in skip and not is_near(left, right[at], output["rtol"], output["atol"])
    ]
    if wrong:
        first = wrong[0]
        what = f"differs from the reference in {len(wrong)} of {len(actual) - len(skip)} elements"
        messages.append(f"{title} {what}, first {place(first, output)}: {actual[first]}, expected {right[first]}")


def is_near(left, wanted, rtol, atol):
    if left != left or wanted != wanted:
        return left != left and wanted != wanted  # a NaN is right where the reference has one
    if (rtol == 0 and atol == 0) or math.isinf(left) or math.isinf(wanted):
        return False
    return abs(float(left) - float(wanted)) <= atol + rtol * abs(float(wanted))


def place(at, output):
    index = []
    for size in reversed(output["shape"]):
        index.append(at % size)
        at //= size
    return list(reversed(index))


def width_of(dtype):
    return struct.calcsize("<" + CODES[dtype]) if dtype in CODES else 2 if dtype == "bfloat16" else 1


def decode(data, dtype):
    """Return the elements of little endian bytes as Python numbers."""
    if dtype in CODES:
        return struct.unpack(f"<{len(data) // width_of(dtype)}{CODES[dtype]}", data)
    if dtype == "bfloat16":
        halves = array.array("H", struct.unpack(f"<{len(data) // 2}H", data))
        return struct.unpack(f"<{len(halves)}f", b"".join(struct.pack("<I", each << 16) for each in halves))
    table = [float8(byte, dtype) for byte in range(256)]
    return [table[byte] for byte in data]


def float8(byte, dtype):
    """Return the value of a float8_e5m2, which is the upper half of a float16, or of a float8_e4m3fn, which has no infinities."""
    if dtype == "float8_e5m2":
        return struct.unpack("<e", bytes([0, byte]))[0]
    exponent, mantissa = byte >> 3 & 15, byte & 7
    if exponent == 15 and mantissa == 7:
        return math.nan
    size = (mantissa / 8) * 2.0**-6 if exponent == 0 else (1 + mantissa / 8) * 2.0 ** (exponent - 7)
    return -size if byte & 128 else size


if __name__ == "__main__":
    sys.exit(main())
