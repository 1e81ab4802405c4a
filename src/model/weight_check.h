// Checks of every weight of a model.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/thread_pool.h"
#include "weights/weight_source.h"

namespace punt {

/// How many weights of source.tensors()[index] are NaN or infinite. Reads all of them.
std::int64_t CountNotFinite(const WeightSource& source, std::size_t index, ThreadPool& pool);

}  // namespace punt
