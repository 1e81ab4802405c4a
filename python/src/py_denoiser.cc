// The engine calls a session as it calls any other; every call takes the interpreter's lock, hands the requests over as
// the dataclasses of punt/denoiser.py, and checks what comes back: its number, shapes, kinds, and that probabilities
// are some. An exception of Python's leaves as nb::python_error, through the engine, and is the same exception on the
// other side.
#include "py_denoiser.h"

#include <fmt/format.h>

#include <cmath>
#include <exception>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/check.h"
#include "convert.h"
#include "held.h"
#include "kernels/row_kernels.h"
#include "punt/score.h"

namespace punt::py {
namespace {

constexpr double kSlack = 1e-4;  // how far a probability in float32 or less may be beside 0..1

nb::object Class(const char* name) { return nb::module_::import_("punt.denoiser").attr(name); }

std::string NameOfClass(nb::handle object) {
  return nb::cast<std::string>(nb::str(nb::handle(object.type()).attr("__name__")));
}

class PyPass : public Pass {
 public:
  PyPass(const Query& query, nb::object handle, const void* session)
      : Pass(query.canvas, query.shadows), handle_(std::move(handle)), session_(session) {
    const nb::object rows = nb::getattr(handle_.get(), "row_passes", nb::none());
    if (!rows.is_none()) SetRowPasses(nb::cast<std::int64_t>(rows));
  }

  const nb::object& handle() const { return handle_.get(); }
  bool belongs_to(const void* session) const { return session_ == session; }

 private:
  Held handle_;
  const void* session_;
};

nb::object Ints(std::span<const std::int32_t> values) { return NewArray(values); }

nb::object RangeOf(const LayerRange& range) { return Class("LayerRange")(range.begin, range.end); }

nb::tuple TupleOf(const std::vector<std::int32_t>& values) {
  nb::list list;
  for (std::int32_t value : values) list.append(value);
  return nb::tuple(list);
}

nb::object Text(std::string_view text) { return nb::str(text.data(), text.size()); }

class PySession : public DenoiserSession {
 public:
  PySession(const DenoiserInfo& info, nb::object session, const SessionOptions& options)
      : DenoiserSession(info),
        session_(std::move(session)),
        banned_(options.banned_tokens.begin(), options.banned_tokens.end()) {
    banned_.insert(info.mask_token);
    passes_per_query_ = nb::cast<int>(session_.get().attr("passes_per_query"));
    if (passes_per_query_ < 1) BadInput("{}: passes_per_query is {}", info.name, passes_per_query_);
  }

 protected:
  int PassesPerQuery() const override { return passes_per_query_; }

  std::vector<PassRef> DoForward(std::span<const Query> queries) override {
    nb::gil_scoped_acquire lock;
    return Asking([&] { return ForwardNow(queries); });
  }

  void DoPropose(std::span<const ProposalRequest> requests) override {
    nb::gil_scoped_acquire lock;
    Asking([&] { return ProposeNow(requests); });
  }

  void DoDiverge(std::span<const DivergenceRequest> requests) override {
    nb::gil_scoped_acquire lock;
    Asking([&] { return DivergeNow(requests); });
  }

  void DoLogProbs(std::span<const LogProbRequest> requests) override {
    nb::gil_scoped_acquire lock;
    Asking([&] { return LogProbsNow(requests); });
  }

  void DoTokenProbs(std::span<const TokenProbRequest> requests) override {
    nb::gil_scoped_acquire lock;
    Asking([&] { return TokenProbsNow(requests); });
  }

  void DoAttention(std::span<const AttentionRequest> requests) override {
    nb::gil_scoped_acquire lock;
    Asking([&] { return AttentionNow(requests); });
  }

 private:
  /// What `ask` makes of Python's answers. Once it threw, the session is over, and everybody who shares it hears the
  /// same: a batch asks again for each sequence, to find the one that is to blame.
  template <typename Ask>
  std::invoke_result_t<Ask> Asking(const Ask& ask) {
    if (failure_) Rethrow(failure_);
    try {
      return ask();
    } catch (const nb::python_error& error) {
      failure_ = std::make_exception_ptr(nb::python_error(error));
      throw;
    } catch (const Error&) {
      failure_ = std::current_exception();
      throw;
    }
  }

