#include "app/tokenizer_input.h"

#include <iostream>
#include <iterator>

#include "app/hub_pull.h"
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
  std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  if (std::cin.bad()) throw Error(ErrorCode::kFailed, "cannot read the standard input");
  return text;
}

}  // namespace punt
