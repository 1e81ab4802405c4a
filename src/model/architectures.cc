#include <fmt/ranges.h>

#include <array>
#include <vector>

#include "base/check.h"
#include "model/architecture.h"

namespace punt {

std::span<const ArchitectureRow> Architectures() {
  static const std::array kRows = {kLladaRow, kDreamRow, kLladaMoeRow,  kLlada2MoeRow,
                                   kEsm2Row,  kBertRow,  kDistilbertRow};
  return kRows;
}

const ArchitectureRow& FindArchitecture(std::string_view name, std::string_view origin) {
  std::vector<std::string_view> names;
  for (const ArchitectureRow& row : Architectures()) {
    if (row.name == name) return row;
    names.push_back(row.name);
  }
  BadInput("{}: unknown architecture '{}'; known: {}", origin, name, fmt::join(names, ", "));
}

}  // namespace punt