  std::vector<PassRef> ForwardNow(std::span<const Query> queries) {
    const nb::object query_class = Class("Query");
    nb::list asked;
    for (const Query& query : queries) {
      nb::list ranges;
      for (const LayerRange& range : query.attention) ranges.append(RangeOf(range));
      asked.append(query_class(Ints(query.canvas), Ints(query.rows), query.kind == PassKind::kTest,
                               HandleOf(query.base), Ints(query.shadows), nb::tuple(ranges), query.keep_states,
                               HandleOf(query.states), Ints(query.stale)));
    }
    const std::vector<nb::object> handles = Call("forward", asked, queries.size());
    std::vector<PassRef> passes;
    for (std::size_t i = 0; i < queries.size(); ++i) {
      passes.push_back(std::make_shared<PyPass>(queries[i], handles[i], this));
    }
    return passes;
  }

  void ProposeNow(std::span<const ProposalRequest> requests) {
    const nb::object request_class = Class("ProposalRequest");
    nb::list asked;
    for (const ProposalRequest& request : requests) {
      const ProposalOptions& options = *request.options;
      const nb::object told =
          Class("ProposalOptions")(Text(Name(options.convention)), options.temperature, options.top_p, options.top_k,
                                   options.min_p, Text(Name(options.score_on)));
      const nb::object key = Class("StreamKey")(request.key.seed, request.key.sample, request.key.step);
      asked.append(request_class(HandleOf(request.pass), Ints(request.rows), told, key));
    }
    const std::vector<nb::object> results = Call("propose", asked, requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) Read(requests[i], results[i]);
  }

  void DivergeNow(std::span<const DivergenceRequest> requests) {
    const nb::object request_class = Class("DivergenceRequest");
    nb::list asked;
    for (const DivergenceRequest& request : requests) {
      const DivergenceOptions& options = *request.options;
      const nb::object told = Class("DivergenceOptions")(Text(Name(options.kind)), options.temperature, options.top_p);
      asked.append(request_class(HandleOf(request.base), HandleOf(request.fresh), Ints(request.rows), told));
    }
    const std::vector<nb::object> results = Call("diverge", asked, requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const std::string what = From("diverge");
      const auto values = ArrayOf<double>(results[i], {requests[i].rows.size()}, what);
      for (std::size_t row = 0; row < values.size(); ++row) {
        const double value = values.data()[row];
        if (!(value >= -kSlack)) BadInput("{}: a divergence of {}", what, value);
        requests[i].out[row] = std::max(value, 0.0);
      }
    }
  }

  void LogProbsNow(std::span<const LogProbRequest> requests) {
    const auto vocab = static_cast<std::size_t>(info().vocab_size);
    for (const LogProbRequest& request : requests) {
      const std::string what = From("log_probs");
      const nb::object result = session_.get().attr("log_probs")(HandleOf(request.pass), Ints(request.rows));
      const auto rows = ArrayOf<double>(result, {request.rows.size(), vocab}, what);
      std::copy(rows.data(), rows.data() + rows.size(), request.out.begin());
      for (std::size_t i = 0; i < request.rows.size(); ++i) {
        Normalise(request.out.subspan(i * vocab, vocab), what);
      }
    }
  }

  void TokenProbsNow(std::span<const TokenProbRequest> requests) {
    const nb::object request_class = Class("TokenProbRequest");
    nb::list asked;
    for (const TokenProbRequest& request : requests) {
      asked.append(request_class(HandleOf(request.pass), Ints(request.rows), Ints(request.tokens)));
    }
    const std::vector<nb::object> results = Call("token_probs", asked, requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const std::string what = From("token_probs");
      const auto values = ArrayOf<double>(results[i], {requests[i].rows.size()}, what);
      for (std::size_t row = 0; row < values.size(); ++row) requests[i].out[row] = Prob(values.data()[row], what);
    }
  }

  void AttentionNow(std::span<const AttentionRequest> requests) {
    for (const AttentionRequest& request : requests) {
      const std::size_t length = request.pass->canvas().size();
      const std::string what = From("attention");
      const nb::object result = session_.get().attr("attention")(HandleOf(request.pass), RangeOf(request.layers));
      const auto map = ArrayOf<float>(result, {length, length}, what);
      for (std::size_t i = 0; i < map.size(); ++i) {
        if (!std::isfinite(map.data()[i])) BadInput("{}: a weight of {}", what, map.data()[i]);
      }
      std::copy(map.data(), map.data() + map.size(), request.out.begin());
    }
  }

  std::string From(const char* method) const { return fmt::format("what {} of {} returned", method, info().name); }

  nb::object HandleOf(const Pass* pass) const {
    if (pass == nullptr) return nb::none();
    const auto* own = dynamic_cast<const PyPass*>(pass);
    Check(own != nullptr && own->belongs_to(this), "a pass of another session");
    return own->handle();
  }

