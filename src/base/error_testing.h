// What tests share about errors.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "punt/error.h"

namespace punt {

/// The message of the Error, of bad input, that `f` throws; "accepted" if it does not.
template <typename F>
std::string ErrorOf(F f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    return error.what();
  }
  return "accepted";
}

}  // namespace punt
