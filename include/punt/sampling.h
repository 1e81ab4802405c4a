// How to sample, as one value: everything that decides a text besides what was asked for.
//
// One table describes its fields. The command line, HTTP requests, the settings of recorded runs and the configurations
// of result folders are made from it, so a field that is added here is there at once:
//
//   1. a member of Sampling, with the default that changes nothing;
//   2. a row in src/generate/sampling.cc, and there what the field does to a recipe.
//
// A text is then asked for with punt/writer.h, or a canvas filled with MakeRecipe and Generate.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "punt/generator.h"
#include "punt/planner.h"
#include "punt/sampler.h"

namespace punt {

struct Sampling {
  std::string planner{kDefaultPlanner};  // a spec: name:key=value,...
  std::string score;                     // empty: the model's own
  double temperature = 1;
  double top_p = 1;
  std::int64_t top_k = 0;
  double min_p = 0;
  std::string convention = "llada";
  std::string score_on = "untempered";
  std::string eos = "none";
  std::int64_t window = 0;
  std::string cache = "none";
  double guidance = 0;
  bool freeze_mask_ratio = false;
  std::vector<std::string> stop;  // a text ends before the first of these; looked at by those who make texts
  std::int64_t max_steps = 0;
  std::int64_t max_nfe = 0;
  std::uint64_t seed = 0;

  friend bool operator==(const Sampling&, const Sampling&) = default;
};

/// Where a field stands in an HTTP request: beside the prompt, as other engines have it, in the object `diffusion`, in
/// either, or nowhere, because requests that run together share what it changes.
enum class ApiPlace { kTop, kDiffusion, kBoth, kNone };

struct SamplingField {
  using Member = std::variant<std::string Sampling::*, double Sampling::*, std::int64_t Sampling::*,
                              std::uint64_t Sampling::*, bool Sampling::*, std::vector<std::string> Sampling::*>;

  std::string_view key;  // in recorded runs and configurations
  std::string_view help;
  Member member;
  ApiPlace place = ApiPlace::kDiffusion;
  double min = 0;  // of real and whole numbers, inclusive
  double max = 0;
  double api_max = 0;              // of requests, which may ask for less; 0: max
  bool is_above_min = false;       // min itself is none
  std::string_view asked_as = {};  // in requests and, behind "--" and with dashes, on the command line; empty: key

  std::int64_t whole_max() const;  // of 64 bits, which max rounds
  std::string_view name() const { return asked_as.empty() ? key : asked_as; }
};

std::span<const SamplingField> SamplingFields();

/// As a configuration tells it; real numbers as short as they read back.
std::string TextOf(const Sampling& sampling, const SamplingField& field);

/// Keys and values for the configuration of a result folder, in the order of the table: of the fields in `keys`, and of
/// all others that differ from their defaults, so that folders from before a field was added go on.
std::vector<std::pair<std::string, std::string>> SamplingConfiguration(const Sampling& sampling,
                                                                       std::span<const std::string_view> keys);

/// Throws Error naming the field: names that no registry has, numbers out of range, stop strings that are empty.
void Validate(const Sampling& sampling);

ProposalOptions ProposalOf(const Sampling& sampling);

/// Of sample 0. Throws Error as Validate does.
Recipe MakeRecipe(const Sampling& sampling, const DenoiserInfo& info);

/// The positions that hold no mask.
std::vector<Position> GivenPositions(std::span<const Token> canvas, Token mask);

/// What a session must know of how it will be used; the prompt of guidance (GivenPositions) and the threads are the
/// caller's.
SessionOptions SessionFor(const Sampling& sampling, const DenoiserInfo& info);

/// For the header of a trace: the planner written out, the score that an empty one stands for. Observer and
/// cancellation are the caller's.
Company CompanyFor(const Sampling& sampling, std::string_view model_name, const DenoiserInfo& info);

}  // namespace punt
