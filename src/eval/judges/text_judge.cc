// A text x_1 .. x_n is judged by one causal run over BOS x_1 .. x_{n-1}: row i is the law of x_{i+1} given everything
// before it, and the nll is the sum of -ln p over rows. Rows are computed in chunks, so that the logits of a long text
// are never in memory together; keys and values are kept in float32 and attention is computed the plain way, so that,
// except for rounding, the figure does not depend on how a text was cut into chunks.
//
// Tested against a transformer written out in loops (text_judge_test.cc).
#include "eval/judges/text_judge.h"

#include <fmt/format.h>
#include <llama.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <filesystem>

#include "base/check.h"
#include "text/utf8.h"
#include "weights/ggml_log.h"

namespace punt {
namespace {

constexpr int kChunk = 128;         // rows whose logits are kept at a time
constexpr int kMostContext = 4096;  // longer texts are cut there: the cache of a long context is large
constexpr int kOneToken = 2;        // BOS and a token: the least that can be judged

struct ModelDelete {
  void operator()(llama_model* model) const { llama_model_free(model); }
};
struct ContextDelete {
  void operator()(llama_context* context) const { llama_free(context); }
};

std::string ReplaceInvalid(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const std::size_t bad = std::min(InvalidUtf8(text), text.size());
    valid += text.substr(0, bad);
    text.remove_prefix(bad);
    if (text.empty()) break;
    valid += "\xef\xbf\xbd";
    text.remove_prefix(1);
  }
  return valid;
}

std::vector<double> LogSoftmax(std::span<const float> logits) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (float logit : logits) sum += std::exp(logit - largest);
  const double shift = largest + std::log(sum);
  std::vector<double> row(logits.begin(), logits.end());
  for (double& value : row) value -= shift;
  return row;
}

}  // namespace

struct TextJudge::State {
  std::string path;
  std::unique_ptr<llama_model, ModelDelete> model;
  std::unique_ptr<llama_context, ContextDelete> context;
  const llama_vocab* vocab = nullptr;
  llama_token bos = 0;
  int context_length = 0;
  int vocab_size = 0;

  std::vector<llama_token> Encode(const std::string& text) const {
    if (text.size() > INT_MAX / 2) BadInput("a text of {} bytes is too long to judge", text.size());
    std::vector<llama_token> tokens(text.size() + 8);
    const int count = llama_tokenize(vocab, text.data(), static_cast<int>(text.size()), tokens.data(),
                                     static_cast<int>(tokens.size()), false, false);
    Check(count >= 0, "more tokens than bytes");
    tokens.resize(static_cast<std::size_t>(count));
    return tokens;
  }

  std::string Decode(const std::vector<Token>& tokens) const {
    std::string text(tokens.size() * 16 + 64, '\0');
    for (;;) {
      const int size = llama_detokenize(vocab, tokens.data(), static_cast<int>(tokens.size()), text.data(),
                                        static_cast<int>(text.size()), true, false);
      text.resize(static_cast<std::size_t>(std::abs(size)));
      if (size >= 0) return text;
    }
  }

  void Clear() { llama_memory_clear(llama_get_memory(context.get()), true); }

  /// Runs `tokens`, at most kChunk of them, as positions `begin`, ... after what was run since Clear.
  void Run(std::span<const llama_token> tokens, int begin) {
    llama_batch batch = llama_batch_init(static_cast<int>(tokens.size()), 0, 1);
    batch.n_tokens = static_cast<int>(tokens.size());
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      batch.token[i] = tokens[i];
      batch.pos[i] = begin + static_cast<int>(i);
      batch.n_seq_id[i] = 1;
      batch.seq_id[i][0] = 0;
      batch.logits[i] = 1;
    }
    const GgmlLogCapture log;
    const int failed = llama_decode(context.get(), batch);
    llama_batch_free(batch);
    if (failed != 0) {
      throw Error(ErrorCode::kFailed, fmt::format("{}: the judge failed ({}): {}", path, failed, log.FirstError()));
    }
  }

  std::vector<double> Row(int index) {
    const float* logits = llama_get_logits_ith(context.get(), index);
    Check(logits != nullptr, "the judge has no logits");
    return LogSoftmax({logits, static_cast<std::size_t>(vocab_size)});
  }
};

