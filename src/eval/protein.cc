// Task `protein`: as `membrane`, for proteins of any kind. The data (FASTA) is what is known of that kind: besides the
// bound on its sequences, generated proteins are set against it as `punt score protein` does (protein_judge.h):
// composition, lengths, the nearest known one. Without data, what a set shows by itself is left.
#include "eval/protein_judge.h"
#include "eval/task_rows.h"

namespace punt {
namespace {

class ProteinTask : public Task {
 public:
  ProteinTask(const Params& params, const TaskSetup& setup) : proteins_(kMembraneRow.make(params, setup)) {
    if (!setup.data.empty()) reference_ = ProteinReference::Open(setup.data, setup.threads);
  }

  std::size_t size() const override { return proteins_->size(); }
  std::size_t usual_count() const override { return proteins_->usual_count(); }
  EvalItem Item(std::size_t index) const override { return proteins_->Item(index); }
  std::vector<Token> BannedTokens() const override { return proteins_->BannedTokens(); }
  std::vector<std::string> Notes() const override { return proteins_->Notes(); }

  std::string ResponseText(const EvalItem& item, std::span<const Token> tokens) const override {
    return proteins_->ResponseText(item, tokens);
  }

  Measurement Judge(std::size_t index, const EvalItem& item, const EvalResponse& response) override {
    Measurement verdict = proteins_->Judge(index, item, response);
    verdict.merge(JudgeProtein(response.text, reference_.get()).values);
    return verdict;
  }

  std::vector<Figure> Summarise(std::span<const EvalRecord> records) const override {
    std::vector<Figure> figures = ProteinFigures(records, reference_.get());
    for (const Figure& figure : proteins_->Summarise(records)) {
      if (figure.name == "bound_nats") figures.push_back(figure);
    }
    return figures;
  }

 private:
  std::unique_ptr<Task> proteins_;
  std::unique_ptr<ProteinReference> reference_;
};

}  // namespace

const TaskRow kProteinRow = {
    .name = "protein",
    .summary = "generate proteins with a protein model; set them against known ones",
    .data_help =
        "none needed; with a FASTA file of known proteins, the nearest, composition and lengths, and the bound",
    .params = MembraneParams(),
    .takes_data = true,
    .quality = "pseudo_perplexity",
    .less_is_better = true,
    .model_kind = "proteins, such as ESM-2 or the bundled membrane",
    .make = [](const Params& params, const TaskSetup& setup) -> std::unique_ptr<Task> {
      return std::make_unique<ProteinTask>(params, setup);
    }};

}  // namespace punt
