// Task `membrane`: proteins from a fully masked canvas. Everything between what the tokenizer puts before and after a
// sequence is masked, lengths are drawn uniformly, and only the 20 standard amino acids may be generated. A protein is
// judged
//
//   by the model itself: the pseudo-perplexity exp(-1/n sum_i ln p(x_i | all other residues)), one residue masked at a
//     time. It costs n passes, which are not counted as NFE;
//   by what membrane proteins look like: hydrophobic segments that could span a membrane, few runs of one residue, and
//     over the whole set the composition, as its KL divergence from that of known ones.
//
// With data (FASTA), item i also measures how well the model knows sequence i: the bound on its negative
// log-likelihood that the model was trained on. With k of n residues masked, k even over 1..n,
//
//   nelbo = E_k E_mask [ n/k sum_{i masked} -ln p(x_i | the rest) ].
//
// The k of one sequence are spread evenly from an offset that follows the golden ratio from sequence to sequence, which
// leaves far less noise than drawing them; masks come from a fixed seed, so that two models see the same ones.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/check.h"
#include "eval/stream.h"
#include "report/data_file.h"
#include "tasks/protein/protein_model.h"
#include "tasks/protein/protein_statistics.h"
#include "tasks/task_rows.h"

namespace punt {
namespace {

constexpr std::size_t kUsualCount = 100;
constexpr std::uint64_t kBoundSeed = 0;
constexpr double kGoldenRatio = 0.6180339887498949;

class MembraneTask : public Task {
 public:
  MembraneTask(const Params& params, const TaskSetup& setup)
      : model_(*setup.model),
        protein_(*setup.model),
        seed_(setup.seed),
        min_length_(setup.length.value_or(params.Integer("min_length"))),
        max_length_(setup.length.value_or(params.Integer("max_length"))),
        bound_samples_(params.Integer("bound_samples")),
        session_(setup.model->denoiser->NewSession({.threads = setup.threads})) {
    if (min_length_ > max_length_) BadInput("min_length {} exceeds max_length {}", min_length_, max_length_);
    if (max_length_ > protein_.room()) {
      BadInput("proteins of {} residues exceed the {} that {} takes: see max_length", max_length_, protein_.room(),
               model_.name);
    }
    if (!setup.data.empty()) ReadSequences(setup.data);
  }

  std::size_t size() const override { return 0; }
  std::size_t usual_count() const override { return kUsualCount; }

  EvalItem Item(std::size_t index) const override {
    RandomStream random = EvalStream("membrane", seed_, index);
    const int lengths = max_length_ - min_length_ + 1;
    const int length = min_length_ + static_cast<int>(random.Below(static_cast<std::uint64_t>(lengths)));
    const std::vector<Token> masks(static_cast<std::size_t>(length), model_.denoiser->info().mask_token);
    return {
        .id = fmt::format("{}", index), .prompt = fmt::format("{} residues", length), .canvas = protein_.Wrap(masks)};
  }

  std::vector<Token> BannedTokens() const override { return protein_.BannedTokens(); }

  std::string ResponseText(const EvalItem&, std::span<const Token> tokens) const override {
    return model_.tokenizer->Decode(protein_.Unwrap(tokens));
  }

  Measurement Judge(std::size_t index, const EvalItem&, const EvalResponse& response) override {
    const auto length = static_cast<double>(response.text.size());
    const double nll = protein_.PseudoNll(*session_, response.tokens);
    Measurement verdict = {{"length", length},
                           {"pseudo_nll", nll},
                           {"pseudo_perplexity", std::exp(nll / length)},
                           {"transmembrane", TransmembraneShare(response.text)},
                           {"longest_run", LongestRun(response.text)}};
    if (index < sequences_.size()) {
      verdict["bound_nll"] = Bound(index);
      verdict["bound_residues"] = static_cast<double>(sequences_[index].size());
    }
    return verdict;
  }

