// Task `protein`: as `membrane`, for proteins of any kind. The data (FASTA) are known proteins of that kind: besides
// the bound on its sequences, generated proteins are compared with it as in `punt score protein` (protein_judge.h):
// composition, lengths, the nearest known one. Without data only figures of the set itself remain. With a reference, a
// run one token at a time at temperature 1, the law of the sequences is compared with its law (law_reference.h), which
// detects a planner that writes the same few sequences again and again, however likely each of them is.
#include <fmt/format.h>

#include "eval/judges/text_statistics.h"
#include "eval/law_reference.h"
#include "tasks/protein/protein_judge.h"
#include "tasks/task_rows.h"

namespace punt {
namespace {

constexpr int kShownGram = 3;

/// Residues as words, which is what texts are compared by.
std::string Spaced(std::string_view sequence) {
  std::string text;
  for (char residue : sequence) text += {residue, ' '};
  return text;
}

void SpaceOut(std::vector<PromptedText>& texts) {
  for (PromptedText& text : texts) text.text = Spaced(text.text);
}

class ProteinTask : public Task {
 public:
  ProteinTask(const Params& params, const TaskSetup& setup) : proteins_(kMembraneRow.make(params, setup)) {
    if (!setup.data.empty()) reference_ = ProteinReference::Open(setup.data, setup.threads);
    if (!setup.reference.empty()) law_ = ReadLawReference(setup.reference);
    SpaceOut(law_);
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
    std::vector<PromptedText> sequences;
    std::vector<std::vector<std::string>> residues;
    for (const EvalRecord& record : records) sequences.push_back({record.prompt, record.response});
    SpaceOut(sequences);
    for (const PromptedText& sequence : sequences) residues.push_back(WordsOf(sequence.text));
    figures.push_back({.name = fmt::format("distinct_{}", kShownGram), .value = DistinctShare(residues, kShownGram)});
    AddVariety(sequences, law_, figures);
    return figures;
  }

 private:
  std::unique_ptr<Task> proteins_;
  std::unique_ptr<ProteinReference> reference_;
  std::vector<PromptedText> law_;
};

}  // namespace

const TaskRow kProteinRow = {
    .name = "protein",
    .summary = "generate proteins with a protein model; set them against known ones",
    .data_help =
        "none needed; with a FASTA file of known proteins, the nearest, composition and lengths, and the bound",
    .params = MembraneParams(),
    .takes_data = true,
    .takes_reference = true,
    .quality = "pseudo_perplexity",
    .less_is_better = true,
    .model_kind = "proteins, such as ESM-2 or the bundled membrane",
    .make = [](const Params& params, const TaskSetup& setup) -> std::unique_ptr<Task> {
      return std::make_unique<ProteinTask>(params, setup);
    }};

}  // namespace punt
