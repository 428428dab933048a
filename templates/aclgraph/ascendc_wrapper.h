// What the functions of entries with a runtime wrapper have in common: views of tensors, and descriptors that are prepared
// before a graph is captured.
#pragma once

#include <c10/core/StorageImpl.h>
#include <c10/util/intrusive_ptr.h>

#include <deque>
#include <iterator>
#include <map>
#include <string>

#include "ascendc_ops.h"
#include "skrules_descriptor.h"
#include "skrules_wrapper.h"

namespace ascendc_ops::host {

inline uint32_t dtypeOf(at::ScalarType type) {
    switch (type) {
        case at::ScalarType::Bool:
            return SKRULES_DTYPE_BOOL;
        case at::ScalarType::Char:
            return SKRULES_DTYPE_INT8;
        case at::ScalarType::Byte:
            return SKRULES_DTYPE_UINT8;
        case at::ScalarType::Short:
            return SKRULES_DTYPE_INT16;
        case at::ScalarType::UInt16:
            return SKRULES_DTYPE_UINT16;
        case at::ScalarType::Int:
            return SKRULES_DTYPE_INT32;
        case at::ScalarType::UInt32:
            return SKRULES_DTYPE_UINT32;
        case at::ScalarType::Long:
            return SKRULES_DTYPE_INT64;
        case at::ScalarType::UInt64:
            return SKRULES_DTYPE_UINT64;
        case at::ScalarType::Half:
            return SKRULES_DTYPE_FLOAT16;
        case at::ScalarType::BFloat16:
            return SKRULES_DTYPE_BFLOAT16;
        case at::ScalarType::Float:
            return SKRULES_DTYPE_FLOAT32;
        case at::ScalarType::Double:
            return SKRULES_DTYPE_FLOAT64;
        case at::ScalarType::Float8_e4m3fn:
            return SKRULES_DTYPE_FLOAT8_E4M3FN;
        case at::ScalarType::Float8_e5m2:
            return SKRULES_DTYPE_FLOAT8_E5M2;
        case at::ScalarType::ComplexFloat:
            return SKRULES_DTYPE_COMPLEX64;
        case at::ScalarType::ComplexDouble:
            return SKRULES_DTYPE_COMPLEX128;
        default:
            return SKRULES_DTYPE_OTHER;
    }
}

// What was prepared at the end of a workspace. It holds as long as the workspace's memory is the same.
struct Prepared {
    std::string entry;
    std::vector<std::pair<void *, uint64_t>> items;  // addresses and bytes of the tensors of all lists
    c10::weak_intrusive_ptr<c10::StorageImpl> memory;
};

// By the address of the descriptors; guarded by the GIL.
inline std::map<void *, Prepared> &preparedStates() {
    static auto *states = new std::map<void *, Prepared>();  // no destructor: torch may be gone by then
    return *states;
}

// The tensors of one call as its wrapper gets them.
class Views {
  public:
    Views(const char *entry, uint64_t descriptorBytes) : entry_(entry), descriptorBytes_(descriptorBytes) {}

    skrules_tensor input(const std::string &title, const at::Tensor &tensor, std::optional<at::ScalarType> dtype = std::nullopt,
                         int64_t rank = -1) {
        return view(tensor, host::input<void *>(title.c_str(), tensor, dtype, rank));
    }

    skrules_tensor output(const std::string &title, const at::Tensor &tensor, std::optional<at::ScalarType> dtype = std::nullopt,
                          int64_t rank = -1) {
        check(title.c_str(), tensor, dtype, rank);
        written_.push_back(&tensor);
        return view(tensor, tensor.mutable_data_ptr());
    }

    skrules_tensor input(const std::string &title, const std::optional<at::Tensor> &tensor,
                         std::optional<at::ScalarType> dtype = std::nullopt, int64_t rank = -1) {
        return tensor ? input(title, *tensor, dtype, rank) : skrules_tensor{};
    }

    skrules_tensor output(const std::string &title, const std::optional<at::Tensor> &tensor,
                          std::optional<at::ScalarType> dtype = std::nullopt, int64_t rank = -1) {
        return tensor ? output(title, *tensor, dtype, rank) : skrules_tensor{};
    }

