#include "tasks/questions/question_task.h"

#include <fmt/format.h>

#include "base/check.h"
#include "eval/continuation.h"
#include "eval/stream.h"
#include "writer/stop_strings.h"

namespace punt {
namespace {

constexpr std::size_t kUsualCount = 100;
constexpr std::size_t kEnds = 2;  // positions after the answer

class QuestionTask : public Task {
 public:
  QuestionTask(QuestionFamily family, const TaskSetup& setup, bool chat)
      : family_(std::move(family)),
        model_(*setup.model),
        seed_(setup.seed),
        chat_(chat),
        constrained_(setup.constrained) {
    if (setup.length) BadInput("these questions take no length: the answer has one");
  }

  std::size_t size() const override { return 0; }
  std::size_t usual_count() const override { return kUsualCount; }

  EvalItem Item(std::size_t index) const override {
    const std::string& kind = family_.kinds[index % family_.kinds.size()];
    RandomStream random = EvalStream(kind, seed_, index);
    const Question question = family_.make(kind, random);
    EvalItem item{.id = fmt::format("{}-{}", kind, index), .prompt = question.prompt, .canvas = {}, .reference = {}};
    item.canvas = QuestionCanvas(model_, item.id, question, chat_);
    item.reference = question.answer;
    if (constrained_ && family_.language) {
      item.language = family_.language(question);
      const TextPlace place = PlaceOfMasks(item.canvas, model_.denoiser->info().mask_token);
      item.language_begin = place.begin;
      item.language_end = place.end;
    }
    return item;
  }

  std::string ResponseText(const EvalItem& item, std::span<const Token> tokens) const override {
    return AnswerText(model_, item, tokens);
  }

  Measurement Judge(std::size_t index, const EvalItem& item, const EvalResponse& response) override {
    const Question question{
        .kind = family_.kinds[index % family_.kinds.size()], .prompt = item.prompt, .answer = item.reference};
    Measurement verdict = {{kCorrect, family_.is_right(question, response.text) ? 1.0 : 0.0}};
    if (family_.measure) family_.measure(question, response.text, verdict);
    return verdict;
  }

  std::vector<Figure> Summarise(std::span<const EvalRecord> records) const override {
    std::vector<Figure> figures;
    if (family_.figures) figures = family_.figures(records);
    for (Figure& figure : AccuracyByKind(family_.kinds, records)) figures.push_back(std::move(figure));
    return figures;
  }

 private:
  QuestionFamily family_;
  const Model& model_;
  std::uint64_t seed_;
  bool chat_;
  bool constrained_;
};

std::string KindOf(const EvalRecord& record) { return record.id.substr(0, record.id.rfind('-')); }

}  // namespace

std::unique_ptr<Task> MakeQuestionTask(QuestionFamily family, const TaskSetup& setup, bool chat) {
  return std::make_unique<QuestionTask>(std::move(family), setup, chat);
}

std::vector<Token> QuestionCanvas(const Model& model, const std::string& id, const Question& question, bool chat) {
  const std::size_t length = model.tokenizer->Encode(question.answer).size() + kEnds;
  return ContinuationCanvas(model,
                            {.id = id, .prompt = question.prompt, .chat = chat, .length = static_cast<int>(length)});
}

std::string AnswerText(const Model& model, const EvalItem& item, std::span<const Token> tokens) {
  return model.tokenizer->Decode(Continuation(model, item.canvas, tokens));
}

Question QuestionOf(const EvalRecord& record) {
  return {.kind = KindOf(record), .prompt = record.prompt, .answer = record.reference};
}

std::vector<Figure> AccuracyByKind(std::span<const std::string> kinds, std::span<const EvalRecord> records) {
  std::vector<Figure> figures;
  if (kinds.size() < 2) return figures;
  for (const std::string& kind : kinds) {
    std::int64_t all = 0, right = 0;
    for (const EvalRecord& record : records) {
      if (KindOf(record) != kind) continue;
      ++all;
      right += record.verdict.at(kCorrect) != 0 ? 1 : 0;
    }
    if (all > 0) figures.push_back(FigureOf("accuracy_" + kind, ShareOf(right, all)));
  }
  return figures;
}

}  // namespace punt
