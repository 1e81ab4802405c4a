// Copies a model and gives it a chat template that adds nothing to a prompt.
//
//   plain_prompt_tool MODEL.gguf OUT.gguf
//
// llama-diffusion-cli puts every prompt into a chat template, ChatML where the file has none. A model that has never
// seen a chat would have to go on from its marks; with this copy both programs start from the same tokens.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>

#include "base/check.h"
#include "model/convert.h"
#include "tool.h"
#include "weights/weight_source.h"

namespace punt {
namespace {

constexpr const char* kPlainTemplate = "{% for message in messages %}{{ message['content'] }}{% endfor %}";

Metadata WithPlainTemplate(const Metadata& metadata) {
  GgufPtr context(gguf_init_empty());
  gguf_set_kv(context.get(), metadata.raw());
  gguf_set_val_str(context.get(), "tokenizer.chat_template", kPlainTemplate);
  return Metadata(std::move(context), metadata.origin());
}

class PlainPromptSource : public WeightSource {
 public:
  explicit PlainPromptSource(const std::string& path)
      : file_(OpenGguf(path)), metadata_(WithPlainTemplate(file_->metadata())) {}

  const Metadata& metadata() const override { return metadata_; }
  std::span<const TensorInfo> tensors() const override { return file_->tensors(); }
  std::span<const std::byte> Mapped(std::size_t index) const override { return file_->Mapped(index); }
  void Read(std::size_t index, std::span<std::byte> out) const override { file_->Read(index, out); }

 private:
  std::unique_ptr<WeightSource> file_;
  Metadata metadata_;
};

}  // namespace
}  // namespace punt

int main(int argc, char** argv) {
  return punt::RunTool("plain_prompt_tool", [&] {
    if (argc != 3) punt::BadInput("usage: plain_prompt_tool MODEL.gguf OUT.gguf");
    punt::Convert(punt::PlainPromptSource(argv[1]), argv[2], {});
    return 0;
  });
}