  /// One result for each of the requests.
  std::vector<nb::object> Call(const char* method, const nb::list& requests, std::size_t count) const {
    const nb::object result = session_.get().attr(method)(requests);
    if (PySequence_Check(result.ptr()) == 0) {
      BadInput("{} must be a list of {}, got {}", From(method), count, KindOf(result));
    }
    std::vector<nb::object> items;
    for (nb::handle item : result) items.push_back(nb::borrow(item));
    if (items.size() != count) BadInput("{} must be a list of {}, got {}", From(method), count, items.size());
    return items;
  }

  static double Prob(double value, const std::string& what) {
    if (!(value >= -kSlack && value <= 1 + kSlack)) BadInput("{}: a probability of {}", what, value);
    return std::min(std::max(value, 0.0), 1.0);
  }

  Token Allowed(std::int32_t token, const std::string& what) const {
    if (token < 0 || token >= info().vocab_size) {
      BadInput("{}: token {}, outside the vocabulary of {}", what, token, info().vocab_size);
    }
    if (token == info().mask_token) BadInput("{}: token {}, which is the mask", what, token);
    if (banned_.contains(token)) BadInput("{}: token {}, which is banned", what, token);
    return token;
  }

  void Read(const ProposalRequest& request, const nb::object& result) const {
    const std::string what = From("propose");
    if (PySequence_Check(result.ptr()) == 0 || nb::len(result) != 6) {
      BadInput("{} must be a list of punt.denoiser.Proposals, got {}", what, KindOf(result));
    }
    const std::size_t count = request.rows.size();
    const auto tokens = ArrayOf<std::int32_t>(result[0], {count}, what + " as token");
    const auto tops = ArrayOf<std::int32_t>(result[1], {count}, what + " as top_token");
    const auto token_probs = ArrayOf<double>(result[2], {count}, what + " as token_prob");
    const auto top_probs = ArrayOf<double>(result[3], {count}, what + " as top_prob");
    const auto second_probs = ArrayOf<double>(result[4], {count}, what + " as second_prob");
    const auto entropies = ArrayOf<double>(result[5], {count}, what + " as entropy");
    for (std::size_t i = 0; i < count; ++i) {
      const double entropy = entropies.data()[i];
      if (!(entropy >= -kSlack && std::isfinite(entropy))) BadInput("{}: an entropy of {}", what, entropy);
      request.out[i] = {.position = request.rows[i],
                        .token = Allowed(tokens.data()[i], what),
                        .top_token = Allowed(tops.data()[i], what),
                        .token_prob = Prob(token_probs.data()[i], what),
                        .top_prob = Prob(top_probs.data()[i], what),
                        .second_prob = Prob(second_probs.data()[i], what),
                        .entropy = std::max(entropy, 0.0)};
    }
  }

  void Normalise(std::span<double> row, const std::string& what) const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (Token token : banned_) row[static_cast<std::size_t>(token)] = -kInfinity;
    for (double value : row) {
      if (std::isnan(value) || value == kInfinity) BadInput("{}: a log-probability of {}", what, value);
    }
    const double log_sum = SummariseRow<double>(row).log_sum_exp;
    for (double& value : row) value -= log_sum;
  }

  Held session_;
  std::set<Token> banned_;  // the mask among them
  int passes_per_query_ = 1;
  std::exception_ptr failure_;
};

int WholeFact(nb::handle denoiser, const char* name) {
  const nb::object value = nb::getattr(denoiser, name, nb::none());
  if (value.is_none()) BadInput("{} has no {}: set the attribute", NameOfClass(denoiser), name);
  nb::list list;
  list.append(value);
  return Integers(list, fmt::format("{} of {}", name, NameOfClass(denoiser)))[0];
}

std::string TextFact(nb::handle denoiser, const char* name) {
  const nb::object value = denoiser.attr(name);
  if (!PyUnicode_Check(value.ptr())) {
    BadInput("{} of {} must be a string, got {}", name, NameOfClass(denoiser), KindOf(value));
  }
  return nb::cast<std::string>(value);
}

DenoiserInfo FactsOf(nb::handle denoiser) {
  const std::string kind = NameOfClass(denoiser);
  DenoiserInfo info{.name = TextFact(denoiser, "name"),
                    .vocab_size = WholeFact(denoiser, "vocab_size"),
                    .mask_token = WholeFact(denoiser, "mask_token"),
                    .eos_tokens = Integers(nb::list(denoiser.attr("eos_tokens")), "eos_tokens of " + kind),
                    .max_length = WholeFact(denoiser, "max_length"),
                    .default_score = TextFact(denoiser, "default_score"),
                    .has_attention_maps = nb::cast<bool>(denoiser.attr("has_attention_maps")),
                    .has_shadow_rows = nb::cast<bool>(denoiser.attr("has_shadow_rows"))};
  info.block_size = WholeFact(denoiser, "block_size");
  if (info.block_size < 0) BadInput("{}: block_size is {}", kind, info.block_size);
  if (info.vocab_size < 2) BadInput("{}: a vocabulary of {}, the mask included, leaves nothing", kind, info.vocab_size);
  if (info.max_length < 1) BadInput("{}: max_length is {}", kind, info.max_length);
  std::vector<Token> named = info.eos_tokens;
  named.push_back(info.mask_token);
  for (Token token : named) {
    if (token < 0 || token >= info.vocab_size) {
      BadInput("{}: token {} lies outside its vocabulary of {}", kind, token, info.vocab_size);
    }
  }
  MakeScore(info.default_score);
  return info;
}

class PyDenoiser : public Denoiser {
 public:
  explicit PyDenoiser(nb::object denoiser) : info_(FactsOf(denoiser)), denoiser_(std::move(denoiser)) {}

