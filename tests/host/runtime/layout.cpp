// An Args struct of the right size whose second short hides in the padding of the first.
#include "check.h"
#include "super_kernel/super_kernel.h"

namespace {

void packed(int32_t *, int16_t, int16_t) {}
struct PackedArgs {
    int32_t *x;
    int16_t a, b;
};
void packedTwin(const PackedArgs *) {}
SK_BIND(packed, 4, packedTwin);

}  // namespace

int main() {
    aclrtStream stream = newStream();
    aclmdlRI model = nullptr;
    EXPECT(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) == ACL_SUCCESS);
    skhost::launch({1, nullptr, stream}, vectorKernel("packed"), &packed, nullptr, 1, 2);
    EXPECT(aclmdlRICaptureEnd(stream, &model) == ACL_SUCCESS);
    const aclError code = aclskOptimize(model, nullptr);
    std::printf("%d %s\n", code, aclGetRecentErrMsg());
    return 0;
}
