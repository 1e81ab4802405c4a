// The viewer: the files of web/, compiled in (cmake/PuntEmbed.cmake).
#pragma once

#include <span>
#include <string_view>

namespace punt {

struct WebFile {
  std::string_view path;  // "/viewer.css"
  std::string_view type;
  std::string_view bytes;
};

std::span<const WebFile> ViewerFiles();

}  // namespace punt