  const DenoiserInfo& info() const override { return info_; }

  std::unique_ptr<DenoiserSession> NewSession(const SessionOptions& options) const override {
    nb::gil_scoped_acquire lock;
    const nb::object told =
        Class("SessionOptions")(TupleOf(options.banned_tokens), options.guidance, TupleOf(options.prompt),
                                options.freeze_mask_ratio, options.threads);
    nb::object session = denoiser_.get().attr("new_session")(told);
    if (!nb::isinstance(session, Class("Session"))) {
      BadInput("new_session of {} must return a punt.Session, got {}", info_.name, KindOf(session));
    }
    return std::make_unique<PySession>(info_, std::move(session), options);
  }

 private:
  DenoiserInfo info_;
  Held denoiser_;
};

class PyTokenizer : public Tokenizer {
 public:
  explicit PyTokenizer(nb::object tokenizer)
      : controls_(Set(tokenizer.attr("control_tokens"))),
        prefix_(Integers(tokenizer.attr("prefix"), "prefix of the tokenizer")),
        suffix_(Integers(tokenizer.attr("suffix"), "suffix of the tokenizer")),
        has_thinking_switch_(nb::bool_(nb::getattr(tokenizer, "has_thinking_switch", nb::bool_(false)))),
        tokenizer_(std::move(tokenizer)) {}

  std::vector<Token> Encode(std::string_view text, const EncodeOptions&) const override {
    nb::gil_scoped_acquire lock;
    return Integers(tokenizer_.get().attr("encode")(NewText(text)), "what encode of the tokenizer returned");
  }
  std::string Decode(std::span<const Token> tokens) const override {
    nb::gil_scoped_acquire lock;
    nb::list list;
    for (Token token : tokens) list.append(token);
    const nb::object text = tokenizer_.get().attr("decode")(list);
    if (!PyUnicode_Check(text.ptr())) BadInput("decode of the tokenizer returned {}, not a string", KindOf(text));
    return nb::cast<std::string>(text);
  }
  std::string Piece(Token token) const override { return Decode({&token, 1}); }
  bool IsControl(Token token) const override { return controls_.contains(token); }
  std::vector<Token> Prefix() const override { return prefix_; }
  std::vector<Token> Suffix() const override { return suffix_; }

  std::vector<Token> EncodeChat(std::span<const ChatMessage> messages) const override {
    return EncodeChatWith(messages, {});
  }
  std::vector<Token> EncodeChatWith(std::span<const ChatMessage> messages, const ChatOptions& options) const override {
    nb::gil_scoped_acquire lock;
    nb::list list;
    for (const ChatMessage& message : messages) {
      nb::dict entry;
      entry["role"] = NewText(message.role);
      entry["content"] = NewText(message.content);
      list.append(entry);
    }
    nb::dict told;
    if (has_thinking_switch_ && options.thinking) told["thinking"] = *options.thinking;
    return Integers(tokenizer_.get().attr("encode_chat")(list, **told), "what encode_chat of the tokenizer returned");
  }
  bool has_thinking_switch() const override { return has_thinking_switch_; }

 private:
  static std::set<Token> Set(nb::object tokens) {
    const std::vector<Token> all = Integers(nb::list(tokens), "control_tokens of the tokenizer");
    return {all.begin(), all.end()};
  }

  std::set<Token> controls_;
  std::vector<Token> prefix_, suffix_;
  bool has_thinking_switch_;
  Held tokenizer_;
};

}  // namespace

std::shared_ptr<const Denoiser> NewPyDenoiser(nb::object denoiser) {
  return std::make_shared<PyDenoiser>(std::move(denoiser));
}

std::shared_ptr<const Tokenizer> NewPyTokenizer(nb::object tokenizer) {
  return std::make_shared<PyTokenizer>(std::move(tokenizer));
}

}  // namespace punt::py