  std::vector<Figure> Summarise(std::span<const EvalRecord> records) const override {
    std::map<std::string, std::vector<double>> columns;
    std::vector<std::string> sequences;
    for (const EvalRecord& record : records) {
      sequences.push_back(record.response);
      for (const auto& [name, value] : record.verdict) columns[name].push_back(value);
    }
    std::vector<Figure> figures;
    const auto add = [&](const char* name, const Estimate& estimate) { figures.push_back(FigureOf(name, estimate)); };
    add("pseudo_perplexity", ExpOf(RatioOf(columns["pseudo_nll"], columns["length"], kNotNegative)));
    add("transmembrane", MeanOf(columns["transmembrane"], kShares));
    add("longest_run", MeanOf(columns["longest_run"], kNotNegative));
    const Composition composition = CompositionOf(sequences);
    figures.push_back({.name = "composition_kl", .value = CompositionDivergence(composition, MembraneComposition())});
    if (columns.contains("bound_nll")) {
      add("bound_nats", RatioOf(columns["bound_nll"], columns["bound_residues"], kNotNegative));
    }
    for (std::size_t i = 0; i < composition.size(); ++i) {
      figures.push_back(
          {.name = fmt::format("composition_{}", kAminoAcids[i]), .value = composition[i], .is_detail = true});
    }
    return figures;
  }

  std::vector<std::string> Notes() const override { return notes_; }

 private:
  void ReadSequences(const std::string& path) {
    std::size_t unfit = 0;
    try {
      for (FastaRecord& record : ParseFasta(ReadDataFile(path))) {
        const bool is_standard = record.sequence.find_first_not_of(kAminoAcids) == std::string::npos;
        if (is_standard && record.sequence.size() <= static_cast<std::size_t>(protein_.room())) {
          sequences_.push_back(std::move(record.sequence));
        } else {
          ++unfit;
        }
      }
    } catch (const Error& error) {
      BadInput("{}: {}", path, error.what());
    }
    if (sequences_.empty()) BadInput("{}: no sequence of standard amino acids fits the model", path);
    if (unfit > 0) notes_.push_back(fmt::format("{} sequences do not fit and were left out of the bound", unfit));
  }

  double Bound(std::size_t index) {
    const std::vector<Token> canvas = protein_.CanvasOf(sequences_[index]);
    std::vector<Position> positions = protein_.ResiduePositions(canvas);
    RandomStream random = EvalStream("membrane bound", kBoundSeed, index);
    const double offset = std::fmod(static_cast<double>(index + 1) * kGoldenRatio, 1.0);
    std::vector<MaskedQuestion> questions;
    for (int i = 0; i < bound_samples_; ++i) {
      const double ratio = (i + offset) / bound_samples_;
      const auto masked = static_cast<std::size_t>(ratio * static_cast<double>(positions.size())) + 1;
      Shuffle(std::span(positions), random);
      questions.push_back(protein_.Mask(canvas, std::span(positions).first(std::min(masked, positions.size()))));
    }
    const std::vector<double> sums = MaskedNll(*session_, questions);
    double bound = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      bound += sums[i] * static_cast<double>(positions.size()) / static_cast<double>(questions[i].rows.size());
    }
    return bound / bound_samples_;
  }

  const Model& model_;
  ProteinModel protein_;
  std::uint64_t seed_;
  int min_length_;
  int max_length_;
  int bound_samples_;
  std::unique_ptr<DenoiserSession> session_;  // judges; generation has its own
  std::vector<std::string> sequences_;
  std::vector<std::string> notes_;
};

const ParamRow kParams[] = {
    {.key = "min_length",
     .kind = ParamKind::kInteger,
     .default_value = "50",
     .help = "fewest residues of a protein",
     .min = 1,
     .max = 100000},
    {.key = "max_length",
     .kind = ParamKind::kInteger,
     .default_value = "250",
     .help = "most residues of a protein; a length asked for replaces both",
     .min = 1,
     .max = 100000},
    {.key = "bound_samples",
     .kind = ParamKind::kInteger,
     .default_value = "8",
     .help = "passes per sequence of the data for the bound",
     .min = 1,
     .max = 10000},
};

}  // namespace

std::span<const ParamRow> MembraneParams() { return kParams; }

const TaskRow kMembraneRow = {
    .name = "membrane",
    .summary = "generate membrane proteins with a protein model",
    .data_help = "none needed; with a FASTA file, item i also measures the bound on sequence i",
    .params = kParams,
    .takes_data = true,
    .quality = "pseudo_perplexity",
    .less_is_better = true,
    .model_kind = "proteins, such as ESM-2",
    .bundled_model = "membrane",
    .make = [](const Params& params, const TaskSetup& setup) -> std::unique_ptr<Task> {
      return std::make_unique<MembraneTask>(params, setup);
    }};

}  // namespace punt
