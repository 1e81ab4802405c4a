// What tests share about errors.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "punt/error.h"

namespace punt {

/// The message of the Error of this kind that `f` throws; "accepted" if it does not.
template <typename F>
std::string ErrorOf(F f, ErrorCode code = ErrorCode::kBadInput) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return "accepted";
}

}  // namespace punt
