// The model that is served, as described to clients.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "punt/model.h"
#include "serve/server.h"

namespace punt {

/// What clients call a model: the last part of its path, without ".gguf". They do not learn where it is.
std::string PublicName(std::string_view name);

struct ServedModel {
  const Model& model;        // its name is the public one
  std::int64_t created = 0;  // seconds of the epoch
  ChatForm chat_form = ChatForm::kModel;
};

/// GET /v1/models
std::string ModelsJson(const ServedModel& served);

/// GET /v1/models/ID. Throws ApiError (404) unless it is the one that is served.
std::string ModelJson(const ServedModel& served, std::string_view id);

/// GET /props
std::string PropsJson(const ServedModel& served, const ServerOptions& options);

}  // namespace punt
