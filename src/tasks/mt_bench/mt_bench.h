// MT-Bench: answers to two-turn questions, rated from 1 to 10 by a judge that is itself a language model. This file has
// what comes before the judge (the requests) and after it (the summary of its ratings); the judge runs elsewhere.
//
// Files are FastChat's: questions, model answers, reference answers, judge prompts and judgments, all JSON lines.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/confidence.h"

namespace punt {

inline constexpr const char* kMtBench = "mt-bench";
inline constexpr int kMtBenchTurns = 2;

struct MtBenchQuestion {
  std::string id;
  std::string category;
  std::array<std::string, kMtBenchTurns> turns;
};

/// A model's answers by question id; the first choice counts.
struct MtBenchAnswers {
  std::string model;
  std::map<std::string, std::array<std::string, kMtBenchTurns>> by_question;
};

struct JudgePrompt {
  std::string system;
  std::string user;  // with places {question}, {answer}, {ref_answer_1}, ...
};

using JudgePrompts = std::map<std::string, JudgePrompt>;  // by name

/// All throw Error naming the line.
std::vector<MtBenchQuestion> ParseMtBenchQuestions(std::string_view text);
MtBenchAnswers ParseMtBenchAnswers(std::string_view text);
JudgePrompts ParseJudgePrompts(std::string_view text);

/// What the judge is to be asked about one turn.
struct JudgeRequest {
  std::string id;  // of the question
  int turn = 1;    // from 1
  std::string category;
  std::string prompt;  // its name: single-v1, single-math-v1, or one of these with -multi-turn
  std::string system;
  std::string user;
};

/// Two for every question that has an answer, in the order of the questions. Questions of mathematics, reasoning and
/// coding are judged with the reference answer beside it. Throws Error naming a question without one, a prompt that is
/// missing, or a place in it that is not known.
std::vector<JudgeRequest> MakeJudgeRequests(const std::vector<MtBenchQuestion>& questions,
                                            const MtBenchAnswers& answers, const MtBenchAnswers& references,
                                            const JudgePrompts& prompts);

/// The body of a chat completion at temperature 0.
std::string JudgeRequestBody(const JudgeRequest& request, std::string_view judge);

/// The request as a line of OpenAI's batch format: custom_id, method, url and body.
std::string JudgeRequestLine(const JudgeRequest& request, std::string_view judge);

/// The first [[number]]; without one, the first [number]; else nothing.
std::optional<double> ParseRating(std::string_view judgment);

struct Judgment {
  std::string text;
  std::optional<double> rating;
};

/// By question id and turn.
using Judgments = std::map<std::pair<std::string, int>, Judgment>;

/// Reads FastChat's single judgments, or the results of OpenAI's batch format for JudgeRequestLine's requests. Of
/// several models', only those of `model` count. The rating is read from the text; without text it is the recorded
/// score (-1: none). Throws Error naming the line; also on two different judgments of the same turn.
Judgments ParseJudgments(std::string_view text, const std::string& model);

/// A judgment in FastChat's format.
std::string JudgmentLine(const JudgeRequest& request, const Judgment& judgment, const std::string& model,
                         std::string_view judge);

/// Means over ratings; intervals treat questions, not ratings, as independent.
struct MtBenchSummary {
  std::size_t ratings = 0;
  std::size_t unrated = 0;  // judged, but without a rating: not counted
  std::size_t missing = 0;  // requests without a judgment
  Estimate score;
  std::array<std::optional<Estimate>, kMtBenchTurns> turns;  // nothing: no rating
  std::vector<std::pair<std::string, Estimate>> categories;  // in the order of the requests
};

/// Throws Error when there is not a single rating.
MtBenchSummary SummariseMtBench(const std::vector<JudgeRequest>& requests, const Judgments& judgments);

}  // namespace punt
