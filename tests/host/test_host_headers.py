"""Headers that the host halves of kernels include: profiling, which measures nothing, and the platform, which is the arch's."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from skrules.arch_file import load_archs

PROFILING = """
#include "acl/acl_prof.h"
#include <cstdio>
#define CHECK(what, wanted) \\
    if ((what) != (wanted)) { std::printf("%s\\n", #what); return 1; }
int main() {
    uint32_t device = 0, range = 7;
    CHECK(aclprofInit("out", 3), ACL_SUCCESS)
    aclprofConfig *config = aclprofCreateConfig(&device, 1, ACL_AICORE_PIPE_UTILIZATION, nullptr, ACL_PROF_TASK_TIME);
    CHECK(config != nullptr, true)
    CHECK(aclprofStart(config), ACL_SUCCESS)
    aclprofTensor tensor{0, ACL_FORMAT_ND, ACL_FLOAT16, 2, {8, 2048}};
    aclprofTensorInfo info{aclprofStr2Id("add"), aclprofStr2Id("Add"), 0, 1, 0, 8, nullptr, &tensor};
    aclprofEventAttributes attributes{ACL_PROF_EVENT_ATTR_VERSION, 16, ACL_PROF_MESSAGE_TYPE_TENSOR_INFO, {&info}};
    CHECK(aclprofRangePushEx(&attributes), ACL_SUCCESS)
    CHECK(aclprofRangePop(), ACL_SUCCESS)
    void *stamp = aclprofCreateStamp();
    CHECK(aclprofSetStampTraceMessage(stamp, "x", 1), ACL_SUCCESS)
    CHECK(aclprofRangeStart(stamp, &range), ACL_SUCCESS)
    CHECK(aclprofRangeStop(range), ACL_SUCCESS)
    aclprofDestroyStamp(stamp);
    CHECK(aclprofStr2Id("add") == info.opNameId && info.opNameId != info.opTypeId, true)
    CHECK(aclprofStop(config), ACL_SUCCESS)
    CHECK(aclprofDestroyConfig(config), ACL_SUCCESS)
    CHECK(aclprofFinalize(), ACL_SUCCESS)
    CHECK(aclprofStart(nullptr), ACL_ERROR_INVALID_PARAM)
    CHECK(aclprofRangePushEx(nullptr), ACL_ERROR_INVALID_PARAM)
    CHECK(aclprofCreateConfig(nullptr, 1, ACL_AICORE_NONE, nullptr, 0) == nullptr, true)
    return 0;
}
"""
PLATFORM = """
#include "platform/platform_ascendc.h"
#include "tiling/platform/platform_ascendc.h"
#include <cstdio>
int main() {
    using platform_ascendc::CoreMemType;
    auto *platform = platform_ascendc::PlatformAscendCManager::GetInstance();
    auto *named = platform_ascendc::PlatformAscendCManager::GetInstance("Ascend910B1");
    std::printf("%d %u %u %u ", platform == named, platform->GetCoreNum(), platform->GetCoreNumAic(), platform->GetCoreNumAiv());
    std::printf("%u\\n", platform->GetCoreNumVector());
    for (CoreMemType type : {CoreMemType::UB, CoreMemType::L1, CoreMemType::L0_A, CoreMemType::L0_B, CoreMemType::L0_C}) {
        uint64_t size = 0;
        platform->GetCoreMemSize(type, size);
        std::printf("%lu ", static_cast<unsigned long>(size));
    }
    std::printf("\\n%u %u %u\\n", platform->CalcTschBlockDim(40, 20, 40), platform->CalcTschBlockDim(5, 20, 40),
                platform->CalcTschBlockDim(7, 0, 40));
    uint64_t size = 0;
    try {
        platform->GetCoreMemSize(CoreMemType::L2, size);
    } catch (const std::exception &error) {
        std::printf("%s\\n", error.what());
    }
    try {
        std::printf("%u\\n", platform->GetLibApiWorkSpaceSize());
    } catch (const std::exception &error) {
        std::printf("%s\\n", error.what());
    }
}
"""


def built(host_runtime, tmp_path: Path, text: str, *more: str) -> Path:
    source, binary = tmp_path / "program.cpp", tmp_path / "program"
    source.write_text(text)
    done = host_runtime.compiled(source, *more, "-o", str(binary))
    assert done.returncode == 0, done.stderr
    return binary


def test_profiling_succeeds_and_says_that_it_measures_nothing(host_runtime, tmp_path):
    done = subprocess.run(
        [str(built(host_runtime, tmp_path, PROFILING))], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "skrules host: aclprofStart: profiling is not emulated, no results will be written\n"


def test_what_reads_profiling_results_is_not_there(host_runtime, tmp_path):
    source = tmp_path / "program.cpp"
    source.write_text('#include "acl/acl_prof.h"\nint main() { return aclprofGetOpNum(nullptr, 0, nullptr); }\n')
    done = host_runtime.compiled(source, "-o", str(tmp_path / "program"))
    assert done.returncode and "aclprofGetOpNum" in done.stderr


@pytest.mark.parametrize("name", ["dav-2201", "dav-3510"])
def test_the_platform_is_that_of_the_arch(host_runtime, tmp_path, name):
    arch = load_archs().arch(name)
    binary = built(host_runtime, tmp_path, PLATFORM, f"-D__NPU_ARCH__={arch.npu_arch}")
    lines = subprocess.run([str(binary)], capture_output=True, text=True, timeout=60, check=True).stdout.splitlines()
    chip, memory = arch.reference_chip, arch.memory
    assert lines[0] == f"1 {chip.aic} {chip.aic} {chip.aiv} 0"
    assert lines[1].split() == [str(each) for each in (memory.ub, memory.l1, memory.l0a, memory.l0b, memory.l0c)]
    assert lines[2] == "20 3 7"
    assert lines[3] == f"PlatformAscendC: GetCoreMemSize of L2 or HBM is not known of {name} by the host toolchain"
    assert lines[4].startswith("PlatformAscendC: GetLibApiWorkSpaceSize is not known")


def test_the_platform_needs_an_arch(host_runtime, tmp_path):
    source = tmp_path / "program.cpp"
    source.write_text('#include "tiling/platform/platform_ascendc.h"\n')
    done = host_runtime.compiled(source, "-c", "-o", str(tmp_path / "o"))
    assert done.returncode and "compile with --npu-arch" in done.stderr