TextJudge::TextJudge(const std::string& path, int threads) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.path = path;
  if (!std::filesystem::is_regular_file(path)) BadInput("the judge '{}' is not a file", path);
  const GgmlLogCapture log;
  llama_backend_init();
  llama_model_params model_params = llama_model_default_params();
  model_params.n_gpu_layers = 0;
  state.model.reset(llama_model_load_from_file(path.c_str(), model_params));
  if (!state.model) BadInput("{}: libllama cannot open the judge: {}", path, log.FirstError());
  if (llama_model_is_diffusion(state.model.get()) || !llama_model_has_decoder(state.model.get()) ||
      llama_model_has_encoder(state.model.get())) {
    BadInput("{}: a judge must be autoregressive", path);
  }
  state.vocab = llama_model_get_vocab(state.model.get());
  state.vocab_size = llama_vocab_n_tokens(state.vocab);
  state.bos = llama_vocab_bos(state.vocab);
  if (state.bos == LLAMA_TOKEN_NULL) state.bos = llama_vocab_eos(state.vocab);
  if (state.bos == LLAMA_TOKEN_NULL) BadInput("{}: the judge has no token that begins a text", path);
  state.context_length = std::min(llama_model_n_ctx_train(state.model.get()), kMostContext);
  if (state.context_length < kOneToken) BadInput("{}: the judge's context is {}", path, state.context_length);

  llama_context_params params = llama_context_default_params();
  params.n_ctx = static_cast<std::uint32_t>(state.context_length);
  params.n_batch = kChunk;
  params.n_ubatch = kChunk;
  params.n_threads = threads;
  params.n_threads_batch = threads;
  params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
  params.type_k = GGML_TYPE_F32;
  params.type_v = GGML_TYPE_F32;
  params.no_perf = true;
  state.context.reset(llama_init_from_model(state.model.get(), params));
  if (!state.context) throw Error(ErrorCode::kFailed, fmt::format("{}: {}", path, log.FirstError()));
}

TextJudge::~TextJudge() {
  const GgmlLogCapture log;
  state_.reset();
}

int TextJudge::context() const { return state_->context_length; }

Likelihood TextJudge::Judge(std::string_view text, std::string_view opening) {
  const std::string before = ReplaceInvalid(opening);
  std::vector<llama_token> tokens = state_->Encode(before + ReplaceInvalid(text));
  const std::size_t skipped = before.empty() ? 0 : state_->Encode(before).size();
  tokens.insert(tokens.begin(), state_->bos);
  Likelihood likelihood;
  if (tokens.size() > static_cast<std::size_t>(state_->context_length)) {
    tokens.resize(static_cast<std::size_t>(state_->context_length));
    likelihood.is_truncated = true;
  }
  state_->Clear();
  const std::size_t rows = tokens.size() - 1;  // row i is the law of tokens[i + 1]
  for (std::size_t begin = 0; begin < rows; begin += kChunk) {
    const std::size_t count = std::min<std::size_t>(kChunk, rows - begin);
    state_->Run(std::span(tokens).subspan(begin, count), static_cast<int>(begin));
    for (std::size_t i = 0; i < count; ++i) {
      if (begin + i < skipped) continue;
      likelihood.nll -= state_->Row(static_cast<int>(i))[static_cast<std::size_t>(tokens[begin + i + 1])];
      ++likelihood.tokens;
    }
  }
  return likelihood;
}

JudgeSample TextJudge::Sample(const SampleOptions& options) {
  Validate(options.proposal);
  JudgeSample sample;
  state_->Clear();
  llama_token next = state_->bos;
  const int most = std::min(options.max_tokens, state_->context_length - 1);
  for (int i = 0; i < most; ++i) {
    state_->Run({&next, 1}, i);
    StreamKey key = options.key;
    key.step = static_cast<std::uint64_t>(i);
    next = ProposeFromRow(state_->Row(0), i, options.proposal, key).token;
    // Models trained on a sequence of documents end one by beginning the next.
    if (llama_vocab_is_eog(state_->vocab, next) || next == state_->bos) {
      sample.ended = true;
      break;
    }
    sample.tokens.push_back(next);
  }
  sample.text = state_->Decode(sample.tokens);
  return sample;
}

}  // namespace punt
