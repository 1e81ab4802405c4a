// Generated questions: the checkers against those of training, the words against training's, the laws of what is drawn.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "eval/stream.h"
#include "report/chi_square.h"
#include "tasks/questions/question_testing.h"
#include "tasks/questions/question_words.h"

namespace punt {
namespace {

using testing::AllKinds;
using testing::IsRight;
using testing::MakeQuestion;

const std::string kSource = PUNT_SOURCE_DIR;

std::string ReadFile(const std::string& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in) << path;
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// PUNT_VERDICTS names a longer file of the same kind.
TEST(Question, CheckersAgreeWithThoseOfTraining) {
  const char* other = std::getenv("PUNT_VERDICTS");
  std::istringstream lines(ReadFile(other != nullptr ? other : kSource + "/tests/tasks/verdicts.jsonl"));
  std::map<std::string, std::pair<int, int>> seen;  // right and wrong ones by kind
  for (std::string line; std::getline(lines, line);) {
    const auto entry = nlohmann::json::parse(line);
    const Question question{entry["kind"], entry["prompt"], entry["example"]};
    const bool is_right = entry["right"];
    EXPECT_EQ(IsRight(question, entry["answer"].get<std::string>()), is_right) << line;
    ++(is_right ? seen[question.kind].first : seen[question.kind].second);
  }
  EXPECT_EQ(seen.size(), AllKinds().size());
  for (const auto& [kind, counts] : seen) {
    EXPECT_GT(counts.first, 0) << kind;
    EXPECT_GT(counts.second, 0) << kind;
  }
}

TEST(Question, AnswersAreRightAndThoseOfOthersAreNot) {
  for (const std::string& kind : AllKinds()) {
    for (std::uint64_t i = 0; i < 50; ++i) {
      RandomStream random = EvalStream("test", 3, i), others = EvalStream("test", 4, i);
      const Question question = MakeQuestion(kind, 4 + static_cast<int>(i % 5), random);
      EXPECT_TRUE(IsRight(question, question.answer)) << kind << "\n" << question.prompt << "\n" << question.answer;
      EXPECT_FALSE(IsRight(question, question.answer + "\n")) << kind;
      EXPECT_FALSE(IsRight(question, "")) << kind;
      const Question other = MakeQuestion(kind, 9, others);
      EXPECT_TRUE(other.answer == question.answer || !IsRight(question, other.answer)) << kind << other.answer;
    }
  }
}

TEST(Question, NearMissesAreWrong) {
  const struct {
    const char* kind;
    const char* prompt;
    const char* right;
    std::vector<const char*> wrong;
  } cases[] = {
      {"shuffle", "Shuffle the list: [\"A B\", \"C D\"]", "[\"C D\", \"A B\"]", {"[\"A B\", \"C D\"]", "[\"C D\"]"}},
      {"insert_random",
       "Insert \"E F\" at a random position: [\"A B\"]",
       "[\"A B\", \"E F\"]",
       {"[\"A B\"]", "[\"A B\", \"C D\"]", "[\"E F\", \"A B\", \"E F\"]"}},
      {"remove_random",
       "Remove a random person: [\"A B\", \"C D\", \"E F\"]",
       "[\"A B\", \"E F\"]",
       {"[\"E F\", \"A B\"]", "[\"A B\", \"C D\", \"E F\"]", "[\"A B\"]"}},
      {"replace_random",
       "Replace a random person with \"E F\": [\"A B\", \"C D\"]",
       "[\"E F\", \"C D\"]",
       {"[\"A B\", \"C D\"]", "[\"E F\", \"E F\"]", "[\"C D\", \"E F\"]"}},
      {"latin_square",
       "Latin square: [1, 2, 3, 4]",
       "1,2,3,4\n2,1,4,3\n3,4,1,2\n4,3,2,1",
       {"1,2,3,4\n1,2,3,4\n3,4,1,2\n4,3,2,1", "1,1,1,1\n2,2,2,2\n3,3,3,3\n4,4,4,4"}},
      {"trips_csv",
       "Write 1 trips as CSV",
       "no,month,from,to\n#01,Oct,3rd,24th\n",
       {"no,month,from,to\n#01,Oct,24th,3rd\n", "no,month,from,to\n#01,Oct,3rd,3rd\n",
        "no,month,from,to\n#02,Oct,3rd,24th\n", "no,month,from,to\n#01,Okt,3rd,24th\n"}},
      {"people_csv",
       "Write 1 people as CSV",
       "no,name,city,country\n#01,Aaron,Oslo,Norway\n",
       {"no,name,city,country\n#01,Aaron,Oslo,France\n", "no,name,city,country\n#01,Abigail,Oslo,Norway\n"}},
      {"bills_csv",
       "Write 1 bills as CSV",
       "no,a,b,total\n#01,3,4,7\n",
       {"no,a,b,total\n#01,3,4,6\n", "no,a,b,total\n#01,5,1,6\n", "no,a,b,total\n#01,03,4,7\n"}},
      {"orders_csv",
       "Write 2 orders as CSV",
       "no,id,city,country,a,b,total\n#01,AB1,Oslo,Norway,1,1,2\n#02,AB2,Oslo,Norway,1,1,2\n",
       {"no,id,city,country,a,b,total\n#01,AB1,Oslo,Norway,1,1,2\n#02,AB1,Oslo,Norway,1,1,2\n",
        "no,id,city,country,a,b,total\n#01,AB1,Oslo,Norway,1,1,2\n#02,A22,Oslo,Norway,1,1,2\n"}}};
  for (const auto& [kind, prompt, right, wrong] : cases) {
    const Question question{kind, prompt, right};
    EXPECT_TRUE(IsRight(question, right)) << right;
    for (const char* answer : wrong) EXPECT_FALSE(IsRight(question, answer)) << answer;
  }
}

/// The words between NAME = """ and """ of training's source.
std::vector<std::string> PythonWords(const std::string& source, const std::string& name) {
  const std::size_t begin = source.find(name + " = \"\"\"");
  EXPECT_NE(begin, std::string::npos) << name;
  const std::size_t first = begin + name.size() + 6;
  std::istringstream text(source.substr(first, source.find("\"\"\"", first) - first));
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

TEST(Question, WordsAreThoseOfTraining) {
  const std::string source = ReadFile(kSource + "/training/punt_training/task_words.py");
  const auto list = [](std::span<const std::string_view> words) {
    return std::vector<std::string>(words.begin(), words.end());
  };
  EXPECT_EQ(list(GivenNames()), PythonWords(source, "GIVEN"));
  EXPECT_EQ(list(Surnames()), PythonWords(source, "SURNAMES"));
  EXPECT_EQ(GivenNames().size(), 185u);
  EXPECT_EQ(RecordNames().size(), 31u);
  EXPECT_EQ(Cities().size(), 32u);
  for (std::string_view city : Cities()) {
    const std::string pair = fmt::format("\"{}\": \"{}\"", city, *CountryOf(city));
    EXPECT_NE(source.find(pair), std::string::npos) << pair;
  }
  EXPECT_FALSE(CountryOf("Norway"));
}

TEST(Question, WordingIsThatOfTheTable) {
  const ListTask task{.line = {"Ann Lee", "Carl Wood"}, .person = "Roy Hall", .position = 1};
  const std::string line = "[\"Ann Lee\", \"Carl Wood\"]";
  EXPECT_EQ(ListPrompt("insert_index", task), "Insert \"Roy Hall\" at position 1: " + line);
  EXPECT_EQ(ListPrompt("insert_random", task), "Insert \"Roy Hall\" at a random position: " + line);
  EXPECT_EQ(ListPrompt("remove_index", task), "Remove the person at position 1: " + line);
  EXPECT_EQ(ListPrompt("remove_random", task), "Remove a random person: " + line);
  EXPECT_EQ(ListPrompt("replace_index", task), "Replace the person at position 1 with \"Roy Hall\": " + line);
  EXPECT_EQ(ListPrompt("replace_random", task), "Replace a random person with \"Roy Hall\": " + line);
  EXPECT_EQ(ListPrompt("shuffle", task), "Shuffle the list: " + line);
  EXPECT_EQ(ReadLine(line), task.line);
  EXPECT_FALSE(ReadLine("[\"Ann \"Lee\"]"));
}

TEST(Question, SquaresAreDrawnEvenly) {
  std::map<std::string, std::size_t> squares;
  std::vector<std::int64_t> counts(576);
  for (std::uint64_t i = 0; i < 6000; ++i) {
    RandomStream random = EvalStream("squares", 0, i);
    Question question = MakePuzzleQuestion("latin_square", random);
    const auto symbols = SplitAt(question.prompt.substr(15, 10), ", ");
    std::string pattern;
    for (char c : question.answer) {
      const auto at = std::find(symbols.begin(), symbols.end(), std::string(1, c));
      if (at != symbols.end()) pattern += static_cast<char>('a' + (at - symbols.begin()));
    }
    const std::size_t index = squares.emplace(pattern, squares.size()).first->second;
    ASSERT_LT(index, counts.size());
    ++counts[index];
  }
  EXPECT_EQ(squares.size(), 576u);
  EXPECT_GT(TestEven(counts)->p, 0.001);
}

TEST(Question, ChoicesNameKinds) {
  EXPECT_EQ(ChosenKinds(ListKinds(), "random").size(), 4u);
  EXPECT_EQ(ChosenKinds(ListKinds(), "fixed").size(), 7u);
  EXPECT_EQ(ChosenKinds(ListKinds(), "all").size(), 11u);
  EXPECT_EQ(ChosenKinds(ListKinds(), "sort").at(0).name, "sort");
  EXPECT_EQ(TemperatureFor(ListKinds(), "sort"), 0);
  EXPECT_EQ(TemperatureFor(ListKinds(), "shuffle"), 1);
}

}  // namespace
}  // namespace punt
