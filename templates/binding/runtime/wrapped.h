// Calls of entries with a runtime wrapper: Python arguments become views, and descriptors are prepared before they are used.
#pragma once

#include <c10/core/StorageImpl.h>
#include <c10/util/intrusive_ptr.h>
#include <torch/csrc/utils/object_ptr.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "call.h"

namespace skrules::binding {

// A tensor in memory, for the token of what was prepared.
struct Place {
    void *address;
    uint64_t bytes;
    bool operator!=(const Place &other) const { return address != other.address || bytes != other.bytes; }
};

// What was prepared into the end of a workspace. It holds as long as the workspace's memory is the same.
struct Prepared {
    const skrules_entry *entry;
    std::vector<Place> items;  // of all lists, in order
    c10::weak_intrusive_ptr<c10::StorageImpl> memory;
};

// By the address of the descriptors; guarded by the GIL.
inline std::map<void *, Prepared> &preparedStates() {
    static auto *states = new std::map<void *, Prepared>();  // no destructor: torch may be gone by then
    return *states;
}

// Drops what is at a place, and what was in memory that is gone.
inline void forget(void *place) {
    auto &states = preparedStates();
    for (auto state = states.begin(); state != states.end();) {
        state = state->first == place || state->second.memory.expired() ? states.erase(state) : std::next(state);
    }
}

inline uint32_t dtypeOf(const at::Tensor &tensor) {
    for (const DtypeName &known : kDtypes) {
        if (known.type == tensor.scalar_type()) return static_cast<uint32_t>(&known - kDtypes) + 1;
    }
    return SKRULES_DTYPE_OTHER;
}

// The arguments of one call as its wrapper gets them. Values are borrowed from the caller, but for the items of lists.
class Views {
  public:
    Views(const Entry &entry, const Values &values) : entry_(entry), block_(entry.bytes) {
        const size_t count = entry.parameters.size();
        views_.resize(count);
        lists_.resize(count);
        given_.resize(count);
        pointers_.resize(count, nullptr);
        for (size_t index = 0; index < count; ++index) accept(index, values[index]);
        // Addresses last: converting a number may run Python code, and that could resize a tensor.
        for (size_t index = 0; index < count; ++index) view(index);
    }

    const void *const *pointers() const { return pointers_.data(); }
    int device() const { return deviceIndex(first_); }
    const at::Tensor &tensor(int32_t index) const { return *given_[static_cast<size_t>(index)].front(); }
    const skrules_tensor &viewOf(int32_t index) const { return views_[static_cast<size_t>(index)].front(); }

    std::vector<Place> items() const {
        std::vector<Place> places;
        for (size_t index = 0; index < views_.size(); ++index) {
            if (entry_.parameters[index].declared->kind != SKRULES_TENSOR_LIST) continue;
            for (const skrules_tensor &item : views_[index]) places.push_back({item.address, item.bytes});
        }
        return places;
    }

    void markWritten() const {
        for (size_t index = 0; index < given_.size(); ++index) {
            for (const at::Tensor *tensor : given_[index]) {
                if (tensor) binding::markWritten(entry_.parameters[index], *tensor);
            }
        }
    }

  private:
    void accept(size_t index, PyObject *value) {
        const Parameter &parameter = entry_.parameters[index];
        void *to = block_.at(parameter.offset);
        switch (parameter.declared->kind) {
            case SKRULES_TENSOR:
                given_[index].push_back(acceptTensor(parameter, value));
                if (given_[index].front()) join(*given_[index].front(), [&] { return parameter.title(); });
                break;
            case SKRULES_TENSOR_LIST:
                acceptList(index, value);
                break;
            case SKRULES_SCALAR:
                convertScalar(parameter, value, to);
                break;
            default:
                convertStruct(parameter, value, to);
        }
        pointers_[index] = to;
    }

    void acceptList(size_t index, PyObject *value) {
        const Parameter &parameter = entry_.parameters[index];
        if (!PyList_Check(value) && !PyTuple_Check(value)) {
            refuse(PyExc_TypeError, parameter.title() + " takes a list or tuple of torch.Tensor, got " + shown(value) + " (" +
                                        typeName(value) + ")");
        }
        // A tuple of its own: what runs later may change the list.
        kept_.emplace_back(PySequence_Tuple(value));
        if (!kept_.back()) throw Raised{};
        PyObject *items = kept_.back().get();
        for (Py_ssize_t item = 0; item < PyTuple_GET_SIZE(items); ++item) {
            PyObject *each = PyTuple_GET_ITEM(items, item);
            const auto title = [&] { return parameter.title("[" + std::to_string(item) + "]"); };
            if (!THPVariable_Check(each)) {
                refuse(PyExc_TypeError, title() + " must be a torch.Tensor, got " + shown(each) + " (" + typeName(each) + ")");
            }
            given_[index].push_back(&checkTensor(parameter, each, title));
            join(*given_[index].back(), title);
        }
    }

    // All tensors of a call are on one device.
    template <class Title> void join(const at::Tensor &tensor, const Title &title) {
        if (!first_) {
            first_ = &tensor;
            firstTitle_ = title();
        }
        if (tensor.device() != first_->device()) {
            refuse(PyExc_ValueError,
                   title() + " is on " + tensor.device().str() + ", but " + firstTitle_ + " is on " + first_->device().str());
        }
    }

