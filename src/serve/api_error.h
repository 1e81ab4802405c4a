// A client's mistake, or a failure that concerns it, in the format that OpenAI's clients read.
#pragma once

#include <stdexcept>
#include <string>

namespace punt {

class ApiError : public std::runtime_error {
 public:
  /// `param` is the field of the request; empty: none.
  ApiError(int status, std::string code, const std::string& message, std::string param = "")
      : std::runtime_error(message), status_(status), code_(std::move(code)), param_(std::move(param)) {}

  int status() const { return status_; }
  const std::string& code() const { return code_; }
  const std::string& param() const { return param_; }

  /// {"error": {"message", "type", "param", "code"}}
  std::string Json() const;

 private:
  int status_;
  std::string code_;
  std::string param_;
};

}  // namespace punt
