#include "app/tokenizer_input.h"

#include <iostream>
#include <string>

#include "app/hub_pull.h"
#include "base/check.h"
#include "model/model_text.h"
#include "punt/error.h"
#include "punt/model.h"

namespace punt {

std::shared_ptr<const Tokenizer> OpenTokenizer(const std::string& model) {
  if (model.starts_with("toy:")) return OpenModel(model).tokenizer;
  PullIfMissing(model);
  return OpenModelVocabulary(model).tokenizer;
}

std::string ReadStandardInput() {
  constexpr std::size_t kMost = 64'000'000;  // a pipe may never end
  constexpr std::size_t kPiece = 1'000'000;
  std::string text;
  while (std::cin) {
    const std::size_t size = text.size();
    text.resize(size + kPiece);
    std::cin.read(text.data() + size, static_cast<std::streamsize>(kPiece));
    text.resize(size + static_cast<std::size_t>(std::cin.gcount()));
    if (text.size() > kMost) BadInput("the standard input has more than {} bytes", kMost);
  }
  if (std::cin.bad()) throw Error(ErrorCode::kFailed, "cannot read the standard input");
  return text;
}

}  // namespace punt
