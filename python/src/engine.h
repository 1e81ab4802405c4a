// A model and what can be asked of it: what punt.Model of Python holds.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "denoise/model_choice.h"
#include "job.h"
#include "punt/writer.h"

namespace punt::py {

class Engine {
 public:
  /// `choice` says how the model was opened.
  Engine(Model model, ModelChoice choice);

  /// Options by the names of ModelOptions; `progress` is called with a share of the weights, or it is None.
  static std::unique_ptr<Engine> Open(const std::string& name, nb::dict options, int threads, nb::object progress);
  /// A punt.Denoiser of Python; without a tokenizer, tokens are letters.
  static std::unique_ptr<Engine> Wrap(nb::object denoiser, nb::object tokenizer, int threads);

  const Model& model() const { return writer_.model(); }
  const ModelChoice& choice() const { return choice_; }

  /// On this thread.
  Outcome Write(nb::dict ask, nb::dict sampling) const;
  Outcome Fill(nb::handle canvas, nb::dict sampling, std::uint64_t sample) const;
  /// On a thread of their own.
  std::unique_ptr<Job> Stream(nb::dict ask, nb::dict sampling, nb::object notify) const;
  std::unique_ptr<Job> Batch(nb::list asks, nb::dict sampling, nb::object notify) const;
  std::unique_ptr<Job> FillBatch(nb::list canvases, nb::dict sampling, nb::object notify) const;

  nb::object LogProbs(nb::handle tokens, nb::handle rows) const;
  nb::object Encode(nb::handle text, bool specials, bool whole) const;
  nb::object Decode(nb::handle tokens, bool controls) const;
  nb::object Pieces(nb::handle tokens) const;

 private:
  Writer writer_;
  ModelChoice choice_;
  int threads_;
};

void BindEngine(nb::module_& module);

}  // namespace punt::py
