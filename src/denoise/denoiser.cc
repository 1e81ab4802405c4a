#include "punt/denoiser.h"

#include "base/check.h"

namespace punt {
namespace {

void CheckRows(std::span<const Position> rows, std::size_t length) {
  for (Position row : rows) {
    if (row < 0 || static_cast<std::size_t>(row) >= length) {
      BadInput("row {} lies outside the canvas of length {}", row, length);
    }
  }
}

void CheckRead(const Pass* pass, std::span<const Position> rows, std::size_t out_size, std::size_t per_row) {
  Check(pass != nullptr, "a read without a pass");
  CheckRows(rows, pass->row_count());
  Check(out_size == rows.size() * per_row, "a read whose output does not match its rows");
}

}  // namespace

std::vector<PassRef> DenoiserSession::Forward(std::span<const Query> queries) {
  for (const Query& query : queries) {
    const std::size_t length = query.canvas.size();
    if (length == 0) BadInput("the canvas is empty");
    if (length > static_cast<std::size_t>(info_.max_length)) {
      BadInput("a canvas of {} tokens exceeds the {} that {} takes", length, info_.max_length, info_.name);
    }
    for (Token token : query.canvas) {
      if (token < 0 || token >= info_.vocab_size) {
        BadInput("token {} lies outside the vocabulary of {}", token, info_.vocab_size);
      }
    }
    CheckRows(query.shadows, length);
    CheckRows(query.stale, length);
    CheckRows(query.rows, length + query.shadows.size());
    if (!query.shadows.empty() && !info_.has_shadow_rows) BadInput("{} has no shadow rows", info_.name);
    if (!query.attention.empty() && !info_.has_attention_maps) BadInput("{} has no attention maps", info_.name);
    for (const LayerRange& range : query.attention) {
      Check(0 <= range.begin && range.begin <= range.end && range.end <= 1, "a range of layers within 0..1");
    }
  }
  if (queries.empty()) return {};
  std::vector<PassRef> passes = DoForward(queries);
  Check(passes.size() == queries.size(), "a session returned a wrong number of passes");
  for (const Query& query : queries) {
    (query.kind == PassKind::kBase ? counters_.base_passes : counters_.test_passes) += PassesPerQuery();
  }
  for (const PassRef& pass : passes) counters_.row_passes += pass->row_passes();
  counters_.calls += 1;
  return passes;
}

void DenoiserSession::Propose(std::span<const ProposalRequest> requests) {
  for (const ProposalRequest& request : requests) {
    CheckRead(request.pass, request.rows, request.out.size(), 1);
    Check(request.options != nullptr, "a proposal request without options");
    counters_.rows_read += static_cast<std::int64_t>(request.rows.size());
  }
  DoPropose(requests);
}

void DenoiserSession::Diverge(std::span<const DivergenceRequest> requests) {
  for (const DivergenceRequest& request : requests) {
    CheckRead(request.fresh, request.rows, request.out.size(), 1);
    CheckRead(request.base, request.rows, request.out.size(), 1);
    Check(request.options != nullptr, "a divergence request without options");
    counters_.rows_read += static_cast<std::int64_t>(request.rows.size());
  }
  DoDiverge(requests);
}

void DenoiserSession::LogProbs(std::span<const LogProbRequest> requests) {
  for (const LogProbRequest& request : requests) {
    CheckRead(request.pass, request.rows, request.out.size(), static_cast<std::size_t>(info_.vocab_size));
    counters_.rows_read += static_cast<std::int64_t>(request.rows.size());
  }
  DoLogProbs(requests);
}

void DenoiserSession::TokenProbs(std::span<const TokenProbRequest> requests) {
  for (const TokenProbRequest& request : requests) {
    CheckRead(request.pass, request.rows, request.out.size(), 1);
    Check(request.tokens.size() == request.rows.size(), "a token per row is needed");
    for (Token token : request.tokens) {
      if (token < 0 || token >= info_.vocab_size) {
        BadInput("token {} lies outside the vocabulary of {}", token, info_.vocab_size);
      }
    }
    counters_.rows_read += static_cast<std::int64_t>(request.rows.size());
  }
  DoTokenProbs(requests);
}

void DenoiserSession::Attention(std::span<const AttentionRequest> requests) {
  for (const AttentionRequest& request : requests) {
    Check(request.pass != nullptr, "a read without a pass");
    const std::size_t length = request.pass->canvas().size();
    Check(request.out.size() == length * length, "a read of attention whose output does not match the canvas");
  }
  DoAttention(requests);
}

void DenoiserSession::Influence(std::span<const InfluenceRequest> requests) {
  for (const InfluenceRequest& request : requests) {
    Check(request.pass != nullptr, "a read without a pass");
    const std::span<const Token> canvas = request.pass->canvas();
    Check(request.out.size() == canvas.size() * canvas.size(), "a read of influence that does not match the canvas");
    for (const Proposal& proposal : request.proposals) {
      CheckRows({&proposal.position, 1}, canvas.size());
      Check(canvas[static_cast<std::size_t>(proposal.position)] == info_.mask_token, "influence of what is not masked");
      if (proposal.token < 0 || proposal.token >= info_.vocab_size) {
        BadInput("token {} lies outside the vocabulary of {}", proposal.token, info_.vocab_size);
      }
    }
  }
  DoInfluence(requests);
}

void DenoiserSession::DoAttention(std::span<const AttentionRequest>) {
  BadInput("{} has no attention maps", info_.name);
}

void DenoiserSession::DoInfluence(std::span<const InfluenceRequest>) {
  BadInput("{} has no influence head", info_.name);
}

}  // namespace punt
