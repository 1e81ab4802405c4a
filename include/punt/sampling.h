// How to sample, as one value: everything that decides a text besides what was asked for.
//
// One table describes its fields. The command line, HTTP requests, the settings of recorded runs and the configurations
// of result folders are made from that table. To add a field:
//
//   1. add a member to Sampling, with a default that changes nothing;
//   2. add a row in src/generate/sampling.cc, and there what the field does to a recipe.
//
// Texts are then made by punt/writer.h, or a canvas is filled with MakeRecipe and Generate.
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
  std::int64_t grow_to = 64;  // of infills; see LetGrow
  std::string cache;          // empty: the model's own
  double guidance = 0;
  bool freeze_mask_ratio = false;
  std::vector<std::string> stop;  // a text ends before the first of these; recipes leave it out
  // The language that answers are in; who makes the canvas puts it into the recipe. At most one of the first four.
  std::string regex;
  std::vector<std::string> choices;
  std::string json_schema;    // its text
  std::string text_template;  // fixed parts and typed holes
  std::int64_t json_depth = 4;
  std::vector<std::string> motifs;  // of proteins
  std::string allowed_residues;     // the list, or the alignment
  std::vector<std::string> composition;
  std::int64_t max_steps = 0;
  std::int64_t max_nfe = 0;
  std::uint64_t seed = 0;

  friend bool operator==(const Sampling&, const Sampling&) = default;
};

/// Where a field stands in an HTTP request: beside the prompt, as in other engines (kTop); in the object `diffusion`;
/// in either; or nowhere, because requests that run together share what it changes.
enum class ApiPlace { kTop, kDiffusion, kBoth, kNone };

struct SamplingField {
  using Member = std::variant<std::string Sampling::*, double Sampling::*, std::int64_t Sampling::*,
                              std::uint64_t Sampling::*, bool Sampling::*, std::vector<std::string> Sampling::*>;

  std::string_view key;  // in recorded runs and configurations
  std::string_view help;
  Member member;
  ApiPlace place = ApiPlace::kDiffusion;
  double min = 0;  // of real and whole numbers; bounds are inclusive
  double max = 0;
  double api_max = 0;              // the bound for requests, if it is lower; 0: max
  bool is_above_min = false;       // min itself is not allowed
  std::string_view asked_as = {};  // name in requests and, after "--" and with dashes, in commands; empty: key

  std::int64_t whole_max() const;  // max as a 64-bit integer, which a double may round
  std::string_view name() const { return asked_as.empty() ? key : asked_as; }
};

std::span<const SamplingField> SamplingFields();

/// The field's value as configurations write it; real numbers as the shortest decimals that read back the same.
std::string TextOf(const Sampling& sampling, const SamplingField& field);

/// Keys and values for the configuration of a result folder, in the order of the table: of the fields in `keys`, and of
/// all others that differ from their defaults, so that folders from before a field was added can still be continued.
std::vector<std::pair<std::string, std::string>> SamplingConfiguration(const Sampling& sampling,
                                                                       std::span<const std::string_view> keys);

/// Throws Error on unknown names, numbers out of range and empty stop strings.
void Validate(const Sampling& sampling);

ProposalOptions ProposalOf(const Sampling& sampling);

/// Lets an infill become as long as `grow_to` allows, if the model has tokens for that: in a recipe and the session for
/// it. Without this call lengths are as given.
void LetGrow(const Sampling& sampling, const DenoiserInfo& info, Recipe& recipe, SessionOptions& session);

/// For sample 0. Throws Error as Validate does, except that numbers are not checked against the table.
Recipe MakeRecipe(const Sampling& sampling, const DenoiserInfo& info);

/// The positions that hold no mask.
std::vector<Position> GivenPositions(std::span<const Token> canvas, Token mask);

/// What a session must know about how it will be used. The caller sets the prompt for guidance (GivenPositions) and the
/// threads.
SessionOptions SessionFor(const Sampling& sampling, const DenoiserInfo& info);

/// For the header of a trace: the planner's spec with its defaults, and the model's own score in place of an empty one.
/// The caller sets observer and cancellation.
Company CompanyFor(const Sampling& sampling, std::string_view model_name, const DenoiserInfo& info);

}  // namespace punt
