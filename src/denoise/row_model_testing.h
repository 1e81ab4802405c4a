// A denoiser whose rows are a function of the canvas, and a model of it; for tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "punt/model.h"

namespace punt::testing {

/// The log-probabilities of position `position` of a canvas, V of them.
using RowFunction = std::function<std::vector<double>(std::span<const Token> canvas, Position position)>;

class RowSession : public DenoiserSession {
 public:
  RowSession(const DenoiserInfo& info, RowFunction rows, std::vector<Token> banned)
      : DenoiserSession(info), rows_(std::move(rows)), banned_(std::move(banned)) {}

 protected:
  struct RowPass : Pass {
    explicit RowPass(std::span<const Token> canvas) : Pass(canvas) {}
  };

  std::vector<PassRef> DoForward(std::span<const Query> queries) override {
    std::vector<PassRef> passes;
    for (const Query& query : queries) passes.push_back(std::make_shared<RowPass>(query.canvas));
    return passes;
  }
  void DoPropose(std::span<const ProposalRequest> requests) override {
    for (const ProposalRequest& request : requests) {
      for (std::size_t i = 0; i < request.rows.size(); ++i) {
        request.out[i] =
            ProposeFromRow(Row(*request.pass, request.rows[i]), request.rows[i], *request.options, request.key);
      }
    }
  }
  void DoDiverge(std::span<const DivergenceRequest> requests) override {
    for (const DivergenceRequest& request : requests) {
      for (std::size_t i = 0; i < request.rows.size(); ++i) {
        request.out[i] = DivergenceOfRows(Row(*request.base, request.rows[i]), Row(*request.fresh, request.rows[i]),
                                          *request.options);
      }
    }
  }
  void DoLogProbs(std::span<const LogProbRequest> requests) override {
    for (const LogProbRequest& request : requests) {
      auto out = request.out.begin();
      for (Position position : request.rows) out = std::ranges::copy(Row(*request.pass, position), out).out;
    }
  }
  void DoTokenProbs(std::span<const TokenProbRequest> requests) override {
    for (const TokenProbRequest& request : requests) {
      for (std::size_t i = 0; i < request.rows.size(); ++i) {
        request.out[i] = std::exp(Row(*request.pass, request.rows[i])[static_cast<std::size_t>(request.tokens[i])]);
      }
    }
  }

 private:
  std::vector<double> Row(const Pass& pass, Position position) const {
    std::vector<double> row = rows_(pass.canvas(), position);
    for (Token token : banned_) row[static_cast<std::size_t>(token)] = -INFINITY;
    double sum = 0;
    for (double value : row) sum += std::exp(value);
    for (double& value : row) value -= std::log(sum);
    return row;
  }

  RowFunction rows_;
  std::vector<Token> banned_;
};

class RowDenoiser : public Denoiser {
 public:
  RowDenoiser(DenoiserInfo info, RowFunction rows) : info_(std::move(info)), rows_(std::move(rows)) {}
  const DenoiserInfo& info() const override { return info_; }
  std::unique_ptr<DenoiserSession> NewSession(const SessionOptions& options) const override {
    return std::make_unique<RowSession>(info_, rows_, options.banned_tokens);
  }

 private:
  DenoiserInfo info_;
  RowFunction rows_;
};

/// One token per piece; the longest piece that fits comes first. Token 0 is BOS, 1 EOS, 2 the mask.
class PieceTokenizer : public Tokenizer {
 public:
  explicit PieceTokenizer(std::vector<std::string> pieces) : pieces_({"<s>", "</s>", "<mask>"}) {
    pieces_.insert(pieces_.end(), pieces.begin(), pieces.end());
  }
  using Tokenizer::Encode;
  std::vector<Token> Encode(std::string_view text, const EncodeOptions&) const override {
    std::vector<Token> tokens;
    while (!text.empty()) {
      std::size_t best = pieces_.size();
      for (std::size_t i = 3; i < pieces_.size(); ++i) {
        const bool fits = text.starts_with(pieces_[i]);
        if (fits && (best == pieces_.size() || pieces_[i].size() > pieces_[best].size())) best = i;
      }
      if (best == pieces_.size()) BadInput("no token for '{}'", text);
      tokens.push_back(static_cast<Token>(best));
      text.remove_prefix(pieces_[best].size());
    }
    return tokens;
  }
  std::string Decode(std::span<const Token> tokens) const override {
    std::string text;
    for (Token token : tokens) text += pieces_[static_cast<std::size_t>(token)];
    return text;
  }
  std::string Piece(Token token) const override { return pieces_[static_cast<std::size_t>(token)]; }
  bool IsControl(Token token) const override { return token < 3; }
  std::vector<Token> Prefix() const override { return {0}; }
  int size() const { return static_cast<int>(pieces_.size()); }

 private:
  std::vector<std::string> pieces_;
};

inline Model MakeRowModel(std::vector<std::string> pieces, int max_length, RowFunction rows) {
  const auto tokenizer = std::make_shared<PieceTokenizer>(std::move(pieces));
  const DenoiserInfo info{
      .name = "rows", .vocab_size = tokenizer->size(), .mask_token = 2, .eos_tokens = {1}, .max_length = max_length};
  return {.name = "rows", .denoiser = std::make_shared<RowDenoiser>(info, std::move(rows)), .tokenizer = tokenizer};
}

}  // namespace punt::testing