    // The workspace that holds the descriptors at its end.
    skrules_tensor workspace(const std::string &title, const at::Tensor &tensor,
                             std::optional<at::ScalarType> dtype = std::nullopt, int64_t rank = -1) {
        const skrules_tensor result = output(title, tensor, dtype, rank);
        workspace_ = &tensor;
        descriptor_ = skrules_descriptor_in(result.address, result.bytes, descriptorBytes_);
        TORCH_CHECK(descriptor_, title, " has ", result.bytes, " bytes, too few for ", descriptorBytes_,
                    " bytes of descriptors at its end, at a multiple of ", SKRULES_DESCRIPTOR_ALIGN);
        return result;
    }

    skrules_list inputs(const std::string &title, const std::vector<at::Tensor> &tensors,
                        std::optional<at::ScalarType> dtype = std::nullopt, int64_t rank = -1) {
        return list(title, tensors,
                    [&](const std::string &item, const at::Tensor &each) { return input(item, each, dtype, rank); });
    }

    skrules_list outputs(const std::string &title, const std::vector<at::Tensor> &tensors,
                         std::optional<at::ScalarType> dtype = std::nullopt, int64_t rank = -1) {
        return list(title, tensors,
                    [&](const std::string &item, const at::Tensor &each) { return output(item, each, dtype, rank); });
    }

    // What the wrapper launches with. Descriptors must have been prepared, for these very tensors.
    skrules_launch launch(uint32_t blocks) const {
        if (descriptorBytes_) {
            const auto found = preparedStates().find(descriptor_);
            // Memory that was freed and given out again holds no descriptors, though its address is the same.
            const bool isHere = found != preparedStates().end() && !found->second.memory.expired() &&
                                found->second.memory._unsafe_get_target() == workspace_->storage().unsafeGetStorageImpl();
            TORCH_CHECK(isHere && found->second.entry == entry_ && found->second.items == items_, entry_,
                        ": the workspace is not prepared for these tensors; call prepare_", entry_,
                        " with the same arguments first, before a graph is captured");
        }
        for (const at::Tensor *tensor : written_) markWritten(*tensor);
        return {blocks, host::stream(), descriptor_, descriptorBytes_};
    }

    // Fills the descriptors and stores them. Not under capture: a graph would not hold the copy.
    template <class Fill> void prepare(const Fill &fill) const {
        std::vector<unsigned char> bytes(descriptorBytes_);
        auto &states = preparedStates();
        for (auto state = states.begin(); state != states.end();) {
            state = state->first == descriptor_ || state->second.memory.expired() ? states.erase(state) : std::next(state);
        }
        require(fill(skrules_prepare{bytes.data(), descriptorBytes_}));
        void *const stream = host::stream();
        aclmdlRICaptureStatus capture = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
        aclmdlRI graph = nullptr;
        aclmdlRICaptureGetInfo(stream, &capture, &graph);
        TORCH_CHECK(capture == ACL_MODEL_RI_CAPTURE_STATUS_NONE, entry_, ": a graph is being captured; prepare before that");
        aclError status = aclrtSynchronizeStream(stream);
        if (status == ACL_SUCCESS) {
            status = aclrtMemcpy(descriptor_, bytes.size(), bytes.data(), bytes.size(), ACL_MEMCPY_HOST_TO_DEVICE);
        }
        TORCH_CHECK(status == ACL_SUCCESS, entry_, ": the descriptors cannot be stored, ACL error ", status);
        markWritten(*workspace_);
        states.insert_or_assign(descriptor_, Prepared{entry_, items_, workspace_->storage().getWeakStorageImpl()});
    }

    // A wrapper returns nullptr, or says why it started nothing.
    void require(const char *refusal) const { TORCH_CHECK(!refusal, entry_, ": ", refusal); }

  private:
    static skrules_tensor view(const at::Tensor &tensor, void *address) {
        return {address, tensor.nbytes(), tensor.sizes().data(), static_cast<uint32_t>(tensor.dim()),
                dtypeOf(tensor.scalar_type())};
    }

    template <class View> skrules_list list(const std::string &title, const std::vector<at::Tensor> &tensors, const View &view) {
        auto &views = lists_.emplace_back();
        for (const at::Tensor &tensor : tensors) {
            views.push_back(view(title + "[" + std::to_string(views.size()) + "]", tensor));
            items_.emplace_back(views.back().address, views.back().bytes);
        }
        return {views.data(), static_cast<uint32_t>(views.size())};
    }

    std::string entry_;
    uint64_t descriptorBytes_;
    std::deque<std::vector<skrules_tensor>> lists_;
    std::vector<std::pair<void *, uint64_t>> items_;
    std::vector<const at::Tensor *> written_;
    const at::Tensor *workspace_ = nullptr;
    void *descriptor_ = nullptr;
};

}  // namespace ascendc_ops::host
