// Products of mixtures of experts: every row meets the matrices of the experts that were chosen for it, and no others.
//
// Rows are put together by expert: those of one expert are gathered and multiplied at once, with the kernels of linear
// layers, and the results put back where they belong. Weights of an expert that nobody chose are not touched. A row's
// result does not depend on which others chose the same expert, nor on threads, which take experts, or channels of one
// where there are few: the kernels promise as much of any rows that are computed together.
#pragma once

#include "model/linear.h"

namespace punt {

/// A node with the products, f32 [channels, used, N]. `experts` is i32 [used, N]; the weights have a part for each
/// expert. The rows laid out are N, each of which meets all its experts, or used * N, one for each of them.
ggml_tensor* ExpertsNode(ggml_context* context, const Product& product, const LaidOut& laid_out, ggml_tensor* experts);

}  // namespace punt
