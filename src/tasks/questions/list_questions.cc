#include "tasks/questions/list_questions.h"

#include <fmt/format.h>

#include <algorithm>

#include "eval/stream.h"
#include "tasks/questions/question_words.h"

namespace punt {
namespace {

constexpr QuestionKind kKinds[] = {{"copy"},
                                   {"reverse"},
                                   {"sort"},
                                   {"insert_index"},
                                   {"remove_index"},
                                   {"replace_index"},
                                   {"count"},
                                   {"shuffle", true},
                                   {"insert_random", true},
                                   {"remove_random", true},
                                   {"replace_random", true}};

constexpr std::string_view kOpen = "[\"";
constexpr std::string_view kBetween = "\", \"";
constexpr std::string_view kClose = "\"]";
constexpr double kSpelled = 0.06;  // share of lines in which a name is in no list

using Line = std::vector<std::string>;

template <typename Words>
auto Pick(const Words& words, RandomStream& random) {
  return words[static_cast<std::size_t>(random.Below(words.size()))];
}

/// A name that is not a word: it must be copied letter by letter.
std::string SpelledName(RandomStream& random) {
  std::string name(1, Pick(std::string_view("ABCDEFGHIJKLMNOPRSTVWZ"), random));
  for (std::uint64_t left = 2 + random.Below(3); left > 0; --left) {
    name += Pick(std::string_view("abdefgiklmnoprstuvz"), random);
  }
  return name;
}

Line DrawPeople(std::size_t count, bool words_only, RandomStream& random) {
  std::vector<std::string_view> given(GivenNames().begin(), GivenNames().end());
  Shuffle(std::span(given), random);
  Line people;
  for (std::size_t i = 0; i < count; ++i) people.push_back(fmt::format("{} {}", given[i], Pick(Surnames(), random)));
  if (!words_only && random.Uniform() < kSpelled) {
    people[static_cast<std::size_t>(random.Below(count))] =
        fmt::format("{} {}", SpelledName(random), Pick(Surnames(), random));
  }
  return people;
}

Line Inserted(Line line, std::size_t at, const std::string& person) {
  line.insert(line.begin() + static_cast<std::ptrdiff_t>(at), person);
  return line;
}

Line Removed(Line line, std::size_t at) {
  line.erase(line.begin() + static_cast<std::ptrdiff_t>(at));
  return line;
}

Line Replaced(Line line, std::size_t at, const std::string& person) {
  line[at] = person;
  return line;
}

Line Sorted(Line line) {
  std::sort(line.begin(), line.end());
  return line;
}

Line Shuffled(const Line& line, RandomStream& random) {
  Line other = line;
  while (other == line) Shuffle(std::span(other), random);
  return other;
}

/// A right answer; random kinds use the position too.
std::string AnswerOf(std::string_view kind, const ListTask& task, RandomStream& random) {
  const Line& line = task.line;
  if (kind == "copy") return LineText(line);
  if (kind == "reverse") return LineText(Line(line.rbegin(), line.rend()));
  if (kind == "sort") return LineText(Sorted(line));
  if (kind == "count") return fmt::format("{:02}", line.size());
  if (kind == "shuffle") return LineText(Shuffled(line, random));
  if (kind.starts_with("insert")) return LineText(Inserted(line, task.position, task.person));
  if (kind.starts_with("remove")) return LineText(Removed(line, task.position));
  return LineText(Replaced(line, task.position, task.person));
}

}  // namespace

std::span<const QuestionKind> ListKinds() { return kKinds; }

std::string LineText(std::span<const std::string> people) {
  return fmt::format("{}{}{}", kOpen, Joined(people, kBetween), kClose);
}

std::optional<Line> ReadLine(std::string_view text) {
  const bool is_closed =
      text.size() >= kOpen.size() + kClose.size() && text.starts_with(kOpen) && text.ends_with(kClose);
  if (!is_closed) return std::nullopt;
  Line people = SplitAt(text.substr(kOpen.size(), text.size() - kOpen.size() - kClose.size()), kBetween);
  for (const std::string& name : people) {
    const bool is_plain = std::all_of(name.begin(), name.end(), [](char c) {
      return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\';
    });
    if (!is_plain) return std::nullopt;
  }
  return people;
}

std::string ListPrompt(std::string_view kind, const ListTask& task) {
  const std::string line = LineText(task.line);
  if (kind == "copy") return fmt::format("Copy the list: {}", line);
  if (kind == "reverse") return fmt::format("Reverse the list: {}", line);
  if (kind == "sort") return fmt::format("Sort the list: {}", line);
  if (kind == "count") return fmt::format("Count the list: {}", line);
  if (kind == "shuffle") return fmt::format("Shuffle the list: {}", line);
  const bool is_random = kind.ends_with("random");
  const std::string whom = is_random ? "a random person" : fmt::format("the person at position {}", task.position);
  if (kind.starts_with("remove")) return fmt::format("Remove {}: {}", whom, line);
  if (kind.starts_with("replace")) return fmt::format("Replace {} with \"{}\": {}", whom, task.person, line);
  const std::string where = is_random ? "a random position" : fmt::format("position {}", task.position);
  return fmt::format("Insert \"{}\" at {}: {}", task.person, where, line);
}

Question MakeListQuestion(std::string_view kind, int people, RandomStream& random) {
  const auto count = static_cast<std::size_t>(people);
  ListTask task{.line = DrawPeople(count, kind == "sort", random)};
  task.person = DrawPeople(1, false, random).front();  // the line may already have someone with this given name
  task.position = static_cast<std::size_t>(random.Below(count + (kind.starts_with("insert") ? 1 : 0)));
  return {.kind = std::string(kind), .prompt = ListPrompt(kind, task), .answer = AnswerOf(kind, task, random)};
}

bool IsRightList(const Question& question, std::string_view answer) {
  const std::string_view kind = question.kind, prompt = question.prompt;
  const bool is_random = kind == "shuffle" || kind.ends_with("random");
  if (!is_random) return answer == question.answer;
  const std::optional<Line> given = ReadLine(prompt.substr(prompt.find('[')));
  const std::optional<Line> line = ReadLine(answer);
  if (!given || !line) return false;
  if (kind == "shuffle") return Sorted(*line) == Sorted(*given) && *line != *given;
  const std::string person = SplitAt(prompt, "\"")[1];
  for (std::size_t i = 0; i <= given->size(); ++i) {
    if (kind == "insert_random" && *line == Inserted(*given, i, person)) return true;
    if (i == given->size()) break;
    if (kind == "remove_random" && *line == Removed(*given, i)) return true;
    if (kind == "replace_random" && *line == Replaced(*given, i, person)) return true;
  }
  return false;
}

}  // namespace punt
