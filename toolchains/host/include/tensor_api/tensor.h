#pragma once

#error "tensor_api/tensor.h: the tensor API is not emulated by the host toolchain"
