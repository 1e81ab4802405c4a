// What sequences put into the graph of a batch: tokens, places, masks.
#pragma once

#include <span>

#include "model/graph.h"
#include "model/network.h"
#include "model/network_runner.h"

namespace punt {

/// How much of a graph the sequence takes. Its keys and values must be of as many tokens as it has.
SequenceShape ShapeOf(const Sequence& sequence, const Hyperparameters& hyper);

/// Fills the inputs of a graph that was made for the shapes of these sequences.
void SetInputs(const GraphInputs& inputs, std::span<const Sequence> sequences, const Network& network);

/// The same of a graph in blocks.
void SetBlockInputs(const GraphInputs& inputs, std::span<const BlockSequence> sequences);

}  // namespace punt
