// Keys of clients.
#pragma once

#include <string_view>

namespace punt {

/// Takes a time that depends only on the lengths.
inline bool SameSecret(std::string_view given, std::string_view secret) {
  if (secret.empty() || given.empty()) return false;
  volatile unsigned char difference = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    difference = static_cast<unsigned char>(difference | (given[i] ^ secret[i % secret.size()]));
  }
  return difference == 0;
}

}  // namespace punt
