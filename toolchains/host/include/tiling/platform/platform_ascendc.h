// What tiling code asks of the platform: the cores and memories of the arch that is compiled for, whatever chip is named.
// What the arch table does not know is an exception, never a guess. Names are those of CANN's platform_ascendc.h.
#pragma once

#ifndef __NPU_ARCH__
#error "tiling/platform/platform_ascendc.h: compile with --npu-arch, since the platform that is asked of is that of the arch"
#endif

#include <cstdint>
#include <stdexcept>
#include <string>

#include "skrules_host/arch_table.h"

namespace platform_ascendc {

enum class CoreMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, RESERVED };

class PlatformAscendC {
  public:
    // Cube and vector cores are apart in every arch of the table; a platform's core is then its cube core.
    uint32_t GetCoreNum() const { return GetCoreNumAic(); }
    uint32_t GetCoreNumAic() const { return skhost::kArchSpec.aicCores; }
    uint32_t GetCoreNumAiv() const { return skhost::kArchSpec.aivCores; }
    // Vector cores besides those of the AI cores: no arch of the table has them.
    uint32_t GetCoreNumVector() const { return 0; }

    // How many blocks of cube and vector cores together run `slices` parts that vector cores take one by one.
    uint32_t CalcTschBlockDim(uint32_t slices, uint32_t aic, uint32_t aiv) const {
        if (aic == 0 || aiv == 0 || aic > aiv) return slices;
        const uint32_t ratio = aiv / aic;
        return (slices + ratio - 1) / ratio;
    }
    uint32_t CalcTschNumBlocks(uint32_t slices, uint32_t aic, uint32_t aiv) const { return CalcTschBlockDim(slices, aic, aiv); }

    void GetCoreMemSize(const CoreMemType &type, uint64_t &size) const {
        switch (type) {
            case CoreMemType::L0_A:
                size = skhost::kArchSpec.l0a;
                break;
            case CoreMemType::L0_B:
                size = skhost::kArchSpec.l0b;
                break;
            case CoreMemType::L0_C:
                size = skhost::kArchSpec.l0c;
                break;
            case CoreMemType::L1:
                size = skhost::kArchSpec.l1;
                break;
            case CoreMemType::UB:
                size = skhost::kArchSpec.ub;
                break;
            default:
                unknown("GetCoreMemSize of L2 or HBM");
        }
    }
    void GetCoreMemBw(const CoreMemType &, uint64_t &) const { unknown("GetCoreMemBw"); }
    uint32_t GetLibApiWorkSpaceSize() const { unknown("GetLibApiWorkSpaceSize"); }
    uint32_t GetResCubeGroupWorkSpaceSize() const { unknown("GetResCubeGroupWorkSpaceSize"); }
    uint32_t GetResGroupBarrierWorkSpaceSize() const { unknown("GetResGroupBarrierWorkSpaceSize"); }

  private:
    friend class PlatformAscendCManager;
    PlatformAscendC() = default;
    [[noreturn]] static void unknown(const char *what) {
        throw std::logic_error(std::string("PlatformAscendC: ") + what + " is not known of " + skhost::kArchSpec.name +
                               " by the host toolchain");
    }
};

class PlatformAscendCManager {
  public:
    static PlatformAscendC *GetInstance() {
        static PlatformAscendC platform;
        return &platform;
    }
    static PlatformAscendC *GetInstance(const char *) { return GetInstance(); }
};

}  // namespace platform_ascendc