    void view(size_t index) {
        const Parameter &parameter = entry_.parameters[index];
        const uint8_t kind = parameter.declared->kind;
        if (kind != SKRULES_TENSOR && kind != SKRULES_TENSOR_LIST) return;
        std::vector<skrules_tensor> &views = views_[index];
        for (const at::Tensor *tensor : given_[index]) {
            skrules_tensor view{};
            if (tensor) {
                view = {addressOf(parameter, *tensor), tensor->nbytes(), tensor->sizes().data(),
                        static_cast<uint32_t>(tensor->dim()), dtypeOf(*tensor)};
            }
            views.push_back(view);
        }
        if (kind == SKRULES_TENSOR_LIST) {
            lists_[index] = {views.data(), static_cast<uint32_t>(views.size())};
            pointers_[index] = &lists_[index];
        } else {
            pointers_[index] = views.data();
        }
    }

    const Entry &entry_;
    Block block_;
    std::vector<std::vector<skrules_tensor>> views_;
    std::vector<skrules_list> lists_;
    std::vector<std::vector<const at::Tensor *>> given_;
    std::vector<const void *> pointers_;
    std::deque<THPObjectPtr> kept_;
    const at::Tensor *first_ = nullptr;
    std::string firstTitle_;
};

// Where the descriptors of this call are, nullptr for an entry without any.
inline void *descriptorOf(const Entry &entry, const Views &views) {
    const skrules_entry &declared = *entry.declared;
    if (!declared.descriptor_bytes) return nullptr;
    const skrules_tensor &workspace = views.viewOf(declared.workspace);
    void *place = skrules_descriptor_in(workspace.address, workspace.bytes, declared.descriptor_bytes);
    if (!place) {
        refuse(PyExc_ValueError,
               entry.parameters[static_cast<size_t>(declared.workspace)].title() + " has " + std::to_string(workspace.bytes) +
                   " bytes, too few for " + std::to_string(declared.descriptor_bytes) +
                   " bytes of descriptors at its end, at a multiple of " + std::to_string(SKRULES_DESCRIPTOR_ALIGN));
    }
    return place;
}

// Why the descriptors of a call are not there yet; "" when they are.
inline std::string unprepared(const Entry &entry, const Views &views, void *descriptor) {
    const std::string name = entry.declared->name;
    const std::string workspace = entry.parameters[static_cast<size_t>(entry.declared->workspace)].title();
    const auto found = preparedStates().find(descriptor);
    // Memory that was freed and given out again holds no descriptors, though its address is the same.
    const bool isHere =
        found != preparedStates().end() && !found->second.memory.expired() &&
        found->second.memory._unsafe_get_target() == views.tensor(entry.declared->workspace).storage().unsafeGetStorageImpl();
    if (!isHere || found->second.entry != entry.declared) {
        return workspace + " is not prepared; call prepare_" + name +
               " with the same arguments first, before a graph is captured";
    }
    const std::vector<Place> items = views.items();
    const std::vector<Place> &prepared = found->second.items;
    if (items.size() != prepared.size()) {
        return workspace + " is prepared for " + std::to_string(prepared.size()) + " tensors, got " +
               std::to_string(items.size()) + "; call prepare_" + name + " again";
    }
    for (size_t index = 0; index < items.size(); ++index) {
        if (items[index] != prepared[index]) {
            return workspace + " is prepared for other tensors, the first at place " + std::to_string(index) + "; call prepare_" +
                   name + " again";
        }
    }
    return "";
}

inline void prepareAt(void *place, const Entry &entry, const Views &views) {
    const skrules_entry &declared = *entry.declared;
    std::vector<std::byte> descriptor(declared.descriptor_bytes);
    const skrules_prepare prepare{descriptor.data(), descriptor.size()};
    forget(place);
    if (const char *refusal = declared.code->prepare(&prepare, views.pointers())) refuse(PyExc_ValueError, refusal);
    store(views.device(), place, descriptor);
    const c10::Storage &storage = views.tensor(declared.workspace).storage();
    preparedStates().insert_or_assign(place, Prepared{&declared, views.items(), storage.getWeakStorageImpl()});
}

inline PyObject *prepareWrapped(const Entry &entry, const Arguments &given) {
    const Values values = match(entry, given);
    const Views views(entry, values);
    prepareAt(descriptorOf(entry, views), entry, views);
    const skrules_entry &declared = *entry.declared;
    markWritten(entry.parameters[static_cast<size_t>(declared.workspace)], views.tensor(declared.workspace));
    return Py_NewRef(Py_None);
}

inline PyObject *callWrapped(const Entry &entry, const Arguments &given) {
    const Values values = match(entry, given);
    const Views views(entry, values);
    void *descriptor = descriptorOf(entry, views);
    const std::string missing = descriptor ? unprepared(entry, views, descriptor) : "";
    if (!missing.empty()) {
        // A graph would not hold the copy of the descriptors; outside of one it is made now.
        if (isCaptured(views.device())) refuse(PyExc_RuntimeError, missing);
        prepareAt(descriptor, entry, views);
    }
    launch(entry, views.device(), [&](uint32_t blocks, void *stream) {
        const skrules_launch launch{blocks, stream, descriptor, entry.declared->descriptor_bytes};
        return entry.declared->code->run(&launch, views.pointers());
    });
    views.markWritten();
    return resultOf(entry, values);
}

}  // namespace skrules::binding
