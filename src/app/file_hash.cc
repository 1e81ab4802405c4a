#include "app/file_hash.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "base/check.h"

namespace punt {

FileHash::FileHash(bool is_sha256, std::int64_t size)
    : context_(EVP_MD_CTX_new(), [](void* context) { EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context)); }) {
  auto* context = static_cast<EVP_MD_CTX*>(context_.get());
  Check(context != nullptr && EVP_DigestInit_ex(context, is_sha256 ? EVP_sha256() : EVP_sha1(), nullptr) == 1,
        "libcrypto has no such hash");
  if (is_sha256) return;
  std::string head = fmt::format("blob {}", size);
  head += '\0';
  Add(head);
}

void FileHash::Add(std::string_view bytes) {
  Check(EVP_DigestUpdate(static_cast<EVP_MD_CTX*>(context_.get()), bytes.data(), bytes.size()) == 1, "a hash failed");
}

std::string FileHash::Finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  Check(EVP_DigestFinal_ex(static_cast<EVP_MD_CTX*>(context_.get()), digest.data(), &size) == 1, "a hash failed");
  std::string text;
  for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

}  // namespace punt
