// Models that cannot be opened, though their networks could: what tokenizer and network say does not fit, or nobody
// says what the mask is. And what is odd but not wrong reaches the user.
#include <gtest/gtest.h>

#include <cmath>

#include "model/convert.h"
#include "model/edited_testing.h"
#include "model/golden_testing.h"
#include "punt/model.h"
#include "weights/weights_testing.h"

namespace punt {
namespace {

using testing::ExpectError;
using testing::TempFolder;

/// A golden model as a file after `edit`.
void Write(const std::string& folder, const std::filesystem::path& file,
           const std::function<void(EditedSource&)>& edit) {
  EditedSource source(OpenModelFiles(GoldenFolder(folder)));
  edit(source);
  Convert(source, file, {.type = "f32"});
}

TEST(BadModel, WithoutAMaskToken) {
  for (const char* folder : {"llada", "dream", "esm2"}) {
    const TempFolder temp;
    Write(folder, temp / "maskless.gguf",
          [](EditedSource& source) { gguf_remove_key(source.keys(), "tokenizer.ggml.mask_token_id"); });
    ExpectError([&] { OpenModel((temp / "maskless.gguf").string()); },
                {"maskless.gguf", "mask", "tokenizer.ggml.mask_token_id"});
  }
}

TEST(BadModel, WithoutATokenizer) {
  ExpectError([] { OpenModel(GoldenFolder("llada_moe").string()); }, {"llada_moe", "tokenizer"});
}

TEST(BadModel, WhoseTokenizerHasOtherTokens) {
  const TempFolder temp;
  Write("esm2", temp / "short.gguf", [](EditedSource& source) {
    const std::vector<std::string> tokens = source.metadata().Strings("tokenizer.ggml.tokens");
    std::vector<const char*> fewer;
    for (const std::string& token : tokens) fewer.push_back(token.c_str());
    fewer.insert(fewer.begin() + 31, "<more>");
    gguf_set_arr_str(source.keys(), "tokenizer.ggml.tokens", fewer.data(), fewer.size());
    gguf_remove_key(source.keys(), "tokenizer.ggml.token_type");
  });
  ExpectError([&] { OpenModel((temp / "short.gguf").string()); }, {"short.gguf", "34", "33"});
}

TEST(BadModel, OfAnUnknownKind) {
  const TempFolder temp;
  Write("llada", temp / "soup.gguf",
        [](EditedSource& source) { gguf_set_val_str(source.keys(), "general.architecture", "soup"); });
  ExpectError([&] { OpenModel((temp / "soup.gguf").string()); }, {"soup.gguf", "'soup'", "llada"});
}

TEST(BadModel, OfWhichTheUserIsWarned) {
  const TempFolder temp;
  Write("llada", temp / "odd.gguf", [](EditedSource& source) {
    source.Change("blk.2.attn_norm.weight", [](std::span<float> values) { values[0] = NAN; });
  });
  const Model model = OpenModel((temp / "odd.gguf").string());
  ASSERT_EQ(model.warnings.size(), 1u);
  for (const char* part : {"odd.gguf", "blk.2.attn_norm.weight", "nan"}) {
    EXPECT_NE(model.warnings[0].find(part), std::string::npos) << model.warnings[0];
  }
}

// A damaged matrix shows in the first rows that are read, whoever reads them, kept or not.
TEST(BadModel, DamagedMatricesEndTheFirstRead) {
  const TempFolder temp;
  Write("llada", temp / "damaged.gguf", [](EditedSource& source) {
    source.Change("output.weight", [](std::span<float> values) { values[1000] = NAN; });
  });
  const Model model = OpenModel((temp / "damaged.gguf").string());
  const std::vector<Token> canvas(8, model.denoiser->info().mask_token);
  const std::vector<Position> rows = {1, 2, 5};
  for (const std::size_t kept_bytes : {std::size_t{0}, std::size_t{1} << 20}) {
    const auto session = model.denoiser->NewSession({.threads = 2, .logit_cache_bytes = kept_bytes});
    const Query query{.canvas = canvas, .rows = rows};
    const PassRef pass = session->Forward({&query, 1}).front();
    std::vector<Proposal> out(rows.size());
    const ProposalOptions options;
    const ProposalRequest request{.pass = pass.get(), .rows = rows, .options = &options, .key = {}, .out = out};
    ExpectError([&] { session->Propose({&request, 1}); }, {"damaged.gguf", "not finite"});
  }
}

}  // namespace
}  // namespace punt
