// What a constraint costs: seconds for a pass over a canvas of masks and its proposals, alone and held to a JSON
// schema. One thread works, and its processor time counts, so that others on the machine do not.
//
//   constraint_tool MODEL LENGTH SCHEMA [REPEATS]
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <numeric>
#include <sstream>
#include <vector>

#include "constrain/constrained_session.h"
#include "constrain/token_automaton.h"
#include "punt/model.h"
#include "punt/sampling.h"
#include "writer/answer_constraint.h"

namespace {

double Now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double SecondsOf(punt::DenoiserSession& session, const std::vector<punt::Token>& canvas, bool proposes) {
  const double start = Now();
  std::vector<punt::Position> rows(canvas.size());
  std::iota(rows.begin(), rows.end(), 0);
  const punt::Query query{.canvas = canvas, .rows = rows};
  const punt::PassRef pass = session.Forward({&query, 1}).front();
  if (proposes) {
    const punt::ProposalOptions options;
    std::vector<punt::Proposal> proposals(rows.size());
    const punt::ProposalRequest request{
        .pass = pass.get(), .rows = rows, .options = &options, .key = {}, .out = proposals};
    session.Propose({&request, 1});
  }
  return Now() - start;
}

/// The least of several: others may use the machine.
double Least(punt::DenoiserSession& session, const std::vector<punt::Token>& canvas, int repeats, bool proposes) {
  double least = 1e9;
  for (int i = 0; i < repeats; ++i) least = std::min(least, SecondsOf(session, canvas, proposes));
  return least;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: constraint_tool MODEL LENGTH SCHEMA [REPEATS]\n", stderr);
    return 2;
  }
  const punt::Model model = punt::OpenModel(argv[1]);
  const punt::DenoiserInfo& info = model.denoiser->info();
  const std::vector<punt::Token> canvas(std::stoul(argv[2]), info.mask_token);
  const int repeats = argc > 4 ? std::stoi(argv[4]) : 5;
  std::stringstream schema;
  schema << std::ifstream(argv[3]).rdbuf();
  const punt::Sampling sampling{.json_schema = schema.str()};

  const double start = Now();
  punt::AnswerLanguage language(sampling, model, {});
  const punt::Constraint constraint = language.For({canvas, {.begin = 0, .end = canvas.size()}});
  const double compiled = Now() - start;

  const auto inner = model.denoiser->NewSession({.threads = 1});
  const auto session = punt::NewConstrainedSession(*inner, constraint);
  const punt::TokenAutomaton& automaton = *constraint.automaton;
  const double pass = Least(*inner, canvas, repeats, false);
  const double free = Least(*inner, canvas, repeats, true);
  const double held = Least(*session, canvas, repeats, true);
  fmt::print("{} of {} positions, {} tokens: {} states, {} classes, {} sets, {} edges; compiled in {:.3f} s\n", argv[1],
             canvas.size(), info.vocab_size, automaton.states(), automaton.classes(), automaton.sets(),
             automaton.edges(), compiled);
  fmt::print("pass {:.4f} s, with proposals {:.4f} s, under the schema {:.4f} s: {:+.1f} %\n", pass, free, held,
             100 * (held / free - 1));
}
